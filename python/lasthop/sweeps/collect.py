"""From the records of finished runs to one table of each kind, in the order of the plan.

The tables are written as they come, some thousand rows at a time, so their size does not matter. Where
one portion ends depends on the plan and on nothing else, and so does every byte. The journals are read
twice: a file has the columns of all runs from its first row on, and points may have different ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import files
from lasthop.results import TableWriter, numbers, type_name
from lasthop.sweeps.journal import Journals
from lasthop.sweeps.vary import Vary

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_tables"]

#: Rows and runs in a portion of a table.
ROWS, RUNS = 100_000, 2_000


class _Growing:
    """A table of all runs, of which a portion waits to be written."""

    def __init__(self, vary: Vary, seeds: Sequence[int], out: TableWriter, columns: pa.Schema) -> None:
        self._vary, self._seeds, self._out = vary, seeds, out
        #: The columns of all runs. What a run does not have is missing in its rows.
        self._columns = columns
        #: The names of the columns' types.
        self.types: dict[str, str] = {}
        self._runs: list[int] = []
        self._parts: list[pa.Table] = []
        self._rows = 0

    def add(self, run: int, part: pa.Table) -> None:
        """The rows of a run."""
        self._runs.append(run)
        self._parts.append(part)
        self._rows += part.num_rows
        if self._rows >= ROWS or len(self._runs) >= RUNS:
            self.flush()

    def flush(self) -> None:
        """Writes the waiting rows."""
        import pyarrow as pa

        if self._parts:
            rows = pa.concat_tables([self._columns.empty_table(), *self._parts], promote_options="permissive")
            counts = [part.num_rows for part in self._parts]
            for place, (name, column) in enumerate(self._keys(counts).items()):
                rows = rows.add_column(place, pa.field(name, column.type, nullable=False), column)
            self.types = {field.name: type_name(field.type) for field in rows.schema}
            self._out.write(rows.unify_dictionaries().combine_chunks())
        self._runs, self._parts, self._rows = [], [], 0

    def _keys(self, counts: list[int]) -> dict[str, pa.Array]:
        """The columns that tell the rows of one run from those of another: the varied keys, and the seed."""
        import numpy as np

        points, seeds = np.divmod(np.repeat(np.asarray(self._runs, np.int64), counts), len(self._seeds))
        return {**self._vary.columns(points), "seed": numbers(np.asarray(self._seeds, np.int64)[seeds])}


def write_tables(
    vary: Vary, seeds: Sequence[int], journals: Journals, folder: Path, format: str, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Writes the tables of all runs. Gives their files, the types of their columns, and what the runs did."""
    columns = _columns(tables for _, tables in journals.read())
    packet_hops = 0
    paths: dict[str, Path] = {}
    growing: dict[str, _Growing] = {}
    with ExitStack() as writers:
        for head, tables in journals.read():
            packet_hops += head.packet_hops
            for name, part in tables.items():
                if name not in growing:
                    paths[name] = folder / f"{name}.{format}"
                    draft = writers.enter_context(files.whole(paths[name], durable=True))
                    out = writers.enter_context(TableWriter(draft, about))
                    growing[name] = _Growing(vary, seeds, out, columns[name])
                growing[name].add(head.run, part)
        for table in growing.values():
            table.flush()
    return {
        "packet_hops": packet_hops,
        "tables": {name: path.name for name, path in paths.items()},
        "columns": {name: table.types for name, table in growing.items()},
    }


def _columns(runs: Iterable[Mapping[str, pa.Table]]) -> dict[str, pa.Schema]:
    """The columns of each table in all runs: those of the first run that has it, then such as only later ones have."""
    import pyarrow as pa

    # Most runs have the same.
    found: dict[str, dict[pa.Schema, None]] = {}
    for tables in runs:
        for name, part in tables.items():
            found.setdefault(name, {})[part.schema] = None
    return {name: pa.unify_schemas(list(several), promote_options="permissive") for name, several in found.items()}
