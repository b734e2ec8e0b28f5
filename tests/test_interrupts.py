"""Ctrl-C at any instant, with every recorder on: a word within a second, exit 130, and nothing half-written.

The instants are drawn from a seed, over the command's first seconds, half of them over its imports. They begin where
the program has control: of the twenty milliseconds before, in which Python itself starts, nothing is said.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import lasthop as lh
import pytest
from conftest import BUSY, stopped

#: How often each command is interrupted.
INSTANTS = 100 if "LASTHOP_LONG" in os.environ else 4

#: Says that it begins, then does what `lasthop` does.
BEGUN = "import lasthop.__main__, sys; print('begun', flush=True); lasthop.__main__.main()"

#: All that a run can record, for minutes.
RECORDED = BUSY.replace('"10 s"', '"100000 s"') + "state = true\n"


def begin(lasthop, *words):
    """Starts a command and waits until it has control."""
    child = subprocess.Popen(
        [sys.executable, "-c", BEGUN, *map(str, words)],
        cwd=lasthop.folder,
        env=lasthop.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "begun\n"
    return child


def interrupted(lasthop, *words, after):
    """Interrupts a command after some seconds; whether it was done before."""
    child = begin(lasthop, *words)
    time.sleep(after)
    said, took = stopped(child)
    about = f"after {after:.3f} s: exit {child.returncode}, {took:.2f} s of processor time\n{said}"
    assert child.returncode in (0, 130), about
    assert "Traceback" not in said and "ignored" not in said and "error" not in said, about
    assert took < 1.0 * os.cpu_count(), about
    if child.returncode == 130:
        assert said.endswith("\ninterrupted\n"), about
    return child.returncode == 0


def instants(seed, most):
    """When to interrupt: half of them while it still imports."""
    chance = random.Random(seed)
    return [chance.uniform(0.001, 0.3 if n % 2 else most) for n in range(INSTANTS)]


def left(folder):
    """The files below a folder, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def recorded(lasthop):
    path = lasthop.folder / "recorded.toml"
    path.write_text(RECORDED)
    return path


@pytest.mark.parametrize("more", [[], ["--pcap", "capture.pcapng"], ["--seeds", "4"]], ids=["", "pcap", "seeds"])
def test_a_run(lasthop, recorded, more):
    for after in instants(1, 0.8):
        assert not interrupted(lasthop, "run", recorded, "-o", "out", *more, after=after)
        assert left(lasthop.folder) == ["recorded.toml"]


def test_a_sweep(lasthop, busy):
    words = ["sweep", busy, "--vary", "link.radio.delay=20 ms,80 ms", "--seeds", "30"]
    lasthop(*words, "-o", "whole", "-q")
    whole = {path.name: path.read_bytes() for path in (lasthop.folder / "whole").iterdir()}
    for after in instants(2, 4.0):
        interrupted(lasthop, *words, "-o", "out", after=after)
        assert not [name for name in left(lasthop.folder) if ".part" in name]
    lasthop(*words, "-o", "out", "-q")
    assert {path.name: path.read_bytes() for path in (lasthop.folder / "out").iterdir()} == whole


def processes(session):
    """The processes of a session, as long as they run (proc(5): the state is the 3rd field, the session the 6th)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_sweep_that_is_killed_leaves_no_process_at_work(lasthop, how):
    (lasthop.folder / "mine.py").write_text(
        "import lasthop\nclass Mine(lasthop.Controller):\n    def on_ack(self, m): return 10 * m.segment\n"
    )
    (lasthop.folder / "long.toml").write_text(
        'duration = "100000 s"\n[[link]]\nname = "radio"\nbetween = ["a", "b"]\nrate = "2 Mbit/s"\ndelay = "20 ms"\n'
        '[[flow]]\nfrom = "a"\nto = "b"\ntransport.tcp.congestion.python = "mine:Mine"\n'
    )
    words = ["sweep", "long.toml", "--vary", "link.radio.delay=20 ms,80 ms", "--threads", "2", "-q"]
    child = subprocess.Popen(
        [sys.executable, "-m", "lasthop", *words],
        cwd=lasthop.folder,
        env=lasthop.environment,
        start_new_session=True,
    )
    # With two workers, and the one that counts their semaphores.
    while len(processes(child.pid)) < 4:
        assert child.poll() is None
        time.sleep(0.1)
    # Until they are within their runs.
    time.sleep(1)
    child.send_signal(how)
    child.wait()
    patience = time.monotonic() + 30
    while (others := processes(child.pid)) and time.monotonic() < patience:
        time.sleep(0.1)
    for process in others:
        os.kill(process, signal.SIGKILL)
    assert not others


def test_a_study(lasthop):
    for after in instants(3, 8.0):
        if not interrupted(lasthop, "reproduce", "handover", "-o", "out", after=after):
            names = left(lasthop.folder)
            assert not [name for name in names if ".part" in name]
            assert all(name == "out/manifest.json" or "/.unfinished-" in name for name in names) or after > 1, names


def test_an_analysis(lasthop, busy):
    busy.write_text(BUSY.replace('"10 s"', '"600 s"'))
    lasthop("run", busy, "-o", "made", "--pcap", "capture.pcapng", "-q")
    before = left(lasthop.folder)
    for n, after in enumerate(instants(4, 3.0)):
        source = ["made", "capture.pcapng"][n // 2 % 2]
        if not interrupted(lasthop, "analyze", source, "-o", "out", "--plot", "--force", after=after):
            assert not [name for name in left(lasthop.folder) if ".part" in name]
    assert set(before) <= set(left(lasthop.folder))


def test_an_interrupt_while_seeds_are_handed_out_stops_those_that_run(recorded, monkeypatch):
    submit = ThreadPoolExecutor.submit

    def hit(pool, *work):
        submit(pool, *work)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadPoolExecutor, "submit", hit)
    began = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        lh.replicate(recorded, seeds=2)
    assert time.process_time() - began < 1.0


def test_an_interrupt_that_falls_into_a_callback_is_heard(lasthop):
    """Python drops what is raised there: what ends objects, what locks of imports call."""
    program = (
        "import signal, sys, time, lasthop.__main__ as m, lasthop.cli as c\n"
        "class Ends:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGINT); time.sleep(0)\n"
        "def work(**_):\n"
        "    Ends()\n"
        "    time.sleep(60)\n"
        "    print('not heard')\n"
        "c.cli.main = work\n"
        "m.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=lasthop.environment, capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ninterrupted\n")
