"""Fifth percentiles of the transfers of all runs together, with intervals over runs.

A run has some ten transfers of the largest file: too few for a fifth percentile of its own. So all runs are
pooled, as in the paper. Runs are independent and transfers of a run are not: the interval is over runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lasthop.stats import Estimate, bootstrap

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["lowest", "lowest_difference"]

#: The percentile of the paper's figures 6 and 7, as a share.
SHARE = 0.05


def lowest(runs: Sequence[Array], *, level: float = 0.95) -> Estimate:
    """The fifth percentile of what is in all runs."""
    return bootstrap(lambda drawn: _quantile(runs, drawn), len(runs), level)


def lowest_difference(one: Sequence[Array], other: Sequence[Array], *, level: float = 0.95) -> Estimate:
    """By how much it is larger in ``one`` than in ``other``; runs are drawn in pairs of equal seed."""
    return bootstrap(lambda drawn: _quantile(one, drawn) - _quantile(other, drawn), len(one), level)


def _quantile(runs: Sequence[Array], drawn: Sequence[int]) -> float:
    pooled = np.concatenate([runs[place] for place in drawn])
    return float(np.quantile(pooled, SHARE)) if len(pooled) else math.nan
