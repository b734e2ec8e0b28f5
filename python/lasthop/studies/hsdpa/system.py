"""What the cell carries with either protocol, and what TCP's retransmissions cost (§VI)."""

from __future__ import annotations

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, judged, within
from lasthop.studies.hsdpa.data import Array, Data, instead, of_all
from lasthop.studies.hsdpa.readings import TAKEN_UP
from lasthop.studies.hsdpa.scenario import SCHEDULERS, TITLES

__all__ = ["SURPLUS", "SYSTEM"]

TCP_FOR_TFRC = Null(
    "TCP in the place of TFRC, from the next seed: they do not differ", instead("protocol", {"tfrc": "tcp"})
)
SEE = "table-scenarios"

#: Whole files, and payload that came for the first time.
FILES, PAYLOAD = "files_kbps", "goodput_kbps"

#: What TCP sends again, and what of it had come before.
AGAIN, TWICE = "retransmitted_kbps", "duplicates_kbps"


def _at(data: Data, quantity: str, protocol: str, scheduler: str) -> Array:
    return data.main.at(quantity, protocol=protocol, scheduler=scheduler, ues=65)


def _more(data: Data, quantity: str, scheduler: str) -> Array:
    """TFRC less TCP."""
    return _at(data, quantity, "tfrc", scheduler) - _at(data, quantity, "tcp", scheduler)


def _order(data: Data, quantity: str) -> tuple[str, list[Estimate]]:
    shown = [
        f"{TITLES[name]}: TCP {estimate(_at(data, quantity, 'tcp', name))}, TFRC "
        f"{estimate(_at(data, quantity, 'tfrc', name))}"
        for name in SCHEDULERS
    ]
    return "; ".join(shown) + " kbit/s", [estimate(_more(data, quantity, name)) for name in SCHEDULERS]


def _higher(data: Data) -> Judgement:
    ours, more = _order(data, FILES)
    payload = {
        f"{TITLES[name]}_payload_TFRC_minus_TCP_kbps": estimate(_more(data, PAYLOAD, name)) for name in SCHEDULERS
    }
    conditions = [
        above(f"{TITLES[name]}: transferred files, TFRC − TCP", one, unit=" kbit/s")
        for name, one in zip(SCHEDULERS, more, strict=True)
    ]
    return judged(ours + " of files", *conditions, **payload)


def _higher_before(data: Data) -> Judgement:
    ours, more = _order(data, PAYLOAD)
    names = (f"{TITLES[name]}: payload, TFRC − TCP" for name in SCHEDULERS)
    return judged(ours, *(above(what, one, unit=" kbit/s") for what, one in zip(names, more, strict=True)))


def _surplus(data: Data) -> Judgement:
    conditions, shown = [], []
    values: dict[str, Estimate] = {}
    for name in SCHEDULERS:
        title, more = TITLES[name], _more(data, FILES, name)
        taken = _at(data, data.changes[TAKEN_UP], "tcp", name)
        again, twice = (_at(data, quantity, "tcp", name) for quantity in (AGAIN, TWICE))
        conditions.append(
            within(
                f"{title}: TFRC's surplus of files over what TCP's retransmissions take up",
                estimate(of_all(more, taken)),
                0.5,
                1.5,
            )
        )
        shown.append(
            f"{title}: TFRC transfers {estimate(more)} kbit/s more; TCP sends {estimate(again)} again, of which "
            f"{estimate(twice)} had come before"
        )
        values |= {
            f"{title}_surplus_kbps": estimate(more),
            f"{title}_retransmitted_kbps": estimate(again),
            f"{title}_duplicates_kbps": estimate(twice),
            f"{title}_payload_TFRC_minus_TCP_kbps": estimate(_more(data, PAYLOAD, name)),
        }
    return judged("; ".join(shown), *conditions, **values)


def _surplus_before(data: Data) -> Judgement:
    conditions, shown = [], []
    for name in SCHEDULERS:
        more, again = _more(data, PAYLOAD, name), _at(data, AGAIN, "tcp", name)
        shown.append(f"{TITLES[name]}: {estimate(more)} kbit/s more, {estimate(again)} retransmitted")
        conditions.append(
            within(f"{TITLES[name]}: surplus over retransmissions", estimate(of_all(more, again)), 0.5, 1.5)
        )
    return judged("; ".join(shown), *conditions)


def _slower(data: Data) -> str:
    shown = "; ".join(
        f"{TITLES[name]}: transferred files {estimate(_more(data, FILES, name))} kbit/s, payload "
        f"{estimate(_more(data, PAYLOAD, name))} kbit/s, slots without a receiver "
        f"{estimate(100 * _more(data, 'receivers_0', name))} points"
        for name in SCHEDULERS
    )
    return (
        f"TFRC less TCP, {shown}. A user asks for the next file when the last has come, so who is slower asks for less"
    )


def _air(data: Data) -> str:
    shown = "; ".join(
        f"{TITLES[name]}: of {estimate(_at(data, AGAIN, 'tcp', name))} kbit/s that TCP sends again "
        f"{estimate(_at(data, TWICE, 'tcp', name))} come twice over the air, TFRC transfers "
        f"{estimate(_more(data, FILES, name))} kbit/s more"
        for name in SCHEDULERS
    )
    return f"{shown}. Packets are lost before the air only: most of what is sent again replaces what took no capacity"


SYSTEM: Claim[Data] = Claim(
    "H14",
    "VI",
    "The difference in transfer rates between TFRC and TCP is small, although the system throughput is higher with "
    "TFRC.",
    "the system throughput is higher with TFRC",
    "TFRC > TCP",
    "bytes of transferred files in the centre cell, TFRC less TCP, in pairs of equal seed, with either scheduler",
    "above 0",
    "the order is claimed, no number; the paper counts “additional transfers performed with TFRC”",
    _higher,
    TCP_FOR_TFRC,
    former=Former(
        "more delivered payload with TFRC",
        "the paper counts transfers: a file that TFRC has sent is transferred, whatever was lost of it",
        _higher_before,
    ),
    see=SEE,
    cause=_slower,
)

SURPLUS: Claim[Data] = Claim(
    "H20",
    "VI",
    "This can be explained by the distributions of the number of the potential receivers being similar, thus the "
    "retransmissions performed by TCP take up capacity corresponding to the additional transfers performed with TFRC.",
    "TCP's retransmissions take up the capacity of what TFRC transfers more",
    "equal",
    "bytes of files that TFRC transfers more, over those of TCP's retransmissions, with either scheduler; which "
    "retransmissions take up capacity is one of the questions",
    "0.5 to 1.5",
    "an explanation, not a measurement; sign and size must fit",
    _surplus,
    TCP_FOR_TFRC,
    former=Former(
        "delivered payload that TFRC has more, over what TCP retransmits: 0.5 to 1.5",
        "the paper counts transfers, as in H14",
        _surplus_before,
    ),
    see=SEE,
    cause=_air,
)
