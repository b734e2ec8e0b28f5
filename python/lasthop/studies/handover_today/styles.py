"""Colours, lines and marks of hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .network.mechanisms import DELAYS, OFF, RESTART

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["HINT_NAMES", "laid_out", "line", "mark"]

#: What hints are called.
HINT_NAMES = {OFF: "no hint", DELAYS: "delays void", RESTART: "begin anew"}

#: Colour, line style and marker of each: shades that differ in grey too.
_LOOKS = {OFF: ("#000000", "-", "o"), DELAYS: ("#0072B2", "--", "s"), RESTART: ("#E69F00", "-.", "^")}


def line(hint: str) -> dict[str, Any]:
    """The look of a hint's line."""
    colour, dashes, _ = _LOOKS[hint]
    return {"color": colour, "linestyle": dashes, "linewidth": 1.0}


def mark(hint: str) -> dict[str, Any]:
    """The look of its mark."""
    colour, _, marker = _LOOKS[hint]
    return {"color": colour, "marker": marker, "markersize": 3.5, "linestyle": "none"}


def laid_out(figure: Figure) -> Figure:
    """A figure of many panels whose places are computed once, not for each file format."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure
