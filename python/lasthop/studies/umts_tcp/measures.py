"""From a run to the few numbers that are kept of it.

All of them are read off tables that every run gives. Rates are in kbit/s, times in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lasthop.results import SENT_PDUS
from lasthop.studies.series import Series, jain

if TYPE_CHECKING:
    from lasthop.results import Result, Table


#: The size of a PDU in bits.
PDU_BITS = 320.0

#: What is left out at the beginning of each part of chapter 6, in seconds.
SETTLING = 100.0

#: Soon after a part begins, and later, in seconds of it: Figs. 6.1 and 6.3 show two steps down between.
SOON, LATE = 200.0, 500.0


# Chapter 6


def parts(result: Result) -> Mapping[str, float]:
    """Of a run of chapter 6: its first part, in which a user is alone, and its second if it has one.

    Names of numbers of the second part begin with `both_`. Names that end in `_whole` count the part from its very
    beginning; the others leave out its first seconds.
    """
    series = Series(result.series)
    starts, end = result.flows["start_s"], result.simulated_s
    kept = _part(series, ["first"], 0.0, float(starts[1]) if len(starts) > 1 else end, "")
    if len(starts) > 1:
        kept |= _part(series, ["first", "second"], float(starts[1]), end, "both_")
    return {**kept, "pdus": _pdus(result)}


def _part(series: Series, flows: list[str], begin: float, end: float, prefix: str) -> dict[str, float]:
    settled = begin + min(SETTLING, (end - begin) / 10)
    kept = {}
    each: list[float] = []
    for suffix, since in (("", settled), ("_whole", begin)):
        rate = 8e-3 / (end - since)
        sent = [series.grown(flow, "sent_bytes", since, end) for flow in flows]
        acked = [series.grown(flow, "acked_bytes", since, end) for flow in flows]
        kept[f"sent_kbps{suffix}"] = rate * sum(sent)
        kept[f"acked_kbps{suffix}"] = rate * sum(acked)
        each = acked if not suffix else each
    packets = sum(series.grown(flow, "sent_packets", settled, end) for flow in flows)
    again = sum(series.grown(flow, "retransmitted_packets", settled, end) for flow in flows)
    kept["retransmitted_pct"] = 100 * again / (packets + again) if packets else float("nan")
    kept["timeouts"] = sum(series.grown(flow, "timeouts", settled, end) for flow in flows)
    kept["jain"] = jain(np.array(each))
    kept["window_packets"] = series.mean("first", "in_flight_packets", settled, end)
    kept["window_total"] = sum(series.mean(flow, "in_flight_packets", settled, end) for flow in flows)
    kept["window_packets_whole"] = series.mean("first", "in_flight_packets", begin, end)
    kept["rtt_s"] = _rtt(series, "first", settled, end)
    kept["rtt_s_whole"] = _rtt(series, "first", begin, end)
    kept["srtt_s"] = 1e-3 * series.mean("first", "srtt_ms", settled, end)
    third = (end - begin) / 3
    kept["srtt_soon_s"] = 1e-3 * series.mean("first", "srtt_ms", begin, begin + min(SOON, third))
    kept["srtt_late_s"] = 1e-3 * series.mean("first", "srtt_ms", begin + min(LATE, 2 * third), end)
    kept["srtt_peak_s"] = 1e-3 * series.largest("first", "srtt_ms", begin, end)
    bearers = [f"cell.ue[{place}] down" for place in range(len(flows))]
    pdus = sum(series.grown(bearer, count, settled, end) for bearer in bearers for count in SENT_PDUS)
    dropped = sum(series.grown(bearer, "queue_dropped_pdus", settled, end) for bearer in bearers)
    kept["iub_kbps"] = PDU_BITS * 1e-3 * pdus / (end - settled)
    kept["node_b_drop_pct"] = 100 * dropped / pdus if pdus else float("nan")
    return {f"{prefix}{name}": value for name, value in kept.items()}


def _rtt(series: Series, flow: str, begin: float, end: float) -> float:
    """The mean of the round-trip times measured in a part of the run."""
    times, means = series.of(flow, "rtt_ms_mean")
    here = (times > begin) & (times <= end)
    counts = series.on(flow, "rtt_ms_samples", times[here])
    return 1e-3 * float(np.average(means[here], weights=counts)) if here.any() else float("nan")


# Chapters 7 and 8


def pages(result: Result) -> Mapping[str, float]:
    """Of a run of chapter 7 or 8: what all users got, what it took, and what the cell gave for it."""
    flows, cell, transfers = result.flows, result.cells, result.transfers
    seconds = result.simulated_s
    sent, again, timeouts = (_sum(flows, name) for name in ("sent_packets", "retransmitted_packets", "timeouts"))
    connections = len(transfers)
    taken = transfers["acked_s"] - transfers["sent_s"]
    packet = transfers["packet_bytes"]
    samples = flows["rtt_ms_samples"]
    received = flows["received_bytes"]
    occupancy = float(cell["occupancy_kbps"][0])
    acked = 8e-3 * _sum(flows, "acked_bytes") / seconds
    goodput = 8e-3 * _sum(flows, "sent_bytes") / seconds
    allocations, preemptions, refusals = (float(cell[name][0]) for name in ("allocations", "preemptions", "refusals"))
    return {
        "goodput_kbps": goodput,
        "acked_kbps": acked,
        "occupancy_kbps": occupancy,
        "efficiency_pct": 100 * goodput / occupancy,
        "full_s": float(cell["full_s"][0]),
        "connections": connections,
        "packets_per_connection": sent / connections,
        "bytes_per_connection": _sum(flows, "sent_bytes") / connections,
        "packet_bytes": float(np.nanmean(packet)),
        "page_s": float(np.nanmean(taken)) if np.isfinite(taken).any() else float("nan"),
        "rtt_s": 1e-3 * float(np.nansum(flows["rtt_ms_mean"] * samples) / samples.sum()),
        "retransmissions": again / connections,
        "timeouts": timeouts / connections,
        "timeout_share": timeouts / again if again else float("nan"),
        "spurious_share": _sum(flows, "spurious_timeouts") / timeouts if timeouts else float("nan"),
        "allocations": allocations / connections,
        "preemptions": preemptions / connections,
        "refusals": refusals / connections,
        "jain": jain(received.astype(float)),
        "pdus": _pdus(result),
    }


def in_flight(result: Result) -> Mapping[str, float]:
    """Of a run of chapter 7 with samples: packets in flight while there are any, over all users."""
    series = Series(result.series)
    windows = [series.of(flow, "in_flight_packets")[1] for flow in result.flows["flow"]]
    busy = np.concatenate([window[window > 0] for window in windows])
    return {"window_packets": float(busy.mean())}


def _pdus(result: Result) -> float:
    """PDUs sent, down and up."""
    return sum(_sum(result.bearers, name) for name in SENT_PDUS if name in result.bearers.columns)


def _sum(table: Table, column: str) -> float:
    return float(np.nansum(table[column]))
