"""Frames of voice and video: when they were made, and when all of each had arrived."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lasthop.runs import run

from ..scenario import base
from . import Array, Units
from .trace import Packets

#: Seconds between frames of the inelastic sources, and the packets of each frame.
EVERY = {"voice": 0.02, "video": 0.1, "other": 1 / 12}
PACKETS = {"voice": 1, "video": 8, "other": 1}


@dataclass(frozen=True)
class Frames:
    """What a source made."""

    #: When each packet was made, and its payload.
    made_s: Array
    sizes: NDArray[np.int64]
    #: When the last packet of each frame was made.
    created_s: Array
    #: How many packets, and bytes of payload, had been made by then.
    packets: NDArray[np.int64]
    bytes: NDArray[np.int64]


@cache
def frames(start_s: float, seed: int) -> Mapping[str, Frames]:
    """What the sources of the crowd make when they start then, with this seed.

    Whatever carries them draws from the same streams, so it is read off a run over an empty path.
    """
    crowd = base("crowd")
    flows = [flow for flow in crowd["flow"] if flow["name"] in EVERY]
    links = [{**link, "rate": "100 Mbit/s"} for link in crowd["link"]]
    alone = crowd.with_(
        link=links,
        flow=[
            {**flow, "start": f"{round(start_s * 1e9)} ns", "transport": {"udp": {"header": "0 B"}}} for flow in flows
        ],
        change=[],
        record={"packets": True},
    )
    packets = Packets(run(alone, seed=seed).packets)
    sent = packets.where("event", "sent")
    sizes = packets.column("size_bytes")
    made = {}
    for name, each in PACKETS.items():
        mine = sent & packets.where("flow", name)
        whole = mine.sum() // each * each
        times, total = packets.time_s[mine][:whole], np.cumsum(sizes[mine][:whole])
        every = packets.time_s[mine], sizes[mine]
        made[name] = Frames(*every, times[each - 1 :: each], np.arange(each, whole + 1, each), total[each - 1 :: each])
    return made


def from_datagrams(made: Frames, place: NDArray[np.int64], arrived_s: Array, every_s: float) -> Units:
    """Frames of which the packets at these places of the source's order, from 0, arrived at these times."""
    count = int(made.packets[-1]) if len(made.packets) else 0
    first = np.full(count, np.inf)
    known = place < count
    # The first copy counts.
    np.minimum.at(first, place[known], arrived_s[known])
    each = int(made.packets[0]) if len(made.packets) else 1
    return Units(made.created_s, first.reshape(-1, each).max(axis=1), every_s)


def from_stream(
    made: Frames, seq: NDArray[np.int64], size: NDArray[np.int64], arrived_s: Array, every_s: float
) -> Units:
    """Frames carried by a stream of bytes: each arrives when all bytes up to its end have."""
    times, total = in_order(seq, size, arrived_s)
    place = np.searchsorted(total, made.bytes)
    late = place >= len(times)
    arrived = np.where(late, np.inf, times[np.minimum(place, len(times) - 1)] if len(times) else np.inf)
    return Units(made.created_s, arrived, every_s)


def in_order(seq: NDArray[np.int64], size: NDArray[np.int64], arrived_s: Array) -> tuple[Array, NDArray[np.int64]]:
    """When how many bytes had arrived without a hole; both rise."""
    waiting: dict[int, int] = {}
    frontier = 0
    times, totals = [], []
    for first, length, at in zip(seq.tolist(), size.tolist(), arrived_s.tolist(), strict=True):
        if first > frontier:
            waiting[first] = max(waiting.get(first, 0), length)
            continue
        before, frontier = frontier, max(frontier, first + length)
        while reached := [begin for begin in waiting if begin <= frontier]:
            for begin in reached:
                frontier = max(frontier, begin + waiting.pop(begin))
        if frontier > before:
            times.append(at)
            totals.append(frontier)
    return np.array(times), np.array(totals, dtype=np.int64)


def sent_places(made_s: Array, sent_s: Array, most: int) -> NDArray[np.int64]:
    """Which of the source's packets each sending took, where so many wait and the oldest makes room for a new one."""
    waiting: deque[int] = deque()
    places = []
    written = 0
    for at in sent_s.tolist():
        while written < len(made_s) and made_s[written] <= at:
            waiting.append(written)
            written += 1
            if len(waiting) > most:
                waiting.popleft()
        places.append(waiting.popleft())
    return np.array(places, dtype=np.int64)
