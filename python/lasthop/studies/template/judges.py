"""The judges of the claims (`paper/claims.toml`): what a claim asks of the runs, as conditions with intervals."""

from __future__ import annotations

import numpy as np

from lasthop.stats import estimate
from lasthop.studies import words
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, judged, within
from lasthop.studies.grid import Array
from lasthop.studies.nulls import another, level

from .experiments import LOSSES, Data
from .readings import QUESTIONS
from .scenario import LOSS_RATES, RTT_S, SEGMENT_BITS


def constant(data: Data) -> Array:
    """C of each seed, the mean over the loss rates."""
    each = [
        data.at(LOSSES, "goodput_kbps", loss=loss) * 1e3 / SEGMENT_BITS * RTT_S * np.sqrt(loss) for loss in LOSS_RATES
    ]
    made: Array = np.mean(each, axis=0)
    return made


def _power(data: Data) -> Judgement:
    least, most = LOSS_RATES[0], LOSS_RATES[-1]
    fall = data.at(LOSSES, "goodput_kbps", loss=most) / data.at(LOSSES, "goodput_kbps", loss=least)
    power = estimate(np.log(fall) / np.log(most / least))
    return judged(f"a power of {power}", within("power of the loss rate", power, -0.6, -0.4))


def _constant(data: Data) -> Judgement:
    mean = estimate(constant(data))
    return judged(f"C = {mean}", within("C", mean, 0.98, 1.64))


#: A judge, and the null model in which its claim must not hold; `former` and `cause` may follow.
JUDGES: Judges[Data] = {
    "N1": Judge(_power, null=level(LOSSES, "loss")),
    "N2": Judge(_constant, null=another(LOSSES, "loss", dict.fromkeys(LOSS_RATES[:-1], LOSS_RATES[-1]))),
}

CLAIMS = words.claims(__name__, JUDGES, QUESTIONS)
