"""Losses in bursts, and what sees its first loss earlier (§IV-A), from runs in which every packet is recorded."""

from __future__ import annotations

from dataclasses import replace

from lasthop.stats import estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, judged
from lasthop.studies.hsdpa.data import Array, Data, instead, of_all
from lasthop.studies.hsdpa.scenario import LARGE, PROTOCOLS, SCHEDULERS, TITLES

__all__ = ["BURSTS", "FIRST", "FIRST_LOSS", "burst", "fewer"]

#: The grid of runs in which every packet is recorded.
FIRST = "packets"


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
    grid = data.grid(FIRST)
    return data.with_grids({FIRST: replace(grid, values={**grid.values, "events": grid.values["events_apart"]})})


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


BURSTS: Claim[Data] = Claim(
    "H18",
    "IV-A",
    "For TFRC, we observe few congestion events being detected by later sent packets arriving in relation to the loss "
    "rates. Hence, we conclude that the losses are often correlated and occur in bursts during a round trip time.",
    "losses are correlated and come in bursts within a round trip (TFRC)",
    "few events in relation to the losses",
    "of TFRC's transfers of the two largest sizes: how many loss events (losses of packets sent within a round trip "
    "of the empty path) "
    "the same number of losses would make at random places of the same transfers, over how many there are",
    "more than twice as many",
    "independent losses give 1; “few” events are at most half of those",
    _bursts,
    Null("as many losses of the same transfers, each independent of the others", _independent),
    former=Former(
        "more than 3 lost packets for each congestion event, of both protocols",
        "independent losses at such rates pass it too: a round trip holds more than three of them",
        _bursts_before,
    ),
    see="table-first-losses",
)

FIRST_LOSS: Claim[Data] = Claim(
    "H19",
    "IV-A",
    "The situation is reversed for the 740950 byte files, which is likely a consequence of TCP sending its segments "
    "back to back instead of spacing them out as TFRC does. Thus, TCP encounters its first losses earlier.",
    "TCP meets its first losses earlier than TFRC, at 740 950 B",
    "TCP earlier",
    "packets of a transfer of 740 950 B sent before its first loss, TFRC less TCP, in pairs of equal seed, with either "
    "scheduler",
    "above 0",
    "the order is claimed, no number",
    _first,
    Null("TCP in the place of TFRC, from the next seed: they do not differ", instead("protocol", {"tfrc": "tcp"})),
    see="table-first-losses",
    cause="TFRC's rate is doubled by reports that come once in a round trip, TCP's window with each acknowledgement; "
    "which of "
    "them fills the buffer with fewer packets turns on how TFRC's rate grows in the round trip after its last doubling",
)
