"""Puts the study together: its runs, what is drawn, what is written beside the claims."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lasthop.studies import Campaign, Study
from lasthop.studies.readings import AS_TAKEN

from .judges import CLAIMS
from .readings import QUESTIONS
from .scenario import text

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench


def runs(mode: str) -> int:
    """How many runs a mode takes, but for crossed readings."""
    from lasthop.studies.explorer import planned

    from .experiments import grids, plan

    return planned(partial(grids, plan=plan(mode)), QUESTIONS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.crossing import explore
    from lasthop.studies.explorer import Explorer

    from . import figures, tables
    from .experiments import data, grids, plan

    wanted = plan(bench.mode)
    explorer = Explorer(bench, partial(grids, plan=wanted), data)
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    default = explored.measured[AS_TAKEN]
    return Campaign(
        explored=explored,
        pictures=figures.pictures(default),
        tables=tables.tables(default, explored.measured, explorer.numbers),
        facts={
            "profile": "rfc",
            "seeds": f"{wanted.seeds} of each run, {wanted.seeds_others} of cases without a number. A seed decides "
            "the jitter, the sizes of frames, and when files of TCP come",
            "processor time": records.costs_said(explorer.numbers),
        },
        shown=tables.in_short(default),
    )


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=text, runs=runs, perform=perform)
