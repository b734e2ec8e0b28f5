"""Looks for input that the program does not survive, keeps what it finds, tries again what was found."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
import time
from functools import partial
from pathlib import Path
from random import Random

from lasthop import _core

from .contained import Board, child, guarded
from .shrink import kind, shrunk
from .subjects import Captures, Journals, Scenarios, Subject, Texts, Variations

CORPUS = Path(__file__).parent / "corpus"

#: What is tried, and its share of the time.
SHARES: dict[Subject, float] = {Scenarios(): 0.8, Texts(): 0.08, Variations(): 0.05, Captures(): 0.04, Journals(): 0.03}

#: Inputs that a process tries. Then another one begins, with memory that nothing has used.
PER_PROCESS = 20_000

#: Inputs of one kind of failure that are kept.
KEPT = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to look for more (60)")
    parser.add_argument("--seed", type=int, default=1, help="what decides which inputs are tried (1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input (0)")
    parser.add_argument("--only", choices=[subject.name for subject in SHARES], help="one kind of input")
    parser.add_argument("--replay", nargs="*", type=Path, metavar="FILE", help="try the corpus again, or these")
    asked = parser.parse_args()
    if asked.replay is not None:
        return replay(asked.replay or sorted(path for path in CORPUS.glob("*/*") if path.is_file()))
    print(f"core {_core.__file__}, seed {asked.seed}, from number {asked.first}", flush=True)
    chosen = {subject: share for subject, share in SHARES.items() if asked.only in (None, subject.name)}
    failures = 0
    for subject, share in chosen.items():
        seconds = asked.seconds * share / sum(chosen.values())
        failures += look(subject, seed=asked.seed, first=asked.first, seconds=seconds)
    return 1 if failures else 0


def look(subject: Subject, *, seed: int, first: int, seconds: float) -> int:
    """Tries inputs for a while; how many failed."""
    began = time.monotonic()
    subject.prepare()
    board = Board(len(subject.ends))
    number, failures = first, 0
    kept: dict[str, int] = {}
    try:
        while time.monotonic() - began < seconds:
            last = number + PER_PROCESS

            def work(numbers: range = range(number, last)) -> None:
                for mine in numbers:
                    if time.monotonic() - began >= seconds:
                        return
                    board.begin(mine + 1, b"")
                    board.begin(mine + 1, payload := subject.make(Random(f"{seed} {mine}")))
                    board.counts[guarded(partial(subject.try_, payload, thorough=False))] += 1

            board.begin(number, b"")
            found = child(board, work)
            number = board.number
            if found:
                failures += 1
                what = kind(found)
                kept[what] = kept.get(what, 0) + 1
                print(f"{subject.name} {number - 1}: {found[:500]}", flush=True)
                if kept[what] <= KEPT:
                    print(f"  kept as {keep(subject, board.payload, found)}", flush=True)
    finally:
        took = time.monotonic() - began
        tried = board.number - first
        print(f"{subject.name}: {tried} in {took:.0f} s ({tried / took:.0f}/s), numbers {first} to {board.number - 1}")
        for end, count in zip(subject.ends, board.counts, strict=True):
            print(f"  {count:>9} {end}")
        print(f"  {failures:>9} failed", flush=True)
    return failures


def attempt(subject: Subject, payload: bytes) -> tuple[str, str]:
    """Tries one input thoroughly: how it ended, and what was wrong."""
    board = Board(len(subject.ends))
    board.begin(0, payload)

    def work() -> None:
        board.counts[guarded(partial(subject.try_, payload, thorough=True))] += 1

    found = child(board, work)
    end = next(itertools.compress(subject.ends, board.counts), "failed")
    return end, found


def keep(subject: Subject, payload: bytes, found: str) -> Path:
    """Makes an input smaller that fails, and writes it into the corpus."""
    payload = shrunk(subject, payload, found, lambda smaller: attempt(subject, smaller)[1])
    folder = CORPUS / subject.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(payload).hexdigest()[:8]}.{subject.suffix(payload)}"
    path.write_bytes(payload)
    return path


def replay(paths: list[Path]) -> int:
    """Tries files of the corpus; a line for each says how it ended."""
    failures = 0
    by_name = {subject.name: subject for subject in SHARES}
    for name, files in itertools.groupby(paths, lambda path: path.parent.name):
        subject = by_name[name]
        subject.prepare()
        for path in files:
            end, found = attempt(subject, path.read_bytes())
            failures += bool(found)
            print(f"{name}/{path.name}: {found or end}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
