"""Figures 3 and 4 of the paper for every mechanism, and what the paper has no figure for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop import plot
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.pictures import Columns, picture

from .data import Data
from .measures import window_counts
from .measures.table_1 import MECHANISMS, Measures
from .measures.trace import Trace
from .readings import FAST, SLOW
from .scenario import END, HANDOVERS

Array = NDArray[np.float64]

#: Instants at which counts over time are read.
GRID = np.round(np.arange(0, END + 0.05, 0.1), 1)

#: The lines of Fig. 3 and their names.
NAMES = {
    "reno": "TCP Reno",
    "newreno": "TCP NewReno",
    "tfrc": "TFRC",
    "xcp": "XCP",
    "ewa": "EWA",
    "intserv": "IntServ",
    "diffserv": "DiffServ",
    "swan": "SWAN",
}

#: Curves nearer to each other than this share of the largest value are drawn once.
TOGETHER = 0.004

SOFT, FAINT = "#595959", "#767676"


def pictures(data: Data) -> list[Picture]:
    """The figures, from the runs at the default parameters."""
    return [
        _counts(data, "figure-3a", "received"),
        _counts(data, "figure-3b", "dropped"),
        _intervals(data, "figure-4a", "tfrc"),
        _intervals(data, "figure-4b", "reno"),
        _intervals(data, "figure-4c", "xcp"),
        _intervals(data, "figure-4d", "ewa"),
        _frames(data),
        _grades(data),
        _rates(data, "figure-notification", NOTIFIED, "TFRC (RFC 5348) with and without notice of the handover"),
        _rates(data, "figure-capacity", CAPACITIES, "XCP whose routers know the capacity at once, late, never, "
        "or measure it"),
        _state(data),
    ]  # fmt: skip


def _runs(data: Data, mechanism: str = "reno") -> str:
    wlan, umts = data.taken.delays_ms
    runs = len(data.runs[mechanism])
    return f"{runs} start times, one-way delay {wlan} ms on WLAN and {umts} ms on UMTS, profile {data.taken.profile}"


def _handovers(axes: Any, *, words: bool = True) -> None:
    """Thin lines where the mobile changes its access, with words above."""
    for at, text in zip(HANDOVERS, ("to UMTS", "to WLAN"), strict=True):
        axes.axvline(at, color=FAINT, linewidth=0.6, linestyle=":", zorder=0)
        if words:
            axes.annotate(text, (at, 1), xycoords=("data", "axes fraction"), xytext=(2, 0),
                          textcoords="offset points", va="bottom", fontsize=7, color=SOFT)  # fmt: skip


# Figures 3a and 3b


def _times(trace: Trace, what: str) -> Array:
    return trace.received_s if what == "received" else trace.dropped_s


def _counts(data: Data, id: str, what: str) -> Picture:
    """Packets received, or dropped, so far: means over the start times with their intervals."""
    columns = Columns("time_s", "mechanism", "mean_packets", "low", "high", "n")
    curves: dict[str, tuple[Array, Array, Array]] = {}
    for key in NAMES:
        traces = data.runs[key]
        counts = np.array([np.searchsorted(_times(t, what), GRID, "right") for t in traces])
        curves[key] = _band(counts)
        columns.add(GRID, key, *curves[key], len(traces))
    figure, axes = plot.figure(plot.TWO_COLUMNS, 82)
    largest = max(float(mean.max()) for mean, _, _ in curves.values())
    ends, said = [], []
    for keys in _groups({key: mean for key, (mean, _, _) in curves.items()}, TOGETHER * largest):
        mean, low, high = curves[keys[0]]
        style = plot.look(keys[0])
        name = ", ".join(NAMES[key] for key in keys)
        axes.fill_between(GRID, low, high, color=style["color"], alpha=0.2, linewidth=0)
        axes.plot(GRID, mean, label=name, **style)
        ends.append((END, float(mean[-1]), f"{name} {number(float(mean[-1]), 0)}", style["color"]))
        said.append(f"{name} {number(float(mean[-1]), 0)}")
    axes.set_xlabel("time (s)")
    axes.set_ylabel(f"packets {what}")
    axes.set_xlim(0, END)
    axes.set_ylim(bottom=0)
    _handovers(axes)
    plot.label_lines(axes, ends)
    where = "received by the mobile" if what == "received" else "dropped by the network"
    return picture(
        id,
        figure,
        columns,
        caption=f"Packets {where} since the start. Mean of {_runs(data)}; the band is the 95 % interval of the mean. "
        "Lines that would lie on each other are drawn once. IntServ, DiffServ and SWAN carry a flow that asks for "
        "40 % of UMTS, the others one that takes what it gets.",
        alt=f"Lines of packets {what} over 30 s, which change their slope at 10 s and at 20 s. At the end: "
        f"{'; '.join(said)}.",
    )


def _band(values: Array) -> tuple[Array, Array, Array]:
    """The mean at each time over the runs, a row each, and the ends of its interval."""
    estimates = [estimate(at) for at in values.T]
    mean, low, high = (np.array([getattr(one, end) for one in estimates]) for end in ("mean", "low", "high"))
    return mean, low, high


def _groups(curves: Mapping[str, Array], near: float) -> list[list[str]]:
    """Names of curves that lie on each other everywhere, in their order."""
    groups: list[list[str]] = []
    for key, curve in curves.items():
        for group in groups:
            if float(np.abs(curves[group[0]] - curve).max()) <= near:
                group.append(key)
                break
        else:
            groups.append([key])
    return groups


# Figures 4a to 4e


def _intervals(data: Data, id: str, mechanism: str) -> Picture:
    """Times between arrivals at the mobile, over time, of one run."""
    one, name = data.runs[mechanism][0], NAMES[mechanism]
    at, interval = one.received_s[1:], np.diff(one.received_s) * 1e3
    figure, axes = plot.figure(plot.ONE_COLUMN, 62)
    axes.plot(at, interval, ".", color=plot.look(mechanism)["color"], markersize=2, markeredgewidth=0, rasterized=True)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("inter-packet interval (ms)")
    _intervals_axis(axes, interval)
    axes.set_xlim(0, END)
    _handovers(axes)
    ratio = [data.over(mechanism, lambda t, fast=fast: t.ratio(fast=fast)) for fast in (True, False)]  # type: ignore[misc]
    spread = [data.over(mechanism, lambda t, fast=fast: t.spread(fast=fast)) for fast in (True, False)]  # type: ignore[misc]
    return picture(
        id,
        figure,
        {"time_s": at, "interval_ms": interval},
        caption=f"Interval between consecutive packets at the mobile with {name}, started at {one.start_s:.3f} s; "
        f"logarithmic, so that both links are seen. Over {_runs(data, mechanism)}, one of a hundred consecutive "
        f"intervals differs from the one before by a factor of {ratio[0]} on WLAN and {ratio[1]} on UMTS, or more; "
        f"of all intervals, the 95th percentile is {spread[0]} and {spread[1]} times the 5th. Two seconds after the "
        "start and each handover are left out.",
        alt=f"Dots of inter-packet intervals over time with {name}: median {_median(one, fast=True)} ms on WLAN "
        f"before 10 s and after 20 s, {_median(one, fast=False)} ms on UMTS between; the longest is "
        f"{number(float(interval.max()), 0)} ms.",
    )


def _median(trace: Trace, *, fast: bool) -> str:
    return number(float(np.median(np.concatenate(trace.quiet_intervals(fast=fast)))) * 1e3, 1)


def _intervals_axis(axes: Any, *intervals: Array) -> None:
    """A logarithmic axis with plain numbers, from a packet's time on WLAN to the longest gap."""
    every = np.concatenate(intervals)
    axes.set_yscale("log")
    axes.set_ylim(0.1, max(2000.0, 1.3 * float(every.max())))
    axes.set_yticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])


def _frames(data: Data) -> Picture:
    """Times between voice frames at the mobile in the crowd, of one run of each scheme."""
    shown = {**MECHANISMS, "none": "best effort"}
    figure, grid = plot.figure(plot.TWO_COLUMNS, 95, rows=2, columns=4, sharex=True, sharey=True)
    columns = Columns("time_s", "mechanism", "interval_ms")
    said = []
    every = []
    for (key, name), axes in zip(shown.items(), grid.flat, strict=True):
        units = data.crowds[key][0].voice.units
        assert units is not None
        interval = units.intervals(0, END) * 1e3
        here = np.isfinite(units.arrived_s)
        at = units.arrived_s[here][1:]
        positive = np.maximum(interval, 0.1)
        every.append(positive)
        axes.plot(at, positive, ".", color=plot.look(key)["color"], markersize=2, markeredgewidth=0, rasterized=True)
        axes.set_xlim(0, END)
        _handovers(axes, words=False)
        axes.set_title(name, loc="left", fontsize=8)
        columns.add(at, key, interval)
        said.append(f"{name} {number(100 * units.lost(0, END - 1), 1)} %")
    _intervals_axis(grid[0, 0], *every)
    for axes in grid[1]:
        axes.set_xlabel("time (s)")
    for axes in grid[:, 0]:
        axes.set_ylabel("interval (ms)")
    return picture(
        "figure-4e",
        figure,
        columns,
        caption="Interval between consecutive voice frames at the mobile, among a video, four greedy TCP flows and "
        "a third flow that asks for service; one run of each. The source's own interval is taken off and 20 ms put "
        "in its place, so silences do not count; what arrives at one time with its predecessor is drawn at 0.1 ms. "
        f"Frames that never arrive, of those made before 29 s: {', '.join(said)}.",
        alt="Eight panels of dots of intervals between voice frames over time: around 20 ms, spread more widely on "
        "UMTS from 10 s to 20 s than on WLAN.",
    )


# Beyond the paper's figures

NOTIFIED = {"tfrc-rfc": "no notice", "tfrc-notified": "start anew", "tfrc-hint": "start at the link's rate"}
CAPACITIES = {"xcp": "known", "xcp-late": "one second late", "xcp-stale": "never", "xcp-measured": "measured"}
_LINES = [("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#000000", ":")]


def _rates(data: Data, id: str, lines: Mapping[str, str], about: str) -> Picture:
    """The receive rate as a share of the link's, mean over the start times."""
    figure, axes = plot.figure(plot.TWO_COLUMNS, 70)
    width = 0.5
    columns = Columns("time_s", "mechanism", "mean_share", "low", "high")
    capacity = np.where((HANDOVERS[0] <= GRID) & (HANDOVERS[1] > GRID), SLOW, FAST)
    drops = []
    for (key, name), (colour, dashes) in zip(lines.items(), _LINES, strict=False):
        counts = np.array([window_counts(t.received_s, GRID, width) for t in data.runs[key]]) / width / capacity
        mean, low, high = _band(counts)
        axes.fill_between(GRID, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(GRID, mean, color=colour, linestyle=dashes, linewidth=1.2, label=name)
        columns.add(GRID, key, mean, low, high)
        drops.append(f"{name} {data.drops(key, *HANDOVERS)}")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("receive rate / link's rate")
    axes.set_xlim(0, END)
    axes.set_ylim(0, 1.6)
    _handovers(axes)
    axes.legend(ncols=len(lines), loc="lower center", bbox_to_anchor=(0.5, 1.06), fontsize=8, frameon=False)
    return picture(
        id,
        figure,
        columns,
        caption=f"{about}. Receive rate over the last {width} s as a share of the link's present rate; mean of "
        f"{_runs(data, next(iter(lines)))}, with the 95 % interval. Right after 10 s what was under way on WLAN may "
        f"still arrive. Packets dropped from 10 to 20 s: {', '.join(drops)}.",
        alt=f"{len(lines)} lines of the receive rate as a share of the link's over 30 s: {', '.join(lines.values())}.",
    )


def _grades(data: Data) -> Picture:
    """Evenness and round trips to adapt of every mechanism, with the bounds of the grades."""
    rows: dict[str, tuple[Measures, Measures]] = {key: (data.single(key), data.crowd(key)) for key in MECHANISMS}
    figure, (left, middle, right) = plot.figure(plot.TWO_COLUMNS, 82, columns=3, sharey=True)
    columns = Columns("mechanism", "setting", "jitter", "ratio", "rtts")
    for place, (key, both) in enumerate(rows.items()):
        for shift, (setting, row) in zip((-0.15, 0.15), zip(("a", "b"), both, strict=True), strict=True):
            jitter, ratio = max(row.wlan_jitter, row.umts_jitter), max(row.wlan_ratio, row.umts_ratio)
            rtts = max(row.down_rtts, row.up_rtts)
            colour = plot.look(key)["color"]
            style = {"color": colour, "marker": "o" if setting == "a" else "s", "markersize": 5, "linestyle": "",
                     "markerfacecolor": "white" if setting == "a" else colour}  # fmt: skip
            left.plot(max(jitter, LEAST_JITTER), place + shift, **style)
            middle.plot(min(ratio, MOST_RATIO), place + shift, **style)
            right.plot(min(max(rtts, LEAST_RTTS), MOST_RTTS), place + shift, **style)
            columns.add(key, setting, jitter, ratio, rtts)
    left.set_yticks(range(len(rows)), list(MECHANISMS.values()))
    left.invert_yaxis()
    for axes, bounds, words, ends in (
        (left, (0.05, 0.2, 0.5, 1.0), ("very high", "high", "medium", "low", "very low"), (LEAST_JITTER, 10.0)),
        (middle, (1.2, 2.0, 3.5, 10.0), ("very high", "high", "medium", "low", "very low"), (1.0, MOST_RATIO)),
        (right, (5.0, 15.0, 50.0), ("very high", "high", "medium", "low"), (LEAST_RTTS, MOST_RTTS)),
    ):
        axes.set_xscale("log")
        axes.set_xlim(ends[0] / 1.3, ends[1] * 1.3)
        edges = [ends[0] / 1.3, *bounds, ends[1] * 1.3]
        for i, word in enumerate(words):
            axes.axvspan(edges[i], edges[i + 1], color=str(0.99 - 0.045 * i), zorder=-1, linewidth=0)
            between = float(np.sqrt(edges[i] * edges[i + 1]))
            axes.annotate(word, (between, 1), xycoords=("data", "axes fraction"), xytext=(0, 2), rotation=90,
                          textcoords="offset points", ha="center", va="bottom", fontsize=6, color=SOFT)  # fmt: skip
        axes.tick_params(axis="y", length=0)
    left.set_xlabel("median jitter /\nmedian interval")
    left.set_xticks([LEAST_JITTER, 0.1, 1, 10], ["≤ 0.01", "0.1", "1", "10"])
    middle.set_xlabel("ratio of consecutive\nintervals, P99")
    middle.set_xticks([1, 10, MOST_RATIO], ["1", "10", "≥ 100"])
    right.set_xlabel("round trips of the\nnew path to adapt")
    right.set_xticks([1, 10, 100, MOST_RTTS], ["≤ 1", "10", "100", "never"])
    return picture(
        "figure-grades",
        figure,
        columns,
        caption="Measures behind Table I. Left and middle: the worse of both links; right: the worse of both "
                "handovers; medians over the runs. Circles: the paper's single flow. Squares: voice and video, the "
                "worse of both, among four greedy TCP flows; frames that come at once have no finite ratio. Shades "
                "are the bounds of the grades: media friendliness needs both of its measures, but for “low” one is "
                "enough. Drops and service below the request also count.",
        alt="; ".join(f"{MECHANISMS[key]}: {a.media} and {a.dynamic} alone, {b.media} and {b.dynamic} in the crowd"
                      for key, (a, b) in rows.items()) + ".",
    )  # fmt: skip


#: The ends of the axes of the figure of grades.
LEAST_JITTER, MOST_RATIO, LEAST_RTTS, MOST_RTTS = 0.01, 100.0, 1.0, 1000.0


def _state(data: Data) -> Picture:
    """Bytes of state in routers over the number of flows."""
    figure, axes = plot.figure(plot.ONE_COLUMN, 66)
    columns = Columns("mechanism", "flows", "router_state_bytes")
    ends = []
    curves = {key: np.array(data.counters[key].state_bytes, dtype=float) for key in MECHANISMS}
    flows: Sequence[int] = data.counters["reno"].flows
    for keys in _groups(curves, 0.5):
        style, mine, name = plot.look(keys[0]), curves[keys[0]], ", ".join(MECHANISMS[key] for key in keys)
        axes.plot(flows, np.maximum(mine, 1), label=name, marker="o", markersize=3, **style)
        ends.append((flows[-1], float(max(mine[-1], 1)), name, style["color"]))
    for key, curve in curves.items():
        columns.add(key, flows, curve)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(flows, [number(n) for n in flows])
    axes.set_xlabel("flows")
    axes.set_ylabel("state in routers (B)")
    for x, y, text, colour in ends:
        axes.annotate(text, (x, y), xytext=(4, 0), textcoords="offset points", color=colour, va="center",
                      annotation_clip=False, fontsize=8)  # fmt: skip
    return picture(
        "figure-state",
        figure,
        columns,
        caption="State that the mechanism keeps in the routers of a path of three, beyond their queues of packets, "
            "over the number of flows. None is drawn at 1 B.",
        alt="State in routers at the largest number of flows: "
        + ", ".join(f"{MECHANISMS[key]} {number(float(curve[-1]), 0)} B" for key, curve in curves.items()) + ".",
    )  # fmt: skip
