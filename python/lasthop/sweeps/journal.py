"""Where finished runs are kept until their tables are put together: a journal for each process that writes.

A journal is a file of records, one behind the other in the order in which runs finished. A record is
written by one call as soon as its run is done, so a killed process loses at most the one that it was
just writing, and the next process cuts that off. Where a journal was damaged later, the records behind
that are kept, and so is a copy of it. The disk is asked to keep what it has once a second,
not for every run: only a failure of the machine itself can take that second's runs, which then run
again. A file for each run would take a directory entry and two waits for the disk instead, which is
more than a short run takes.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop import files
from lasthop.files import OutputRefused
from lasthop.sweeps import record

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ALL", "Journals", "at_work", "clear", "empty", "finished"]

#: The folder of the journals, within that of the sweep.
FOLDER = "runs"

#: The name of the journal of a process that does all of the plan.
ALL = "all"


@contextmanager
def at_work(folder: Path, runs: int, name: str, plan: str) -> Iterator[Journals]:
    """The journals of a sweep by this ``plan``, of which this process may write the one called ``name``.

    No other process writes that one meanwhile; if it is :data:`ALL`, none writes any.
    """
    journals = folder / FOLDER
    journals.mkdir(exist_ok=True)
    with ExitStack() as held:
        others = sorted(journals.glob("*.lock")) if name == ALL else []
        for lock in {journals / f"{name}.lock": None, **dict.fromkeys(others)}:
            held.enter_context(_locked(lock))
        made = held.enter_context(Journals(journals, runs, journals / f"{name}.journal", plan))
        made.copies = [_copied(path, folder) for path in made.damaged]
        yield made


def finished(folder: Path, runs: int, plan: str) -> int:
    """How many runs of a sweep are finished. Others may be at work on it."""
    journals = folder / FOLDER
    return Journals(journals, runs, journals / f"{ALL}.journal", plan).finished


def empty(folder: Path) -> bool:
    """Whether there is nothing in the journals of a sweep, not even what cannot be read."""
    return all(path.stat().st_size == 0 for path in (folder / FOLDER).glob("*.journal"))


def clear(folder: Path) -> None:
    """Removes the journals of a sweep and their locks, and their folder if nothing else is in it."""
    journals = folder / FOLDER
    for path in [*journals.glob("*.journal"), *journals.glob("*.lock")]:
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        journals.rmdir()


class Journals:
    """Which runs are finished, and where their records lie (12 bytes for each run of the plan)."""

    def __init__(self, folder: Path, runs: int, mine: Path, plan: str) -> None:
        import numpy as np

        #: How many runs are finished.
        self.finished = 0
        #: The journals of which something was skipped.
        self.damaged: list[Path] = []
        #: The copies of those, as they were.
        self.copies: list[Path] = []
        self._paths = sorted({*folder.glob("*.journal"), mine})
        self._file = np.full(runs, -1, np.int32)
        self._begin = np.zeros(runs, np.int64)
        self._mine = self._paths.index(mine)
        mine_ends = 0
        for place, path in enumerate(self._paths):
            if path.exists():
                whole = 0
                with files.named(path), path.open("rb") as file:
                    for head, begin, end in record.scan(file):
                        if head.plan != plan or not 0 <= head.run < runs:
                            raise OutputRefused(
                                f"{path} has runs of another plan than {folder.parent / files.MANIFEST}",
                                "take it away, or choose another folder with -o",
                            )
                        if begin > whole and path not in self.damaged:
                            self.damaged.append(path)
                        self._note(head.run, place, begin)
                        whole = end
                if path == mine:
                    mine_ends = whole
        self._log = files.Log(mine, mine_ends)

    def _note(self, run: int, file: int, begin: int) -> None:
        self.finished += int(self._file[run] < 0)
        self._file[run], self._begin[run] = file, begin

    def __contains__(self, run: int) -> bool:
        return bool(self._file[run] >= 0)

    def append(self, run: int, packed: bytes) -> None:
        """Keeps the record of a run."""
        begin = self._log.end
        self._log.append(packed)
        self._note(run, self._mine, begin)

    def __enter__(self) -> Journals:
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def read(self) -> Iterator[tuple[record.Head, dict[str, pa.Table]]]:
        """The finished runs in the order of the plan.

        One journal is open at a time: a sweep may have more shards than a process may open files.
        """
        finished = ((run, int(self._file[run])) for run in range(len(self._file)) if self._file[run] >= 0)
        for place, those in groupby(finished, key=lambda one: one[1]):
            # Closing a file may fail too.
            with files.named(path := self._paths[place]), path.open("rb") as file:
                for run, _ in those:
                    yield record.read(file, int(self._begin[run]), run)


def _copied(path: Path, folder: Path) -> Path:
    """A copy of a damaged journal, which itself goes when the tables are made."""
    copy = folder / f"{path.name}.damaged"
    with files.whole(copy) as draft:
        shutil.copyfile(path, draft)
    return copy


#: The locks that are held, with the process: from itself the system keeps it out of none.
_held: set[tuple[int, Path]] = set()
_guard = threading.Lock()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock that ends with this process, however that ends, and that no child inherits."""
    mine = os.getpid(), path.resolve()
    with _guard:
        # Before it is opened: to close it would end the other's lock.
        if mine in _held:
            raise _at_work(path)
        _held.add(mine)
    try:
        with _locked_by_the_system(path):
            yield
    finally:
        _held.discard(mine)


@contextmanager
def _locked_by_the_system(path: Path) -> Iterator[None]:
    with files.named(path):
        file = path.open("wb")
    try:
        try:
            import fcntl

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise _at_work(path) from None
        except (ImportError, OSError):
            # Windows, and some network file systems, have no such locks.
            pass
        yield
    finally:
        # It is empty: nothing can be lost.
        with suppress(OSError):
            file.close()


def _at_work(path: Path) -> OutputRefused:
    name = path.stem.replace("-of-", "/")
    whose = "another process" if name == ALL else f"shard {name}"
    what = f"{whose} is at work on the sweep in {path.parents[1]}"
    return OutputRefused(what, "wait for it, or choose another folder with -o")
