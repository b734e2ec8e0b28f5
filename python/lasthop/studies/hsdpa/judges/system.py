"""What the cell carries with either protocol, and what TCP's retransmissions cost (§VI)."""

from __future__ import annotations

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, judged, within
from lasthop.studies.grid import Array

from ..data import TCP_FOR_TFRC, Data, of_all
from ..readings import TAKEN_UP
from ..scenario import SCHEDULERS, TITLES

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


JUDGES: Judges[Data] = {
    "H14": Judge(_higher, null=TCP_FOR_TFRC, former=_higher_before, cause=_slower),
    "H20": Judge(_surplus, null=TCP_FOR_TFRC, former=_surplus_before, cause=_air),
}
