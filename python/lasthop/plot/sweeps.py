"""Pictures of a sweep: metrics over what was varied, with their intervals."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.plot.names import quantity_label
from lasthop.plot.style import (
    COLOURS,
    MARKERS,
    STYLES,
    Label,
    figure,
    legend_label,
    look,
    name_lines,
    protocol,
    save_all,
    unlike,
)
from lasthop.things import telling
from lasthop.units import FAMILIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.sweeps import Sweep

__all__ = ["across", "sweep_pictures", "swept"]

#: What `lasthop plot` draws of a sweep: metrics of flows by the names of the pictures.
SWEEP = {"goodput": "goodput_kbps", "loss": "loss_pct", "rtt": "rtt_ms_p50"}

#: Of points that stand at the same word: how far from each other, and the most from the first to the last. Words are 1
#: apart.
BESIDE, BREADTH = 0.06, 0.75


def across(
    sweep: Sweep,
    metric: str,
    *,
    key: str | None = None,
    table: str = "flows",
    by: Sequence[str] | None = None,
    total: bool = False,
    axes: Axes | None = None,
) -> Axes:
    """A metric over the values of a varied key: means over the seeds with their 95 % intervals.

    Without ``key`` it is the first one whose values are numbers, or the first. A line for each flow (or
    link) and for each combination of the other keys' values. ``by`` and ``total`` are those of ``Sweep.means``:
    ``by=(), total=True`` draws what all together have.
    """
    import numpy as np

    from lasthop.sweeps import Sweep
    from lasthop.sweeps.vary import Vary, words

    if not isinstance(sweep, Sweep):
        raise TypeError(
            f"`across` draws a sweep, no {type(sweep).__name__}: `lh.Sweep.load(folder)` reads a stored one"
        )
    vary = Vary(sweep.vary)
    key = (
        vary.known(key) if key else next((one for one in vary.keys if _numbers(vary.keys[one])), next(iter(vary.keys)))
    )
    values = vary.keys[key]
    axis = _numbers(values)
    grid = sweep.grid(table, sweep.by(table) if by is None else by, total=total)
    mean, half, _ = grid.means(grid.known(metric))
    transports = grid.words().get("transport") if grid.things != [{}] else None
    if axes is None:
        _, axes = figure()
    assert axes is not None
    x = axis[0] if axis else [float(place) for place in range(len(values))]
    order = sorted(range(len(x)), key=lambda place: x[place])
    used: set[tuple[str, str, str]] = set()
    ends: list[Label] = []
    starts = dict.fromkeys(vary.moved(point, {key: values[0]}) for point in range(vary.points))
    points = {start: [vary.moved(start, {key: values[place]}) for place in order] for start in starts}
    lines = [(start, place) for start in starts for place in range(len(grid.things))]
    lines = [(start, place) for start, place in lines if not _missing(mean[points[start], place])]
    # Words have no distance that a line could cross; what stands at the same one stands side by side.
    beside = 0.0 if axis else min(BESIDE, BREADTH / max(1, len(lines) - 1))
    names = telling([*grid.things[0]], grid.things) if lines else []
    looks = _looks(["" if transports is None else str(transports[line]) for line in lines])
    for start, place in lines:
        y, error = mean[points[start], place], half[points[start], place]
        others = [words(value) for other, value in sweep.points[start].items() if other != key]
        name = ", ".join([*(grid.things[place][one] for one in names if grid.things[place][one]), *others])
        across = [x[one] + beside * len(ends) for one in order]
        style = looks[len(ends)] if axis else {**looks[len(ends)], "linestyle": "none"}
        marker = _marker(style, len(ends), used)
        bars = None if _missing(error) else error
        axes.errorbar(
            across,
            y,
            yerr=bars,
            label=legend_label(name),
            marker=marker,
            markersize=3,
            capsize=2,
            elinewidth=0.8,
            **style,
        )
        last = int(np.flatnonzero(np.isfinite(y))[-1])
        ends.append((across[last], float(y[last]), name, style["color"]))
    axes.set_xlabel(f"{key} ({axis[1]})" if axis and axis[1] else key, parse_math=False)
    # Of things that are not told apart it is their mean, which one might take for their sum, or the other way round.
    together = grid.things == [{}] and len(sweep.grid(table).things) > 1
    of_all = f"\n{'sum' if total else 'mean'} of {table}" if together else ""
    axes.set_ylabel(quantity_label(metric) + of_all)
    if not axis:
        middles = [place + beside * (len(ends) - 1) / 2 for place in x]
        axes.set_xticks(middles, _beneath(axes, [words(value) for value in values]), parse_math=False)
        axes.margins(x=0.2)
    lowest = float(np.nanmin(mean - np.nan_to_num(half), initial=0.0))
    if lowest >= 0:
        # The margin above is 5 % of all that is shown, not of the distance of the values from each other.
        highest = float(np.nanmax(mean + np.nan_to_num(half), initial=0.0))
        axes.set_ylim(0.0, 1.05 * highest or None)
    name_lines(axes, ends, plain=True)
    return axes


def _beneath(axes: Axes, names: Sequence[str]) -> list[str]:
    """Names of points that stand 1 apart, in lines that do not reach into one another."""
    # A margin of a fifth on either side; a letter of 8 points is some 4.5 wide.
    apart = axes.get_window_extent().width * 72 / axes.figure.dpi / max(1.0, 1.4 * (len(names) - 1))
    return [textwrap.fill(name, max(1, int(apart / 4.5)), break_long_words=False) for name in names]


def _looks(transports: Sequence[str]) -> list[dict[str, Any]]:
    """The looks of lines: those of their protocols, or a colour for each where all have one and the same."""
    if len(transports) > 1 and len({*map(protocol, transports)}) == 1:
        return [{**look("", n), "linestyle": STYLES[n // len(COLOURS) % len(STYLES)]} for n in range(len(transports))]
    used: set[str] = set()
    return [unlike(look(transport, n), used) for n, transport in enumerate(transports)]


def _marker(style: dict[str, Any], place: int, used: set[tuple[str, str, str]]) -> str:
    """The marker of the line number ``place``, or the next one with which no other line looks the same."""
    ways = [MARKERS[(place + more) % len(MARKERS)] for more in range(len(MARKERS))]
    marker = next((way for way in ways if (style["color"], style["linestyle"], way) not in used), ways[0])
    used.add((style["color"], style["linestyle"], marker))
    return marker


def sweep_pictures(sweep: Sweep) -> dict[str, Callable[[Axes], Axes]]:
    """The pictures of a sweep that show something, by name: each draws itself into axes."""
    grid = sweep.grid("flows", sweep.by("flows"))
    return {
        name: partial(_across, sweep, metric)
        for name, metric in SWEEP.items()
        if metric in grid.metrics and not _missing(grid.means(metric)[0])
    }


def _across(sweep: Sweep, metric: str, axes: Axes) -> Axes:
    return across(sweep, metric, axes=axes)


def swept(sweep: Sweep, folder: str | Path) -> list[Path]:
    """Writes the pictures of a sweep into ``folder``; the paths written."""
    return save_all(sweep_pictures(sweep), folder)


def _missing(values: Any) -> bool:
    import numpy as np

    return not np.isfinite(values).any()


def _numbers(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Values as numbers with their common unit, if they are such."""
    parts = [re.fullmatch(r"([-+.\d]+(?:e[-+]?\d+)?)\s*(\D*)", str(value).strip()) for value in values]
    if any(isinstance(value, bool) for value in values) or not all(parts):
        return None
    units = [part[2].strip() for part in parts if part]
    sizes = next((family for family in FAMILIES if {*units} <= {*family}), dict.fromkeys(units, 1.0))
    try:
        numbers = [
            float(part[1]) * (sizes[unit] / sizes[units[0]]) for part, unit in zip(parts, units, strict=True) if part
        ]
    except ValueError:
        return None
    return (numbers, units[0]) if len({*units}) == 1 or sizes in FAMILIES else None
