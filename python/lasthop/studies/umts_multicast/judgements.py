"""The paper's claims M1 to M22, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim, explained
from lasthop.studies.umts_multicast import cost, fairness, permanent, responsiveness, telling, temporary
from lasthop.studies.umts_multicast.causes import CAUSES
from lasthop.studies.umts_multicast.data import Data

__all__ = ["CLAIMS"]

CLAIMS: list[Claim[Data]] = explained(
    (
        *fairness.CLAIMS,
        *responsiveness.CLAIMS,
        *temporary.CLAIMS,
        *telling.CLAIMS,
        *permanent.CLAIMS,
        *cost.CLAIMS,
    ),
    CAUSES,
)

assert [claim.id for claim in CLAIMS] == [f"M{n}" for n in range(1, 23)]
