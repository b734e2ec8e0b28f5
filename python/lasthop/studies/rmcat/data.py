"""The numbers of a reading, as judges, tables and figures ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Array, Grids

__all__ = ["CELL", "CHECK", "MARKS", "OTHERS", "PRIORITY", "SHARING", "VARIED", "WIRED", "Data"]

#: The names of the grids.
VARIED, SHARING, OTHERS, PRIORITY, MARKS = (
    "variable capacity",
    "sharing",
    "round trips and two bottlenecks",
    "priorities",
    "marks",
)
WIRED, CELL, CHECK = "RFC 8869 3.1", "one cell", "anchors"

#: Those of cases, in the order of the tables.
OF_CASES = (VARIED, SHARING, OTHERS, PRIORITY, MARKS, WIRED, CELL)


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run."""

    def of(self, quantity: str, case: str, controller: str) -> Array:
        """A quantity of each seed."""
        for name in OF_CASES:
            if name in self.grids and self.grids[name].has(case=case, controller=controller):
                if quantity not in self.grids[name].values:
                    break
                return self.grids[name].at(quantity, case=case, controller=controller)
        raise NotRun(f"no runs of {case} with {controller}")

    def has(self, case: str, controller: str) -> bool:
        """Whether it was run."""
        return any(name in self.grids and self.grids[name].has(case=case, controller=controller) for name in OF_CASES)

    def known(self, quantity: str, case: str, controller: str) -> bool:
        """Whether it was run and the quantity makes sense there."""
        try:
            return bool(np.isfinite(self.of(quantity, case, controller)).any())
        except NotRun:
            return False

    def rows(self) -> Iterator[tuple[str, str]]:
        """Each case with each of its controllers."""
        for name in OF_CASES:
            if name in self.grids:
                for point in self.grids[name].points("case", "controller"):
                    yield point["case"], point["controller"]
