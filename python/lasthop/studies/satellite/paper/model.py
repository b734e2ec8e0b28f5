"""The paper's model of fairness (equations 1 to 9): one multicast session and one TCP flow, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lasthop.studies.grid import Array
from lasthop.studies.series import jain

#: What both share, a layer, and TCP's α and β.
CAPACITY, LAYER, INCREASE, DECREASE = 100.0, 5.0, 1.0, 0.5

#: From where to look: multicast far above TCP, and far below.
STARTS = ((80.0, 10.0), (10.0, 80.0))

#: Multicast's next rate, from its own, TCP's, and whether both exceed the capacity.
Rule = Callable[[float, float, bool], float]


def printed(multicast: float, tcp: float, congested: bool) -> float:
    """Equations 2 and 3."""
    if congested:
        return multicast - (LAYER if multicast >= tcp else 0.0)
    return multicast + (LAYER if multicast < tcp else 0.0)


def inelastic(multicast: float, tcp: float, congested: bool) -> float:
    """A session that does nothing."""
    del tcp, congested
    return multicast


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

    def rising(self) -> float:
        """In which share of cycles the index is higher at the end than it was at the end of the one before."""
        return float((np.diff(self.at_decreases()) > 0).mean())

    def means(self) -> tuple[float, float]:
        """Mean rates of multicast and TCP over the last hundred cycles."""
        begin, end = self.decreases[-101], self.decreases[-1]
        multicast, tcp = self.rates[begin:end].mean(axis=0)
        return float(multicast), float(tcp)

    def limit(self) -> float:
        """The mean of the index over the last hundred cycles."""
        begin, end = self.decreases[-101], self.decreases[-1]
        return float(self.fairness[begin:end].mean())


def model(start: tuple[float, float], steps: int = 8000, rule: Rule = printed) -> Model:
    """Equations 2 to 5, a step after the other; there is a decrease when both exceed the capacity."""
    multicast, tcp = start
    rates, decreases = [start], []
    for step in range(1, steps + 1):
        congested = multicast + tcp > CAPACITY
        multicast, tcp = rule(multicast, tcp, congested), tcp * (1 - DECREASE) if congested else tcp + INCREASE
        if congested:
            decreases.append(step)
        rates.append((multicast, tcp))
    return Model(np.array(rates), np.array(decreases))
