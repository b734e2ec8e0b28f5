"""The judges of the thesis' claims: chapter 6 (`fach`, `maxdat`), 7 (`pages`, `goodput`), 8 (`hybrid`, `timers`)."""

from __future__ import annotations

from lasthop.studies import words

from ..readings import QUESTIONS
from . import fach, goodput, hybrid, maxdat, pages, timers

CLAIMS = words.claims(
    __name__,
    {**fach.JUDGES, **maxdat.JUDGES, **pages.JUDGES, **goodput.JUDGES, **hybrid.JUDGES, **timers.JUDGES},
    QUESTIONS,
)
