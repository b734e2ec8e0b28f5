"""A run reduced to arrays of times, and the measures of one flow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..readings import FAST, SLOW, Taken
from ..scenario import END, HANDOVERS
from . import (
    GUARD,
    Array,
    Flags,
    Units,
    adaptation,
    consecutive_ratio,
    high_jitter,
    lost_volume,
    mean_queue,
    relative_jitter,
    spread,
    unevenness,
)

if TYPE_CHECKING:
    from lasthop.results import Result, Table


#: Seconds after the handover to UMTS in which senders are watched.
WATCHED = 2.0

_NONE: Array = np.empty(0)


@dataclass(frozen=True)
class Trace:
    """One flow of a run."""

    start_s: float
    #: When data packets reached the mobile.
    received_s: Array
    #: How long each of them had been under way.
    transit_s: Array = field(default_factory=lambda: _NONE)
    #: When the sender sent data packets, within two seconds after the handover to UMTS.
    sent_s: Array = field(default_factory=lambda: _NONE)
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

    def ratio(self, *, fast: bool, start: bool = True) -> float:
        """P99 of the ratio of consecutive intervals, on WLAN or on UMTS, guards left out."""
        return consecutive_ratio(*self.quiet_intervals(fast=fast, start=start))

    def high_jitter(self, *, fast: bool) -> float:
        """P99 of jitter over the median interval, on WLAN or on UMTS, guards left out."""
        return high_jitter(*self.quiet_intervals(fast=fast))

    def peak(self, handover: float) -> float:
        """The largest interval that ends within a second after a handover, over the median on the new link."""
        here = self.received_s[(self.received_s >= handover - 1) & (self.received_s < handover + 1)]
        ends = here[1:] >= handover
        return _over_median(np.diff(here)[ends], self.quiet_intervals(fast=handover == HANDOVERS[1], start=False))

    def jump(self, handover: float) -> float:
        """The largest jitter that ends within a second after a handover, over the median interval on UMTS.

        The change of the link's rate alone makes nine tenths of that.
        """
        here = self.received_s[(self.received_s >= handover - 1) & (self.received_s < handover + 1)]
        ends = here[2:] >= handover
        return _over_median(np.abs(np.diff(here, 2))[ends], self.quiet_intervals(fast=False))

    def excess(self) -> float:
        """Data packets sent within two seconds after the handover to UMTS beyond what the link can carry then."""
        return max(0.0, len(self.sent_s) - SLOW * WATCHED)

    def waste(self, begin: float, end: float) -> float:
        """Packets that links could have carried in [begin, end) and did not, and packets that were dropped."""
        down, up = HANDOVERS
        slow = max(0.0, min(end, up) - max(begin, down))
        could = SLOW * slow + FAST * (end - begin - slow)
        return could - self.received(begin, end) + self.dropped(begin, end)

    def unevenness(self, width: float, *, fast: bool) -> float:
        """Coefficient of variation of the receive rate over bins of ``width`` seconds, guards left out."""
        return float(np.mean([unevenness(self.received_s, *part, width) for part in self.quiet(fast=fast)]))

    def slow_start_share(self) -> float:
        """The share of dropped packets that were sent in slow start."""
        return float(self.in_slow_start.mean()) if len(self.in_slow_start) else float("nan")

    def adaptation(self, taken: Taken, handover: float, tolerance: float = 0.2) -> float:
        """Seconds from a handover until the receive rate stays at what is due."""
        fast = handover == HANDOVERS[1]
        rtt = taken.rtt_s(fast=fast)
        if self.units:
            return self.units.adaptation(handover, rtt, taken.delay_s(fast=fast), tolerance)
        return adaptation(self.received_s, handover, rtt, self._due(fast=fast), tolerance)

    def lost_volume(self, taken: Taken, handover: float) -> float:
        """See :func:`lost_volume`."""
        fast = handover == HANDOVERS[1]
        rtt = taken.rtt_s(fast=fast)
        if self.units:
            return self.units.lost_volume(handover, rtt, taken.delay_s(fast=fast))
        return lost_volume(self.received_s, handover, rtt, self._due(fast=fast))

    def _due(self, *, fast: bool) -> float:
        """Packets per second: the link's, alone on it, or what the flow asks for."""
        return self.asks or (FAST if fast else SLOW)

    def shortfall(self, taken: Taken, handover: float) -> float:
        """Seconds after a handover in which an inelastic source is served below its request."""
        if self.units is None:
            return 0.0
        return self.units.shortfall(handover, taken.delay_s(fast=handover == HANDOVERS[1]))

    def mean_queue(self) -> float:
        """Mean bytes in the queue, guards left out."""
        parts = [*self.quiet(fast=True), *self.quiet(fast=False)]
        filled = sum(mean_queue(self.received_s, self.transit_s, *part) * (part[1] - part[0]) for part in parts)
        return filled / sum(end - begin for begin, end in parts)


def _over_median(values: Array, usual: list[Array]) -> float:
    every = np.concatenate(usual)
    return float(values.max() / np.median(every)) if len(values) and len(every) else float("nan")


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
        sent_s=packets.time_s[sent & (packets.time_s >= HANDOVERS[0]) & (packets.time_s < HANDOVERS[0] + WATCHED)],
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
