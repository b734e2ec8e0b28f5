"""Availability of data and what the cell carries (§IV-B, §VI)."""

from __future__ import annotations

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.hsdpa.data import Array, Data
from lasthop.studies.hsdpa.scenario import PROTOCOLS, SCHEDULERS, TITLES

__all__ = ["MORE", "MOVED", "RECEIVERS", "SURPLUS", "SYSTEM", "concentration", "more_with_sir"]

SIGN = "the order is claimed, no number"
RR, SIR = {"scheduler": "round_robin"}, {"scheduler": "max_sir"}


def concentration(data: Data, ues: int) -> dict[str, Estimate]:
    """That SIR has more slots with one or two receivers, and fewer with five or more."""
    made = {}
    for protocol, name in PROTOCOLS.items():
        made[f"{name}: P(1 or 2), SIR − RR"] = data.difference("one_or_two", SIR, RR, protocol=protocol, ues=ues)
        made[f"{name}: P(5 or more), RR − SIR"] = data.difference("five_or_more", RR, SIR, protocol=protocol, ues=ues)
    return made


def more_with_sir(data: Data, ues: int) -> dict[str, Estimate]:
    """That SIR moves more files and more bytes."""
    made = {}
    for protocol, name in PROTOCOLS.items():
        made[f"{name}: files, SIR − RR"] = data.difference("files", SIR, RR, protocol=protocol, ues=ues)
        made[f"{name}: kbit/s, SIR − RR"] = data.difference("goodput_kbps", SIR, RR, protocol=protocol, ues=ues)
    return made


def _receivers(data: Data) -> Judgement:
    outside, shown = [], []
    for protocol in PROTOCOLS:
        for scheduler in SCHEDULERS:
            where = {"protocol": protocol, "scheduler": scheduler, "ues": 65}
            empty, few, many = (data.main.mean(name, **where) for name in ("receivers_0", "one_or_two", "five_or_more"))
            name = f"{TITLES[protocol]} with {TITLES[scheduler]}"
            shown.append(f"{name}: P(0) {empty}, P(1, 2) {few}, P(≥5) {many}")
            if not empty.mean < 0.2:
                outside.append(f"{name}: P(0) is {empty}")
    return order("; ".join(shown), concentration(data, 65), outside)


def _throughput(data: Data, protocol: str, scheduler: str, ues: int) -> Array:
    return data.main.at("goodput_kbps", protocol=protocol, scheduler=scheduler, ues=ues)


def _moved(data: Data) -> Judgement:
    rr50, rr65, sir50, sir65 = (
        _throughput(data, "tcp", scheduler, ues) for scheduler in SCHEDULERS for ues in (50, 65)
    )
    across = sir50 - rr65
    across = across if across.mean() >= 0 else -across
    differences = {
        **more_with_sir(data, 65),
        "TCP: (SIR − RR at 65) − |SIR at 50 − RR at 65|": estimate(sir65 - rr65 - across),
        "TCP: (SIR − RR at 50) − |SIR at 50 − RR at 65|": estimate(sir50 - rr50 - across),
        "TFRC: SIR at 50 − RR at 65": estimate(
            _throughput(data, "tfrc", "max_sir", 50) - _throughput(data, "tfrc", "round_robin", 65)
        ),
    }
    shown = [
        f"{TITLES[protocol]} "
        + ", ".join(
            f"{TITLES[scheduler]}/{ues} {estimate(_throughput(data, protocol, scheduler, ues))}"
            for scheduler in SCHEDULERS
            for ues in (50, 65)
        )
        for protocol in PROTOCOLS
    ]
    return order("; ".join(shown) + " kbit/s", differences, [])


def _more_with_tfrc(data: Data) -> Judgement:
    grid = data.main
    differences, shown = {}, []
    for scheduler in SCHEDULERS:
        where = {"scheduler": scheduler, "ues": 65}
        tcp, tfrc = (grid.mean("goodput_kbps", protocol=protocol, **where) for protocol in PROTOCOLS)
        differences[f"{TITLES[scheduler]}: TFRC − TCP"] = data.difference(
            "goodput_kbps", {"protocol": "tfrc"}, {"protocol": "tcp"}, **where
        )
        shown.append(f"{TITLES[scheduler]}: TCP {tcp}, TFRC {tfrc} kbit/s")
    return order("; ".join(shown), differences, [])


def _fairness(data: Data) -> Judgement:
    differences, shown = {}, []
    for protocol, name in PROTOCOLS.items():
        where = {"protocol": protocol, "ues": 65}
        rr, sir = (data.main.mean("jain", scheduler=scheduler, **where) for scheduler in SCHEDULERS)
        differences[f"{name}: RR − SIR"] = data.difference("jain", RR, SIR, **where)
        shown.append(f"{name}: RR {rr}, SIR {sir}")
    return order("Jain's index: " + "; ".join(shown), differences, [])


def _upper_half(data: Data) -> Judgement:
    differences, shown = {}, []
    for protocol, name in PROTOCOLS.items():
        where = {"protocol": protocol, "ues": 65}
        rr, sir = (
            estimate(100 * data.main.at("upper_half_share", scheduler=scheduler, **where)) for scheduler in SCHEDULERS
        )
        differences[f"{name}: SIR − RR"] = data.difference("upper_half_share", SIR, RR, **where)
        shown.append(f"{name}: RR {rr} %, SIR {sir} %")
    return order("; ".join(shown) + " of the bytes", differences, [])


def _surplus(data: Data) -> Judgement:
    values: dict[str, Estimate] = {}
    outside, shown = [], []
    for scheduler in SCHEDULERS:
        where = {"scheduler": scheduler, "ues": 65}
        name = TITLES[scheduler]
        surplus = data.difference("goodput_kbps", {"protocol": "tfrc"}, {"protocol": "tcp"}, **where)
        again = data.main.mean("retransmitted_kbps", protocol="tcp", **where)
        apart = estimate(
            data.main.at("goodput_kbps", protocol="tfrc", **where)
            - data.main.at("goodput_kbps", protocol="tcp", **where)
            - data.main.at("retransmitted_kbps", protocol="tcp", **where)
        )
        values |= {f"{name}_surplus_kbps": surplus, f"{name}_retransmitted_kbps": again, f"{name}_apart_kbps": apart}
        shown.append(f"{name}: {surplus} kbit/s more, {again} retransmitted")
        if not abs(apart.mean) <= again.mean / 2:
            outside.append(f"{name}: they differ by {apart} kbit/s, more than half of what is retransmitted")
    return verdict(outside, "; ".join(shown), values)


RECEIVERS: Claim[Data] = Claim(
    "H9", "IV-B, Figs. 3, 4", "Few slots are not used; SIR concentrates around 1 or 2 potential receivers, with a "
    "thinner right tail", "SIR: more at 1–2, less in the tail",
    "P(0) below 0.2 in all four scenarios; P(1 or 2) larger and P(5 or more) smaller with SIR, in pairs",
    "\"few\"; the rest is an order", _receivers, see="figure-3",
)  # fmt: skip

MOVED: Claim[Data] = Claim(
    "H10", "IV-B", "SIR gets more files and bytes through; with TCP the difference between SIR at 50 and RR at "
    "65 mobiles is "
    "smaller than at equal numbers; with TFRC RR never reaches SIR", "SIR > RR", "all of these, in pairs", SIGN, _moved,
    see="table-scenarios",
)  # fmt: skip

SYSTEM: Claim[Data] = Claim(
    "H14", "VI", "The system throughput is higher with TFRC", "TFRC > TCP",
    "more payload delivered in the centre cell with either scheduler, in pairs", SIGN, _more_with_tfrc,
    see="table-scenarios",
)  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "H16", "VI", "SIR is less fair than RR", "SIR < RR", "Jain's index of bytes per mobile smaller, in pairs", SIGN,
        _fairness, see="table-scenarios",
    ),
    Claim(
        "H17", "IV-B", "Mobiles with high SIR generate a larger part of the data with SIR scheduling", "SIR > RR",
        "a larger share of the bytes goes to the upper half by SIR, in pairs", SIGN, _upper_half, see="table-scenarios",
    ),
]  # fmt: skip

SURPLUS: Claim[Data] = Claim(
    "H20", "VI", "TCP's retransmissions take up the capacity of what TFRC transfers more", "equal",
    "what TFRC delivers more is what TCP retransmits ± 50 %", "an explanation, not a measurement; the sign and "
    "the size "
    "must fit", _surplus, see="table-scenarios",
)  # fmt: skip
