"""Puts the study together: its runs, what is drawn, what is written beside the claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Campaign, Study
from lasthop.studies.readings import AS_TAKEN, as_taken, singles

from .judges import CLAIMS
from .readings import QUESTIONS
from .scenario import SEED, text

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench


def runs(mode: str) -> int:
    """How many runs a mode takes, but for crossed readings and the search."""
    from .experiments import planned
    from .measures.scalability import FLOWS
    from .network import CROWD

    return planned([as_taken(), *singles(QUESTIONS)], mode) + len(CROWD) * len(FLOWS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies.crossing import explore

    from .experiments import STARTS, STARTS_OTHERS, Campaigner
    from .figures import pictures
    from .tables import tables

    campaigner = Campaigner(bench)
    explored = explore(QUESTIONS, CLAIMS, campaigner.measure, cross=bench.mode == "full")
    growth, grown = campaigner.growth()
    return Campaign(
        explored=explored,
        pictures=pictures(explored.measured[AS_TAKEN]),
        tables=tables(explored.measured, growth, grown),
        facts={
            "seed": f"{SEED}; in the crowd one for each start time, from {SEED} on",
            "start times": f"{STARTS} in [0, 1) s, one drawn from each equal part; {STARTS_OTHERS[bench.mode]} of them "
            "in readings other than the default",
        },
    )


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=text, runs=runs, perform=perform)
