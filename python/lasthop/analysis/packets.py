"""Connections from the tables of a run: from `packets`, with expiries of timers from `changes` or `flows`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lasthop.analysis.traces import Segments, Trace
from lasthop.results import Result, Table, plain
from lasthop.scenario import of_result
from lasthop.units import amount

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["traces"]


def traces(result: Result, flows: Sequence[str] | None) -> list[Trace]:
    """The connections of these flows, or of all that use TCP."""
    import numpy as np

    packets = _Columns(result.packets)
    counted = _counted_in_packets(result)
    made = []
    for row in _tcp(result, flows):
        name = str(row["flow"])
        mine = packets.rows(packets.equal("flow", name))
        numbers = mine.number("connection")
        connections = np.unique(numbers)
        opened = [float(mine.number("time_s")[numbers == n][0]) for n in connections]
        expired = _timeouts(result, row, [*opened, np.inf])
        for place, connection in enumerate(connections):
            of = mine.rows(numbers == connection)
            here = of.rows(of.equal("place", row["from"]) & (of.equal("event", "sent") | of.equal("event", "received")))
            there = of.rows(of.equal("place", row["to"]) & of.equal("event", "received"))
            wire = _Packets(of, counted[name]) if name in counted else None
            made.append(
                Trace(
                    flow=name,
                    connection=int(connection),
                    sender=str(row["from"]),
                    receiver=str(row["to"]),
                    segments=_segments(here, wire),
                    out=here.equal("event", "sent"),
                    received=_segments(there, wire),
                    timeouts=expired[place],
                )
            )
    return made


class _Columns:
    """A table by its columns, or some rows of it. Text is compared by its codes."""

    def __init__(self, table: Table, which: Array | None = None, cache: dict[str, Any] | None = None) -> None:
        self._table, self._which = table, which
        self._cache: dict[str, Any] = {} if cache is None else cache

    def rows(self, which: Array) -> _Columns:
        """The rows where ``which`` is true."""
        import numpy as np

        places = np.flatnonzero(which)
        return _Columns(self._table, places if self._which is None else self._which[places], self._cache)

    def number(self, name: str) -> Array:
        """A column of numbers."""
        if name not in self._cache:
            self._cache[name] = plain(self._table.to_arrow().column(name))
        return self._mine(self._cache[name])

    def equal(self, name: str, value: str) -> Array:
        """Where a column of text says this."""
        import numpy as np
        import pyarrow as pa

        if name not in self._cache:
            column = self._table.to_arrow().column(name).combine_chunks()
            coded = column if pa.types.is_dictionary(column.type) else column.cast("string").dictionary_encode()
            self._cache[name] = plain(coded.indices), coded.dictionary.to_pylist()
        codes, names = self._cache[name]
        mine = self._mine(codes)
        return mine == names.index(value) if value in names else np.zeros(len(mine), bool)

    def _mine(self, values: Array) -> Array:
        return values if self._which is None else values[self._which]


class _Packets:
    """Numbers of a flow that counts packets, as ns-2 does: all are full, and packet 0 may be a SYN.

    The size of a packet says how long a segment is; ``header`` are the bytes that packet 0 has not.
    """

    def __init__(self, of: _Columns, header: int) -> None:
        sent = of.equal("event", "sent") & (of.number("payload_bytes") > 0)
        number, size = of.number("seq")[sent], of.number("size_bytes")[sent]
        self.segment = max(0, int(size[0]) - (header if number[0] > 0 else 0)) if len(size) else 0
        self._syn = int(of.equal("kind", "syn").any())

    def byte(self, number: Array) -> Array:
        """The number on the wire of the first byte of a packet."""
        import numpy as np

        first = np.maximum(1 + (number - self._syn) * self.segment, 1)
        return np.where(number >= self._syn, first, 0)


def _segments(of: _Columns, wire: _Packets | None) -> Segments:
    import numpy as np

    syn, fin = of.equal("kind", "syn"), of.equal("kind", "fin")
    seq = of.number("seq").astype(np.int64)
    payload = of.number("payload_bytes").astype(np.int64)
    ack = np.nan_to_num(of.number("ack").astype(np.float64), nan=-2).astype(np.int64)
    there = ack > -2
    if wire:
        # The acknowledgement names the last packet that came in order, here -1 if none did.
        seq = np.where(payload > 0, wire.byte(seq), 0)
        payload = np.where(payload > 0, wire.segment, 0)
        ack = wire.byte(ack + 1)
    return Segments(
        time=of.number("time_s"),
        start=seq,
        end=seq + payload + syn + fin,
        payload=payload,
        syn=syn,
        fin=fin,
        ack=np.where(there, ack, -1),
    )


def _tcp(result: Result, flows: Sequence[str] | None) -> list[dict[str, Any]]:
    """The rows of these flows, or of all that use TCP."""
    rows = {str(row["flow"]): row for row in result.flows.rows()}
    tcp = [name for name, row in rows.items() if str(row["transport"]).startswith("tcp")]
    for name in flows or ():
        if name not in rows:
            raise ValueError(f"there is no flow {name!r}; known: {', '.join(rows)}")
        if name not in tcp:
            raise ValueError(f"the flow {name!r} does not use TCP: there are no connections to look at")
    return [rows[name] for name in tcp if flows is None or name in flows]


#: What ns-2 adds to a segment, in bytes: `tcpip_base_hdr_size_`, and `ts_option_size_`.
HEADER, TIMESTAMPS = 40, 10


def _counted_in_packets(result: Result) -> dict[str, int]:
    """The flows whose sequence numbers count packets, those of profile `ns2`, with the bytes of their headers."""
    scenario = of_result(result.scenario_text, origin=result.name).to_dict()
    made = {}
    for flow in scenario["flow"]:
        tcp = flow["transport"].get("tcp") if isinstance(flow["transport"], dict) else None
        if tcp is not None and (tcp.get("profile") or scenario["profile"]) == "ns2":
            variant, header = tcp.get("variant"), int(amount(tcp.get("header", f"{HEADER} B")))
            stamps = TIMESTAMPS if header and tcp.get("timestamps", variant == "xcp") else 0
            # Vegas adds no header to any packet.
            made[str(flow["name"])] = stamps + (0 if variant == "vegas" else header)
    return made


def _timeouts(result: Result, flow: dict[str, Any], opened: Sequence[float]) -> list[int | None]:
    """How often the timer of each connection expired; ``opened`` says when each began, and the end of all.

    ns-2's own counter leaves out some expiries, all of Fack's among them, and has Vegas's with nothing outstanding.
    Where it differs from the flow's total, nothing is known of single connections.
    """
    import numpy as np

    connections, total = len(opened) - 1, flow["timeouts"]
    if connections == 1 or total is None or "changes" not in result.tables:
        return [int(total)] if connections == 1 and total is not None else [None] * connections
    changes = _Columns(result.changes)
    here = changes.rows(changes.equal("flow", flow["flow"]) & changes.equal("variable", "timeouts"))
    value = here.number("value")
    steps = np.diff(value, prepend=0)
    # ns-2's counter begins at 0 with each connection.
    counts = np.concatenate([[0], np.cumsum(np.where(steps > 0, steps, value))])
    if counts[-1] != total:
        return [None] * connections
    at = np.searchsorted(here.number("time_s"), opened, side="left")
    return [int(counts[end] - counts[begin]) for begin, end in pairwise(at)]
