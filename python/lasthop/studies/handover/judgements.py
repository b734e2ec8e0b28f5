"""The paper's claims A1 to A20."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.claims import Claim
from lasthop.studies.handover import adapting, described, evenness, grading, losses
from lasthop.studies.handover.measured import Measured

__all__ = ["CLAIMS"]

CLAIMS: Sequence[Claim[Measured]] = sorted(
    [*losses.CLAIMS, *adapting.CLAIMS, *evenness.CLAIMS, *described.CLAIMS, *grading.CLAIMS],
    key=lambda claim: int(claim.id.removeprefix("A")),
)

assert [claim.id for claim in CLAIMS] == [f"A{n}" for n in range(1, 21)]
