"""Puts the study together: its runs, what is drawn, what is written beside the claims."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lasthop.studies import Campaign, Study
from lasthop.studies.readings import AS_TAKEN

from .judges import CLAIMS
from .readings import QUESTIONS
from .scenario import example

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench


def runs(mode: str) -> int:
    """How many runs a mode takes, but for crossed readings and pictures of single runs."""
    from lasthop.studies.explorer import planned

    from .experiments import grids, plan

    return planned(partial(grids, plan=plan(mode)), QUESTIONS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.crossing import explore
    from lasthop.studies.explorer import Explorer

    from . import figures, single_runs, tables
    from .experiments import data, grids, plan

    wanted = plan(bench.mode)
    explorer = Explorer(bench, partial(grids, plan=wanted), partial(data, plan=wanted))
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    single = single_runs.pictures(single_runs.watch(bench))
    default = explored.measured[AS_TAKEN]
    return Campaign(
        explored=explored,
        pictures=[single[0], *figures.pictures(default, explored.measured), *single[1:]],
        tables=tables.tables(explored.measured, explorer.numbers),
        facts={
            "profile": "ns2 for TCP (NewReno, minimum timeout 0.2 s); of TFMCC and PGMCC all profiles are the same",
            "seeds": f"{wanted.default}; with one answer otherwise {wanted.single}; with two {wanted.crossed}",
            "processor time": records.costs_said(explorer.numbers),
        },
    )


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=example, runs=runs, perform=perform)
