"""The way of each packet, hop by hop, from what was recorded of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.view.passages import Passage, passages

if TYPE_CHECKING:
    import numpy as np

    from lasthop.results import Table

    Array = np.ndarray[Any, Any]

__all__ = ["Legs", "legs"]

#: Drops that are none: the packet had no receiver.
NO_LOSS = {"no_members"}

#: Parts of the time in each of which the shortest passage of a hop is looked for: links may change.
PARTS = 100
#: Where even the shortest passage takes this many times that of the run, a queue stands.
QUEUED = 4.0


@dataclass(frozen=True)
class Legs:
    """Packets on their hops, in the order of the times at which they left a node."""

    #: The nodes, and the hops as pairs of places among them.
    nodes: Sequence[str]
    hops: Sequence[tuple[int, int]]
    flows: Sequence[str]
    #: When each left the node, and when it came to the next or was dropped.
    left: Array
    came: Array
    #: How long it flew: what its link takes; or the shortest passage of the hop about that time, or that of the run if
    #: a queue stood all that time. Before it, it waited.
    flight: Array
    #: The hop and the flow by place, whether it was dropped, and whether it carries data.
    hop: Array
    flow: Array
    dropped: Array
    data: Array


def legs(
    packets: Table,
    links: Sequence[tuple[str, str]],
    begin: float,
    end: float,
    most: int,
    series: Table | None = None,
    flows: Sequence[str] = (),
) -> Legs:
    """The hops on which packets were from ``begin`` to ``end``, at most ``most``; ``links`` are known neighbours.

    A packet goes from the node that sent it or sent it on to the next that got it. Copies of one packet to a group go
    from the latest node before that is a neighbour. ``series`` says what delay and rate links have. ``flows`` come
    first among those found, so that a flow keeps its place whatever part of the run is looked at.
    """
    import numpy as np

    found: dict[str, list[Any]] = {name: [] for name in ("left", "came", "hop", "flow", "dropped", "data", "size")}
    nodes: dict[str, int] = {}
    hops: dict[tuple[int, int], int] = {}
    places = {flow: place for place, flow in enumerate(dict.fromkeys(flows))}
    near = {frozenset(link) for link in links}
    shortest: dict[tuple[str, str], float] = {}
    for left, came, one, other, flow, dropped, data, size in _each(packets, near):
        if not dropped:
            shortest[one, other] = min(came - left, shortest.get((one, other), came - left))
        # What had left before the begin may wait or fly at it.
        if left > end or came < begin:
            continue
        if len(found["left"]) == most:
            break
        pair = (nodes.setdefault(one, len(nodes)), nodes.setdefault(other, len(nodes)))
        values = (
            left,
            came,
            hops.setdefault(pair, len(hops)),
            places.setdefault(flow, len(places)),
            dropped,
            data,
            size,
        )
        for column, value in zip(found.values(), values, strict=True):
            column.append(value)
    columns = {name: np.array(values) for name, values in found.items()}
    order = np.argsort(columns["left"], kind="stable") if len(columns["left"]) else np.zeros(0, int)
    columns = {name: values[order] for name, values in columns.items()}
    names = [*nodes]
    known = passages(series, [(names[one], names[other]) for one, other in hops]) if series else {}
    least = [shortest.get((names[one], names[other]), 0.0) for one, other in hops]
    flight = _flights(columns, known, least, columns.pop("size"), begin, end)
    return Legs(names, [*hops], [*places], flight=flight, **columns)


def _each(packets: Table, near: set[frozenset[str]]) -> Iterator[tuple[float, float, str, str, str, bool, bool, int]]:
    """Each hop: its begin and end, its nodes, the flow, whether it was dropped, whether it carried data, its bytes."""
    columns = ("time_s", "event", "place", "flow", "size_bytes", "connection", "kind", "seq", "ack", "number", "cause")
    known = {place for place, event in zip(packets["place"].tolist(), packets["event"].tolist(), strict=True)
             if event in ("sent", "received", "forwarded")}  # fmt: skip
    at: dict[tuple[Any, ...], dict[str, float]] = {}
    for time, event, place, flow, size, *which in zip(*(packets[name].tolist() for name in columns), strict=True):
        connection, kind, seq, ack, number, cause = which
        key = (flow, connection, kind, seq, None if ack != ack else ack, number)
        if event == "sent":
            at[key] = {place: time}
            continue
        there = at.get(key)
        if there is None or event == "marked" or cause in NO_LOSS:
            continue
        to = place if event != "dropped" else _beyond(place)
        before = [node for node in there if node != to]
        if event == "dropped" and to not in known:
            # At a place that leads to no node by name: it is drawn at the node itself.
            node = next(reversed(there))
            yield there[node], time, node, node, flow, True, kind == "data", size
        elif before:
            beside = [node for node in before if frozenset((node, to)) in near]
            node = (beside or before)[-1]
            if not beside:
                near.add(frozenset((node, to)))
            if event == "dropped" or to not in there:
                yield there[node], time, node, to, flow, event == "dropped", kind == "data", size
        if event == "forwarded":
            there.setdefault(place, time)


def _beyond(place: str) -> str:
    """Where a packet would have come that was dropped at ``place``: a direction of a link, or a terminal's bearer."""
    link, _, way = place.rpartition(" ")
    if ">" in way:
        return way.partition(">")[2]
    if ">" in place:
        return place.rpartition(">")[2]
    return link if way == "down" else place


def _flights(
    columns: dict[str, Array],
    known: Mapping[int, Passage],
    shortest: Sequence[float],
    size: Array,
    begin: float,
    end: float,
) -> Array:
    """How long each packet flew."""
    import numpy as np

    took = columns["came"] - columns["left"]
    part = np.clip(((columns["came"] - begin) / max(end - begin, 1e-9) * PARTS).astype(int), 0, PARTS - 1)
    flight = took.copy()
    for hop in np.unique(columns["hop"]):
        here = columns["hop"] == hop
        if int(hop) in known:
            flight[here] = np.minimum(took[here], known[hop].took(columns["came"][here], size[here]))
            continue
        mine = (columns["hop"] == hop) & ~columns["dropped"].astype(bool)
        if not mine.any():
            continue
        least = np.full(PARTS, np.inf)
        np.minimum.at(least, part[mine], took[mine])
        # A part may have none, or only such as waited.
        around = np.minimum(least, np.minimum(np.append(least[1:], np.inf), np.append(np.inf, least[:-1])))
        around[np.isinf(around)] = took[mine].min()
        around[around > QUEUED * shortest[hop]] = shortest[hop]
        flight[here] = np.minimum(took[here], around[part[here]])
    return flight
