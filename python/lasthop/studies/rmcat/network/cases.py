"""The test cases as data: capacities, flows, competing traffic, and what the RFC expects of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

__all__ = [
    "AUDIO_KBPS", "BASIC", "CASES", "CELL", "ECN", "MARGIN_S", "MAX_KBPS", "MIN_KBPS", "NUMBERED", "OTHERS", "PRIORITY",
    "VARIED", "WIRED", "Case", "Media", "Segment",
]  # fmt: skip

#: Video from 150 kbit/s to 1.5 Mbit/s and audio of 20 kbit/s (RFC 8867 §4.3).
MIN_KBPS, MAX_KBPS, AUDIO_KBPS = 150.0, 1500.0, 20.0

#: Media end this long before the run does (RFC 8867 §5: end time 99 s of 100 s, and so on); nothing is measured
#: there.
MARGIN_S = 1.0

#: Capacities over time: from which second on, Mbit/s.
Steps = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Media:
    """A video flow and its audio flow."""

    start_s: float = 0.0
    #: One-way propagation delay, each way.
    delay_ms: float = 50.0
    #: From A to B, or back.
    forward: bool = True
    weight: float = 1.0
    #: From when to when it captures nothing.
    pause_s: tuple[float, float] | None = None
    #: The nodes between which its way leads over the bottlenecks.
    way: tuple[str, str] = ("a", "b")


@dataclass(frozen=True)
class Segment:
    """A part of a case in which nothing changes."""

    begin_s: float
    end_s: float
    #: Of the bottleneck that is looked at.
    capacity_mbps: float
    #: The numbers of the media flows that share it and are on.
    flows: tuple[int, ...]

    @property
    def settled(self) -> tuple[float, float]:
        """Its last two thirds."""
        return self.begin_s + (self.end_s - self.begin_s) / 3, self.end_s

    @property
    def last_third(self) -> tuple[float, float]:
        """Its last third."""
        return self.end_s - (self.end_s - self.begin_s) / 3, self.end_s

    @property
    def share_kbps(self) -> float:
        """What each flow can have: its share of the capacity, or its highest rate."""
        return min(1e3 * self.capacity_mbps / len(self.flows), MAX_KBPS)

    @property
    def usable_kbps(self) -> float:
        """What the media can use of the capacity: all of it, or their highest rates."""
        return min(1e3 * self.capacity_mbps, len(self.flows) * (MAX_KBPS + AUDIO_KBPS))


@dataclass(frozen=True)
class Case:
    """A test case."""

    id: str
    section: str
    title: str
    seconds: float
    media: Sequence[Media]
    #: Capacity forward and back.
    forward: Steps
    backward: Steps
    #: The RFC's words on what is expected, abridged.
    expected: str
    #: What it says as a number; empty if it says none.
    number: str = ""
    queue_ms: float = 300.0
    #: Long TCP flows: when they start.
    long_tcp: Sequence[float] = ()
    short_tcp: int = 0
    #: A UDP flow of a constant rate on the forward way: from when to when, at which share of the capacity.
    cbr: tuple[float, float, float] | None = None
    #: Capacities of links in a row, by their nodes, in place of the one from A to B.
    chain: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: Users of a cell, in place of a wire.
    users: int = 0
    #: Which of its links is looked at.
    watched: tuple[str, str] = ("a", "b")
    #: Whether the case is of RFC 8869, and so never claimed as such.
    label: str = ""

    @property
    def competes(self) -> bool:
        """Whether other traffic shares the bottleneck."""
        return bool(self.long_tcp or self.short_tcp or self.cbr)

    @property
    def segments(self) -> list[Segment]:
        """Its parts, divided where the capacity changes, a flow comes, pauses or resumes, or CBR comes or goes."""
        end = self.seconds - MARGIN_S
        steps = dict(self.forward)
        marks = {0.0, end, *steps}
        for flow in self.media:
            marks |= {flow.start_s, *(flow.pause_s or ())}
        if self.cbr:
            marks |= set(self.cbr[:2])
        bounds = sorted(mark for mark in marks if mark <= end)
        made = []
        for begin, until in pairwise(bounds):
            flows = tuple(
                n
                for n, flow in enumerate(self.media)
                if flow.forward and flow.start_s <= begin and not _pauses(flow, begin) and self._passes(flow)
            )
            capacity = [rate for at, rate in self.forward if at <= begin][-1]
            if self.cbr and self.cbr[0] <= begin < self.cbr[1]:
                capacity *= 1 - self.cbr[2]
            if flows:
                made.append(Segment(begin, until, capacity, flows))
        return made

    def _passes(self, flow: Media) -> bool:
        if not self.chain:
            return True
        nodes = sorted({node for pair in self.chain for node in pair})
        first, last = (nodes.index(node) for node in flow.way)
        at, to = (nodes.index(node) for node in self.watched)
        return first <= at and to <= last


def _pauses(flow: Media, at: float) -> bool:
    return flow.pause_s is not None and flow.pause_s[0] <= at < flow.pause_s[1]


def _steady(mbps: float) -> Steps:
    return ((0.0, mbps),)


_RATIO = "rates of any two flows within a factor of 3 (RFC 8868 §3)"
_LEAST = "the lowest media rate, 150 kbit/s, at worst"

_51 = Case(
    "5.1", "RFC 8867 §5.1", "variable capacity, one flow", 100, [Media()],
    ((0, 1.0), (40, 2.5), (60, 0.6), (80, 1.0)), _steady(1.0),
    "detects the capacity, converges to it, no unwanted oscillation",
)  # fmt: skip
_53 = Case(
    "5.3", "RFC 8867 §5.3", "congested feedback", 100, [Media(), Media(forward=False, way=("b", "a"))],
    ((0, 2.0), (20, 1.0), (40, 0.5), (60, 2.0)), ((0, 2.0), (35, 0.8), (70, 2.0)),
    "copes with missing feedback; compared with a backward path that is not impaired",
)  # fmt: skip
_54 = Case(
    "5.4", "RFC 8867 §5.4", "three flows of one kind", 120, [Media(), Media(20), Media(40)],
    _steady(3.5), _steady(3.5), "the flows share, with as little latency and loss as possible", _RATIO,
)  # fmt: skip
_56 = Case(
    "5.6, 300 ms", "RFC 8867 §5.6", "against a long TCP", 120, [Media(5)], _steady(2.0), _steady(2.0),
    "no congestion collapse; at worst the lowest rate", _LEAST, long_tcp=(0.0,),
)  # fmt: skip

#: The basic cases, RFC 8867 §5, and the chain of §6.3.
BASIC: tuple[Case, ...] = (
    _51,
    replace(_51, id="5.1, 100 ms", title="the same over 100 ms one way", media=[Media(delay_ms=100)]),
    Case(
        "5.2", "RFC 8867 §5.2", "variable capacity, two flows", 125, [Media(), Media()],
        ((0, 4.0), (25, 2.0), (50, 3.5), (75, 1.0), (100, 2.0)), _steady(2.0),
        "adapts down, ramps up when capacity is free",
    ),
    _53,
    replace(_53, id="5.3, free", title="the same, feedback not impaired", backward=_steady(2.0)),
    _54,
    Case(
        "5.5", "RFC 8867 §5.5", "different round-trip times", 300,
        [Media(10.0 * n, delay_ms=delay) for n, delay in enumerate((10, 25, 50, 100, 150))],
        _steady(4.0), _steady(4.0), "fast and fair convergence whatever the round-trip time",
    ),
    _56,
    replace(_56, id="5.6, 1000 ms", title="the same, longer queue", queue_ms=1000.0),
    Case(
        "5.7", "RFC 8867 §5.7", "against short TCPs", 300, [Media(5), Media(5)], _steady(2.0), _steady(2.0),
        "no starvation, at least the lowest rate", _LEAST, short_tcp=10,
    ),
    Case(
        "5.8", "RFC 8867 §5.8", "pause and resume", 120, [Media(), Media(pause_s=(40.0, 60.0)), Media()],
        _steady(3.5), _steady(3.5), "the others reach the highest rate meanwhile; then the same share as before",
        f"{_RATIO}; the others 1.5 Mbit/s in the pause",
    ),
    Case(
        "6.3", "RFC 8867 §6.3", "two bottlenecks", 300,
        [Media(delay_ms=100, way=("a", "d")), Media(delay_ms=40, way=("a", "b")), Media(delay_ms=40, way=("c", "d"))],
        _steady(2.0), _steady(2.0), "both bottlenecks fully used, nothing starved",
        chain={("a", "b"): 2.0, ("b", "c"): 8.0, ("c", "d"): 1.5},
    ),
)  # fmt: skip

_61 = replace(
    _54, id="6.1", section="RFC 8867 §6.1", title="priorities 2, 1, 1",
    media=[replace(one, weight=2.0 if n == 0 else 1.0) for n, one in enumerate(_54.media)],
    expected="the first flow gets about twice the rate of the others", number="about 2; 1.6 to 2.5 is accepted",
)  # fmt: skip

#: Media with priorities 2, 1, 1 (§6.1), and the same over 2.5 Mbit/s, where the highest rate of 1.5 Mbit/s is not in
#: the way of twice.
PRIORITY: tuple[Case, ...] = (
    _61,
    replace(_61, id="6.1, 2.5 Mbit/s", title="the same, room for twice", forward=_steady(2.5), backward=_steady(2.5)),
)

#: The basic cases with marks (§6.2).
ECN: tuple[Case, ...] = tuple(
    replace(
        one, id=f"6.2: {one.id}", section=f"RFC 8867 §6.2 of {one.section.partition(' ')[2]}",
        expected="better than without marks", number="better; delay not higher at the 95th percentile",
    )
    for one in BASIC
    if one.id.startswith("5.") and one.id not in ("5.1, 100 ms", "5.3, free", "5.6, 1000 ms")
)  # fmt: skip

_WIRED = Case(
    "8869-3.1a", "RFC 8869 §3.1", "one flow up", 120, [Media()], _steady(1.0), _steady(1.0),
    "converges to the bottleneck, no excessive oscillation", label="jitter in the place of Wi-Fi",
)  # fmt: skip
_PAIR = [Media(), Media(forward=False, way=("b", "a"))]

#: RFC 8869 §3.1, whose bottleneck is a wire: feasible with jitter in the place of Wi-Fi.
WIRED: tuple[Case, ...] = (
    _WIRED,
    replace(_WIRED, id="8869-3.1b", title="a pair", media=_PAIR),
    replace(_WIRED, id="8869-3.1c", title="a pair, CBR until 60 s", media=_PAIR, cbr=(0.0, 60.0, 0.5)),
    replace(_WIRED, id="8869-3.1d", title="a pair, CBR from 60 s", media=_PAIR, cbr=(60.0, 119.0, 0.5)),
    replace(
        _WIRED, id="8869-3.1e", title="against a long TCP", long_tcp=(0.0,),
        expected="no congestion collapse, a fair share",
    ),
)  # fmt: skip

#: One HSDPA cell, for what RFC 8869 §2.1 asks of 21 LTE cells.
CELL = Case(
    "8869-2.1-hsdpa", "RFC 8869 §2.1", "one HSDPA cell, 6 users", 91,
    [Media() for _ in range(6)], _steady(7.2), _steady(7.2), "qualitative", users=6,
    label="one HSDPA cell in the place of 21 LTE cells",
)  # fmt: skip


#: Cases whose capacity changes; those for which an RFC has a number; others.
VARIED = tuple(one for one in BASIC if len(one.forward) > 1)
NUMBERED = tuple(one for one in BASIC if one.number)
OTHERS = tuple(one for one in BASIC if one not in VARIED + NUMBERED)

#: All cases by their id.
CASES: dict[str, Case] = {one.id: one for one in (*BASIC, *PRIORITY, *ECN, *WIRED, CELL)}
