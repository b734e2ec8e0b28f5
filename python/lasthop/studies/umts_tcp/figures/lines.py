"""Lines over a parameter of the thesis' runs, with its labels; how versions look; what captions say of the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lasthop import plot
from lasthop.stats import Estimate, estimate
from lasthop.studies import Picture
from lasthop.studies.curves import Line, curves
from lasthop.studies.grid import Numbers

from ..paper import VERSIONS
from ..scenario import TCP

#: Of each parameter the label of its axis, and its name in the data of a figure.
AXES = {
    "bler": ("error rate of PDUs", "error_rate"),
    "max_dat": ("maxDAT", "max_dat"),
    "threshold": ("upswitch threshold (B)", "threshold_bytes"),
    "timer": ("inactivity timer (s)", "timer_s"),
    "np": ("non-preemptive timer (s)", "np_s"),
    "p": ("preemptive timer (s)", "p_s"),
    "initial_window": ("initial window (packets)", "initial_window"),
}

#: The label of goodput, which most figures show.
GOODPUT = "goodput (kbit/s)"

_MARKERS = {"tahoe": "v", "reno": "o", "newreno": "s", "vegas": "^", "sack": "D", "fack": "P"}


def look(tcp: str) -> dict[str, Any]:
    """The colour, style and marker of a version."""
    return {**plot.look(tcp), "marker": _MARKERS[tcp]}


def over(id: str, grid: Numbers, axis: str, lines: Sequence[Line], y_label: str, **more: Any) -> Picture:
    """A figure of lines over a parameter of a grid."""
    x_label, column = AXES[axis]
    return curves(id, lines, **{"x": grid.axes[axis], "x_label": x_label, "y_label": y_label, "column": column, **more})


def by_version(grid: Numbers, quantity: str, axis: str, versions: Sequence[str] = VERSIONS) -> list[Line]:
    """A line for each version: means."""
    return [Line(TCP[tcp], grid.along(quantity, axis, tcp=tcp), look(tcp)) for tcp in versions]


def goodput(grid: Numbers, axis: str) -> list[Line]:
    """The goodput of each version, for comparing points."""
    return [
        Line(TCP[tcp], [grid.within("goodput_kbps", tcp=tcp, **{axis: value}) for value in grid.axes[axis]], look(tcp))
        for tcp in VERSIONS
    ]


def share(grid: Numbers, **where: Any) -> Estimate:
    """Timeouts for each retransmitted packet."""
    return estimate(grid.ratio("timeouts", "retransmissions", **where))


def runs_said(grid: Numbers) -> str:
    """How many runs, and what the bars are."""
    return f"Means of {len(grid.seeds)} runs with their 95 % intervals; profile ns2."


def compared(grid: Numbers) -> str:
    """What bars mean where points are compared whose seeds have the same traffic."""
    mean = grid.mean("goodput_kbps")
    return (
        f"Bars are 95 % intervals of the deviation from the seed's own mean, over {len(grid.seeds)} seeds: the "
        f"traffic of a seed is the same at all points. The mean over all points is {mean} kbit/s; profile ns2."
    )
