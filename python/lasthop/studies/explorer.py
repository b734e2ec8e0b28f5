"""Makes the runs of a study reading by reading: what readings have in common is run once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from lasthop.studies.readings import AS_TAKEN, Question, Reading, as_taken, singles
from lasthop.studies.words import StudyError

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Grid, Numbers

__all__ = ["Explorer", "Grids", "planned"]

Data = TypeVar("Data")

#: The grids that a reading needs, by their own names. Readings for which a grid has the same full name share its runs.
Grids = Callable[[Reading], "Mapping[str, Grid]"]


class Explorer(Generic[Data]):
    """Makes the runs of readings."""

    def __init__(
        self,
        bench: Bench,
        grids: Grids,
        data: Callable[[Reading, Mapping[str, Numbers]], Data],
        beyond: Mapping[str, Grid] | None = None,
    ) -> None:
        """``data`` puts together what claims are judged on; what is ``beyond`` the paper goes with the default one."""
        self._bench, self._grids, self._data, self._beyond = bench, grids, data, beyond or {}
        #: The numbers of all grids that were run, by their full names.
        self.numbers: dict[str, Numbers] = {}

    def measure(self, readings: Sequence[Reading]) -> dict[str, Data]:
        """The data of these readings, by name."""
        mine = {reading.name: self._grids(reading) for reading in readings}
        missing = unique([*mine.values(), *([self._beyond] if AS_TAKEN in mine else [])])
        missing = {name: grid for name, grid in missing.items() if name not in self.numbers}
        if AS_TAKEN not in mine:
            self._bench.expect(sum(grid.runs for grid in missing.values()))
        if missing:
            self.numbers |= self._bench.grids(list(missing.values()))
        if AS_TAKEN in mine:
            mine[AS_TAKEN] = {**mine[AS_TAKEN], **self._beyond}
        return {
            reading.name: self._data(
                reading, {name: self.numbers[grid.name] for name, grid in mine[reading.name].items()}
            )
            for reading in readings
        }


def planned(grids: Grids, questions: Sequence[Question], beyond: Iterable[Grid] = ()) -> int:
    """How many runs the default reading and each other answer by itself take."""
    wanted = unique(grids(reading) for reading in [as_taken(), *singles(questions)])
    return sum(grid.runs for grid in [*wanted.values(), *beyond])


def unique(of: Iterable[Mapping[str, Grid]]) -> dict[str, Grid]:
    """All grids by their full names, each once. Raises StudyError if two of one name run something else."""
    found: dict[str, Grid] = {}
    for grid in itertools.chain.from_iterable(grids.values() for grids in of):
        other = found.setdefault(grid.name, grid)
        if other is not grid and _runs(other) != _runs(grid):
            raise StudyError(
                f"two grids are named “{grid.name}” and run something else: name the reading, {{reading.name}}"
            )
    return found


def _runs(grid: Grid) -> tuple[object, ...]:
    """What tells the runs of a grid from those of another."""
    return (
        {name: list(axis) for name, axis in grid.axes.items()},
        list(grid.seeds),
        grid.scenario(next(iter(grid))).text,
    )
