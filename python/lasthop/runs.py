"""Running scenarios: once, or with many seeds on several threads."""

from __future__ import annotations

import operator
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lasthop import _core, files, recorded
from lasthop.errors import ScenarioError
from lasthop.results import Format, Result, Table, counts_as_0, result, save_tables, type_name
from lasthop.scenario import Scenario, load
from lasthop.stats import estimate, mean, number, waited
from lasthop.things import metrics_of, things_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Replications", "replicate", "run", "run_each", "run_once", "seeds_of"]

#: Events between two looks at the clock, at Ctrl-C and at the progress: some 30 ms.
SLICE = 200_000

#: More seeds than these are a mistake.
MOST_SEEDS = 1_000_000

#: The most seeds that a heading names one by one.
FEW = 8

T = TypeVar("T")

#: Hears the share of the work that is done, from 0 to 1.
Progress = Callable[[float], None]


def run(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    *,
    seed: int | None = None,
    pcap: str | Path | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario once, with its own seed or another.

    With ``pcap``, the packets at the nodes that send are also captured into that file (pcapng). A
    :class:`RecordWarning` names quantities that the scenario asks for and nothing in it has.
    """
    scenario = load(scenario)
    seed = scenario.seed if seed is None else seed
    if pcap is None:
        outcome = run_once(scenario, seed, progress)
    else:
        with files.whole(Path(pcap)) as draft:
            outcome = run_once(scenario, seed, progress, pcap=draft)
    recorded.warn(scenario, outcome)
    return outcome


def run_once(
    scenario: Scenario,
    seed: int,
    progress: Progress | None,
    *,
    pcap: Path | None = None,
    stop: threading.Event | None = None,
) -> Result:
    began = time.perf_counter()
    seed = as_seed(seed)
    core = _core.Session(scenario.core, seed, pcap)
    end = core.end_s
    while not core.advance(SLICE):
        if stop and stop.is_set():
            raise KeyboardInterrupt
        if progress:
            progress(core.now_s / end if end else 1.0)
    outcome = core.finish()
    wall = time.perf_counter() - began
    return result(outcome, scenario, seed=seed, simulated_s=end, wall_s=wall)


def seeds_of(scenario: Scenario, seeds: int | Iterable[int]) -> list[int]:
    """These seeds, or this many from the scenario's own on."""
    if not isinstance(seeds, Iterable):
        try:
            seeds = operator.index(seeds)
        except TypeError:
            raise ScenarioError(f"{seeds!r} seeds: a whole number is needed, or a list", path="seeds") from None
        if seeds < 1:
            raise ScenarioError(f"{seeds} seeds: at least one is needed", path="seeds")
        if seeds > MOST_SEEDS:
            raise ScenarioError(f"{number(seeds)} seeds are too many: the most is {number(MOST_SEEDS)}", path="seeds")
        seeds = range(scenario.seed, scenario.seed + seeds)
    chosen = [as_seed(seed) for seed in seeds]
    if not chosen:
        raise ScenarioError("no seeds: at least one is needed", path="seeds")
    if len({*chosen}) < len(chosen):
        raise ScenarioError("a seed is there twice", path="seeds")
    return chosen


def as_seed(seed: int) -> int:
    """The seed, if it is one."""
    try:
        seed = operator.index(seed)
    except TypeError:
        raise ScenarioError(f"the seed {seed!r} is no whole number", path="seed") from None
    if not 0 <= seed < 2**53:
        raise ScenarioError(f"the seed {seed} is out of range: a whole number from 0 to 2⁵³ − 1", path="seed")
    return seed


def run_each(
    work: Sequence[tuple[Scenario, int]],
    *,
    reduce: Callable[[Result], T],
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[T]:
    """Runs several scenarios with their seeds and keeps what ``reduce`` makes of each result.

    They come in the order of ``work``, whatever the threads. Ctrl-C stops all of them within a
    fraction of a second.
    """
    threads = threads or os.cpu_count() or 1
    stop = threading.Event()
    shares = [0.0] * len(work)

    def one(place: int) -> T:
        scenario, seed = work[place]
        return reduce(run_once(scenario, seed, lambda share: shares.__setitem__(place, share), stop=stop))

    with ThreadPoolExecutor(min(threads, max(1, len(work)))) as pool:
        try:
            # Within: an interrupt may fall between two of them, and the first already run.
            futures = [pool.submit(one, place) for place in range(len(work))]
            pending = set(futures)
            while pending:
                done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    shares[futures.index(future)] = 1.0
                if progress:
                    progress(sum(shares) / len(work))
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def replicate(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    *,
    seeds: int | Iterable[int],
    threads: int | None = None,
    progress: Progress | None = None,
) -> Replications:
    """Runs a scenario with several seeds: these, or this many from its own on. It warns as :func:`run` does."""
    scenario = load(scenario)
    began = time.perf_counter()
    work = [(scenario, seed) for seed in seeds_of(scenario, seeds)]
    runs = run_each(work, reduce=lambda result: result, threads=threads, progress=progress)
    recorded.warn(scenario, runs[0])
    return Replications(runs, wall_s=time.perf_counter() - began)


@dataclass(frozen=True, repr=False)
class Replications:
    """Runs of one scenario that differ in the seed."""

    #: The runs, in the order of their seeds.
    runs: Sequence[Result]
    #: Time that they took together.
    wall_s: float = field(compare=False)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, place: int) -> Result:
        return self.runs[place]

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name == "runs":
            raise AttributeError(name)
        return self.table(name)

    def __repr__(self) -> str:
        from lasthop.text import replications_text

        return replications_text(self)

    @property
    def repeats_itself(self) -> bool:
        """Whether all seeds gave the same: then nothing random reached a flow, and an interval says nothing."""
        return len(self) > 1 and all(one.flows == self.runs[0].flows for one in self.runs)

    def heading(self) -> str:
        """One line: what ran, how often, for how long."""
        first = self.runs[0]
        return (
            f"{first.name} · {number(first.simulated_s)} s simulated {len(self)} times in {waited(self.wall_s)}"
            f" · {_named([one.seed for one in self.runs])} · mean ± half-width of the 95 % interval"
        )

    def table(self, name: str) -> Table:
        """The table of this name of all runs, with a column ``seed`` in front."""
        import pyarrow as pa

        parts: list[pa.Table] = []
        for one in self.runs:
            arrow = getattr(one, name).to_arrow()
            seed = pa.array([one.seed] * arrow.num_rows, pa.int64())
            parts.append(arrow.add_column(0, "seed", seed))
        return Table(pa.concat_tables(parts).unify_dictionaries())

    def means(self, name: str) -> list[dict[str, Any]]:
        """A row for each thing in a table, with the :class:`Estimate` of each number over the runs.

        By the rule of ``Sweep.means``: the same columns name things, and several rows of a run that are one thing
        count by their mean. Where a thing has no row in a run its counts are 0, in ``drops`` and ``links``.
        """
        names = things_of(name)
        types = {field.name: type_name(field.type) for field in getattr(self.runs[0], name).to_arrow().schema}
        metrics = metrics_of(types, names)
        things: dict[tuple[str, ...], dict[int, list[dict[str, Any]]]] = {}
        for place, one in enumerate(self.runs):
            for row in getattr(one, name).rows():
                things.setdefault(tuple(row[k] for k in names), {}).setdefault(place, []).append(row)
        found = []
        for runs in things.values():
            (first, *_), *_ = runs.values()
            there = {metric: [mean(row[metric] for row in rows) for rows in runs.values()] for metric in metrics}
            absent = [0] * (len(self) - len(runs))
            means = {
                metric: estimate([*values, *(absent if counts_as_0(name, metric, values) else [])])
                for metric, values in there.items()
            }
            told = [column for column, kind in types.items() if column in means or kind == "string"]
            found.append({column: means.get(column, first[column]) for column in told})
        return found

    def save(self, folder: str | Path, format: Format = "parquet", *, force: bool = False) -> list[Path]:
        """Writes the tables of all runs and ``manifest.json`` into ``folder``; the paths written."""
        first = self.runs[0]
        manifest = {
            "scenario": first.name,
            "scenario_text": first.scenario_text,
            "seeds": [one.seed for one in self.runs],
            "each": [{"packet_hops": one.packet_hops, "wall_s": one.wall_s} for one in self.runs],
            "simulated_s": first.simulated_s,
            "packet_hops": sum(one.packet_hops for one in self.runs),
            "wall_s": self.wall_s,
        }
        tables = {name: self.table(name) for name in first.tables}
        return save_tables(tables, folder, format, manifest=manifest, made_by="lasthop run", force=force)


def _named(seeds: Sequence[int]) -> str:
    """Seeds for reading: as a range if they are one, all of a few, of others how many and from where to where."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if list(seeds) == [*range(seeds[0], seeds[0] + len(seeds))]:
        return f"seeds {seeds[0]}–{seeds[-1]}"
    if len(seeds) <= FEW:
        return f"seeds {', '.join(map(str, seeds))}"
    return f"{number(len(seeds))} seeds from {min(seeds)} to {max(seeds)}"
