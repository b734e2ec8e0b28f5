"""What RFC 8868 §3 asks of rates over time: convergence, oscillation, fairness over several times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .log import BIN_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.studies.grid import Array

__all__ = ["WINDOWS_S", "between", "converged", "largest_ratio", "smooth", "swings"]

#: Rates are smoothed over this time where convergence and oscillation are looked for.
SMOOTH_S = 1.0

#: A rate has converged from when on it stays within this share of its mean over the last third.
NEAR = 0.2

#: Fairness is looked at over these times (RFC 8868 §3, item 7).
WINDOWS_S = (1.0, 5.0, 20.0)

#: The watermarks of oscillation, as shares of what a flow can have.
LOW, HIGH = 0.7, 1.05


def between(values: Array, begin: float, end: float) -> Array:
    """The bins that lie in a time."""
    return values[round(begin / BIN_S) : round(end / BIN_S)]


def smooth(rates: Array) -> Array:
    """Means over the second before the end of each bin; of less at the beginning."""
    width = round(SMOOTH_S / BIN_S)
    total = np.concatenate([[0.0], np.cumsum(rates)])
    ends = np.arange(1, len(rates) + 1)
    begins = np.maximum(ends - width, 0)
    made: Array = (total[ends] - total[begins]) / (ends - begins)
    return made


def converged(rates: Array) -> float | None:
    """After which time a rate, given in bins of one segment, has converged; `None` if it does not.

    It is the first time from which the mean over 1 s stays within a fifth of its mean over the last third. One that
    leaves this band in the last third has not converged.
    """
    third = len(rates) - len(rates) // 3
    aim = float(rates[third:].mean())
    away = np.flatnonzero(np.abs(smooth(rates) - aim) > NEAR * aim)
    if not len(away):
        return 0.0
    return None if away[-1] >= third else float(away[-1] + 1) * BIN_S


def swings(rates: Array, share: float) -> int:
    """How often the mean over 1 s falls from the high watermark to the low one, or rises to the high one."""
    means = smooth(rates)
    marks = np.where(means >= HIGH * share, 1, np.where(means <= LOW * share, -1, 0))
    marks = marks[marks != 0]
    return int((np.diff(marks) != 0).sum())


def largest_ratio(rates: Sequence[Array], window_s: float) -> float:
    """The largest ratio of two flows' means over windows of this length that follow one another."""
    width = round(window_s / BIN_S)
    count = len(rates[0]) // width
    if count == 0 or len(rates) < 2:
        return float("nan")
    means = np.array([one[: count * width].reshape(count, width).mean(axis=1) for one in rates])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = means.max(axis=0) / means.min(axis=0)
    return float(np.nan_to_num(ratios, nan=1.0, posinf=STARVED).max())


#: The ratio to a flow that gets nothing in a window.
STARVED = 1e3
