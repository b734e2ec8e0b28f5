"""Congestion events that later packets show (§IV-A, Fig. 2)."""

from __future__ import annotations

from lasthop.stats import estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, judged
from lasthop.studies.grid import Array

from ..data import TCP_FOR_TFRC, Data
from ..readings import REVERSED_AT
from ..scenario import LARGE, MEDIUM, PROTOCOLS, SCHEDULERS, TITLES


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


JUDGES: Judges[Data] = {
    "H8": Judge(_events, null=TCP_FOR_TFRC),
}
