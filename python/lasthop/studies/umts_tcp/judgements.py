"""The thesis' claims C1 to C56, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim
from lasthop.studies.umts_tcp import chapter6, chapter7, chapter8
from lasthop.studies.umts_tcp.data import Data

__all__ = ["CLAIMS"]

CLAIMS: list[Claim[Data]] = [
    *chapter6.CLAIMS, *chapter7.CLAIMS, *chapter8.CLAIMS, *chapter6.MORE, *chapter7.MORE, *chapter8.MORE,
]  # fmt: skip

assert [claim.id for claim in CLAIMS] == [f"C{n}" for n in range(1, 57)]
