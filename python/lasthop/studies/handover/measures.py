"""What is measured of a run: only what a receiver, a queue or a sender could see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.results import Result
from lasthop.stats import Estimate, estimate
from lasthop.studies.handover.scenario import END, FAST, HANDOVERS, SLOW, Variant

__all__ = ["GUARD", "Measured", "Trace", "trace"]

Array = NDArray[np.float64]

#: Seconds after the start and after each handover that do not count for media friendliness.
GUARD = 2.0


@dataclass(frozen=True)
class Trace:
    """One run, reduced to what the study looks at."""

    start_s: float
    #: When data packets reached the mobile.
    received_s: Array
    #: When the queue dropped data packets.
    dropped_s: Array
    #: Of each dropped packet, whether the sender was in slow start when it sent it.
    in_slow_start: NDArray[np.bool_]

    def received(self, begin: float, end: float) -> int:
        """Data packets received in [begin, end)."""
        return _count(self.received_s, begin, end)

    def dropped(self, begin: float, end: float) -> int:
        """Data packets dropped in [begin, end)."""
        return _count(self.dropped_s, begin, end)

    def intervals(self, begin: float, end: float) -> Array:
        """Times between consecutive arrivals in [begin, end)."""
        within = self.received_s[(self.received_s >= begin) & (self.received_s < end)]
        return np.diff(within)

    def spread(self, *, fast: bool) -> float:
        """P95 over P5 of the inter-packet intervals, on WLAN or on UMTS, guards left out."""
        down, up = HANDOVERS
        parts = (
            [self.intervals(self.start_s + GUARD, down), self.intervals(up + GUARD, END)]
            if fast
            else [self.intervals(down + GUARD, up)]
        )
        low, high = np.percentile(np.concatenate(parts), [5, 95])
        return float(high / low)

    def slow_start_share(self) -> float:
        """The share of dropped packets that were sent in slow start."""
        return float(self.in_slow_start.mean()) if len(self.in_slow_start) else float("nan")

    def adaptation(self, handover: float, rtt_s: float, rate: float, tolerance: float = 0.2) -> float:
        """Seconds from a handover until the receive rate stays within 20 % of the new capacity.

        The rate is that of the last max(5 R, 0.2 s); it has to stay for 10 R. If it never does
        before the next handover, not-a-number.
        """
        window, stay, step = max(5 * rtt_s, 0.2), 10 * rtt_s, 0.01
        times = np.arange(handover, handover + 10.0, step)
        counts = np.searchsorted(self.received_s, times, "right") - np.searchsorted(
            self.received_s, times - window, "right"
        )
        good = np.abs(counts / window / rate - 1) <= tolerance
        need = int(np.ceil(stay / step))
        # How many instants in a row are good, from each on.
        run = 0
        for i in range(len(good) - 1, -1, -1):
            run = run + 1 if good[i] else 0
            good[i] = run >= need
        found = np.flatnonzero(good)
        return float(times[found[0]] - handover) if len(found) else float("nan")


def _count(times: Array, begin: float, end: float) -> int:
    return int(np.searchsorted(times, end) - np.searchsorted(times, begin))


def trace(result: Result) -> Trace:
    """Reduces a run."""
    packets = result.packets
    event, kind, place = packets["event"], packets["kind"], packets["place"]
    time_s: Array = packets["time_s"]
    number = packets["number"]
    data = kind == "data"
    dropped = data & (event == "dropped")
    sent = data & (event == "sent")
    # A transmission has a number; so the instant at which a dropped packet was sent is known.
    order = np.argsort(number[sent], kind="stable")
    at = np.searchsorted(number[sent][order], number[dropped])
    sent_s = time_s[sent][order][at]
    return Trace(
        start_s=float(result.flows["start_s"][0]),
        received_s=time_s[data & (event == "received") & (place == "mobile")],
        dropped_s=time_s[dropped],
        in_slow_start=_slow_start(result, sent_s),
    )


def _slow_start(result: Result, at_s: Array) -> NDArray[np.bool_]:
    """Whether the window was below the slow-start threshold at these instants."""
    cwnd = _value_at(result, "cwnd", at_s)
    ssthresh = _value_at(result, "ssthresh", at_s)
    below: NDArray[np.bool_] = cwnd < ssthresh
    return below


def _value_at(result: Result, variable: str, at_s: Array) -> Array:
    """A variable's value at these instants, after what changed in them. At first a threshold is infinite."""
    changes: Any = result.changes
    mine = changes["variable"] == variable
    times, values = changes["time_s"][mine], changes["value"][mine]
    before = np.inf if variable == "ssthresh" else 1.0
    place = np.searchsorted(times, at_s, "right")
    held: Array = np.concatenate([[before], values])[place]
    return held


@dataclass(frozen=True)
class Measured:
    """The runs of one variant: Reno and NewReno over the same start times."""

    variant: Variant
    reno: Sequence[Trace]
    newreno: Sequence[Trace]

    def drops(self, begin: float, end: float) -> Estimate:
        """Reno's drops in [begin, end)."""
        return estimate(t.dropped(begin, end) for t in self.reno)

    def slow_start_share(self) -> Estimate:
        """The share of Reno's drops that were sent in slow start."""
        return estimate(t.slow_start_share() for t in self.reno)

    def spread(self, *, fast: bool) -> Estimate:
        """P95 over P5 of Reno's inter-packet intervals."""
        return estimate(t.spread(fast=fast) for t in self.reno)

    def gapless(self, *, fast: bool) -> int:
        """In how many of Reno's runs the 95th percentile of intervals is the 5th, to a per cent."""
        return sum(t.spread(fast=fast) < 1.01 for t in self.reno)

    def adaptation_rtts(self, *, fast: bool) -> tuple[Estimate, int]:
        """Reno's time to adapt to WLAN (``fast``) or to UMTS, in round trips; and in how many runs it did."""
        rtt = self.variant.rtt_s(fast=fast)
        handover = HANDOVERS[1 if fast else 0]
        times = [t.adaptation(handover, rtt, FAST if fast else SLOW) / rtt for t in self.reno]
        return estimate(times), int(np.isfinite(times).sum())

    def share_after_return(self) -> Estimate:
        """Received by Reno after the return to WLAN, as a share of the capacity."""
        up = HANDOVERS[1]
        return estimate(t.received(up, END) / (FAST * (END - up)) for t in self.reno)

    def received_difference_pct(self) -> Estimate:
        """NewReno's received packets against Reno's, paired by start time, in per cent."""
        pairs = zip(self.reno, self.newreno, strict=True)
        return estimate(100 * (b.received(0, END) / a.received(0, END) - 1) for a, b in pairs)

    def drop_difference(self) -> Estimate:
        """NewReno's drops minus Reno's, paired by start time."""
        pairs = zip(self.reno, self.newreno, strict=True)
        return estimate(b.dropped(0, END) - a.dropped(0, END) for a, b in pairs)
