"""Figures of means with their intervals over a parameter, one line for each of several things."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop import plot
from lasthop.stats import Estimate, number
from lasthop.studies import Picture, pictures
from lasthop.studies.pictures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HEIGHT_MM", "Line", "Marks", "curves", "legend", "ordered", "plain_ticks"]

#: The height of a figure of one column, its legend included.
HEIGHT_MM = 66.0

#: Looks for the values of a parameter, in their order.
_ORDER = [
    {"color": "#56B4E9", "marker": "o"},
    {"color": "#0072B2", "marker": "s"},
    {"color": "#E69F00", "marker": "^"},
    {"color": "#D55E00", "marker": "D"},
    {"color": "#000000", "marker": "v"},
]


def ordered(place: int) -> dict[str, Any]:
    """Colour and marker of the value at this place of a parameter."""
    return {**_ORDER[place % len(_ORDER)], "linestyle": "-", "linewidth": 1.0}


#: How near labels of an axis may stand, as a share of it.
NEAREST = 0.09


@dataclass(frozen=True)
class Line:
    """A line of a figure."""

    name: str
    means: Sequence[Estimate]
    #: Colour, line style, marker.
    look: Mapping[str, Any] = field(default_factory=lambda: {"color": "#000000", "marker": "o"})


@dataclass(frozen=True)
class Marks:
    """The paper's own numbers, as open marks."""

    #: Place on the horizontal axis and value.
    points: Sequence[tuple[float, float]]
    colour: str = "#000000"
    name: str = "thesis"


def curves(
    id: str,
    lines: Sequence[Line],
    *,
    x: Sequence[Any],
    x_label: str,
    y_label: str,
    caption: str,
    column: str,
    marks: Sequence[Marks] = (),
    log: bool = False,
    zero: bool = False,
    even: bool = False,
) -> Picture:
    """A figure of lines with error bars.

    ``column`` names the parameter in the data; with ``even`` its values stand at equal distances, else where they are.
    """
    figure, axes = plot.figure(plot.ONE_COLUMN, HEIGHT_MM)
    places = list(range(len(x))) if even else [float(value) for value in x]
    shift = (max(places) - min(places)) * 0.008 if len(places) > 1 else 0.0
    for n, line in enumerate(lines):
        moved = [place + shift * (n - (len(lines) - 1) / 2) for place in places]
        half = [0.0 if math.isnan(one.half) else one.half for one in line.means]
        look = {"markersize": 3.0, **line.look}
        axes.errorbar(
            moved, [one.mean for one in line.means], yerr=half, label=line.name, capsize=1.5, elinewidth=0.7,
            capthick=0.7, **look,
        )  # fmt: skip
    for n, mark in enumerate(marks):
        axes.plot(
            [place for place, _ in mark.points], [value for _, value in mark.points], marker="o", markersize=5,
            markerfacecolor="none", markeredgecolor=mark.colour, markeredgewidth=1.0, linestyle="none",
            label=mark.name if n == 0 else None,
        )  # fmt: skip
    axes.set_xticks(
        places, _apart(places, [f"{value:g}" if isinstance(value, (int, float)) else str(value) for value in x])
    )
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if log:
        axes.set_yscale("log")
        plain_ticks(axes)
    elif zero:
        axes.set_ylim(bottom=0)
    legend(axes, len(lines) + bool(marks))
    return picture(id, figure, _data(lines, x, column), caption=caption, alt=_alt(lines, x, x_label, y_label))


def _apart(places: Sequence[float], labels: Sequence[str]) -> list[str]:
    """The labels of places, without those too near to the one before."""
    shown: list[str] = []
    last = -math.inf
    for place, label in zip(places, labels, strict=True):
        apart = place - last >= NEAREST * (max(places) - min(places))
        shown.append(label if apart else "")
        last = place if apart else last
    return shown


def plain_ticks(axes: Axes) -> None:
    """Plain numbers on a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def legend(axes: Axes, entries: int) -> None:
    """A legend above the axes, if there is more than one line."""
    if entries > 1:
        pictures.legend(axes, 2 if entries == 4 else min(3, entries))


def _alt(lines: Sequence[Line], x: Sequence[Any], x_label: str, y_label: str) -> str:
    each = "; ".join(
        f"{line.name + ': ' if len(lines) > 1 else ''}"
        + ", ".join(f"{number(one.mean)} at {value}" for value, one in zip(x, line.means, strict=True))
        for line in lines
    )
    return f"{y_label} over {x_label}. {each}."


def _data(lines: Sequence[Line], x: Sequence[Any], column: str) -> Mapping[str, Any]:
    rows = [(value, line.name, one) for line in lines for value, one in zip(x, line.means, strict=True)]
    return {
        column: [value for value, _, _ in rows],
        "line": [name for _, name, _ in rows],
        "mean": [one.mean for _, _, one in rows],
        "low": [one.low for _, _, one in rows],
        "high": [one.high for _, _, one in rows],
        "n": [one.n for _, _, one in rows],
    }
