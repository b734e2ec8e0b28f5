#!/usr/bin/env python3
"""Runs lasthop, ns-2 and ns-3 on the same workloads and prints what a packet-hop costs each.

The programs take turns (A B C A B C ...), so that a change of the machine's speed hits all of them;
the medians are compared. README.md says what is measured and how.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "target" / "bench"

DEBIAN_PACKAGES = ("ns2", "libns3-dev", "g++")
NS3_HEADER = Path("/usr/include/ns3/point-to-point-module.h")
NS3_LIBRARIES = (
    "applications",
    "point-to-point",
    "internet",
    "traffic-control",
    "network",
    "bridge",
    "stats",
    "core",
)

# A load that is further than this from the reference is not the same work.
LOAD_TOLERANCE = 0.05


@dataclass(frozen=True)
class Workload:
    """One row of the table. `n` is the number of TCP flows."""

    key: str
    name: str
    n: int
    rate_mbps: int
    # Simulated seconds: for lasthop and ns-2, and for ns-3, which is slow.
    seconds: int
    ns3_seconds: int
    rounds: int
    # The load that every program has to report, from 60 s (30 s at 1 Gb/s) in ns-2; 0 where nothing is acknowledged.
    hops_per_s: float
    goodput_mbps: float

    def script(self) -> str:
        """What the programs call it: w1, w2, w3 or w4."""
        return self.key[:2]


WORKLOADS = (
    Workload("w1-1", "W1", 1, 100, 600, 20, 5, 4.280e6 / 60, 95.03),
    Workload("w1-10", "W1", 10, 100, 600, 20, 5, 4.302e6 / 60, 95.48),
    Workload("w1-100", "W1", 100, 100, 600, 20, 3, 4.334e6 / 60, 95.59),
    Workload("w1-1000", "W1", 1000, 100, 60, 60, 5, 4.449e6 / 60, 94.78),
    Workload("w1-1000-1g", "W1 1 Gb/s", 1000, 1000, 30, 10, 3, 21.679e6 / 30, 947.8),
    Workload("w2", "W2", 10, 100, 60, 20, 3, 19.82e6 / 60, 47.6),
    Workload("w3", "W3", 0, 100, 100, 20, 3, 69_500, 0),
    Workload("w4", "W4", 5, 0, 1500, 0, 3, 8.203e6 / 1500, 4.13),
)

# Memory per flow is counted from here. At 100 Mb/s also for the 1 Gb/s workload: there a single
# flow is held up by its own access link, and its peak is that link's queue of 100 000 packets.
MEMORY_BASE = WORKLOADS[0]

# An ns-3 run takes up to a minute; more rounds than this would not change what it says.
NS3_ROUNDS = 3


@dataclass(frozen=True)
class Measurement:
    """What one run reported in its line of JSON."""

    hops: int
    goodput_mbps: float
    run_cpu_s: float
    setup_s: float
    peak_rss_kb: int
    seconds: int

    def ns_per_hop(self) -> float:
        return self.run_cpu_s * 1e9 / self.hops


@dataclass(frozen=True)
class Program:
    """Something that runs a workload. Builds of one peer compete: the faster one is reported."""

    peer: str
    build: str
    command: Callable[[Workload], list[str]]

    def label(self) -> str:
        return f"{self.peer}, {self.build}" if self.build else self.peer

    def can(self, workload: Workload) -> bool:
        """The tree has no program for ns-3, and ns-3 has no satellites."""
        return not (self.peer == NS3 and workload.script() in ("w3", "w4"))

    def seconds(self, workload: Workload) -> int:
        return workload.ns3_seconds if self.peer == NS3 else workload.seconds

    def rounds(self, rounds: int) -> int:
        return min(rounds, NS3_ROUNDS) if self.peer == NS3 else rounds


LASTHOP = "lasthop"
NS2 = "ns-2"
NS3 = "ns-3 (Debian)"
PEERS = {"ns-2": NS2, "ns-3": NS3}


@dataclass(frozen=True)
class Summary:
    """The medians of a program's runs of one workload."""

    program: Program
    ns_per_hop: float
    setup_s: float
    peak_rss_kb: float


@dataclass(frozen=True)
class Entry:
    """One object of peers.json. Memory per flow is null where N is too small to tell."""

    workload: str
    n: int
    peer: str
    peer_ns_per_hop: float
    lasthop_ns_per_hop: float
    ratio: float
    lasthop_bytes_per_flow: float | None
    lasthop_setup_s: float


@dataclass(frozen=True)
class Row:
    """An entry, and what the table says beyond it."""

    entry: Entry
    build: str
    others: str
    peer_mb: float
    lasthop_mb: float
    peer_setup_s: float
    peer_bytes_per_flow: float | None


class Failure(Exception):
    """A sentence for the user."""


def main() -> int:
    arguments = parse_arguments()
    try:
        if arguments.install:
            install()
        lasthop = find_lasthop(arguments.lasthop)
        peers = find_peers([PEERS[name] for name in arguments.peers])
    except Failure as failure:
        say(str(failure))
        return 2
    if not peers:
        say("No peer is there to compare with; `run.py --install` installs them, as root.")
        return 1

    try:
        rows = measure(
            [workload for workload in WORKLOADS if workload.key in arguments.workloads],
            [lasthop, *peers],
            rounds=arguments.rounds,
        )
    except Failure as failure:
        say(str(failure))
        return 1

    print_table(rows)
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "peers.json"
    path.write_text(json.dumps([asdict(row.entry) for row in rows], indent=2) + "\n")
    say(f"Wrote {path}.")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare lasthop with ns-2 and ns-3 on the same dumbbells and chain.")
    keys = [workload.key for workload in WORKLOADS]
    parser.add_argument("--install", action="store_true", help="first install ns-2 and ns-3 from Debian (as root)")
    parser.add_argument(
        "--workloads",
        nargs="+",
        choices=keys,
        default=keys,
        metavar="W",
        help=f"of {' '.join(keys)} (default: all)",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=list(PEERS),
        default=list(PEERS),
        metavar="P",
        help=f"of {' '.join(PEERS)} (default: all)",
    )
    parser.add_argument(
        "--rounds",
        type=positive,
        metavar="N",
        help=f"runs of each (default: 3, or 5 for short ones; ns-3 at most {NS3_ROUNDS})",
    )
    parser.add_argument(
        "--lasthop",
        type=Path,
        default=ROOT / "target" / "release" / "workload",
        metavar="PATH",
        help="lasthop's workload program (default: target/release/workload)",
    )
    return parser.parse_args()


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("write a number of rounds of at least 1")
    return value


# The programs


def install() -> None:
    """Installs what is missing of the Debian packages."""
    missing = [package for package in DEBIAN_PACKAGES if installed_version(package) is None]
    if not missing:
        say("The peers are installed already.")
        return
    if os.geteuid() != 0:
        raise Failure(
            "Installing needs root; run `sudo apt-get install --no-install-recommends "
            f"{' '.join(missing)}`, then run this without --install."
        )
    if shutil.which("apt-get") is None:
        raise Failure("Installing needs apt-get (Debian 12); install ns-2.35 and ns-3.37 by hand.")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", *missing],
    ):
        say(" ".join(command))
        done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
        if done.returncode != 0:
            raise Failure(f"`{' '.join(command)}` failed; see above.")


def installed_version(package: str) -> str | None:
    """The version of an installed Debian package."""
    if shutil.which("dpkg-query") is None:
        return None
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    status, _, version = done.stdout.partition(" ")
    return version if status == "installed" else None


def find_lasthop(path: Path) -> Program:
    if not path.is_file():
        raise Failure(
            f"lasthop's workload program is not at {path}; "
            "build it in release mode, or say where it is with --lasthop PATH."
        )

    def command(workload: Workload) -> list[str]:
        seconds = ["--seconds", str(workload.seconds)]
        if workload.script() != "w1":
            return [str(path), workload.script(), *seconds]
        load = ["--flows", str(workload.n), "--rate-mbps", str(workload.rate_mbps)]
        return [str(path), "w1", *load, *seconds]

    return Program(LASTHOP, "", command)


def find_peers(wanted: Sequence[str]) -> list[Program]:
    """The peers that can run; for the others, the reason on standard error."""
    programs: list[Program] = []
    if NS2 in wanted:
        programs += find_ns2()
    if NS3 in wanted:
        programs += find_ns3()
    return programs


def find_ns2() -> list[Program]:
    """ns-2 once with each of its fast schedulers; which is faster depends on the workload."""
    ns = shutil.which("ns")
    if ns is None:
        say("ns-2 is missing (Debian package ns2, or --install); going on without it.")
        return []
    say(f"ns-2: {ns}, Debian package ns2 {installed_version('ns2') or '(not from Debian)'}")

    def with_scheduler(scheduler: str) -> Program:
        def command(workload: Workload) -> list[str]:
            seconds = str(workload.seconds)
            if workload.script() != "w1":
                return [ns, str(HERE / f"{workload.script()}.tcl"), seconds, scheduler]
            load = [str(workload.n), str(workload.rate_mbps)]
            return [ns, str(HERE / "w1.tcl"), *load, seconds, scheduler]

        return Program(NS2, scheduler, command)

    return [with_scheduler("Splay"), with_scheduler("Calendar")]


def find_ns3() -> list[Program]:
    compiler = shutil.which("g++")
    if compiler is None or not NS3_HEADER.is_file():
        say("ns-3 is missing (Debian packages libns3-dev g++, or --install); going on without it.")
        return []
    say(f"ns-3: Debian package libns3-dev {installed_version('libns3-dev') or '(not from Debian)'}")
    binary = OUT / "ns3-workloads"
    source = HERE / "workloads.cc"
    OUT.mkdir(parents=True, exist_ok=True)
    if not binary.is_file() or binary.stat().st_mtime < source.stat().st_mtime:
        libraries = [f"-lns3-{library}" for library in NS3_LIBRARIES]
        flags = ["-std=c++17", "-O3", "-DNDEBUG"]
        build = [compiler, *flags, str(source), "-o", str(binary), *libraries]
        say(" ".join(build))
        if subprocess.run(build, stdout=sys.stderr, check=False).returncode != 0:
            say("The ns-3 program does not compile here; going on without ns-3.")
            return []

    def command(workload: Workload) -> list[str]:
        seconds = f"--seconds={workload.ns3_seconds}"
        if workload.script() == "w2":
            return [str(binary), "--workload=w2", seconds]
        load = [f"--flows={workload.n}", f"--rate-mbps={workload.rate_mbps}"]
        return [str(binary), "--workload=w1", *load, seconds]

    return [Program(NS3, "as packaged", command)]


# The measurement


def measure(workloads: Sequence[Workload], programs: Sequence[Program], *, rounds: int | None) -> list[Row]:
    """Runs everything. A peer that fails is left out from there on; lasthop must not fail."""
    working = list(programs)
    base_kb: dict[str, float] = {}
    rows: list[Row] = []
    if any(workload.n >= 1000 for workload in workloads) and MEMORY_BASE not in workloads:
        say(f"{MEMORY_BASE.key}: one run each, for the memory that a flow takes")
        for summary in run_interleaved(MEMORY_BASE, working, rounds=1):
            base_kb[summary.program.label()] = summary.peak_rss_kb

    for workload in workloads:
        summaries = run_interleaved(workload, working, rounds=rounds or workload.rounds)
        if workload == MEMORY_BASE:
            base_kb = {summary.program.label(): summary.peak_rss_kb for summary in summaries}
        rows += compare(workload, summaries, base_kb)
    return rows


def run_interleaved(workload: Workload, working: list[Program], *, rounds: int) -> list[Summary]:
    """Runs the programs in turn, and takes out of `working` those that fail."""
    able = [program for program in working if program.can(workload)]
    runs: dict[str, list[Measurement]] = {program.label(): [] for program in able}
    for number in range(rounds):
        for program in list(able):
            if number >= program.rounds(rounds):
                continue
            place = f"{workload.key}, round {number + 1} of {rounds}, {program.label()}"
            try:
                done = run_once(program, workload)
            except Failure as failure:
                if program.peer == LASTHOP:
                    raise
                say(f"{place}: {failure} Going on without it.")
                working.remove(program)
                able.remove(program)
                continue
            say(f"{place}: {done.ns_per_hop():.1f} ns per hop, {done.goodput_mbps:.2f} Mb/s")
            warn_of_other_load(workload, done, place)
            runs[program.label()].append(done)
    return [summarise(program, runs[program.label()]) for program in able]


def run_once(program: Program, workload: Workload) -> Measurement:
    command = program.command(workload)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise Failure(f"`{' '.join(command)}` failed: {done.stderr.strip()[-500:]}")
    try:
        line = json.loads(done.stdout.strip().splitlines()[-1])
        return Measurement(
            hops=int(line["hops"]),
            goodput_mbps=float(line["goodput_mbps"]),
            run_cpu_s=float(line["run_cpu_s"]),
            setup_s=float(line["setup_s"]),
            peak_rss_kb=int(line["peak_rss_kb"]),
            seconds=program.seconds(workload),
        )
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise Failure(f"`{' '.join(command)}` did not end with a result line ({error!r}).") from error


def warn_of_other_load(workload: Workload, done: Measurement, place: str) -> None:
    """Says when a run was not the same work as the others, and so is not comparable."""
    loads = (
        ("packet-hops per simulated second", done.hops / done.seconds, workload.hops_per_s),
        ("Mb/s of goodput", done.goodput_mbps, workload.goodput_mbps),
    )
    for what, value, reference in loads:
        if reference and abs(value / reference - 1) > LOAD_TOLERANCE:
            say(f"{place}: NOT COMPARABLE: {value:.1f} {what}, where the reference is {reference:.1f}")


def summarise(program: Program, runs: Sequence[Measurement]) -> Summary:
    return Summary(
        program=program,
        ns_per_hop=median(run.ns_per_hop() for run in runs),
        setup_s=median(run.setup_s for run in runs),
        peak_rss_kb=median(run.peak_rss_kb for run in runs),
    )


def compare(workload: Workload, summaries: Sequence[Summary], base_kb: dict[str, float]) -> list[Row]:
    """A row for each peer, at the fastest of its builds."""
    lasthop = next(summary for summary in summaries if summary.program.peer == LASTHOP)
    rows: list[Row] = []
    for peer in PEERS.values():
        builds = sorted(
            (summary for summary in summaries if summary.program.peer == peer),
            key=lambda summary: summary.ns_per_hop,
        )
        if not builds:
            continue
        best, *others = builds
        entry = Entry(
            workload=workload.name,
            n=workload.n,
            peer=peer,
            peer_ns_per_hop=round(best.ns_per_hop, 2),
            lasthop_ns_per_hop=round(lasthop.ns_per_hop, 2),
            ratio=round(best.ns_per_hop / lasthop.ns_per_hop, 3),
            lasthop_bytes_per_flow=bytes_per_flow(workload, lasthop, base_kb),
            lasthop_setup_s=round(lasthop.setup_s, 6),
        )
        rows.append(
            Row(
                entry=entry,
                build=best.program.build,
                others=", ".join(f"{one.program.build} {one.ns_per_hop:.0f}" for one in others),
                peer_mb=best.peak_rss_kb / 1024,
                lasthop_mb=lasthop.peak_rss_kb / 1024,
                peer_setup_s=best.setup_s,
                peer_bytes_per_flow=bytes_per_flow(workload, best, base_kb),
            )
        )
    return rows


def bytes_per_flow(workload: Workload, summary: Summary, base_kb: dict[str, float]) -> float | None:
    base = base_kb.get(summary.program.label())
    if workload.n < 1000 or base is None:
        return None
    return round((summary.peak_rss_kb - base) * 1024 / workload.n, 1)


# The table


def print_table(rows: Sequence[Row]) -> None:
    head = (
        "workload", "n", "peer", "build", "ns/hop", "lasthop", "ratio",
        "peak MB", "lasthop", "kB/flow", "lasthop", "set-up s", "lasthop",
    )  # fmt: skip
    lines = [head, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        padded = [
            cell.ljust(width) if column in (0, 2, 3) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(padded).rstrip())


def cells(row: Row) -> tuple[str, ...]:
    entry = row.entry
    build = f"{row.build} ({row.others})" if row.others else row.build
    return (
        entry.workload,
        str(entry.n),
        entry.peer,
        build,
        f"{entry.peer_ns_per_hop:.1f}",
        f"{entry.lasthop_ns_per_hop:.1f}",
        f"{entry.ratio:.2f}",
        f"{row.peer_mb:.1f}",
        f"{row.lasthop_mb:.1f}",
        kilobytes(row.peer_bytes_per_flow),
        kilobytes(entry.lasthop_bytes_per_flow),
        f"{row.peer_setup_s:.3f}",
        f"{entry.lasthop_setup_s:.3f}",
    )


def kilobytes(value: float | None) -> str:
    return "-" if value is None else f"{value / 1000:.1f}"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
