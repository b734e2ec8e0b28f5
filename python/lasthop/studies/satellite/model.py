"""The paper's model of fairness (equations 1 to 9): one multicast session and one TCP flow, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lasthop.stats import Estimate, number
from lasthop.studies.claims import Claim, Judgement, verdict
from lasthop.studies.satellite.data import Data, outside
from lasthop.studies.series import jain

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["CAPACITY", "CLAIM", "STARTS", "Model", "model"]

#: What both share, a layer, and TCP's α and β.
CAPACITY, LAYER, INCREASE, DECREASE = 100.0, 5.0, 1.0, 0.5

#: From where to look: multicast far above TCP, and far below.
STARTS = ((80.0, 10.0), (10.0, 80.0))


@dataclass(frozen=True)
class Model:
    """A course of the model."""

    #: The rates of multicast and of TCP after each step.
    rates: Array
    #: The steps after which there was a decrease.
    decreases: Array

    @property
    def fairness(self) -> Array:
        """Jain's index after each step."""
        return np.array([jain(row) for row in self.rates])

    def at_decreases(self) -> Array:
        """Jain's index right after each decrease."""
        made: Array = self.fairness[self.decreases]
        return made

    def limit(self) -> float:
        """The mean of the index over the last hundred cycles."""
        begin, end = self.decreases[-101], self.decreases[-1]
        return float(self.fairness[begin:end].mean())


def model(start: tuple[float, float], steps: int = 8000) -> Model:
    """Equations 2 to 5, a step after the other; there is a decrease when both exceed the capacity."""
    multicast, tcp = start
    rates, decreases = [start], []
    for step in range(1, steps + 1):
        if multicast + tcp > CAPACITY:
            multicast, tcp = multicast - (LAYER if multicast >= tcp else 0.0), tcp * (1 - DECREASE)
            decreases.append(step)
        else:
            multicast, tcp = multicast + (LAYER if multicast < tcp else 0.0), tcp + INCREASE
        rates.append((multicast, tcp))
    return Model(np.array(rates), np.array(decreases))


def _rises(_data: Data) -> Judgement:
    wrong, values, said = [], {}, []
    for start in STARTS:
        course = model(start)
        index = course.at_decreases()
        limit = Estimate(course.limit(), 0.0, 1)
        name = f"{start[0]:g}_{start[1]:g}"
        values[f"limit_{name}"] = limit
        rising = int(np.argmax(np.diff(index) <= 0)) + 1
        if start[0] > start[1] and rising < 5:
            wrong.append(f"from {start} the index rises over {rising} cycles only")
        wrong += outside(f"limit from {start}", limit, 0.959, 0.979)
        said.append(
            f"from {start[0]:g} and {start[1]:g}: {', '.join(number(float(one), 3) for one in index[:4])}, … "
            f"{number(limit.mean, 3)}"
        )
    return verdict(wrong, "; ".join(said), values)


CLAIM: Claim[Data] = Claim(
    "L24", "III-A.2", "A multicast session and a TCP flow converge to equal rates.", "proof by equations 1 to 9",
    "Jain's index rises with each cycle, and its limit is 0.969 ± 0.01",
    "the model itself, computed: multicast meets TCP's peak, not its mean, so its limit is below 1", _rises,
    see="figure-model",
)  # fmt: skip
