"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import NotRun
from lasthop.studies.conditions import Condition
from lasthop.studies.grid import Grids, Numbers
from lasthop.studies.satellite.model import Rule, printed

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = [
    "ADAPTATIONS",
    "ALONE",
    "ENDING",
    "ERRORS",
    "FULL_OVERFLOW",
    "HELD",
    "MISBEHAVING",
    "OVERFLOW",
    "PAIR",
    "RLM",
    "RLM_ERRORS",
    "RLM_MISBEHAVING",
    "RLM_SLOW",
    "ROUND_TRIP",
    "SCENARIOS",
    "SLOW",
    "STATE",
    "TREE",
    "UNCONTROLLED",
    "WAITING",
    "Data",
    "at_least",
    "at_most",
    "first",
    "in_place",
    "rewritten",
]

#: The grids.
SCENARIOS, RLM, ROUND_TRIP, UNCONTROLLED = "scenarios", "RLM", "round trip", "uncontrolled"
ERRORS, SLOW, MISBEHAVING = "link errors", "delay and leave latency", "misbehaving receiver"
RLM_ERRORS, RLM_SLOW, RLM_MISBEHAVING = f"RLM, {ERRORS}", f"RLM, {SLOW}", f"RLM, {MISBEHAVING}"
HELD, PAIR, ALONE = "held-back TCP", "pair of hosts", "no TCP"
ADAPTATIONS, ENDING = "adaptations", "adaptations where TCP ends"
WAITING, TREE, STATE = "release and join", "tree", "state"
OVERFLOW, FULL_OVERFLOW = "overflows", "overflows, uncontrolled"


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    #: What multicast does in the paper's model of fairness.
    rule: Rule = printed

    def at(self, grid: str, quantity: str, **where: Any) -> Array:
        """A quantity of each seed."""
        numbers = self.grid(grid)
        if quantity not in numbers.values:
            raise NotRun(f"{grid}: {quantity} was not measured")
        return numbers.at(quantity, **where)

    def mean(self, grid: str, quantity: str, **where: Any) -> Estimate:
        """Its mean over the seeds."""
        return estimate(self.at(grid, quantity, **where))


def first(numbers: Numbers, seeds: int) -> Numbers:
    """The same with no more than so many seeds."""
    cut = {name: values[..., :seeds] for name, values in numbers.values.items()}
    return replace(numbers, seeds=numbers.seeds[:seeds], values=cut)


def at_least(what: str, value: Estimate, bound: float, unit: str = "") -> Condition:
    """That a value is not below a bound."""
    return Condition(what, value, low=bound, unit=unit)


def at_most(what: str, value: Estimate, bound: float, unit: str = "") -> Condition:
    """That a value is not above a bound: of one that cannot be negative, whose interval may reach below zero."""
    return Condition(what, value, high=bound, unit=unit)


def in_place(*pairs: tuple[str, str]) -> Callable[[Data], Data]:
    """Null models: of each pair the second grid's runs in the place of the first one's.

    They come from the next seed, so that one thing compared with itself differs by chance. A parameter that the second
    does not have makes no difference to it.
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
    """Null models: some quantities of a grid in another way; of each seed at all points, or of each point."""

    def of(data: Data) -> Data:
        numbers = data.grid(grid)
        shape = (*(len(values) for values in numbers.axes.values()), len(numbers.seeds))
        other = {name: np.broadcast_to(values, shape) for name, values in make(data).items()}
        return data.with_grids({grid: Numbers(numbers.axes, numbers.seeds, {**numbers.values, **other})})

    return of
