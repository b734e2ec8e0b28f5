"""The runs of one reading of the thesis, and what several judges and figures ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Array, Grids, Numbers
from lasthop.studies.trends import spread_pct

from .paper import VERSIONS
from .scenario import TCP

if TYPE_CHECKING:
    from .single_runs.followed import Followed
    from .single_runs.switching import Download, Sharing


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    #: The buffer through the periods of a download, and two terminals that share a channel.
    download: Download | None = None
    sharing: Sharing | None = None
    #: Runs of chapter 6 over time.
    followed: Mapping[str, Followed] | None = None


#: Into how many equal parts Fig. 7.2 divides the points by their round-trip time.
BINS = 10


def along(grid: Numbers, quantity: str, axis: str, unit: str = "", **where: object) -> str:
    """Means at each value of a parameter, for reading; of goodput without what a seed's traffic makes of all alike."""
    measure = grid.within if quantity == "goodput_kbps" else grid.mean
    means = [measure(quantity, **{axis: value}, **where) for value in grid.axes[axis]]
    return ", ".join(f"{one}{unit} at {value}" for value, one in zip(grid.axes[axis], means, strict=True))


def tenths(grid: Numbers) -> tuple[list[float], list[Array]]:
    """The points of all versions in parts of equal number by their RTT: its mean, and goodput of each seed."""
    points = list(grid.points("max_dat", "threshold", "timer"))
    if len(points) < 2 * BINS:
        raise NotRun(f"{len(points)} points are too few for tenths")
    rtt = [grid.mean("rtt_s", **point).mean for point in points]
    parts = np.array_split(np.argsort(rtt, kind="stable"), BINS)
    goodput = [grid.at("goodput_kbps", **point) for point in points]
    return (
        [float(np.mean([rtt[place] for place in part])) for part in parts],
        [np.mean([goodput[place] for place in part], axis=0) for part in parts],
    )


def by_rtt(grid: Numbers) -> tuple[list[float], list[Estimate]]:
    """The same with goodput's mean, and the interval of its deviation from the seed's own mean over all points."""
    times, goodput = tenths(grid)
    common = grid.at("goodput_kbps")
    return times, [Estimate(float(one.mean()), estimate(one - common).half, len(one)) for one in goodput]


def more_pct(grid: Numbers, one: dict[str, object], other: dict[str, object], **where: object) -> Estimate:
    """By how many per cent goodput is more at ``one`` than at ``other``, in pairs."""
    return grid.gain_pct("goodput_kbps", one, other, **where)


def spreads(grid: Numbers, thresholds: Sequence[int]) -> dict[str, Estimate]:
    """By how many per cent each version's goodput differs over these thresholds."""
    return {
        tcp: estimate(spread_pct([grid.at("goodput_kbps", tcp=tcp, threshold=value) for value in thresholds]))
        for tcp in grid.axes["tcp"]
    }


def best_thresholds(grid: Numbers) -> str:
    """Where each version's goodput is largest, for reading."""
    best = {tcp: grid.best("goodput_kbps", "threshold", tcp=tcp)["threshold"] for tcp in VERSIONS}
    return "best for " + ", ".join(f"{TCP[tcp]} at {value}" for tcp, value in best.items()) + " B"


def shared(data: Data) -> list[int]:
    """The thresholds of both chapters."""
    single, hybrid = (data.grid(name).axes["threshold"] for name in ("chapter 7", "chapter 8"))
    both = [t for t in single if t in hybrid]
    if len(both) < 2:
        raise NotRun("the chapters share no two thresholds")
    return both


def gain(data: Data, tcp: str, threshold: int) -> Array:
    """By how many per cent goodput is more with hybrid timers than with one, at the largest maxDAT."""
    hybrid, single = data.grid("chapter 8"), data.grid("chapter 7")
    one = hybrid.at("goodput_kbps", tcp=tcp, threshold=threshold)
    most = max(single.axes["max_dat"])
    made: Array = 100 * (one / single.at("goodput_kbps", tcp=tcp, threshold=threshold, max_dat=most) - 1)
    return made


class Surface:
    """Goodput over both timers at a threshold, of each seed."""

    def __init__(self, data: Data, threshold: int) -> None:
        self.grid: Numbers = data.grid("chapter 8")
        if not self.grid.has(threshold=threshold):
            raise NotRun(f"no runs with threshold {threshold}")
        self.threshold = threshold
        self.np, self.p = self.grid.axes["np"], self.grid.axes["p"]

    def at(self, **where: Any) -> Array:
        """Goodput, the mean over what is not named."""
        return self.grid.at("goodput_kbps", threshold=self.threshold, **where)

    def hole_pct(self, tcp: str) -> Array:
        """By how many per cent it is less at the smallest NP with the largest P than with the smallest P."""
        first = self.np[0]
        made: Array = 100 * (1 - self.at(tcp=tcp, np=first, p=self.p[-1]) / self.at(tcp=tcp, np=first, p=self.p[0]))
        return made

    def fall_pct(self, tcp: str, **where: Any) -> Array:
        """By how many per cent it is less at the largest NP than at the smallest."""
        made: Array = 100 * (1 - self.at(tcp=tcp, np=self.np[-1], **where) / self.at(tcp=tcp, np=self.np[0], **where))
        return made


def crossing(places: Sequence[float], values: Sequence[float]) -> float | None:
    """Where a curve that begins above 0 first comes below."""
    for (low, one), (high, other) in zip(zip(places, values, strict=True), zip(places[1:], values[1:], strict=True),
                                         strict=False):  # fmt: skip
        if one > 0 >= other:
            return low + (high - low) * one / (one - other)
    return None


def corner(data: Data) -> str:
    """What happens at maxDAT 2 and 1500 B, in words."""
    grid = data.grid("chapter 7")
    rest = [m for m in grid.axes["max_dat"] if m != 2]
    at = more_pct(grid, {"threshold": 1500}, {"threshold": 1000}, max_dat=2)
    elsewhere = more_pct(grid, {"threshold": 1500}, {"threshold": 1000}, max_dat=rest)
    return (
        f"from 1000 to 1500 B goodput changes by {at} % at maxDAT 2 and by {elsewhere} % at the others. At 1500 B a "
        "terminal with a packet in flight stays on the common channels; their RLC entities send more than the channel "
        "carries, its queue drops PDUs, and with two transmissions packets are lost"
    )
