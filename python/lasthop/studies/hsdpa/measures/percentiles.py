"""Fifth percentiles of the transfers of all runs together, with intervals over runs.

A run has some ten transfers of the largest file: too few for a fifth percentile of its own. So all runs are
pooled, as in the paper. Runs are independent and transfers of a run are not: the interval is over runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lasthop.stats import Estimate, bootstrap
from lasthop.studies.grid import Array

#: The percentile of the paper's figures 6 and 7, as a share.
SHARE = 0.05


class Pooled:
    """The values of several runs, sorted, so that a percentile of a draw of whole runs is quick to find."""

    def __init__(self, runs: Sequence[Array]) -> None:
        self.runs = len(runs)
        self._sizes = np.array([len(run) for run in runs])
        values = np.concatenate([np.asarray(run, dtype=float) for run in runs])
        order = np.argsort(values, kind="stable")
        self._values = values[order]
        self._run = np.repeat(np.arange(len(runs)), self._sizes)[order]

    def __len__(self) -> int:
        return len(self._values)

    def quantile(self, drawn: Sequence[int] | None = None) -> float:
        """The fifth percentile of the values of these runs, each perhaps drawn more than once; or of all of them."""
        times = np.bincount(range(self.runs) if drawn is None else drawn, minlength=self.runs)
        total = int(times @ self._sizes)
        if not total:
            return math.nan
        # Linear between the two nearest, as numpy has it.
        place = SHARE * (total - 1)
        before = int(place)
        reached = np.cumsum(times[self._run])
        low, high = np.searchsorted(reached, [before, before + 1], side="right")
        one, other = self._values[low], self._values[min(high, len(self._values) - 1)]
        return float(one + (place - before) * (other - one))


def lowest(pooled: Pooled, *, level: float = 0.95) -> Estimate:
    """The fifth percentile of what is in all runs."""
    return bootstrap(pooled.quantile, pooled.runs, level)


def lowest_difference(one: Pooled, other: Pooled, *, level: float = 0.95) -> Estimate:
    """By how much it is larger in ``one`` than in ``other``; runs are drawn in pairs of equal seed."""
    return bootstrap(lambda drawn: one.quantile(drawn) - other.quantile(drawn), one.runs, level)
