"""Where a study's runs are made: how many threads, who hears how far they are, what survives a kill."""

from __future__ import annotations

import hashlib
import math
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lasthop import files
from lasthop.errors import RunError
from lasthop.studies.grid import Grid, Numbers, Point

if TYPE_CHECKING:
    import pyarrow as pa

    from lasthop.results import Result, Table
    from lasthop.scenario import Scenario
    from lasthop.sweeps.journal import Journals

__all__ = ["CPU", "HOPS", "Bench", "unfinished"]

T = TypeVar("T")

#: Numbers that are kept of every run beside those of its grid: seconds of processor time, and packet-hops.
CPU, HOPS = "cpu_s", "packet_hops"

#: The folder of what an interrupted campaign has finished begins so.
UNFINISHED = ".unfinished-"

#: The tables of a record.
NUMBERS, ROWS = "numbers", "rows"


class Bench:
    """Makes the runs of a study, and tells how far all of them have come."""

    def __init__(
        self,
        mode: str,
        folder: Path,
        *,
        total: int,
        threads: int | None = None,
        progress: Callable[[float, int], None] | None = None,
        code: str = "",
    ) -> None:
        """What an interrupted campaign has finished counts for the same ``code`` of the study alone.

        ``progress`` gets how many runs are done, and of how many that are known by then.
        """
        #: `quick` or `full`.
        self.mode = mode
        self._code = code
        self._folder, self._threads, self._progress = folder, threads or os.cpu_count() or 1, progress
        self._total = total
        self._done = 0
        #: Whether a journal of finished runs was damaged: those that nothing whole was left of are made again.
        self.damaged = False

    def expect(self, runs: int) -> None:
        """More runs than were known at first are to come."""
        self._total += runs

    def _tell(self, runs: float) -> None:
        if self._progress:
            self._progress(min(self._done + runs, self._total), self._total)

    def run(
        self, work: Sequence[tuple[Scenario, int]], reduce: Callable[[Result], T], *, counts: bool = True
    ) -> list[T]:
        """What ``reduce`` makes of each run. Those that do not count are no part of the total."""
        from lasthop.runs import run_each

        def tell(share: float) -> None:
            if counts:
                self._tell(share * len(work))

        made = run_each(work, threads=self._threads, progress=tell, reduce=reduce)
        self._done += len(work) if counts else 0
        return made

    def grids(self, grids: Sequence[Grid]) -> dict[str, Numbers]:
        """The numbers of each grid. What is finished is kept: after a kill the same call goes on from there."""
        from lasthop.sweeps import journal

        tasks = [(grid, point) for grid in grids for point in grid]
        plan = _digest(grids, self._code)
        folder = self._folder / f"{UNFINISHED}{plan}"
        folder.mkdir(parents=True, exist_ok=True)
        with journal.at_work(folder, len(tasks), journal.ALL, plan) as journals:
            self.damaged |= bool(journals.damaged)
            self._perform(tasks, plan, journals)
            made = _collect(grids, journals)
        self._done += sum(grid.runs for grid in grids)
        return made

    def clear(self) -> None:
        """Forgets what was finished: the study is done."""
        for folder in unfinished(self._folder):
            files.remove(folder)

    def _perform(self, tasks: Sequence[tuple[Grid, Point]], plan: str, journals: Journals) -> None:
        """Makes the runs of the points that are not finished: all the seeds of a point on one thread."""
        from lasthop.sweeps.work import feed

        waiting = [number for number in range(len(tasks)) if number not in journals]
        finished = sum(len(grid.seeds) for number, (grid, _) in enumerate(tasks) if number in journals)
        # So that what is left takes as long as what is done.
        random.Random(0).shuffle(waiting)
        shares: dict[int, int] = {}
        stop = threading.Event()

        def tell() -> None:
            self._tell(finished + sum(list(shares.values())))

        def do(number: int) -> bytes:
            grid, point = tasks[number]
            return _point((number, plan), grid, point, stop, partial(shares.__setitem__, number))

        def keep(number: int, packed: bytes) -> None:
            journals.append(number, packed)
            tell()

        tell()
        pool = ThreadPoolExecutor(self._threads)
        try:
            feed(pool, waiting, keep, do=do, wait=tell)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def unfinished(folder: Path) -> list[Path]:
    """Where the runs of interrupted campaigns are kept."""
    return sorted(folder.glob(f"{UNFINISHED}*"))


def _point(
    place: tuple[int, str], grid: Grid, point: Point, stop: threading.Event, tell: Callable[[int], None]
) -> bytes:
    """The record of a point: a row for each seed, and the rows kept of each run."""
    import pyarrow as pa

    from lasthop.results import Result, Table
    from lasthop.runs import run_once
    from lasthop.sweeps import record

    scenario = grid.scenario(point)
    columns: dict[str, list[float]] = {}
    rows = []
    at = ", ".join(f"{name} {value}" for name, value in point.items())
    for done, seed in enumerate(grid.seeds):
        began = time.thread_time()
        where = f"{grid.name} with {at}, seed {seed}"
        try:
            result = run_once(scenario, seed, None, stop=stop)
        except RunError as error:
            raise RunError(f"{where}: {error}") from error
        kept = {CPU: time.thread_time() - began, HOPS: float(result.packet_hops), **grid.reduce(result)}
        for name in dict.fromkeys([*columns, *kept]):
            # What some seeds have not got is missing there.
            columns.setdefault(name, [math.nan] * done).append(_number(kept.get(name), f"{where}: {name}"))
        if grid.rows:
            rows.append(_labelled(grid.rows(result), {**point, "seed": seed}))
        tell(done + 1)
    tables = {NUMBERS: Table(pa.table(columns))}
    if rows:
        tables[ROWS] = Table(pa.concat_tables(rows))
    return record.pack(*place, Result(tables, grid.name, "", grid.seeds[0], 0.0, 0.0, 0))


def _number(value: Any, what: str) -> float:
    """A measure as a number; not-a-number if it is missing."""
    if value is None:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise RunError(f"{what} is {value!r}: a measure is a number, or None where there is none") from None


def _labelled(rows: Table, labels: Point) -> pa.Table:
    """Rows with the values of their point before them."""
    import pyarrow as pa

    arrow = rows.to_arrow()
    columns = {name: pa.repeat(value, len(arrow)) for name, value in labels.items()}
    return pa.table({**columns, **dict(zip(arrow.column_names, arrow.columns, strict=True))})


def _collect(grids: Sequence[Grid], journals: Journals) -> dict[str, Numbers]:
    """The numbers of all points, put in their places."""
    import numpy as np
    import pyarrow as pa

    from lasthop.results import Table

    records = iter(journals.read())
    made = {}
    for grid in grids:
        mine = [next(records)[1] for _ in range(grid.points)]
        tables = [Table(one[NUMBERS]) for one in mine]
        rows = Table(pa.concat_tables(one[ROWS] for one in mine)) if grid.rows else None
        shape = [len(values) for values in grid.axes.values()] + [len(grid.seeds)]
        # Points may differ in what there is to measure: a flow that only some of them have.
        names = dict.fromkeys(name for table in tables for name in table.columns)
        missing = np.full(len(grid.seeds), np.nan)
        values = {
            name: np.array([table[name] if name in table.columns else missing for table in tables]).reshape(shape)
            for name in names
        }
        axes = {name: tuple(axis) for name, axis in grid.axes.items()}
        made[grid.name] = Numbers(axes, tuple(grid.seeds), values, rows)
    return made


def _digest(grids: Sequence[Grid], code: str) -> str:
    """What tells a campaign from another, and from the same by other code."""
    plan = [[grid.name, dict(grid.axes), list(grid.seeds), grid.scenario(next(iter(grid))).text] for grid in grids]
    return hashlib.sha256(files.json_text([files.code(), code, plan]).encode()).hexdigest()[:12]
