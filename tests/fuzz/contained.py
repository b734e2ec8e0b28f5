"""Work in a process of its own, with limits: what dies there says so here.

An input takes less than :data:`SECONDS` of processor time and :data:`BYTES` of memory beyond what the process had. The
kernel sees to both: a timer that kills, and a limit of address space, at which the core aborts.
"""

from __future__ import annotations

import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

#: Processor time for an input.
SECONDS = 10.0

#: Memory for an input.
BYTES = 900_000_000

#: Time on the wall after which a process that does not go on is given up, however busy the machine is.
PATIENCE = 300.0

_HEAD = struct.Struct("<QQQ")
_ROOM = 1 << 24


class Board:
    """Memory that parent and child share: which input the child is at, and what it found."""

    def __init__(self, classes: int) -> None:
        self._map = mmap.mmap(-1, _HEAD.size + 8 * classes + _ROOM)
        self._payload = _HEAD.size + 8 * classes
        #: How many inputs ended in each way.
        self.counts = memoryview(self._map)[_HEAD.size : self._payload].cast("Q")

    def begin(self, number: int, payload: bytes) -> None:
        """This input is next, and nothing is found yet."""
        _HEAD.pack_into(self._map, 0, number, len(payload), 0)
        self._map[self._payload : self._payload + len(payload)] = payload

    def found(self, what: str) -> None:
        """Something is wrong with the present input."""
        said = what.encode(errors="replace")[:10_000]
        number, length, _ = _HEAD.unpack_from(self._map)
        self._map[self._payload + length : self._payload + length + len(said)] = said
        _HEAD.pack_into(self._map, 0, number, length, len(said))

    @property
    def number(self) -> int:
        return int(_HEAD.unpack_from(self._map)[0])

    @property
    def payload(self) -> bytes:
        return self._map[self._payload : self._payload + _HEAD.unpack_from(self._map)[1]]

    @property
    def said(self) -> str:
        _, length, said = _HEAD.unpack_from(self._map)
        return self._map[self._payload + length : self._payload + length + said].decode()


class Defect(Exception):
    """What an input must not do. It says what was seen."""


def guarded(work: Callable[[], int]) -> int:
    """Does ``work`` within the limits of time, and makes a :class:`Defect` of any exception."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return work()
    except Defect:
        raise
    except BaseException as error:
        # A panic of the core is no Exception. Its place is on stderr, where the core writes it.
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
        raise Defect(f"{type(error).__name__}: {error} ({place}) {_stderr()}") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def child(board: Board, work: Callable[[], None]) -> str:
    """Does ``work`` in a child; what it found or died of, or nothing."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as said:
        pid = os.fork()
        if pid == 0:
            _work(said.fileno(), board, work)
        try:
            status = _wait(pid, board)
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        if os.WIFSIGNALED(status):
            died = signal.Signals(os.WTERMSIG(status))
            if died == signal.SIGPROF:
                return f"more than {SECONDS:.0f} s of processor time"
            if died == signal.SIGKILL:
                return f"nothing for {PATIENCE:.0f} s"
            said.seek(0)
            return f"{died.name} {_line(said.read())}"
        if os.WEXITSTATUS(status) > 1:
            said.seek(0)
            raise RuntimeError(f"the fuzzer itself, at number {board.number - 1}: {said.read().decode()}")
        return board.said if os.WEXITSTATUS(status) else ""


def _work(stderr: int, board: Board, work: Callable[[], None]) -> NoReturn:
    code = 2
    try:
        os.dup2(stderr, 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        had = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (had + BYTES, had + BYTES))
        work()
        code = 0
    except Defect as error:
        code = 1
        board.found(str(error))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _wait(pid: int, board: Board) -> int:
    at, since, pause = board.number, time.monotonic(), 0.001
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if board.number != at:
            at, since = board.number, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            os.kill(pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _stderr() -> str:
    """What the core has written to stderr, which is a file here."""
    length = os.lseek(2, 0, os.SEEK_CUR)
    return _line(os.pread(2, 100_000, max(0, length - 100_000)))


def _line(said: bytes) -> str:
    """The last panic, or else the last line."""
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    panics = [i for i, line in enumerate(lines) if " panicked at " in line]
    if panics:
        return " ".join(lines[panics[-1] : panics[-1] + 2])
    return lines[-1] if lines else ""
