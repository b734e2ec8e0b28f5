"""Means and their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["Estimate", "bootstrap", "estimate", "exact", "intervals", "mean", "welch"]

#: How often a bootstrap draws.
DRAWS = 400

#: More runs than these are not worth counting.
MOST_RUNS = 1_000_000

#: A number for reading has at most this many digits behind the point …
MOST_PLACES = 6
#: … and is written as a power of ten where two of them would not be left.
_LEAST = 10.0 ** (1 - MOST_PLACES)


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

    def at(self, level: float) -> Estimate:
        """The same mean with an interval of another level."""
        if self.n < 2 or level == self.level:
            return Estimate(self.mean, self.half, self.n, level)
        wider, mine = (_student(self.n - 1, one) for one in (level, self.level))
        return Estimate(self.mean, self.half * wider / mine, self.n, level)

    def runs_for(self, half: float) -> int | None:
        """How many runs it takes for half an interval of ``half``; `None` if these do not say."""
        if not math.isfinite(self.half) or self.n < 2 or not half > 0:
            return None
        deviation = self.half * math.sqrt(self.n) / _student(self.n - 1, self.level)
        low, high = 2, 2
        while _student(high - 1, self.level) * deviation / math.sqrt(high) > half:
            if high > MOST_RUNS:
                return None
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            enough = _student(middle - 1, self.level) * deviation / math.sqrt(middle) <= half
            low, high = (low, middle) if enough else (middle + 1, high)
        return high

    def __str__(self) -> str:
        return with_half(self.mean, self.half)


def estimate(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """The mean of ``values`` with its confidence interval. Missing values are left out."""
    import numpy as np

    data = np.asarray([v for v in values if v is not None], dtype=float)
    mean, half, n = intervals(data, level)
    return Estimate(float(mean), float(half), int(n), level)


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is there; `None` if nothing is."""
    there = [value for value in values if value is not None]
    return math.fsum(there) / len(there) if there else None


def welch(one: Iterable[float | None], other: Iterable[float | None], level: float = 0.95) -> Estimate:
    """The difference ``other − one`` of two independent means (Welch 1947), with as many values as the smaller has.

    Missing values are left out.
    """
    import numpy as np

    samples = [np.asarray([v for v in values if v is not None], dtype=float) for values in (one, other)]
    samples = [sample[~np.isnan(sample)] for sample in samples]
    n = min(len(sample) for sample in samples)
    if n == 0:
        return Estimate(math.nan, math.nan, 0, level)
    mean = float(_mean(samples[1]) - _mean(samples[0]))
    if n < 2:
        return Estimate(mean, math.nan, n, level)
    errors = [float(((sample - _mean(sample)) ** 2).sum()) / (len(sample) - 1) / len(sample) for sample in samples]
    if not sum(errors):
        return Estimate(mean, 0.0, n, level)
    freedom = sum(errors) ** 2 / sum(e**2 / (len(s) - 1) for e, s in zip(errors, samples, strict=True))
    half = float(_t_quantile(np.array(freedom), 0.5 + level / 2)) * math.sqrt(sum(errors))
    return Estimate(mean, half, n, level)


def exact(value: float) -> Estimate:
    """A value that no chance is in: a count of what a protocol does, a closed form."""
    return Estimate(float(value), 0.0, 1)


def intervals(values: Array, level: float = 0.95) -> tuple[Array, Array, Array]:
    """Means over the last axis, half the widths of their intervals, and how many values each has."""
    import numpy as np

    there = ~np.isnan(values)
    n = there.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = _mean(values)
        squares = (np.where(there, values - mean[..., None], 0.0) ** 2).sum(axis=-1)
        error = np.sqrt(squares / (n - 1) / n)
    few = n < 2
    if few.all():
        return mean, np.full_like(mean, math.nan), n
    half = np.where(few, math.nan, _t_quantile(np.maximum(n - 1, 1), 0.5 + level / 2) * np.where(few, 0.0, error))
    return mean, half, n


def _mean(values: Array) -> Array:
    """The mean over the last axis of what is there: of equal values that value, to the last bit."""
    import numpy as np

    there = ~np.isnan(values)
    n = there.sum(axis=-1)
    mean = np.where(there, values, 0.0).sum(axis=-1) / n
    # What the sum's rounding has left out.
    near = np.where(there & np.isfinite(values), values - mean[..., None], 0.0).sum(axis=-1) / n
    corrected: Array = np.where(np.isfinite(mean), mean + near, mean)
    return corrected


def bootstrap(statistic: Callable[[Sequence[int]], float], runs: int, level: float = 0.95) -> Estimate:
    """A statistic of what several independent runs have together, with its confidence interval.

    ``statistic`` gets the numbers of the runs to take, each perhaps more than once. Its error is that over draws of
    whole runs (Efron, Tibshirani 1993, chapter 6), which n / (n − 1) keeps from being too small for few of them.
    """
    import numpy as np

    whole = statistic(range(runs))
    if runs < 2 or math.isnan(whole):
        return Estimate(whole, math.nan, runs, level)
    draws = np.random.default_rng(0).integers(runs, size=(DRAWS, runs))
    drawn = np.array([statistic(drawn) for drawn in draws])
    if np.isinf(drawn).any():
        return Estimate(whole, math.nan, runs, level)
    variance = float(np.nanvar(drawn, ddof=1)) * runs / (runs - 1)
    return Estimate(whole, _student(runs - 1, level) * math.sqrt(variance), runs, level)


def _student(freedom: int, level: float) -> float:
    """Half the width of an interval of this level, in standard errors."""
    import numpy as np

    return float(_t_quantile(np.array(freedom), 0.5 + level / 2))


def _t_quantile(freedom: Array, probability: float) -> Array:
    import numpy as np

    from ._core import student

    several, which = np.unique(freedom, return_inverse=True)
    quantiles = np.array([student(float(one), probability) for one in several])
    found: Array = quantiles[which].reshape(np.shape(freedom))
    return found


def with_half(mean: float, half: float) -> str:
    """The mean and its half-width, both to the place of the half-width's second digit."""
    if math.isnan(mean):
        return "–"
    if not (math.isfinite(half) and math.isfinite(mean)):
        return number(mean)
    if half <= 1e-9 * abs(mean):
        return f"{number(mean)} ±0"
    places = max(0, 1 - math.floor(math.log10(half)))
    if places > MOST_PLACES:
        return f"{number(mean) if abs(mean) < _LEAST else number(mean, MOST_PLACES)} ±{_tiny(half)}"
    return f"{number(mean, places)} ±{number(half, places)}"


def waited(seconds: float) -> str:
    """A time that a reader waited, in seconds or milliseconds."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.1f} ms"


def _tiny(value: float) -> str:
    """Two digits and a power of ten."""
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}e{int(power)}"


def number(value: float | int | None, places: int | None = None) -> str:
    """A number for reading: four digits, thousands set apart."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if places is None:
        if value and abs(value) < _LEAST:
            return _tiny(value)
        size = math.floor(math.log10(abs(value))) if value else 0
        places = min(MOST_PLACES, max(0, 3 - size))
    text = f"{value:,.{places}f}".replace(",", " ")
    return text.rstrip("0").rstrip(".") if "." in text and value == int(value) else text
