"""The thesis' tables beside ours, and what the runs gave and took."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies import records
from lasthop.studies.bench import CPU
from lasthop.studies.grid import Numbers
from lasthop.studies.records import Named, Row

from .data import Data
from .paper import ALONE, BOTH, OPTIMAL, OPTIMUM, RETRANSMISSIONS, TABLE_6_2, VERSIONS
from .scenario import TCP


def tables(data: Data, numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """All tables that the runs suffice for."""
    made = records.tables(
        data,
        {
            "table-6.2": ("Table 6.2: windows and round-trip times at maxDAT 2, ours beside the thesis'.", _table_6_2),
            "table-7.3": ("Table 7.3: retransmissions and timeouts for each connection.", _table_7_3),
            "table-7.4": (
                "Table 7.4: at the thesis' best parameters (maxDAT 6, 500 B, 8 s), and where each version is best "
                "here.",
                _table_7_4,
            ),
            "goodput-chapter-6": (
                "Chapter 6 at an error rate of 0.01 and maxDAT 9000: goodput sent and acknowledged, and the whole part "
                "with its start.",
                _chapter_6,
            ),
        },
    )
    return {**made, "costs": records.costs(numbers, ("pdus", "PDUs", "PDU")), **records.runs(numbers)}


def _table_6_2(data: Data) -> list[Row]:
    grid = data.grid("maxDAT 2")
    rows = []
    for bler, versions in TABLE_6_2.items():
        for tcp, (window, rtt) in versions.items():
            ours = [grid.mean(name, tcp=tcp, bler=bler) for name in ("window_packets", "srtt_s", "rtt_s")]
            rows.append(
                {
                    "error rate": f"{bler:g}",
                    "version": TCP[tcp],
                    "window (packets)": str(ours[0]),
                    "thesis": window,
                    "RTT over time (s)": str(ours[1]),
                    "thesis (s)": rtt,
                    "RTT over samples (s)": str(ours[2]),
                }
            )
    return rows


def _table_7_3(data: Data) -> list[Row]:
    grid = data.grid("chapter 7")
    return [
        {
            "version": TCP[tcp],
            "retransmissions": str(grid.mean("retransmissions", tcp=tcp)),
            "thesis": again,
            "timeouts": str(grid.mean("timeouts", tcp=tcp)),
            "thesis, timeouts": timeouts,
            "timeouts / retransmission": str(estimate(grid.ratio("timeouts", "retransmissions", tcp=tcp))),
            "spurious timeouts / timeout": str(grid.mean("spurious_share", tcp=tcp)),
        }
        for tcp, (again, timeouts) in RETRANSMISSIONS.items()
    ]


def _table_7_4(data: Data) -> list[Row]:
    grid = data.grid("chapter 7")
    rows = []
    for tcp in VERSIONS:
        best = grid.best("goodput_kbps", "max_dat", "threshold", "timer", tcp=tcp)
        row: Row = {"version": TCP[tcp]}
        if grid.has(**OPTIMAL):
            row |= {
                "goodput (kbit/s)": str(grid.mean("goodput_kbps", tcp=tcp, **OPTIMAL)),
                "thesis (kbit/s)": OPTIMUM[tcp][0],
                "page (s)": str(grid.mean("page_s", tcp=tcp, **OPTIMAL)),
                "thesis (s)": OPTIMUM[tcp][1],
            }
        row["best point"] = f"maxDAT {best['max_dat']}, {best['threshold']} B, {best['timer']} s"
        row["goodput there (kbit/s)"] = str(grid.mean("goodput_kbps", tcp=tcp, **best))
        rows.append(row)
    return rows


def _chapter_6(data: Data) -> list[Row]:
    grid = data.grid("versions")
    rows = []
    for users, prefix, paper in ((1, "", ALONE), (2, "both_", BOTH)):
        for tcp in grid.axes["tcp"]:
            row: Row = {"users": users, "version": TCP[tcp]}
            for head, name in (
                ("sent (kbit/s)", "sent_kbps"),
                ("acknowledged (kbit/s)", "acked_kbps"),
                ("sent, whole part (kbit/s)", "sent_kbps_whole"),
            ):
                row[head] = str(grid.mean(f"{prefix}{name}", tcp=tcp))
            row["thesis (kbit/s)"] = paper.get(tcp)
            for head, name in (
                ("RLC on Iub (kbit/s)", "iub_kbps"),
                ("window of the first user", "window_packets"),
                ("RTT (s)", "rtt_s"),
                ("dropped at Node B (%)", "node_b_drop_pct"),
            ):
                row[head] = str(grid.mean(f"{prefix}{name}", tcp=tcp))
            rows.append(row)
    return rows


def costs_said(numbers: Mapping[str, Numbers]) -> str:
    """In a sentence."""
    cpu = sum(float(np.sum(grid.values[CPU])) for grid in numbers.values())
    counted = [grid for grid in numbers.values() if "pdus" in grid.values]
    pdus = sum(float(np.sum(grid.values["pdus"])) for grid in counted)
    theirs = sum(float(np.sum(grid.values[CPU])) for grid in counted)
    return f"{number(cpu, 0)} s of one thread; {number(1e9 * theirs / pdus, 0)} ns for each PDU"
