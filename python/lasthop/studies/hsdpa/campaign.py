"""Which runs a mode takes: both protocols and schedulers, the readings of the paper, and what goes beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Point
from lasthop.studies.hsdpa import firstloss, reductions, transfers
from lasthop.studies.hsdpa.losses import FIRST
from lasthop.studies.hsdpa.scenario import ASSUMED, DEFAULT, DURATION, LOADS, PROTOCOLS, SCHEDULERS, Assumed, scenario

__all__ = ["BEYOND", "DETECTION", "MAIN", "Plan", "grids", "plan"]

#: The first seed of every grid.
SEED = 1

#: The grids: the paper's own, the third scheduler, and what TCP detects of spurious timeouts.
MAIN, BEYOND, DETECTION = "main", "proportional fair", "detection"


#: The further readings of a first look: one for each assumption, and the other TCP.
QUICK = (
    "own hexagon",
    "sites apart",
    "1.9 W other power",
    "neighbours by slot",
    "one user a slot",
    "TCP of profile rfc",
)


@dataclass(frozen=True)
class Plan:
    """How much of the campaign is run."""

    seeds: int
    #: Seeds of each further reading, and those readings.
    seeds_assumed: int
    assumed: Sequence[Assumed]
    #: Seeds of what goes beyond the paper, and of the runs in which every packet is recorded.
    seeds_beyond: int
    seeds_first: int
    duration: float = DURATION
    #: Simulated seconds of the runs in which every packet is recorded.
    duration_first: float = 100.0


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(seeds=20, seeds_assumed=20, assumed=ASSUMED[1:], seeds_beyond=20, seeds_first=10)
    some = [one for one in ASSUMED[1:] if one.name in QUICK]
    return Plan(seeds=3, seeds_assumed=2, assumed=some, seeds_beyond=3, seeds_first=2)


def grids(plan: Plan) -> list[Grid]:
    """All grids; their names begin with that of their reading."""
    both = {"protocol": tuple(PROTOCOLS), "scheduler": tuple(SCHEDULERS)}
    heavy = LOADS[-1:]

    def named(name: str, assumed: Assumed, axes: Mapping[str, Sequence[object]], seeds: int) -> Grid:
        of = partial(scenario, assumed=assumed, duration=plan.duration)
        return Grid(f"{assumed.name}: {name}", axes, range(SEED, SEED + seeds), of, reductions.kept, transfers.rows)

    recorded = partial(_recorded, duration=plan.duration_first)
    return [
        named(MAIN, DEFAULT, {**both, "ues": LOADS}, plan.seeds),
        *(named(MAIN, assumed, {**both, "ues": heavy}, plan.seeds_assumed) for assumed in plan.assumed),
        named(BEYOND, DEFAULT, {"protocol": both["protocol"], "scheduler": ("proportional_fair",), "ues": heavy},
              plan.seeds_beyond),
        named(DETECTION, DEFAULT, {"protocol": ("tcp",), "scheduler": both["scheduler"], "ues": heavy,
                                   "spurious": ("none", "eifel", "frto")}, plan.seeds_beyond),
        Grid(f"{DEFAULT.name}: {FIRST}", {**both, "ues": heavy}, range(SEED, SEED + plan.seeds_first), recorded,
             firstloss.kept),
    ]  # fmt: skip


def _recorded(point: Point, *, duration: float) -> Scenario:
    """The scenario with every packet recorded."""
    return scenario(point, duration=duration).with_({"record.packets": True})
