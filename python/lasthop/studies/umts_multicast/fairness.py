"""Fairness (§5.1): two flows of a scheme, and TFMCC, PGMCC and TCP, through one bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, NotRun, Null
from lasthop.studies.conditions import Condition, Judgement, above, judged, within
from lasthop.studies.grid import Numbers
from lasthop.studies.umts_multicast.data import FAIRNESS, FREE, GN, STEPS, Array, Data, asking, instead, over, up_to_one
from lasthop.studies.umts_multicast.experiments import STEPS_S
from lasthop.studies.umts_multicast.network import SCHEMES
from lasthop.studies.umts_multicast.readings import FAIR, STEP

__all__ = ["CLAIMS", "FREED", "MIXED", "PAIRS", "PLACES", "UNCONTROLLED", "variation"]

#: The flows of an experiment: two of a scheme, and one of each.
PAIRS = ("mod_tfmcc+mod_tfmcc", "mod_pgmcc+mod_pgmcc")
MIXED = "mod_tfmcc+mod_pgmcc+tcp"

#: The same with a flow that is not controlled in the place of the first one; by what they replace.
FREED: Mapping[str, str] = {
    PAIRS[0]: "cbr+mod_tfmcc",
    PAIRS[1]: "cbr+mod_pgmcc",
    MIXED: "cbr+mod_pgmcc+tcp",
}
UNCONTROLLED = tuple(FREED.values())

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


CBR = Null[Data](
    "a source of constant rate, that of a bearer, in the place of the first flow: it does not give way",
    _uncontrolled,
)


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
    return data.with_grids(
        {
            FAIRNESS: instead(data.grid(FAIRNESS), {"cov_0": "cov_1"}),
            STEPS: instead(data.grid(STEPS), of_steps),
        }
    )


#: What was judged of the Gn before.
_SAME = Former[Data](
    "min/max ≥ 0.85, the Gn with the seeds of the Iu and UE_x alone behind it",
    "with the same seeds, and one terminal behind both, the Gn gave the figures of the Iu to the last digit: it was no "
    "evidence of its own",
    lambda data: _pairs(data, [*((pair, "none") for pair in PAIRS), *((pair, "iu") for pair in PAIRS)]),
)


def _each_ratio(judge: Callable[..., Judgement]) -> Former[Data]:
    return Former(
        "the same band, for the mean over the runs of each run's own ratio to TCP",
        "a run in which TCP gets next to nothing decides such a mean; the paper compares averages",
        partial(judge, ratio=_of_each),
    )


CLAIMS: list[Claim[Data]] = [
    Claim(
        id="M1",
        section="5.1",
        sentence="The average throughput of TFMCC1 flow is about 98.6% of the average TFMCC2 throughput.",
        statement="Two flows of modified TFMCC share a congested Iu evenly.",
        paper="0.986",
        measure="the lower mean throughput at UE_x over the higher one, from 50 to 200 s",
        band="at least 0.85",
        why="Jain's index of two flows is then above 0.993; the paper's figure is one run",
        judge=asking(lambda data: _pairs(data, [(PAIRS[0], "iu")]), FAIR),
        null=CBR,
        see="figure-3a",
    ),
    Claim(
        id="M2",
        section="5.1",
        sentence="In the case of the modified PGMCC congestion control mechanism, the average flow almost matched each "
        "other.",
        statement="Two flows of modified PGMCC share it evenly.",
        paper="almost 1",
        measure="as M1",
        band="at least 0.85",
        why="as M1",
        judge=asking(lambda data: _pairs(data, [(PAIRS[1], "iu")]), FAIR),
        null=CBR,
        see="table-fairness",
    ),
    Claim(
        id="M3",
        section="5.1",
        sentence="Similar results are obtained for many other scenarios. For example, when no congestion exists or "
        "when congestion exists over an Gn interface (connects GGSN with SGSN nodes).",
        statement="The same holds without congestion, and with it on a Gn.",
        paper="similar",
        measure="as M1; behind the Gn a terminal of another RNC listens too, and its runs have seeds of their own",
        band="at least 0.85 in all four cases",
        why="as M1. Without congestion each flow has what its bearer gives, so the two cases of the Gn decide",
        judge=asking(lambda data: _pairs(data, [(pair, where) for where in ("none", "gn") for pair in PAIRS]), FAIR),
        null=CBR,
        former=_SAME,
        see="table-fairness",
    ),
    Claim(
        id="M4",
        section="5.1",
        sentence="The average throughput of all flows closely matches each other. The average throughput of TFMCC is "
        "89% and that of PGMCC is 94% of the average throughput of TCP.",
        statement="Modified TFMCC and PGMCC share it fairly with TCP.",
        paper="0.89 and 0.94 of TCP",
        measure="mean throughput at UE_x over TCP's, both means over the runs, from 50 to 200 s",
        band="each 0.6–1.4 of TCP",
        why="RFC 4654 calls a factor of two fair; the band is narrower",
        judge=asking(_inter, FAIR),
        null=CBR,
        former=_each_ratio(_inter),
        see="figure-3b",
    ),
    Claim(
        id="M5",
        section="5.1",
        sentence="we examine the fairness of the proposed schemes toward other competing flows of the same protocol "
        "when they share common wired or wireless links.",
        statement="So they do where all flows share a radio bearer.",
        paper="wired or wireless links",
        measure="as M1 and M4, through one bearer of UE_x",
        band="as M1 and M4",
        why="the paper names wireless links, and shows wired ones only",
        judge=asking(_bearer, FAIR),
        null=CBR,
        former=_each_ratio(_bearer),
        see="table-fairness",
    ),
    Claim(
        id="M6",
        section="5.1, 5.2",
        sentence="Moreover, TFMCC achieves a smoother rate than TCP and PGMCC. … However, as in the experiment "
        "described in the previous subsection, the TFMCC preserves the smoothest rate of all schemes.",
        statement="TFMCC has the smoothest rate.",
        paper="smoother than TCP and PGMCC",
        measure="coefficient of variation of the throughput over 1 s: others' less TFMCC's, in pairs, in 5.1 and in "
        "the second half of each stage of 5.2",
        band="above 0, eight times",
        why="“the smoothest rate of all”; second halves, so that adaptation does not count as variation",
        judge=asking(_smooth, FAIR, STEP),
        null=Null("PGMCC in the place of TFMCC: it is no smoother than itself", _as_pgmcc),
        see="table-smoothness",
    ),
]
