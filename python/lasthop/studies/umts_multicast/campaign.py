"""Which runs a mode takes: the paper's experiments, the readings of what it leaves open, and what goes beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Point
from lasthop.studies.umts_multicast import experiments, reductions, telling
from lasthop.studies.umts_multicast.cost import GROUPS
from lasthop.studies.umts_multicast.data import (
    EXPULSION,
    FAIRNESS,
    FREE,
    INDICATION,
    PERMANENT,
    REPORTS,
    SCALING,
    SECONDS,
    SEVERAL,
    STEPS,
    TCP,
    TEMPORARY,
)
from lasthop.studies.umts_multicast.experiments import DEGRADED, SIZES, TCP_FLOWS
from lasthop.studies.umts_multicast.fairness import MIXED, PAIRS, PLACES, UNCONTROLLED
from lasthop.studies.umts_multicast.readings import ALONE, DEFAULT, READINGS, Reading
from lasthop.studies.umts_multicast.temporary import LEGACY, MODIFIED

__all__ = ["Plan", "grids", "plan"]

#: The first seed of every grid.
SEED = 1


@dataclass(frozen=True)
class Plan:
    """How much of the campaign is run."""

    #: Seeds and sizes of §5.3.
    seeds: int
    sizes: Sequence[int]
    #: Seeds of §5.1 with all of Table I, and of what is run without the background.
    seeds_fairness: int
    seeds_alone: int
    #: Seeds of each further reading, its sizes of §5.3, and the readings.
    seeds_readings: int
    sizes_readings: Sequence[int]
    readings: Sequence[Reading]
    #: Simulated seconds, and seeds, of the runs in which every packet is recorded.
    told_s: float
    seeds_told: int
    #: Whether to see what the background changes in §5.1 and §5.4.
    by_second: bool = True


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(
            seeds=20,
            sizes=SIZES,
            seeds_fairness=3,
            seeds_alone=20,
            seeds_readings=5,
            sizes_readings=(1, 10, 100),
            readings=READINGS[1:],
            told_s=600.0,
            seeds_told=5,
        )
    some = ("observed flows alone", "reading B", "one attempt")
    return Plan(
        seeds=2,
        sizes=(1, 10, 100),
        seeds_fairness=1,
        seeds_alone=3,
        seeds_readings=2,
        sizes_readings=(1, 10),
        readings=[one for one in READINGS[1:] if one.name in some],
        told_s=300.0,
        seeds_told=2,
        by_second=False,
    )


def grids(plan: Plan) -> list[Grid]:
    """All grids; their names begin with that of their reading."""
    return [*_default(plan), *(grid for reading in plan.readings for grid in _reading(plan, reading))]


def _seeds(count: int) -> range:
    return range(SEED, SEED + count)


def _default(plan: Plan) -> Iterable[Grid]:
    """What gives the verdicts. §5.1 and §5.3 are run with all of Table I.

    §5.2 and §5.4 are sampled every tenth of a second, which is too much for 500 terminals: they are run without the
    background, and what it changes is seen in §5.4 by the second.
    """
    alone = _seeds(plan.seeds_alone)

    def grid(name: str, axes: Mapping[str, Sequence[object]], seeds: Sequence[int], *how: Any, **more: Any) -> Grid:
        return Grid(f"{DEFAULT.name}: {name}", axes, seeds, *how, **more)

    permanent = partial(experiments.permanent, reading=ALONE)
    fair = partial(experiments.fairness, reading=ALONE)
    yield grid(
        TEMPORARY,
        {"scheme": (*MODIFIED, *LEGACY), "ues": plan.sizes},
        _seeds(plan.seeds),
        experiments.temporary,
        reductions.temporary,
    )
    yield _tcp(DEFAULT, plan.seeds)
    yield grid(
        FAIRNESS,
        {"where": tuple(PLACES), "flows": (*PAIRS, MIXED)},
        _seeds(plan.seeds_fairness),
        experiments.fairness,
        reductions.fairness,
        reductions.fairness_rows,
    )
    yield grid(FREE, {"where": ("iu", "bearer"), "flows": (UNCONTROLLED,)}, alone, fair, reductions.fairness)
    yield grid(
        STEPS,
        {"step": ("loss", "delay")},
        alone,
        partial(experiments.responsiveness, reading=ALONE),
        reductions.responsiveness,
        reductions.responsiveness_rows,
    )
    yield grid(
        PERMANENT,
        {"scheme": (*MODIFIED, *LEGACY, "tcp", "cbr")},
        alone,
        permanent,
        reductions.permanent,
        reductions.permanent_rows,
    )
    yield grid(SEVERAL, {"scheme": MODIFIED, "degraded": (len(DEGRADED),)}, alone, permanent, reductions.permanent)
    yield grid(
        SCALING, {"scheme": MODIFIED, "queue": (25, 50), "rate": (384, 192)}, alone, _scaled, reductions.permanent
    )
    yield grid(
        EXPULSION,
        {"scheme": MODIFIED, "lasts": ("good", "spell"), "expels": (True, False)},
        alone,
        partial(experiments.expulsion, reading=ALONE),
        reductions.expulsion,
    )
    if plan.by_second:
        yield grid(
            SECONDS,
            {"scheme": MODIFIED, "background": (False, True)},
            _seeds(plan.seeds_fairness),
            _by_seconds,
            reductions.permanent,
        )
    yield grid(
        INDICATION,
        telling.CASES,
        _seeds(plan.seeds_told),
        partial(experiments.indication, duration_s=plan.told_s),
        telling.counts,
    )
    yield grid(
        REPORTS,
        {"scheme": (*MODIFIED, *LEGACY), "ues": tuple(others + 1 for others in GROUPS)},
        _seeds(plan.seeds_readings),
        experiments.reports,
        reductions.reports,
    )


def _tcp(reading: Reading, seeds: int) -> Grid:
    """TCP's flows, with which all sizes of a reading are compared."""
    return Grid(
        f"{reading.name}: {TCP}",
        {"scheme": ("tcp",), "ues": (TCP_FLOWS,)},
        _seeds(seeds),
        partial(experiments.temporary, reading=reading),
        reductions.temporary,
    )


def _scaled(point: Point) -> Scenario:
    """§5.4 with another buffer or bit rate."""
    radio = {"queue": f"{point['queue']} packets", "rate": f"{point['rate']} kbit/s"}
    return experiments.permanent({"scheme": point["scheme"]}, reading=replace(ALONE, radio=radio))


def _by_seconds(point: Point) -> Scenario:
    """§5.4, sampled by the second, with and without the background."""
    return experiments.permanent(
        {"scheme": point["scheme"]}, reading=DEFAULT if point["background"] else ALONE, series="1 s"
    )


def _reading(plan: Plan, reading: Reading) -> Iterable[Grid]:
    seeds = _seeds(plan.seeds if reading is ALONE else plan.seeds_readings)
    schemes = (*MODIFIED, *LEGACY, *(("cbr",) if reading is ALONE else ()))
    yield Grid(
        f"{reading.name}: {TEMPORARY}",
        {"scheme": schemes, "ues": plan.sizes_readings},
        seeds,
        partial(experiments.temporary, reading=reading),
        reductions.temporary,
    )
    yield _tcp(reading, len(seeds))
    if reading is ALONE and plan.by_second:
        yield Grid(
            f"{reading.name}: {FAIRNESS}",
            {"where": tuple(PLACES), "flows": (*PAIRS, MIXED)},
            _seeds(plan.seeds_readings),
            partial(experiments.fairness, reading=reading),
            reductions.fairness,
        )
    if reading is not ALONE and not reading.burst and reading.lasts_s == DEFAULT.lasts_s:
        yield Grid(
            f"{reading.name}: {PERMANENT}",
            {"scheme": (*MODIFIED, "tcp")},
            seeds,
            partial(experiments.permanent, reading=reading),
            reductions.permanent,
        )
        yield Grid(
            f"{reading.name}: {SEVERAL}",
            {"scheme": MODIFIED, "degraded": (len(DEGRADED),)},
            seeds,
            partial(experiments.permanent, reading=reading),
            reductions.permanent,
        )
