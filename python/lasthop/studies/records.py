"""The tables of studies: those that every study leaves (costs, runs, claims by reading), and how its own are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from lasthop.results import Table
from lasthop.stats import Estimate, estimate, number
from lasthop.studies.bench import CPU, HOPS
from lasthop.studies.claims import NotRun

if TYPE_CHECKING:
    from lasthop.studies.claims import Judged
    from lasthop.studies.grid import Numbers

__all__ = ["RUNS", "Named", "Row", "by_reading", "costs", "costs_said", "runs", "said", "tables"]

Data = TypeVar("Data")

#: The names of the tables with the numbers of each run begin so. They are long and wide, and read by programs.
RUNS = "runs-"

#: A table with a line that says what it holds; and a row of one.
Named = tuple[str, Table]
Row = dict[str, Any]

#: What work is counted in: the number that is kept of it in each run, its name in tables, and one of it.
Work = tuple[str, str, str]
PACKET_HOPS: Work = (HOPS, "packet-hops", "packet-hop")


def tables(data: Data, makers: Mapping[str, tuple[str, Callable[[Data], Sequence[Row]]]]) -> dict[str, Named]:
    """The tables whose runs there are, by name: what each holds, and what makes its rows."""
    made: dict[str, Named] = {}
    for name, (about, make) in makers.items():
        try:
            made[name] = about, Table(pa.Table.from_pylist(list(make(data))))
        except NotRun:
            continue
    return made


def said(values: Any, places: int | None = None, *, level: float = 0.95) -> str:
    """A mean with its interval, of the values of each seed or of an estimate; with ``places`` the mean alone."""
    one = values if isinstance(values, Estimate) else estimate(values, level)
    return number(one.mean, places) if places is not None else str(one)


def costs(numbers: Mapping[str, Numbers], work: Work = PACKET_HOPS) -> Named:
    """Processor time of each grid, with a line that says what it holds."""
    kept, many, one = work
    rows = []
    for name, grid in numbers.items():
        cpu, runs = float(np.sum(grid.values[CPU])), grid.values[CPU].size
        done = float(np.sum(grid.values[kept])) if kept in grid.values else float("nan")
        rows.append(
            {
                "grid": name,
                "runs": runs,
                "processor time (s)": cpu,
                "per run (ms)": 1e3 * cpu / runs,
                f"{many} per run": done / runs,
                f"ns per {one}": 1e9 * cpu / done,
            }
        )
    return "What each part took, in processor time of one thread.", Table(pa.Table.from_pylist(rows))


def costs_said(numbers: Mapping[str, Numbers]) -> str:
    """Their sum in a sentence."""
    cpu = sum(float(np.sum(grid.values[CPU])) for grid in numbers.values())
    made = sum(grid.values[CPU].size for grid in numbers.values())
    return f"{number(cpu, 0)} s of one thread, {number(1e3 * cpu / made, 0)} ms for each of {number(made)} runs"


def runs(numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """The numbers of each run, by file."""
    made = {}
    for name, grid in numbers.items():
        file = name.lower()
        for mark, instead in ((":", ""), (",", ""), ("'", ""), (".", "-"), ("/", "-"), (" ", "-")):
            file = file.replace(mark, instead)
        made[f"{RUNS}{file}"] = f"The numbers of each run: {name}.", grid.table()
    return made


def by_reading(judged: Sequence[Judged]) -> Named:
    """What is known of each claim in each reading, with a line that says so."""
    rows = [
        {"claim": one.claim.id, "reading": name, "state": one.state(name), "ours": judgement.ours}
        for one in judged
        for name, judgement in one.readings.items()
    ]
    return "Each claim in each reading: what is known of it, and our figures.", Table(pa.Table.from_pylist(rows))
