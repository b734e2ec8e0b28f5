"""How long a layer takes to flow: after a release by the controller, and after a join (L22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..network import CONTROLLED, MULTICAST

if TYPE_CHECKING:
    from lasthop.results import Result


def waits(result: Result) -> Mapping[str, float]:
    """Mean times in ms from a layer's release and from its join, to its first packet: received, and at the gateway.

    A release lies between the last packet that was blocked and the next one, and is taken in the middle. A join is of a
    layer that is open. The way to the gateway takes as long as that of packets that were blocked there.
    """
    packets, changes = result.packets, result.changes
    columns = {name: packets[name] for name in ("time_s", "event", "place", "flow", "connection", "cause", "seq")}
    data = np.char.startswith(columns["flow"].astype(str), MULTICAST)
    layers: dict[tuple[str, int], dict[str, dict[int, float]]] = {}
    for flow in np.unique(columns["flow"][data]):
        mine = columns["flow"] == flow
        for layer in np.unique(columns["connection"][mine]):
            of_layer = mine & (columns["connection"] == layer)
            layers[str(flow), int(layer)] = {
                "sent": _when(columns, of_layer & (columns["event"] == "sent")),
                "blocked": _when(
                    columns, of_layer & (columns["place"] == CONTROLLED) & (columns["cause"] == "blocked")
                ),
                "came": _when(columns, of_layer & (columns["event"] == "received")),
            }
    ways = [time - seen["sent"][seq] for seen in layers.values() for seq, time in seen["blocked"].items()]
    way = float(np.median(ways)) if ways else float("nan")
    times: dict[str, list[float]] = {
        name: [] for name in ("release_ms", "release_ms_at_gateway", "join_ms", "join_ms_at_gateway")
    }
    joined = {flow: _joins(changes, flow) for flow, _ in layers}
    for (flow, layer), seen in layers.items():
        for seq, stopped in seen["blocked"].items():
            if seq + 1 in seen["came"]:
                wait = (seen["sent"][seq + 1] + way - stopped) / 2
                times["release_ms_at_gateway"].append(wait)
                times["release_ms"].append(seen["came"][seq + 1] - stopped - wait)
        for join in joined[flow].get(layer, []):
            first = _first_after(join, seen)
            if first is not None:
                times["join_ms_at_gateway"].append(seen["sent"][first] + way - join)
                times["join_ms"].append(seen["came"][first] - join)
    means = {name: 1e3 * float(np.mean(one)) if one else float("nan") for name, one in times.items()}
    return {**means, "releases": float(len(times["release_ms"])), "joins": float(len(times["join_ms"]))}


def _when(columns: Mapping[str, Any], here: Any) -> dict[int, float]:
    """The times of these packets by their numbers."""
    return dict(zip(columns["seq"][here].tolist(), columns["time_s"][here].tolist(), strict=True))


def _first_after(join: float, seen: Mapping[str, Mapping[int, float]]) -> int | None:
    """The first packet that came after a join of a layer that is open and did not flow."""
    came = seen["came"]
    # A join of one that still flows says nothing of grafting.
    if any(join - 1 < time <= join for time in came.values()):
        return None
    first = min((seq for seq, time in came.items() if time > join), default=None)
    if first is None or any(join < time < came[first] for time in seen["blocked"].values()):
        return None
    return first


def _joins(changes: object, flow: str) -> dict[int, list[float]]:
    """When the receiver of a session joined each layer."""
    from lasthop.results import Table

    assert isinstance(changes, Table)
    here = (changes["flow"] == flow) & (changes["variable"] == "layers")
    made: dict[int, list[float]] = {}
    level = 0
    for time, value in zip(changes["time_s"][here].tolist(), changes["value"][here].tolist(), strict=True):
        for layer in range(level + 1, int(value) + 1):
            made.setdefault(layer, []).append(time)
        level = int(value)
    return made
