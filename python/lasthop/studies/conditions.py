"""What a claim asks of a run, condition by condition, and what is known of each after so many runs.

A condition is a value and the band that it has to lie in. It *holds* if the value's interval lies in the band, *fails*
if it lies outside, and is *open* if it straddles an edge: then it says how many runs would settle it. "No difference"
is a condition too, that the difference lies within a stated bound; it is never the absence of significance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lasthop.stats import Estimate, exact, number

__all__ = [
    "FAILS",
    "HOLDS",
    "LEVEL",
    "OPEN",
    "Condition",
    "Judgement",
    "above",
    "alike",
    "at_least",
    "at_most",
    "below",
    "fact",
    "judged",
    "within",
]

#: What is known of a condition, or of a claim.
HOLDS, FAILS, OPEN = "holds", "fails", "open"

#: The level of all intervals.
LEVEL = 0.95


@dataclass(frozen=True)
class Condition:
    """One thing that a claim asks for: that a value lies in a band."""

    #: The value in words, the same in every reading.
    what: str
    value: Estimate
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    #: Whether a value on an edge lies outside, as where an order is claimed.
    strict: bool = False
    #: Whether it is something that is so or not, and no number.
    is_fact: bool = False

    def state(self, level: float = LEVEL) -> str:
        """What is known of it, by an interval of this level."""
        one = self.value.at(level)
        if math.isnan(one.mean):
            return FAILS
        if math.isnan(one.half):
            return OPEN
        on_edge = not self.strict
        inside = one.low >= self.low and one.high <= self.high
        if inside and (on_edge or (one.low > self.low and one.high < self.high)):
            return HOLDS
        outside = one.high < self.low or one.low > self.high
        if outside or (not on_edge and (one.high <= self.low or one.low >= self.high)):
            return FAILS
        return OPEN

    @property
    def runs(self) -> int | None:
        """How many runs it would take for the interval not to straddle an edge; `None` if these do not say."""
        edge = min((abs(self.value.mean - one) for one in (self.low, self.high) if math.isfinite(one)), default=0.0)
        return self.value.runs_for(edge)

    @property
    def said(self) -> str:
        """The value beside its band."""
        if self.is_fact:
            return f"{self.what}: {'so' if self.state() == HOLDS else 'not so'}"
        name = f"{self.what}: {self.value}{self.unit}"
        if math.isinf(self.low) and math.isinf(self.high):
            return name
        if math.isinf(self.high):
            return f"{name}, accepted {'above' if self.strict else 'from'} {number(self.low)}{self.unit}"
        if math.isinf(self.low):
            return f"{name}, accepted {'below' if self.strict else 'up to'} {number(self.high)}{self.unit}"
        return f"{name}, accepted {number(self.low)} to {number(self.high)}{self.unit}"

    def document(self) -> dict[str, Any]:
        """As plain data; an edge that is not there is `None`."""
        low, high = (edge if math.isfinite(edge) else None for edge in (self.low, self.high))
        return {
            "what": self.what,
            "mean": self.value.mean,
            "interval": [self.value.low, self.value.high],
            "runs": self.value.n,
            "accepted": [low, high],
            "unit": self.unit.strip(),
            "state": self.state(),
        }


def above(what: str, value: Estimate, bound: float = 0.0, unit: str = "") -> Condition:
    """That a value is larger than a bound: of a difference, that the order is as claimed."""
    return Condition(what, value, low=bound, unit=unit, strict=True)


def below(what: str, value: Estimate, bound: float = 0.0, unit: str = "") -> Condition:
    """That a value is less than a bound."""
    return Condition(what, value, high=bound, unit=unit, strict=True)


def within(what: str, value: Estimate, low: float, high: float, unit: str = "") -> Condition:
    """That a value lies between two bounds, or on one."""
    return Condition(what, value, low, high, unit)


def at_least(what: str, value: Estimate, bound: float, unit: str = "") -> Condition:
    """That a value is not below a bound."""
    return Condition(what, value, low=bound, unit=unit)


def at_most(what: str, value: Estimate, bound: float, unit: str = "") -> Condition:
    """That a value is not above a bound: of one that cannot be negative, whose interval may reach below zero."""
    return Condition(what, value, high=bound, unit=unit)


def alike(what: str, difference: Estimate, bound: float, unit: str = "") -> Condition:
    """That two things are the same up to a bound: a test of equivalence (Schuirmann 1987)."""
    return Condition(what, difference, -bound, bound, unit)


def fact(what: str, is_so: bool) -> Condition:
    """Something that no chance is in, and that is so or not."""
    return Condition(what, exact(is_so), 1.0, 1.0, is_fact=True)


@dataclass(frozen=True)
class Judgement:
    """How a claim fares with the runs of one reading."""

    #: Our figures in words.
    ours: str
    #: All that it asks for.
    conditions: Sequence[Condition]
    #: What else was measured.
    values: Mapping[str, Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.conditions, "a judgement without conditions could not fail"

    def state(self, tried: int = 1) -> str:
        """What is known of the claim.

        It holds if each condition does: no correction is needed for their number (an intersection-union test; Berger
        1982), but one for the number of readings ``tried``, of which one may seem to hold by chance. It fails if a
        condition does at the level that Bonferroni's rule gives for so many of them.
        """
        if all(one.state(1 - (1 - LEVEL) / tried) == HOLDS for one in self.conditions):
            return HOLDS
        return FAILS if self._failing() else OPEN

    @property
    def reason(self) -> str:
        """What speaks against the claim, or what is open and how many runs would settle it."""
        failing = self._failing()
        if failing:
            return "; ".join(one.said for one in failing)
        unsettled = [one for one in self.conditions if one.state() != HOLDS]
        if not unsettled:
            return ""
        runs = [one.runs for one in unsettled]
        have = max(one.value.n for one in unsettled)
        most = None if None in runs else max(run for run in runs if run is not None)
        enough = "more runs than can be told from these" if most is None else f"about {number(most)} runs"
        what = "; ".join(one.said for one in unsettled)
        return f"open with {number(have)} run{'s' if have > 1 else ''}, it would take {enough}: {what}"

    def _failing(self) -> list[Condition]:
        level = 1 - (1 - LEVEL) / len(self.conditions)
        return [one for one in self.conditions if one.state(level) == FAILS]

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "state": self.state(),
            "ours": self.ours,
            "reason": self.reason,
            "conditions": [one.document() for one in self.conditions],
            "values": {
                name: {"mean": one.mean, "interval": [one.low, one.high], "runs": one.n}
                for name, one in self.values.items()
            },
        }


def judged(ours: str, *conditions: Condition, **values: Estimate) -> Judgement:
    """The judgement of these conditions, with what else was measured."""
    return Judgement(ours, conditions, values)
