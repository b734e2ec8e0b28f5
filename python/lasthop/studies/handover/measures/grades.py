"""Grades of Table I: by which thresholds a measure becomes a word. Fixed before the first run, but for one measure.

The paper gives grades without measures. Each threshold has its reason beside it; none was moved
after a run. The second measure of media friendliness was: at first it was P95 over P5 of all
intervals, which does not see one gap in each window. The paper speaks of consecutive intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: From worst to best.
GRADES = ("very low", "low", "medium", "high", "very high")

#: The queue in front of the radio link, in bytes; drops are weighed against it.
QUEUE = 64_000.0

#: Grade, median jitter over median interval at most, ratio of consecutive intervals (P99) at most. Very high:
#: a twentieth of an interval is not seen in the paper's plots. High: a jitter buffer of one
#: interval takes it. Medium: of two or three. Low: the paper's TCP, whose intervals vary in a
#: range of 5; either measure is enough, since a few long gaps spoil the one and not the other.
_MEDIA = (("very high", 0.05, 1.2), ("high", 0.2, 2.0), ("medium", 0.5, 3.5))
_MEDIA_LOW = (1.0, 10.0)

#: Round trips of the new path until the flow has its share. The rate is taken over 5 round trips,
#: so an ideal sender reads at most 5. High: ten more, some tripling of the window in slow start;
#: a loss that fills half a queue. Medium: what additive increase takes over the distance.
_DYNAMIC = {"very high": 5.0, "high": 15.0, "medium": 50.0}

#: Seconds below its request that a listener takes for an interruption.
OUTAGE = 1.0


def media_friendliness(jitter: float, ratio: float) -> str:
    """From median jitter over median interval, and the ratio of consecutive intervals."""
    for grade, most_jitter, most_ratio in _MEDIA:
        if jitter <= most_jitter and ratio <= most_ratio:
            return grade
    return "low" if jitter <= _MEDIA_LOW[0] or ratio <= _MEDIA_LOW[1] else "very low"


def dynamic_behaviour(rtts: float, dropped_bytes: float, below_request_s: float = 0.0) -> str:
    """From round trips to adapt (infinite: never), bytes dropped until then, seconds below the request."""
    if rtts == float("inf"):
        return "very low"
    if rtts > _DYNAMIC["medium"] or dropped_bytes > QUEUE or below_request_s > OUTAGE:
        return "low"
    if rtts <= _DYNAMIC["very high"] and dropped_bytes == 0:
        return "very high"
    if rtts <= _DYNAMIC["high"] and dropped_bytes <= QUEUE / 2:
        return "high"
    return "medium"


@dataclass(frozen=True)
class Parts:
    """What a mechanism puts where, read off a run."""

    #: Hosts run something other than TCP or UDP.
    hosts: bool
    #: The router in front of the radio link does.
    bottleneck: bool
    #: So do routers elsewhere.
    elsewhere: bool
    #: Routers keep state for each flow.
    per_flow: bool


def scalability(parts: Parts) -> str:
    """Four steps, one off for each kind of part that has to change, and one for state of each flow."""
    left = 4 - sum((parts.hosts, parts.bottleneck, parts.elsewhere, parts.per_flow))
    return {4: "high", 3: "medium", 2: "low", 1: "low", 0: "very low"}[left]


def worse(grades: Iterable[str]) -> str:
    """The worst of them."""
    return min(grades, key=GRADES.index)


def median_grade(grades: Iterable[str]) -> str:
    """The grade of the median run, the lower of two."""
    places = sorted(GRADES.index(grade) for grade in grades)
    return GRADES[places[(len(places) - 1) // 2]]


def steps(ours: str, theirs: str) -> int:
    """How many steps ours is above theirs."""
    return GRADES.index(ours) - GRADES.index(theirs)
