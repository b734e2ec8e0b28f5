"""The figures of chapter 8: web pages and hybrid inactivity timers.

The thesis' surfaces over both timers are drawn as lines over the non-preemptive one, a line for each preemptive one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lasthop.stats import Estimate
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.curves import Line, Marks, ordered
from lasthop.studies.grid import Numbers

from ..data import Data
from ..paper import HYBRID_RETRANSMISSIONS
from ..scenario import TCP
from . import lines
from .lines import GOODPUT, compared, over, runs_said

_FALLS = "goodput falls with NP, and has a hole at the smallest NP and the largest P"
_DIP = (
    "the hole of 750 B is gone, and goodput falls with NP most at the largest P; a full packet passes 750 B and 1000 B "
    "alike"
)
_BOWL = "goodput falls with NP + P, then grows"

#: The surfaces of goodput: figure, version, threshold, and what the thesis shows there.
SURFACES = (
    ("8.6", "reno", 750, _FALLS),
    ("8.7", "tahoe", 750, _FALLS),
    ("8.8", "reno", 1000, _DIP),
    ("8.9", "tahoe", 1000, _DIP),
    ("8.10", "reno", 1500, _BOWL),
    ("8.11", "tahoe", 1500, _BOWL),
    ("8.12", "sack", 750, f"{_FALLS}, but falls less than Reno's"),
    ("8.13", "sack", 1000, "it is “unpredictable”"),
    ("8.14", "sack", 1500, "goodput grows with P"),
)


def _thresholds(data: Data) -> Picture:
    grid = data.grid("chapter 8")
    return over(
        "figure-8.2", grid, "threshold", lines.goodput(grid, "threshold"), GOODPUT,
        caption="Goodput over the threshold, mean of all timers. In the thesis 1500 B is worst, Reno and Newreno are "
        "best at 1000 B and Sack at a small one, within 1 %. " + compared(grid),
    )  # fmt: skip


def _by_timers(id: str, grid: Numbers, of: Callable[..., Estimate], y_label: str, caption: str, **more: Any) -> Picture:
    """A figure over the non-preemptive timer, with a line for each preemptive one."""
    shown = [
        Line(f"P {p} s", [of(np=a, p=p) for a in grid.axes["np"]], ordered(place))
        for place, p in enumerate(grid.axes["p"])
    ]
    return over(id, grid, "np", shown, y_label, caption=caption, **more)


def _retransmissions(data: Data) -> Picture:
    grid = data.grid("chapter 8")
    return _by_timers(
        "figure-8.3", grid, partial(grid.mean, "retransmissions"), "retransmissions / connection",
        "Retransmissions of TCP for each connection over the non-preemptive timer, for each preemptive timer P; mean "
        "of all versions and thresholds. Open mark: the thesis' mean of all points, "
        f"{HYBRID_RETRANSMISSIONS}. {runs_said(grid)}", zero=True,
        marks=[Marks([(float(grid.axes["np"][0]), HYBRID_RETRANSMISSIONS)], name="thesis' mean")],
    )  # fmt: skip


def _allocations(data: Data) -> Picture:
    grid = data.grid("chapter 8")
    return _by_timers(
        "figure-8.4", grid, partial(grid.mean, "allocations"), "allocations / connection",
        "Dedicated channels allocated for each connection over the non-preemptive timer, for each preemptive timer P; "
        f"mean of all versions and thresholds. {runs_said(grid)}", zero=True,
    )  # fmt: skip


def _timeouts(data: Data) -> Picture:
    grid = data.grid("chapter 8")
    return _by_timers(
        "figure-8.5", grid, partial(lines.share, grid), "timeouts / retransmission",
        "Timeouts for each retransmitted packet over the non-preemptive timer, for each preemptive timer P; mean of "
        f"all versions and thresholds. {runs_said(grid)}", zero=True,
    )  # fmt: skip


def _surface(figure: str, tcp: str, threshold: int, thesis: str, data: Data) -> Picture:
    grid = data.grid("chapter 8")
    if not grid.has(tcp=tcp, threshold=threshold):
        raise NotRun(f"no runs with threshold {threshold}")
    return _by_timers(
        f"figure-{figure}", grid, partial(grid.within, "goodput_kbps", tcp=tcp, threshold=threshold), GOODPUT,
        f"Goodput with {TCP[tcp]} and a threshold of {threshold} B over the non-preemptive timer, for each preemptive "
        f"timer P. In the thesis {thesis}. {_other(grid, tcp, threshold)}{compared(grid)}",
    )  # fmt: skip


def _other(grid: Numbers, tcp: str, threshold: int) -> str:
    """How far it is from Reno's."""
    if tcp == "reno":
        return ""
    apart = grid.gain_pct("goodput_kbps", {"tcp": tcp}, {"tcp": "reno"}, threshold=threshold)
    return f"The mean differs from Reno's by {apart} %. "


def _spared(data: Data) -> Picture:
    grid = data.grid("chapter 8")
    shown = [
        Line(f"NP {a} s", [grid.mean("allocations", threshold=1500, np=a, p=p) for p in grid.axes["p"]], ordered(place))
        for place, a in enumerate(grid.axes["np"])
    ]
    return over(
        "figure-8.15", grid, "p", shown, "allocations / connection", zero=True,
        caption="Dedicated channels allocated for each connection over the preemptive timer at 1500 B, for each "
        f"non-preemptive timer NP; mean of all versions. {runs_said(grid)}",
    )  # fmt: skip


ALL: Sequence[Callable[[Data], Picture]] = (
    _thresholds, _retransmissions, _allocations, _timeouts, *(partial(_surface, *one) for one in SURFACES), _spared,
)  # fmt: skip
