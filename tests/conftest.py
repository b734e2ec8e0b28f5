"""What the tests share."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from lasthop import studies
from lasthop.studies.conditions import Judgement

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))

# What a shell puts into the background ignores Ctrl-C, and so would commands that are started from there.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Lasthop:
    """The command, as a user calls it, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "NO_COLOR": "1", "MPLBACKEND": "agg"}

    def __call__(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "lasthop", *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Starts the command and does not wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "lasthop", *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@contextmanager
def small_campaign(study: str, folder: Path, *changes: tuple[Any, str, object]) -> Iterator[studies.Outcome]:
    """All that a study does, with (owner, name, value) in place of what makes it long."""
    with pytest.MonkeyPatch.context() as patch:
        for change in changes:
            patch.setattr(*change)
        yield studies.reproduce(studies.study(study), "quick", folder)


def keeps_its_bands(study: str, claim: str, judgement: Judgement) -> None:
    """The bands of a judge are those with which its claim is published: a tolerance is never widened to pass."""
    published = json.loads((ROOT / "docs" / "snapshots" / f"claims-{study}.json").read_text(encoding="utf-8"))
    (its,) = (one["conditions"] for one in published["claims"] if one["id"] == claim)
    accepted = {one["what"]: one["accepted"] for one in its}
    for one in judgement.document()["conditions"]:
        if one["what"] in accepted:
            assert one["accepted"] == pytest.approx(accepted[one["what"]]), f"{claim}: {one['what']}"


@pytest.fixture
def lasthop(tmp_path):
    return Lasthop(tmp_path)


def stopped(child: subprocess.Popen[str]) -> tuple[str, float]:
    """Interrupts a command: what it said, and how many seconds of processor time it took to stop.

    How long that takes on a busy machine says nothing of the command.
    """
    stat = Path(f"/proc/{child.pid}/stat")
    began, before = time.perf_counter(), 0.0
    if stat.exists():
        # The fields behind the name, which may have blanks (proc(5)): utime and stime are the 14th and 15th of all.
        fields = stat.read_text().rpartition(")")[2].split()
        before = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    others = _children_s()
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=120)
    return said, _children_s() - others - before if before else time.perf_counter() - began


def _children_s() -> float:
    """Processor time of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


#: Two flows over a link with random losses, with everything recorded.
BUSY = """
name = "busy"
duration = "10 s"

[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "2 Mbit/s"
delay = "30 ms"
queue.droptail.limit = "30 kB"
loss.bernoulli.p = 0.01

[[flow]]
name = "file"
from = "server"
to = "mobile"

[[flow]]
name = "call"
from = "server"
to = "mobile"
transport = "udp"
source.cbr.rate = "200 kbit/s"

[record]
series = "100 ms"
packets = true
variables = true
"""


@pytest.fixture
def busy(tmp_path):
    path = tmp_path / "busy.toml"
    path.write_text(BUSY)
    return path


def in_terminal(columns, command, folder, environment):
    """How a command ends that writes to a terminal of so many columns, and what it writes."""
    import fcntl
    import pty
    import struct
    import termios

    own, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, cwd=folder, env=environment)
    os.close(its)
    written = b""
    with suppress(OSError):
        while part := os.read(own, 65536):
            written += part
    os.close(own)
    return process.wait(), written.decode().replace("\r\n", "\n")


#: A link as live runs have one.
LINK = """
[[link]]
name = "radio"
between = ["server", "phone"]
rate = "10 Mbit/s"
delay = "20 ms"
queue.droptail.limit = "30 kB"
"""


def live_command(*words, **options):
    """`lasthop live`, as a user calls it."""
    words = [sys.executable, "-m", "lasthop", "live", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options)


@pytest.fixture(scope="session")
def possible(tmp_path_factory):
    """Live runs are possible here; the test is skipped if not, or fails if `LASTHOP_NEEDS_LIVE` is set."""
    file = tmp_path_factory.mktemp("live") / "link.toml"
    file.write_text(LINK)
    tried = live_command(file, "--host", "server", "phone", "--", "true")
    if tried.returncode == 0:
        return
    assert not os.environ.get("LASTHOP_NEEDS_LIVE"), tried.stderr
    assert re.search(r"lets only root|there is no /dev/net/tun|cannot be opened|needs Linux", tried.stderr), (
        tried.stderr
    )
    pytest.skip(tried.stderr.strip())


@pytest.fixture
def link(tmp_path, monkeypatch, request):
    """A file with a link between `server` and `phone`, in a folder that the test is in."""
    request.getfixturevalue("possible")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    return file
