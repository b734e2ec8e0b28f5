"""All cases side by side: utilisation, delay and late frames of each controller; and what marks change."""

from __future__ import annotations

import numpy as np

from lasthop import plot
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.pictures import FAINT, Columns, picture

from ..data import Data
from ..network.cases import BASIC, ECN
from ..network.controllers import BESIDE, CONTROLLERS, MARKED, MEDIA, NAMES
from ..styles import colour, laid_out, marker

__all__ = ["marks", "summary"]

#: What is shown, its label, and its scale, which is logarithmic where it begins above 0. Intervals may go on beyond
#: it.
PANELS = (
    ("rate_kbps", "rate of a flow (kbit/s)", (0.0, 1600.0)),
    ("delay_p95_ms", "delay, 95th percentile (ms)", (50.0, 2000.0)),
    ("late_pct", "late or lost frames (%)", (0.0, 102.0)),
)


def summary(data: Data) -> Picture:
    """Each basic case a row, each controller a mark."""
    names = [name for name in (*MEDIA, *BESIDE) if data.has(BASIC[0].id, name)]
    if not names:
        raise NotRun("no basic cases")
    figure, panels = plot.figure(plot.TWO_COLUMNS, 110, columns=len(PANELS), sharey=True)
    columns = Columns("case", "controller", "quantity", "mean", "low", "high")
    for axes, (quantity, label, scale) in zip(panels, PANELS, strict=True):
        for row, case in enumerate(BASIC):
            axes.axhline(row, color=FAINT, linewidth=0.4, zorder=0)
            for place, name in enumerate(names):
                one = estimate(data.of(quantity, case.id, name))
                at = row + 0.11 * (place - (len(names) - 1) / 2)
                half = 0.0 if np.isnan(one.half) else one.half
                axes.errorbar(
                    [one.mean], [at], xerr=[[min(half, one.mean)], [half]], elinewidth=0.6, color=colour(name)
                )
                axes.plot([one.mean], [at], markersize=3.5, label=NAMES[name] if row == 0 else None, **marker(name))
                columns.add(case.id, name, quantity, one.mean, one.low, one.high)
        axes.set_xlabel(label)
        if scale[0] > 0:
            axes.set_xscale("log")
            from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

            axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(*scale)
    panels[0].set_yticks(range(len(BASIC)), [case.id for case in BASIC])
    panels[0].set_ylim(len(BASIC) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(names))
    late = {name: np.nanmean([data.of("late_pct", case.id, name).mean() for case in BASIC]) for name in names}
    return picture(
        "figure-summary",
        laid_out(figure),
        columns,
        caption="Each basic case of RFC 8867 (§5) and two bottlenecks (6.3) with each controller: mean "
        "rate of a flow, 95th percentile of the one-way delay of its packets, frames that are lost or later than "
        "400 ms. Bars are 95 % intervals. Delays contain the propagation, 50 ms in most cases.",
        alt="Marks for six controllers in rows of cases. Late or lost frames, mean over the cases: "
        + "; ".join(f"{NAMES[name]} {number(float(value), 1)} %" for name, value in late.items())
        + ".",
    )


def marks(data: Data) -> Picture:
    """Delay and utilisation with marks beside those without."""
    pairs = [name for name in MARKED if data.has(ECN[0].id, name)]
    if not pairs:
        raise NotRun("no marks")
    cases = [one for one in ECN if data.has(one.id, pairs[0])]
    figure, panels = plot.figure(plot.TWO_COLUMNS, 70, columns=2, sharey=True)
    columns = Columns("case", "controller", "quantity", "with", "without")
    shown = (("delay_p95_ms", "delay, 95th percentile (ms)"), ("rate_kbps", "rate of a flow (kbit/s)"))
    for axes, (quantity, label) in zip(panels, shown, strict=True):
        for row, case in enumerate(cases):
            axes.axhline(row, color=FAINT, linewidth=0.4, zorder=0)
            for place, name in enumerate(pairs):
                at = row + 0.12 * (place - (len(pairs) - 1) / 2)
                mine = float(data.of(quantity, case.id, name).mean())
                without = CONTROLLERS[name].without
                other = (
                    float(data.of(quantity, case.id.removeprefix("6.2: "), without).mean()) if without else float("nan")
                )
                axes.plot([other, mine], [at, at], color=colour(name), linewidth=0.7)
                if without:
                    axes.plot([other], [at], markersize=3.0, **marker(without))
                axes.plot([mine], [at], markersize=4.5, label=NAMES[name] if row == 0 else None, **marker(name))
                columns.add(case.id, name, quantity, mine, other)
        axes.set_xlabel(label)
        axes.set_xlim(left=0)
    panels[0].set_yticks(range(len(cases)), [case.id.removeprefix("6.2: ") for case in cases])
    panels[0].set_ylim(len(cases) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    gain = {
        name: np.mean(
            [
                data.of("delay_p95_ms", case.id, name).mean()
                - data.of("delay_p95_ms", case.id.removeprefix("6.2: "), CONTROLLERS[name].without).mean()
                for case in cases
            ]
        )
        for name in pairs
        if CONTROLLERS[name].without
    }
    return picture(
        "figure-marks",
        laid_out(figure),
        columns,
        caption="Cases of RFC 8867 §5 with marks (open) and without (filled; none of UDP Prague): means over the runs.",
        alt="Pairs of marks joined by lines. Change of the 95th percentile of the delay: "
        + "; ".join(f"{NAMES[name]} {number(float(value), 0)} ms" for name, value in gain.items())
        + ".",
    )
