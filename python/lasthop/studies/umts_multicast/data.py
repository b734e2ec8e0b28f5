"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.grid import Grids
from lasthop.studies.umts_multicast.experiments import TCP_FLOWS

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = [
    "EXPULSION",
    "FAIRNESS",
    "FREE",
    "INDICATION",
    "PERMANENT",
    "REPORTS",
    "SCALING",
    "SECONDS",
    "SEVERAL",
    "STEPS",
    "TCP",
    "TEMPORARY",
    "Data",
    "outside",
]

#: The grids.
FAIRNESS, STEPS, TEMPORARY, TCP = "fairness", "responsiveness", "temporary", "temporary TCP"
PERMANENT, SEVERAL, SCALING = "permanent", "several degraded", "buffer and rate"
INDICATION, REPORTS = "indication", "reports"
FREE, SECONDS = "uncontrolled", "permanent by the second"
EXPULSION = "expulsion"


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    @property
    def sizes(self) -> Sequence[int]:
        """The sizes of groups of §5.3 that were run."""
        return tuple(self.grid(TEMPORARY).axes["ues"])

    def tcp_kbps(self, ues: int) -> Array:
        """TCP's mean throughput of each seed, over the first members of a group of this size."""
        grid = self.grid(TCP)
        made: Array = np.mean([grid.at(f"kbps_{n}") for n in range(min(ues, TCP_FLOWS))], axis=0)
        return made

    def ratio(self, scheme: str, ues: int) -> Estimate:
        """A scheme's throughput over TCP's, both means over the seeds.

        Its interval is that of its linear part in pairs of equal seed (Cochran 1977, §6.3).
        """
        mine, tcp = self.grid(TEMPORARY).at("kbps", scheme=scheme, ues=ues), self.tcp_kbps(ues)
        ratio = mine.mean() / tcp.mean()
        return estimate(ratio + (mine - ratio * tcp) / tcp.mean())

    def estimate(self, grid: str, quantity: str, **where: Any) -> Estimate:
        """The mean of a quantity over the seeds."""
        return estimate(self.grid(grid).at(quantity, **where))


def outside(name: str, one: Estimate, low: float, high: float, unit: str = "") -> list[str]:
    """What speaks against a mean that was to lie between two bounds; a mean that is missing does."""
    if low <= one.mean <= high:
        return []
    return [f"{name} {one}{unit}, outside {low:g}–{high:g}{unit}"]
