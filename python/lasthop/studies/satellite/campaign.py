"""Which runs a mode takes: the paper's, what its text claims beyond them, and the readings of what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lasthop.results import Result, Table
from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Point
from lasthop.studies.readings import Reading, as_taken, singles
from lasthop.studies.satellite import data, experiments, overflow, reductions, waiting
from lasthop.studies.satellite.network import Setting
from lasthop.studies.satellite.readings import QUESTIONS, setting

__all__ = ["Part", "Plan", "grids", "parts", "plan", "runs", "source", "wanted"]

#: The first seed of every grid.
SEED = 1

#: What a part depends on: parts of a setting that an answer may change.
CONTROL, RECEIVERS = (
    frozenset(("queue", "sessions", "transport", "delay_ms")),
    frozenset(("rlm", "sessions", "transport", "delay_ms")),
)
NOTHING: frozenset[str] = frozenset()

#: Of which readings a part is asked: of all, of those that answer one question otherwise, of the default one.
ALL, SINGLES, DEFAULT = range(3)


@dataclass(frozen=True)
class Plan:
    """How much of the campaign is run."""

    #: Seeds of the default reading, and of others: the first of the same.
    seeds: int
    seeds_others: int
    #: What is asked of readings that answer one question otherwise.
    singles: int
    #: The values of the experiments.
    losses_pct: Sequence[float] = experiments.LOSSES_PCT
    leaves_s: Sequence[float] = experiments.LEAVES_S
    sessions: Sequence[int] = experiments.SESSIONS


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(seeds=16, seeds_others=8, singles=SINGLES)
    return Plan(
        seeds=3, seeds_others=2, singles=ALL, losses_pct=(0.0, 3.0), leaves_s=(0.0, 9.0),
        sessions=(1, 10, 100),
    )  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A grid that is run in several readings."""

    name: str
    axes: Mapping[str, Sequence[Any]]
    scenario: Callable[[Point, Setting], Scenario]
    #: What it depends on. Readings that differ in nothing of it have its runs in common.
    on: frozenset[str]
    #: Which readings it is asked of.
    asked: int
    #: What differs from the reading's setting.
    but: Mapping[str, Any]
    reduce: Callable[[Result], Mapping[str, float]] = reductions.line
    #: Rows that are kept in the default reading.
    rows: Callable[[Result], Table] | None = None


def parts(plan: Plan) -> list[Part]:
    """All parts."""
    beyond = {"duration_s": experiments.BEYOND_S}
    rlm = {**beyond, "scheme": "RLM"}
    three = {"scenario": tuple(experiments.SCENARIOS)}
    losses = {"loss_pct": plan.losses_pct}
    slow = {"delay_ms": (0.0, experiments.GEO_MS), "leave_s": plan.leaves_s}
    second = {"second": ("behaves", "misbehaves")}
    counted = {"sessions": ("connections", "addresses")}
    without = {"where": (experiments.SCENARIO_1,), "without": tuple(experiments.ADAPTATIONS)}
    ending = {"where": (experiments.ENDING,), "without": tuple(experiments.ADAPTATIONS)}
    alone = {"rate_kbps": experiments.ALONE_KBPS, "first_threshold": (0.0, experiments.FEW)}
    longer = {"delay_ms": (experiments.LONGER_MS,)}
    over_time = reductions.over_time
    return [
        Part(data.SCENARIOS, three, experiments.scenario, CONTROL, ALL, {}, rows=over_time),
        Part(data.RLM, {"scenario": (1,)}, experiments.rlm, RECEIVERS, ALL, {}, rows=over_time),
        Part(data.PAIR, counted, experiments.pair, CONTROL, SINGLES, beyond),
        Part(data.ADAPTATIONS, without, experiments.adaptations, CONTROL, SINGLES, beyond),
        Part(data.OVERFLOW, {"scenario": (1,)}, experiments.overflowing, CONTROL, SINGLES, {}, overflow.stays),
        Part(data.WAITING, {"sessions": (2,)}, experiments.waiting, CONTROL, SINGLES, {}, waiting.waits),
        Part(data.TREE, {"misbehaves": (False, True)}, experiments.tree, CONTROL, SINGLES, beyond, reductions.branches),
        Part(data.ERRORS, losses, experiments.errors, CONTROL, DEFAULT, beyond),
        Part(data.RLM_ERRORS, losses, experiments.errors, RECEIVERS, DEFAULT, rlm),
        Part(data.SLOW, slow, experiments.slow, CONTROL, DEFAULT, beyond),
        Part(data.RLM_SLOW, slow, experiments.slow, RECEIVERS, DEFAULT, rlm),
        Part(data.MISBEHAVING, second, experiments.misbehaving, CONTROL, DEFAULT, beyond),
        Part(data.RLM_MISBEHAVING, second, experiments.misbehaving, RECEIVERS, DEFAULT, rlm),
        Part(data.HELD, {"window": (experiments.HELD_BACK,)}, experiments.held, CONTROL, DEFAULT, beyond),
        Part(data.UNCONTROLLED, three, experiments.uncontrolled, NOTHING, DEFAULT, {}),
        Part(data.FULL_OVERFLOW, {"scenario": (1,)}, experiments.never_blocking, NOTHING, DEFAULT, {}, overflow.stays),
        Part(data.ROUND_TRIP, longer, experiments.round_trip, NOTHING, DEFAULT, {}),
        Part(data.ENDING, ending, experiments.adaptations, NOTHING, DEFAULT, {}),
        Part(data.ALONE, alone, experiments.alone, NOTHING, DEFAULT, {}),
        Part(data.STATE, {"sessions": plan.sessions}, experiments.state, NOTHING, DEFAULT, {}, reductions.counters),
    ]


def source(reading: Reading, part: Part) -> Reading:
    """The reading of which a part's runs are: the same with the default answers of what the part does not depend on."""
    return Reading(
        {
            question: answer
            for question, answer in reading.chosen.items()
            if {name.partition(".")[0] for name in answer.changes} & part.on
        }
    )


def wanted(reading: Reading, plan: Plan) -> list[Part]:
    """The parts that are asked of a reading: by how many answers matter to them."""
    asked = (DEFAULT, plan.singles, ALL)
    return [part for part in parts(plan) if part.asked <= asked[len(source(reading, part).chosen)]]


def grids(readings: Iterable[Reading], plan: Plan) -> dict[str, Grid]:
    """The grids of some readings, each once; their names begin with that of the reading of which they are."""
    made = {}
    for reading in readings:
        for part in wanted(reading, plan):
            of = source(reading, part)
            name = f"{of.name}: {part.name}"
            taken = setting(of).but(**part.but)
            seeds = range(SEED, SEED + _seeds(part, of, plan))
            rows = None if of.chosen else part.rows
            made[name] = Grid(name, part.axes, seeds, partial(_scenario, part, taken), part.reduce, rows)
    return made


def _seeds(part: Part, of: Reading, plan: Plan) -> int:
    if part.name == data.STATE:
        # No chance is in it.
        return 1
    return plan.seeds_others if of.chosen else plan.seeds


def _scenario(part: Part, taken: Setting, point: Point) -> Scenario:
    return part.scenario(point, taken)


def runs(mode: str) -> int:
    """How many runs a mode takes, but for crossed readings and pictures of single runs."""
    return sum(grid.runs for grid in grids([as_taken(), *singles(QUESTIONS)], plan(mode)).values())
