"""All paths side by side: a row for each mechanism, a mark for each hint."""

from __future__ import annotations

import numpy as np

from lasthop import plot
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.pictures import FAINT, Columns, picture

from ..data import Data
from ..network.mechanisms import HINTS, NAMES, OFF
from ..network.paths import PATHS
from ..styles import HINT_NAMES, laid_out, mark

__all__ = ["missed", "shown"]


def missed(data: Data) -> Picture:
    """Frames that a viewer does not see in time."""
    return _rows(
        data, "figure-summary", "missed_pct", "missed frames (%)", (-0.12, 102.0),
        "Missed frames from the first change to the end: late, lost, or left out by the encoder, of those captured",
    )  # fmt: skip


def shown(data: Data) -> Picture:
    """The rate that comes in frames in time."""
    return _rows(
        data, "figure-shown", "in_time_share", "share in time", (0.0, 1.02),
        "What came in frames in time, as a share of what the video could have, from the first change to the end: "
        "rate times the share "
        "of captured frames that are shown, second by second",
    )  # fmt: skip


def _rows(data: Data, id: str, quantity: str, label: str, scale: tuple[float, float], about: str) -> Picture:
    names = [name for name in NAMES if any(data.has(path, name, OFF) for path in PATHS)]
    if not names:
        raise NotRun("no runs")
    figure, panels = plot.figure(plot.TWO_COLUMNS, 7.0 * len(names) + 18, columns=len(PATHS), sharey=True)
    columns = Columns("path", "mechanism", "hint", "mean", "low", "high")
    said = []
    for axes, path in zip(panels, PATHS.values(), strict=True):
        means: dict[str, float] = {}
        for row, name in enumerate(names):
            axes.axhline(row, color=FAINT, linewidth=0.4, zorder=0)
            for place, hint in enumerate(HINTS):
                if not data.has(path.name, name, hint):
                    continue
                one = estimate(data.of(quantity, path.name, name, hint))
                half = float(np.nan_to_num(one.half))
                at = row + 0.24 * (place - 1)
                style = mark(hint)
                axes.errorbar([one.mean], [at], xerr=[half], elinewidth=0.7, color=style["color"])
                axes.plot([one.mean], [at], label=HINT_NAMES[hint] if name == "cubic" else None, **style)
                columns.add(path.name, name, hint, one.mean, one.low, one.high)
                means[f"{NAMES[name]}, {HINT_NAMES[hint]}"] = one.mean
        best = (min if quantity == "missed_pct" else max)(means, key=lambda name: means[name])
        said.append(f"{path.title}: {best} {number(means[best], 2)}")
        axes.set_title(path.title, fontsize=8, loc="left")
        axes.set_xlabel(label)
        axes.set_xlim(*scale)
        if quantity == "missed_pct":
            # Linear up to one frame of a hundred.
            axes.set_xscale("symlog", linthresh=1.0)
            axes.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
            axes.minorticks_off()
    panels[0].set_yticks(range(len(names)), [NAMES[name] for name in names])
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(HINTS))
    return picture(
        id,
        laid_out(figure),
        columns,
        caption=f"{about}. Bars are 95 % intervals over the runs. Mechanisms of routers and reservations take part "
        "on the first two paths, and take no hint; TFRC knows none of delays alone.",
        alt=f"Marks for each mechanism and hint in four panels. The best of each: {'; '.join(said)}.",
    )
