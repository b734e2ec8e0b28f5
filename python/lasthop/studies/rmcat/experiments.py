"""Which runs a mode takes: the cases with their controllers, in each reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lasthop.studies.grid import Grid, Numbers
from lasthop.studies.readings import Reading

from . import data as names
from .data import Data
from .measures import FIRST_SEED, line, over_time
from .network.cases import CELL, ECN, NUMBERED, OTHERS, PRIORITY, VARIED, WIRED, Case
from .network.controllers import ANCHORED, BESIDE, CONTROLLERS, MARKED, MEDIA
from .readings import BARE, taken
from .scenario import scenario

#: Cases as long as this are run with marks in the full mode alone.
LONG_S = 300


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    seeds: int
    #: Seeds of the cases of which no RFC has a number.
    seeds_others: int
    #: The controllers of readings that answer otherwise.
    others: Sequence[str]
    #: The cases with marks, and their controllers.
    marked: Sequence[Case]
    marking: Sequence[str]


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(12, 12, (*MEDIA, *BESIDE), ECN, MARKED)
    of_media = [name for name in MARKED if "media" in CONTROLLERS[name].transport(1.0)]
    return Plan(3, 2, MEDIA, [one for one in ECN if one.seconds < LONG_S], of_media)


def grids(reading: Reading, plan: Plan) -> dict[str, Grid]:
    """The grids of a reading by their own names."""
    setting = taken(reading)
    all_of_them = (*MEDIA, *BESIDE)
    weighing = [name for name, one in CONTROLLERS.items() if one.weighs and not one.queue]
    if reading.chosen:
        parts: dict[str, tuple[Sequence[Case], Sequence[str]]] = {names.VARIED: (VARIED, plan.others)}
        if setting.capacity == "link":
            parts |= {names.SHARING: (NUMBERED, plan.others), names.PRIORITY: (PRIORITY, weighing)}
    else:
        parts = {
            names.VARIED: (VARIED, all_of_them),
            names.SHARING: (NUMBERED, all_of_them),
            names.OTHERS: (OTHERS, all_of_them),
            names.PRIORITY: (PRIORITY, weighing),
            names.MARKS: (plan.marked, plan.marking),
            names.WIRED: (WIRED, all_of_them),
            names.CELL: ([CELL], all_of_them),
        }
    few = (names.OTHERS, names.WIRED, names.CELL)
    seeds = {name: range(FIRST_SEED, FIRST_SEED + (plan.seeds_others if name in few else plan.seeds)) for name in parts}
    rows = None if reading.chosen else over_time
    made = {
        name: Grid(
            f"{reading.name}: {name}",
            _axes(cases, controllers),
            seeds[name],
            partial(scenario, setting=setting),
            line,
            rows,
        )
        for name, (cases, controllers) in parts.items()
    }
    if not reading.chosen:
        bare = partial(scenario, setting=BARE)
        made[names.CHECK] = Grid(
            f"{reading.name}: {names.CHECK}",
            {"case": ("5.1",), "controller": ANCHORED},
            range(FIRST_SEED, FIRST_SEED + 2),
            bare,
            line,
        )
    return made


def _axes(cases: Sequence[Case], controllers: Sequence[str]) -> Mapping[str, Sequence[Any]]:
    return {"case": tuple(one.id for one in cases), "controller": tuple(controllers)}


def data(reading: Reading, made: Mapping[str, Numbers]) -> Data:
    """What claims are judged on."""
    return Data(reading.name, dict(made))
