"""The figures of chapter 7: web pages and one inactivity timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import Estimate, estimate
from lasthop.studies import Picture
from lasthop.studies.curves import HEIGHT_MM, Line, Marks, curves, legend
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import spread_pct
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.figures6 import look, runs_said
from lasthop.studies.umts_tcp.measures import by_rtt
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import OPTIMAL, OPTIMUM, VERSIONS

__all__ = ["ALL", "compared"]


def compared(grid: Numbers) -> str:
    """What bars mean where points are compared whose seeds have the same traffic."""
    mean = grid.mean("goodput_kbps")
    return (
        f"Bars are 95 % intervals of the deviation from the seed's own mean, over {len(grid.seeds)} seeds: the "
        "traffic of a "
        f"seed is the same at all points. The mean over all points is {mean} kbit/s; profile ns2."
    )


def _all(grid: Numbers, quantity: str, axis: str) -> list[Line]:
    return [Line("all versions", grid.along(quantity, axis))]


def _versions(grid: Numbers, axis: str) -> list[Line]:
    """Goodput of each version, for comparing."""
    return [
        Line(TCP[tcp], [grid.within("goodput_kbps", tcp=tcp, **{axis: value}) for value in grid.axes[axis]], look(tcp))
        for tcp in VERSIONS
    ]


def _apart(grid: Numbers, **where: object) -> Estimate:
    """By how many per cent the best version's goodput is above the least one's."""
    return estimate(spread_pct([grid.at("goodput_kbps", tcp=tcp, **where) for tcp in VERSIONS]))


def _goodput_over_rtt(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    points = list(grid.points("max_dat", "threshold", "timer"))
    rtt = [grid.mean("rtt_s", **point).mean for point in points]
    goodput = [grid.mean("goodput_kbps", **point).mean for point in points]
    times, means = by_rtt(grid)
    figure, axes = plot.figure(plot.ONE_COLUMN, HEIGHT_MM)
    thresholds = grid.axes["threshold"]
    shades = dict(zip(thresholds, ("#56B4E9", "#0072B2", "#D55E00"), strict=False))
    markers = dict(zip(thresholds, "os^", strict=False))
    for threshold in thresholds:
        mine = [n for n, point in enumerate(points) if point["threshold"] == threshold]
        axes.plot([rtt[n] for n in mine], [goodput[n] for n in mine], linestyle="none", marker=markers[threshold],
                  color=shades[threshold], markersize=3, label=f"{threshold} B")  # fmt: skip
    axes.errorbar(times, [one.mean for one in means], yerr=[one.half for one in means], color="#000000", linewidth=1.0,
                  capsize=1.5, elinewidth=0.7, label="tenths")  # fmt: skip
    axes.set_xlabel("mean RTT (s)")
    axes.set_ylabel("goodput (kbit/s)")
    legend(axes, 4)
    return Picture(
        id="figure-7.2",
        caption="Goodput over the mean round-trip time. A mark for each combination of maxDAT, threshold and timer, "
        "mean of all versions; the line joins the means of tenths of them, in the order of their round-trip time. "
        + compared(grid),
        alt="Marks of goodput over round-trip time: "
        + ", ".join(f"{one.mean:.2f} kbit/s at {time:.2f} s" for time, one in zip(times, means, strict=True))
        + ".",
        figure=figure,
        data=Table(
            pa.table(
                {
                    **{name: [point[name] for point in points] for name in points[0]},
                    "rtt_s": rtt,
                    "goodput_kbps": goodput,
                }
            )
        ),
    )


def _rtt(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.3", _all(grid, "rtt_s", "max_dat"), x=grid.axes["max_dat"], x_label="maxDAT",
        y_label="mean RTT (s)", column="max_dat",
        caption="Mean round-trip time over maxDAT, mean of all versions, thresholds and timers. " + runs_said(grid),
    )  # fmt: skip


def _retransmissions(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.4",
        [Line(TCP[tcp], grid.along("retransmissions", "max_dat", tcp=tcp), look(tcp)) for tcp in VERSIONS],
        x=grid.axes["max_dat"], x_label="maxDAT", y_label="retransmissions / connection", column="max_dat", zero=True,
        caption="Retransmissions of TCP for each connection over maxDAT, mean of all thresholds and timers. "
        + runs_said(grid),
    )  # fmt: skip


def _timeouts(data: Data) -> Picture:
    grid = data.grid("chapter 7")

    def share(tcp: str, value: object) -> Estimate:
        return estimate(grid.ratio("timeouts", "retransmissions", tcp=tcp, max_dat=value))

    return curves(
        "figure-7.5",
        [Line(TCP[tcp], [share(tcp, value) for value in grid.axes["max_dat"]], look(tcp)) for tcp in VERSIONS],
        x=grid.axes["max_dat"], x_label="maxDAT", y_label="timeouts / retransmission", column="max_dat",
        caption="Timeouts for each retransmitted packet over maxDAT, mean of all thresholds and timers. In the thesis "
                "the share falls with maxDAT, and Sack's is far above the others'. " + runs_said(grid),
    )  # fmt: skip


def _efficiency(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.6", _all(grid, "efficiency_pct", "timer"), x=grid.axes["timer"], x_label="inactivity timer (s)",
        y_label="cell efficiency (%)", column="timer_s", zero=True,
        caption="Goodput over the bandwidth that the cell has reserved, over the inactivity timer; mean of all "
                "versions, maxDAT and "
        "thresholds. " + runs_said(grid),
    )  # fmt: skip


def _goodput_over_max_dat(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.7", _versions(grid, "max_dat"), x=grid.axes["max_dat"], x_label="maxDAT", y_label="goodput (kbit/s)",
        column="max_dat",
        caption="Goodput over maxDAT, mean of all thresholds and timers. In the thesis the versions differ visibly at "
                f"maxDAT 3; here by {_apart(grid, max_dat=3)} %. " + compared(grid),
    )  # fmt: skip


def _goodput_over_threshold(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.8", _versions(grid, "threshold"), x=grid.axes["threshold"], x_label="upswitch threshold (B)",
        y_label="goodput (kbit/s)", column="threshold_bytes",
        caption="Goodput over the threshold, mean of all maxDAT and timers. In the thesis Sack is best at 500 B, Reno "
                "and Newreno at 1000 B, and all are worst at 1500 B, by 1.8 % at most. Here versions differ by "
                f"{_apart(grid, threshold=500)} % at 500 B. " + compared(grid),
    )  # fmt: skip


def _full_over_threshold(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.9", _all(grid, "full_s", "threshold"), x=grid.axes["threshold"], x_label="upswitch threshold (B)",
        y_label="full-cell time (s)", column="threshold_bytes", zero=True,
        caption="The time for which no further dedicated channel fits, over the threshold; mean of all versions, "
                "maxDAT and timers. "
        + runs_said(grid),
    )  # fmt: skip


def _goodput_over_timer(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    best = {name: value for name, value in OPTIMAL.items() if name != "timer"}
    lines = [Line("all points", [grid.within("goodput_kbps", timer=value) for value in grid.axes["timer"]])]
    if grid.has(**best):
        means = [grid.within("goodput_kbps", timer=value, **best) for value in grid.axes["timer"]]
        lines.append(Line("maxDAT 6, 500 B", means, {"color": "#0072B2", "marker": "s", "linestyle": "--"}))
    best_timer = grid.best("goodput_kbps", "timer")["timer"]
    return curves(
        "figure-7.10", lines, x=grid.axes["timer"], x_label="inactivity timer (s)", y_label="goodput (kbit/s)",
        column="timer_s",
        marks=[Marks([(8.0, OPTIMUM["reno"][0])])] if 8 in grid.axes["timer"] else [],
        caption="Goodput over the inactivity timer, mean of all versions: at all points, and at the thesis' best "
                "maxDAT and threshold, for which it states 63.1 kbit/s (open mark). In the thesis it rises to 8 s and "
                f"falls beyond; here all points are best at {best_timer} s. " + compared(grid),
    )  # fmt: skip


def _full_over_timer(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return curves(
        "figure-7.11", _all(grid, "full_s", "timer"), x=grid.axes["timer"], x_label="inactivity timer (s)",
        y_label="full-cell time (s)", column="timer_s", zero=True,
        caption="The time for which no further dedicated channel fits, over the inactivity timer; mean of all "
                "versions, maxDAT and "
        "thresholds. " + runs_said(grid),
    )  # fmt: skip


ALL: Sequence[Callable[[Data], Picture]] = (
    _goodput_over_rtt, _rtt, _retransmissions, _timeouts, _efficiency, _goodput_over_max_dat, _goodput_over_threshold,
    _full_over_threshold, _goodput_over_timer, _full_over_timer,
)  # fmt: skip
