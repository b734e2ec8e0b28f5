"""Live runs beside Linux' own TCP over another bottleneck: goodput and drops of each cell of tests/reference/live.

    python benches/live/linux.py [--repeats 5] [--cells WORD ...] [--out FILE]

A cell holds if the median goodput lies within the reference's range widened by 1 %, and the median of drops within its
range widened by 3 packets or 3 %. It needs root, two cores that are mostly free, and the congestion controls of the
cells in the kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests" / "reference" / "live" / "kernel" / "index.json"
HYSTART = Path("/sys/module/tcp_cubic/parameters/hystart")
SECONDS = 12.0
PORT = 5001
BUFFER = 32 << 20
#: The reference's hosts.
SYSCTL = {
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_rmem": "4096 33554432 67108864",
    "net.ipv4.tcp_wmem": "4096 33554432 67108864",
}
TCP_NOTSENT_LOWAT = 25  # linux/tcp.h
BYTES_ACKED = 120  # of struct tcp_info, there
#: The real-time priority of the reference's programs.
PRIORITY = 5


def send(address: str) -> None:
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    s.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 128 << 10)
    until = time.monotonic() + SECONDS
    s.connect((address, PORT))
    s.settimeout(0.01)
    block = bytes(64 << 10)
    while time.monotonic() < until:
        with suppress(TimeoutError):
            s.send(block)
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_ACKED + 8)
    acked = int.from_bytes(info[BYTES_ACKED:], sys.byteorder)
    print(json.dumps({"goodput_mbit": 8e-6 * acked / SECONDS}))
    # A reset: nothing that waits is sent any more.
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def receive() -> None:
    connection, _ = socket.create_server(("", PORT)).accept()
    block = bytearray(1 << 20)
    while connection.recv_into(block):
        pass


def scenario(cell: dict[str, Any]) -> dict[str, Any]:
    link = {
        "name": "l",
        "between": ["a", "b"],
        "rate": f"{cell['rate_mbit']} Mbit/s",
        "delay": f"{cell['rtt_ms'] / 2} ms",
        "queue": {"droptail": {"limit": f"{cell['buffer_bytes']} B"}},
        "reverse": {"rate": "1000 Gbit/s", "queue": {"droptail": {"limit": "100000 packets"}}},
    }
    receiver = [sys.executable, __file__, "receive"]
    hosts = [
        {"node": "a", "congestion": cell["cc"], "sysctl": SYSCTL},
        {"node": "b", "sysctl": SYSCTL, "run": receiver},
    ]
    return {"link": [link], "live": {"host": hosts}}


def measured(cell: dict[str, Any]) -> dict[str, Any]:
    if cell["hystart"] is not None:
        HYSTART.write_text(str(cell["hystart"]))
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "cell.json"), Path(folder, "out")
        file.write_text(json.dumps(scenario(cell)))
        words = [sys.executable, "-m", "lasthop", "live", str(file), "--realtime", "-o", str(out), "--format", "csv"]
        words += ["--quiet", "a", "--", "sh", "-c", f"sleep 0.5; exec {sys.executable} {__file__} send 10.77.0.2"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        names, row = ((out / "links.csv").read_text().splitlines()[i].replace('"', "").split(",") for i in (0, 1))
        drops = int(dict(zip(names, row, strict=True))["drops"])
        return {**json.loads(done.stdout), "drops": drops, "verdict": done.stderr.strip().splitlines()[-1]}


def name(cell: dict[str, Any]) -> str:
    hystart = {None: "", 0: "-nohystart", 1: "-hystart"}[cell["hystart"]]
    size = f"{cell['rate_mbit']:g}mbit_{cell['rtt_ms']:g}ms_{cell['buffer_bdp']:g}bdp"
    return f"{cell['cc']}{hystart}_{size}"


def holds(cell: dict[str, Any], runs: list[dict[str, Any]]) -> bool:
    goodput, drops = (median(run[what] for run in runs) for what in ("goodput_mbit", "drops"))
    rate, lost = cell["goodput_mbit"], cell["drops"]
    slack = max(3.0, 0.03 * lost["median"])
    return 0.99 * rate["min"] <= goodput <= 1.01 * rate["max"] and lost["min"] - slack <= drops <= lost["max"] + slack


def main() -> int:
    if sys.argv[1:2] == ["send"]:
        send(sys.argv[2])
        return 0
    if sys.argv[1:2] == ["receive"]:
        receive()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cells", nargs="*", default=[], help="only cells whose names hold one of these words")
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument("--out", type=Path, help="write each run as a line of JSON")
    asked = parser.parse_args()
    # The programs of the runs inherit it.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    cells = json.loads(asked.reference.read_text())["cells"]
    cells = [c for c in cells if not asked.cells or any(word in name(c) for word in asked.cells)]
    before = HYSTART.read_text()
    missed = 0
    print(f"{'cell':<34}{'goodput':>9}{'reference':>20}{'drops':>8}{'reference':>14}  late runs")
    try:
        for cell in cells:
            runs = [measured(cell) for _ in range(asked.repeats)]
            kept = holds(cell, runs)
            missed += not kept
            goodput, drops = (median(run[what] for run in runs) for what in ("goodput_mbit", "drops"))
            rate, lost = cell["goodput_mbit"], cell["drops"]
            late = sum(run["verdict"] != "sound" for run in runs)
            print(
                f"{name(cell):<34}{goodput:>9.4f}{rate['min']:>10.4f}–{rate['max']:.4f} {drops:>8g}"
                f"{lost['min']:>8g}–{lost['max']:<6g}{late}{'' if kept else '   MISSED'}",
                flush=True,
            )
            if asked.out:
                with asked.out.open("a") as out:
                    out.writelines(json.dumps({"cell": name(cell), **run}) + "\n" for run in runs)
    finally:
        HYSTART.write_text(before)
    print(f"{len(cells) - missed} of {len(cells)} cells hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
