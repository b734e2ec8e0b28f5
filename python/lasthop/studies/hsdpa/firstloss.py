"""How many packets a transfer sends before its first loss, from runs in which every packet is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.studies.hsdpa.scenario import LARGE, WARM_UP
from lasthop.studies.hsdpa.transfers import CENTRE

if TYPE_CHECKING:
    from lasthop.results import Result, Table

    Array = np.ndarray[Any, Any]

__all__ = ["SIZE", "before_first_loss", "kept"]

#: The size that the paper speaks of.
SIZE = LARGE[0]


def kept(result: Result) -> Mapping[str, float]:
    """The mean over the centre cell's transfers of this size, and how many of them lost anything."""
    of = result.bearers
    inside = {name for name, cell in zip(of["bearer"], of["cell"], strict=True) if cell == CENTRE}
    flows = {flow for flow, to in zip(result.flows["flow"], result.flows["to"], strict=True) if f"{to} down" in inside}
    table = result.transfers
    wanted = {
        (str(flow), int(number))
        for flow, number, size, start in zip(
            table["flow"], table["transfer"], table["bytes"], table["start_s"], strict=True
        )
        if flow in flows and size == SIZE and start >= WARM_UP
    }
    counts = before_first_loss(result.packets, wanted)
    return {
        "before_first_loss": float(np.mean(counts)) if counts else float("nan"),
        "with_losses": float(len(counts)),
        "transfers": float(len(wanted)),
    }


def before_first_loss(packets: Table, wanted: set[tuple[str, int]]) -> list[int]:
    """Data packets that each of these connections sent before its first one was dropped; none if none was."""
    here = np.isin(packets["event"], ("sent", "dropped")) & (packets["payload_bytes"] > 0)
    here &= np.isin(packets["flow"], sorted({flow for flow, _ in wanted}))
    event, flow, connection, time = (packets[name][here] for name in ("event", "flow", "connection", "time_s"))
    counts = []
    for name, number in sorted(wanted):
        mine = (flow == name) & (connection == number)
        dropped = time[mine & (event == "dropped")]
        if len(dropped):
            counts.append(int((time[mine & (event == "sent")] < dropped.min()).sum()))
    return counts
