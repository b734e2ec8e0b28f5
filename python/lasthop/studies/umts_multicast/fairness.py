"""Fairness (§5.1): two flows of a scheme, and TFMCC, PGMCC and TCP, through one bottleneck."""

from __future__ import annotations

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Judgement, NotRun, order, verdict
from lasthop.studies.umts_multicast.data import FAIRNESS, STEPS, Array, Data, outside
from lasthop.studies.umts_multicast.experiments import STEPS_S
from lasthop.studies.umts_multicast.network import SCHEMES

__all__ = ["CLAIMS", "MIXED", "PAIRS", "PLACES", "UNCONTROLLED", "variation"]

#: The flows of an experiment: two of a scheme; one of each; and one that is not controlled, beside PGMCC and TCP.
PAIRS = ("mod_tfmcc+mod_tfmcc", "mod_pgmcc+mod_pgmcc")
MIXED, UNCONTROLLED = "mod_tfmcc+mod_pgmcc+tcp", "cbr+mod_pgmcc+tcp"

#: Where the bottleneck is.
PLACES = {"iu": "Iu", "gn": "Gn", "none": "no wired bottleneck", "bearer": "one bearer for all flows"}


def _pair(data: Data, pair: str, where: str) -> tuple[str, Estimate, list[str]]:
    one = data.estimate(FAIRNESS, "least_of_most", flows=pair, where=where)
    name = f"{SCHEMES[pair.partition('+')[0]]}, {PLACES[where]}"
    return name, one, outside(name, one, 0.85, 1.0)


def _pairs(data: Data, cases: list[tuple[str, str]]) -> Judgement:
    found = [_pair(data, pair, where) for pair, where in cases]
    ours = "; ".join(f"{name}: {one}" for name, one, _ in found)
    return verdict([text for *_, wrong in found for text in wrong], ours, {name: one for name, one, _ in found})


def _mixed(data: Data, where: str) -> tuple[str, dict[str, Estimate], list[str]]:
    grid = data.grid(FAIRNESS)
    at = {"flows": MIXED, "where": where}
    values = {
        name: estimate(grid.at(f"kbps_{n}", **at) / grid.at("kbps_2", **at))
        for n, name in enumerate(("TFMCC", "PGMCC"))
    }
    wrong = [text for name, one in values.items() for text in outside(f"{name}/TCP", one, 0.6, 1.4)]
    return ", ".join(f"{name}/TCP {one}" for name, one in values.items()), values, wrong


def _inter(data: Data) -> Judgement:
    ours, values, wrong = _mixed(data, "iu")
    return verdict(wrong, ours, values)


def _bearer(data: Data) -> Judgement:
    pairs = [_pair(data, pair, "bearer") for pair in PAIRS]
    ours, values, wrong = _mixed(data, "bearer")
    said = "; ".join(f"{name.partition(',')[0]} pair {one}" for name, one, _ in pairs)
    return verdict(
        [*(text for *_, more in pairs for text in more), *wrong],
        f"{said}; {ours}",
        {**values, **{name: one for name, one, _ in pairs}},
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
    differences, ours = {}, []
    for stage in (None, *range(len(STEPS_S))):
        where = "5.1" if stage is None else f"5.2, stage {stage + 1}"
        mine = _variation(data, "tfmcc", stage)
        each = [f"TFMCC {estimate(mine)}"]
        for name in ("pgmcc", "tcp"):
            other = _variation(data, name, stage)
            differences[f"{where}: {name.upper()} − TFMCC"] = estimate(other - mine)
            each.append(f"{name.upper()} {estimate(other)}")
        ours.append(f"{where}: {', '.join(each)}")
    return order("; ".join(ours), differences, [])


CLAIMS: list[Claim[Data]] = [
    Claim(
        "M1",
        "5.1",
        "Two flows of modified TFMCC share a congested Iu evenly.",
        "0.986",
        "min/max ≥ 0.85",
        "Jain's index of two flows is then above 0.993; the paper's figure is one run",
        lambda data: _pairs(data, [(PAIRS[0], "iu")]),
        see="figure-3a",
    ),
    Claim(
        "M2",
        "5.1",
        "Two flows of modified PGMCC share it evenly.",
        "almost 1",
        "min/max ≥ 0.85",
        "as M1",
        lambda data: _pairs(data, [(PAIRS[1], "iu")]),
        see="table-fairness",
    ),
    Claim(
        "M3",
        "5.1",
        "The same holds without congestion, and with it on a Gn.",
        "similar",
        "min/max ≥ 0.85 in all four cases",
        "as M1",
        lambda data: _pairs(data, [(pair, where) for where in ("none", "gn") for pair in PAIRS]),
        see="table-fairness",
    ),
    Claim(
        "M4",
        "5.1",
        "Modified TFMCC and PGMCC share it fairly with TCP.",
        "0.89 and 0.94 of TCP",
        "each 0.6–1.4 of TCP",
        "RFC 4654 calls a factor of two fair; the band is narrower",
        _inter,
        see="figure-3b",
    ),
    Claim(
        "M5",
        "5.1",
        "So they do where all flows share a radio bearer.",
        "wired or wireless links",
        "as M1 and M4",
        "the paper names wireless links, and shows wired ones only",
        _bearer,
        see="table-fairness",
    ),
    Claim(
        "M6",
        "5.1, 5.2",
        "TFMCC has the smoothest rate.",
        "smoother than TCP and PGMCC",
        "its coefficient of variation over 1 s is below both others', in 5.1 and in each stage of 5.2, in pairs",
        '"achieves the smoother rate"; second halves of the stages, so that adaptation does not count as variation',
        _smooth,
        see="table-smoothness",
    ),
]
