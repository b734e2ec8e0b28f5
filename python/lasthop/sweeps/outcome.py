"""What a sweep gave."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lasthop.files import manifest as read_manifest
from lasthop.results import COUNTS, Table, read_table, table_of
from lasthop.stats import Estimate, number, waited
from lasthop.sweeps.compare import Grid
from lasthop.sweeps.vary import Vary, label
from lasthop.things import things_of

__all__ = ["MADE_BY", "Sweep", "Temporary"]

#: What manifests call the writer.
MADE_BY = "lasthop sweep"

#: The most flows or links of a run that are compared one by one.
MANY = 8


@dataclass(frozen=True, repr=False)
class Sweep:
    """What a sweep gave. Each table holds the rows of all runs and is an attribute: ``sweep.flows``."""

    #: Where its tables lie.
    folder: Path
    #: The name of the scenario.
    name: str
    #: The text of the scenario that was varied.
    scenario_text: str
    #: The varied keys with their values.
    vary: Mapping[str, Sequence[Any]]
    #: The seeds that each point ran with.
    seeds: Sequence[int]
    #: How many runs are finished. There are no tables until all are.
    finished: int
    #: Transmissions that ended at the far side of a link, in all runs.
    packet_hops: int = 0
    #: Time that this took, without what was finished before.
    wall_s: float | None = field(default=None, compare=False)
    #: Copies of journals that were damaged: the runs that nothing was left of were made again.
    damaged: Sequence[Path] = field(default=(), compare=False)
    #: The files of the tables, once all runs are finished.
    files: Mapping[str, str] = field(default_factory=dict)
    _columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Keeps a temporary folder for as long as results may be read from it.
    _kept: Temporary | None = field(default=None, compare=False)

    @classmethod
    def load(cls, folder: str | Path) -> Sweep:
        """Reads what a finished sweep left in ``folder``."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        if manifest.get("made_by") != MADE_BY:
            raise ValueError(f"{folder} holds no sweep: `{manifest.get('made_by')}` wrote it")
        made = cls.of(folder, manifest)
        if not made.tables:
            raise ValueError(f"the sweep in {folder} is not finished: go on with it, or `lasthop sweep --collect`")
        return made

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any], **more: Any) -> Sweep:
        """The sweep of a manifest."""
        vary, seeds = manifest["vary"], manifest["seeds"]
        return cls(
            folder=folder,
            name=manifest["scenario"],
            scenario_text=manifest["scenario_text"],
            vary=vary,
            seeds=seeds,
            finished=more.pop("finished", Vary(vary).points * len(seeds)),
            packet_hops=manifest.get("packet_hops", 0),
            files=manifest.get("tables", {}),
            _columns=manifest.get("columns", {}),
            **more,
        )

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return len(self.points) * len(self.seeds)

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        """The values of the varied keys at each point."""
        return [self._vary.values(point) for point in range(self._vary.points)]

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """The tables by name. They are read when they are looked into."""
        return {
            name: Table(_Later(self.folder / file, self._columns[name], self._kept))
            for name, file in self.files.items()
        }

    @cached_property
    def _vary(self) -> Vary:
        return Vary(self.vary)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name == "tables":
            raise AttributeError(name)
        if name in self.tables:
            return self.tables[name]
        if not self.tables:
            raise AttributeError(f"no table {name!r} yet: {number(self.finished)} of {number(self.runs)} runs are done")
        raise AttributeError(f"no table {name!r}; known: {', '.join(self.tables)}")

    def __dir__(self) -> Iterator[str]:
        yield from super().__dir__()
        yield from self.tables

    def means(
        self,
        table: str = "flows",
        *,
        by: Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        total: bool = False,
    ) -> list[dict[str, Any]]:
        """The :class:`Estimate` of each number of a table at each point, over the seeds.

        A row for each point and thing: ``by`` names the columns that tell things apart (each flow, each
        link). With ``by=()`` all rows of a run count by their mean, such as the mean goodput of its flows; with
        ``total=True`` rows that are one thing count by their sum.

        >>> sweep.means("flows", by=(), metrics=["goodput_kbps"], total=True)  # doctest: +SKIP
        """
        if isinstance(metrics, str):
            raise TypeError(f"metrics takes a list, such as [{metrics!r}]")
        grid = self.grid(table, by, total=total)
        chosen = [grid.known(metric) for metric in metrics] if metrics is not None else grid.metrics
        means = {metric: grid.means(metric) for metric in chosen}
        words = grid.words() if by is None or len(by) else {}
        return [
            {
                **values,
                **thing,
                **{name: texts[point, place] for name, texts in words.items()},
                **{metric: _estimate(means[metric], point, place) for metric in chosen},
            }
            for point, values in enumerate(self.points)
            for place, thing in enumerate(grid.things)
        ]

    def paired(
        self,
        *metrics: str,
        against: Mapping[str, Any] | None = None,
        table: str = "flows",
        by: Sequence[str] | None = None,
        total: bool = False,
    ) -> Table:
        """By how much metrics differ from another point's, seed by seed: a row for each point, thing and metric.

        Columns: what was varied, what tells things apart, ``metric``, the mean ``difference``, the ends ``low`` and
        ``high`` of its 95 % interval, and ``n``, the number of pairs. ``against`` says with which point each is
        compared: ``{"link.radio.delay": "20 ms"}`` is the one with that delay and else the same values. Without it all
        are compared with the first point. ``by`` and ``total`` are those of :meth:`means`.

        >>> sweep.paired("goodput_kbps", against={"link.radio.delay": "20 ms"}).df  # doctest: +SKIP
        """
        worded = {*self._vary.texts}

        def flat(row: Mapping[str, Any], metric: str, found: Estimate) -> dict[str, Any]:
            named = {name: label(v) if name in worded else v for name, v in row.items() if name not in metrics}
            numbers = {"difference": found.mean, "low": found.low, "high": found.high, "n": found.n}
            return {**named, "metric": metric, **numbers}

        rows = self.differences(*metrics, against=against, table=table, by=by, total=total)
        thing = dict.fromkeys(things_of(table) if by is None else by, "")
        like = flat({**self.points[0], **thing}, "", Estimate(0.0, 0.0, 0))
        return table_of([flat(row, metric, row[metric]) for row in rows for metric in metrics], like)

    def differences(
        self,
        *metrics: str,
        against: Mapping[str, Any] | None = None,
        table: str = "flows",
        by: Sequence[str] | None = None,
        total: bool = False,
    ) -> list[dict[str, Any]]:
        """The same as :meth:`paired`, a row for each point and thing, with an :class:`Estimate` for each metric."""
        if not metrics:
            raise ValueError("no metric is named: say which are compared, such as 'goodput_kbps'")
        grid = self.grid(table, by, total=total)
        others = self.opposite(against)
        made = {metric: grid.differences(grid.known(metric), others) for metric in metrics}
        return [
            {
                **values,
                **thing,
                **{metric: _estimate(difference, point, place) for metric, difference in made.items()},
            }
            for point, values in enumerate(self.points)
            if point != others[point]
            for place, thing in enumerate(grid.things)
        ]

    def opposite(self, against: Mapping[str, Any] | None = None) -> list[int]:
        """The number of the point with which each point is compared, as in :meth:`paired`."""
        to = self._vary.values(0) if against is None else against
        if not isinstance(to, Mapping):
            raise TypeError(f"against takes keys with values, such as {{'link.radio.delay': '20 ms'}}, not {to!r}")
        for key in to:
            self._vary.known(key)
        return [self._vary.moved(point, to) for point in range(self._vary.points)]

    @property
    def repeating(self) -> list[Mapping[str, Any]]:
        """The points at which all seeds gave the same: nothing random reached a flow, and an interval says nothing."""
        means = self.means("flows", by=self.by("flows"))
        each = len(means) // max(1, len(self.points))
        found: list[Mapping[str, Any]] = []
        for place, point in enumerate(self.points if len(self.seeds) > 1 else ()):
            rows = means[place * each : (place + 1) * each]
            estimates = [value for row in rows for value in row.values() if isinstance(value, Estimate) and value.n > 1]
            if estimates and all(one.half == 0 for one in estimates):
                found.append(point)
        return found

    def by(self, table: str) -> Sequence[str] | None:
        """The columns by which reports distinguish rows: none if there are too many, so that they give a mean."""
        return () if len(self.grid(table).things) > MANY else None

    def grid(self, table: str, by: Sequence[str] | None = None, *, total: bool = False) -> Grid:
        """The metrics of a table by point, thing and seed."""
        known = things_of(table)
        if table not in self.tables:
            raise ValueError(str(getattr(self, table)))
        columns = self._columns[table]
        chosen = list(known if by is None else by)
        for name in chosen:
            if columns.get(name) != "string":
                raise ValueError(f"{table} cannot be told apart by {name!r}; known: {', '.join(known)}")
        absent = COUNTS.get(table, ())
        flows = self._flows if absent and "flow" in known else None
        path = self.folder / self.files[table]
        return Grid(
            path, columns, self._vary, self.seeds, chosen, total=total, absent=absent, flows=flows, finest=known
        )

    @cached_property
    def _flows(self) -> Mapping[str, Any]:
        """At which points each flow is."""
        grid = self.grid("flows", by=("flow",))
        there = grid.there()
        return {thing["flow"]: there[:, place] for place, thing in enumerate(grid.things)}

    def __repr__(self) -> str:
        from lasthop.text import sweep_text

        return sweep_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def heading(self) -> str:
        """One line: what ran, at how many points, with how many seeds."""
        points, seeds = len(self.points), len(self.seeds)
        ran = f"{number(points)} point{'s' * (points != 1)} × {number(seeds)} seed{'s' * (seeds != 1)}"
        return f"{self.name} · {ran}" + (f" simulated in {waited(self.wall_s)}" if self.wall_s is not None else "")


class Temporary:
    """A folder that is removed when nothing refers to this any more."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lasthop-sweep-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class _Later:
    """A table that is read from its file at its first use."""

    def __init__(self, path: Path, types: Mapping[str, str], kept: Temporary | None) -> None:
        self._path, self._types, self._kept = path, types, kept

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return read_table(self._path, types=self._types).__arrow_c_stream__(requested_schema)


def _estimate(arrays: tuple[Any, Any, Any], point: int, thing: int) -> Estimate:
    mean, half, n = (array[point, thing] for array in arrays)
    return Estimate(float(mean), float(half), int(n))
