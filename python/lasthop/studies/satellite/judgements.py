"""The paper's claims L1 to L24, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim, explained
from lasthop.studies.satellite import against_rlm, model, robust, scenarios
from lasthop.studies.satellite.causes import CAUSES
from lasthop.studies.satellite.data import Data

__all__ = ["CLAIMS"]

CLAIMS: list[Claim[Data]] = explained(
    (
        *scenarios.CLAIMS,
        *against_rlm.CLAIMS,
        *robust.BEFORE,
        against_rlm.OVERHEAD,
        *robust.AFTER,
        model.CLAIM,
    ),
    CAUSES,
)

assert [claim.id for claim in CLAIMS] == [f"L{n}" for n in range(1, 25)]
