"""The figures of chapter 7: web pages and one inactivity timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lasthop import plot
from lasthop.stats import Estimate, estimate
from lasthop.studies import Picture
from lasthop.studies.curves import HEIGHT_MM, Line, Marks
from lasthop.studies.grid import Numbers
from lasthop.studies.pictures import legend, picture
from lasthop.studies.trends import spread_pct

from ..data import Data, by_rtt
from ..paper import OPTIMAL, OPTIMUM, VERSIONS
from ..scenario import TCP
from . import lines
from .lines import GOODPUT, by_version, compared, look, over, runs_said


def _all(
    data: Data, figure: str, quantity: str, axis: str, y_label: str, caption: str, *, zero: bool = False
) -> Picture:
    """A figure of a quantity over a parameter, mean of all versions and of the other parameters."""
    grid = data.grid("chapter 7")
    line = Line("all versions", grid.along(quantity, axis))
    return over(f"figure-{figure}", grid, axis, [line], y_label, zero=zero, caption=f"{caption}. {runs_said(grid)}")


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
    legend(axes, 2)
    columns = {name: [point[name] for point in points] for name in points[0]}
    return picture(
        "figure-7.2",
        figure,
        {**columns, "rtt_s": rtt, "goodput_kbps": goodput},
        caption="Goodput over the mean round-trip time. A mark for each combination of maxDAT, threshold and timer, "
        "mean of all versions; the line joins the means of tenths of them, in the order of their round-trip time. "
        + compared(grid),
        alt="Marks of goodput over round-trip time: "
        + ", ".join(f"{one.mean:.2f} kbit/s at {time:.2f} s" for time, one in zip(times, means, strict=True))
        + ".",
    )


def _rtt(data: Data) -> Picture:
    caption = "Mean round-trip time over maxDAT, mean of all versions, thresholds and timers"
    return _all(data, "7.3", "rtt_s", "max_dat", "mean RTT (s)", caption)


def _retransmissions(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return over(
        "figure-7.4", grid, "max_dat", by_version(grid, "retransmissions", "max_dat"), "retransmissions / connection",
        zero=True,
        caption="Retransmissions of TCP for each connection over maxDAT, mean of all thresholds and timers. "
        + runs_said(grid),
    )  # fmt: skip


def _timeouts(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    shares = [
        Line(TCP[tcp], [lines.share(grid, tcp=tcp, max_dat=value) for value in grid.axes["max_dat"]], look(tcp))
        for tcp in VERSIONS
    ]
    return over(
        "figure-7.5", grid, "max_dat", shares, "timeouts / retransmission",
        caption="Timeouts for each retransmitted packet over maxDAT, mean of all thresholds and timers. In the thesis "
        "the share falls with maxDAT, and Sack's is far above the others'. " + runs_said(grid),
    )  # fmt: skip


def _efficiency(data: Data) -> Picture:
    caption = (
        "Goodput over the bandwidth that the cell has reserved, over the inactivity timer; mean of all versions, "
        "maxDAT and thresholds"
    )
    return _all(data, "7.6", "efficiency_pct", "timer", "cell efficiency (%)", caption, zero=True)


def _goodput_over_max_dat(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return over(
        "figure-7.7", grid, "max_dat", lines.goodput(grid, "max_dat"), GOODPUT,
        caption="Goodput over maxDAT, mean of all thresholds and timers. In the thesis the versions differ visibly at "
        f"maxDAT 3; here by {_apart(grid, max_dat=3)} %. " + compared(grid),
    )  # fmt: skip


def _goodput_over_threshold(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    return over(
        "figure-7.8", grid, "threshold", lines.goodput(grid, "threshold"), GOODPUT,
        caption="Goodput over the threshold, mean of all maxDAT and timers. In the thesis Sack is best at 500 B, Reno "
        "and Newreno at 1000 B, and all are worst at 1500 B, by 1.8 % at most. Here versions differ by "
        f"{_apart(grid, threshold=500)} % at 500 B. " + compared(grid),
    )  # fmt: skip


#: What two figures show.
FULL = "The time for which no further dedicated channel fits, over the"


def _full_over_threshold(data: Data) -> Picture:
    caption = f"{FULL} threshold; mean of all versions, maxDAT and timers"
    return _all(data, "7.9", "full_s", "threshold", "full-cell time (s)", caption, zero=True)


def _goodput_over_timer(data: Data) -> Picture:
    grid = data.grid("chapter 7")
    best = {name: value for name, value in OPTIMAL.items() if name != "timer"}
    shown = [Line("all points", [grid.within("goodput_kbps", timer=value) for value in grid.axes["timer"]])]
    if grid.has(**best):
        means = [grid.within("goodput_kbps", timer=value, **best) for value in grid.axes["timer"]]
        shown.append(Line("maxDAT 6, 500 B", means, {"color": "#0072B2", "marker": "s", "linestyle": "--"}))
    best_timer = grid.best("goodput_kbps", "timer")["timer"]
    return over(
        "figure-7.10", grid, "timer", shown, GOODPUT,
        marks=[Marks([(8.0, OPTIMUM["reno"][0])])] if 8 in grid.axes["timer"] else [],
        caption="Goodput over the inactivity timer, mean of all versions: at all points, and at the thesis' best "
        "maxDAT and threshold, for which it states 63.1 kbit/s (open mark). In the thesis it rises to 8 s and falls "
        f"beyond; here all points are best at {best_timer} s. " + compared(grid),
    )  # fmt: skip


def _full_over_timer(data: Data) -> Picture:
    caption = f"{FULL} inactivity timer; mean of all versions, maxDAT and thresholds"
    return _all(data, "7.11", "full_s", "timer", "full-cell time (s)", caption, zero=True)


ALL: Sequence[Callable[[Data], Picture]] = (
    _goodput_over_rtt, _rtt, _retransmissions, _timeouts, _efficiency, _goodput_over_max_dat, _goodput_over_threshold,
    _full_over_threshold, _goodput_over_timer, _full_over_timer,
)  # fmt: skip
