"""Which runs a mode takes: the grids of each reading."""

from __future__ import annotations

from functools import partial

from lasthop.studies.grid import Grid, Grids
from lasthop.studies.readings import Reading

from .measures import measures
from .scenario import DELAYS_MS, scenario

#: What claims are judged on: the numbers of each grid of a reading.
Data = Grids

#: The grid's name. A study may have several, each at the values of its own parameters.
DELAYS = "delays"


def grids(reading: Reading, mode: str) -> dict[str, Grid]:
    """The grids of a reading by their names; the full name of a grid begins with that of its reading."""
    seeds, seconds = (range(1, 21), 300.0) if mode == "full" else (range(1, 13), 100.0)
    of = partial(scenario, changes=reading.changes, seconds=seconds)
    return {DELAYS: Grid(f"{reading.name}: {DELAYS}", {"delay_ms": DELAYS_MS}, seeds, of, measures)}
