"""Which runs a mode takes: the paper's, the readings of what it leaves open, and what its text claims beyond them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lasthop.studies.grid import Grid
from lasthop.studies.satellite import data, experiments, reductions, waiting
from lasthop.studies.satellite.readings import DEFAULT, READINGS, Reading

__all__ = ["Plan", "grids", "plan"]

#: The first seed of every grid.
SEED = 1


@dataclass(frozen=True)
class Plan:
    """How much of the campaign is run."""

    #: Seeds of the scenarios and of RLM, and of the other experiments.
    seeds: int
    seeds_more: int
    #: Seeds of each further reading, and the readings.
    seeds_readings: int
    readings: Sequence[Reading]
    #: The values of the experiments.
    losses_pct: Sequence[float]
    leaves_s: Sequence[float]
    sessions: Sequence[int]
    adaptations: Sequence[str]


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(
            seeds=10,
            seeds_more=5,
            seeds_readings=3,
            readings=READINGS[1:],
            losses_pct=experiments.LOSSES_PCT,
            leaves_s=experiments.LEAVES_S,
            sessions=experiments.SESSIONS,
            adaptations=tuple(experiments.ADAPTATIONS),
        )
    some = ("rates over 5 s", "as printed")
    return Plan(
        seeds=2,
        seeds_more=2,
        seeds_readings=2,
        readings=[one for one in READINGS[1:] if one.name in some],
        losses_pct=(0.0, 3.0),
        leaves_s=(0.0, 9.0),
        sessions=(1, 10, 100),
        adaptations=[name for name in experiments.ADAPTATIONS if name != "all"],
    )


def grids(plan: Plan) -> list[Grid]:
    """All grids; their names begin with that of their reading."""
    schemes = experiments.SCHEMES

    def grid(
        name: str, axes: Mapping[str, Sequence[Any]], scenario: Callable[..., Any], seeds: int = plan.seeds_more,
        reduce: Any = reductions.line, rows: Any = None,
    ) -> Grid:  # fmt: skip
        return Grid(f"{DEFAULT.name}: {name}", axes, range(SEED, SEED + seeds), scenario, reduce, rows)

    over_time, branches = reductions.over_time, reductions.branches
    three = {"scenario": tuple(experiments.SCENARIOS)}
    slow = {"scheme": schemes, "delay_ms": (0.0, experiments.GEO_MS), "leave_s": plan.leaves_s}
    second = {"scheme": schemes, "second": ("behaves", "misbehaves")}
    alone = {"rate_kbps": experiments.ALONE_KBPS, "first_threshold": (0.0, experiments.FEW)}
    without = {
        "where": (experiments.SCENARIO_1, experiments.ENDING, experiments.LATER),
        "without": plan.adaptations,
    }
    made = [
        grid(data.SCENARIOS, three, experiments.scenario, plan.seeds, rows=over_time),
        grid(data.RLM, {"defects": (False, True)}, experiments.rlm, plan.seeds, rows=over_time),
        grid(data.ROUND_TRIP, {"delay_ms": (experiments.LONGER_MS,)}, experiments.round_trip),
        grid(data.ERRORS, {"scheme": schemes, "loss_pct": plan.losses_pct}, experiments.errors),
        grid(data.SLOW, slow, experiments.slow),
        grid(data.MISBEHAVING, second, experiments.misbehaving),
        grid(data.HELD, {"window": (experiments.HELD_BACK,)}, experiments.held),
        grid(data.PAIR, {"sessions": ("connections", "addresses")}, experiments.pair),
        grid(data.ALONE, alone, experiments.alone),
        grid(data.ADAPTATIONS, without, experiments.adaptations),
        grid(data.WAITING, {"sessions": (2,)}, experiments.waiting, reduce=waiting.waits),
        grid(data.TREE, {"misbehaves": (False, True)}, experiments.tree, reduce=branches),
        grid(data.STATE, {"sessions": plan.sessions}, experiments.state, 1, reductions.counters),
    ]
    for reading in plan.readings:
        of = partial(experiments.scenario, reading=reading)
        seeds = range(SEED, SEED + plan.seeds_readings)
        made.append(Grid(f"{reading.name}: {data.SCENARIOS}", three, seeds, of, reductions.line))
    return made
