"""The judges of the paper's claims: fairness, responsiveness, the two degradations, what the bit tells and costs."""

from __future__ import annotations

from lasthop.studies import words

from ..readings import QUESTIONS
from . import cost, fairness, loss_classification, permanent, responsiveness, temporary

CLAIMS = words.claims(
    __name__,
    {
        **fairness.JUDGES,
        **responsiveness.JUDGES,
        **temporary.JUDGES,
        **loss_classification.JUDGES,
        **permanent.JUDGES,
        **cost.JUDGES,
    },
    QUESTIONS,
)
