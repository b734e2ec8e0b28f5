"""Which runs a mode takes: the paper's experiments in each reading of what it leaves open, and what goes beyond it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Numbers, Point
from lasthop.studies.readings import Reading

from . import measures, scenario
from .data import (
    EXPULSION,
    FAIRNESS,
    FREE,
    GN,
    INDICATION,
    PERMANENT,
    REPORTS,
    SCALING,
    SECONDS,
    SEVERAL,
    STEPS,
    TCP_ALONE,
    TEMPORARY,
    Data,
)
from .judges.cost import GROUPS
from .measures import loss_classification
from .network import FREE_RATE, LEGACY, MODIFIED
from .readings import (
    ALONE,
    AS_STATED,
    FAIR,
    MANY_WORSE,
    MULTICAST,
    STEP,
    TCP,
    UNICAST,
    WORSE,
    Taken,
    part,
    taken,
    touched,
)
from .scenario import CASES, DEGRADED, MIXED, PAIRS, SIZES, TCP_FLOWS, UNCONTROLLED

if TYPE_CHECKING:
    pass


#: The first seed of every grid, and that of the Gn, whose runs are to be others than those of the Iu.
SEED, GN_SEED = 1, 1001


@dataclass(frozen=True)
class Amount:
    """How much of the experiments is run in a reading."""

    #: Seeds of §5.1, of §5.2, of §5.3 and of §5.4.
    fair: int
    steps: int
    temporary: int
    permanent: int
    #: Sizes of §5.3.
    sizes: Sequence[int]

    def __str__(self) -> str:
        """The seeds."""
        return f"{self.fair} of §5.1, {self.steps} of §5.2, {self.temporary} of §5.3, {self.permanent} of §5.4"


@dataclass(frozen=True)
class Plan:
    """How much of the campaign is run."""

    default: Amount
    #: Where one question is answered otherwise, and where two are.
    single: Amount
    crossed: Amount
    #: Simulated seconds, and seeds, of the runs in which every packet is recorded.
    told_s: float
    seeds_told: int
    #: Seeds of groups with equal losses.
    seeds_reports: int
    #: Whether §5.1 too is run with all of Table I, and whether to see what that changes in §5.4.
    crowded: bool = True

    def amount(self, reading: Reading) -> Amount:
        """How much is run in a reading."""
        return (self.default, self.single, self.crossed)[min(2, len(reading.chosen))]


def plan(mode: str) -> Plan:
    """The plan of a mode."""
    if mode == "full":
        return Plan(
            default=Amount(20, 100, 30, 20, SIZES),
            single=Amount(12, 30, 16, 20, (1, 10, 100)),
            crossed=Amount(8, 12, 8, 8, (1, 10, 100)),
            told_s=600.0,
            seeds_told=5,
            seeds_reports=20,
        )
    few = Amount(2, 3, 2, 3, (1, 10, 100))
    return Plan(
        default=Amount(6, 10, 4, 6, (1, 10, 100)),
        single=few,
        crossed=few,
        told_s=300.0,
        seeds_told=3,
        seeds_reports=3,
        crowded=False,
    )


#: A grid by its full name, what is taken, and how much is run.
Make = Callable[[str, Taken, Amount, Plan], Grid]


def _seeds(count: int, first: int = SEED) -> range:
    return range(first, first + count)


def _fairness(name: str, taken: Taken, amount: Amount, plan: Plan) -> Grid:
    return Grid(
        name,
        {"where": ("iu", "none", "bearer"), "flows": (*PAIRS, MIXED)},
        _seeds(amount.fair),
        partial(scenario.fairness, taken=taken if plan.crowded else replace(taken, background=False)),
        measures.fairness,
        # What figures show is of the default reading.
        measures.fairness_rows if taken.background else None,
    )


def _gn(name: str, taken: Taken, amount: Amount, plan: Plan) -> Grid:
    return Grid(
        name,
        {"where": ("gn",), "flows": (*PAIRS, MIXED)},
        _seeds(amount.fair, GN_SEED),
        partial(scenario.fairness, taken=taken if plan.crowded else replace(taken, background=False)),
        measures.fairness,
    )


def _free(name: str, taken: Taken, amount: Amount, _: Plan) -> Grid:
    """A null model, so without the background."""
    return Grid(
        name,
        {"where": ("iu", "gn", "none", "bearer"), "flows": UNCONTROLLED},
        _seeds(amount.fair),
        partial(scenario.fairness, taken=replace(taken, background=False)),
        measures.fairness,
    )


def _steps(name: str, taken: Taken, amount: Amount, _: Plan) -> Grid:
    return Grid(
        name,
        {"step": ("loss", "delay")},
        _seeds(amount.steps),
        partial(scenario.responsiveness, taken=replace(taken, background=False)),
        measures.responsiveness,
        measures.responsiveness_rows,
    )


def _temporary(name: str, taken: Taken, amount: Amount, _: Plan) -> Grid:
    return Grid(
        name,
        {"scheme": (*MODIFIED, *LEGACY, FREE_RATE), "ues": amount.sizes},
        _seeds(amount.temporary),
        partial(scenario.temporary, taken=taken),
        partial(measures.temporary, taken=taken),
    )


def _tcp(name: str, taken: Taken, amount: Amount, _: Plan) -> Grid:
    """TCP's flows, with which all sizes are compared."""
    return Grid(
        name,
        {"scheme": ("tcp",), "ues": (TCP_FLOWS,)},
        _seeds(amount.temporary),
        partial(scenario.temporary, taken=taken),
        partial(measures.temporary, taken=taken),
    )


def _permanent(name: str, taken: Taken, amount: Amount, _: Plan) -> Grid:
    return Grid(
        name,
        {"scheme": (*MODIFIED, *LEGACY, "tcp", "cbr")},
        _seeds(amount.permanent),
        partial(scenario.permanent, taken=replace(taken, background=False)),
        measures.permanent,
        measures.permanent_rows if taken.background else None,
    )


def _several(name: str, taken: Taken, amount: Amount, _: Plan) -> Grid:
    return Grid(
        name,
        {"scheme": MODIFIED, "degraded": (len(DEGRADED),)},
        _seeds(amount.permanent),
        partial(scenario.permanent, taken=replace(taken, background=False)),
        measures.permanent,
    )


def _scaling(name: str, _taken: Taken, amount: Amount, _: Plan) -> Grid:
    def scaled(point: Point) -> Scenario:
        taken = replace(ALONE, queue=point["queue"], rate_kbps=point["rate"])
        return scenario.permanent({"scheme": point["scheme"]}, taken=taken)

    axes = {"scheme": MODIFIED, "queue": (25, 50), "rate": (384, 192)}
    return Grid(name, axes, _seeds(amount.permanent), scaled, measures.permanent)


def _expulsion(name: str, _taken: Taken, amount: Amount, _: Plan) -> Grid:
    axes = {"scheme": MODIFIED, "lasts": ("good", "spell"), "expels": (True, False)}
    return Grid(name, axes, _seeds(amount.permanent), partial(scenario.expulsion, taken=ALONE), measures.expulsion)


def _by_seconds(name: str, _taken: Taken, _amount: Amount, plan: Plan) -> Grid:
    """§5.4, sampled by the second, with and without the background."""

    def sampled(point: Point) -> Scenario:
        taken = AS_STATED if point["background"] else ALONE
        return scenario.permanent({"scheme": point["scheme"]}, taken=taken, series="1 s")

    axes = {"scheme": MODIFIED, "background": (False, True)}
    return Grid(name, axes, _seeds(3 if plan.crowded else 0), sampled, measures.permanent)


def _indication(name: str, _taken: Taken, _amount: Amount, plan: Plan) -> Grid:
    of = partial(scenario.indication, duration_s=plan.told_s)
    return Grid(name, CASES, _seeds(plan.seeds_told), of, loss_classification.counts)


def _reports(name: str, _taken: Taken, _amount: Amount, plan: Plan) -> Grid:
    axes = {"scheme": (*MODIFIED, *LEGACY), "ues": tuple(others + 1 for others in GROUPS)}
    return Grid(name, axes, _seeds(plan.seeds_reports), scenario.reports, measures.reports)


#: The grids, with what they depend on among what answers touch. §5.1 and §5.3 are run with all of Table I in the
#: default reading. §5.2 and §5.4
#: are sampled every tenth of a second, which is too much for 500 terminals: they are run without the background, and
#: what it changes is seen in
#: §5.4 by the second. Those that depend on nothing are the same in all readings.
KINDS: Mapping[str, tuple[Collection[str], Make]] = {
    FAIRNESS: ((FAIR,), _fairness),
    GN: ((FAIR,), _gn),
    FREE: ((), _free),
    STEPS: ((STEP,), _steps),
    TEMPORARY: ((MULTICAST,), _temporary),
    TCP_ALONE: ((UNICAST,), _tcp),
    PERMANENT: ((WORSE, TCP), _permanent),
    SEVERAL: ((MANY_WORSE,), _several),
    SCALING: ((), _scaling),
    EXPULSION: ((), _expulsion),
    SECONDS: ((), _by_seconds),
    INDICATION: ((), _indication),
    REPORTS: ((), _reports),
}


def grids(reading: Reading, plan: Plan) -> dict[str, Grid]:
    """The grids of a reading, by their own names: where its answers touch nothing, those of another one."""
    made = {}
    for name, (depends, make) in KINDS.items():
        mine = part(reading, depends)
        grid = make(f"{mine.name}: {name}", taken(mine), plan.amount(mine), plan)
        if grid.seeds:
            made[name] = grid
    return made


def data(reading: Reading, numbers: Mapping[str, Numbers], plan: Plan) -> Data:
    """What the claims of a reading are judged on."""
    of = taken(reading)
    return Data(reading.name, numbers, of, touched(reading), of.background and plan.crowded)
