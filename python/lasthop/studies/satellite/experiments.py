"""Which runs a mode takes: the paper's, what its text claims beyond them, and the readings of what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lasthop.results import Result, Table
from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Numbers, Point
from lasthop.studies.readings import Reading

from . import data as names
from . import measures, scenario
from .data import Data
from .measures import overflow, waiting
from .network import Setting
from .readings import taken

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
    losses_pct: Sequence[float] = scenario.LOSSES_PCT
    leaves_s: Sequence[float] = scenario.LEAVES_S
    sessions: Sequence[int] = scenario.SESSIONS


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
    reduce: Callable[[Result], Mapping[str, float]] = measures.line
    #: Rows that are kept in the default reading.
    rows: Callable[[Result], Table] | None = None


def parts(plan: Plan) -> list[Part]:
    """All parts."""
    beyond = {"duration_s": scenario.BEYOND_S}
    rlm = {**beyond, "scheme": "RLM"}
    three = {"scenario": tuple(scenario.BEGINNINGS)}
    losses = {"loss_pct": plan.losses_pct}
    slow = {"delay_ms": (0.0, scenario.GEO_MS), "leave_s": plan.leaves_s}
    second = {"second": ("behaves", "misbehaves")}
    counted = {"sessions": ("connections", "addresses")}
    without = {"where": (scenario.SCENARIO_1,), "without": tuple(scenario.ADAPTATIONS)}
    ending = {"where": (scenario.ENDING,), "without": tuple(scenario.ADAPTATIONS)}
    alone = {"rate_kbps": scenario.ALONE_KBPS, "first_threshold": (0.0, scenario.FEW)}
    longer = {"delay_ms": (scenario.LONGER_MS,)}
    over_time = measures.over_time
    return [
        Part(names.SCENARIOS, three, scenario.scenario, CONTROL, ALL, {}, rows=over_time),
        Part(names.RLM, {"scenario": (1,)}, scenario.rlm, RECEIVERS, ALL, {}, rows=over_time),
        Part(names.PAIR, counted, scenario.pair, CONTROL, SINGLES, beyond),
        Part(names.ADAPTATIONS, without, scenario.adaptations, CONTROL, SINGLES, beyond),
        Part(names.OVERFLOW, {"scenario": (1,)}, scenario.overflowing, CONTROL, SINGLES, {}, overflow.stays),
        Part(names.WAITING, {"sessions": (2,)}, scenario.waiting, CONTROL, SINGLES, {}, waiting.waits),
        Part(names.TREE, {"misbehaves": (False, True)}, scenario.tree, CONTROL, SINGLES, beyond, measures.branches),
        Part(names.ERRORS, losses, scenario.errors, CONTROL, DEFAULT, beyond),
        Part(names.RLM_ERRORS, losses, scenario.errors, RECEIVERS, DEFAULT, rlm),
        Part(names.SLOW, slow, scenario.slow, CONTROL, DEFAULT, beyond),
        Part(names.RLM_SLOW, slow, scenario.slow, RECEIVERS, DEFAULT, rlm),
        Part(names.MISBEHAVING, second, scenario.misbehaving, CONTROL, DEFAULT, beyond),
        Part(names.RLM_MISBEHAVING, second, scenario.misbehaving, RECEIVERS, DEFAULT, rlm),
        Part(names.HELD, {"window": (scenario.HELD_BACK,)}, scenario.held, CONTROL, DEFAULT, beyond),
        Part(names.UNCONTROLLED, three, scenario.uncontrolled, NOTHING, DEFAULT, {}),
        Part(names.FULL_OVERFLOW, {"scenario": (1,)}, scenario.never_blocking, NOTHING, DEFAULT, {}, overflow.stays),
        Part(names.ROUND_TRIP, longer, scenario.round_trip, NOTHING, DEFAULT, {}),
        Part(names.ENDING, ending, scenario.adaptations, NOTHING, DEFAULT, {}),
        Part(names.ALONE, alone, scenario.alone, NOTHING, DEFAULT, {}),
        Part(names.STATE, {"sessions": plan.sessions}, scenario.state, NOTHING, DEFAULT, {}, measures.counters),
    ]


def source(reading: Reading, part: Part) -> Reading:
    """The reading of which a part's runs are: the same with the default answers of what the part does not depend on."""
    return reading.only(lambda _, answer: bool({name.partition(".")[0] for name in answer.changes} & part.on))


def grids(reading: Reading, plan: Plan) -> dict[str, Grid]:
    """The grids of a reading by their own names: the parts that are asked of it, by how many answers matter to them."""
    asked, made = (DEFAULT, plan.singles, ALL), {}
    for part in parts(plan):
        of = source(reading, part)
        if part.asked <= asked[len(of.chosen)]:
            seeds = range(SEED, SEED + _seeds(part, of, plan))
            rows = None if of.chosen else part.rows
            scenarios = partial(_scenario, part, taken(of).but(**part.but))
            made[part.name] = Grid(f"{of.name}: {part.name}", part.axes, seeds, scenarios, part.reduce, rows)
    return made


def _seeds(part: Part, of: Reading, plan: Plan) -> int:
    if part.name == names.STATE:
        # No chance is in it.
        return 1
    return plan.seeds_others if of.chosen else plan.seeds


def _scenario(part: Part, setting: Setting, point: Point) -> Scenario:
    return part.scenario(point, setting)


def data(reading: Reading, made: Mapping[str, Numbers], plan: Plan) -> Data:
    """What claims are judged on; of runs that it shares with the default reading, the first seeds."""
    seeds = plan.seeds_others if reading.chosen else plan.seeds
    return Data(reading.name, {name: numbers.first(seeds) for name, numbers in made.items()})
