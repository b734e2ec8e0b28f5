"""How many instructions the workloads take, counted by valgrind: it does not matter how busy the machine is.

    python benches/instructions.py            # counts, beside the last row of the history: above 2 % more fails
    python benches/instructions.py --record   # also adds a row to benches/instructions.csv

A workload runs twice, for a shorter and a longer simulated time; the difference is without its set-up. It is given for
each packet-hop, or for each simulated second of a radio. Other compilers count otherwise: a row says which it was.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HISTORY = ROOT / "benches" / "instructions.csv"
#: A rise above this share fails.
LIMIT = 0.02

WORKLOAD, HOPS = "target/fast/workload", "target/fast/examples/hops"
#: Programs with their arguments, and two simulated times in seconds.
PER_HOP = {
    "forwarding, planned": ([HOPS, "planned"], (1, 3)),
    "forwarding, asked": ([HOPS, "asked"], (1, 3)),
    "W1, 1 flow": ([WORKLOAD, "w1", "--flows", "1"], (2, 5)),
    "W1, 10 flows": ([WORKLOAD, "w1", "--flows", "10"], (2, 5)),
    "W1, 100 flows": ([WORKLOAD, "w1", "--flows", "100"], (2, 5)),
    "W1, 1,000 flows": ([WORKLOAD, "w1", "--flows", "1000"], (3, 6)),
    "W2": ([WORKLOAD, "w2"], (1, 2)),
    "W3": ([WORKLOAD, "w3"], (1, 4)),
    "W4, satellites": ([WORKLOAD, "w4"], (10, 30)),
}
PER_SECOND = {
    "UMTS cell": ([WORKLOAD, "scenario", "--file", "examples/umts-cell.toml"], (40, 100)),
    "HSDPA": ([WORKLOAD, "scenario", "--file", "examples/hsdpa.toml"], (5, 15)),
    "MBMS": ([WORKLOAD, "scenario", "--file", "examples/mbms.toml"], (30, 60)),
}


def counted(command: list[str], seconds: int) -> tuple[int, int]:
    """Instructions and packet-hops of a run."""
    words = [*command, str(seconds)] if command[0] == HOPS else [*command, "--seconds", str(seconds)]
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        done = subprocess.run([*tool, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    hops = int(done.stdout) if command[0] == HOPS else json.loads(done.stdout)["hops"]
    return int(found[1]), hops


def each(name: str) -> float:
    """The instructions of a packet-hop, or of a simulated second."""
    command, (short, long) = {**PER_HOP, **PER_SECOND}[name]
    (first, before), (second, after) = (counted(command, seconds) for seconds in (short, long))
    return (second - first) / (after - before if name in PER_HOP else long - short)


def said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="add a row to the history")
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return 0
    for target in (["--bin", "workload"], ["--example", "hops"]):
        subprocess.run(
            ["cargo", "build", "--quiet", "--profile", "fast", "-p", "lasthop-bench", *target], cwd=ROOT, check=True
        )
    names = [*PER_HOP, *PER_SECOND]
    with ThreadPoolExecutor(2) as pool:
        counts = dict(zip(names, pool.map(each, names), strict=True))
    compiler = said("rustc", "--version").split()[1]
    with HISTORY.open(newline="") as file:
        rows = list(csv.DictReader(file))
    last = rows[-1] if rows else {}
    alike = last.get("rustc") == compiler
    above = []
    print(f"{'':<22}{'instructions':>14}{'last':>14}{'change':>9}")
    for name, count in counts.items():
        before = float(last[name]) if last.get(name) else None
        change = f"{100 * (count / before - 1):+.1f} %" if before else ""
        print(f"{name:<22}{count:>14,.1f}{before or 0:>14,.1f}{change:>9}")
        above += [name] if before and alike and count > (1 + LIMIT) * before else []
    if asked.record:
        head = {"commit": said("git", "rev-parse", "--short", "HEAD"), "date": said("git", "log", "-1", "--format=%cs")}
        with HISTORY.open("a", newline="") as file:
            writer = csv.DictWriter(file, ["commit", "date", "rustc", *names], lineterminator="\n")
            if not rows:
                writer.writeheader()
            writer.writerow({**head, "rustc": compiler, **{name: f"{count:.1f}" for name, count in counts.items()}})
        return 0
    if last and not alike:
        print(f"not judged: the last row is of rustc {last['rustc']}, this is {compiler}")
    if above:
        print(f"more than {100 * LIMIT:.0f} % above the last row: {', '.join(above)}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
