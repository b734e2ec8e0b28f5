"""Which runs a mode takes; what changes one protocol only is not run again for the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Numbers, Point
from lasthop.studies.readings import AS_TAKEN, Reading

from . import measures
from .data import BEYOND, DETECTION, FIRST, MAIN, Data, joined
from .measures import recorded, transfers
from .readings import QUESTIONS
from .scenario import DURATION, LOADS, PROTOCOLS, SCHEDULERS, TEXT, concerns, scenario

#: The first seed of every grid.
SEED = 1


@dataclass(frozen=True)
class Plan:
    """How much of the campaign is run."""

    #: Seeds of the default reading, of one answer otherwise, and of two.
    seeds: int
    seeds_single: int
    seeds_crossed: int
    #: Seeds of the runs in which every packet is recorded, in the default reading and in others.
    seeds_first: int
    seeds_first_single: int
    #: Seeds of what goes beyond the paper.
    seeds_beyond: int
    #: The loads of the readings beside the default.
    loads: Sequence[int] = LOADS
    duration: float = DURATION
    #: Simulated seconds of the runs in which every packet is recorded.
    duration_first: float = 100.0

    def seeds_of(self, reading: Reading, grid: str) -> int:
        """How many seeds a grid of a reading has."""
        others = len(reading.chosen)
        if grid == FIRST:
            return (self.seeds_first, self.seeds_first_single, 0)[others]
        return (self.seeds, self.seeds_single, self.seeds_crossed)[others]


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(seeds=20, seeds_single=20, seeds_crossed=14, seeds_first=20, seeds_first_single=8, seeds_beyond=20)
    return Plan(
        seeds=14, seeds_single=6, seeds_crossed=0, seeds_first=6, seeds_first_single=0, seeds_beyond=4,
        loads=LOADS[-1:], duration=150.0,
    )  # fmt: skip


def part(reading: Reading, protocol: str) -> Reading:
    """What of a reading matters to runs of a protocol."""
    return reading.only(lambda _, answer: any(concerns(key, protocol) for key in answer.changes))


def grids(reading: Reading, plan: Plan) -> dict[str, Grid]:
    """The grids of a reading, each of one protocol, by their own names."""
    made = {}
    for protocol in PROTOCOLS:
        mine = part(reading, protocol)
        axes = {"protocol": (protocol,), "scheduler": tuple(SCHEDULERS)}
        of = partial(scenario, changes=mine.changes, duration=plan.duration)
        packets = partial(_recorded, changes=mine.changes, duration=plan.duration_first)
        loads, rows = (plan.loads, transfers.rates) if mine.chosen else (LOADS, transfers.rows)
        for name, ues, scenarios, keep, kept_rows in (
            (MAIN, loads, of, measures.kept, rows),
            (FIRST, LOADS[-1:], packets, recorded.kept, None),
        ):
            own, seeds = _own(name, protocol), range(SEED, SEED + plan.seeds_of(mine, name))
            if seeds:
                full = f"{mine.name}: {own}"
                made[own] = Grid(full, {**axes, "ues": ues}, seeds, scenarios, keep, kept_rows)
    return made


def _own(grid: str, protocol: str) -> str:
    return f"{grid}, {PROTOCOLS[protocol]}"


def beyond(plan: Plan) -> dict[str, Grid]:
    """What goes beyond the paper, at the default parameters."""
    heavy, seeds = {"ues": LOADS[-1:]}, range(SEED, SEED + plan.seeds_beyond)
    of = partial(scenario, duration=plan.duration)
    third = {"protocol": tuple(PROTOCOLS), "scheduler": ("proportional_fair",), **heavy}
    detects = {"protocol": ("tcp",), "scheduler": tuple(SCHEDULERS), **heavy, "spurious": ("none", "eifel", "frto")}
    return {
        BEYOND: Grid(f"{AS_TAKEN}: {BEYOND}", third, seeds, of, measures.kept, transfers.rates),
        DETECTION: Grid(f"{AS_TAKEN}: {DETECTION}", detects, seeds, of, measures.kept),
    }


def _recorded(point: Point, *, changes: Mapping[str, Any], duration: float) -> Scenario:
    """The scenario with every packet recorded."""
    return scenario(point, changes=changes, duration=duration).with_({"record.packets": True})


def data(reading: Reading, made: Mapping[str, Numbers]) -> Data:
    """What claims are judged on: the grids of both protocols put together."""
    grids = {name: made[name] for name in (BEYOND, DETECTION) if name in made}
    for name in (MAIN, FIRST):
        both = [made[_own(name, protocol)] for protocol in PROTOCOLS if _own(name, protocol) in made]
        if len(both) == len(PROTOCOLS):
            grids[name] = joined("protocol", both)
    taken = {key: value for question in QUESTIONS for key, value in reading.answer(question).changes.items()}
    otherwise = frozenset(key.removeprefix(TEXT) for key in reading.changes if key.startswith(TEXT))
    return Data(reading.name, grids, taken, otherwise)
