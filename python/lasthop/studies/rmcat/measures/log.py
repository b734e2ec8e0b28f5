"""The packet log of a run, flow by flow (RFC 8868 §3.1), and the queue of the bottleneck by what crossed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..network.cases import CASES, Case
from ..network.controllers import CONTROLLERS
from ..network.path import AUDIO, CBR, HOP_MS, VIDEO

if TYPE_CHECKING:
    from lasthop.results import Result, Table
    from lasthop.studies.grid import Array

__all__ = ["BIN_S", "SAMPLED_S", "Flow", "Log", "binned", "case_of", "queue", "read"]

#: Rates are counted over this time (RFC 8868 §3: send, receive rate and goodput).
BIN_S = 0.2

#: The queue is looked at after each such time, which is no part of the time between two frames.
SAMPLED_S = 0.007

#: RTP's header (RFC 3550 §5.1), which the rates of media count (RFC 8867 §4.3).
RTP_BYTES = 12

#: What is sent forward. All else of a flow is feedback.
DATA = "data"


@dataclass(frozen=True)
class Flow:
    """What a flow sent and received; sizes are those on the wire."""

    sent_s: Array
    sent_bytes: Array
    received_s: Array
    received_bytes: Array
    #: One-way delay of each packet that was received.
    delay_ms: Array
    #: RTP packets with their header; over TCP and TFRC what the encoder wrote.
    media_bytes: Array
    #: When packets came to the bottleneck, and how long each of them kept it from then on: its waiting and its
    #: transmission.
    came_s: Array
    kept_ms: Array
    dropped: int
    #: Bytes of reports and acknowledgements on the wire.
    feedback_bytes: float


#: A flow that sent nothing.
NOTHING = Flow(*(np.zeros(0),) * 8, 0, 0.0)


@dataclass(frozen=True)
class Log:
    """A run of a case."""

    case: Case
    videos: tuple[Flow, ...]
    audios: tuple[Flow, ...]
    others: tuple[Flow, ...]
    #: The queue of the bottleneck at equal intervals: how long a packet that came then would wait.
    queue_ms: Array


def case_of(name: str) -> tuple[Case, str]:
    """The case and the controller of a run, by the name of its scenario."""
    case, _, controller = name.rpartition(" ")
    return CASES[case], controller


def read(result: Result) -> Log:
    """Takes a run apart."""
    case, controller = case_of(result.name)
    header = RTP_BYTES if "media" in CONTROLLERS[controller].transport(1.0) else 0
    flows = _flows(result.packets, case, header)
    count = range(len(case.media))
    return Log(
        case,
        tuple(flows.get(f"{VIDEO} {n}", NOTHING) for n in count),
        tuple(flows.get(f"{AUDIO} {n}", NOTHING) for n in count),
        tuple(flow for name, flow in flows.items() if not name.startswith((VIDEO, AUDIO, CBR))),
        queue(list(flows.values()), case.seconds),
    )


def queue(flows: Sequence[Flow], seconds: float) -> Array:
    """How long a packet would wait that came to the bottleneck at instants of equal distance.

    A packet keeps it for its waiting and its transmission from when it comes; with FIFO the last one that came is
    the last to go.
    """
    came = np.concatenate([one.came_s for one in flows])
    if not len(came):
        return np.zeros(0)
    kept = np.concatenate([one.kept_ms for one in flows])
    order = np.argsort(came, kind="stable")
    at = np.arange(0.0, seconds, SAMPLED_S)
    last = np.searchsorted(came[order], at, "right") - 1
    left = kept[order][np.maximum(last, 0)] - 1e3 * (at - came[order][np.maximum(last, 0)])
    made: Array = np.where(last >= 0, np.maximum(left, 0.0), 0.0)
    return made


def _flows(table: Table, case: Case, header: int) -> dict[str, Flow]:
    """The packets of each flow; ``header`` is that of RTP."""
    arrow = table.to_arrow().combine_chunks()

    def coded(column: str) -> tuple[Any, dict[str, int]]:
        chunk = arrow.column(column).chunk(0)
        return chunk.indices.to_numpy(zero_copy_only=False), {
            word: n for n, word in enumerate(chunk.dictionary.to_pylist())
        }

    flow, names = coded("flow")
    event, events = coded("event")
    kind, kinds = coded("kind")
    place, places = coded("place")
    time, number, size, payload, connection = (
        arrow.column(name).to_numpy() for name in ("time_s", "number", "size_bytes", "payload_bytes", "connection")
    )
    # A flow may open several connections, and each numbers its packets anew.
    key = (connection.astype(np.int64) << 32) + number.astype(np.int64)
    order = np.argsort(flow, kind="stable")
    bounds = np.searchsorted(flow[order], np.arange(len(names) + 1))
    made = {}
    for name, n in names.items():
        mine = order[bounds[n] : bounds[n + 1]]
        data = kind[mine] == kinds.get(DATA, -1)

        def of(word: str, rows: Any = mine, wanted: Any = data) -> Any:
            return rows[wanted & (event[rows] == events.get(word, -1))]

        out, here, forwarded = of("sent"), of("received"), of("forwarded")
        ahead = forwarded[place[forwarded] == places.get(case.watched[0], -1)]
        after = forwarded[place[forwarded] == places.get(case.watched[1], -1)] if case.chain else here
        back = mine[~data & (event[mine] == events.get("sent", -1))]
        came = _matched(key, ahead, here, time)
        left = _matched(key, after, here, time)
        # Where the far end of the bottleneck is the receiver itself, packets leave the bottleneck there.
        left = np.where(np.isnan(left), time[here], left)
        across = np.isfinite(came)
        made[name] = Flow(
            time[out],
            size[out].astype(float),
            time[here],
            size[here].astype(float),
            1e3 * (time[here] - _matched(key, out, here, time)),
            payload[here] + float(header),
            came[across],
            1e3 * (left - came)[across] - HOP_MS,
            len(of("dropped")),
            float(size[back].sum()),
        )
    return made


def _matched(key: Array, at: Any, rows: Any, time: Array) -> Array:
    """When the packets of ``rows`` had the events ``at``; not a number where they had not."""
    made = np.full(len(rows), np.nan)
    if len(at):
        order = at[np.argsort(key[at], kind="stable")]
        found = np.minimum(np.searchsorted(key[order], key[rows]), len(order) - 1)
        same = key[order[found]] == key[rows]
        made[same] = time[order[found[same]]]
    return made


def binned(times: Array, sizes: Array, seconds: float, width: float = BIN_S) -> Array:
    """Rates in kbit/s over times of equal length."""
    count = round(seconds / width)
    total = np.bincount((times / width).astype(int), weights=sizes, minlength=count)[:count]
    made: Array = np.asarray(total * 8e-3 / width, dtype=np.float64)
    return made
