"""The summary of a sweep: every metric at every point, and its difference to the first point or another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lasthop import files
from lasthop.results import TableWriter, coded, numbers, type_name
from lasthop.sweeps.outcome import Sweep
from lasthop.sweeps.vary import Vary
from lasthop.things import THINGS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["summary_rows", "with_summary"]

#: The columns that name a thing, in whatever table.
_NAMES = tuple(dict.fromkeys(name for names in THINGS.values() for name in names))


def with_summary(sweep: Sweep, made: dict[str, Any], format: str) -> dict[str, Any]:
    """Writes the summary, and adds it to what was ``made``: files and types of columns, by table."""
    path = sweep.folder / f"summary.{format}"
    with files.whole(path, durable=True) as draft, TableWriter(draft) as out:
        rows = None
        for rows in _parts(sweep, None):
            out.write(rows)
    if rows is None:
        return made
    columns = {field.name: type_name(field.type) for field in rows.schema}
    return {
        **made,
        "tables": {**made["tables"], "summary": path.name},
        "columns": {**made["columns"], "summary": columns},
    }


def summary_rows(sweep: Sweep, against: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the summary with differences to the point with the values of ``against``."""
    return [row for rows in _parts(sweep, against) for row in rows.to_pylist()]


def _parts(sweep: Sweep, against: Mapping[str, Any] | None) -> Iterator[pa.Table]:
    return (_rows(sweep, table, against) for table in THINGS if table in sweep.tables)


def _rows(sweep: Sweep, table: str, against: Mapping[str, Any] | None) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    grid = sweep.grid(table, sweep.by(table))
    points, things, metrics = len(sweep.points), len(grid.things), len(grid.metrics)
    shape = (points, things, metrics)
    point, thing, metric = (part.ravel() for part in np.indices(shape))
    means = [grid.means(name) for name in grid.metrics]
    others = sweep.opposite(against)
    differences = [grid.differences(name, others) for name in grid.metrics]

    def column(made: list[tuple[Any, Any, Any]], which: int, missing: Any = False) -> pa.Array:
        values = np.stack([arrays[which] for arrays in made], axis=-1).ravel() if made else np.zeros(0)
        return numbers(values, np.isnan(values) | missing)

    # A point differs by nothing from itself, which says nothing.
    itself = np.asarray(others)[point] == point
    columns = {
        **Vary(sweep.vary).columns(point),
        "table": coded(np.zeros_like(point), [table]),
        **{name: coded(thing, [one.get(name, "") for one in grid.things]) for name in _NAMES},
        "metric": coded(metric, grid.metrics),
        "mean": column(means, 0),
        "half": column(means, 1),
        "n": column(means, 2).cast("int64"),
        "difference": column(differences, 0, itself),
        "difference_half": column(differences, 1, itself),
    }
    return pa.Table.from_arrays(list(columns.values()), list(columns)).unify_dictionaries()
