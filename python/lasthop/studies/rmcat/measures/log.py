"""The packet log of a run, flow by flow (RFC 8868 §3.1), and the queue of the link that is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.studies.series import Series

from ..network.cases import CASES, Case
from ..network.controllers import CONTROLLERS
from ..network.path import AUDIO, VIDEO, watched

if TYPE_CHECKING:
    from lasthop.results import Result, Table
    from lasthop.studies.grid import Array

__all__ = ["BIN_S", "Flow", "Log", "binned", "case_of", "read"]

#: Rates are counted over this time (RFC 8868 §3: send, receive rate and goodput).
BIN_S = 0.2

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
    dropped: int
    #: Bytes of reports and acknowledgements on the wire.
    feedback_bytes: float


@dataclass(frozen=True)
class Log:
    """A run of a case."""

    case: Case
    videos: tuple[Flow, ...]
    audios: tuple[Flow, ...]
    others: tuple[Flow, ...]
    #: Samples of the queue, and what it holds in time at the capacity.
    queue_s: Array
    queue_ms: Array
    #: kbit/s that each direction of a chain of links carried, by its name.
    carried: dict[str, Array]


def case_of(name: str) -> tuple[Case, str]:
    """The case and the controller of a run, by the name of its scenario."""
    case, _, controller = name.rpartition(" ")
    return CASES[case], controller


def read(result: Result) -> Log:
    """Takes a run apart."""
    case, controller = case_of(result.name)
    header = RTP_BYTES if "media" in CONTROLLERS[controller].transport(1.0) else 0
    flows = _flows(result.packets, header)
    empty = _empty()
    series = Series(result.series)
    name = watched(case)
    times, backlog = series.of(name, "queue_bytes")
    rate = series.on(name, "rate_bps", times)
    count = range(len(case.media))
    return Log(
        case,
        tuple(flows.get(f"{VIDEO} {n}", empty) for n in count),
        tuple(flows.get(f"{AUDIO} {n}", empty) for n in count),
        tuple(flow for name, flow in flows.items() if not name.startswith((VIDEO, AUDIO, "CBR"))),
        times,
        8e3 * backlog / rate,
        {f"{a}-{b}": series.of(f"{a}-{b} {a}>{b}", "throughput_kbps")[1] for a, b in case.chain},
    )


def _empty() -> Flow:
    none = np.zeros(0)
    return Flow(none, none, none, none, none, none, 0, 0.0)


def _flows(table: Table, header: int) -> dict[str, Flow]:
    """The packets of each flow; ``header`` is that of RTP."""
    arrow = table.to_arrow().combine_chunks()

    def coded(column: str) -> tuple[Any, list[str]]:
        chunk = arrow.column(column).chunk(0)
        return chunk.indices.to_numpy(zero_copy_only=False), chunk.dictionary.to_pylist()

    flow, names = coded("flow")
    event, events = coded("event")
    kind, kinds = coded("kind")
    time, number, size, payload, connection = (
        arrow.column(name).to_numpy() for name in ("time_s", "number", "size_bytes", "payload_bytes", "connection")
    )
    data = kind == (kinds.index(DATA) if DATA in kinds else -1)
    place = {name: n for n, name in enumerate(events)}
    sent, received, dropped = (event == place.get(name, -1) for name in ("sent", "received", "dropped"))
    made = {}
    for n, name in enumerate(names):
        mine = flow == n
        out, here = np.flatnonzero(mine & sent & data), np.flatnonzero(mine & received & data)
        # A flow may open several connections, and each numbers its packets anew.
        keys = [(connection[rows].astype(np.int64) << 32) + number[rows].astype(np.int64) for rows in (out, here)]
        order = np.argsort(keys[0], kind="stable")
        at = order[np.searchsorted(keys[0][order], keys[1])] if len(out) else np.zeros(0, dtype=int)
        made[name] = Flow(
            time[out], size[out].astype(float), time[here], size[here].astype(float),
            1e3 * (time[here] - time[out][at]), payload[here] + float(header), int((mine & dropped & data).sum()),
            float(size[mine & sent & ~data].sum()),
        )  # fmt: skip
    return made


def binned(times: Array, sizes: Array, seconds: float, width: float = BIN_S) -> Array:
    """Rates in kbit/s over times of equal length."""
    count = round(seconds / width)
    made: Array = np.bincount((times / width).astype(int), weights=sizes, minlength=count)[:count] * 8e-3 / width
    return made
