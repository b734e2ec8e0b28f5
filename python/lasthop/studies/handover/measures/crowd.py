"""Voice and video among others: a run of the second setting, reduced to what a listener notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lasthop.results import Result, Table

from ..network import OBSERVED
from ..scenario import HANDOVERS
from . import GUARD
from .frames import EVERY, frames, from_datagrams, from_stream, sent_places
from .trace import Packets, Trace, trace

#: Seconds after a handover in which what signals does so because of it.
SIGNALS_WITHIN = 2.0

#: What schemes call the longest time for which a flow was without service.
INTERRUPTIONS = ("longest_interruption_ms", "diffserv_interruption_ms")

#: How many datagrams wait in TFRC's sender at most.
TFRC_BUFFER = 50

GREEDY = ("tcp1", "tcp2", "tcp3", "tcp4")

#: The kinds of packets that are not signalling.
CARRIES = ("data", "ack", "syn", "fin", "report")


@dataclass(frozen=True)
class Crowd:
    """One run."""

    voice: Trace
    video: Trace
    #: Packets of signalling sent within two seconds after each handover.
    signals: Sequence[int]
    #: Seconds for which a real-time flow was without what it had asked for, at most.
    gap_s: float
    #: Packets per second that all greedy TCP flows together get, on UMTS without the guard.
    greedy: float


def reduced(result: Result) -> Crowd:
    """Reduces a run."""
    packets = Packets(result.packets)
    flows = {name: _observed(result, packets, name) for name in OBSERVED}
    signal = packets.where("event", "sent")
    for kind in CARRIES:
        signal &= ~packets.where("kind", kind)
    at = np.sort(packets.time_s[signal])
    signals = [int(np.diff(np.searchsorted(at, [t, t + SIGNALS_WITHIN]))[0]) for t in HANDOVERS]
    return Crowd(flows["voice"], flows["video"], signals, gap_s(result.state), _greedy(packets))


def longest_delay(result: Result, begin: float) -> float:
    """The longest delay of a voice frame that was made from ``begin`` on; infinite if one was dropped."""
    voice = _observed(result, Packets(result.packets), "voice")
    assert voice.units is not None
    if voice.dropped(begin, result.simulated_s):
        return float("inf")
    return float(voice.units.delays(begin, result.simulated_s).max())


def _greedy(packets: Packets) -> float:
    """What the TCP flows get on UMTS."""
    begin, end = HANDOVERS[0] + GUARD, HANDOVERS[1]
    here = packets.where("event", "received") & packets.where("place", "mobile") & packets.where("kind", "data")
    here &= (packets.time_s >= begin) & (packets.time_s < end)
    mine = np.zeros_like(here)
    for name in GREEDY:
        mine |= packets.where("flow", name)
    return float((here & mine).sum()) / (end - begin)


def _observed(result: Result, packets: Packets, name: str) -> Trace:
    """One of the flows, with its frames."""
    one = trace(result, name)
    made = frames(round(one.start_s, 6), result.seed)[name]
    here = packets.where("flow", name) & packets.where("kind", "data")
    here &= packets.where("event", "received") & packets.where("place", "mobile")
    seq = packets.column("seq")[here]
    transport = _transport(result, name)
    if transport.startswith("tcp"):
        # The first number is the SYN's.
        size = packets.column("payload_bytes")[here]
        units = from_stream(made, seq - 1, size, one.received_s, EVERY[name])
    elif transport.startswith("tfrc"):
        # What has waited too long is not sent; what is sent is numbered.
        sent = packets.where("flow", name) & packets.where("kind", "data") & packets.where("event", "sent")
        place = sent_places(made.made_s, packets.time_s[sent], TFRC_BUFFER)
        assert (made.sizes[place] == packets.column("payload_bytes")[sent]).all(), "what is sent is what was made"
        units = from_datagrams(made, place[seq], one.received_s, EVERY[name])
    else:
        units = from_datagrams(made, seq, one.received_s, EVERY[name])
    return replace(one, units=units)


def _transport(result: Result, flow: str) -> str:
    names = result.flows["flow"].tolist()
    return str(result.flows["transport"][names.index(flow)])


def gap_s(state: Table) -> float:
    """The longest time for which a flow was without the service that it had."""
    return max((row["value"] for row in state.rows() if row["quantity"] in INTERRUPTIONS), default=0.0) / 1e3
