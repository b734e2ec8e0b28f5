"""The judges of the paper's claims: losses, adaptation, evenness, the mechanisms themselves, Table I."""

from __future__ import annotations

from lasthop.studies import words

from ..readings import QUESTIONS
from . import adapting, described, evenness, grading, losses

CLAIMS = words.claims(
    __name__,
    {**losses.JUDGES, **adapting.JUDGES, **evenness.JUDGES, **described.JUDGES, **grading.JUDGES},
    QUESTIONS,
)
