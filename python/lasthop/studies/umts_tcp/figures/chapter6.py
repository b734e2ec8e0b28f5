"""The figures of chapter 6: endless downloads on the common channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lasthop import plot
from lasthop.stats import Estimate, estimate, number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.curves import HEIGHT_MM, Line, Marks, plain_ticks
from lasthop.studies.pictures import legend, picture

from ..data import Data
from ..paper import ALONE, BOTH, WINDOWS
from ..scenario import TCP
from ..single_runs.followed import Followed
from .lines import GOODPUT, by_version, look, over, runs_said

#: The versions that most figures compare.
TWO = ("reno", "vegas")
FIVE = ("tahoe", "reno", "newreno", "vegas", "sack")


# Over time


def _followed(data: Data) -> Mapping[str, Followed]:
    if data.followed is None:
        raise NotRun("runs over time were not made")
    return data.followed


def _second_user(axes: Any, shown: Followed) -> None:
    axes.axvline(shown.second_s, color=plot.GREY, linewidth=0.6, linestyle=":")
    axes.annotate("second user", (shown.second_s, 0.0), xycoords=("data", "axes fraction"), xytext=(3, 3),
                  textcoords="offset points", va="bottom", color=plot.GREY)  # fmt: skip


def _frame(axes: Any, shown: Followed, label: str) -> None:
    axes.set_xlim(0, 2 * shown.second_s)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)


def _windows(data: Data) -> Picture:
    runs = _followed(data)
    figure, axes = plot.figure(plot.ONE_COLUMN, HEIGHT_MM)
    for tcp, shown in runs.items():
        axes.plot(shown.time_s, shown.windows[0], drawstyle="steps-post", label=TCP[tcp], **plot.look(tcp))
        for n, value in enumerate(WINDOWS[tcp]):
            axes.plot(shown.second_s * 0.5, value, "o", markersize=5, markerfacecolor="none",
                      markeredgecolor="#000000", label="thesis" if tcp == "vegas" and n == 0 else None)  # fmt: skip
    _second_user(axes, runs["reno"])
    _frame(axes, runs["reno"], "window (packets)")
    axes.set_ylim(0, 22)
    legend(axes, 3)
    means = data.grid("versions")
    vegas = [means.mean(name, tcp="vegas") for name in ("window_packets", "both_window_packets")]
    return picture(
        "figure-6.1",
        figure,
        {
            **_over_time(runs, time_s="time_s"),
            "window_packets": np.concatenate([shown.windows[0] for shown in runs.values()]),
        },
        caption="Packets that the first user's sender has outstanding, at an error rate of 0.01 and maxDAT 9000; one "
        "run of each version, a sample every 10 s. Open marks: the thesis' mean windows; of Vegas it states two. "
        f"Vegas' mean is {vegas[0]} packets alone and {vegas[1]} with the second user ({len(means.seeds)} runs). In "
        "the thesis it falls to half in two steps when the second user comes.",
        alt=f"Reno stays at 20 packets. Vegas has {number(vegas[0].mean)} packets, and {number(vegas[1].mean)} once "
        "the second user sends.",
    )


def _over_time(runs: Mapping[str, Followed], **columns: str) -> dict[str, Any]:
    """What is followed of each version, one after the other: columns by the names of attributes."""
    first = next(iter(columns.values()))
    return {
        "version": [tcp for tcp, shown in runs.items() for _ in getattr(shown, first)],
        **{name: np.concatenate([getattr(shown, of) for shown in runs.values()]) for name, of in columns.items()},
    }


def _srtt(data: Data) -> Picture:
    runs = _followed(data)
    figure, axes = plot.figure(plot.ONE_COLUMN, HEIGHT_MM)
    for tcp, shown in runs.items():
        axes.plot(shown.time_s, shown.srtt_s, label=TCP[tcp], **plot.look(tcp))
    axes.set_yscale("log")
    plain_ticks(axes)
    _second_user(axes, runs["reno"])
    _frame(axes, runs["reno"], "SRTT (s)")
    legend(axes, 2)
    grid = data.grid("versions")
    rtt = {tcp: [grid.mean(name, tcp=tcp) for name in ("rtt_s", "both_rtt_s")] for tcp in TWO}
    said = "; ".join(f"{TCP[tcp]} {alone} s, then {both} s" for tcp, (alone, both) in rtt.items())
    soon, late = (grid.mean(f"both_srtt_{when}_s", tcp="vegas") for when in ("soon", "late"))
    return picture(
        "figure-6.3",
        figure,
        _over_time(runs, time_s="time_s", srtt_s="srtt_s"),
        caption="The first user's smoothed round-trip time, logarithmic, in the runs of Figure 6.1. Mean round-trip "
        "times of "
        f"{len(grid.seeds)} runs: {said}. In the thesis Vegas' comes down again in two steps; here it is {soon} s in "
        f"the first 200 s with the second user and {late} s from 500 s on.",
        alt=f"Two lines that rise when the second user comes: {said}.",
    )


def _congestion(data: Data) -> Picture:
    runs = _followed(data)
    grid = data.grid("versions")
    figure, axes = plot.figure(plot.ONE_COLUMN, 74)
    for tcp, shown in runs.items():
        style = {**plot.look(tcp), "linestyle": "-"}
        axes.plot(shown.ends_s, shown.goodput_kbps, label=f"{TCP[tcp]} goodput", **style)
        axes.plot(shown.ends_s, shown.iub_kbps, label=f"{TCP[tcp]} RLC", **{**style, "linestyle": "--"})
        for n, (value, part) in enumerate(((ALONE[tcp], 0.5), (BOTH[tcp], 1.5))):
            axes.plot(part * shown.second_s, value, "o", markersize=5, markerfacecolor="none", zorder=5,
                      markeredgecolor="#000000", label="thesis" if tcp == "reno" and not n else None)  # fmt: skip
    _second_user(axes, runs["reno"])
    _frame(axes, runs["reno"], "throughput (kbit/s)")
    axes.set_ylim(0, 70)
    legend(axes, 3)
    means = {
        tcp: [grid.mean(name, tcp=tcp) for name in ("sent_kbps", "iub_kbps", "both_sent_kbps", "both_iub_kbps")]
        for tcp in TWO
    }
    said = "; ".join(
        f"{TCP[tcp]} {a} and {b} kbit/s alone, {c} and {d} together" for tcp, (a, b, c, d) in means.items()
    )
    return picture(
        "figure-6.4",
        figure,
        _over_time(runs, until_s="ends_s", goodput_kbps="goodput_kbps", rlc_kbps="iub_kbps"),
        caption="Goodput of all users (full lines), and what RLC sends from RNC to Node B (dashed), over 100 s each, "
        "in the runs of Figure 6.1; the channel carries 32 kbit/s. Open marks: the goodput that the thesis states. "
        "Means of "
        f"{len(grid.seeds)} runs: {said}.",
        alt=f"Goodput falls a little when the second user comes, and RLC's throughput doubles. {said}.",
    )


# Over the error rate, and over maxDAT


def _rtt(data: Data) -> Picture:
    grid = data.grid("errors")
    return over(
        "figure-6.2", grid, "bler", by_version(grid, "rtt_s", "bler", TWO), "mean RTT (s)", log=True,
        caption="Mean round-trip time of a user alone over the error rate, logarithmic; maxDAT 9000. "
        + runs_said(grid),
    )  # fmt: skip


def _goodput(data: Data) -> Picture:
    grid = data.grid("errors")
    return over(
        "figure-6.5", grid, "bler", by_version(grid, "sent_kbps", "bler", TWO), GOODPUT, zero=True,
        marks=[Marks([(0.01, ALONE[tcp]) for tcp in TWO])],
        caption="Goodput of a user alone over the error rate; maxDAT 9000. Open marks: the thesis' two numbers. "
        + runs_said(grid),
    )  # fmt: skip


def _lost(data: Data) -> Picture:
    grid = data.grid("errors")

    def lost(bler: float) -> Estimate:
        where = {"tcp": "reno", "bler": bler}
        return estimate(grid.at("sent_kbps", **where) - grid.at("both_sent_kbps", **where))

    return over(
        "figure-6.6", grid, "bler", [Line("Reno", [lost(bler) for bler in grid.axes["bler"]], look("reno"))],
        "goodput, part 1 − part 2 (kbit/s)", marks=[Marks([(0.01, ALONE["reno"] - BOTH["reno"])])],
        caption="How much less two users get together than one alone, with Reno and maxDAT 9000. Open mark: the "
        "difference of the thesis' two numbers. " + runs_said(grid),
    )  # fmt: skip


def _limited(data: Data) -> Picture:
    grid = data.grid("maxDAT 2")
    return over(
        "figure-6.7", grid, "bler", by_version(grid, "sent_kbps", "bler", FIVE), GOODPUT, zero=True,
        caption="Goodput of a user alone over the error rate, where a PDU is sent twice at most. " + runs_said(grid),
    )  # fmt: skip


def _over_max_dat(data: Data) -> Picture:
    grid = data.grid("maxDAT")
    return over(
        "figure-6.8", grid, "max_dat", by_version(grid, "sent_kbps", "max_dat", FIVE), GOODPUT, zero=True, even=True,
        x_label="maxDAT (transmissions of a PDU)",
        caption="Goodput of a user alone over maxDAT at an error rate of 0.05; values at equal distances. "
        + runs_said(grid),
    )  # fmt: skip


ALL: Sequence[Callable[[Data], Picture]] = (
    _windows, _rtt, _srtt, _congestion, _goodput, _lost, _limited, _over_max_dat,
)  # fmt: skip
