"""Puts the study together: its runs, what is drawn, what is written beside the claims."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from lasthop.studies import Campaign, Study
from lasthop.studies.readings import AS_TAKEN, Reading, as_taken

from .appendix import APPENDIX
from .judges import CLAIMS
from .readings import QUESTIONS
from .scenario import text

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Numbers

    from .data import Data


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of crossed readings and of Figs. 5.1, 5.2, 6.1 and 6.3."""
    from lasthop.studies.explorer import planned

    from .experiments import grids

    return planned(partial(grids, mode=mode), QUESTIONS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies.crossing import explore
    from lasthop.studies.explorer import Explorer

    from . import tables
    from .data import Data
    from .experiments import extent, grids
    from .figures import pictures
    from .single_runs import watch

    first = extent(as_taken(), bench.mode)
    watched = watch(bench, first.parts)

    def data(reading: Reading, made: Mapping[str, Numbers]) -> Data:
        return Data(reading.name, made, **({} if reading.chosen else watched))

    explorer = Explorer(bench, partial(grids, mode=bench.mode), data)
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    taken = explored.measured[AS_TAKEN]
    return Campaign(
        explored=explored,
        pictures=pictures(taken),
        tables=tables.tables(taken, explorer.numbers),
        facts={
            "profile": "ns2: TCP as in ns-2, RLC and channels as in EURANE",
            "seeds": f"{first.seeds6} in chapter 6, {first.seeds} in chapters 7 and 8, of {first.duration:g} s; "
            "other readings have fewer",
            "processor time": tables.costs_said(explorer.numbers),
        },
    )


STUDY = Study.of(
    __name__,
    claims=CLAIMS,
    questions=QUESTIONS,
    scenario=partial(text, "web"),
    runs=runs,
    perform=perform,
    appendix=APPENDIX,
)
