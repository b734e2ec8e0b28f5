"""The reference output of ns-3 is what ns-3 prints, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "tests" / "reference" / "ns3"
#: Other versions may compute another window.
VERSION = "3.37"
LIBRARIES = "applications point-to-point internet traffic-control network bridge stats core"


def _missing() -> str | None:
    """Why ns-3 cannot be asked."""
    if not shutil.which("g++"):
        return "g++ is not installed"
    if not shutil.which("dpkg-query"):
        return "ns-3 is looked for as a Debian package, and there is no dpkg-query"
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "libns3-dev"]
    said = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    if not said.startswith(f"installed {VERSION}"):
        return f"the Debian package libns3-dev {VERSION} is not installed"
    return None


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if reason := _missing():
        pytest.skip(reason)
    binary = tmp_path_factory.mktemp("ns3") / "cubic"
    source = ROOT / "benches" / "peers" / "cubic.cc"
    libraries = [f"-lns3-{library}" for library in LIBRARIES.split()]
    subprocess.run(["g++", "-std=c++17", "-O1", "-DNDEBUG", source, "-o", binary, *libraries], check=True)
    return binary


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cubic-one-loss.csv", []),
        ("cubic-slow-start.csv", ["--mbps=1000", "--ssthresh=0", "--lost=190"]),
    ],
)
def test_the_reference_is_what_ns3_prints(program, name, options):
    said = subprocess.run([program, *options], capture_output=True, text=True, check=True).stdout
    assert said == (REFERENCE / name).read_text(encoding="ascii")
