"""Congestion events that later packets show (§IV-A, Fig. 2)."""

from __future__ import annotations

from lasthop.stats import estimate, number
from lasthop.studies.claims import Claim, Null
from lasthop.studies.conditions import Judgement, above, judged
from lasthop.studies.hsdpa.data import Array, Data, instead
from lasthop.studies.hsdpa.readings import REVERSED_AT
from lasthop.studies.hsdpa.scenario import LARGE, MEDIUM, PROTOCOLS, SCHEDULERS, TITLES

__all__ = ["EVENTS"]


def _of(data: Data, size: int, protocol: str, scheduler: str) -> Array:
    return data.mean_of("events", size, protocol=protocol, scheduler=scheduler, ues=65)


def _events(data: Data) -> Judgement:
    reversed_at = data.changes[REVERSED_AT]
    conditions, shown = [], []
    for size in sorted({reversed_at, *LARGE}):
        more, less = ("tcp", "tfrc") if size == reversed_at else ("tfrc", "tcp")
        for scheduler in SCHEDULERS:
            name = f"{number(size)} B with {TITLES[scheduler]}"
            apart = estimate(_of(data, size, more, scheduler) - _of(data, size, less, scheduler))
            conditions.append(above(f"{name}: {TITLES[more]} − {TITLES[less]}", apart))
    for size in (MEDIUM, *LARGE):
        for scheduler in SCHEDULERS:
            tcp, tfrc = (estimate(_of(data, size, protocol, scheduler)) for protocol in PROTOCOLS)
            shown.append(f"{number(size)} B with {TITLES[scheduler]}: TCP {tcp}, TFRC {tfrc}")
    between = {
        f"{protocol}_{size}_SIR_minus_RR": estimate(
            _of(data, size, protocol, "max_sir") - _of(data, size, protocol, "round_robin")
        )
        for protocol in PROTOCOLS
        for size in LARGE
    }
    return judged("; ".join(shown) + " events per transfer", *conditions, **between)


EVENTS: Claim[Data] = Claim(
    "H8",
    "IV-A, Fig. 2",
    "This type of events are more frequent for TFRC for the two largest file sizes than the fast retransmits are for "
    "TCP, which "
    "can be explained by TFRC being slower to reduce its send rate. The situation is reversed for the 740950 byte "
    "files",
    "TFRC sees more congestion events than TCP at the largest sizes, TCP more at a smaller one",
    "TFRC more at the two largest sizes, and fewer at one of them: the text contradicts itself",
    "fast retransmits of TCP and loss events of TFRC for each transfer, in pairs of equal seed, with either scheduler",
    "the order at each of the two largest sizes and at the one that is reversed",
    "the order is claimed, no number; which size is reversed is one of the questions",
    _events,
    Null("TCP in the place of TFRC, from the next seed: they do not differ", instead("protocol", {"tfrc": "tcp"})),
    see="figure-2",
    cause="TFRC sees more events at both of the two largest sizes, as the first of the two sentences has it; they can "
    "only both be "
    "true if the second means another size",
)
