"""What every picture must hold: something drawn, all text inside, none on other text, no warning."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np

#: Overlap of two texts that is no overlap: the boxes include the room for letters that go up or down.
SLACK = 1.5


def faults(figure: Any) -> list[str]:
    """What is wrong with a figure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.canvas.draw()
    found = [str(one.message) for one in caught]
    edge = figure.bbox
    texts = [text for axes in figure.axes for text in _texts(axes)]
    for text, box in texts:
        if box.x0 < edge.x0 - 1 or box.y0 < edge.y0 - 1 or box.x1 > edge.x1 + 1 or box.y1 > edge.y1 + 1:
            found.append(f"{text!r} is cut off")
    for (one, box), (other, its) in combinations(texts, 2):
        across, up = (
            min(getattr(box, f"{a}1"), getattr(its, f"{a}1")) - max(getattr(box, f"{a}0"), getattr(its, f"{a}0"))
            for a in "xy"
        )
        if across > SLACK and up > SLACK:
            found.append(f"{one!r} lies on {other!r}")
    for axes in figure.axes:
        if not any(_shown(axes, line) for line in axes.lines):
            found.append("empty axes")
        if not axes.get_xlabel() or not axes.get_ylabel():
            found.append("an axis has no name")
        for line in axes.lines:
            found += [f"{line.get_label()!r} lies outside"] if _outside(axes, line) else []
    return found


def _texts(axes: Any) -> list[tuple[str, Any]]:
    legend = axes.get_legend()
    ticks = [
        label
        for axis in (axes.xaxis, axes.yaxis)
        for tick, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=False)
        if min(axis.get_view_interval()) <= tick <= max(axis.get_view_interval())
    ]
    artists = [axes.xaxis.label, axes.yaxis.label, *ticks, *axes.texts, *(legend.get_texts() if legend else [])]
    return [(one.get_text(), one.get_window_extent()) for one in artists if one.get_text() and one.get_visible()]


def _shown(axes: Any, line: Any) -> bool:
    return len(line.get_xdata()) > 1 and not _outside(axes, line)


def _outside(axes: Any, line: Any) -> bool:
    """Whether most of a line is not to be seen."""
    y = np.asarray(line.get_ydata(), float)
    low, high = sorted(axes.get_ylim())
    return len(y) > 0 and float(np.mean((y < low - 1e-9) | (y > high + 1e-9))) > 0.5
