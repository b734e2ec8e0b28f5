"""The paper's claims M1 to M22, in their order."""

from __future__ import annotations

from lasthop.studies.claims import Claim, explained
from . import cost
from . import fairness
from . import permanent
from . import responsiveness
from . import loss_classification
from . import temporary
from .causes import CAUSES
from ..data import Data


CLAIMS: list[Claim[Data]] = explained(
    (
        *fairness.CLAIMS,
        *responsiveness.CLAIMS,
        *temporary.CLAIMS,
        *loss_classification.CLAIMS,
        *permanent.CLAIMS,
        *cost.CLAIMS,
    ),
    CAUSES,
)

assert [claim.id for claim in CLAIMS] == [f"M{n}" for n in range(1, 23)]
