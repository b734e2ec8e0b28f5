"""Doing the runs of a sweep: what one is, and how an executor is kept fed with them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import parent_process
from multiprocessing.connection import wait as wait_for
from queue import Empty, SimpleQueue
from typing import TypeVar

from lasthop.errors import RunError, ScenarioError
from lasthop.files import code
from lasthop.runs import Progress, run_once
from lasthop.scenario import Scenario, from_text
from lasthop.sweeps import record

__all__ = ["Task", "end_with_parent", "feed", "perform"]

#: A task to be done.
W = TypeVar("W")

#: Runs that an executor has at a time: enough for hundreds of workers, few enough to forget.
OUTSTANDING = 1000


@dataclass(frozen=True)
class Task:
    """One run, as plain data that can be sent to another machine."""

    #: Its number in the plan.
    run: int
    #: The text of the scenario that is varied, and where it came from.
    text: str
    origin: str
    #: The varied keys with their values, each as JSON.
    changes: tuple[tuple[str, str], ...]
    #: The same for reading.
    where: str
    seed: int
    #: The version of lasthop that has to do it.
    code: str
    #: The digests of its controllers in Python, as JSON.
    controllers: str
    #: What tells the plan from any other.
    plan: str


def perform(task: Task, *, stop: threading.Event | None = None, progress: Progress | None = None) -> bytes:
    """Makes a run, and gives its record."""
    if code() != task.code:
        raise RunError(f"this worker has {code()}, and the sweep is one of {task.code}: install the same everywhere")
    scenario = _scenario(task.text, task.origin, task.changes)
    if controllers := json.loads(task.controllers):
        from lasthop.controller import sources

        if sources(scenario.to_dict(), scenario.origin) != controllers:
            raise RunError(f"{task.where}: {', '.join(controllers)} is not here what it was where the sweep began")
    try:
        result = run_once(scenario, task.seed, progress, stop=stop)
    except RunError as error:
        raise RunError(f"{task.where}, seed {task.seed}: {error}") from error
    return record.pack(task.run, task.plan, result)


@lru_cache(maxsize=16)
def _scenario(text: str, origin: str, changes: tuple[tuple[str, str], ...]) -> Scenario:
    """The scenario of a point, which the seeds share."""
    return from_text(text, origin=origin).changed({key: json.loads(value) for key, value in changes})


def feed(
    executor: Executor,
    tasks: Iterable[W],
    keep: Callable[[W, bytes], None],
    *,
    do: Callable[[W], bytes],
    wait: Callable[[], None] = lambda: None,
) -> None:
    """Has the tasks done, and each record kept as soon as it is there.

    Only a limited number is under way at a time, so a plan of any length takes no memory. ``wait`` is called
    some times a second while nothing comes. Whatever ends this early, a failed run or Ctrl-C: finished
    tasks are kept, and those that have not begun are cancelled.
    """
    waiting: Iterator[W] = iter(tasks)
    under_way: dict[Future[bytes], W] = {}
    done: SimpleQueue[Future[bytes]] = SimpleQueue()
    more = True
    try:
        while more or under_way:
            if more and len(under_way) < OUTSTANDING:
                if (task := next(waiting, None)) is not None:
                    future = executor.submit(do, task)
                    under_way[future] = task
                    future.add_done_callback(done.put)
                more = task is not None
                if done.empty():
                    continue
            try:
                future = done.get(timeout=0.1)
            except Empty:
                wait()
                continue
            keep(under_way.pop(future), _result(future))
    except BaseException:
        for future in under_way:
            future.cancel()
        with suppress(Empty):
            while True:
                future = done.get_nowait()
                if not future.cancelled() and future.exception() is None:
                    keep(under_way.pop(future), future.result())
        raise


def end_with_parent() -> None:
    """Ends a worker's process as soon as that of the sweep is gone: one that was killed cannot say so itself."""
    if (parent := parent_process()) is None:
        return

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _result(future: Future[bytes]) -> bytes:
    """What a worker made. It can fail in ways of its own: it dies, its machine has no memory, it is gone."""
    try:
        return future.result()
    except (RunError, ScenarioError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise RunError(f"a worker failed, with {type(error).__name__}: {error}") from error
