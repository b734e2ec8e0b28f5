"""Fairness (§5.1): two flows of a scheme, and TFMCC, PGMCC and TCP, through one bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, judged, within
from lasthop.studies.grid import Array, Numbers
from lasthop.studies.nulls import instead

from ..data import FAIRNESS, FREE, GN, STEPS, Data, asking, over, up_to_one
from ..network import SCHEMES
from ..readings import FAIR, STEP
from ..scenario import FREED, MIXED, PAIRS, STEPS_S

#: Where the bottleneck is.
PLACES = {"iu": "Iu", "gn": "Gn", "none": "no wired bottleneck", "bearer": "one bearer for all flows"}

#: The least mean of two flows over the most, and throughput over TCP's.
EVEN, FRIENDLY = 0.85, (0.6, 1.4)


def numbers(data: Data, where: str) -> Numbers:
    """The runs with the bottleneck there: those of the Gn have seeds of their own."""
    return data.grid(GN if where == "gn" else FAIRNESS)


def _pair(data: Data, pair: str, where: str) -> Condition:
    name = f"{SCHEMES[pair.partition('+')[0]]} pair, {PLACES[where]}: least over most"
    return within(name, estimate(numbers(data, where).at("least_of_most", flows=pair, where=where)), EVEN, 1.0)


def _even(condition: Condition) -> Condition:
    """The same without an upper edge: no ratio of the least to the most lies above 1."""
    return within(condition.what, condition.value, EVEN, float("inf"))


def _pairs(data: Data, cases: Sequence[tuple[str, str]]) -> Judgement:
    found = [_even(_pair(data, pair, where)) for pair, where in cases]
    return judged("; ".join(f"{one.what} {up_to_one(one.value)}" for one in found), *found)


def _mixed(data: Data, where: str, ratio: Callable[[Array, Array], Array] = over) -> list[Condition]:
    grid = numbers(data, where)
    of = [grid.at(f"kbps_{n}", flows=MIXED, where=where) for n in range(3)]
    return [
        within(f"{name}/TCP, {PLACES[where]}", estimate(ratio(mine, of[2])), *FRIENDLY)
        for name, mine in (("TFMCC", of[0]), ("PGMCC", of[1]))
    ]


def _of_each(one: Array, other: Array) -> Array:
    """The ratio of each run, where there is one."""
    return np.divide(one, other, out=np.full_like(one, np.nan), where=other > 0)


def _inter(data: Data, ratio: Callable[[Array, Array], Array] = over) -> Judgement:
    found = _mixed(data, "iu", ratio)
    return judged(", ".join(f"{one.what} {one.value}" for one in found), *found)


def _bearer(data: Data, ratio: Callable[[Array, Array], Array] = over) -> Judgement:
    pairs = [_even(_pair(data, pair, "bearer")) for pair in PAIRS]
    mixed = _mixed(data, "bearer", ratio)
    said = [f"{one.what} {up_to_one(one.value)}" for one in pairs] + [f"{one.what} {one.value}" for one in mixed]
    return judged("; ".join(said), *pairs, *mixed)


def _uncontrolled(data: Data) -> Data:
    """A flow of constant rate, that of a bearer, in the place of the first flow of each experiment."""
    free = data.grid(FREE)
    made = {}
    for name in (FAIRNESS, GN):
        grid = data.grid(name)
        runs = min(len(grid.seeds), len(free.seeds))
        values = {}
        for quantity, known in grid.values.items():
            if quantity in free.values:
                moved = known[..., :runs].copy()
                for i, where in enumerate(grid.axes["where"]):
                    for j, flows in enumerate(grid.axes["flows"]):
                        moved[i, j] = free.at(quantity, where=where, flows=FREED[flows])[:runs]
                values[quantity] = moved
        made[name] = Numbers(grid.axes, grid.seeds[:runs], values)
    return data.with_grids(made)


CBR = _uncontrolled


def variation(data: Data, protocol: str, stage: int | None = None) -> Estimate:
    """The coefficient of variation of a protocol's throughput over 1 s: in §5.1 beside the others, or in a stage of
    §5.2."""
    return estimate(_variation(data, protocol, stage))


def _variation(data: Data, protocol: str, stage: int | None) -> Array:
    if stage is None:
        place = ("tfmcc", "pgmcc", "tcp").index(protocol)
        return data.grid(FAIRNESS).at(f"cov_{place}", flows=MIXED, where="iu")
    return data.grid(STEPS).at(f"cov_{protocol}_{stage}", step="loss")


def _smooth(data: Data) -> Judgement:
    if FAIRNESS not in data.grids or STEPS not in data.grids:
        raise NotRun("5.1 and 5.2 were not both run")
    found, ours = [], []
    for stage in (None, *range(len(STEPS_S))):
        where = "5.1" if stage is None else f"5.2, stage {stage + 1}"
        mine = _variation(data, "tfmcc", stage)
        each = [f"TFMCC {estimate(mine)}"]
        for name in ("pgmcc", "tcp"):
            other = _variation(data, name, stage)
            found.append(above(f"{where}: variation of {name.upper()} − TFMCC", estimate(other - mine)))
            each.append(f"{name.upper()} {estimate(other)}")
        ours.append(f"{where}: {', '.join(each)}")
    return judged("; ".join(ours), *found)


def _as_pgmcc(data: Data) -> Data:
    of_steps = {f"cov_tfmcc_{stage}": f"cov_pgmcc_{stage}" for stage in range(len(STEPS_S))}
    without: Data = instead(FAIRNESS, {"cov_0": "cov_1"}, shift=1)(data)
    return instead(STEPS, of_steps, shift=1)(without)


def _without_a_gn(data: Data) -> Judgement:
    return _pairs(data, [(pair, where) for where in ("none", "iu") for pair in PAIRS])


def _why_meets_slowly(data: Data) -> str:
    shares = data.grid(FAIRNESS).at("least_of_most", flows=PAIRS[0], where="iu")
    return (
        "a flow of TFMCC has a few loss events in a minute at this rate, so that chance decides for long which of the "
        "two is "
        f"ahead: the lower one has from {number(float(shares.min()), 2)} to {number(float(shares.max()), 2)} of the "
        "other"
    )


def _why_beside_tcp(data: Data, where: str = "iu") -> str:
    grid = data.grid(FAIRNESS)
    means = [float(np.mean(grid.at(f"kbps_{n}", flows=MIXED, where=where))) for n in range(3)]
    said = ", ".join(f"{name} {number(one, 0)}" for name, one in zip(("TFMCC", "PGMCC", "TCP"), means, strict=True))
    return (
        "PGMCC sends nothing again and waits for no timeout, which TCP has to do with the small windows that are left "
        "to it "
        f"beside it: {said} kbit/s"
    )


def _why_slow_to_meet(data: Data) -> str:
    shares = data.grid(FAIRNESS).at("least_of_most", flows=PAIRS[0], where="bearer")
    return (
        "the FIFO of the shared bearer makes round trips of a second, in which two flows of TFMCC meet slowly: the "
        "lower one "
        f"has from {number(float(shares.min()), 2)} to {number(float(shares.max()), 2)} of the other. "
        f"{_why_beside_tcp(data, 'bearer')}"
    )


JUDGES: Judges[Data] = {
    "M1": Judge(asking(lambda data: _pairs(data, [(PAIRS[0], "iu")]), FAIR), null=CBR, cause=_why_meets_slowly),
    "M2": Judge(asking(lambda data: _pairs(data, [(PAIRS[1], "iu")]), FAIR), null=CBR),
    "M3": Judge(
        asking(lambda data: _pairs(data, [(pair, where) for where in ("none", "gn") for pair in PAIRS]), FAIR),
        null=CBR,
        former=_without_a_gn,
    ),
    "M4": Judge(asking(_inter, FAIR), null=CBR, former=partial(_inter, ratio=_of_each), cause=_why_beside_tcp),
    "M5": Judge(asking(_bearer, FAIR), null=CBR, former=partial(_bearer, ratio=_of_each), cause=_why_slow_to_meet),
    "M6": Judge(asking(_smooth, FAIR, STEP), null=_as_pgmcc),
}
