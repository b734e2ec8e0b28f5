"""The figures, named as in the paper: `figure-1`. Each has a caption, and a text for those who do not see it."""

from __future__ import annotations

from lasthop.studies import Picture
from lasthop.studies.curves import Line, curves
from lasthop.studies.pictures import drawn

from .experiments import DELAYS, Data


def _rates(data: Data) -> Picture:
    grid = data.grid(DELAYS)
    return curves(
        "figure-1", [Line("SACK", grid.along("goodput_kbps", "delay_ms"))],
        x=grid.axes["delay_ms"], x_label="one-way delay (ms)",
        y_label="goodput (kbit/s)", column="delay_ms", log=True, even=True,
        caption="Goodput over the delay of the path, 1 % of the packets lost. Bars are 95 % intervals over "
        f"{len(grid.seeds)} runs; profile rfc.",
    )  # fmt: skip


def pictures(data: Data) -> list[Picture]:
    """All figures whose runs there are."""
    return drawn([_rates], data)
