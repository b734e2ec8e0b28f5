"""What is measured of a run: only what a source, a receiver or a queue could see.

The functions take plain arrays of times, so that they can be held against made-up data. The module `trace` reduces a
run to such arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Seconds after the start and after each handover that do not count for media friendliness.
GUARD = 2.0

#: Seconds between two looks at a rate.
STEP = 0.01

#: The shortest window over which a rate is taken, in seconds.
SHORTEST = 0.2


# Intervals and jitter


def relative_jitter(*parts: Array) -> float:
    """Median of |I_k − I_{k−1}| over the median of I: the paper's jitter, in shares of an interval.

    Intervals come in parts, between which no difference is taken.
    """
    intervals = np.concatenate(parts)
    if len(intervals) < 3:
        return float("nan")
    jitter = np.concatenate([np.abs(np.diff(part)) for part in parts])
    return float(np.median(jitter) / np.median(intervals))


def spread(intervals: Array) -> float:
    """P95 over P5 of intervals. Infinite if a twentieth of them is not positive."""
    if len(intervals) < 3:
        return float("nan")
    low, high = np.percentile(intervals, [5, 95])
    return float(high / low) if low > 0 else float("inf")


#: The percentile of what is large. A window holds at most 64 packets of the queue and what the path holds; a gap in
#: each window is two of so many steps from one interval to the next: more than a hundredth of them, less than a
#: twentieth.
HIGH = 99


def high_jitter(*parts: Array) -> float:
    """P99 of |I_k − I_{k−1}| over the median of I; see :func:`relative_jitter`."""
    intervals = np.concatenate(parts)
    if len(intervals) < 3:
        return float("nan")
    jitter = np.concatenate([np.abs(np.diff(part)) for part in parts])
    return float(np.percentile(jitter, HIGH) / np.median(intervals))


def consecutive_ratio(*parts: Array) -> float:
    """P99 of the ratio of consecutive intervals, the longer over the shorter. Infinite if more than a hundredth of them
    have one that is not positive."""
    pairs = np.concatenate(
        [np.empty((2, 0)), *(np.stack([part[:-1], part[1:]]) for part in parts if len(part))], axis=1
    )
    if not pairs.size:
        return float("nan")
    longer, shorter = pairs.max(axis=0), pairs.min(axis=0)
    ratios = np.full(len(longer), np.inf)
    np.divide(longer, shorter, out=ratios, where=shorter > 0)
    with np.errstate(invalid="ignore"):
        high = float(np.percentile(ratios, HIGH))
    return float("inf") if np.isnan(high) else high


def unevenness(times: Array, begin: float, end: float, width: float) -> float:
    """Coefficient of variation of the counts of ``times`` in whole bins of ``width`` in [begin, end)."""
    bins = int((end - begin) / width + 1e-9)
    if bins < 2:
        return float("nan")
    counts = np.diff(np.searchsorted(times, begin + width * np.arange(bins + 1)))
    mean = counts.mean()
    return float(counts.std() / mean) if mean else float("nan")


# Adaptation


def window_counts(times: Array, at: Array, width: float, weights: Array | None = None) -> Array:
    """How many of ``times``, or how much of their ``weights``, lie in (t − width, t], for each t of ``at``."""
    last, first = np.searchsorted(times, at, "right"), np.searchsorted(times, at - width, "right")
    if weights is None:
        return (last - first).astype(float)
    total = np.concatenate([[0.0], np.cumsum(weights)])
    within: Array = total[last] - total[first]
    return within


def held(good: Flags, need: int) -> int | None:
    """The first place from which on ``need`` values in a row are true."""
    total = np.concatenate([[0], np.cumsum(good)])
    found = np.flatnonzero(total[need:] - total[:-need] == need)
    return int(found[0]) if len(found) else None


def adaptation(received: Array, handover: float, rtt: float, rate: float, tolerance: float = 0.2) -> float:
    """Seconds from a handover until the receive rate stays near ``rate``.

    The rate is that of the last max(5 R, 0.2 s); it has to stay within the tolerance for 10 R. If
    it never does within the ten seconds on the new link, infinite.
    """
    window, stay = max(5 * rtt, SHORTEST), 10 * rtt
    times = np.arange(handover, handover + 10.0, STEP)
    good = np.abs(window_counts(received, times, window) / window / rate - 1) <= tolerance
    found = held(good, int(np.ceil(stay / STEP)))
    return float(times[found] - handover) if found is not None else float("inf")


def excess_drops(dropped: Array, handover: float, adapted: float) -> int:
    """Drops from a handover until ``adapted`` seconds after it; all of the ten seconds if it never adapts."""
    end = handover + min(adapted, 10.0)
    return int(np.searchsorted(dropped, end, "right") - np.searchsorted(dropped, handover))


def lost_volume(received: Array, handover: float, rtt: float, rate: float) -> float:
    """∫ (share − rate)⁺ / (share · 10 s): what was not received of what was due in ten seconds."""
    window = max(5 * rtt, SHORTEST)
    times = np.arange(handover, handover + 10.0, STEP)
    short = 1 - window_counts(received, times, window) / window / rate
    return float(np.maximum(short, 0).mean())


def mean_queue(received: Array, transit: Array, begin: float, end: float, size: float = 1000.0) -> float:
    """Mean bytes in the queue over [begin, end) by Little's law: bytes times seconds waited, over seconds.

    A packet waited for what it took beyond the fastest of them.
    """
    here = (received >= begin) & (received < end)
    if not here.any():
        return 0.0
    waited = transit[here] - transit[here].min()
    return float(waited.sum() * size / (end - begin))


# What inelastic sources make


@dataclass(frozen=True)
class Units:
    """What a voice or video source makes and a listener hears or sees: frames.

    A frame arrives when all of it has arrived; infinite if it never does.
    """

    created_s: Array
    arrived_s: Array
    #: Seconds between frames of a source that is not silent.
    every_s: float

    def _between(self, begin: float, end: float) -> tuple[Array, Array]:
        here = (self.created_s >= begin) & (self.created_s < end) & np.isfinite(self.arrived_s)
        return self.created_s[here], self.arrived_s[here]

    def intervals(self, begin: float, end: float) -> Array:
        """Intervals between consecutive frames created in [begin, end), as if the source were even.

        The source's own interval is taken off and its usual one put in its place, so silences and
        the ways of the source do not count.
        """
        created, arrived = self._between(begin, end)
        even: Array = np.diff(arrived) - np.diff(created) + self.every_s
        return even

    def delays(self, begin: float, end: float) -> Array:
        """From creation to arrival, of frames created in [begin, end)."""
        created, arrived = self._between(begin, end)
        return arrived - created

    def lost(self, begin: float, end: float) -> float:
        """The share of frames created in [begin, end) that never arrive."""
        here = (self.created_s >= begin) & (self.created_s < end)
        return float(np.isinf(self.arrived_s[here]).mean()) if here.any() else float("nan")

    def _served(self, handover: float, width: float, delay: float) -> tuple[Array, Array, Array]:
        times = np.arange(handover, handover + 10.0, STEP)
        due = window_counts(self.created_s, times - delay, width)
        arrived = np.sort(self.arrived_s[np.isfinite(self.arrived_s)])
        return times, window_counts(arrived, times, width), due

    def adaptation(self, handover: float, rtt: float, delay: float, tolerance: float = 0.2) -> float:
        """As :func:`adaptation`; due is what the source made, one empty path earlier, a frame more or less."""
        _, got, due = self._served(handover, max(5 * rtt, SHORTEST), delay)
        good = np.abs(got - due) <= np.maximum(tolerance * due, 1)
        found = held(good, int(np.ceil(10 * rtt / STEP)))
        return found * STEP if found is not None else float("inf")

    def shortfall(self, handover: float, delay: float) -> float:
        """See :func:`shortfall`."""
        _, got, due = self._served(handover, SHORTEST, delay)
        return shortfall(got, due)

    def lost_volume(self, handover: float, rtt: float, delay: float) -> float:
        """As :func:`lost_volume`, against what the source made."""
        _, got, due = self._served(handover, max(5 * rtt, SHORTEST), delay)
        total = due.sum()
        return float(np.maximum(due - got, 0).sum() / total) if total else float("nan")


def shortfall(got: Array, due: Array) -> float:
    """Seconds in which less than 80 % of what was due arrived over the last 0.2 s, by more than one frame."""
    return float((got < np.minimum(0.8 * due, due - 1)).sum() * STEP)
