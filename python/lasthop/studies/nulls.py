"""Null models: from the runs of a reading what they would be if there were nothing in a claim.

Each function gives one for the runs of a grid. Where runs stand in the place of others they come from the next seed, so
that one thing compared with itself differs by chance and not by nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Array, Grids, Numbers

__all__ = ["another", "changed", "filled", "in_place", "instead", "level", "mirrored", "replaced", "rewritten"]

Data = TypeVar("Data", bound=Grids)


def changed(grid: str, of: Callable[[Numbers], Numbers]) -> Callable[[Data], Data]:
    """A grid changed."""
    return lambda data: data.with_grids({grid: of(data.grid(grid))})


def another(grid: str, axis: str, others: Mapping[Any, Any]) -> Callable[[Data], Data]:
    """What other values of a parameter gave in the place of some: ``{value: other}``."""
    return changed(grid, lambda numbers: replaced(numbers, axis, others))


def replaced(numbers: Numbers, axis: str, others: Mapping[Any, Any]) -> Numbers:
    """The same on a grid, if it has both."""
    missing = [value for value in (*others, *others.values()) if not numbers.has(**{axis: value})]
    if missing:
        raise NotRun(f"no runs with {axis} {', '.join(map(str, missing))}")
    return numbers.replaced(axis, others)


def level(grid: str, axis: str) -> Callable[[Data], Data]:
    """The runs of a parameter's first value at all of its values: it does nothing."""

    def of(numbers: Numbers) -> Numbers:
        first, *others = numbers.axes[axis]
        return numbers.replaced(axis, dict.fromkeys(others, first))

    return changed(grid, of)


def mirrored(grid: str, axis: str) -> Callable[[Data], Data]:
    """The values of a parameter in the reversed order: what rises falls."""

    def of(numbers: Numbers) -> Numbers:
        values = list(numbers.axes[axis])
        return numbers.replaced(axis, dict(zip(values, reversed(values), strict=True)))

    return changed(grid, of)


def instead(grid: str, others: Mapping[str, str], *, shift: int = 0) -> Callable[[Data], Data]:
    """Other quantities in the place of some: ``{name: other}``; ``shift`` = 1 takes them from the next seed."""
    return changed(
        grid,
        lambda numbers: numbers.with_values(
            {name: np.roll(numbers.values[other], shift, axis=-1) for name, other in others.items()}
        ),
    )


def filled(grid: str, quantity: str, value: Callable[[Numbers], Any]) -> Callable[[Data], Data]:
    """A quantity with the same value everywhere, or with the values of an array."""

    def of(numbers: Numbers) -> Numbers:
        everywhere = np.broadcast_to(np.asarray(value(numbers), dtype=float), numbers.values[quantity].shape)
        return numbers.with_values({quantity: everywhere.copy()})

    return changed(grid, of)


def in_place(*pairs: tuple[str, str]) -> Callable[[Data], Data]:
    """Of each pair the second grid's runs in the place of the first one's.

    A parameter that the second does not have makes no difference to it.
    """

    def of(data: Data) -> Data:
        return data.with_grids({name: _as(data.grid(name), data.grid(other)) for name, other in pairs})

    return of


def _as(here: Numbers, other: Numbers) -> Numbers:
    """The other grid's numbers on the axes of this one."""
    places = [
        [known.index(value) if value in known else 0 for value in values]
        for values, known in ((values, list(other.axes.get(axis, [None]))) for axis, values in here.axes.items())
    ]
    shape = [len(other.axes.get(axis, [None])) for axis in here.axes]
    made = {
        name: np.roll(values, 1, axis=-1).reshape(*shape, -1)[np.ix_(*places, range(len(other.seeds)))]
        for name, values in other.values.items()
    }
    return Numbers(here.axes, other.seeds, made)


def rewritten(grid: str, make: Callable[[Data], Mapping[str, Array]]) -> Callable[[Data], Data]:
    """Some quantities of a grid made in another way; of each seed at all points, or of each point."""

    def of(data: Data) -> Data:
        numbers = data.grid(grid)
        shape = (*(len(values) for values in numbers.axes.values()), len(numbers.seeds))
        other = {name: np.broadcast_to(values, shape) for name, values in make(data).items()}
        return data.with_grids({grid: Numbers(numbers.axes, numbers.seeds, {**numbers.values, **other})})

    return of
