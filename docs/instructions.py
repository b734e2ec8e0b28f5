"""Instruction counts from commit to commit: a table, and a picture of how each workload changed.

The counts are those of `benches/instructions.csv`, to which `python benches/instructions.py --record` adds a row.
"""

from __future__ import annotations

import csv
from math import ceil
from pathlib import Path

from lasthop import plot
from lasthop.plot import style

COUNTS = Path(__file__).resolve().parents[1] / "benches" / "instructions.csv"
#: How many panels stand beside one another.
COLUMNS = 4
#: The columns of a row that are no counts.
ABOUT = ("commit", "date", "rustc")


def history() -> list[dict[str, str]]:
    """The rows, oldest first."""
    with COUNTS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def workloads(rows: list[dict[str, str]]) -> list[str]:
    """What was counted."""
    return [name for name in rows[0] if name not in ABOUT]


def table(rows: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """The head and the cells: a row for each workload, a column for each commit."""
    head = ["instructions", *(f"{row['commit']}, {row['date']}" for row in rows)]
    cells = [[name, *(f"{float(row[name]):,.0f}" if row[name] else "–" for row in rows)] for name in workloads(rows)]
    return head, cells


def draw(rows: list[dict[str, str]], path: Path) -> None:
    """A panel for each workload: its counts, in per cent of the first."""
    names = workloads(rows)
    with plot.in_look():
        figure, panels = style.figure(
            style.TWO_COLUMNS, 95, rows=ceil(len(names) / COLUMNS), columns=COLUMNS, sharex=True, sharey=True
        )
        for panel, name in zip(panels.flat, names, strict=False):
            counts = [(place, float(row[name])) for place, row in enumerate(rows) if row[name]]
            places, of_first = [place for place, _ in counts], [100 * count / counts[0][1] for _, count in counts]
            panel.axhline(100, color=style.GREY, linewidth=0.6)
            panel.plot(places, of_first, marker="o", markersize=3, color=style.COLOURS[0])
            panel.set_title(name, loc="left")
            panel.set_xlim(-0.4, len(rows) - 0.6)
            panel.set_xticks(
                range(len(rows)), [row["commit"] for row in rows], rotation=45, ha="right", rotation_mode="anchor"
            )
        figure.supylabel("instructions (% of the first count)", fontsize=8)
        figure.savefig(path, format="svg", metadata={"Date": None})
