"""The paper's claims H1 to H22, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim, explained
from lasthop.studies.hsdpa import availability, losses, rates, timeouts
from lasthop.studies.hsdpa.causes import CAUSES
from lasthop.studies.hsdpa.data import Data
from lasthop.studies.hsdpa.loads import ALIKE

__all__ = ["CLAIMS"]

CLAIMS: list[Claim[Data]] = explained((
    *losses.CLAIMS, *timeouts.CLAIMS, availability.RECEIVERS, availability.MOVED, *rates.CLAIMS, availability.SYSTEM,
    ALIKE, *availability.MORE, *losses.MORE, availability.SURPLUS, *rates.MORE, *timeouts.MORE,
), CAUSES)  # fmt: skip

assert [claim.id for claim in CLAIMS] == [f"H{n}" for n in range(1, 23)]
