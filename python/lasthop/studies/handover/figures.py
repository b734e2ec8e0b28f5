"""Figures 3a, 3b and 4b of the paper, as far as TCP is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.handover.measures import Measured, Trace
from lasthop.studies.handover.scenario import END, HANDOVERS

__all__ = ["pictures"]

#: Instants at which counts over time are read.
GRID = np.round(np.arange(0, END + 0.05, 0.1), 1)

NAMES = {"reno": "Reno", "newreno": "NewReno"}


def pictures(data: Measured) -> list[Picture]:
    """The figures, from the runs at the default parameters."""
    return [_counts(data, "figure-3a", "received"), _counts(data, "figure-3b", "dropped"), _intervals(data)]


def _runs(data: Measured) -> str:
    wlan, umts = data.variant.delays_ms
    return f"{len(data.reno)} start times, one-way delay {wlan} ms on WLAN and {umts} ms on UMTS, profile ns2"


def _handovers(axes: Any) -> None:
    """Thin lines where the mobile changes its access, with words above."""
    for at, text in zip(HANDOVERS, ("to UMTS", "to WLAN"), strict=True):
        axes.axvline(at, color="#767676", linewidth=0.6, linestyle=":", zorder=0)
        axes.annotate(text, (at, 1), xycoords=("data", "axes fraction"), xytext=(2, 0),
                      textcoords="offset points", va="bottom", fontsize=7, color="#595959")  # fmt: skip


def _counts(data: Measured, id: str, what: str) -> Picture:
    """Packets received, or dropped, so far: means over the start times with their intervals."""
    figure, axes = plot.figure(plot.ONE_COLUMN, 62)
    columns: dict[str, list[Any]] = {
        "time_s": [],
        "protocol": [],
        "mean_packets": [],
        "low": [],
        "high": [],
        "n": [],
    }
    ends, finals = [], []
    for tcp, traces in (("reno", data.reno), ("newreno", data.newreno)):
        counts = np.array([np.searchsorted(_times(t, what), GRID, "right") for t in traces])
        estimates = [estimate(at) for at in counts.T]
        mean = np.array([e.mean for e in estimates])
        low, high = np.array([e.low for e in estimates]), np.array([e.high for e in estimates])
        style = plot.look(tcp)
        axes.fill_between(GRID, low, high, color=style["color"], alpha=0.2, linewidth=0)
        axes.plot(GRID, mean, **style)
        ends.append((END, float(mean[-1]), NAMES[tcp], style["color"]))
        finals.append(f"{NAMES[tcp]} {number(float(mean[-1]), 0)}")
        columns["time_s"] += GRID.tolist()
        columns["protocol"] += [tcp] * len(GRID)
        columns["mean_packets"] += mean.tolist()
        columns["low"] += low.tolist()
        columns["high"] += high.tolist()
        columns["n"] += [len(traces)] * len(GRID)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("packets received" if what == "received" else "packets dropped")
    axes.set_xlim(0, END)
    axes.set_ylim(bottom=0)
    _handovers(axes)
    plot.label_lines(axes, ends)
    where = "received by the mobile" if what == "received" else "dropped by the queue in front of the radio link"
    return Picture(
        id=id,
        caption=f"Packets {where} since the start. Mean of {_runs(data)}; the band is the 95 % interval of the mean. "
        "The paper's figure also shows TFRC and XCP, which are not built yet.",
        alt=f"Two lines of packets {what} over 30 s, which change their slope at 10 s and at 20 s. "
        f"At the end: {', '.join(finals)}.",
        figure=figure,
        data=Table(pa.table(columns)),
    )


def _times(trace: Trace, what: str) -> Any:
    return trace.received_s if what == "received" else trace.dropped_s


def _intervals(data: Measured) -> Picture:
    """Times between arrivals at the mobile, over time, of one run."""
    one = data.reno[0]
    at, interval = one.received_s[1:], np.diff(one.received_s) * 1e3
    figure, axes = plot.figure(plot.ONE_COLUMN, 62)
    axes.plot(at, interval, ".", color=plot.look("reno")["color"], markersize=2, markeredgewidth=0, rasterized=True)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("inter-packet interval (ms)")
    axes.set_yscale("log")
    axes.set_xlim(0, END)
    _handovers(axes)
    fast, slow = data.spread(fast=True), data.spread(fast=False)
    return Picture(
        id="figure-4b",
        caption=f"Interval between consecutive packets at the mobile with TCP Reno, started at {one.start_s:.3f} s; "
        f"logarithmic, so that both links are seen. Over {_runs(data)}, the 95th percentile is {fast} times the 5th "
        f"on WLAN and {slow} times on UMTS, two seconds after the start and each handover left out.",
        alt="Dots of inter-packet intervals over time: level at 2.1 ms on WLAN before 10 s and after 20 s, "
        f"at 20.8 ms on UMTS between, with longer gaps up to {number(float(interval.max()), 0)} ms.",
        figure=figure,
        data=Table(pa.table({"time_s": at, "interval_ms": interval})),
    )
