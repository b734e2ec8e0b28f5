"""From the rows of a sweep's tables to means at each point, and to differences between points.

All points ran with the same seeds, and each random stream is named for what it is used for. So two
points are compared seed by seed, which chance disturbs less than two means where runs of one seed go alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.results import plain, read_table
from lasthop.stats import intervals
from lasthop.sweeps.vary import Vary, hint
from lasthop.things import metrics_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Array = np.ndarray[Any, Any]

__all__ = ["Grid"]


#: How metrics end of which a sum says nothing: shares, quantiles and means.
NO_SUMS = ("_pct", "_p50", "_p95", "_mean", "start_s")


class Grid:
    """A table of a sweep: its metrics by point, thing and seed.

    Several rows of one run that are one thing, such as all flows if no name tells them apart, count by
    their mean; by their sum if ``total``. The metrics ``absent`` are 0 in a run without a row of a thing, at points
    that have that thing: ``flows`` says for each flow at which points it is; of others there is a row with some seed.
    ``finest`` are all names that things may have.
    """

    def __init__(
        self,
        path: Path,
        types: Mapping[str, str],
        vary: Vary,
        seeds: Sequence[int],
        things: Sequence[str],
        *,
        total: bool = False,
        absent: Sequence[str] = (),
        flows: Mapping[str, Array] | None = None,
        finest: Sequence[str] = (),
    ) -> None:
        import numpy as np

        self._total, self._absent, self._flows = total, absent, flows
        self._path, self._types, self._vary = path, types, vary
        self._names = {*vary.keys, "seed", *things}
        columns = self._read([*vary.keys, "seed", *things])
        #: What tells each thing from the others: its names.
        self.things, thing = _distinct(columns.select(list(things)))
        order = np.argsort(seeds, kind="stable")
        seed = order[np.searchsorted(np.asarray(seeds)[order], plain(columns.column("seed")))]
        point = vary.points_of({key: columns.column(key) for key in vary.keys})
        self._shape = (vary.points, len(self.things), len(seeds))
        self._cells = np.ravel_multi_index((point, thing, seed), self._shape)
        self._parts = self._parts_of(thing, finest) if absent and not total else None

    def _parts_of(self, thing: Array, finest: Sequence[str]) -> tuple[list[dict[str, str]], Array, Array] | None:
        """What things consist of, where several have rows without names of their own.

        That is all names of each part, which part each row is, and which thing each part is in.
        """
        import numpy as np

        if not {*finest} - self._names:
            return None
        distinct, part = _distinct(self._read(finest))
        return distinct, part, thing[np.unique(part, return_index=True)[1]]

    def _how_many(self, there: Array) -> Array | None:
        """Of how many parts each thing consists at each point, with rows that are ``there``; `None` if it is one."""
        import numpy as np

        if self._parts is None:
            return None
        distinct, part, thing = self._parts
        points = self._cells // (self._shape[1] * self._shape[2])
        found = np.bincount(points[there] * len(distinct) + part[there], minlength=self._shape[0] * len(distinct)) > 0
        counts = np.zeros(self._shape[:2])
        for place, (one, seen) in enumerate(zip(distinct, found.reshape(-1, len(distinct)).T, strict=True)):
            counts[:, thing[place]] += self._may_have(one, seen)
        return counts[..., None]

    def _may_have(self, thing: Mapping[str, str], seen: Array) -> Array:
        """At which points there is a thing, of which there are rows at those where it was ``seen``."""
        import numpy as np

        if self._flows is None:
            return seen
        # Some drops are of no flow in the table, such as those of signalling.
        return self._flows.get(thing.get("flow", ""), np.ones(len(seen), bool))

    def _read(self, columns: Sequence[str]) -> pa.Table:
        return read_table(self._path, columns, self._types).to_arrow()

    @property
    def metrics(self) -> list[str]:
        """The columns that are numbers and say more than which thing it is; of sums those that can be added."""
        metrics = metrics_of(self._types, self._names)
        return [name for name in metrics if not name.endswith(NO_SUMS)] if self._total else metrics

    def known(self, metric: str) -> str:
        """The metric, if there is one of this name."""
        if self._total and metric.endswith(NO_SUMS) and metric in metrics_of(self._types, self._names):
            raise ValueError(f"a sum of {metric} says nothing: leave out total=True for the mean")
        if metric not in self.metrics:
            raise ValueError(f"there is no metric {metric!r}{hint(metric, self.metrics)}")
        return metric

    def values(self, metric: str) -> Array:
        """A metric by point, thing and seed. Missing numbers are not-a-number."""
        import numpy as np

        column = plain(self._read([metric]).column(0)).astype(np.float64)
        there = ~np.isnan(column)
        size = int(np.prod(self._shape))
        counts = np.bincount(self._cells[there], minlength=size)
        sums = np.bincount(self._cells[there], column[there], minlength=size).reshape(self._shape)
        with np.errstate(invalid="ignore"):
            means = sums / counts.reshape(self._shape)
            if metric in self._absent:
                parts = self._how_many(there)
                if parts is not None:
                    return sums / parts
                self._count_nothing(means)
        return np.where(np.isnan(means), means, sums) if self._total else means

    def _count_nothing(self, means: Array) -> None:
        """Makes 0 of what is missing because there is no row."""
        import numpy as np

        rows = np.bincount(self._cells, minlength=means.size).reshape(self._shape)
        for place, thing in enumerate(self.things):
            seen = np.asarray(np.isfinite(means[:, place]).any(axis=-1))
            there = self._may_have(thing, seen)[:, None] & (rows[:, place] == 0)
            means[:, place][there] = 0.0

    def counts(self, metric: str | None = None) -> Array:
        """How many rows there are, or how many with a value of a metric, by point, thing and seed."""
        import numpy as np

        kept: Any = slice(None) if metric is None else ~np.isnan(plain(self._read([metric]).column(0)).astype(float))
        rows = np.bincount(self._cells[kept], minlength=int(np.prod(self._shape))).reshape(self._shape)
        return np.where(self.there()[..., None], rows, np.nan)

    def there(self) -> Array:
        """Whether there is a row, by point and thing."""
        import numpy as np

        rows = np.bincount(self._cells, minlength=int(np.prod(self._shape))).reshape(self._shape)
        there: Array = rows.sum(axis=-1) > 0
        return there

    def words(self) -> dict[str, Array]:
        """What the table says in text of each point and thing, such as a flow's transport.

        Where its rows do not say the same the text is empty; columns that are nowhere the same are left out.
        """
        import numpy as np

        points_things = self._cells // self._shape[2]
        cells, first, cell = np.unique(points_things, return_index=True, return_inverse=True)
        said = {}
        for name in [name for name, kind in self._types.items() if kind == "string" and name not in self._names]:
            column = np.asarray(self._read([name]).column(0).cast("string").to_pylist(), object)
            differ = np.bincount(cell, column != column[first][cell], minlength=len(cells)) > 0
            if differ.all() and len(cells):
                continue
            texts = np.full(self._shape[0] * self._shape[1], "", object)
            texts[cells] = np.where(differ, "", column[first])
            said[name] = texts.reshape(self._shape[:2])
        return said

    def means(self, metric: str) -> tuple[Array, Array, Array]:
        """Means over the seeds by point and thing, half the widths of their intervals, and how many seeds."""
        return intervals(self.values(metric))

    def differences(self, metric: str, against: Sequence[int]) -> tuple[Array, Array, Array]:
        """The same of the differences to the points ``against``, one for each point, seed by seed."""
        values = self.values(metric)
        return intervals(values - values[list(against)])


def _distinct(columns: pa.Table) -> tuple[list[dict[str, str]], Array]:
    """The different rows in the order of their first appearance, and which of them each row is."""
    import numpy as np

    if columns.num_columns == 0:
        return [{}], np.zeros(columns.num_rows, np.int64)
    rows = list(zip(*(column.to_pylist() for column in columns.columns), strict=True))
    places = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    things = [dict(zip(columns.column_names, map(str, row), strict=True)) for row in places]
    return things, np.fromiter(map(places.__getitem__, rows), np.int64, len(rows))
