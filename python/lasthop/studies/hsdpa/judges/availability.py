"""Availability of data, and how the schedulers share the cell (§IV-B, §VI)."""

from __future__ import annotations

from lasthop.stats import estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, below, judged
from lasthop.studies.grid import Array

from ..data import RR_FOR_SIR, Data
from ..scenario import PROTOCOLS, SCHEDULERS, TITLES


def _at(data: Data, quantity: str, protocol: str, scheduler: str, ues: int) -> Array:
    return data.main.at(quantity, protocol=protocol, scheduler=scheduler, ues=ues)


def _with_sir(data: Data, quantity: str, protocol: str, ues: int) -> Array:
    """SIR less RR."""
    return _at(data, quantity, protocol, "max_sir", ues) - _at(data, quantity, protocol, "round_robin", ues)


def concentration(data: Data, ues: int) -> dict[str, Array]:
    """That SIR has more slots with one or two receivers, and fewer with five or more."""
    made = {}
    for protocol, name in PROTOCOLS.items():
        made[f"{name}: share of slots with 1 or 2 receivers, SIR − RR"] = _with_sir(data, "one_or_two", protocol, ues)
        made[f"{name}: share of slots with 5 or more, RR − SIR"] = -_with_sir(data, "five_or_more", protocol, ues)
    return made


def more_with_sir(data: Data, ues: int) -> dict[str, Array]:
    """That SIR moves more files and more bytes."""
    made = {}
    for protocol, name in PROTOCOLS.items():
        made[f"{name}: files in a run, SIR − RR"] = _with_sir(data, "files", protocol, ues)
        made[f"{name}: kbit/s, SIR − RR"] = _with_sir(data, "goodput_kbps", protocol, ues)
    return made


def _receivers(data: Data) -> Judgement:
    conditions, shown = [], []
    for protocol in PROTOCOLS:
        for scheduler in SCHEDULERS:
            empty, few, many = (
                estimate(_at(data, name, protocol, scheduler, 65))
                for name in ("receivers_0", "one_or_two", "five_or_more")
            )
            name = f"{TITLES[protocol]} with {TITLES[scheduler]}"
            shown.append(f"{name}: P(0) {empty}, P(1, 2) {few}, P(≥5) {many}")
            conditions.append(below(f"{name}: share of slots without a receiver", empty, 0.2))
    orders = [above(what, estimate(one)) for what, one in concentration(data, 65).items()]
    return judged("; ".join(shown), *conditions, *orders)


def _crossed(data: Data) -> list[Condition]:
    """TCP: SIR at 50 and RR at 65 mobiles lie nearer to each other than the schedulers at either number."""
    rr50, rr65, sir50, sir65 = (
        _at(data, "goodput_kbps", "tcp", scheduler, ues) for scheduler in SCHEDULERS for ues in (50, 65)
    )
    across = sir50 - rr65
    across = across if across.mean() >= 0 else -across
    return [
        above("TCP: (SIR − RR at 65) − |SIR at 50 − RR at 65|", estimate(sir65 - rr65 - across), unit=" kbit/s"),
        above("TCP: (SIR − RR at 50) − |SIR at 50 − RR at 65|", estimate(sir50 - rr50 - across), unit=" kbit/s"),
    ]


def _levels(data: Data) -> str:
    shown = [
        f"{TITLES[protocol]} "
        + ", ".join(
            f"{TITLES[scheduler]}/{ues} {estimate(_at(data, 'goodput_kbps', protocol, scheduler, ues))}"
            for scheduler in SCHEDULERS
            for ues in (50, 65)
        )
        for protocol in PROTOCOLS
    ]
    return "; ".join(shown) + " kbit/s"


def _strong(data: Data) -> Array:
    """TFRC: SIR with fewer mobiles less RR with more."""
    return _at(data, "goodput_kbps", "tfrc", "max_sir", 50) - _at(data, "goodput_kbps", "tfrc", "round_robin", 65)


def _moved(data: Data) -> Judgement:
    crossed = _crossed(data)
    orders = [
        above(f"{what}, {ues} mobiles", estimate(one))
        for ues in (50, 65)
        for what, one in more_with_sir(data, ues).items()
    ]
    return judged(_levels(data), *orders, *crossed, TFRC_SIR_at_50_minus_RR_at_65=estimate(_strong(data)))


def _moved_before(data: Data) -> Judgement:
    orders = [above(what, estimate(one)) for what, one in more_with_sir(data, 65).items()]
    strong = above("TFRC: SIR at 50 − RR at 65", estimate(_strong(data)), unit=" kbit/s")
    return judged(_levels(data), *orders, *_crossed(data), strong)


def _asked(data: Data) -> str:
    empty = {
        (protocol, scheduler): estimate(100 * _at(data, "receivers_0", protocol, scheduler, 50))
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    }
    shown = ", ".join(f"{one} % of the slots with {TITLES[p]} and {TITLES[s]}" for (p, s), one in empty.items())
    return f"with 50 mobiles {shown} have no receiver: there is little to schedule"


def _fairness(data: Data) -> Judgement:
    shown, conditions = [], []
    for protocol, name in PROTOCOLS.items():
        rr, sir = (estimate(_at(data, "jain", protocol, scheduler, 65)) for scheduler in SCHEDULERS)
        conditions.append(above(f"{name}: Jain's index, RR − SIR", estimate(-_with_sir(data, "jain", protocol, 65))))
        shown.append(f"{name}: RR {rr}, SIR {sir}")
    return judged("Jain's index: " + "; ".join(shown), *conditions)


def _upper_half(data: Data) -> Judgement:
    shown, conditions = [], []
    for protocol, name in PROTOCOLS.items():
        rr, sir = (estimate(100 * _at(data, "upper_half_share", protocol, scheduler, 65)) for scheduler in SCHEDULERS)
        more = estimate(100 * _with_sir(data, "upper_half_share", protocol, 65))
        conditions.append(above(f"{name}: share of the better half, SIR − RR", more, unit=" %"))
        shown.append(f"{name}: RR {rr} %, SIR {sir} %")
    return judged("; ".join(shown) + " of the bytes", *conditions)


def _unused(data: Data) -> str:
    shown = ", ".join(
        f"{estimate(100 * _at(data, 'receivers_0', protocol, scheduler, 65))} % with {TITLES[protocol]} and "
        f"{TITLES[scheduler]}"
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    )
    return f"slots without a receiver are {shown}; how many there are turns on pauses and on how fast files are sent"


JUDGES: Judges[Data] = {
    "H9": Judge(_receivers, null=RR_FOR_SIR, cause=_unused),
    "H10": Judge(_moved, null=RR_FOR_SIR, former=_moved_before, cause=_asked),
    "H16": Judge(_fairness, null=RR_FOR_SIR),
    "H17": Judge(_upper_half, null=RR_FOR_SIR),
}
