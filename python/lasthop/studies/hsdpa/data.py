"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from lasthop.results import Table
from lasthop.stats import Estimate, estimate
from lasthop.studies.grid import Array, Grids, Numbers

from .measures.percentiles import Pooled
from .scenario import TITLES

#: The level of the paper's intervals, which the figures have.
LEVEL = 0.90

#: The grids: of both protocols and schedulers; of runs in which every packet is recorded. Beyond the paper: the third
#: scheduler, and what TCP detects of spurious timeouts.
MAIN, FIRST, BEYOND, DETECTION = "main", "packets", "proportional fair", "detection"


def of_all(above: Array, below: Array) -> Array:
    """A ratio of sums over all runs, as the paper aggregates its data (§IV): a value of each run, whose mean it is.

    Their spread is that of the ratio to first order (Cochran 1977, §6.4): of each run's sum less the ratio times what
    it is a share of. Runs without any of that so count for nothing.
    """
    total = np.nansum(below)
    if not total:
        return np.full(len(below), np.nan)
    ratio = np.nansum(above) / total
    made: Array = ratio + (above - ratio * below) * len(below) / total
    return made


def portion(part: Array, whole: Array) -> Estimate:
    """How many in a hundred, of all runs. Where it is none or all, its error is that of Clopper and Pearson (1934)."""
    one, total = estimate(100 * of_all(part, whole)), float(np.nansum(whole))
    if total and np.nansum(part) in (0.0, total):
        return Estimate(one.mean, 100 * (1 - 0.025 ** (1 / total)), one.n)
    return one


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    #: What the reading takes, by the names of changes.
    changes: Mapping[str, Any] = field(default_factory=dict)
    #: The claims whose text is read otherwise; the others are judged without that.
    otherwise: frozenset[str] = frozenset()

    @property
    def main(self) -> Numbers:
        """Both protocols and schedulers, at the loads that were run."""
        return self.grid(MAIN)

    def mean_of(self, quantity: str, size: int, *, over: str = "transfers", **where: Any) -> Array:
        """A quantity for each transfer of a size."""
        return of_all(self.main.at(f"{quantity}_{size}", **where), self.main.at(f"{over}_{size}", **where))

    def rate(self, size: int, **where: Any) -> Array:
        """The mean transfer rate of a size."""
        return self.mean_of("rate_kbps", size, over="finished", **where)

    def total(self, quantity: str, sizes: tuple[int, ...], **where: Any) -> Array:
        """A quantity summed over transfers of some sizes, of each seed."""
        made: Array = np.sum([self.main.at(f"{quantity}_{size}", **where) for size in sizes], axis=0)
        return made

    def share(self, part: str, whole: str, sizes: tuple[int, ...], **where: Any) -> Estimate:
        """Of the transfers of some sizes, in per cent."""
        return portion(self.total(part, sizes, **where), self.total(whole, sizes, **where))

    def per(self, above: str, below: str, **where: Any) -> Array:
        """One number of a run for each of another."""
        return of_all(self.main.at(above, **where), self.main.at(below, **where))

    def difference(self, of: str, one: Mapping[str, Any], other: Mapping[str, Any], **where: Any) -> Estimate:
        """Of ``one`` minus of ``other``, in pairs of equal seed."""
        return estimate(self.main.at(of, **one, **where) - self.main.at(of, **other, **where))

    @cached_property
    def _transfers(self) -> dict[tuple[object, ...], list[tuple[Array, Array]]]:
        """Sizes and rates of the finished transfers of each seed, by point."""
        grid, made = self.main, {}
        for point in grid.points():
            seeds, sizes, rates = grid.kept_rows("seed", "bytes", "rate_kbps", **point)
            each = [(seeds == seed) & ~np.isnan(rates) for seed in grid.seeds]
            made[tuple(point.values())] = [(sizes[one], rates[one]) for one in each]
        return made

    @cached_property
    def _pooled(self) -> dict[tuple[object, ...], Pooled]:
        return {}

    def rates(self, size: int | None = None, **where: Any) -> Pooled:
        """The rates of all finished transfers of a size, or of all sizes."""
        self.main.at("transfers", **where)
        key = (size, *(where[name] for name in self.main.axes))
        if key not in self._pooled:
            of = self._transfers[key[1:]]
            self._pooled[key] = Pooled([rates if size is None else rates[sizes == size] for sizes, rates in of])
        return self._pooled[key]


def instead(axis: str, others: Mapping[str, str]) -> Callable[[Data], Data]:
    """A null model: what some values of a parameter gave, replaced by what others did. It comes from the next seed."""

    def of(data: Data) -> Data:
        known = {name: grid for name, grid in data.grids.items() if axis in grid.axes and grid.has(**{axis: [*others]})}
        made = {
            name: replace(grid.replaced(axis, others), rows=_rows(grid, axis, others))
            for name, grid in known.items()
            if grid.has(**{axis: [*others.values()]})
        }
        return data.with_grids(made)

    return of


def _rows(grid: Numbers, axis: str, others: Mapping[str, str]) -> Table | None:
    """The rows of a grid with some values of a parameter replaced by others, as `Numbers.replaced` does it."""
    if grid.rows is None:
        return None
    arrow = grid.rows.to_arrow()
    values, seeds = grid.rows[axis], grid.rows["seed"]
    following = dict(zip(grid.seeds, (*grid.seeds[1:], grid.seeds[0]), strict=True))
    parts = [arrow.filter(pa.array(~np.isin(values, [*others])))]
    for value, other in others.items():
        mine = pa.array(values == other)
        part = arrow.filter(mine)
        moved = [following[seed] for seed in seeds[values == other]]
        for name, column in ((axis, [value] * len(part)), ("seed", moved)):
            place = part.column_names.index(name)
            part = part.set_column(place, name, pa.array(column).cast(part.schema.field(name).type))
        parts.append(part)
    return Table(pa.concat_tables(parts))


#: Null models of several claims: what two are compared does not differ.
RR_FOR_SIR = instead("scheduler", {"max_sir": "round_robin"})
TCP_FOR_TFRC = instead("protocol", {"tfrc": "tcp"})


def title(**where: Any) -> str:
    """A scenario's name, for reading: `TCP with SIR, 50 mobiles`."""
    said = " with ".join(TITLES[where[name]] for name in ("protocol", "scheduler") if name in where)
    return said + (f", {where['ues']} mobiles" if where.get("ues", 65) != 65 else "")


def joined(axis: str, parts: Sequence[Numbers]) -> Numbers:
    """Grids that differ in one parameter, as one: at the values of the others and the seeds that all of them have."""
    seeds = min((one.seeds for one in parts), key=len)
    first = parts[0]
    axes = {
        name: tuple(value for value in values if all(one.has(**{name: value}) for one in parts))
        for name, values in first.axes.items()
    }
    axes[axis] = tuple(value for one in parts for value in one.axes[axis])
    cut = [_cut(one, {name: values for name, values in axes.items() if name != axis}, seeds) for one in parts]
    place = list(axes).index(axis)
    values = {name: np.concatenate([one.values[name] for one in cut], axis=place) for name in first.values}
    tables = [one.rows.to_arrow() for one in cut if one.rows is not None]
    common = (
        [name for name in tables[0].column_names if all(name in one.column_names for one in tables)] if tables else []
    )
    rows = Table(pa.concat_tables([one.select(common) for one in tables])) if tables else None
    return Numbers(axes, tuple(seeds), values, rows)


def _cut(grid: Numbers, axes: Mapping[str, Sequence[Any]], seeds: Sequence[int]) -> Numbers:
    """A grid at some values of its parameters, with its first seeds."""
    kept = {name: axes.get(name, values) for name, values in grid.axes.items()}
    if kept == dict(grid.axes) and len(seeds) == len(grid.seeds):
        return grid
    places = [[grid.axes[name].index(value) for value in values] for name, values in kept.items()]
    values = {name: column[np.ix_(*places, range(len(seeds)))] for name, column in grid.values.items()}
    rows = grid.rows
    if rows is not None:
        here = np.isin(rows["seed"], seeds)
        for name, wanted in axes.items():
            here &= np.isin(rows[name], wanted)
        rows = Table(rows.to_arrow().filter(pa.array(here)))
    return replace(grid, axes=kept, seeds=tuple(seeds), values=values, rows=rows)
