"""Builds the benchmark's program as wheels for Linux are built: with a profile of common work.

    python benches/profiled.py          # target/profiled/release/workload, beside target/release/workload

The work is that of `benches/train.py`: the examples, scenarios of studies, and small dumbbells. It builds twice, and
needs `llvm-profdata`: `rustup component add llvm-tools`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "target" / "profiled"
#: Counts of selects are wrong after link-time optimisation.
COUNTING = "-Cllvm-args=-pgo-instr-select=false"


def build(flags: str) -> None:
    environment = {**os.environ, "RUSTFLAGS": f"{COUNTING} {flags}", "CARGO_TARGET_DIR": str(TARGET)}
    words = ["cargo", "build", "--release", "--quiet", "-p", "lasthop-bench", "--bin", "workload"]
    subprocess.run(words, cwd=ROOT, env=environment, check=True)


def main() -> int:
    home = subprocess.run(["rustc", "--print", "target-libdir"], capture_output=True, text=True, check=True).stdout
    merge = Path(home.strip()).parent / "bin" / "llvm-profdata"
    if not merge.exists():
        print("llvm-profdata is not installed: rustup component add llvm-tools", file=sys.stderr)
        return 2
    raw, merged = TARGET / "raw", TARGET / "merged.profdata"
    for old in raw.glob("*"):
        old.unlink()
    build(f"-Cprofile-generate={raw}")
    program = str(TARGET / "release" / "workload")
    files = [*(ROOT / "examples").glob("*.toml"), *(ROOT / "python/lasthop/studies").glob("*/*.toml")]
    scenarios = [["scenario", "--file", str(file)] for file in sorted(files)]
    dumbbells = [["w1", "--flows", str(flows)] for flows in (1, 10, 100, 1000)]
    for words in [*scenarios, *dumbbells]:
        subprocess.run([program, *words, "--seconds", "60"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run([str(merge), "merge", "-o", str(merged), str(raw)], check=True)
    build(f"-Cprofile-use={merged}")
    print(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
