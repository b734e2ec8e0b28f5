"""The tables: each path with each mechanism and hint, Table I once more, and what each algorithm misreads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies import records
from lasthop.studies.grid import Numbers
from lasthop.studies.handover.paper import TABLE_1
from lasthop.studies.records import Named, Row

from ..data import Data
from ..measures.table_1 import Graded
from ..network.mechanisms import DELAYS, NAMES, OFF, RESTART
from ..network.paths import PATHS, Path
from ..styles import HINT_NAMES
from .misread import misread

#: A column: its name, the quantity, and decimal places.
Column = tuple[str, str, int]

#: The figures of a row.
FIGURES: tuple[Column, ...] = (
    ("missed (%)", "missed_pct", 1),
    ("late or lost (%)", "late_pct", 1),
    ("frame delay p95 (ms)", "delay_p95_ms", 0),
    ("worse state: p95 (ms)", "delay_p95_ms_slow", 0),
    ("in time again (s)", "down_s", 1),
    ("rate back (s)", "up_s", 1),
    ("share, worse state", "share_slow", 2),
    ("share, after", "share_fast", 2),
    ("share in time", "in_time_share", 2),
    ("queue, worse state (ms)", "queue_ms_slow", 0),
    ("loss (%)", "loss_pct", 2),
    ("frozen (s)", "frozen_s", 1),
)

#: What of them the terminal shows.
IN_SHORT: tuple[Column, ...] = (
    ("missed %", "missed_pct", 1),
    ("p95 ms", "delay_p95_ms", 0),
    ("down s", "down_s", 1),
    ("up s", "up_s", 1),
    ("in time", "in_time_share", 2),
)


def summary(data: Data, columns: tuple[Column, ...] = FIGURES, hints: Sequence[str] = ()) -> list[Row]:
    """A row for each path with each mechanism and hint; with ``hints`` of these alone."""
    order = [(path, name) for path in PATHS for name in NAMES]
    rows = sorted(data.rows(), key=lambda row: order.index(row[:2]))
    return [
        {
            "path": PATHS[path].title,
            "mechanism": NAMES[name],
            "hint": HINT_NAMES[hint],
            **{label: _mean(data, quantity, (path, name, hint), places) for label, quantity, places in columns},
        }
        for path, name, hint in rows
        if not hints or hint in hints
    ]


def _mean(data: Data, quantity: str, run: tuple[str, str, str], places: int) -> str:
    values = data.of(quantity, *run)
    if np.isnan(values).all():
        return "–"
    if quantity in NEVER and (values >= NEVER[quantity](PATHS[run[0]]) - 1e-6).all():
        return "never"
    one = estimate(values)
    mean = number(one.mean, places)
    return f"{mean} ± {number(one.half, places)}" if np.isfinite(one.half) else mean


#: How long is watched until something comes; as long as that means that it never came.
NEVER: Mapping[str, Callable[[Path], float]] = {
    "down_s": lambda path: path.up_s - path.down_s,
    "up_s": lambda path: path.end_s - path.up_s,
}


def in_short(data: Data) -> list[Row]:
    """What the terminal shows: without a hint and with that of delays."""
    return summary(data, IN_SHORT, (OFF, DELAYS))


def table_1(graded: Sequence[Graded]) -> list[Row]:
    """The paper's seven with its own grades, then today's."""
    by = {(one.mechanism, one.hint): one for one in graded}
    rows = []
    for key in dict.fromkeys(one.mechanism for one in graded):
        off = by[key, OFF]
        hinted = {hint: by[key, hint].measures.dynamic if (key, hint) in by else "–" for hint in (DELAYS, RESTART)}
        paper = TABLE_1.get(key)
        rows.append(
            {
                "mechanism": NAMES[key],
                "media friendliness": off.measures.media,
                "scalability": off.scalability,
                "dynamic behaviour": off.measures.dynamic,
                "dynamic, delays void": hinted[DELAYS],
                "dynamic, begin anew": hinted[RESTART],
                "the paper's": ", ".join(paper) if paper else "–",
            }
        )
    return rows


def table_1_measures(graded: Sequence[Graded]) -> list[Row]:
    """What the grades are taken from; what never happens is missing."""
    return [
        {
            "mechanism": NAMES[one.mechanism],
            "hint": HINT_NAMES[one.hint],
            "jitter, WLAN": _plain(one.measures.wlan_jitter),
            "jitter, UMTS": _plain(one.measures.umts_jitter),
            "ratio of intervals, WLAN": _plain(one.measures.wlan_ratio),
            "ratio of intervals, UMTS": _plain(one.measures.umts_ratio),
            "R to UMTS": _plain(one.measures.down_rtts),
            "R to WLAN": _plain(one.measures.up_rtts),
            "drops to UMTS": one.measures.down_drops,
            "drops to WLAN": one.measures.up_drops,
            "below request (s)": _plain(one.measures.down_below_request_s),
        }
        for one in graded
    ]


def _plain(value: float) -> float | None:
    return round(value, 6) if np.isfinite(value) else None


def tables(measured: Data, graded: Sequence[Graded], numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """All tables."""
    makers: dict[str, tuple[str, Callable[[Data], Sequence[Row]]]] = {
        "table-1": (
            "Table I again: grades by the rules of the study handover, of a greedy source in the paper's setting "
            "(of reservations, its crowd). "
            "The paper's seven beside the paper's own grades (media friendliness, scalability, dynamic behaviour), "
            "then today's.",
            lambda _: table_1(graded),
        ),
        "table-misread": (
            "What each algorithm misreads when the path changes, why, and what is seen of it here. Hints are those "
            "of delays.",
            misread,
        ),
        "table-paths": (
            "Each path with each mechanism and hint: means over the runs with their 95 % intervals, from the first "
            "change to the end "
            "where nothing else is said.",
            partial(summary),
        ),
        "table-1-measures": (
            "The measures behind the grades of Table I: medians over the runs.",
            lambda _: table_1_measures(graded),
        ),
    }
    return {**records.tables(measured, makers), "costs": records.costs(numbers), **records.runs(numbers)}
