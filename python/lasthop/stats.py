"""Means and their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Estimate", "estimate"]


@dataclass(frozen=True)
class Estimate:
    """A mean of independent replications with its confidence interval (Student's t)."""

    #: The mean.
    mean: float
    #: Half the interval's width; not a number with fewer than two values.
    half: float
    #: How many values.
    n: int
    #: The share of such intervals that hold the expectation.
    level: float = 0.95

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half

    def excludes(self, value: float) -> bool:
        """Whether the interval lies on one side of ``value``."""
        return self.n > 1 and not self.low <= value <= self.high

    def __str__(self) -> str:
        return with_half(self.mean, self.half)


def estimate(values: Iterable[float], level: float = 0.95) -> Estimate:
    """The mean of ``values`` with its confidence interval. Missing values are left out."""
    import numpy as np

    data = np.asarray([v for v in values if v is not None], dtype=float)
    data = data[~np.isnan(data)]
    n = len(data)
    if n < 2:
        return Estimate(float(data[0]) if n else math.nan, math.nan, n, level)
    error = float(data.std(ddof=1)) / math.sqrt(n)
    return Estimate(float(data.mean()), _t_quantile(n - 1, 0.5 + level / 2) * error, n, level)


def _t_quantile(freedom: int, probability: float) -> float:
    try:
        # scipy.stats takes ten times as long to import.
        from scipy.special import stdtrit
    except ImportError as missing:
        raise ImportError("confidence intervals need scipy: pip install 'lasthop[stats]'") from missing
    return float(stdtrit(freedom, probability))


def with_half(mean: float, half: float) -> str:
    """The mean and its half-width, both to the place of the half-width's second digit."""
    if math.isnan(mean):
        return "–"
    if math.isnan(half):
        return number(mean)
    if half <= 1e-9 * abs(mean):
        return f"{number(mean)} ±0"
    places = min(6, max(0, 1 - math.floor(math.log10(half))))
    return f"{number(mean, places)} ±{number(half, places)}"


def number(value: float | int | None, places: int | None = None) -> str:
    """A number for reading: four digits, thousands set apart."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if places is None:
        size = math.floor(math.log10(abs(value))) if value else 0
        places = min(6, max(0, 3 - size))
    text = f"{value:,.{places}f}".replace(",", " ")
    return text.rstrip("0").rstrip(".") if "." in text and value == int(value) else text
