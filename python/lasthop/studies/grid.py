"""Runs at all combinations of a few parameters, each with the same seeds, and the numbers that are kept of them.

A :class:`Grid` says what to run and what to keep; ``Bench.grids`` (``bench``) makes the runs; :class:`Numbers` is what
comes back. All points share their seeds, so two of them are compared run by run: the traffic of a seed is
the same at both, and what remains is the effect.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import NotRun

if TYPE_CHECKING:
    from lasthop.results import Result, Table
    from lasthop.scenario import Scenario

__all__ = ["Array", "Grid", "Grids", "Numbers", "Point", "by_reading"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: A value of each parameter.
Point = Mapping[str, Any]

#: Where on the grid: a value of some parameters, or several of one.
Where = Mapping[str, Any]


@dataclass(frozen=True)
class Grid:
    """What to run, and what to keep of a run."""

    name: str
    #: The values of each parameter.
    axes: Mapping[str, Sequence[Any]]
    seeds: Sequence[int]
    #: The scenario of a point.
    scenario: Callable[[Point], Scenario]
    #: The numbers kept of a run.
    reduce: Callable[[Result], Mapping[str, float]]
    #: Rows that are kept beside them, for what cannot be had from a number of each run.
    rows: Callable[[Result], Table] | None = None

    @property
    def points(self) -> int:
        """How many points there are."""
        return math.prod(len(values) for values in self.axes.values())

    @property
    def runs(self) -> int:
        """How many runs."""
        return self.points * len(self.seeds)

    def __iter__(self) -> Iterator[Point]:
        """The points; the last parameter changes fastest."""
        for values in itertools.product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))


@dataclass(frozen=True)
class Numbers:
    """The numbers of the runs of a grid."""

    axes: Mapping[str, Sequence[Any]]
    seeds: Sequence[int]
    #: By name: an axis for each parameter, then one for the seeds.
    values: Mapping[str, Array]
    #: The rows kept of all runs, in the order of points and seeds, with a column for each parameter and `seed`.
    rows: Table | None = None

    def has(self, **where: Any) -> bool:
        """Whether these values are on the grid."""
        return all(
            value in self.axes[name]
            for name, values in where.items()
            for value in (values if isinstance(values, (list, tuple)) else [values])
        )

    def at(self, quantity: str, /, **where: Any) -> Array:
        """A quantity of each seed: the mean over what is not named. A parameter can be named with several values."""
        values = self.values[quantity]
        for name, wanted in where.items():
            if name not in self.axes:
                raise KeyError(f"{name!r} is no parameter of this grid; known: {', '.join(self.axes)}")
            missing = [one for one in _several(wanted) if one not in self.axes[name]]
            if missing:
                raise NotRun(f"no runs with {name} {', '.join(map(str, missing))}")
        places = [
            [known.index(one) for one in _several(where[name])] if name in where else list(range(len(known)))
            for name, known in ((name, list(values)) for name, values in self.axes.items())
        ]
        chosen = values[np.ix_(*places, range(len(self.seeds)))]
        with np.errstate(invalid="ignore"):
            made: Array = _mean(chosen.reshape(-1, len(self.seeds)))
        return made

    def over(self, quantity: str, axis: str, /, **where: Any) -> Callable[[Any], Array]:
        """A function that gives a quantity of each seed at a value of a parameter."""
        return lambda value: self.at(quantity, **{axis: value}, **where)

    def ratio(self, above: str, below: str, /, **where: Any) -> Array:
        """One quantity over another, of each seed, both summed over what is not named."""
        made: Array = self.at(above, **where) / self.at(below, **where)
        return made

    def mean(self, quantity: str, /, **where: Any) -> Estimate:
        """Its mean over the seeds."""
        return estimate(self.at(quantity, **where))

    def along(self, quantity: str, axis: str, /, **where: Any) -> list[Estimate]:
        """Its mean at each value of a parameter."""
        return [self.mean(quantity, **{axis: value}, **where) for value in self.axes[axis]]

    def difference(self, quantity: str, one: Where, other: Where, /, **where: Any) -> Estimate:
        """Of ``one`` minus of ``other``, in pairs of equal seed."""
        return estimate(self.at(quantity, **one, **where) - self.at(quantity, **other, **where))

    def gain_pct(self, quantity: str, one: Where, other: Where, /, **where: Any) -> Estimate:
        """By how many per cent ``one`` has more than ``other``, in pairs of equal seed."""
        return estimate(100 * (self.at(quantity, **one, **where) / self.at(quantity, **other, **where) - 1))

    def within(self, quantity: str, /, **where: Any) -> Estimate:
        """Its mean, with the interval of its deviation from the seed's own mean over the grid.

        What a seed's traffic makes of all points alike does not widen it: it is for comparing points.
        """
        mine, common = self.at(quantity, **where), self.at(quantity)
        deviation = estimate(mine - common)
        return Estimate(float(np.nanmean(mine)), deviation.half, deviation.n, deviation.level)

    def replaced(self, axis: str, instead: Mapping[Any, Any]) -> Numbers:
        """The same with what some values of a parameter gave replaced by what others did: ``{value: other}``.

        It comes from the next seed, so that one thing compared with itself differs by chance and not by nothing.
        """
        place = list(self.axes).index(axis)
        known = list(self.axes[axis])
        made = {}
        for name, values in self.values.items():
            moved = values.copy()
            for value, other in instead.items():
                here: list[Any] = [slice(None)] * values.ndim
                here[place] = known.index(value)
                there = list(here)
                there[place] = known.index(other)
                moved[tuple(here)] = np.roll(values[tuple(there)], 1, axis=-1)
            made[name] = moved
        return replace(self, values=made, rows=None)

    def with_values(self, made: Mapping[str, Array]) -> Numbers:
        """The same with some quantities in the place of those of their names."""
        return replace(self, values={**self.values, **made})

    def first(self, seeds: int) -> Numbers:
        """The same with no more than so many seeds."""
        return replace(
            self,
            seeds=self.seeds[:seeds],
            values={name: values[..., :seeds] for name, values in self.values.items()},
        )

    def kept_rows(self, *columns: str, **where: Any) -> list[Array]:
        """These columns of the rows that were kept of runs, where other columns have these values."""
        if self.rows is None:
            raise NotRun("these runs were made without rows")
        rows = self.rows
        here = np.ones(len(rows), dtype=bool)
        for name, value in where.items():
            here &= rows[name] == value
        return [rows[name][here] for name in columns]

    def points(self, *axes: str) -> Iterator[Point]:
        """All combinations of the values of these parameters, or of all; the last changes fastest."""
        names = axes or tuple(self.axes)
        for values in itertools.product(*(self.axes[name] for name in names)):
            yield dict(zip(names, values, strict=True))

    def best(self, quantity: str, *axes: str, **where: Any) -> Point:
        """The values of these parameters with the largest mean over the rest."""
        return max(self.points(*axes), key=lambda point: self.mean(quantity, **where, **point).mean)

    def table(self) -> Table:
        """A row for each run."""
        import pyarrow as pa

        from lasthop.results import Table

        shape = (*(len(values) for values in self.axes.values()), len(self.seeds))
        places = np.indices(shape).reshape(len(shape), -1)
        columns: dict[str, Any] = {
            name: [values[place] for place in where]
            for (name, values), where in zip(self.axes.items(), places, strict=False)
        }
        columns["seed"] = [self.seeds[place] for place in places[-1]]
        for name, values in self.values.items():
            flat = values.reshape(-1)
            columns[name] = pa.array(flat, mask=np.isnan(flat))
        return Table(pa.table(columns))


@dataclass(frozen=True)
class Grids:
    """The numbers of the grids of one reading of a paper, by their names."""

    #: What is taken, in a word or two.
    name: str
    grids: Mapping[str, Numbers] = field(default_factory=dict)

    def grid(self, name: str) -> Numbers:
        """A grid's numbers."""
        if name not in self.grids:
            raise NotRun(f"{name} was not run")
        return self.grids[name]

    def at(self, grid: str, quantity: str, **where: Any) -> Array:
        """A quantity of each seed, by :meth:`Numbers.at`."""
        numbers = self.grid(grid)
        if quantity not in numbers.values:
            raise NotRun(f"{grid}: {quantity} was not measured")
        return numbers.at(quantity, **where)

    def mean(self, grid: str, quantity: str, **where: Any) -> Estimate:
        """Its mean over the seeds."""
        return estimate(self.at(grid, quantity, **where))

    def with_values(self, grid: str, made: Mapping[str, Array]) -> Self:
        """The same with some quantities of a grid in the place of those of their names."""
        return self.with_grids({grid: self.grid(grid).with_values(made)})

    def with_grids(self, made: Mapping[str, Numbers]) -> Self:
        """The same with some grids in the place of those of their names."""
        return replace(self, grids={**self.grids, **made})


def by_reading(numbers: Mapping[str, Numbers]) -> dict[str, dict[str, Numbers]]:
    """The grids of each reading by their own names; their full ones are `READING: NAME`."""
    made: dict[str, dict[str, Numbers]] = {}
    for full, grid in numbers.items():
        reading, _, name = full.partition(": ")
        made.setdefault(reading, {})[name] = grid
    return made


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _mean(values: Array) -> Array:
    """The mean over the first axis of the values that are there."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    made: Array = np.where(there, values, 0.0).sum(axis=0) / np.where(count, count, 1)
    made[count == 0] = np.nan
    return made
