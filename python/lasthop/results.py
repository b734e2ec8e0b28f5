"""What runs give: tidy tables, handed over as Arrow, saved as Parquet or CSV."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lasthop import files
from lasthop.stats import number, waited

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from lasthop.scenario import Scenario

__all__ = [
    "COUNTS",
    "FORMATS",
    "INTERVAL_RATES",
    "SENT_PDUS",
    "Result",
    "Table",
    "TableWriter",
    "coded",
    "counts_as_0",
    "numbers",
    "plain",
    "table_of",
    "texts",
]

#: The formats that tables can be saved in.
FORMATS = ("parquet", "csv")

#: Tables in which what did not happen in a run has no row: no drop, or a packet over a link between satellites. These
#: columns count as 0 then; others, such as quantiles of queues, are missing.
COUNTS: Mapping[str, tuple[str, ...]] = {
    "drops": ("packets", "bytes"),
    "links": ("utilisation_pct", "packets", "bytes", "drops", "marks"),
}

#: Quantities of `series` that are a mean over the interval since the sample before. Other rates, such as
#: `encoder_kbps`, are as they are at their time.
INTERVAL_RATES = ("throughput_kbps", "goodput_kbps", "arrival_kbps")

#: The commands that write results of runs.
_RUNNERS = ("lasthop run", "lasthop live")

#: Columns of `bearers` that make up what RLC sent: new PDUs, such as were missing, repeated polls, and those with
#: nothing but control, by its names in either kind of RLC.
SENT_PDUS = ("new_pdus", "retransmitted_pdus", "poll_pdus", "control_pdus", "status_pdus", "reset_pdus")

Format = Literal["parquet", "csv"]


def counts_as_0(table: str, metric: str, values: Iterable[object]) -> bool:
    """Whether a metric is 0 in runs without a row of a thing, which has these ``values`` in others."""
    return metric in COUNTS.get(table, ()) and any(value is not None for value in values)


class Table:
    """A tidy table. pyarrow, polars, DuckDB and pandas 3 read it as it is (``__arrow_c_stream__``)."""

    __slots__ = ("_arrow", "_source")

    def __init__(self, source: Any) -> None:
        self._source = source
        self._arrow: pa.Table | None = None

    def to_arrow(self) -> pa.Table:
        """The table as a ``pyarrow.Table``."""
        if self._arrow is None:
            import pyarrow as pa

            # Not `pa.table`, which imports pandas to see whether the source is one of its frames.
            self._arrow = pa.RecordBatchReader.from_stream(self._source).read_all()
        return self._arrow

    def to_pandas(self) -> pd.DataFrame:
        """The table as a ``pandas.DataFrame``. It needs ``lasthop[pandas]``."""
        try:
            import pandas  # noqa: F401
        except ImportError as missing:
            raise ImportError("a data frame needs pandas: pip install 'lasthop[pandas]'") from missing
        return self.to_arrow().to_pandas()

    @property
    def df(self) -> pd.DataFrame:
        """The table as a ``pandas.DataFrame``: :meth:`to_pandas` in two letters."""
        return self.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The table as a ``polars.DataFrame``. It needs ``lasthop[polars]``."""
        try:
            import polars as pl
        except ImportError as missing:
            raise ImportError("a polars frame needs polars: pip install 'lasthop[polars]'") from missing
        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.to_arrow().column_names)

    def __len__(self) -> int:
        return int(self.to_arrow().num_rows)

    def __getitem__(self, column: str) -> np.ndarray[Any, Any]:
        """A column as a numpy array. Missing numbers are not-a-number."""
        import pyarrow as pa

        values = self.to_arrow().column(self._known(column))
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        array: np.ndarray[Any, Any] = values.to_numpy()
        return array

    def _known(self, column: str) -> str:
        """The column, if there is one of this name."""
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; known: {', '.join(self.columns)}")
        return column

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Row by row, as plain data."""
        return iter(self.rows())

    def __contains__(self, column: object) -> bool:
        """Whether there is a column of this name."""
        return column in self.columns

    def _ipython_key_completions_(self) -> list[str]:
        """What can stand in ``table["…"]``, for completion in notebooks."""
        return self.columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return bool(_plain(self.to_arrow()).equals(_plain(other.to_arrow())))

    #: A table has no hash: it may be large.
    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.to_arrow(),)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain data. Missing numbers are ``None``."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def where(self, **equal: object) -> Table:
        """The rows in which each of the named columns has the given value; ``None`` stands for a missing one."""
        import pyarrow.compute as pc

        table = self.to_arrow()
        for name, value in equal.items():
            column = table.column(self._known(name))
            table = table.filter(pc.is_null(column) if value is None else pc.equal(column, value))
        return Table(table)

    def __repr__(self) -> str:
        return self.text()

    def text(self, most: int = 20) -> str:
        """The first rows in aligned columns."""
        from lasthop.columns import aligned

        shown = self.to_arrow().slice(0, most).to_pylist()
        body = aligned(self.columns, [[_cell(row[c]) for c in self.columns] for row in shown])
        more = len(self) - len(shown)
        return body + (f"\n… and {number(more)} more rows" if more > 0 else "")

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(c)}</th>" for c in self.columns)
        shown = self.to_arrow().slice(0, 20).to_pylist()
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(row[c]))}</td>" for c in self.columns) + "</tr>" for row in shown
        )
        note = f"<p>{number(len(self))} rows</p>" if len(self) > len(shown) else ""
        return f"<table><tr>{head}</tr>{body}</table>{note}"


def table_of(rows: Sequence[Mapping[str, Any]], like: Mapping[str, Any]) -> Table:
    """A table of rows; without any it has the columns of a row ``like`` this."""
    import pyarrow as pa

    return Table(pa.Table.from_pylist([*rows]) if rows else pa.Table.from_pylist([like]).slice(0, 0))


def _cell(value: object) -> str:
    if value is None or isinstance(value, (int, float)):
        return number(value)
    return str(value)


@dataclass(frozen=True, repr=False)
class Result:
    """What one run gave, and what it was a run of. Each table is an attribute: ``result.flows``."""

    #: The tables by name.
    tables: Mapping[str, Table]
    #: The name of the scenario.
    name: str
    #: The text of the scenario.
    scenario_text: str
    #: The seed of the run.
    seed: int
    #: Simulated time.
    simulated_s: float
    #: Time that it took.
    wall_s: float = field(compare=False)
    #: Transmissions that ended at the far side of a link.
    packet_hops: int
    #: What a session changed on its way, which the scenario does not say: each with its instant, as a ``[[change]]``.
    session_changes: Sequence[Mapping[str, Any]] = ()

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name == "tables":
            raise AttributeError(name)
        if name in self.tables:
            return self.tables[name]
        raise AttributeError(_no_table(name, self.tables))

    def __dir__(self) -> Iterator[str]:
        yield from super().__dir__()
        yield from self.tables

    def __hash__(self) -> int:
        """By what was run: the same scenario and seed give the same tables."""
        return hash((self.scenario_text, self.seed, self.simulated_s, self.packet_hops))

    def __repr__(self) -> str:
        from lasthop.text import run_text

        return run_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        parts = "".join(f"<h4>{name}</h4>{self.tables[name]._repr_html_()}" for name in ("flows", "links"))
        return f"<p>{escape(self.heading())}</p>{parts}"

    def heading(self) -> str:
        """One line: what ran, for how long, with which seed."""
        more = f" · {self.changes_text()}" if self.session_changes else ""
        return f"{self.name} · {number(self.simulated_s)} s simulated in {waited(self.wall_s)} · seed {self.seed}{more}"

    def changes_text(self) -> str:
        """How often a session changed what the scenario says; nothing if none did."""
        changes = len(self.session_changes)
        return f"changed {'once' if changes == 1 else f'{changes} times'} by a session" if changes else ""

    def save(
        self, folder: str | Path, format: Format = "parquet", *, made_by: str = "lasthop run", force: bool = False
    ) -> list[Path]:
        """Writes the tables and ``manifest.json`` into ``folder``; the paths written.

        A folder that something else wrote is left alone unless ``force`` is true.
        """
        manifest = {
            "scenario": self.name,
            "scenario_text": self.scenario_text,
            "seeds": [self.seed],
            "simulated_s": self.simulated_s,
            "packet_hops": self.packet_hops,
            "wall_s": self.wall_s,
        }
        if self.session_changes:
            manifest["session_changes"] = [dict(change) for change in self.session_changes]
        return save_tables(self.tables, folder, format, manifest=manifest, made_by=made_by, force=force)

    @classmethod
    def load(cls, folder: str | Path, seed: int | None = None) -> Result:
        """Reads what :meth:`save` wrote. Of a folder with several runs ``seed`` chooses one."""
        folder = Path(folder)
        manifest = files.manifest(folder)
        made_by = manifest.get("made_by")
        if "tables" not in manifest and made_by in _RUNNERS:
            raise ValueError(f"{folder} holds no whole result: whoever wrote it was interrupted")
        whole = isinstance(manifest.get("tables"), dict) and manifest.get("seeds")
        if not whole or "simulated_s" not in manifest:
            raise ValueError(f"{folder} holds no run: `{made_by}` wrote it")
        seeds = manifest["seeds"]
        if len(seeds) > 1 and seed is None:
            raise ValueError(f"{folder} holds {len(seeds)} runs: choose one by its seed, {_seeds(seeds)}")
        if seed is not None and seed not in seeds:
            raise ValueError(f"{folder} holds no run with seed {seed!r}, only {', '.join(map(str, seeds))}")
        chosen = seeds[0] if seed is None else seed
        types = manifest.get("columns", {})
        tables = {name: read_table(folder / file, types=types.get(name)) for name, file in manifest["tables"].items()}
        # Where several runs are stored, a column tells them apart.
        tables = {
            name: Table(table.where(seed=chosen).to_arrow().drop_columns("seed")) if "seed" in table.columns else table
            for name, table in tables.items()
        }
        spent = manifest["each"][seeds.index(chosen)] if "each" in manifest else manifest
        return cls(
            tables=tables,
            name=manifest["scenario"],
            scenario_text=manifest["scenario_text"],
            seed=chosen,
            simulated_s=manifest["simulated_s"],
            wall_s=spent["wall_s"],
            packet_hops=spent["packet_hops"],
            session_changes=manifest.get("session_changes", ()),
        )


def _seeds(seeds: Sequence[int]) -> str:
    in_order = [*range(seeds[0], seeds[0] + len(seeds))]
    return f"from {seeds[0]} to {seeds[-1]}" if len(seeds) > 2 and seeds == in_order else ", ".join(map(str, seeds))


def _no_table(name: str, tables: Mapping[str, Table]) -> str:
    ask = {
        "transfers": "record.transfers = true",
        "series": 'record.series = "100 ms"; for pictures lh.plot.recording(scenario) does',
        "state": "record.state = true",
        "packets": "record.packets = true",
        "changes": "record.variables = true",
        "handovers": "record.handovers = true",
        "slots": "record.slots = true",
        "transfer_state": 'record.transfer_quantities = ["timeouts"]',
    }.get(name)
    if ask:
        return f"the table {name!r} was not recorded; ask for it in the scenario: {ask}"
    return f"no table {name!r}; known: {', '.join(tables)}"


def save_tables(
    tables: Mapping[str, Table],
    folder: str | Path,
    format: Format,
    *,
    manifest: Mapping[str, Any],
    made_by: str,
    force: bool = False,
) -> list[Path]:
    """Writes tables and a manifest that says what made them; each file appears whole or not at all.

    Tables of an earlier result in the folder go.
    """
    if format not in FORMATS:
        raise ValueError(f"the format {format!r} is not known: write {' or '.join(map(repr, FORMATS))}")
    paths = {name: Path(folder) / f"{name}.{format}" for name in tables}
    owner = {"made_by": made_by, **files.provenance()}
    columns = {
        name: {field.name: type_name(field.type) for field in table.to_arrow().schema} for name, table in tables.items()
    }
    document = {**owner, **manifest, "tables": {name: path.name for name, path in paths.items()}, "columns": columns}
    with files.claimed(Path(folder), made_by=made_by, force=force) as folder:
        former = {*files.tables_of(folder)} - {*paths.values()}
        with ExitStack() as drafts:
            for name, path in paths.items():
                _fill(drafts.enter_context(files.whole(path)), tables[name], said_of(document))
            # All is written. While it takes its place there is no result, rather than parts of two.
            _say(folder, owner)
        _remove(former)
        _say(folder, document)
    return [*paths.values(), folder / files.MANIFEST]


def said_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a table says of itself, away from its folder: the scenario, the seeds, and what made it."""
    kept = ("made_by", "lasthop", "commit", "scenario", "scenario_text", "session_changes", "seeds", "vary")
    return {key: manifest[key] for key in kept if key in manifest}


def begin(folder: Path, *, made_by: str) -> None:
    """Says what is going to write into a folder, before there are tables. Those of an earlier result go."""
    former = files.tables_of(folder)
    _say(folder, {"made_by": made_by, **files.provenance()})
    _remove(former)


def _remove(paths: Iterable[Path]) -> None:
    """Removes files, as far as the system lets us."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _say(folder: Path, document: Mapping[str, Any]) -> None:
    """Writes the manifest."""
    with files.whole(folder / files.MANIFEST) as out:
        out.write_text(files.json_text(document) + "\n", encoding="utf-8")


def write_table(table: Table, path: Path) -> Path:
    """Writes a table in the format that the path's suffix names."""
    with files.whole(path) as out:
        _fill(out, table)
    return path


def _fill(path: Path, table: Table, about: Mapping[str, Any] | None = None) -> None:
    with TableWriter(path, about) as writer:
        writer.write(table.to_arrow())


class TableWriter:
    """A file that a table is written into by and by, in the format that the path's suffix names.

    ``about`` is kept in a Parquet file's metadata, below the key ``lasthop``, as JSON.
    """

    def __init__(self, path: Path, about: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._about = about
        self._writer: Any = None

    def write(self, rows: pa.Table) -> None:
        """Adds rows."""
        if self._path.suffix == ".csv":
            rows = _plain(rows)
        if self._writer is None:
            self._writer = self._open(rows.schema)
        self._writer.write_table(rows)

    def _open(self, schema: pa.Schema) -> Any:
        if self._path.suffix == ".csv":
            from pyarrow import csv

            return csv.CSVWriter(self._path, schema)
        from pyarrow import parquet

        if self._about:
            schema = schema.with_metadata({**(schema.metadata or {}), b"lasthop": files.json_text(self._about)})
        return parquet.ParquetWriter(self._path, schema, compression="zstd")

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    """What makes no table is an error of its file. What the system refuses stays as it is: it has a number."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if isinstance(error, OSError) and (error.errno is not None or "(os error" in str(error)):
            raise
        why = " ".join(str(error).split())
        raise OSError(errno.EIO, f"the file is damaged: {why}", str(path)) from None


def read_table(path: str | Path, columns: Sequence[str] | None = None, types: Mapping[str, str] | None = None) -> Table:
    """Reads a table that :func:`write_table` wrote, or some of its columns.

    With ``types``, the names of the columns' types, a CSV file gives what a Parquet file gives.
    """
    path = Path(path)
    with files.named(path), _undamaged(path):
        if path.suffix == ".csv":
            return Table(_read_csv(path, columns, types))
        from pyarrow import parquet

        # Not `read_table`, which makes a data set of the file, and imports pandas for it.
        with parquet.ParquetFile(path) as file:
            return Table(file.read(columns=columns))


#: The bytes of a CSV file that are read at a time, and the most that Arrow takes.
_BLOCK, _LARGEST_BLOCK = 2**20, 2**31 - 1


def _read_csv(path: Path, columns: Sequence[str] | None, types: Mapping[str, str] | None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    # A value that a sweep varies may be text of many lines, such as a trace. That takes a third more time to read.
    lines = csv.ParseOptions(newlines_in_values=True)
    wanted = csv.ConvertOptions(
        include_columns=columns, column_types=types, strings_can_be_null=False, null_values=[""]
    )

    def read(block: int) -> pa.Table:
        return csv.read_csv(
            path, read_options=csv.ReadOptions(block_size=block), parse_options=lines, convert_options=wanted
        )

    try:
        return read(_BLOCK)
    except pa.ArrowInvalid:
        # A row may be longer than a block.
        size = path.stat().st_size
        if size <= _BLOCK:
            raise
        return read(min(size, _LARGEST_BLOCK))


# Between columns and numpy. Not by `pa.array` and `to_numpy`, which import pandas to see whether one of its
# columns is meant: that takes longer than many a run.


def plain(column: pa.ChunkedArray | pa.Array) -> np.ndarray[Any, Any]:
    """A column of numbers as numpy has it. Where some are missing they are not-a-number."""
    import numpy as np

    parts = [_plain_part(part) for part in getattr(column, "chunks", [column])]
    return np.concatenate(parts) if parts else np.zeros(0)


#: What numpy calls otherwise than Arrow does.
_NUMPY = {"halffloat": "float16", "float": "float32", "double": "float64"}


def _plain_part(part: pa.Array) -> np.ndarray[Any, Any]:
    import numpy as np

    there, data = part.buffers()
    # Not by `to_pandas_dtype`, for which pyarrow before 26 imports pandas.
    kind = np.dtype(_NUMPY.get(str(part.type), str(part.type)))
    values: np.ndarray[Any, Any] = np.frombuffer(data, kind, len(part), part.offset * kind.itemsize)
    if not part.null_count:
        return values
    bits = np.unpackbits(np.frombuffer(there, np.uint8), bitorder="little")
    return np.where(bits[part.offset : part.offset + len(part)], values, np.nan)


def numbers(values: np.ndarray[Any, Any], missing: np.ndarray[Any, Any] | None = None) -> pa.Array:
    """A column of numbers; ``missing`` ones are null."""
    import numpy as np
    import pyarrow as pa

    there = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [there, data])


def texts(names: Sequence[str]) -> pa.Array:
    """A column of text."""
    import numpy as np
    import pyarrow as pa

    written = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, written)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(names), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(written))])


def coded(places: np.ndarray[Any, Any], names: Sequence[str]) -> pa.Array:
    """A column of text: for each row the one of ``names`` at its place."""
    return texts(names).take(numbers(places)).dictionary_encode()


def _plain(table: pa.Table) -> pa.Table:
    """The table without coded columns, which CSV cannot hold, and with nothing said of which may be missing."""
    import pyarrow as pa

    for i, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        table = table.set_column(i, table.field(i).name, column)
    return table


def type_name(kind: pa.DataType) -> str:
    """The name of a column's type; coded text is text."""
    import pyarrow as pa

    return str(kind.value_type if pa.types.is_dictionary(kind) else kind)


def result(
    core: Any,
    scenario: Scenario,
    *,
    seed: int,
    simulated_s: float,
    wall_s: float,
    session_changes: Sequence[Mapping[str, Any]] = (),
) -> Result:
    """The result of a run of the core."""
    return Result(
        tables={name: Table(table) for name, table in core.tables},
        name=scenario.name,
        scenario_text=scenario.text,
        seed=seed,
        simulated_s=simulated_s,
        wall_s=wall_s,
        packet_hops=core.packet_hops,
        session_changes=session_changes,
    )
