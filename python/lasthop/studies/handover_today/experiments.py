"""Which runs a mode takes: each path with each mechanism and each hint, in each reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lasthop.studies.grid import Grid, Numbers
from lasthop.studies.readings import Reading

from . import data as names
from .data import Data
from .measures import line, over_time
from .network.mechanisms import HINTS, OFF, RESTART, ROUTERS, TODAY
from .network.paths import LINKED, PATHS
from .readings import taken
from .scenario import SEED, scenario


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    #: Seeds of the default reading, and of others.
    seeds: int
    seeds_others: int
    #: The paths of other readings: what they answer differs on these alone.
    paths: Sequence[str]
    #: Start times of Table I.
    starts: int


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    return Plan(24, 12, tuple(PATHS), 20) if mode == "full" else Plan(4, 2, LINKED, 3)


def grids(reading: Reading, plan: Plan) -> dict[str, Grid]:
    """The grids of a reading by their own names."""
    setting = taken(reading)
    paths = tuple(plan.paths) if reading.chosen else tuple(PATHS)
    if setting.lossy:
        paths = tuple(path for path in paths if path in LINKED)
    seeds = plan.seeds_others if reading.chosen else plan.seeds
    axes: Mapping[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {
        names.HINTED: (paths, TODAY, HINTS),
        names.RATED: (paths, ("tfrc",), (OFF, RESTART)),
        names.ROUTED: ([path for path in paths if path in LINKED], ROUTERS, (OFF,)),
    }
    return {
        name: Grid(
            f"{reading.name}: {name}",
            dict(zip(("path", "mechanism", "hint"), (tuple(values) for values in of), strict=True)),
            range(SEED, SEED + seeds),
            partial(scenario, setting=setting),
            line,
            None if reading.chosen else over_time,
        )
        for name, of in axes.items()
    }


def data(reading: Reading, made: Mapping[str, Numbers]) -> Data:
    """What claims are judged on."""
    return Data(reading.name, dict(made))
