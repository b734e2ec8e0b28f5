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
    from .measures import table_1

    wanted = plan(mode)
    return planned(partial(grids, plan=wanted), QUESTIONS) + table_1.runs(wanted.starts)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.crossing import explore
    from lasthop.studies.explorer import Explorer
    from lasthop.studies.handover.experiments import begins

    from . import figures, tables
    from .experiments import data, grids, plan
    from .measures import table_1
    from .tables.answer import answer

    wanted = plan(bench.mode)
    explorer = Explorer(bench, partial(grids, plan=wanted), data)
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    default = explored.measured[AS_TAKEN]
    graded = table_1.grade(bench, begins(wanted.starts))
    return Campaign(
        explored=explored,
        pictures=figures.pictures(default),
        tables=tables.tables(default, graded, explorer.numbers),
        facts={
            "profile": "rfc; the paper's seven in Table I as in the study handover",
            "seeds": f"{wanted.seeds} of each run, {wanted.seeds_others} where a question is answered otherwise; "
            f"{wanted.starts} start times of Table I. A seed decides the sizes and times of frames, and the files of "
            "others",
            "processor time": records.costs_said(explorer.numbers),
        },
        shown=tables.in_short(default),
        answer=answer(default, graded),
    )


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=text, runs=runs, perform=perform)
