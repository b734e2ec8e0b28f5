"""The tables of an analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.analysis.measures import Measured, together, union
from lasthop.results import Table, coded, numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Array = np.ndarray[Any, Any]

__all__ = ["tables"]

#: The columns that are text; the others are numbers, whole ones unless their unit has parts.
_TEXT = ("flow", "from", "to")
_PARTS = ("_s", "_ms", "_kbps", "_ms_min", "_ms_mean", "_ms_max", "_mean")


def tables(measured: Sequence[Measured], end_s: float | None) -> dict[str, Table]:
    """All of them. Rates are over the run, which ended at ``end_s``, or over the connections' own time."""
    flows: dict[str, list[Measured]] = {}
    for one in measured:
        flows.setdefault(one.trace.flow, []).append(one)
    each = [
        {
            "flow": one.trace.flow,
            "connection": one.trace.connection,
            "from": one.trace.sender,
            "to": one.trace.receiver,
            **_row([one], end_s),
        }
        for one in measured
    ]
    totals = [{"flow": flow, "connections": len(several), **_row(several, end_s)} for flow, several in flows.items()]
    if len(flows) > 1:
        totals.append({"flow": "", "connections": len(measured), **_row(measured, end_s)})
    return {
        "connections": _table(each),
        "totals": _table(totals),
        "dupack_runs": _long(
            measured,
            {"time_s": [one.heard.time[one.runs[0]] for one in measured], "acks": [one.runs[1] for one in measured]},
        ),
        "rtts": _long(
            measured,
            {"time_s": [one.rtts[0] for one in measured], "rtt_ms": [one.rtts[1] * 1e3 for one in measured]},
        ),
        "outstanding": _long(
            measured,
            {
                "time_s": [one.outstanding.time for one in measured],
                "outstanding_bytes": [one.outstanding.value for one in measured],
            },
        ),
    }


def _row(several: Sequence[Measured], end_s: float | None) -> dict[str, Any]:
    """What some connections did together."""
    import numpy as np

    begins, ends = np.array([one.start_s for one in several]), np.array([one.end_s for one in several])
    period = union(begins, ends) if end_s is None else end_s
    busy = union(*(np.concatenate([one.busy[edge] for one in several]) for edge in (0, 1)))
    sent = sum(int((one.sent.payload - one.resent).sum()) for one in several)
    acked = sum(one.acked_bytes for one in several)
    received = _sum([one.received_bytes for one in several])
    outstanding = together([one.outstanding for one in several])
    segment = max(one.segment for one in several)
    mean, most = _over(outstanding.integral, period), int(outstanding.value.max())
    rtts = np.concatenate([one.rtts[1] for one in several]) * 1e3
    runs = np.concatenate([one.runs[1] for one in several])
    return {
        "start_s": float(begins.min()),
        "end_s": float(ends.max()),
        "period_s": period,
        "received_kbps": None if received is None else _over(received * 8e-3, period),
        "acked_kbps": _over(acked * 8e-3, period),
        "sent_kbps": _over(sent * 8e-3, period),
        "received_bytes": received,
        "acked_bytes": acked,
        "sent_bytes": sent,
        "sent_packets": sum(int((one.data & (one.resent == 0)).sum()) for one in several),
        "retransmitted_packets": sum(int((one.resent > 0).sum()) for one in several),
        "retransmitted_bytes": sum(int(one.resent.sum()) for one in several),
        "outstanding_bytes_mean": mean,
        "outstanding_bytes_max": most,
        "outstanding_packets_mean": _over(mean, segment),
        "outstanding_packets_max": _over(most, segment),
        "acks": sum(int(one.acks.sum()) for one in several),
        "duplicate_acks": sum(int(one.duplicates.sum()) for one in several),
        "dupack_runs": len(runs),
        "dupack_runs_from_3": int((runs >= 3).sum()),
        "dupack_runs_over_3": int((runs > 3).sum()),
        "dupack_run_mean": float(runs.mean()) if len(runs) else None,
        "dupack_run_max": int(runs.max()) if len(runs) else None,
        "rtt_samples": len(rtts),
        "rtt_ms_min": float(rtts.min()) if len(rtts) else None,
        "rtt_ms_mean": float(rtts.mean()) if len(rtts) else None,
        "rtt_ms_max": float(rtts.max()) if len(rtts) else None,
        "timeouts": _sum([one.trace.timeouts for one in several]),
        "transmission_s": busy,
        "off_s": float(ends.max() - begins.min()) - busy,
    }


def _over(amount: float | None, base: float) -> float | None:
    return amount / base if amount is not None and base > 0 else None


def _sum(parts: Sequence[int | None]) -> int | None:
    """The sum, if all parts are known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    import numpy as np
    import pyarrow as pa

    columns: dict[str, pa.Array] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if name in _TEXT:
            columns[name] = coded(np.arange(len(values)), values)
        else:
            kind = np.float64 if name.endswith(_PARTS) or name == "outstanding_packets_max" else np.int64
            missing = np.array([value is None for value in values])
            columns[name] = numbers(np.array([0 if value is None else value for value in values], kind), missing)
    return Table(pa.Table.from_arrays(list(columns.values()), list(columns)))


def _long(measured: Sequence[Measured], columns: Mapping[str, Sequence[Array]]) -> Table:
    """A table with many rows for each connection."""
    import numpy as np
    import pyarrow as pa

    counts = [len(part) for part in next(iter(columns.values()))]
    place = np.repeat(np.arange(len(measured)), counts)
    made = {
        "flow": coded(place, [one.trace.flow for one in measured]),
        "connection": numbers(np.array([one.trace.connection for one in measured], np.int64)[place]),
        **{name: numbers(np.concatenate(parts)) for name, parts in columns.items() if parts},
    }
    return Table(pa.Table.from_arrays(list(made.values()), list(made)))
