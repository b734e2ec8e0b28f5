"""The judges of the paper's claims: the scenarios, steadiness, against RLM, the text's claims, cost, the proof."""

from __future__ import annotations

from lasthop.studies import words

from ..readings import QUESTIONS
from . import against_rlm, cost, proof, robust, scenarios, stability

CLAIMS = words.claims(
    __name__,
    {
        **scenarios.JUDGES,
        **stability.JUDGES,
        **against_rlm.JUDGES,
        **robust.JUDGES,
        **cost.JUDGES,
        **proof.JUDGES,
    },
    QUESTIONS,
)
