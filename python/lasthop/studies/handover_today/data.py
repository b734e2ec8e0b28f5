"""The numbers of a reading, as judges, tables and figures ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Array, Grids

__all__ = ["HINTED", "RATED", "ROUTED", "Data"]

#: The names of the grids: mechanisms of hosts with each hint, TFRC with its own, and those of routers.
HINTED, RATED, ROUTED = "hosts", "TFRC", "routers"


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run."""

    def holding(self, path: str, mechanism: str, hint: str) -> str:
        """The grid in which these were run."""
        for name, grid in self.grids.items():
            if grid.has(path=path, mechanism=mechanism, hint=hint):
                return name
        raise NotRun(f"no runs of {mechanism} over {path} with the hint {hint}")

    def of(self, quantity: str, path: str, mechanism: str, hint: str) -> Array:
        """A quantity of each seed."""
        name = self.holding(path, mechanism, hint)
        return self.at(name, quantity, path=path, mechanism=mechanism, hint=hint)

    def over(self, quantity: str, path: str, mechanism: str, hint: str) -> Estimate:
        """Its mean over the seeds."""
        return estimate(self.of(quantity, path, mechanism, hint))

    def has(self, path: str, mechanism: str, hint: str) -> bool:
        """Whether it was run."""
        return any(grid.has(path=path, mechanism=mechanism, hint=hint) for grid in self.grids.values())

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Each path with each mechanism and each hint."""
        for grid in self.grids.values():
            for point in grid.points("path", "mechanism", "hint"):
                yield point["path"], point["mechanism"], point["hint"]
