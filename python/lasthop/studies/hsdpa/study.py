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
    """How many runs a mode takes, but for crossed readings and those of the pictures of the cell."""
    from lasthop.studies.explorer import planned

    from .experiments import beyond, grids, plan

    wanted = plan(mode)
    return planned(partial(grids, plan=wanted), QUESTIONS, beyond(wanted).values())


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.crossing import explore
    from lasthop.studies.explorer import Explorer

    from . import figures, single_runs, tables
    from .experiments import beyond, data, grids, plan

    wanted = plan(bench.mode)
    explorer = Explorer(bench, partial(grids, plan=wanted), data, beyond(wanted))
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    alone = [reading.name for reading in explored.readings if len(reading.chosen) < 2]
    seen = single_runs.watch(bench)
    return Campaign(
        explored=explored,
        pictures=[*figures.pictures(explored.measured[AS_TAKEN]), *single_runs.pictures(seen)],
        tables=tables.tables(explored.measured, explorer.numbers, alone),
        facts={
            "profile": "ns2 for TCP, rfc for TFRC; others as readings",
            "seeds": f"{wanted.seeds} of {wanted.duration:g} s; {wanted.seeds_single} where one question is answered "
            f"otherwise, {wanted.seeds_crossed} where two are",
            "processor time": records.costs_said(explorer.numbers),
        },
    )


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=text, runs=runs, perform=perform)
