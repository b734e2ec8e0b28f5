"""Colours and marks of controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop import plot

from .network.controllers import CONTROLLERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["colour", "laid_out", "marker"]

#: Marks tell controllers apart without colours.
_MARKERS = {"nada": "o", "scream": "s", "gcc": "^", "tfrc": "D", "bbr": "v", "cubic": "P", "prague": "X",
            "scream-l4s": "p"}  # fmt: skip


#: Controllers that elsewhere have the colour of another one here.
_OWN = {"gcc": "#CC79A7", "prague": "#56B4E9"}


def colour(controller: str) -> str:
    """One colour for each controller, with marks or without."""
    name = controller.partition("-")[0]
    return _OWN.get(name) or str(plot.look(name)["color"])


def marker(controller: str) -> dict[str, Any]:
    """Its mark: filled without marks of a queue, else open."""
    shade = colour(controller)
    face = "none" if CONTROLLERS[controller].queue else shade
    return {
        "marker": _MARKERS.get(controller) or _MARKERS[controller.partition("-")[0]],
        "color": shade,
        "markerfacecolor": face,
        "markeredgecolor": shade,
        "linestyle": "none",
    }


def laid_out(figure: Figure) -> Figure:
    """A figure of many panels whose places are computed once, not for each file format."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure
