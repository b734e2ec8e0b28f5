"""The runs of one reading, and what claims and tables ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from lasthop.stats import Estimate, bootstrap, estimate

from .measures import SHORTEST
from .measures.crowd import Crowd
from .measures.grades import scalability
from .measures.scalability import Counters
from .measures.table_1 import MECHANISMS, RESERVED, Measures, rows, summary
from .measures.trace import Trace
from .readings import FAST, SLOW, Taken
from .scenario import HANDOVERS

DOWN, UP = HANDOVERS

Made = TypeVar("Made")

#: Media friendliness, scalability and dynamic behaviour of each mechanism.
Grades = Mapping[str, tuple[str, str, str]]


@dataclass(frozen=True)
class Adapted:
    """Round trips of the new path that a mechanism took to adapt, over the runs."""

    #: One for each run; infinite where it never adapted.
    rtts: Sequence[float]
    #: The ten seconds on the new link in its round trips: what a run in which it never adapts counts as, at least.
    most: float

    @property
    def median(self) -> Estimate:
        """That of the median run."""
        values = np.array(self.counted)
        return bootstrap(lambda drawn: float(np.median(values[list(drawn)])), len(values))

    @property
    def counted(self) -> Sequence[float]:
        """One for each run, all of them finite."""
        return [min(value, self.most) for value in self.rtts]

    @property
    def adapted(self) -> int:
        """In how many runs it did."""
        return int(np.isfinite(self.rtts).sum())

    def __str__(self) -> str:
        runs = len(self.rtts)
        if not self.adapted:
            return f"in none of {runs} runs"
        return f"{self.median} R" + (f" (never in {runs - self.adapted} of {runs} runs)" if self.adapted < runs else "")


@dataclass(frozen=True)
class Data:
    """The runs of one reading, by mechanism, over the same start times."""

    taken: Taken
    #: The paper's setting: one flow.
    runs: Mapping[str, Sequence[Trace]]
    #: Voice and video in a crowd.
    crowds: Mapping[str, Sequence[Crowd]] = field(default_factory=dict)
    #: What mechanisms put where and how much they do. They do not depend on the delays.
    counters: Mapping[str, Counters] = field(default_factory=dict)

    def replaced(self, others: Mapping[str, str]) -> Data:
        """The same with other mechanisms in the place of some, wherever both were run."""

        def with_others(by: Mapping[str, Made]) -> dict[str, Made]:
            return {key: by.get(others.get(key, key), by[key]) for key in by}

        return replace(
            self,
            runs=with_others(self.runs),
            crowds=with_others(self.crowds),
            counters=with_others(self.counters),
        )

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

    def adapted(self, mechanism: str, handover: float, *, window: bool) -> Adapted:
        """How long a mechanism took after a handover, with or without the ``window`` over which the rate is taken."""
        rtt = self.taken.rtt_s(fast=handover == UP)
        less = 0.0 if window else max(5 * rtt, SHORTEST)
        took = [max(0.0, t.adaptation(self.taken, handover) - less) / rtt for t in self.runs[mechanism]]
        return Adapted(took, 10.0 / rtt)

    def share(self, begin: float, end: float) -> Callable[[Trace], float]:
        """Received in [begin, end) as a share of the capacity there."""
        rate = SLOW if begin == DOWN else FAST
        return lambda trace: trace.received(begin, end) / (rate * (end - begin))

    def single(self, mechanism: str) -> Measures:
        """The mechanism's measures for Table I in the paper's setting."""
        return summary(rows(self.taken, ([trace] for trace in self.runs[mechanism])))

    def crowd(self, mechanism: str) -> Measures:
        """The same among others: the worse of voice and video."""
        return crowd_row(self.taken, self.crowds[mechanism])

    @cached_property
    def rows(self) -> Mapping[str, Measures]:
        """The measures that the grades of Table I are taken from."""
        return {key: self.crowd(key) if key in RESERVED else self.single(key) for key in MECHANISMS}

    @property
    def grades(self) -> Grades:
        """Table I."""
        return {key: (row.media, scalability(self.counters[key].parts), row.dynamic) for key, row in self.rows.items()}

    def signals(self, mechanism: str) -> Estimate:
        """Packets of signalling within two seconds after each of the two handovers."""
        return estimate(sum(crowd.signals) for crowd in self.crowds[mechanism])

    def gap_ms(self, mechanism: str) -> Estimate:
        """The longest time for which a flow is without the service that it had."""
        return estimate(1e3 * crowd.gap_s for crowd in self.crowds[mechanism])

    def longer_gap_ms(self, one: str, other: str) -> Estimate:
        """By how much this is longer with one than with another, paired by seed."""
        pairs = zip(self.crowds[one], self.crowds[other], strict=True)
        return estimate(1e3 * (a.gap_s - b.gap_s) for a, b in pairs)


def crowd_row(taken: Taken, crowds: Sequence[Crowd]) -> Measures:
    """A row of Table I of runs of the crowd: the worse of voice and video."""
    return summary(rows(taken, ([crowd.voice, crowd.video] for crowd in crowds)))


def instead(others: Mapping[str, str]) -> Callable[[Data], Data]:
    """A null model: the runs of other mechanisms in the place of those of some."""
    return lambda data: data.replaced(others)
