"""A path over time: rate and frame delay around the two changes, a pair of panels for each mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lasthop import plot
from lasthop.stats import intervals, number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Array
from lasthop.studies.pictures import FAINT, Columns, picture

from ..data import Data
from ..measures import BIN_S
from ..network.mechanisms import HINTS, NAMES, OFF
from ..network.paths import Path
from ..styles import HINT_NAMES, laid_out, line

__all__ = ["SHOWN", "over_time"]

#: The mechanisms that are drawn, in two rows.
SHOWN = ("tfrc", "cubic", "bbr", "copa", "prague", "prague-l4s", "scream", "scream-l4s", "nada", "gcc")
ACROSS = 5

#: The height of a panel.
PANEL_MM = 30.0

#: Frames are late above this (`encoder.playout`); the scale of delays goes from 20 ms to 10 s.
LATE_MS, DELAYS_MS = 400.0, (20.0, 10_000.0)


def over_time(data: Data, path: Path) -> Picture:
    """Means over the runs with their intervals."""
    names = [name for name in SHOWN if data.has(path.name, name, OFF)]
    if not names:
        raise NotRun(path.title)
    down = 2 * -(-len(names) // ACROSS)
    figure, panels = plot.figure(
        plot.TWO_COLUMNS, PANEL_MM * down + 12, rows=down, columns=ACROSS, sharex=True, sharey="row", squeeze=False
    )  # fmt: skip
    columns = Columns(
        "mechanism", "hint", "time_s", "kbps", "kbps_low", "kbps_high", "delay_ms", "delay_ms_low", "delay_ms_high"
    )
    said = []
    runs = 0
    for n, name in enumerate(names):
        rates, delays = panels[2 * (n // ACROSS)][n % ACROSS], panels[2 * (n // ACROSS) + 1][n % ACROSS]
        _due(rates, path)
        delays.axhline(LATE_MS, color=FAINT, linewidth=0.7, zorder=0)
        for hint in HINTS:
            if not data.has(path.name, name, hint):
                continue
            time, kbps, delay, runs = _means(data, path.name, name, hint)
            style = line(hint)
            label = HINT_NAMES[hint] if name == names[1] else None
            _band(rates, time, [of / 1e3 for of in kbps], style, label)
            _band(delays, time, delay, style, None)
            columns.add(name, hint, time, *kbps, *delay)
            if hint == OFF:
                slow = (time > 0) & (time <= path.seconds(path.up_s))
                said.append(f"{NAMES[name]} {number(float(np.nanmean(kbps[0][slow])), 0)} kbit/s")
        rates.set_title(NAMES[name], loc="left", fontsize=7.5, pad=2)
        for axes in (rates, delays):
            for at in (0.0, path.seconds(path.up_s)):
                axes.axvline(at, color=FAINT, linewidth=0.6, linestyle=":", zorder=0)
    _scales(panels, path)
    handles, labels = panels[0][1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(HINTS))
    return picture(
        f"figure-{path.name}",
        laid_out(figure),
        columns,
        caption=f"{path.title}: payload that arrives and delay of frames, by the time since the change to the worse "
        f"state ({path.slow}) at 0 s; at {path.seconds(path.up_s):g} s the path is back ({path.fast}). Means over "
        f"{BIN_S:g} s of {runs} runs "
        "with their 95 % intervals, of delays geometric. Grey is what a video can have; a frame above the grey "
        "line of 400 ms is late. Where a delay "
        "is missing no frame arrived. TFRC knows no hint of delays alone.",
        alt="Ten pairs of panels, rate above delay, from 10 s before the first change to the end. Mean rate without a "
        f"hint, {path.slow}: " + "; ".join(said) + ".",
    )


def _means(
    data: Data, path: str, mechanism: str, hint: str
) -> tuple[Array, tuple[Array, Array, Array], tuple[Array, Array, Array], int]:
    """Times, rates and delays with the ends of their intervals, and how many runs there are."""
    grid = data.grid(data.holding(path, mechanism, hint))
    time, kbps, delay, seed = grid.kept_rows(
        "time_s", "kbps", "delay_ms", "seed", path=path, mechanism=mechanism, hint=hint
    )
    runs = len(np.unique(seed))
    rate, rate_half, _ = intervals(kbps.reshape(runs, -1).T)
    log, log_half, _ = intervals(np.log(delay).reshape(runs, -1).T)
    ends = rate - np.nan_to_num(rate_half), rate + np.nan_to_num(rate_half)
    log_ends = np.exp(log - np.nan_to_num(log_half)), np.exp(log + np.nan_to_num(log_half))
    return time.reshape(runs, -1)[0], (rate, *ends), (np.exp(log), *log_ends), runs


def _band(axes: Any, time: Array, values: Sequence[Array], style: dict[str, Any], label: str | None) -> None:
    mean, low, high = values
    axes.fill_between(time, low, high, color=style["color"], alpha=0.15, linewidth=0)
    axes.plot(time, mean, label=label, **style)


def _due(axes: Any, path: Path) -> None:
    """What a video can have."""
    fast, slow = (kbps / 1e3 for kbps in path.due_kbps)
    times = [path.seconds(at) for at in (path.down_s - 10, path.down_s, path.up_s, path.end_s)]
    axes.stairs([fast, slow, fast], times, fill=True, color="#EEEEEE", zorder=0)


def _scales(panels: Any, path: Path) -> None:
    for row, of in enumerate(panels):
        of[0].set_ylabel("rate (Mbit/s)" if row % 2 == 0 else "frame delay (ms)")
        if row % 2 == 0:
            of[0].set_ylim(0, 1.25e-3 * path.due_kbps[0])
        else:
            of[0].set_yscale("log")
            of[0].set_ylim(*DELAYS_MS)
            of[0].set_yticks([50, 400, 2000, 10_000], ["50", "400", "2000", "10000"])
            of[0].minorticks_off()
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
        axes.set_xlim(-10, path.seconds(path.end_s))
        axes.set_xticks([0, 20, 40, 60])
