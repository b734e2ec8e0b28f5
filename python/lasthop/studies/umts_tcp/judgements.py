"""The thesis' claims C1 to C56, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim
from lasthop.studies.umts_tcp import fach, goodput, hybrid, maxdat, pages, timers
from lasthop.studies.umts_tcp.data import Data

__all__ = ["CLAIMS"]

CLAIMS: list[Claim[Data]] = [
    claim for part in ("CLAIMS", "MORE") for chapter in (fach, maxdat, pages, goodput, hybrid, timers)
    for claim in getattr(chapter, part)
]  # fmt: skip
CLAIMS.sort(key=lambda claim: int(claim.id[1:]))

assert [claim.id for claim in CLAIMS] == [f"C{n}" for n in range(1, 57)]
