"""The judge of the claim (`paper/claims.toml`)."""

from __future__ import annotations

import numpy as np
from lasthop.stats import estimate
from lasthop.studies import words
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, judged, within
from lasthop.studies.grid import Array
from lasthop.studies.nulls import level

from .experiments import DELAYS, Data
from .readings import QUESTIONS
from .scenario import DELAYS_MS


def power(data: Data) -> Array:
    """The power of the delay with which the goodput of each seed falls, from the shortest path to the longest."""
    least, most = DELAYS_MS[0], DELAYS_MS[-1]
    fall = data.at(DELAYS, "goodput_kbps", delay_ms=most) / data.at(DELAYS, "goodput_kbps", delay_ms=least)
    made: Array = np.log(fall) / np.log(most / least)
    return made


def _inverse(data: Data) -> Judgement:
    found = estimate(power(data))
    return judged(f"a power of {found}", within("power of the round trip", found, -1.1, -0.9))


JUDGES: Judges[Data] = {"N1": Judge(_inverse, null=level(DELAYS, "delay_ms"))}

CLAIMS = words.claims(__name__, JUDGES, QUESTIONS)
