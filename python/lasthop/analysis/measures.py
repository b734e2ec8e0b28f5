"""The measures of a connection, from the packets that its sending end sent and received.

The terms are those of RFC 5681 and RFC 6298; where tcptrace measures the same, it does so by the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from lasthop.analysis.traces import Trace

    Array = np.ndarray[Any, Any]

__all__ = ["Measured", "Steps", "together", "union"]


@dataclass(frozen=True)
class Steps:
    """A value over time: from each instant on, until the next. The last one is 0."""

    time: Array
    value: Array

    @property
    def integral(self) -> float:
        """The value times how long it lasts."""
        import numpy as np

        return float((self.value[:-1] * np.diff(self.time)).sum())


def together(several: Sequence[Steps]) -> Steps:
    """The sum of values over time."""
    import numpy as np

    time = np.concatenate([steps.time for steps in several])
    change = np.concatenate([np.diff(steps.value, prepend=0) for steps in several])
    order = np.argsort(time, kind="stable")
    return Steps(time[order], np.cumsum(change[order]))


def union(begins: Array, ends: Array) -> float:
    """How much time these intervals cover together."""
    import numpy as np

    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], ends[order]
    covered = np.maximum.accumulate(ends) if len(ends) else ends
    before = np.concatenate([[-np.inf], covered[:-1]])
    return float(np.clip(covered - np.maximum(begins, before), 0, None).sum())


class Measured:
    """A connection, measured.

    Data outstanding after its last packet count until ``until``.
    """

    def __init__(self, trace: Trace, until: float | None = None) -> None:
        import numpy as np

        self.trace = trace
        segments, out = trace.segments, trace.out
        #: Packets sent, and acknowledgements received.
        self.sent, self.heard = segments[out], segments[~out]
        #: Its first and its last packet.
        self.start_s, self.end_s = (float(segments.time[place]) for place in (0, -1))
        # What had been sent and what had been acknowledged after each packet, by its highest number.
        # A bare acknowledgement sends nothing, whatever number it has.
        carries = out & (segments.end > segments.start)
        highest = np.maximum.accumulate(np.where(carries, segments.end, 0))
        acknowledged = np.maximum.accumulate(np.where(out, 0, np.maximum(segments.ack, 0)))
        # In a part of a capture without the SYN the first number seen is the first that is outstanding.
        before = segments.start[carries][:1].max(initial=0)
        self._outstanding = np.maximum(highest - np.maximum(acknowledged, before), 0)
        #: Bytes sent, and not acknowledged.
        self.outstanding = Steps(
            np.append(segments.time, max(until or self.end_s, self.end_s)), np.append(self._outstanding, 0)
        )
        self._highest_before = np.concatenate([[0], highest[:-1]])
        self._acknowledged_before = np.concatenate([[0], acknowledged[:-1]])
        self._acknowledged = int(acknowledged[-1])

    # Data

    @cached_property
    def data(self) -> Array:
        """Which of the sent segments carry payload."""
        carries: Array = self.sent.payload > 0
        return carries

    @cached_property
    def resent(self) -> Array:
        """How many bytes of each sent segment had been sent before."""
        import numpy as np

        before = self._highest_before[self.trace.out]
        again: Array = np.clip(np.minimum(self.sent.last, before) - self.sent.first, 0, self.sent.payload)
        return again

    @cached_property
    def segment(self) -> int:
        """The payload of a full segment."""
        return int(self.sent.payload.max(initial=0))

    @cached_property
    def acked_bytes(self) -> int:
        """Payload that was sent and acknowledged."""
        import numpy as np

        fresh = self.sent[self.data & (self.resent < self.sent.payload)]
        skipped = self.resent[self.data & (self.resent < self.sent.payload)]
        return int(np.clip(np.minimum(fresh.last, self._acknowledged) - fresh.first - skipped, 0, None).sum())

    @cached_property
    def received_bytes(self) -> int | None:
        """Payload that reached the receiver for the first time, in whatever order."""
        there = self.trace.received
        return None if there is None else round(union(there.first, there.last))

    # Acknowledgements

    @cached_property
    def acks(self) -> Array:
        """Which of the packets that came back acknowledge something."""
        acknowledges: Array = self.heard.ack >= 0
        return acknowledges

    @cached_property
    def duplicates(self) -> Array:
        """Which of the packets that came back are duplicate acknowledgements (RFC 5681 §2).

        They have no payload, no SYN and no FIN; they repeat the greatest acknowledgement so far, while data
        are outstanding. The window that they advertise may differ, as it does from receivers of profile `linux`.
        """
        into = ~self.trace.out
        before, sent = self._acknowledged_before[into], self._highest_before[into]
        bare = (self.heard.payload == 0) & (self.heard.syn == 0) & (self.heard.fin == 0)
        duplicate: Array = self.acks & bare & (self.heard.ack == before) & (before > 0) & (sent > before)
        return duplicate

    @cached_property
    def runs(self) -> tuple[Array, Array]:
        """Runs of duplicate acknowledgements: which packet that came back begins one, and how many there are."""
        import numpy as np

        places = np.flatnonzero(self.acks)
        duplicate = self.duplicates[places].astype(np.int8)
        edges = np.diff(duplicate, prepend=0, append=0)
        begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        return places[begins], ends - begins

    # Round-trip times

    @cached_property
    def rtts(self) -> tuple[Array, Array]:
        """When an acknowledgement gave a round-trip time, and which, in seconds.

        It does so if it acknowledges something new and ends where a segment ends that was sent once
        (Karn's rule, RFC 6298 §3), and if nothing before that segment was sent again since: then it
        waited for that.
        """
        import numpy as np

        segments, before = self.trace.segments, self._highest_before
        carries = np.flatnonzero(self.trace.out & (segments.end > segments.start))
        again = np.minimum(segments.end[carries], before[carries]) > segments.start[carries]
        # First transmissions follow one another without gaps.
        first, resent = carries[~again], carries[again]
        starts, ends = segments.start[first], segments.end[first]
        news = np.flatnonzero(~self.trace.out & (segments.ack > self._acknowledged_before))
        place = np.searchsorted(ends, segments.ack[news])
        ending = place < len(ends)
        ending[ending] = ends[place[ending]] == segments.ack[news][ending]
        news, place = news[ending], place[ending]
        touched = np.zeros(len(first) + 1, np.int64)
        np.add.at(touched, np.searchsorted(ends, segments.start[resent], side="right"), 1)
        np.add.at(touched, np.searchsorted(starts, np.minimum(segments.end[resent], before[resent])), -1)
        good = np.cumsum(touched)[place] == 0
        since, until = np.searchsorted(resent, first[place]), np.searchsorted(resent, news)
        for one in np.flatnonzero(good & (until > since)):
            good[one] = segments.start[resent[since[one] : until[one]]].min() > starts[place[one]]
        news, place = news[good], place[good]
        return segments.time[news], segments.time[news] - segments.time[first[place]]

    # Time

    @cached_property
    def busy(self) -> tuple[Array, Array]:
        """Where something was outstanding: the begins and the ends of these times."""
        import numpy as np

        edges = np.diff((self._outstanding > 0).astype(np.int8), prepend=0)
        time = self.trace.segments.time
        begins = time[edges == 1]
        return begins, np.append(time[edges == -1], self.end_s)[: len(begins)]
