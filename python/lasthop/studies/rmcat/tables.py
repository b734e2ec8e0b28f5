"""The tables: a row for each case and controller, the segments of cases, the readings, the anchors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies import records
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Numbers
from lasthop.studies.records import Named, Row

from . import data as names
from .data import Data
from .judges.verdicts import ranked, rfc, sane
from .network.cases import CASES
from .network.controllers import NAMES
from .paper import ANCHORS

#: A column: its name, the quantity, and decimal places.
Column = tuple[str, str, int]

#: The figures of a case.
FIGURES: tuple[Column, ...] = (
    ("rate (kbit/s)", "rate_kbps", 0),
    ("least flow (kbit/s)", "least_kbps", 0),
    ("utilisation", "utilisation", 2),
    ("queue (ms)", "queue_ms", 0),
    ("queue p95 (ms)", "queue_p95_ms", 0),
    ("delay (ms)", "delay_ms", 0),
    ("delay p95 (ms)", "delay_p95_ms", 0),
    ("frame delay p95 (ms)", "frame_delay_p95_ms", 0),
    ("loss (%)", "loss_pct", 2),
    ("late or lost frames (%)", "late_pct", 1),
    ("frozen (s)", "frozen_s", 1),
    ("convergence (s)", "convergence_s", 1),
    ("not converged", "unconverged", 1),
    ("oscillation (per min)", "turns_per_min", 1),
    ("ratio 1 s", "ratio_1s", 2),
    ("ratio 5 s", "ratio_5s", 2),
    ("ratio 20 s", "ratio_20s", 2),
    ("feedback (kbit/s)", "feedback_kbps", 1),
    ("TCP (kbit/s)", "tcp_kbps", 0),
    ("TCP loss (%)", "tcp_loss_pct", 2),
)

#: What of them the terminal shows, in short.
IN_SHORT: tuple[Column, ...] = (
    ("kbit/s", "rate_kbps", 0),
    ("use", "utilisation", 2),
    ("queue p95", "queue_p95_ms", 0),
    ("delay p95", "delay_p95_ms", 0),
    ("loss %", "loss_pct", 2),
    ("late %", "late_pct", 1),
    ("conv. s", "convergence_s", 1),
    ("ratio", "ratio_20s", 2),
)


def _mean(data: Data, quantity: str, case: str, controller: str, places: int) -> str:
    if not data.known(quantity, case, controller):
        return "–"
    return number(float(np.nanmean(data.of(quantity, case, controller))), places)


def cases(data: Data, columns: tuple[Column, ...] = FIGURES) -> list[Row]:
    """A row for each case with each of its controllers."""
    places = ranked(data)
    return [
        {
            "case": case,
            "controller": NAMES[controller],
            **{name: _mean(data, quantity, case, controller, digits) for name, quantity, digits in columns},
            "rfc": str(rfc(data, case, controller)),
            "sane": str(sane(data, case, controller)),
            "rank": places[case, controller],
        }
        for case, controller in data.rows()
    ]


def in_short(data: Data) -> list[Row]:
    """What the terminal shows of them."""
    return cases(data, IN_SHORT)


def _about(data: Data) -> list[Row]:
    seen = dict.fromkeys(case for case, _ in data.rows())
    return [
        {
            "case": one.id,
            "where": one.section,
            "what": one.title + (f" ({one.label})" if one.label else ""),
            "seconds": one.seconds,
            "capacity (Mbit/s)": _capacity(one.forward) if not one.users else "a cell",
            "expected": one.expected,
            "number in an RFC": one.number or "none",
        }
        for one in (CASES[case] for case in seen)
    ]


def _capacity(steps: tuple[tuple[float, float], ...]) -> str:
    return ", ".join(f"{mbps:g}" + (f" from {at:g} s" if at else "") for at, mbps in steps)


def _segments(data: Data) -> list[Row]:
    rows = []
    for case, controller in data.rows():
        segments = CASES[case].segments
        for n, one in enumerate(segments) if len(segments) > 1 else ():
            mean = partial(_mean, data, case=case, controller=controller)
            rows.append(
                {
                    "case": case,
                    "controller": NAMES[controller],
                    "from (s)": one.begin_s,
                    "to (s)": one.end_s,
                    "capacity (Mbit/s)": one.capacity_mbps,
                    "flows": len(one.flows),
                    "rate of a flow (kbit/s)": mean(f"media_kbps_{n}", places=0),
                    "utilisation": mean(f"utilisation_{n}", places=2),
                    "queue (ms)": mean(f"queue_ms_{n}", places=0),
                    "queue p95 (ms)": mean(f"queue_p95_ms_{n}", places=0),
                    "convergence (s)": mean(f"convergence_s_{n}", places=1),
                }
            )
    return rows


#: An outside controller and ours agree within these: of the rate, and a factor of the mean queue (rmcat.md §5).
RATE_NEAR, QUEUE_FACTOR = 0.10, 2.0

#: Below this a queue is none: one packet of 1200 B at 2.5 Mbit/s takes 4 ms.
NO_QUEUE_MS = 4.0


def agrees(ours: tuple[float, float], theirs: tuple[float, float]) -> tuple[bool, bool]:
    """Whether rates, and mean queues, agree."""
    (rate, queue), (outside_rate, outside_queue) = ours, theirs
    near = abs(rate / outside_rate - 1) <= RATE_NEAR
    low, high = sorted((max(queue, NO_QUEUE_MS), max(outside_queue, NO_QUEUE_MS)))
    return near, high <= QUEUE_FACTOR * low


def anchors(data: Data) -> list[Row]:
    """Case 5.1 beside runs of others."""
    grid = data.grid(names.CHECK)
    segments = CASES["5.1"].segments
    rows = []
    for controller, outside in ANCHORS.items():
        for n, (one, theirs) in enumerate(zip(segments, outside, strict=True)):
            of = {
                name: float(np.mean(grid.at(f"{name}_{n}", controller=controller)))
                for name in ("wire_kbps", "queue_ms", "queue_largest_ms")
            }
            rate, queue = agrees((of["wire_kbps"], of["queue_ms"]), (theirs.kbps, theirs.queue_ms))
            rows.append(
                {
                    "controller": NAMES[controller],
                    "from (s)": one.begin_s,
                    "capacity (kbit/s)": 1e3 * one.capacity_mbps,
                    "rate (kbit/s)": number(of["wire_kbps"], 0),
                    "outside ": number(theirs.kbps, 0),
                    "rate agrees": rate,
                    "queue mean/max (ms)": f"{number(of['queue_ms'], 0)}/{number(of['queue_largest_ms'], 0)}",
                    "outside": f"{number(theirs.queue_ms, 0)}/{number(theirs.largest_ms, 0)}",
                    "queue agrees": queue,
                }
            )
    return rows


#: What readings are compared by.
COMPARED = ("rate_kbps", "delay_p95_ms", "late_pct")


def _readings(measured: Mapping[str, Data]) -> list[Row]:
    default, *others = measured.values()
    rows = []
    for other in others:
        for case, controller in other.rows():
            row: Row = {"reading": other.name, "case": case, "controller": NAMES[controller]}
            for quantity in COMPARED:
                mine, theirs = (one.of(quantity, case, controller) for one in (default, other))
                row |= {quantity: str(estimate(theirs)), f"{quantity}, difference": str(estimate(theirs - mine))}
            rows.append(row)
    if not rows:
        raise NotRun("no other readings")
    return rows


def tables(data: Data, measured: Mapping[str, Data], numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """All tables whose runs there are, then what each grid cost, then the numbers of each run."""
    made = records.tables(
        data,
        {
            "table-cases": (
                "Each case with each controller: means over the runs, and the three verdicts. Rates are of RTP packets "
                "received, of a flow; queue and delay over the whole run; utilisation and convergence are of the worst "
                "segment. rfc: the number in an RFC; sane: floors of ours; rank: by utilisation, delay and frames late "
                "or lost.",
                cases,
            ),
            "table-about": ("The cases: what they are, and what the RFC expects.", _about),
            "table-segments": ("Each segment of a case: its settled two thirds.", _segments),
            "table-anchors": (
                "Case 5.1 with one video, no jitter, no audio, beside runs of others' controllers; rates on the wire.",
                anchors,
            ),
            "readings": ("What other answers to what the RFCs leave open change.", lambda _: _readings(measured)),
        },
    )
    return {**made, "costs": records.costs(numbers), **records.runs(numbers)}
