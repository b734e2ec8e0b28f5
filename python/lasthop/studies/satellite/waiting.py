"""How long a layer takes to flow: after a release by the controller, and after a join (L22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lasthop.studies.satellite.network import CONTROLLED, MULTICAST

if TYPE_CHECKING:
    from lasthop.results import Result

__all__ = ["waits"]


def waits(result: Result) -> Mapping[str, float]:
    """Mean times in ms until the first packet of a layer is received: from its release, and from a join.

    A release lies between the last packet that was blocked and the next one, and is taken in the middle. A join is of a
    layer that is open.
    """
    packets, changes = result.packets, result.changes
    columns = {name: packets[name] for name in ("time_s", "event", "place", "flow", "connection", "cause", "seq")}
    data = np.char.startswith(columns["flow"].astype(str), MULTICAST)
    releases, joins = [], []
    for flow in np.unique(columns["flow"][data]):
        mine = columns["flow"] == flow
        joined = _joins(changes, str(flow))
        for layer in np.unique(columns["connection"][mine]):
            of_layer = mine & (columns["connection"] == layer)
            blocked = of_layer & (columns["place"] == CONTROLLED) & (columns["cause"] == "blocked")
            received = of_layer & (columns["event"] == "received")
            came = dict(zip(columns["seq"][received].tolist(), columns["time_s"][received].tolist(), strict=True))
            stopped = dict(zip(columns["seq"][blocked].tolist(), columns["time_s"][blocked].tolist(), strict=True))
            gap = _gap(columns["time_s"][of_layer & (columns["event"] == "sent")])
            releases += [came[seq + 1] - time - gap / 2 for seq, time in stopped.items() if seq + 1 in came]
            times = np.array(sorted(came.values()))
            blocks = np.array(sorted(stopped.values()))
            for time in joined.get(int(layer), []):
                later = times[times > time]
                # A join of a layer that is blocked, or of one that still flows, says nothing of grafting.
                flows = len(times[(times > time - 1) & (times <= time)]) > 0
                if len(later) and not flows and not ((blocks > time) & (blocks < later[0])).any():
                    joins.append(float(later[0]) - time)
    return {
        "release_ms": 1e3 * float(np.mean(releases)) if releases else float("nan"),
        "releases": float(len(releases)),
        "join_ms": 1e3 * float(np.mean(joins)) if joins else float("nan"),
        "joins": float(len(joins)),
    }


def _gap(times: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The time between two packets of a layer."""
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


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
