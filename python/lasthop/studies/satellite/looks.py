"""Colours and the like of the study's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies.satellite.network import MULTICAST, TCP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["COLOURS", "FAINT", "PHASES", "SOFT", "STYLES", "legend", "whole"]

#: A thin line beside the others, and grey words.
FAINT, SOFT = "#BBBBBB", "#555555"

#: Sessions of either kind, by number.
COLOURS = {MULTICAST: ("#D55E00", "#E69F00"), TCP: ("#0072B2", "#56B4E9", "#009E73")}
STYLES = ("-", "--", "-.")

#: The phases of the queue.
PHASES = {1: "#56B4E9", 2: "#DDDDDD", 3: "#D55E00"}


def legend(axes: Axes, columns: int = 4) -> None:
    """A legend above the axes."""
    axes.legend(
        ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.0, handlelength=1.8,
        borderaxespad=0.2,
    )  # fmt: skip


def whole(axis: Axis) -> None:
    """Ticks at whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=5))
