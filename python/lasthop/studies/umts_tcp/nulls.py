"""Models in which claims must not hold, made from a reading's own runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lasthop.studies.claims import NotRun, Null
from lasthop.studies.grid import Numbers
from lasthop.studies.umts_tcp.data import Data

__all__ = ["another", "filled", "instead", "level", "made", "mirrored", "one_timer", "replaced"]

Of = Callable[[Numbers], Numbers]


def made(about: str, grid: str, of: Of) -> Null[Data]:
    """A grid changed."""
    return Null(about, lambda data: data.with_grids({grid: of(data.grid(grid))}))


def another(about: str, grid: str, axis: str, instead: Mapping[Any, Any]) -> Null[Data]:
    """One thing in the place of another: ``{value: other}``."""
    return made(about, grid, lambda numbers: replaced(numbers, axis, instead))


def replaced(numbers: Numbers, axis: str, instead: Mapping[Any, Any]) -> Numbers:
    """The same on a grid, if it has both."""
    missing = [value for value in (*instead, *instead.values()) if not numbers.has(**{axis: value})]
    if missing:
        raise NotRun(f"no runs with {axis} {', '.join(map(str, missing))}")
    return numbers.replaced(axis, instead)


def level(grid: str, axis: str, about: str) -> Null[Data]:
    """The runs of a parameter's first value at all of its values: it does nothing."""

    def of(numbers: Numbers) -> Numbers:
        first, *others = numbers.axes[axis]
        return numbers.replaced(axis, dict.fromkeys(others, first))

    return made(f"the runs of the first {about} at all of them: it does nothing", grid, of)


def mirrored(grid: str, axis: str, about: str) -> Null[Data]:
    """The values of a parameter in the reversed order."""

    def of(numbers: Numbers) -> Numbers:
        values = list(numbers.axes[axis])
        return numbers.replaced(axis, dict(zip(values, reversed(values), strict=True)))

    return made(f"the {about} in reversed order: what rises would fall", grid, of)


def instead(about: str, grid: str, **quantities: str) -> Null[Data]:
    """One quantity in the place of another: ``quantity="other"``."""

    def of(numbers: Numbers) -> Numbers:
        taken = {name: numbers.values[other] for name, other in quantities.items()}
        return replace(numbers, values={**numbers.values, **taken})

    return made(about, grid, of)


def filled(about: str, grid: str, quantity: str, value: Callable[[Numbers], Any]) -> Null[Data]:
    """A quantity that has a value everywhere."""

    def of(numbers: Numbers) -> Numbers:
        everywhere = np.broadcast_to(np.asarray(value(numbers), dtype=float), numbers.values[quantity].shape)
        return replace(numbers, values={**numbers.values, quantity: everywhere.copy()})

    return made(about, grid, of)


def one_timer(data: Data) -> Data:
    """What chapter 7 gave at its largest maxDAT in the place of chapter 8, whatever the timers."""
    single, hybrid = data.grid("chapter 7"), data.grid("chapter 8")
    most = max(single.axes["max_dat"])
    values = dict(hybrid.values)
    for quantity in {"goodput_kbps", "retransmissions"} & values.keys():
        values[quantity] = values[quantity].copy()
        for i, tcp in enumerate(hybrid.axes["tcp"]):
            for j, threshold in enumerate(hybrid.axes["threshold"]):
                where = {"threshold": threshold} if single.has(threshold=threshold) else {}
                values[quantity][i, j] = np.roll(single.at(quantity, tcp=tcp, max_dat=most, **where), 1)
    return data.with_grids({"chapter 8": replace(hybrid, values=values)})
