"""What runs in which every packet is recorded tell of losses: what was sent before the first, and whether they come "
"in bursts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scenario import LARGE, WARM_UP
from .transfers import CENTRE

if TYPE_CHECKING:
    from lasthop.results import Result, Table

    Array = np.ndarray[Any, Any]


#: The size of which the paper says what sees its first loss earlier.
SIZE = LARGE[0]

#: The round trip of the empty path: twice 75 ms and one slot. Losses of packets sent in one belong together.
ROUND_TRIP_S = 0.152

#: How often the same losses are put at random places.
DRAWS = 20


def kept(result: Result) -> Mapping[str, float]:
    """Of the centre cell's transfers: packets before the first loss, and losses of the two largest sizes in events."""
    of = result.bearers
    inside = {name for name, cell in zip(of["bearer"], of["cell"], strict=True) if cell == CENTRE}
    flows = {flow for flow, to in zip(result.flows["flow"], result.flows["to"], strict=True) if f"{to} down" in inside}
    table = result.transfers
    sizes = {
        (str(flow), int(number)): int(size)
        for flow, number, size, start in zip(
            *(table[name] for name in ("flow", "transfer", "bytes", "start_s")), strict=True
        )
        if flow in flows and size in LARGE and start >= WARM_UP
    }
    sent = packets_of(result.packets, set(sizes))
    before = [int(np.argmax(lost)) for which, (_, lost) in sent.items() if sizes[which] == SIZE and lost.any()]
    lossy = [one for one in sent.values() if one[1].any()]
    random = np.random.default_rng(0)
    return {
        "before_first_loss": float(np.mean(before)) if before else float("nan"),
        "with_losses": float(len(before)),
        "transfers": float(sum(size == SIZE for size in sizes.values())),
        "lost": float(sum(lost.sum() for _, lost in lossy)),
        "events": float(sum(events(times[lost]) for times, lost in lossy)),
        "events_apart": float(sum(events_apart(times, int(lost.sum()), random) for times, lost in lossy)),
    }


def packets_of(packets: Table, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], tuple[Array, Array]]:
    """Of each of these connections, in the order of sending: when data packets were sent, and which of them were "
    "dropped."""
    here = np.isin(packets["event"], ("sent", "dropped")) & (packets["payload_bytes"] > 0)
    here &= np.isin(packets["flow"], sorted({flow for flow, _ in wanted}))
    columns = ("event", "flow", "connection", "time_s", "number")
    event, flow, connection, time, number = (packets[name][here] for name in columns)
    dropped = event == "dropped"
    made = {}
    for name, which in sorted(wanted):
        mine = (flow == name) & (connection == which)
        sent = mine & ~dropped
        made[name, which] = time[sent].astype(float), np.isin(number[sent], number[mine & dropped])
    return made


def events(times: Array) -> int:
    """How many loss events losses of packets sent at these times make: one takes all within a round trip (RFC 3448 "
    "§5.2)."""
    count, began = 0, -np.inf
    for time in times:
        if time > began + ROUND_TRIP_S:
            count, began = count + 1, time
    return count


def events_apart(times: Array, lost: int, random: np.random.Generator) -> float:
    """How many on average, if as many of the packets are lost independently of each other."""
    draws = (np.sort(random.choice(len(times), lost, replace=False)) for _ in range(DRAWS))
    return float(np.mean([events(times[draw]) for draw in draws]))
