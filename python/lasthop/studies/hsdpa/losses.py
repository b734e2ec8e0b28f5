"""Packet loss (§IV-A): which sizes of file lose how much, and in which bursts."""

from __future__ import annotations

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.hsdpa.data import Array, Data
from lasthop.studies.hsdpa.scenario import LARGE, MEDIUM, PROTOCOLS, SCHEDULERS, SMALL, TITLES

__all__ = ["CLAIMS", "FIRST", "MORE", "burst"]

#: The grid of runs in which every packet is recorded.
FIRST = "first losses"


def _share(data: Data, part: str, whole: str, sizes: tuple[int, ...], **where: object) -> Estimate:
    """Of the transfers of some sizes, in per cent."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return estimate(100 * data.total(part, sizes, **where) / data.total(whole, sizes, **where))


def _outside(name: str, one: Estimate, low: float, high: float, unit: str = " %") -> list[str]:
    return [] if low <= one.mean <= high else [f"{name} {one}{unit}, outside {number(low)}–{number(high)}{unit}"]


def _small(data: Data) -> Judgement:
    shares = {
        scheduler: _share(data, "lossy", "transfers", SMALL, protocol="tfrc", scheduler=scheduler, ues=65)
        for scheduler in SCHEDULERS
    }
    outside = [text for scheduler, one in shares.items() for text in _outside(TITLES[scheduler], one, 0, 1)]
    ours = "; ".join(f"{TITLES[name]}: {one} % of the transfers lose something" for name, one in shares.items())
    return verdict(outside, ours, {f"{TITLES[name]}_lossy_pct": one for name, one in shares.items()})


def _medium(data: Data) -> Judgement:
    values: dict[str, Estimate] = {}
    outside, ours = [], []
    for scheduler in SCHEDULERS:
        where = {"protocol": "tfrc", "scheduler": scheduler, "ues": 65}
        name = TITLES[scheduler]
        lossy = _share(data, "lossy", "transfers", (MEDIUM,), **where)
        intact = Estimate(100 - lossy.mean, lossy.half, lossy.n)
        above = _share(data, "above_mild", "lossy", (MEDIUM,), **where)
        mild = Estimate(100 - above.mean, above.half, above.n)
        values |= {f"{name}_intact_pct": intact, f"{name}_mild_pct": mild}
        outside += _outside(f"{name}: intact", intact, 65, 92) + _outside(f"{name}: of the rest", mild, 90, 100)
        ours.append(f"{name}: {intact} % intact; of the rest {mild} % lose less than a tenth")
    return verdict(outside, "; ".join(ours), values)


def _large(data: Data) -> Judgement:
    values: dict[str, Estimate] = {}
    outside, ours = [], []
    for scheduler in SCHEDULERS:
        where = {"protocol": "tfrc", "scheduler": scheduler, "ues": 65}
        name = TITLES[scheduler]
        lossy = _share(data, "lossy", "transfers", LARGE[:1], **where)
        high = _share(data, "above_high", "transfers", LARGE[:1], **where)
        values |= {f"{name}_lossy_pct": lossy, f"{name}_high_pct": high}
        outside += _outside(f"{name}: with high loss", high, 5, 30)
        ours.append(f"{name}: {lossy} % lose something, {high} % more than 15 %")
    return verdict(outside, "; ".join(ours), values)


def _largest(data: Data) -> Judgement:
    values: dict[str, Estimate] = {}
    outside, ours = [], []
    for ues in data.main.axes["ues"]:
        for scheduler in SCHEDULERS:
            where = {"protocol": "tfrc", "scheduler": scheduler, "ues": ues}
            above = _share(data, "above_mild", "transfers", LARGE[1:], **where)
            name = f"{TITLES[scheduler]}/{ues}"
            values[f"{name}_above_10_pct"] = above
            outside += _outside(f"{name}:", above, 0, 5)
            ours.append(f"{name} {above} %")
    return verdict(outside, "above 10 % lost: " + ", ".join(ours), values)


def burst(data: Data, **where: object) -> Array:
    """Lost packets for each congestion event of the two largest sizes. A spurious timeout is no such event."""
    lost, events, timeouts, spurious = (
        data.total(name, LARGE, **where) for name in ("dropped", "events", "timeouts", "spurious")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        made: Array = lost / (events + timeouts - spurious)
    return made


def _bursts(data: Data) -> Judgement:
    values = {
        f"{TITLES[protocol]}_{TITLES[scheduler]}": estimate(burst(data, protocol=protocol, scheduler=scheduler, ues=65))
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    }
    outside = [f"{name.replace('_', ' with ')}: {one}" for name, one in values.items() if not one.mean > 3]
    ours = ", ".join(f"{name.replace('_', ' with ')} {one}" for name, one in values.items()) + " packets per event"
    return verdict(outside, ours, values)


def _first(data: Data) -> Judgement:
    grid = data.grid(FIRST)
    differences, ours = {}, []
    for scheduler in SCHEDULERS:
        tcp, tfrc = (grid.mean("before_first_loss", protocol=protocol, scheduler=scheduler) for protocol in PROTOCOLS)
        differences[f"{TITLES[scheduler]}: TFRC − TCP"] = grid.difference(
            "before_first_loss", {"protocol": "tfrc"}, {"protocol": "tcp"}, scheduler=scheduler
        )
        ours.append(f"{TITLES[scheduler]}: TCP {tcp}, TFRC {tfrc}")
    return order("packets sent before the first loss: " + "; ".join(ours), differences, [])


CLAIMS: list[Claim[Data]] = [
    Claim(
        "H1", "IV-A", "The transfers of the six smallest sizes lose no packets (TFRC)", "none",
        "loss in at most 1 % of them", "the paper's text rounds; one transfer in a hundred would not be seen",
        _small, see="table-losses",
    ),
    Claim(
        "H2", "IV-A", "Of the transfers of 369 750 B some 80 % get through intact, and the rest lose less than a tenth "
        "(TFRC)", "80 %; < 10 %", "65–92 % intact; of the rest 90 % lose less than 10 %",
        "\"approximately\" of some forty transfers in a run", _medium, see="table-losses",
    ),
    Claim(
        "H3", "IV-A", "The transfers of 740 950 B all reach the capacity, and about 15 % have high loss rates, 20 % "
        "(TFRC)", "15 % of them lose 20 %", "5–30 % lose more than 15 %", "\"about\", of few transfers; 15 % lies "
        "between a tenth and 20 %", _large, see="table-losses",
    ),
    Claim(
        "H4", "IV-A", "Of 1 483 350 B the loss rate stays below 10 %, but for 2 % of the flows with SIR and 65 mobiles "
        "(TFRC)", "< 10 %; 2 % of flows above with SIR/65", "at most 5 % of the transfers above 10 %, in every "
        "scenario", "a handful of transfers of hundreds", _largest, see="table-losses",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "H18", "IV-A", "Losses are correlated and come in bursts", "few events in relation to losses",
        "more than 3 lost packets for each congestion event, at the two largest sizes", "a single loss now and then "
        "would give 1; three are lost if slow start overshoots by any noticeable part of a window", _bursts,
        see="table-losses",
    ),
    Claim(
        "H19", "IV-A", "TCP meets its first losses earlier than TFRC, at 740 950 B", "TCP sends back to back",
        "fewer packets sent before the first loss, in pairs", "the order is claimed, no number", _first,
        see="table-first-losses",
    ),
]  # fmt: skip
