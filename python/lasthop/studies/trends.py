"""Whether something rises, falls or bends over the values of a parameter of a grid, judged in pairs of equal seed.

Each function gives differences that are positive if the trend is there, for ``claims.order``, and what speaks
against it however the ends lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.stats import Estimate, estimate, number

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["bends", "falls", "peaks", "rises", "spread_pct"]

#: A quantity of each seed at a value of the parameter.
Of = Callable[[Any], "Array"]


def rises(name: str, of: Of, values: Sequence[Any], *, unit: str = "") -> tuple[dict[str, Estimate], list[str]]:
    """From the first value to the last, with no step down that is more than chance."""
    return _trend(name, of, values, 1.0, f"{number_of(values[-1])} − {number_of(values[0])}{unit}", unit)


def falls(name: str, of: Of, values: Sequence[Any], *, unit: str = "") -> tuple[dict[str, Estimate], list[str]]:
    """From the first value to the last, with no step up that is more than chance."""
    return _trend(name, of, values, -1.0, f"{number_of(values[0])} − {number_of(values[-1])}{unit}", unit)


def _trend(
    name: str, of: Of, values: Sequence[Any], sign: float, ends: str, unit: str
) -> tuple[dict[str, Estimate], list[str]]:
    all_of = [of(value) for value in values]
    against = []
    for before, after, low, high in zip(all_of, all_of[1:], values, values[1:], strict=False):
        step = estimate(sign * (after - before))
        if step.excludes(0) and step.mean < 0 and len(values) > 2:
            word = "falls" if sign > 0 else "rises"
            against.append(f"{name} {word} by {number(-step.mean)} from {number_of(low)} to {number_of(high)}{unit}")
    return {f"{name} {ends}": estimate(sign * (all_of[-1] - all_of[0]))}, against


def bends(name: str, of: Of, values: Sequence[Any], *, up: bool) -> dict[str, Estimate]:
    """That the last step is larger than the first (``up``: convex), or smaller (concave); steps are per unit."""
    first, last = (
        (of(high) - of(low)) / (high - low) for low, high in ((values[0], values[1]), (values[-2], values[-1]))
    )
    return {f"{name}: {'last' if up else 'first'} step − {'first' if up else 'last'}": estimate(
        last - first if up else first - last
    )}  # fmt: skip


def peaks(name: str, of: Of, values: Sequence[Any], *, unit: str = "") -> tuple[Any, dict[str, Estimate], list[str]]:
    """The value with the largest mean, by how much it is above both ends, or why it is no peak."""
    means = [float(of(value).mean()) for value in values]
    best = values[means.index(max(means))]
    if best in (values[0], values[-1]):
        where = "first" if best == values[0] else "last"
        return best, {}, [f"{name} is largest at {number_of(best)}{unit}, the {where} value"]
    ends = {f"{name} {number_of(best)} − {number_of(end)}{unit}": estimate(of(best) - of(end)) for end in
            (values[0], values[-1])}  # fmt: skip
    return best, ends, []


def spread_pct(means: Sequence[Estimate]) -> float:
    """The largest of some means over the least, in per cent more."""
    values = [one.mean for one in means]
    return 100 * (max(values) / min(values) - 1)


def number_of(value: Any) -> str:
    """A value of a parameter for reading."""
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
