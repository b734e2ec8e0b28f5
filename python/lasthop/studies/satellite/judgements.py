"""The paper's claims L1 to L24, in their order."""

from __future__ import annotations

from dataclasses import replace

from lasthop.studies.claims import Claim
from lasthop.studies.satellite import against_rlm, cost, proof, robust, scenarios, stability
from lasthop.studies.satellite.causes import CAUSES
from lasthop.studies.satellite.data import Data

__all__ = ["CLAIMS"]

_ALL = (
    *scenarios.CLAIMS,
    *stability.CLAIMS,
    *against_rlm.CLAIMS,
    against_rlm.OVERHEAD,
    *robust.CLAIMS,
    *cost.CLAIMS,
    proof.CLAIM,
)

#: In the order of their numbers.
CLAIMS: list[Claim[Data]] = [
    replace(claim, cause=CAUSES.get(claim.id, claim.cause))
    for claim in sorted(_ALL, key=lambda claim: int(claim.id.removeprefix("L")))
]

assert [claim.id for claim in CLAIMS] == [f"L{n}" for n in range(1, 25)]
