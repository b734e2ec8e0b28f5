"""The paper's claims H1 to H22, in their order."""

from __future__ import annotations

from dataclasses import replace

from lasthop.studies.claims import Claim, NotRun
from lasthop.studies.conditions import Judgement
from lasthop.studies.hsdpa import availability, bursts, events, loads, losses, rates, small, system, timeouts
from lasthop.studies.hsdpa.data import Data

__all__ = ["CLAIMS"]


def _where_it_differs(claim: Claim[Data]) -> Claim[Data]:
    """The same, but not judged again where only the text of another claim is read otherwise."""

    def judge(data: Data) -> Judgement:
        if data.otherwise and claim.id not in data.otherwise:
            raise NotRun(f"{claim.id} is not what is read otherwise")
        return claim.judge(data)

    return replace(claim, judge=judge)


CLAIMS: list[Claim[Data]] = [
    _where_it_differs(claim)
    for claim in (
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
    )
]

assert [claim.id for claim in CLAIMS] == [f"H{n}" for n in range(1, 23)]
