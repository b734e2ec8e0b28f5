"""Live runs from Python: a scenario by the wall clock, with programs at its nodes that a test starts and stops."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lasthop.errors import RunError

if TYPE_CHECKING:
    from lasthop.results import Result
    from lasthop.scenario import Scenario

__all__ = ["LiveRun", "Process", "live"]

#: Seconds until all hosts have to be up.
PATIENCE = 30.0

#: What a program cannot start after.
ENDED = "the live run has ended"

#: Bytes that are no text, in what programs write, are shown as ``\\xff``.
ODD_BYTES = "backslashreplace"

#: What made a folder of results.
MADE_BY = "lasthop live"

#: The longest run.
LONGEST = "86400 s"

Command = str | Sequence[str | os.PathLike[str]]
#: A standard stream of a program: ``None`` for this process's own, a file, or ``subprocess.PIPE``.
Stream = IO[Any] | int | None


class Process:
    """A program at a host, under way or ended; it is used as a ``subprocess.Popen`` is."""

    def __init__(self, args: list[str], connection: socket.socket, stdout: IO[str] | None, stderr: IO[str] | None):
        self.args = args
        #: What it writes, where that is a pipe.
        self.stdout, self.stderr = stdout, stderr
        #: Its exit code; ``None`` while it runs. Minus the signal's number if one ended it.
        self.returncode: int | None = None
        self._connection = connection
        self._answers = connection.makefile()
        answer = self._answer()
        if "process" not in answer:
            self._answers.close()
            if "error" in answer:
                raise OSError(answer["error"], answer["about"], answer["file"])
            raise ValueError(answer["wrong"]) if "wrong" in answer else RunError(ENDED)
        #: Its process number at its host.
        self.pid: int = answer["process"]

    def _answer(self) -> dict[str, Any]:
        line = ""
        with suppress(ConnectionResetError):
            line = self._answers.readline()
        answer: dict[str, Any] = json.loads(line or '{"code": -9}')
        return answer

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        try:
            return self.wait(timeout=0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end; its exit code."""
        if self.returncode is None:
            import select

            if timeout is not None and not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = self._answer()["code"]
            self._answers.close()
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends a signal to it and all that it started."""
        if self.poll() is None:
            # The program may have ended meanwhile.
            with suppress(BrokenPipeError):
                self._connection.send(bytes([number]))

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()


class LiveRun:
    """A scenario under way by the wall clock. :func:`live` makes it."""

    def __init__(self, scenario: Scenario, doors: Mapping[str, str]) -> None:
        #: What runs.
        self.scenario = scenario
        #: The hosts.
        self.hosts = list(doors)
        #: Its tables, once it has ended.
        self.result: Result | None = None
        #: Whether its figures can be trusted (``sound``), once it has ended.
        self.verdict: str | None = None
        self._doors = doors
        # A program ends with its connection, which must not be collected before.
        self._started: list[Process] = []

    def start(
        self,
        host: str,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stdout: Stream = None,
        stderr: Stream = None,
    ) -> Process:
        """Starts a program at a host. A text is a command of the shell. It ends with the live run at the latest."""
        if host not in self._doors:
            raise KeyError(f"there is no host {host!r}; the hosts are {', '.join(self.hosts)}")
        words = ["sh", "-c", command] if isinstance(command, str) else [os.fspath(word) for word in command]
        asked = {"command": words, "folder": os.fspath(cwd or Path.cwd()), "environment": dict(env or {})}
        with ExitStack() as kept, ExitStack() as stack:
            nothing = stack.enter_context(Path(os.devnull).open("rb"))
            streams, pipes = [nothing.fileno()], []
            for wanted, own in ((stdout, 1), (stderr, 2)):
                pipe = None
                if wanted == subprocess.PIPE:
                    reading, writing = os.pipe()
                    stack.callback(os.close, writing)
                    pipe = kept.enter_context(os.fdopen(reading, "r", errors=ODD_BYTES))
                    streams.append(writing)
                elif wanted == subprocess.STDOUT:
                    streams.append(streams[1])
                elif wanted == subprocess.DEVNULL:
                    streams.append(stack.enter_context(Path(os.devnull).open("wb")).fileno())
                elif wanted is None:
                    streams.append(own)
                else:
                    streams.append(wanted if isinstance(wanted, int) else wanted.fileno())
                pipes.append(pipe)
            connection = kept.enter_context(socket.socket(socket.AF_UNIX))
            request = (json.dumps(asked) + "\n").encode()
            try:
                connection.connect(self._doors[host])
                sent = socket.send_fds(connection, [request], streams)
                # A host that has all of it may have answered and closed the connection.
                if rest := request[sent:]:
                    connection.sendall(rest)
            except (ConnectionError, FileNotFoundError) as error:
                raise RunError(ENDED) from error
            self._started.append(Process(words, connection, *pipes))
            kept.pop_all()
            return self._started[-1]

    def run(
        self,
        host: str,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program at a host to its end; what it wrote is text in ``stdout`` and ``stderr``."""
        with (
            tempfile.TemporaryFile("w+", errors=ODD_BYTES) as out,
            tempfile.TemporaryFile("w+", errors=ODD_BYTES) as err,
        ):
            with self.start(host, command, env=env, cwd=cwd, stdout=out, stderr=err) as process:
                code = process.wait(timeout)
            written = []
            for stream in (out, err):
                stream.seek(0)
                written.append(stream.read())
        done = subprocess.CompletedProcess(process.args, code, *written)
        if check:
            done.check_returncode()
        return done


def python_with(module: str) -> list[str]:
    """Python with a module of this package. It takes none from the working folder, where a ``queue.py`` may lie."""
    package = Path(__file__).resolve().parents[2]
    with suppress(OSError):
        if Path.cwd() == package:
            return [sys.executable, "-m", module]
    return [sys.executable, "-P", "-m", module]


@contextmanager
def live(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    *,
    hosts: Sequence[str] | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    pcap: str | Path | None = None,
    realtime: bool = False,
    force: bool = False,
) -> Iterator[LiveRun]:
    """Runs a scenario by the wall clock for as long as the block lasts, with hosts that are network namespaces.

    >>> with lasthop.live("cell.toml", hosts=["server", "phone"]) as run:     # doctest: +SKIP
    ...     run.start("server", ["python3", "-m", "http.server", "8000"])
    ...     run.run("phone", "curl --retry 5 --retry-connrefused http://server:8000/", check=True)
    >>> run.verdict, run.result.hosts                                         # doctest: +SKIP

    ``hosts`` are nodes, or ``NAME.ue[*]`` for all terminals of a cell; left out, they are those of the scenario's
    ``[live]``, or else the ends of its flows. Programs of ``[live]`` start when the hosts are up. ``out`` is a folder
    for tables and a recording, ``pcap`` a file; what something else wrote there is replaced only if ``force`` is true.
    ``realtime`` asks for real-time priority. It needs Linux; :class:`lasthop.RunError` says what is missing.
    """
    from lasthop import files
    from lasthop.live_runs.hosts import apart
    from lasthop.results import Result
    from lasthop.scenario import load

    scenario = load(scenario)
    bare, named, programs = apart(scenario, hosts)
    if not named:
        raise RunError("there are no hosts: name nodes of the scenario in hosts=[…]")
    # Before anything starts, and in words of Python.
    files.refuse_to_replace(Path(pcap) if pcap else None, force=force)
    if out:
        with files.claimed(Path(out), made_by=MADE_BY, force=force):
            pass
    with tempfile.TemporaryDirectory(prefix="lasthop-") as folder:
        doors = {host: f"{folder}/{number}" for number, host in enumerate(named)}
        file, output = Path(folder) / "scenario.json", Path(out) if out else Path(folder) / "out"
        file.write_text(bare.text, encoding="utf-8")
        words = [*python_with("lasthop"), "live", str(file), "--for", LONGEST, "-o", str(output), "--quiet"]
        # Hosts read from it, and end when this process does, however that ends.
        reading, alive = os.pipe()
        for host, door in doors.items():
            agent = shlex.join([*python_with("lasthop.live_runs.agent"), door, str(reading)])
            words += ["--run", f"{host}=exec {agent}"]
        words += ["--seed", str(seed)] if seed is not None else []
        words += ["--pcap", str(pcap)] if pcap else []
        words += ["--realtime"] if realtime else []
        words += ["--force"] if force else []
        with Path(folder, "said").open("w+") as said, os.fdopen(alive, "wb"):
            with os.fdopen(reading, "rb"):
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, pass_fds=[reading]
                )
            try:
                _wait_for(doors, process, Path(said.name))
                run = LiveRun(scenario, doors)
                for host, command in programs:
                    run.start(host, command)
                yield run
            finally:
                process.terminate()
                process.wait()
        if process.returncode != 0:
            raise RunError(_told(Path(said.name)))
        run.result = Result.load(output)
        run.verdict = run.result.tables["live"].rows()[0]["verdict"]


def _wait_for(doors: Mapping[str, str], process: subprocess.Popen[bytes], said: Path) -> None:
    """Waits until all hosts answer."""
    until = time.monotonic() + PATIENCE
    waiting = list(doors.values())
    while waiting:
        if process.poll() is not None:
            raise RunError(_told(said))
        if time.monotonic() > until:
            raise RunError(f"the hosts are not up after {PATIENCE:.0f} s: {_told(said)}")
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(waiting[-1])
            waiting.pop()
        except OSError:
            time.sleep(0.02)


def _told(said: Path) -> str:
    """What the run said of its end."""
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return "\n".join(lines).removeprefix("Error: ").removeprefix("error: ") or "the live run ended"
