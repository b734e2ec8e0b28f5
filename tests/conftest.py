"""What the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


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
            timeout=120,
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


@pytest.fixture
def lasthop(tmp_path):
    return Lasthop(tmp_path)


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
