"""What a live run costs, beside a bare forwarder in C on the same paths in the same minute.

    make bench-live                        # or: python benches/live/run.py [--rounds N] [--seconds S]

It needs root, a C compiler, TUN devices and two cores that are free. Rounds alternate between the two; medians count.
It fails if a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
TICK = os.sysconf("SC_CLK_TCK")

#: Paths: rate in bit/s (0: none), delay in ms, queue in packets.
PATHS = {
    "bulk": (0, 0.0, 10_000),
    "1 Gbit/s": (1e9, 0.0, 1_000),
    "456 Mbit/s": (456e6, 0.0, 1_000),
    "20 ms": (0, 20.0, 10_000),
}
#: A packet written later than this is late, where lateness is measured.
LATE_US = 150


@dataclass(frozen=True)
class Work:
    """What is measured: the path, the roles' first word, and how."""

    path: str
    role: str
    #: TCP cut in user space; the forwarder has none of it.
    offload: bool = False
    #: `SCHED_FIFO`, and processes that use all that they get.
    realtime: bool = False
    load: int = 0


WORK = {
    "bulk TCP": Work("bulk", "bulk"),
    "bulk TCP, cut": Work("bulk", "bulk", offload=True),
    "link of 1 Gbit/s": Work("1 Gbit/s", "bulk"),
    "link of 1 Gbit/s, cut": Work("1 Gbit/s", "bulk", offload=True),
    "38,000/s": Work("456 Mbit/s", "bulk", realtime=True),
    "20 ms at 1,000/s": Work("20 ms", "stamps"),
    "20 ms at 1,000/s, loaded": Work("20 ms", "stamps", realtime=True, load=3),
}


def programs(role: str, seconds: float) -> tuple[str, str]:
    command = f"{sys.executable} {HERE / 'traffic.py'}"
    return f"exec {command} {role}_send {seconds}", f"exec {command} {role}_receive {seconds}"


def forwarder(what: Work, seconds: float, work: Path) -> list[str]:
    rate, delay, queue = PATHS[what.path]
    priority = ["chrt", "--reset-on-fork", "--fifo", "10"] if what.realtime else []
    words = [str(work / "forwarder"), f"{rate:.0f}", f"{1e3 * delay:.0f}", str(queue), str(LATE_US)]
    return [*priority, *words, *programs(what.role, seconds)]


def lasthop(what: Work, seconds: float, work: Path) -> list[str]:
    rate, delay, queue = PATHS[what.path]
    link: dict[str, Any] = {
        "name": "l",
        "between": ["a", "b"],
        "rate": f"{rate or 1e12:.0f} bit/s",
        "delay": f"{delay} ms",
    }
    link["queue"] = {"droptail": {"limit": f"{queue} packets"}}
    file = work / "path.json"
    file.write_text(json.dumps({"link": [link]}))
    sender, receiver = programs(what.role, seconds)
    words = [sys.executable, "-m", "lasthop", "live", str(file), "--quiet", "--run", f"a={sender}"]
    words += ["--late", f"{LATE_US} us"] + ["--offload"] * what.offload + ["--realtime"] * what.realtime
    return [*words, "b", "--", "sh", "-c", receiver]


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Processes that use all the time that they get."""
    running = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def children(process: int) -> list[int]:
    """The children of all threads of a process."""
    found = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(n) for n in file.read_text().split()]
    return found


def find_receiver(process: int) -> int | None:
    for child in children(process):
        words = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"_receive" in words and b"traffic.py" in words and b"live\0" not in words:
            return child
        if found := find_receiver(child):
            return found
    return None


def usage(process: int, receiver: int) -> tuple[float, float, float]:
    """Processor seconds of a process, those outside the kernel, and packets of the receiver's interface.

    Packets that come have 1,500 B, and the interface counts joined ones as one.
    """
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    line = next(one for one in Path(f"/proc/{receiver}/net/dev").read_text().splitlines() if "live0" in one)
    counts = line.partition(":")[2].split()
    user, kernel = int(fields[11]) / TICK, int(fields[12]) / TICK
    return user + kernel, user, int(counts[0]) / 1500 + int(counts[9])


def measured(command: list[str], seconds: float, inner: Callable[[int], int]) -> dict[str, float]:
    """Runs it; what its receiver printed, and the processor time of a packet in µs, in all and outside the kernel."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    receiver = None
    while process.poll() is None and receiver is None:
        time.sleep(0.02)
        receiver = find_receiver(process.pid)
    each = own = float("nan")
    if receiver is not None:
        time.sleep(1.0)
        try:
            before = usage(inner(process.pid), receiver)
            time.sleep(max(0.5, seconds - 1.5))
            after = usage(inner(process.pid), receiver)
            packets = max(1.0, after[2] - before[2])
            each, own = (1e6 * (after[i] - before[i]) / packets for i in (0, 1))
        except OSError:
            pass
    out, err = process.communicate()
    if process.returncode != 0 or not out.strip():
        raise SystemExit(f"{' '.join(command[:4])} … failed: {err.strip()}")
    late = re.search(r"LATE: (?:less than )?([\d.]+) %", err)
    share = float(late[1]) if late else 0.0
    return {**json.loads(out.strip().splitlines()[-1]), "us_per_packet": each, "user_us": own, "late": share}


def compare(rounds: int, seconds: float, work: Path) -> dict[str, list[dict[str, dict[str, float]]]]:
    made: dict[str, list[dict[str, dict[str, float]]]] = {name: [] for name in WORK}
    for n in range(rounds):
        for name, what in WORK.items():
            with load(what.load):
                one = {
                    "forwarder": measured(forwarder(what, seconds, work), seconds, lambda pid: pid),
                    "lasthop": measured(lasthop(what, seconds, work), seconds, lambda pid: children(pid)[0]),
                }
            made[name].append(one)
            print(f"round {n + 1} of {rounds}, {name}: {json.dumps(one)}", file=sys.stderr)
    return made


def report(made: dict[str, list[dict[str, dict[str, float]]]]) -> list[str]:
    """Prints the table; the limits that are missed."""
    missed = []

    def row(
        what: str, name: str, value: Callable[[dict[str, float]], float], limit: str, holds: Any, unit: str
    ) -> None:
        toy, ours = ([value(one[who]) for one in made[name]] for who in ("forwarder", "lasthop"))
        ratio = median(b / a if a else float("nan") for a, b in zip(toy, ours, strict=True))
        kept = holds(median(ours), ratio)
        end = "" if kept else "   MISSED"
        print(f"{what:<48}{median(toy):>12,.1f}{median(ours):>12,.1f} {unit:<8}{ratio:>7.2f}   {limit}{end}")
        missed.extend([] if kept else [what])

    print(f"{'':<48}{'forwarder':>12}{'lasthop':>12} {'':<8}{'ratio':>7}   limit")
    rate, each, own = itemgetter("mbps"), itemgetter("us_per_packet"), itemgetter("user_us")
    row("bulk TCP, no offload", "bulk TCP", rate, "0.7", lambda _, r: r >= 0.7, "Mbit/s")
    row("  processor a packet", "bulk TCP", each, "7 µs", lambda v, _: v <= 7, "µs")
    row("  of it outside the kernel", "bulk TCP", own, "1.5 µs", lambda v, _: v <= 1.5, "µs")
    row("bulk TCP, cut in user space", "bulk TCP, cut", rate, "1,500", lambda v, _: v >= 1_500, "Mbit/s")
    row("  processor a packet", "bulk TCP, cut", each, "-", lambda *_: True, "µs")
    row("TCP over a link of 1 Gbit/s", "link of 1 Gbit/s", rate, "950", lambda v, _: v >= 950, "Mbit/s")
    # A packet comes every 12 µs: the forwarder, with a wake-up for each, takes more than 7 µs.
    row("  processor a packet", "link of 1 Gbit/s", each, "1.2", lambda _, r: r <= 1.2, "µs")
    row("  of it outside the kernel", "link of 1 Gbit/s", own, "1.5 µs", lambda v, _: v <= 1.5, "µs")
    row("TCP over a link of 1 Gbit/s, cut", "link of 1 Gbit/s, cut", rate, "950", lambda v, _: v >= 950, "Mbit/s")
    row("  processor a packet", "link of 1 Gbit/s, cut", each, "7 µs", lambda v, _: v <= 7, "µs")
    late = f"38,000/s, SCHED_FIFO: more than {LATE_US} µs late"
    row(late, "38,000/s", itemgetter("late"), "1 %", lambda v, _: v <= 1, "%")
    stamps = "20 ms at 1,000/s"

    def added(q: str) -> Callable[[dict[str, float]], float]:
        return lambda one: one[q] - 20_000

    row(f"{stamps}: added delay, p50", stamps, added("p50"), "1.2", lambda _, r: r <= 1.2, "µs")
    row(f"{stamps}: added delay, p99", stamps, added("p99"), "1.2", lambda _, r: r <= 1.2, "µs")
    row(f"{stamps}: added delay, p99.9", stamps, added("p999"), "-", lambda *_: True, "µs")
    row("  processor a packet", stamps, each, "60 µs", lambda v, _: v <= 60, "µs")
    for q, limit in (("p50", 80), ("p99", 200), ("p999", 500)):
        what = f"the same, SCHED_FIFO beside a load: {q}"
        row(what, f"{stamps}, loaded", added(q), f"{limit} µs", lambda v, _, limit=limit: v <= limit, "µs")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    asked = parser.parse_args()
    compiler = shutil.which("cc")
    if os.geteuid() != 0 or compiler is None or not Path("/dev/net/tun").exists():
        print("skipped: it needs root, cc and /dev/net/tun")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        subprocess.run([compiler, "-O2", "-o", str(work / "forwarder"), str(HERE / "forwarder.c")], check=True)
        missed = report(compare(asked.rounds, asked.seconds, work))
    if missed:
        print(f"above their limits: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
