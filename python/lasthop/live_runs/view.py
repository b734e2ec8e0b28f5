"""A live run in the terminal, drawn once a second."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lasthop.stats import number

__all__ = ["drawn", "picture"]

#: Lines of the program's output that are shown.
LINES = 6

#: Bytes of it that are read for them.
TAIL = 4_096


@contextmanager
def drawn(name: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Draws on a screen of its own. What programs print is shown below, and stands in the terminal afterwards."""
    with tempfile.TemporaryFile() as kept, os.fdopen(os.dup(1), "w") as terminal:
        saved = [(number, os.dup(number)) for number in (1, 2) if os.isatty(number)]
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for descriptor, _ in saved:
            os.dup2(kept.fileno(), descriptor)
        try:
            with Live(console=Console(file=terminal, force_terminal=True), screen=True, auto_refresh=False) as live:
                yield lambda snapshot: live.update(picture(name, snapshot, _last_lines(kept)), refresh=True)
        finally:
            for descriptor, before in saved:
                os.dup2(before, descriptor)
                os.close(before)
            kept.seek(0)
            while block := kept.read(1 << 16):
                os.write(1, block)


def _last_lines(kept: IO[bytes]) -> list[str]:
    end = os.fstat(kept.fileno()).st_size
    # Programs write to the same descriptor: its place in the file must not move.
    tail = os.pread(kept.fileno(), TAIL, max(0, end - TAIL))
    return tail.decode(errors="replace").splitlines()[-LINES:]


def picture(name: str, snapshot: dict[str, Any], output: list[str]) -> RenderableType:
    """A snapshot as a terminal shows it."""
    head = Text.assemble(
        (name, "bold"),
        f" · {snapshot['at_s']:.0f} s · processor {snapshot['cpu_pct']:.0f} % of a core",
        f" · {snapshot['behind_ms']:.1f} ms behind" if snapshot["behind_ms"] >= 1 else "",
    )
    parts: list[RenderableType] = [head, Text(), _hosts(snapshot), Text(), _ways(snapshot)]
    if snapshot["served"]:
        served = ", ".join(f"{who}: {what}" for who, what in snapshot["served"])
        parts += [Text(), Text(f"served by  {served}")]
    if output:
        parts += [Text(), Text("output", style="bold"), *map(Text, output)]
    return Group(*parts)


def _hosts(snapshot: dict[str, Any]) -> Table:
    table = _table("host", "sent_kbps", "delivered_kbps", "lateness_ms p50/p99", "late")
    for host in snapshot["hosts"]:
        late = f"{number(host['lateness_ms_p50'])} / {number(host['lateness_ms_p99'])}"
        packets = host["late_packets"]
        table.add_row(
            host["host"],
            number(round(host["sent_kbps"])),
            number(round(host["delivered_kbps"])),
            late if host["lateness_ms_p50"] is not None else "",
            Text(number(packets), style="red" if packets else ""),
        )
    return table


def _ways(snapshot: dict[str, Any]) -> Table:
    table = _table("link", "rate_kbps", "queue", "queue_ms", "marks", "drops so far")
    for way in snapshot["ways"]:
        drops = ", ".join(f"{count} {cause}" for cause, count in way["all_drops"].items())
        table.add_row(
            way["way"],
            number(round(way["rate_kbps"])),
            number(way["queue_packets"]),
            "" if way["queue_ms"] is None else number(round(way["queue_ms"])),
            number(way["marks"]),
            Text(drops, style="bold red" if way["drops"] else ""),
        )
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    table.add_column(first, no_wrap=True)
    for other in others:
        table.add_column(other, justify="left" if other.startswith("drops") else "right")
    return table
