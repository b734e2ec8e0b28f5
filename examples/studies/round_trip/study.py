"""Puts the study together: what is run, what is drawn, what is written beside the claims."""

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

    from .experiments import grids

    return planned(partial(grids, mode=mode), QUESTIONS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs. Nothing here has to change; other figures of the runs are told in `facts`."""
    from lasthop.studies.crossing import explore
    from lasthop.studies.explorer import Explorer

    from .experiments import Data, grids
    from .figures import pictures
    from .tables import tables

    explorer = Explorer(bench, partial(grids, mode=bench.mode), lambda reading, made: Data(reading.name, made))
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    data = explored.measured[AS_TAKEN]
    return Campaign(explored, pictures(data), tables(data, explorer.numbers), facts={"profile": "rfc"})


STUDY = Study.of(__name__, claims=CLAIMS, questions=QUESTIONS, scenario=text, runs=runs, perform=perform)
