"""What is measured of a run: only what a source, a receiver or a queue could see.

The functions below take plain arrays of times, so that they can be held against made-up data.
:func:`trace` reduces a run to such arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.handover.scenario import END, FAST, HANDOVERS, SLOW, Variant

if TYPE_CHECKING:
    from lasthop.results import Result, Table

__all__ = [
    "GUARD",
    "STEP",
    "Trace",
    "Units",
    "adaptation",
    "excess_drops",
    "held",
    "lost_volume",
    "mean_queue",
    "relative_jitter",
    "rfc3550_jitter",
    "shortfall",
    "spread",
    "trace",
    "unevenness",
    "window_counts",
]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Seconds after the start and after each handover that do not count for media friendliness.
GUARD = 2.0

#: Seconds between two looks at a rate.
STEP = 0.01

#: The shortest window over which a rate is taken, in seconds.
SHORTEST = 0.2

_NONE: Array = np.empty(0)


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


def rfc3550_jitter(transit: Array) -> Array:
    """RFC 3550 §6.4.1: J += (|D| − J)/16, with D the difference of consecutive transit times; after each packet."""
    jitter, after = 0.0, []
    for difference in np.abs(np.diff(transit)).tolist():
        jitter += (difference - jitter) / 16
        after.append(jitter)
    return np.array(after)


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


# From a run to arrays


@dataclass(frozen=True)
class Trace:
    """One flow of a run."""

    start_s: float
    #: When data packets reached the mobile.
    received_s: Array
    #: How long each of them had been under way.
    transit_s: Array = field(default_factory=lambda: _NONE)
    #: When the network dropped data packets of the flow.
    dropped_s: Array = field(default_factory=lambda: _NONE)
    #: Of each dropped packet, whether the sender was in slow start when it sent it.
    in_slow_start: Flags = field(default_factory=lambda: np.empty(0, dtype=bool))
    #: When the retransmission timer expired.
    timeouts_s: Array = field(default_factory=lambda: _NONE)
    #: The window in packets at the handovers, where changes of it were recorded.
    windows: tuple[float, ...] = ()
    #: What arrived of what an inelastic source made.
    units: Units | None = None
    #: The packets per second that the flow asks for, if it does not take what it gets.
    asks: float | None = None

    def received(self, begin: float, end: float) -> int:
        """Data packets received in [begin, end)."""
        return _count(self.received_s, begin, end)

    def dropped(self, begin: float, end: float) -> int:
        """Data packets dropped in [begin, end)."""
        return _count(self.dropped_s, begin, end)

    def intervals(self, begin: float, end: float) -> Array:
        """Times between consecutive arrivals in [begin, end); for an inelastic source see :class:`Units`."""
        if self.units:
            return self.units.intervals(begin, end)
        here: Array = self.received_s[(self.received_s >= begin) & (self.received_s < end)]
        return np.diff(here)

    def quiet(self, *, fast: bool, start: bool = True) -> list[tuple[float, float]]:
        """The times on WLAN or on UMTS without the guards; on WLAN with or without those before the handover."""
        down, up = HANDOVERS
        if not fast:
            return [(down + GUARD, up)]
        after = (up + GUARD, END)
        return [(self.start_s + GUARD, down), after] if start else [after]

    def quiet_intervals(self, *, fast: bool, start: bool = True) -> list[Array]:
        """The intervals of :meth:`quiet` times."""
        return [self.intervals(*part) for part in self.quiet(fast=fast, start=start)]

    def spread(self, *, fast: bool, start: bool = True) -> float:
        """P95 over P5 of the inter-packet intervals, on WLAN or on UMTS, guards left out."""
        return spread(np.concatenate(self.quiet_intervals(fast=fast, start=start)))

    def jitter(self, *, fast: bool, start: bool = True) -> float:
        """Median jitter over median interval, on WLAN or on UMTS, guards left out."""
        return relative_jitter(*self.quiet_intervals(fast=fast, start=start))

    def peak(self, handover: float) -> float:
        """The largest interval that ends within a second after a handover, over the median on the new link."""
        here = self.received_s[(self.received_s >= handover - 1) & (self.received_s < handover + 1)]
        ends = here[1:] >= handover
        intervals = np.diff(here)[ends]
        usual = np.concatenate(self.quiet_intervals(fast=handover == HANDOVERS[1], start=False))
        if not len(intervals) or not len(usual):
            return float("nan")
        return float(intervals.max() / np.median(usual))

    def unevenness(self, width: float, *, fast: bool) -> float:
        """Coefficient of variation of the receive rate over bins of ``width`` seconds, guards left out."""
        return float(np.mean([unevenness(self.received_s, *part, width) for part in self.quiet(fast=fast)]))

    def slow_start_share(self) -> float:
        """The share of dropped packets that were sent in slow start."""
        return float(self.in_slow_start.mean()) if len(self.in_slow_start) else float("nan")

    def adaptation(self, variant: Variant, handover: float, tolerance: float = 0.2) -> float:
        """Seconds from a handover until the receive rate stays at what is due."""
        fast = handover == HANDOVERS[1]
        rtt = variant.rtt_s(fast=fast)
        if self.units:
            return self.units.adaptation(handover, rtt, variant.delay_s(fast=fast), tolerance)
        return adaptation(self.received_s, handover, rtt, self._due(fast=fast), tolerance)

    def lost_volume(self, variant: Variant, handover: float) -> float:
        """See :func:`lost_volume`."""
        fast = handover == HANDOVERS[1]
        rtt = variant.rtt_s(fast=fast)
        if self.units:
            return self.units.lost_volume(handover, rtt, variant.delay_s(fast=fast))
        return lost_volume(self.received_s, handover, rtt, self._due(fast=fast))

    def _due(self, *, fast: bool) -> float:
        """Packets per second: the link's, alone on it, or what the flow asks for."""
        return self.asks or (FAST if fast else SLOW)

    def shortfall(self, variant: Variant, handover: float) -> float:
        """Seconds after a handover in which an inelastic source is served below its request."""
        if self.units is None:
            return 0.0
        return self.units.shortfall(handover, variant.delay_s(fast=handover == HANDOVERS[1]))

    def mean_queue(self) -> float:
        """Mean bytes in the queue, guards left out."""
        parts = [*self.quiet(fast=True), *self.quiet(fast=False)]
        filled = sum(mean_queue(self.received_s, self.transit_s, *part) * (part[1] - part[0]) for part in parts)
        return filled / sum(end - begin for begin, end in parts)


def _count(times: Array, begin: float, end: float) -> int:
    return int(np.searchsorted(times, end) - np.searchsorted(times, begin))


class Packets:
    """The table `packets` of a run, its coded columns compared by code."""

    def __init__(self, table: Table) -> None:
        self._arrow = table.to_arrow().combine_chunks()
        self.time_s: Array = self._arrow.column("time_s").to_numpy()
        self.number: Any = self._arrow.column("number").to_numpy()

    def column(self, name: str) -> Any:
        """A column of numbers."""
        return self._arrow.column(name).to_numpy()

    def where(self, column: str, value: str) -> Flags:
        """Which rows have this word in this column."""
        coded = self._arrow.column(column).chunk(0) if self._arrow.num_rows else None
        if coded is None:
            return np.empty(0, dtype=bool)
        words = coded.dictionary.to_pylist()
        if value not in words:
            return np.zeros(len(self.time_s), dtype=bool)
        same: Flags = coded.indices.to_numpy(zero_copy_only=False) == words.index(value)
        return same


def trace(result: Result, flow: str = "flow", *, asks: float | None = None) -> Trace:
    """Reduces a run to one of its flows, which may ask for so many packets per second.

    Where changes of variables were recorded, it is known what was lost of what was sent in slow start.
    """
    slow_start = "changes" in result.tables
    packets = Packets(result.packets)
    data = packets.where("flow", flow) & packets.where("kind", "data")
    sent = data & packets.where("event", "sent")
    received = data & packets.where("event", "received") & packets.where("place", "mobile")
    dropped = data & packets.where("event", "dropped")
    names = result.flows["flow"].tolist()
    left = _sent_at(packets, sent, dropped) if slow_start else _NONE
    return Trace(
        start_s=float(result.flows["start_s"][names.index(flow)]),
        received_s=packets.time_s[received],
        transit_s=packets.time_s[received] - _sent_at(packets, sent, received),
        dropped_s=packets.time_s[dropped],
        in_slow_start=_slow_start(result, left) if slow_start else np.empty(0, dtype=bool),
        timeouts_s=_changed(result, "timeouts") if slow_start else _NONE,
        windows=tuple(_value_at(result, "cwnd", np.array(HANDOVERS)).tolist()) if slow_start else (),
        asks=asks,
    )


def _sent_at(packets: Packets, sent: Flags, those: Flags) -> Array:
    """When the packets of some rows were sent. A transmission has a number."""
    order = np.argsort(packets.number[sent], kind="stable")
    numbers = packets.number[sent][order]
    times: Array = packets.time_s[sent][order]
    left: Array = times[np.searchsorted(numbers, packets.number[those])]
    return left


def _slow_start(result: Result, at_s: Array) -> Flags:
    """Whether the window was below the slow-start threshold at these instants."""
    cwnd = _value_at(result, "cwnd", at_s)
    ssthresh = _value_at(result, "ssthresh", at_s)
    below: Flags = cwnd < ssthresh
    return below


def _changed(result: Result, variable: str) -> Array:
    """When a variable changed."""
    changes: Any = result.changes
    times: Array = changes["time_s"][changes["variable"] == variable]
    return times


def _value_at(result: Result, variable: str, at_s: Array) -> Array:
    """A variable's value at these instants, after what changed in them. At first a threshold is infinite."""
    changes: Any = result.changes
    mine = changes["variable"] == variable
    times, values = changes["time_s"][mine], changes["value"][mine]
    before = np.inf if variable == "ssthresh" else 1.0
    place = np.searchsorted(times, at_s, "right")
    held: Array = np.concatenate([[before], values])[place]
    return held
