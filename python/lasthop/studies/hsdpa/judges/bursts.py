"""Losses in bursts, and what sees its first loss earlier (§IV-A), from runs in which every packet is recorded."""

from __future__ import annotations

from lasthop.stats import estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, judged
from lasthop.studies.grid import Array

from ..data import FIRST, TCP_FOR_TFRC, Data, of_all
from ..scenario import LARGE, PROTOCOLS, SCHEDULERS, TITLES


def fewer(data: Data, scheduler: str) -> Array:
    """How many times as many events the same number of losses would make at random places."""
    grid, where = data.grid(FIRST), {"protocol": "tfrc", "scheduler": scheduler}
    return of_all(grid.at("events_apart", **where), grid.at("events", **where))


def _bursts(data: Data) -> Judgement:
    grid = data.grid(FIRST)
    times = {name: estimate(fewer(data, name)) for name in SCHEDULERS}
    each = {
        name: estimate(of_all(*(grid.at(of, protocol="tfrc", scheduler=name) for of in ("lost", "events"))))
        for name in SCHEDULERS
    }
    ours = "; ".join(
        f"{TITLES[name]}: {each[name]} lost packets for each event, independent losses would make {one} times as many "
        f"events"
        for name, one in times.items()
    )
    return judged(
        ours,
        *(above(f"{TITLES[name]}: events of independent losses over events", one, 2.0) for name, one in times.items()),
    )


def _independent(data: Data) -> Data:
    return data.with_values(FIRST, {"events": data.grid(FIRST).values["events_apart"]})


def burst(data: Data, **where: object) -> Array:
    """Lost packets for each congestion event of the two largest sizes. A spurious timeout is no such event."""
    lost, events, timeouts, spurious = (
        data.total(name, LARGE, **where) for name in ("dropped", "events", "timeouts", "spurious")
    )
    return of_all(lost, events + timeouts - spurious)


def _bursts_before(data: Data) -> Judgement:
    values = {
        f"{TITLES[protocol]} with {TITLES[scheduler]}": estimate(
            burst(data, protocol=protocol, scheduler=scheduler, ues=65)
        )
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    }
    return judged(
        ", ".join(f"{name} {one}" for name, one in values.items()) + " packets per event",
        *(above(name, one, 3.0) for name, one in values.items()),
    )


def _first(data: Data) -> Judgement:
    grid = data.grid(FIRST)
    conditions, ours = [], []
    for scheduler in SCHEDULERS:
        tcp, tfrc = (grid.mean("before_first_loss", protocol=protocol, scheduler=scheduler) for protocol in PROTOCOLS)
        later = grid.difference("before_first_loss", {"protocol": "tfrc"}, {"protocol": "tcp"}, scheduler=scheduler)
        conditions.append(above(f"{TITLES[scheduler]}: packets before the first loss, TFRC − TCP", later))
        ours.append(f"{TITLES[scheduler]}: TCP {tcp}, TFRC {tfrc}")
    return judged("packets sent before the first loss: " + "; ".join(ours), *conditions)


JUDGES: Judges[Data] = {
    "H18": Judge(_bursts, null=_independent, former=_bursts_before),
    "H19": Judge(_first, null=TCP_FOR_TFRC),
}
