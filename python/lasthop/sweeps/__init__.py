"""Parameter sweeps: a scenario at many points, each with the same seeds; killed at any instant, it goes on.

:func:`sweep` has the runs of a plan (``plan``) done by an executor (``work``), keeps each finished one in a
journal (``journal``, ``record``), and at the end puts their tables together (``collect``). The
result is a :class:`Sweep` (``outcome``, ``compare``).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lasthop import files
from lasthop.errors import RunError, ScenarioError
from lasthop.files import OutputRefused
from lasthop.results import FORMATS, Format, said_of
from lasthop.runs import Progress, run_once, seeds_of
from lasthop.scenario import Scenario, as_in_a_file, load
from lasthop.stats import number
from lasthop.sweeps import journal
from lasthop.sweeps.collect import write_tables
from lasthop.sweeps.outcome import MADE_BY, Sweep, Temporary
from lasthop.sweeps.plan import DECIDES, Plan, fingerprint, texts_of_files
from lasthop.sweeps.summary import with_summary
from lasthop.sweeps.vary import Vary, refuse
from lasthop.sweeps.work import Task, end_with_parent, feed, perform

__all__ = ["Plan", "Sweep", "collect", "forecast", "perform_plan", "plan", "progress_of", "sweep"]


def sweep(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    *,
    vary: Mapping[str, Iterable[Any]],
    seeds: int | Iterable[int] = 1,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    threads: int | None = None,
    shard: tuple[int, int] | None = None,
    format: Format = "parquet",
    progress: Progress | None = None,
    force: bool = False,
) -> Sweep:
    """Runs a scenario at all combinations of the values of some keys, each with the same seeds.

    Keys are written as for :meth:`Scenario.with_`. The runs are done by ``executor``, any of
    ``concurrent.futures``' kind, or else on as many threads as there are processors. Each finished run is
    kept in ``folder`` at once: the same call goes on where a killed one ended. Without ``folder`` the
    results live as long as the object.

    With ``shard=(0, 3)`` only the first of three parts is run; a call without, or :func:`collect`, then
    puts the tables together.

    >>> s = lh.sweep("cell.toml", vary={"link.radio.delay": ["20 ms", "80 ms"]}, seeds=20)  # doctest: +SKIP
    >>> s.paired("goodput_kbps")                                                            # doctest: +SKIP
    """
    if folder is None and shard:
        raise ValueError("a shard needs a folder that all shards share")
    kept = Temporary() if folder is None else None
    return perform_plan(
        plan(scenario, vary, seeds, format),
        kept.folder if kept else Path(str(folder)),
        executor=executor,
        threads=threads,
        shard=shard,
        progress=progress,
        force=force,
        kept=kept,
    )


def perform_plan(
    asked: Plan,
    folder: Path,
    *,
    executor: Executor | None = None,
    threads: int | None = None,
    shard: tuple[int, int] | None = None,
    progress: Progress | None = None,
    force: bool = False,
    kept: Temporary | None = None,
) -> Sweep:
    """Makes the unfinished runs of a plan, as :func:`sweep` does. ``kept`` is a folder that ends with the result."""
    began = time.perf_counter()
    if shard is not None and not 0 <= shard[0] < shard[1]:
        raise ValueError(f"there is no shard {shard[0]} of {shard[1]}: they are numbered from 0")
    if not _there(asked, folder, alone=shard is None, force=force):
        asked.check()
    damaged: Sequence[Path] = ()
    with files.claimed(folder, made_by=MADE_BY, force=force, shared=shard is not None):
        manifest = _begin(asked, folder, shard=shard, force=force)
        if "tables" not in manifest:
            name = journal.ALL if shard is None else f"{shard[0]}-of-{shard[1]}"
            with journal.at_work(folder, asked.runs, name, manifest["plan"]) as journals:
                damaged = journals.copies
                _run(asked, manifest["plan"], journals, executor, threads, shard or (0, 1), progress)
                if shard is not None:
                    took = time.perf_counter() - began
                    return Sweep.of(folder, manifest, finished=journals.finished, wall_s=took, damaged=damaged)
                manifest = _finish(folder, manifest, journals)
        if shard is None:
            journal.clear(folder)
    return Sweep.of(folder, manifest, wall_s=time.perf_counter() - began, damaged=damaged, _kept=kept)


def plan(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    vary: Mapping[str, Iterable[Any]],
    seeds: int | Iterable[int] = 1,
    format: Format = "parquet",
) -> Plan:
    """What :func:`sweep` would run. :meth:`Plan.check` looks at every point of it."""
    scenario = load(scenario)
    if format not in FORMATS:
        raise ScenarioError(f"there is no format {format!r}; known: {', '.join(FORMATS)}")
    refuse(vary)
    asked = Vary(as_in_a_file(vary))
    return Plan(scenario, Vary(asked.keys, texts_of_files(scenario, asked)), seeds_of(scenario, seeds), format)


def collect(folder: str | Path) -> Sweep:
    """Puts the tables of a sweep together whose runs are all finished, by whatever shards."""
    folder = Path(folder)
    # Looked at before it is claimed, which would make it.
    _manifest(folder)
    damaged: Sequence[Path] = ()
    with files.claimed(folder, made_by=MADE_BY):
        manifest = _manifest(folder)
        if "tables" not in manifest:
            runs = Vary(manifest["vary"]).points * len(manifest["seeds"])
            with journal.at_work(folder, runs, journal.ALL, manifest["plan"]) as journals:
                damaged = journals.copies
                if journals.finished < runs:
                    missing = f"{number(runs - journals.finished)} of {number(runs)} runs are missing"
                    raise RunError(f"{missing} in {folder}: make them first, by the command that began the sweep")
                manifest = _finish(folder, manifest, journals)
        journal.clear(folder)
    return Sweep.of(folder, manifest, damaged=damaged)


def progress_of(folder: Path) -> tuple[int, int]:
    """How many runs of the sweep in a folder are finished, and how many there are."""
    manifest = _manifest(folder)
    runs = Vary(manifest["vary"]).points * len(manifest["seeds"])
    return (runs if "tables" in manifest else journal.finished(folder, runs, manifest["plan"])), runs


def forecast(asked: Plan, progress: Progress | None = None) -> float:
    """The time that a run takes, in seconds of one thread: the mean of three, far from each other in the plan."""
    points = sorted({0, asked.vary.points // 2, asked.vary.points - 1})
    began = time.perf_counter()
    for place, point in enumerate(points):

        def tell(share: float, place: int = place) -> None:
            if progress:
                progress((place + share) / len(points))

        run_once(asked.variant(point), asked.seeds[0], tell)
    return (time.perf_counter() - began) / len(points)


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the sweep in a folder."""
    manifest = files.manifest(folder)
    if manifest.get("made_by") != MADE_BY:
        raise ValueError(f"{folder} holds no sweep: `{manifest.get('made_by')}` wrote it")
    path = folder / files.MANIFEST
    missing = [key for key in (*DECIDES, "plan") if key not in manifest]
    if missing:
        raise ValueError(f"{path} is not whole, or of another version: it lacks {', '.join(missing)}")
    if fingerprint(manifest) != manifest["plan"]:
        raise ValueError(f"{path} has been changed: what it says is another plan than the one that was run")
    return manifest


def _there(asked: Plan, folder: Path, *, alone: bool, force: bool) -> dict[str, Any]:
    """The manifest of this plan in ``folder``, or an empty one. Another plan goes if forced, or without runs."""
    if not (folder / files.MANIFEST).exists():
        return {}
    try:
        there = _manifest(folder)
        why = asked.difference(there)
        if why is None:
            return there
        if alone and "tables" not in there and journal.empty(folder):
            return {}
        said = f"{folder} holds another sweep, which {why}"
    except ValueError as error:
        said = str(error)
    if force:
        return {}
    raise OutputRefused(said, "choose another folder with -o, or throw away what is there with --force")


def _begin(asked: Plan, folder: Path, *, shard: tuple[int, int] | None, force: bool) -> dict[str, Any]:
    """The manifest of the sweep in ``folder``: the one that is there if the plan is the same, or a new one."""
    if there := _there(asked, folder, alone=shard is None, force=force):
        return there
    if force or (shard is None and (folder / files.MANIFEST).exists()):
        if shard is not None and any(folder.iterdir()):
            raise OutputRefused(
                f"{folder} is not empty, and a shard must not clear it for the others", "do so yourself"
            )
        _clear(folder)
    manifest = {"made_by": MADE_BY, **files.provenance(), **asked.document(), "runs": asked.runs}
    if not files.write_new(folder / files.MANIFEST, files.json_text(manifest) + "\n"):
        # Another shard was quicker.
        return _begin(asked, folder, shard=shard, force=False)
    return manifest


def _clear(folder: Path) -> None:
    """Removes what another result left, its manifest last: until then it says whose the rest is."""
    journal.clear(folder)
    for table in files.tables_of(folder):
        table.unlink(missing_ok=True)
    (folder / files.MANIFEST).unlink(missing_ok=True)


def _run(
    asked: Plan,
    plan: str,
    journals: journal.Journals,
    executor: Executor | None,
    threads: int | None,
    shard: tuple[int, int],
    progress: Progress | None,
) -> None:
    """Has the runs of a shard done that are not finished."""
    part, parts = shard
    mine = range(part, asked.runs, parts)
    # Neighbours in the plan are alike in the work that they make, and go to different shards.
    done = sum(run in journals for run in mine)
    shares: dict[int, float] = {}

    def tell() -> None:
        if progress:
            progress((done + sum(list(shares.values()))) / len(mine) if mine else 1.0)

    def keep(task: Task, packed: bytes) -> None:
        nonlocal done
        journals.append(task.run, packed)
        shares.pop(task.run, None)
        done += 1
        tell()

    tell()
    tasks = (asked.task(run, plan) for run in mine if run not in journals)
    if executor is not None:
        feed(executor, tasks, keep, do=perform, wait=tell)
        return
    threads = threads or os.cpu_count() or 1
    if threads > 1 and asked.needs_processes:
        with ProcessPoolExecutor(threads, get_context("spawn"), end_with_parent) as processes:
            feed(processes, tasks, keep, do=perform, wait=tell)
        return
    stop = threading.Event()
    pool = ThreadPoolExecutor(threads)

    def do(task: Task) -> bytes:
        return perform(task, stop=stop, progress=partial(shares.__setitem__, task.run))

    try:
        feed(pool, tasks, keep, do=do, wait=tell)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _finish(folder: Path, manifest: dict[str, Any], journals: journal.Journals) -> dict[str, Any]:
    """Puts the tables together, and says so in the manifest; what it says now."""
    vary, seeds, format = Vary(manifest["vary"]), manifest["seeds"], manifest["format"]
    made = write_tables(vary, seeds, journals, folder, format, said_of(manifest))
    made = with_summary(Sweep.of(folder, {**manifest, **made}), made, format)
    manifest = {**manifest, **made}
    with files.whole(folder / files.MANIFEST, durable=True) as out:
        out.write_text(files.json_text(manifest) + "\n", encoding="utf-8")
    return manifest
