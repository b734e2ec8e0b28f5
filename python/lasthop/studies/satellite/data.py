"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Grids

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = [
    "ADAPTATIONS",
    "ALONE",
    "ERRORS",
    "HELD",
    "MISBEHAVING",
    "PAIR",
    "RLM",
    "ROUND_TRIP",
    "SCENARIOS",
    "SLOW",
    "STATE",
    "TREE",
    "WAITING",
    "Data",
    "outside",
]

#: The grids.
SCENARIOS, RLM, ROUND_TRIP = "scenarios", "RLM", "round trip"
ERRORS, SLOW, MISBEHAVING = "link errors", "delay and leave latency", "misbehaving receiver"
HELD, PAIR, ALONE = "held-back TCP", "pair of hosts", "no TCP"
ADAPTATIONS, WAITING, TREE, STATE = "adaptations", "release and join", "tree", "state"


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    def at(self, grid: str, quantity: str, **where: Any) -> Array:
        """A quantity of each seed."""
        numbers = self.grid(grid)
        if quantity not in numbers.values:
            raise NotRun(f"{grid}: {quantity} was not measured")
        return numbers.at(quantity, **where)

    def mean(self, grid: str, quantity: str, **where: Any) -> Estimate:
        """Its mean over the seeds."""
        return estimate(self.at(grid, quantity, **where))


def outside(name: str, one: Estimate, low: float, high: float, unit: str = "") -> list[str]:
    """What speaks against a mean that was to lie between two bounds; a mean that is missing does."""
    if low <= one.mean <= high:
        return []
    if high == float("inf"):
        return [f"{name} {one}{unit}, below {low:g}{unit}"]
    if low in (0.0, -float("inf")):
        return [f"{name} {one}{unit}, above {high:g}{unit}"]
    return [f"{name} {one}{unit}, outside {low:g}–{high:g}{unit}"]
