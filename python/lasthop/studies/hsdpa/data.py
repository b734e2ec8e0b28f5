"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Grids, Numbers
from lasthop.studies.hsdpa.scenario import TITLES

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["LEVEL", "Data", "title"]

#: The level of the paper's intervals, which the figures have.
LEVEL = 0.90


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    @property
    def main(self) -> Numbers:
        """Both protocols and schedulers, at the loads that were run."""
        return self.grid("main")

    def mean_of(self, quantity: str, size: int, *, over: str = "transfers", **where: Any) -> Array:
        """A quantity for each transfer of a size, of each seed."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.main.ratio(f"{quantity}_{size}", f"{over}_{size}", **where)

    def rate(self, size: int, **where: Any) -> Array:
        """The mean transfer rate of a size, of each seed."""
        return self.mean_of("rate_kbps", size, over="finished", **where)

    def total(self, quantity: str, sizes: tuple[int, ...], **where: Any) -> Array:
        """A quantity summed over transfers of some sizes, of each seed."""
        made: Array = np.sum([self.main.at(f"{quantity}_{size}", **where) for size in sizes], axis=0)
        return made

    def difference(self, of: str, one: Mapping[str, Any], other: Mapping[str, Any], **where: Any) -> Estimate:
        """Of ``one`` minus of ``other``, in pairs of equal seed."""
        return estimate(self.main.at(of, **one, **where) - self.main.at(of, **other, **where))

    @cached_property
    def _transfers(self) -> dict[tuple[object, ...], list[tuple[Array, Array]]]:
        """Sizes and rates of the finished transfers of each seed, by point."""
        grid = self.main
        if grid.rows is None:
            raise NotRun("transfers were not kept")
        columns = {name: grid.rows[name] for name in (*grid.axes, "seed", "bytes", "rate_kbps")}
        made = {}
        for point in grid.points():
            here = ~np.isnan(columns["rate_kbps"])
            for name, value in point.items():
                here &= columns[name] == value
            seeds = columns["seed"]
            each = [here & (seeds == seed) for seed in grid.seeds]
            made[tuple(point.values())] = [(columns["bytes"][one], columns["rate_kbps"][one]) for one in each]
        return made

    def rates(self, size: int | None = None, **where: Any) -> list[Array]:
        """The rates of all finished transfers of a size, or of all sizes, of each seed."""
        self.main.at("transfers", **where)
        of = self._transfers[tuple(where[name] for name in self.main.axes)]
        return [rates if size is None else rates[sizes == size] for sizes, rates in of]


def title(**where: Any) -> str:
    """A scenario's name, for reading: `TCP with SIR, 50 mobiles`."""
    said = " with ".join(TITLES[where[name]] for name in ("protocol", "scheduler") if name in where)
    return said + (f", {where['ues']} mobiles" if where.get("ues", 65) != 65 else "")
