"""Whether something rises, falls or bends over the values of a parameter of a grid, in pairs of equal seed.

Each function gives the conditions of a claim: differences that lie above 0 if the trend is there, and steps between
neighbouring values, none of which may go back by more than a tenth of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.stats import estimate
from lasthop.studies.conditions import Condition, above

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["BACK", "STEP", "bends", "falls", "peaks", "rises", "spread_pct"]

#: How far a step may go against a trend, as a share of the whole: what one does not see in a figure of it.
BACK = 0.1

#: How the name of a condition on a step ends.
STEP = "as a share of the whole"

#: A quantity of each seed at a value of the parameter.
Of = Callable[[Any], "Array"]


def rises(name: str, of: Of, values: Sequence[Any], *, unit: str = "") -> list[Condition]:
    """It is larger at the last value than at the first, and no step between goes back."""
    return _trend(name, of, values, 1.0, unit)


def falls(name: str, of: Of, values: Sequence[Any], *, unit: str = "") -> list[Condition]:
    """It is smaller at the last value than at the first, and no step between goes back."""
    return _trend(name, of, values, -1.0, unit)


def _trend(name: str, of: Of, values: Sequence[Any], sign: float, unit: str) -> list[Condition]:
    all_of = [sign * of(value) for value in values]
    word = "rise" if sign > 0 else "fall"
    whole = estimate(all_of[-1] - all_of[0])
    size = abs(whole.mean) or 1.0
    made = [above(f"{word} of {name} from the first value to the last", whole, unit=unit)]
    if len(values) > 2:
        made += [
            above(f"{word} of {name} from {_of(low)} to {_of(high)}, {STEP}",
                  estimate((after - before) / size), -BACK)
            for before, after, low, high in zip(all_of, all_of[1:], values, values[1:], strict=False)
        ]  # fmt: skip
    return made


def bends(name: str, of: Of, values: Sequence[Any], *, up: bool) -> Condition:
    """That the last step is larger than the first (``up``: convex), or smaller (concave); steps are per unit."""
    first, last = (
        (of(high) - of(low)) / (high - low) for low, high in ((values[0], values[1]), (values[-2], values[-1]))
    )
    what = f"{name}: {'last' if up else 'first'} step − {'first' if up else 'last'}"
    return above(what, estimate(last - first if up else first - last))


def peaks(name: str, of: Of, values: Sequence[Any], best: Any, *, unit: str = "") -> list[Condition]:
    """That it is larger at ``best`` than at either end."""
    return [
        above(f"{name} at {_of(best)} − at {_of(end)}", estimate(of(best) - of(end)), unit=unit)
        for end in (values[0], values[-1])
    ]


def spread_pct(each: Sequence[Array]) -> Array:
    """The largest of some means over the least, in per cent more, of each seed.

    Which ones these are is settled by the means over all seeds: the largest of a seed's own values would hold its
    noise.
    """
    means = [float(np.mean(one)) for one in each]
    made: Array = 100 * (each[means.index(max(means))] / each[means.index(min(means))] - 1)
    return made


def _of(value: Any) -> str:
    """A value of a parameter for reading."""
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)
