"""Which runs a mode takes, and what a reading needs of them: what changes one protocol only is not run again for the "
"other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop.results import Table
from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Numbers, Point
from lasthop.studies.hsdpa import recorded, reductions, transfers
from lasthop.studies.hsdpa.bursts import FIRST
from lasthop.studies.hsdpa.data import MAIN, Data
from lasthop.studies.hsdpa.readings import QUESTIONS
from lasthop.studies.hsdpa.scenario import DURATION, LOADS, PROTOCOLS, SCHEDULERS, TEXT, concerns, scenario
from lasthop.studies.readings import AS_TAKEN, Reading

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

__all__ = ["BEYOND", "DETECTION", "Campaigner", "Plan", "beyond", "part", "parts", "plan"]

#: The first seed of every grid.
SEED = 1

#: What goes beyond the paper: the third scheduler, and what TCP detects of spurious timeouts.
BEYOND, DETECTION = "proportional fair", "detection"


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
    chosen = {
        name: answer
        for name, answer in reading.chosen.items()
        if any(concerns(key, protocol) for key in answer.changes)
    }
    return Reading(chosen)


def parts(readings: Iterable[Reading], plan: Plan) -> list[Grid]:
    """The grids of these readings, each of one protocol, none twice."""
    made: dict[str, Grid] = {}
    for reading in readings:
        for protocol in PROTOCOLS:
            mine = part(reading, protocol)
            for grid in _grids(mine, protocol, plan):
                made.setdefault(grid.name, grid)
    return list(made.values())


def _grids(reading: Reading, protocol: str, plan: Plan) -> list[Grid]:
    axes = {"protocol": (protocol,), "scheduler": tuple(SCHEDULERS)}
    default = not reading.chosen
    loads = LOADS if default else plan.loads
    of = partial(scenario, changes=reading.changes, duration=plan.duration)
    keep = transfers.rows if default else transfers.rates
    packets = partial(_recorded, changes=reading.changes, duration=plan.duration_first)
    seeds = {name: range(SEED, SEED + plan.seeds_of(reading, name)) for name in (MAIN, FIRST)}
    made = [
        Grid(_name(reading, protocol, MAIN), {**axes, "ues": loads}, seeds[MAIN], of, reductions.kept, keep),
        Grid(_name(reading, protocol, FIRST), {**axes, "ues": LOADS[-1:]}, seeds[FIRST], packets, recorded.kept),
    ]
    return [grid for grid in made if grid.seeds]


def _name(reading: Reading, protocol: str, grid: str) -> str:
    return f"{reading.name}: {grid}, {PROTOCOLS[protocol]}"


def beyond(plan: Plan) -> list[Grid]:
    """What goes beyond the paper, at the default parameters."""
    heavy, seeds = {"ues": LOADS[-1:]}, range(SEED, SEED + plan.seeds_beyond)
    of = partial(scenario, duration=plan.duration)
    third = {"protocol": tuple(PROTOCOLS), "scheduler": ("proportional_fair",), **heavy}
    detects = {"protocol": ("tcp",), "scheduler": tuple(SCHEDULERS), **heavy, "spurious": ("none", "eifel", "frto")}
    return [
        Grid(f"{AS_TAKEN}: {BEYOND}", third, seeds, of, reductions.kept, transfers.rates),
        Grid(f"{AS_TAKEN}: {DETECTION}", detects, seeds, of, reductions.kept),
    ]


def _recorded(point: Point, *, changes: Mapping[str, Any], duration: float) -> Scenario:
    """The scenario with every packet recorded."""
    return scenario(point, changes=changes, duration=duration).with_({"record.packets": True})


class Campaigner:
    """Makes the runs of readings, each once, and puts together what claims are judged on."""

    def __init__(self, bench: Bench, plan: Plan) -> None:
        self._bench, self._plan = bench, plan
        #: All grids that were run, by name.
        self.numbers: dict[str, Numbers] = {}

    def measure(self, readings: Sequence[Reading]) -> dict[str, Data]:
        """The data of these readings. What goes beyond the paper is run with the default one."""
        grids = [grid for grid in parts(readings, self._plan) if grid.name not in self.numbers]
        if any(not reading.chosen for reading in readings):
            grids += beyond(self._plan)
        else:
            self._bench.expect(sum(grid.runs for grid in grids))
        self.numbers |= self._bench.grids(grids)
        return {reading.name: self._data(reading) for reading in readings}

    def _data(self, reading: Reading) -> Data:
        grids = {}
        for name in (MAIN, FIRST):
            both = [self.numbers.get(_name(part(reading, protocol), protocol, name)) for protocol in PROTOCOLS]
            there = [one for one in both if one is not None]
            if len(there) == len(both):
                grids[name] = _joined("protocol", there)
        if reading.name == AS_TAKEN:
            for grid in beyond(self._plan):
                grids[grid.name.partition(": ")[2]] = self.numbers[grid.name]
        taken = {key: value for question in QUESTIONS for key, value in reading.answer(question).changes.items()}
        otherwise = frozenset(key.removeprefix(TEXT) for key in reading.changes if key.startswith(TEXT))
        return Data(reading.name, grids, taken, otherwise)


def _joined(axis: str, parts: Sequence[Numbers]) -> Numbers:
    """Grids that differ in one parameter, as one: at the values of the others and the seeds that all of them have."""
    seeds = min((one.seeds for one in parts), key=len)
    first = parts[0]
    axes = {
        name: tuple(value for value in values if all(one.has(**{name: value}) for one in parts))
        for name, values in first.axes.items()
    }
    axes[axis] = tuple(value for one in parts for value in one.axes[axis])
    cut = [_cut(one, {name: values for name, values in axes.items() if name != axis}, seeds) for one in parts]
    place = list(axes).index(axis)
    values = {name: np.concatenate([one.values[name] for one in cut], axis=place) for name in first.values}
    tables = [one.rows.to_arrow() for one in cut if one.rows is not None]
    common = (
        [name for name in tables[0].column_names if all(name in one.column_names for one in tables)] if tables else []
    )
    rows = Table(pa.concat_tables([one.select(common) for one in tables])) if tables else None
    return Numbers(axes, tuple(seeds), values, rows)


def _cut(grid: Numbers, axes: Mapping[str, Sequence[Any]], seeds: Sequence[int]) -> Numbers:
    """A grid at some values of its parameters, with its first seeds."""
    kept = {name: axes.get(name, values) for name, values in grid.axes.items()}
    if kept == dict(grid.axes) and len(seeds) == len(grid.seeds):
        return grid
    places = [[grid.axes[name].index(value) for value in values] for name, values in kept.items()]
    values = {name: column[np.ix_(*places, range(len(seeds)))] for name, column in grid.values.items()}
    rows = grid.rows
    if rows is not None:
        here = np.isin(rows["seed"], seeds)
        for name, wanted in axes.items():
            here &= np.isin(rows[name], wanted)
        rows = Table(rows.to_arrow().filter(pa.array(here)))
    return replace(grid, axes=kept, seeds=tuple(seeds), values=values, rows=rows)
