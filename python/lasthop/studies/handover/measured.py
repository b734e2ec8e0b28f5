"""The runs of one set of parameters, and what claims and tables ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.handover.crowd import Crowd
from lasthop.studies.handover.grades import scalability
from lasthop.studies.handover.measures import Trace
from lasthop.studies.handover.scalability import Counters
from lasthop.studies.handover.scenario import FAST, HANDOVERS, SLOW, Variant
from lasthop.studies.handover.tableone import MECHANISMS, RESERVED, Row, rows, summary

__all__ = ["Adapted", "Measured", "crowd_row", "jitter_on", "peak_at", "spread_on", "unevenness_on"]

DOWN, UP = HANDOVERS


@dataclass(frozen=True)
class Adapted:
    """Round trips of the new path that a mechanism took to adapt, over the runs."""

    #: One for each run; infinite where it never adapted.
    rtts: Sequence[float]

    @property
    def median(self) -> float:
        """Of all runs: infinite if half of them never adapted."""
        return float(np.median(self.rtts))

    @property
    def adapted(self) -> int:
        """In how many runs it did."""
        return int(np.isfinite(self.rtts).sum())

    @property
    def mean(self) -> Estimate:
        """Of the runs in which it did."""
        return estimate(value for value in self.rtts if np.isfinite(value))

    def __str__(self) -> str:
        runs = len(self.rtts)
        if not self.adapted:
            return f"in none of {runs} runs"
        return f"{self.mean} R" + (f" in {self.adapted} of {runs} runs" if self.adapted < runs else "")


@dataclass(frozen=True)
class Measured:
    """The runs at one set of parameters, by mechanism, over the same start times."""

    variant: Variant
    #: The paper's setting: one flow.
    runs: Mapping[str, Sequence[Trace]]
    #: Voice and video in a crowd.
    crowds: Mapping[str, Sequence[Crowd]] = field(default_factory=dict)
    #: What mechanisms put where and how much they do. They do not depend on the delays.
    counters: Mapping[str, Counters] = field(default_factory=dict)

    def over(self, mechanism: str, measure: Callable[[Trace], float]) -> Estimate:
        """A measure's mean over the start times."""
        return estimate(measure(trace) for trace in self.runs[mechanism])

    def paired(self, one: str, other: str, measure: Callable[[Trace], float]) -> Estimate:
        """A measure of one mechanism minus that of another, paired by start time."""
        pairs = zip(self.runs[one], self.runs[other], strict=True)
        return estimate(measure(a) - measure(b) for a, b in pairs)

    def drops(self, mechanism: str, begin: float, end: float) -> Estimate:
        """Drops in [begin, end)."""
        return self.over(mechanism, lambda trace: trace.dropped(begin, end))

    def gapless(self, mechanism: str, *, fast: bool) -> int:
        """In how many runs the 95th percentile of intervals is the 5th, to a per cent."""
        return sum(trace.spread(fast=fast) < 1.01 for trace in self.runs[mechanism])

    def adapted(self, mechanism: str, handover: float, tolerance: float = 0.2) -> Adapted:
        """How long a mechanism took after a handover."""
        rtt = self.variant.rtt_s(fast=handover == UP)
        return Adapted([t.adaptation(self.variant, handover, tolerance) / rtt for t in self.runs[mechanism]])

    def share(self, mechanism: str, begin: float, end: float) -> Callable[[Trace], float]:
        """Received in [begin, end) as a share of the capacity there."""
        rate = SLOW if begin == DOWN else FAST
        return lambda trace: trace.received(begin, end) / (rate * (end - begin))

    def single(self, mechanism: str) -> Row:
        """The mechanism's measures for Table I in the paper's setting."""
        return summary(rows(self.variant, ([trace] for trace in self.runs[mechanism])))

    def crowd(self, mechanism: str) -> Row:
        """The same among others: the worse of voice and video."""
        return crowd_row(self.variant, self.crowds[mechanism])

    def grades(self) -> dict[str, tuple[str, str, str]]:
        """Table I: media friendliness, scalability and dynamic behaviour of each mechanism."""
        made = {}
        for key in MECHANISMS:
            row = self.crowd(key) if key in RESERVED else self.single(key)
            made[key] = (row.media, scalability(self.counters[key].parts), row.dynamic)
        return made

    def signals(self, mechanism: str) -> Estimate:
        """Packets of signalling within two seconds after each of the two handovers."""
        return estimate(sum(crowd.signals) for crowd in self.crowds[mechanism])

    def gap_ms(self, mechanism: str) -> Estimate:
        """The longest time for which a flow is without the service that it had."""
        return estimate(1e3 * crowd.gap_s for crowd in self.crowds[mechanism])


def crowd_row(variant: Variant, crowds: Sequence[Crowd]) -> Row:
    """A row of Table I of runs of the crowd: the worse of voice and video."""
    return summary(rows(variant, ([crowd.voice, crowd.video] for crowd in crowds)))


# Measures of a trace, as functions of it


def jitter_on(fast: bool) -> Callable[[Trace], float]:
    """Median jitter over median interval, on WLAN (``fast``) or on UMTS."""
    return lambda trace: trace.jitter(fast=fast)


def spread_on(fast: bool) -> Callable[[Trace], float]:
    """P95 over P5 of intervals."""
    return lambda trace: trace.spread(fast=fast)


def peak_at(handover: float) -> Callable[[Trace], float]:
    """The largest interval within a second after a handover, over the median."""
    return lambda trace: trace.peak(handover)


def unevenness_on(fast: bool, width: float) -> Callable[[Trace], float]:
    """Coefficient of variation of the receive rate over bins of ``width`` seconds."""
    return lambda trace: trace.unevenness(width, fast=fast)
