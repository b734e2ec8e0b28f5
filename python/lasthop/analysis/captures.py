"""Connections from a capture (pcapng or pcap) that a run or a live run wrote, that was cut out of one, or that
tcpdump took on a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.analysis.traces import Segments, Trace
from lasthop.results import plain

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Array = np.ndarray[Any, Any]

__all__ = ["traces"]


def traces(path: Path, flows: Sequence[str] | None) -> tuple[list[Trace], float, bool]:
    """The connections in a capture, as the senders of the data saw them, when its last segment passed, and whether it
    says which packets were sent where they were captured.

    A flow is called by its ends, each with its port, as in ``server:40000>10.0.0.0:40000``. An end is
    the name of its interface where it was captured, and an address elsewhere. Data that went both ways
    are two flows. One whose sender was not captured is left out, unless it is asked for. Where no packet
    says whether it was sent, all data count as sent where they were captured, as tcptrace has it.
    """
    capture = _Capture(path)
    known: dict[str, tuple[int, int]] = {}
    for one, other in capture.pairs():
        # Those of IPv4 and of IPv6 may have the same names and ports, and an interface that of another host's address.
        names = [f"{ends[one]}>{ends[other]}" for ends in (capture.names, capture.addresses)]
        others = (f"{names[0]} ({number})" for number in count(2))
        known[next(name for name in chain(names, others) if name not in known)] = one, other
    for flow in flows or ():
        if flow not in known:
            raise ValueError(f"there is no flow {flow!r}; known: {', '.join(known)}")
    chosen = [flow for flow in known if flows is None or flow in flows]
    made = {flow: _traces(capture, flow, *known[flow]) for flow in chosen}
    tells = all(capture.tells(capture.between(*known[flow])) for flow in chosen)
    for flow, several in made.items():
        if not several and (flows is not None or not any(made.values())):
            raise ValueError(f"nothing was captured where the data of {flow} are sent, only where they arrive")
    end_s = float(capture.time[-1]) if len(capture.time) else 0.0
    return [trace for several in made.values() for trace in several], end_s, tells


class _Capture:
    """The segments of a capture, by columns."""

    def __init__(self, path: Path) -> None:
        import numpy as np
        import pyarrow as pa

        table = pa.RecordBatchReader.from_stream(_core.segments(path)).read_all()
        directions, direction = _coded(table.column("direction"))
        if "" in directions:
            said = direction != directions.index("")
            _, at = _coded(table.column("interface"))
            # A live run's capture has places in the network too, at which packets were dropped or marked.
            here = np.isin(at, at[said])
            if not said[here].all():
                told = "some packets say whether they were sent or received, and others at the same place do not"
                raise ValueError(f"{path}: {told}")
            if here.any():
                table, direction = table.filter(pa.array(here)), direction[here]
        #: Whether packets were sent, or received, where they were captured; neither where the file does not say.
        self.out, self.came = (
            direction == (directions.index(way) if way in directions else -1) for way in ("out", "in")
        )
        interfaces, self.interface = _coded(table.column("interface"))
        sources, source = _coded(table.column("from"))
        targets, target = _coded(table.column("to"))
        ends = list(dict.fromkeys([*sources, *targets]))
        place = {end: number for number, end in enumerate(ends)}
        self.source = np.array([place[end] for end in sources], np.int64)[source]
        self.target = np.array([place[end] for end in targets], np.int64)[target]
        #: The address of each end, and its name, with its port.
        self.addresses = ends
        named: dict[str, str] = {}
        for number, interface in enumerate(interfaces):
            if interface.startswith("#"):  # it has no name
                continue
            sent = self.source[(self.interface == number) & self.out]
            for end in np.unique(sent):
                named.setdefault(ends[end].rpartition(":")[0], interface)
        self.names = [_renamed(end, named) for end in ends]
        self.time = plain(table.column("time_s"))
        self.seq, self.payload, self.syn, self.fin, self.rst = (
            plain(table.column(name)).astype(np.int64) for name in ("seq", "payload_bytes", "syn", "fin", "rst")
        )
        self.ack = np.nan_to_num(plain(table.column("ack")).astype(np.float64), nan=-1).astype(np.int64)

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of sender and receiver, in the order in which they began."""
        data = self.payload > 0
        pairs = zip(self.source[data].tolist(), self.target[data].tolist(), strict=True)
        return list(dict.fromkeys(pairs))

    def between(self, one: int, other: int) -> Array:
        """The rows of two ends, in either direction."""
        import numpy as np

        order, pairs = self._sorted
        low, high = np.searchsorted(pairs, [self._pair(one, other), self._pair(one, other) + 1])
        rows: Array = order[low:high]
        return rows

    def tells(self, rows: Array) -> bool:
        """Whether one knows of these, of two ends, which were sent where they were captured. Of a packet over a
        loopback device Linux captures the arrival alone."""
        two_ways = len(set(self.source[rows].tolist())) > 1
        return bool(self.out[rows].any() or (self.came[rows].any() and not two_ways))

    @cached_property
    def _sorted(self) -> tuple[Array, Array]:
        """The rows by the pairs of their ends, and these pairs."""
        import numpy as np

        pairs = self._pair(self.source, self.target)
        order = np.argsort(pairs, kind="stable")
        return order, pairs[order]

    def _pair(self, one: Any, other: Any) -> Any:
        """A number for two ends, whatever their order."""
        import numpy as np

        return np.minimum(one, other) * len(self.names) + np.maximum(one, other)


def _traces(capture: _Capture, flow: str, sender: int, receiver: int) -> list[Trace]:
    """The connections between two ends, for the data that one of them sent."""

    import numpy as np

    both = capture.between(sender, receiver)

    def forth(rows: Array) -> Array:
        """Which of these go to the receiver."""
        there: Array = capture.source[rows] == sender
        return there

    def seen(is_of: Array, elsewhere: int = -1) -> tuple[int, list[Array]]:
        """The interface that the first data of these packets passed, not ``elsewhere``, and the connections there."""
        places = capture.interface[both]
        passed = places[is_of & forth(both) & (places != elsewhere)]
        place = int(passed[0]) if len(passed) else -1
        return place, _connections(capture, both[is_of & (places == place)])

    # The sender's host sends data and gets acknowledgements; at the receiver's it is the other way round.
    tells = capture.tells(both)
    sent, came = np.where(tells, [capture.out[both], capture.came[both]], True)
    place, rows_here = seen(np.where(forth(both), sent, came))
    # Of a part of a capture the first may be acknowledgements of data that were sent before it.
    here = [rows for rows in rows_here if forth(rows).any()]
    there = seen(np.where(forth(both), came, sent), place)[1] if tells else []
    there = _came(capture, here, there, forth)
    names = [capture.names[end].rpartition(":")[0] for end in (sender, receiver)]
    return [
        Trace(
            flow=flow,
            connection=number,
            sender=names[0],
            receiver=names[1],
            segments=_segments(capture, rows, forth(rows)),
            out=forth(rows),
            received=_segments(capture, there[number], forth(there[number])) if there else None,
        )
        for number, rows in enumerate(here)
    ]


def _came(
    capture: _Capture, here: Sequence[Array], there: Sequence[Array], forth: Callable[[Array], Array]
) -> list[Array]:
    """The rows that arrived of each connection sent ``here``; nothing if the receiver was not captured.

    The first of them belongs to the connection that had begun last. One that was cut had begun before its first packet.
    """
    import numpy as np

    if not there:
        return []
    begun = [float(capture.time[rows[0]]) if (capture.syn[rows] & forth(rows)).any() else -np.inf for rows in here]
    came: list[list[Array]] = [[] for _ in here]
    for rows in (rows[forth(rows)] for rows in there):
        number = int(np.searchsorted(begun, capture.time[rows[0]], side="right")) - 1 if len(rows) else -1
        if number >= 0:
            came[number].append(rows)
    return [np.concatenate([np.zeros(0, np.int64), *parts]) for parts in came]


def _connections(capture: _Capture, rows: Array) -> list[Array]:
    """The rows of each connection: one begins with a SYN that comes after anything else than SYNs and repeats none."""
    import numpy as np

    if not len(rows):
        return []
    begins = [0]
    syn = capture.syn[rows] > 0
    for place in np.flatnonzero(syn & (capture.ack[rows] < 0)):
        before = rows[begins[-1] : place]
        if not syn[begins[-1] : place].all() and not _repeats(capture, rows[place], before):
            begins.append(int(place))
    return [rows[begin:end] for begin, end in zip(begins, [*begins[1:], len(rows)], strict=True)]


def _repeats(capture: _Capture, syn: int, before: Array) -> bool:
    """Whether a SYN is that of the connection ``before`` once more (RFC 9293 §3.10): with the same number, while
    neither a FIN was acknowledged nor the connection was reset."""
    import numpy as np

    opening = before[(capture.syn[before] > 0) & (capture.source[before] == capture.source[syn])]
    if not len(opening) or capture.seq[opening[0]] != capture.seq[syn] or capture.rst[before].any():
        return False
    return not any(_ended(capture, before, end) for end in np.unique(capture.source[before]))


def _ended(capture: _Capture, rows: Array, end: int) -> bool:
    """Whether the FIN of an end was acknowledged in a connection."""
    import numpy as np

    own = capture.source[rows] == end
    fins = rows[own & (capture.fin[rows] > 0)]
    behind = (capture.seq + capture.payload + capture.syn + 1)[fins] % 2**32
    return bool(np.isin(capture.ack[rows[~own]], behind).any())


def _segments(capture: _Capture, rows: Array, forth: Array) -> Segments:
    """The segments with numbers counted from the SYN of the sender of data."""
    import numpy as np

    syn, fin, payload = (values[rows] for values in (capture.syn, capture.fin, capture.payload))
    opening = rows[forth & (syn > 0)]
    # Without the SYN the least number that was seen is 1.
    sent = capture.seq[rows[forth]]
    base = int(capture.seq[opening[0]]) if len(opening) else int(sent[0]) - 1 if len(sent) else 0
    # What numbers the sender's bytes: its own sequence numbers, and the other's acknowledgements.
    numbers = np.where(forth, capture.seq[rows], capture.ack[rows])
    there = forth | (capture.ack[rows] >= 0)
    counted = np.zeros(len(rows), np.int64)
    counted[there] = _unwrapped(numbers[there] - base)
    if not len(opening):
        counted += max(0, 1 - int(counted[there].min(initial=1)))
    start = np.where(forth, counted, 0)
    return Segments(
        time=capture.time[rows],
        start=start,
        end=start + np.where(forth, payload + syn + fin, 0),
        payload=payload,
        syn=syn,
        fin=fin,
        ack=np.where(forth | ~there, -1, counted),
    )


def _unwrapped(numbers: Array) -> Array:
    """Numbers of 32 bits that go on counting where they wrap around: no two neighbours differ by more than 2³¹."""
    import numpy as np

    steps = np.diff(numbers, prepend=0) & 0xFFFFFFFF
    return np.cumsum(np.where(steps >= 2**31, steps - 2**32, steps))


def _coded(column: pa.ChunkedArray) -> tuple[list[str], Array]:
    column = column.combine_chunks()
    return column.dictionary.to_pylist(), plain(column.indices)


def _renamed(end: str, named: Mapping[str, str]) -> str:
    host, _, port = end.rpartition(":")
    return f"{named.get(host, host)}:{port}"
