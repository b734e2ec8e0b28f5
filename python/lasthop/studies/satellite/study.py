"""Puts the study together: its runs, what is drawn, what is written beside the claims."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lasthop.studies import Campaign, Study
from lasthop.studies.readings import AS_TAKEN

from .judges import CLAIMS
from .network import text
from .readings import QUESTIONS

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
    default = explored.measured[AS_TAKEN]
    patterns, trend, *sky = single_runs.pictures(single_runs.watch(bench))
    drawn = figures.pictures(default)
    # As they are numbered in the paper: its tenth figure is RLM's second one.
    of_paper = [one for one in drawn if one.id.removeprefix("figure-").isdigit()]
    beyond = [one for one in drawn if one not in of_paper]
    return Campaign(
        explored=explored,
        pictures=[patterns, *of_paper, trend, *sky, *beyond],
        tables=tables.tables(default, explorer.numbers),
        facts={
            "profile": "ns2 for TCP and RLM",
            "seeds": f"{wanted.seeds} of each run in the default reading, the first {wanted.seeds_others} of them in "
            "others. A seed decides when terminals and satellites look for one another, and the gaps between "
            "packets of layers",
            "processor time": records.costs_said(explorer.numbers),
        },
    )


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=text, runs=runs, perform=perform)
