"""Figs. 5.1 and 5.2: how dedicated channels come and go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lasthop import plot
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.curves import HEIGHT_MM
from lasthop.studies.pictures import picture

from ..data import Data
from ..single_runs.switching import KEEP, PREEMPTIBLE, Hold, Sharing

#: Seconds that Fig. 5.2 shows.
SHOWN_S = 200.0

_COLOURS = ("#009E73", "#0072B2")


def _periods(data: Data) -> Picture:
    if data.download is None:
        raise NotRun("Fig. 5.1 was not run")
    shown = data.download
    figure, axes = plot.figure(plot.ONE_COLUMN, HEIGHT_MM)
    axes.plot(shown.time_s, shown.buffer_bytes / 1e3, color="#000000", linewidth=0.9)
    axes.axhline(shown.threshold_bytes / 1e3, color="#D55E00", linewidth=0.8, linestyle="--")
    top = float(shown.buffer_bytes.max()) / 1e3
    end = shown.periods[-1].end_s
    axes.annotate("threshold", (end, shown.threshold_bytes / 1e3), xytext=(0, 2), textcoords="offset points",
                  ha="right", color="#D55E00")  # fmt: skip
    for n, period in enumerate(shown.periods):
        axes.axvspan(period.begin_s, period.end_s, color=str(0.96 if n % 2 else 0.9), zorder=-1, linewidth=0)
        name = str(n + 1) if n < 4 else "FACH"
        axes.annotate(name, ((period.begin_s + period.end_s) / 2, 1.0), xycoords=("data", "axes fraction"),
                      xytext=(0, 2), textcoords="offset points", ha="center", va="bottom")  # fmt: skip
    axes.set_xlim(0, end)
    axes.set_ylim(0, 1.08 * top)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("RLC buffer (kB)")
    said = "; ".join(
        f"{n + 1} {one.name}, {one.begin_s:.2f} to {one.end_s:.2f} s" for n, one in enumerate(shown.periods[:4])
    )
    return picture(
        "figure-5.1",
        figure,
        {"time_s": shown.time_s, "buffer_bytes": shown.buffer_bytes},
        caption="The RLC buffer of a terminal that loads 60 kB, alone in the cell: what waits, and what is not "
        f"acknowledged. The four periods of the thesis: {said}. The inactivity timer is 5 s.",
        alt=f"The buffer passes the threshold of {number(shown.threshold_bytes, 0)} B soon after the start, rises "
        "while a "
        f"channel is set up, reaches {number(top, 1)} kB, and is empty for five seconds before the terminal is on "
        "FACH again.",
    )


def _window(sharing: Sharing) -> float:
    """When to begin to show: the first stretch with a refusal and a channel that is taken."""
    taken = _taken(sharing)
    for refusal in sharing.refusals:
        begin = max(0.0, refusal - SHOWN_S / 2)
        if any(begin <= time <= begin + SHOWN_S for time in taken):
            return begin
    return max(0.0, sharing.refusals[0] - SHOWN_S / 2) if sharing.refusals else 0.0


def _taken(sharing: Sharing) -> list[float]:
    """When a channel was taken from somebody before his time: it could be taken, and ends early."""
    return [
        one.end_s
        for one in sharing.holds
        if one.preemptible_s is not None and one.end_s < one.preemptible_s + PREEMPTIBLE - 0.5
    ]


def _two_terminals(data: Data) -> Picture:
    if data.sharing is None:
        raise NotRun("Fig. 5.2 was not run")
    shown = data.sharing
    begin = _window(shown)
    end = begin + SHOWN_S
    figure, axes = plot.figure(plot.ONE_COLUMN, 48)
    here: Sequence[Hold] = [one for one in shown.holds if one.end_s > begin and one.begin_s < end]
    for one in here:
        low, high = max(one.begin_s, begin), min(one.end_s, end)
        middle = min(max(one.preemptible_s, low), high) if one.preemptible_s is not None else high
        colour = _COLOURS[one.terminal]
        axes.barh(one.terminal, middle - low, left=low, height=0.45, color=colour, linewidth=0)
        axes.barh(one.terminal, high - middle, left=middle, height=0.45, facecolor="none", edgecolor=colour,
                  hatch="////", linewidth=0.6)  # fmt: skip
        if middle < high:
            axes.plot(middle, one.terminal, "o", color="#000000", markersize=3)
    refused = [(time, terminal) for time, terminal in shown.refused if begin <= time <= end]
    for n, (time, terminal) in enumerate(refused):
        axes.plot(
            time, terminal, "x", color="#D55E00", markersize=6, markeredgewidth=1.4, label=None if n else "refused"
        )
    axes.set_yticks([0, 1], ["first", "second"])
    axes.set_ylim(1.6, -0.6)
    axes.set_ylabel("terminal")
    axes.set_xlim(begin, end)
    axes.set_xlabel("time (s)")
    return picture(
        "figure-5.2",
        figure,
        {
            name: [getattr(one, name) for one in shown.holds]
            for name in ("terminal", "begin_s", "end_s", "preemptible_s")
        },
        caption="Two terminals that read web pages, and one dedicated channel. Full: it is used, or its "
        "non-preemptive timer of "
        f"{KEEP:g} s runs; the dot is the end of that; hatched: the preemptive timer of {PREEMPTIBLE:g} s runs, and "
        "the other may take it. Crosses: a request is refused, since the other's non-preemptive timer runs. One run "
        "of 2000 s has "
        f"{len(shown.refusals)} refusals and {shown.preemptions} evictions; these 200 s show some of them.",
        alt=f"Bars of when each of two terminals has the dedicated channel from {begin:.0f} to {end:.0f} s: "
        f"{len(here)} bars, {len(refused)} refusals.",
    )


ALL: Sequence[Callable[[Data], Picture]] = (_periods, _two_terminals)
