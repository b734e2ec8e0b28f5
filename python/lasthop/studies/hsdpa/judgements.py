"""The paper's claims H1 to H22, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim
from lasthop.studies.hsdpa import availability, bursts, events, loads, losses, rates, small, system, timeouts
from lasthop.studies.hsdpa.data import Data

__all__ = ["CLAIMS"]

CLAIMS: list[Claim[Data]] = [
    *losses.CLAIMS,
    *timeouts.CLAIMS,
    events.EVENTS,
    availability.RECEIVERS,
    availability.MOVED,
    rates.ALIKE,
    rates.ENOUGH,
    small.BELOW,
    system.SYSTEM,
    loads.LOADS_ALIKE,
    availability.FAIRNESS,
    availability.UPPER_HALF,
    bursts.BURSTS,
    bursts.FIRST_LOSS,
    system.SURPLUS,
    small.SMALLEST,
    timeouts.SPURIOUS,
]

assert [claim.id for claim in CLAIMS] == [f"H{n}" for n in range(1, 23)]
