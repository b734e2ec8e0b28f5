"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import NotRun
from lasthop.studies.conditions import Judgement
from lasthop.studies.grid import Array, Grids, Numbers

from .readings import AS_STATED, Taken
from .scenario import TCP_FLOWS

#: The grids.
FAIRNESS, GN, STEPS, TEMPORARY, TCP_ALONE = (
    "fairness",
    "fairness on a Gn",
    "responsiveness",
    "temporary",
    "temporary TCP",
)
PERMANENT, SEVERAL, SCALING = "permanent", "several degraded", "buffer and rate"
INDICATION, REPORTS = "indication", "reports"
FREE, SECONDS = "uncontrolled", "permanent by the second"
EXPULSION = "expulsion"


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    taken: Taken = AS_STATED
    #: What each answer of the reading touches.
    touches: Sequence[frozenset[str]] = field(default=())
    #: Whether §5.1 was run with all of Table I sending.
    crowded: bool = True

    @property
    def sizes(self) -> Sequence[int]:
        """The sizes of groups of §5.3 that were run."""
        return tuple(self.grid(TEMPORARY).axes["ues"])

    def tcp_kbps(self, ues: int) -> Array:
        """TCP's mean throughput of each seed, over the first members of a group of this size."""
        grid = self.grid(TCP_ALONE)
        made: Array = np.mean([grid.at(f"kbps_{n}") for n in range(min(ues, TCP_FLOWS))], axis=0)
        return made

    def ratios(self, scheme: str, ues: int) -> Array:
        """A scheme's throughput over TCP's, as by :func:`over`."""
        mine, tcp = self.grid(TEMPORARY).at("kbps", scheme=scheme, ues=ues), self.tcp_kbps(ues)
        both = min(len(mine), len(tcp))
        return over(mine[:both], tcp[:both])

    def ratio(self, scheme: str, ues: int) -> Estimate:
        """The same as a mean with its interval."""
        return estimate(self.ratios(scheme, ues))

    def estimate(self, grid: str, quantity: str, **where: Any) -> Estimate:
        """The mean of a quantity over the seeds."""
        return estimate(self.grid(grid).at(quantity, **where))

    @cached_property
    def sent(self) -> Mapping[tuple[str, str], tuple[Array, Array]]:
        """Of §5.2, by step and protocol: the times, and what the server sends, a row for each seed."""
        grid = self.grid(STEPS)
        if grid.rows is None:
            raise NotRun("5.2 was run without what is sent")
        columns = {name: np.asarray(grid.rows[name]) for name in ("step", "flow", "seed", "time_s", "sent_kbps")}
        made = {}
        for step in grid.axes["step"]:
            for protocol in ("tfmcc", "pgmcc", "tcp"):
                here = (columns["step"] == step) & (columns["flow"] == protocol)
                times = np.unique(columns["time_s"][here])
                curves = np.zeros((len(grid.seeds), len(times)))
                seeds = np.searchsorted(list(grid.seeds), columns["seed"][here])
                curves[seeds, np.searchsorted(times, columns["time_s"][here])] = columns["sent_kbps"][here]
                made[str(step), protocol] = times, curves
        return made

    @cached_property
    def adapted(self) -> dict[Any, Any]:
        """Times of adaptation that were computed once."""
        return {}


def asking(judge: Callable[[Data], Judgement], *of: str) -> Callable[[Data], Judgement]:
    """A judge that says nothing of a reading with an answer that touches nothing of these."""

    def asked(data: Data) -> Judgement:
        if any(not touched & set(of) for touched in data.touches):
            raise NotRun("it is not touched by this")
        return judge(data)

    return asked


def instead(grid: Numbers, of: Mapping[str, str]) -> Numbers:
    """A grid with some quantities replaced by others: ``{name: other}``, from the next seed."""
    moved = {name: np.roll(grid.values[other], 1, axis=-1) for name, other in of.items()}
    return replace(grid, values={**grid.values, **moved})


def over(one: Array, other: Array) -> Array:
    """One mean over another, with the linear part of each seed.

    The interval of these is that of the ratio in pairs of equal seed (Cochran 1977, §6.3). There is none over nothing.
    """
    if not other.mean() > 0:
        return np.full_like(one, np.nan)
    ratio = one.mean() / other.mean()
    made: Array = ratio + (one - ratio * other) / other.mean()
    return made


def up_to_one(value: Estimate) -> str:
    """A mean of what cannot exceed 1, with its interval as far as that goes."""
    if not np.isfinite(value.half):
        return number(value.mean)
    return f"{number(value.mean, 3)} [{number(max(0.0, value.low), 3)}, {number(min(1.0, value.high), 3)}]"
