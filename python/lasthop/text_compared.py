"""What `lasthop compare` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lasthop.columns import aligned, fitted
from lasthop.comparison import MEANS
from lasthop.stats import number
from lasthop.sweeps.vary import label
from lasthop.text import CELLS, FLOWS, LINKS, cell_text, page
from lasthop.things import telling

if TYPE_CHECKING:
    from lasthop.comparison import Comparison

__all__ = ["comparison_text"]

#: The most differences of two results that are printed.
MOST_DIFFERENCES = 60

#: The most things that are named of those that only one of two results has.
MOST_ALONE = 8


def comparison_text(comparison: Comparison, table: str = "flows", *, every: bool = False) -> str:
    """What `lasthop compare` prints: what differs in scenarios, and in the numbers that a run shows, or in all."""
    one, other = comparison.names
    said = [[at, _written(mine), _written(theirs)] for at, mine, theirs in comparison.scenario]
    scenario = aligned(["differs in", one, other], said) if said else "the same scenario"
    rows, alone = comparison.rows(table), _alone(comparison, table)
    if not comparison.in_both(table):
        return page(scenario, [_nothing(comparison, table) if alone else f"{table} has no rows in either", alone])
    if not rows:
        which = f"{table} that stands in both" if alone else table
        part = f", {left}" if (left := _left_out(comparison)) else ""
        return page(scenario, [f"no number of {which} differs{part}", alone])
    told = {
        column for _, columns in {"flows": FLOWS, "links": LINKS, "cells": CELLS}.get(table, []) for column in columns
    }
    shown = [row for row in rows if every or not told or row["metric"] in told]
    rest = len(rows) - len(shown)
    rows = shown or rows
    seeds = _seeds(comparison, [row["difference"].n for row in rows])
    things = [name for name in rows[0] if name not in ("metric", "one", "other", "difference")]
    things = telling(things, rows)
    heads = [*things, "metric", one, other, "difference"]
    lines = [
        [
            *(cell_text(row[name]) for name in things),
            row["metric"],
            *(str(row[k]) for k in ("one", "other", "difference")),
        ]
        for row in rows[:MOST_DIFFERENCES]
    ]
    more = len(rows) - MOST_DIFFERENCES
    body = aligned(heads, lines, keys=len(things) + 1) + (f"\n… and {number(more)} more" if more > 0 else "")
    note = f"{number(rest)} other numbers differ: --all" if rest and shown else ""
    means = f", means over {MEANS[table]}" if table in MEANS else ""
    return page(scenario, [f"{table}{means}, {other} − {one}: {seeds}", body, note, alone])


def _seeds(comparison: Comparison, counts: Sequence[int]) -> str:
    """How runs were compared, ``counts`` values for each difference: in pairs of equal seeds, or as two samples."""
    if not comparison.shared:
        return "different seeds"
    left = _left_out(comparison)
    return f"seed by seed, {_pairs(counts)}" + (f"; {left}" if left else "")


def _left_out(comparison: Comparison) -> str:
    """How many seeds of each are not compared, since the other has others beside those that both have."""
    if not comparison.shared:
        return ""
    alone = [len(each.seeds) - len(comparison.shared) for each in (comparison.one, comparison.other)]
    said = " and ".join(f"{number(more)} of {name}" for name, more in zip(comparison.names, alone, strict=True) if more)
    return f"left out are seeds of one alone, {said}" if said else ""


def _pairs(counts: Sequence[int]) -> str:
    """How many pairs of seeds the differences are of."""
    least, most = min(counts), max(counts)
    said = "1 pair" if most == 1 else f"{most} pairs"
    return said if least == most else f"{least} to {said}"


def _nothing(comparison: Comparison, table: str) -> str:
    """That nothing can be compared, and why."""
    one, other = comparison.one, comparison.other
    if {*one.vary} == {*other.vary}:
        return f"nothing can be compared: no row of {table} stands in both"
    both = zip(comparison.names, (one, other), strict=True)
    varied = [f"{name} varies {', '.join(each.vary) or 'nothing'}" for name, each in both]
    return f"nothing can be compared: {', '.join(varied)}"


def _alone(comparison: Comparison, table: str) -> str:
    """A line for each of two results that has what the other has not."""
    parts = comparison.only(table)
    things = [thing for part in parts for thing in part]
    names = telling([*dict.fromkeys(name for thing in things for name in thing)], [*things, {}])
    # The point comes first.
    names.sort(key=lambda name: name not in comparison.one.vary and name not in comparison.other.vary)
    lines = []
    for called, part in zip(comparison.names, parts, strict=True):
        said = [", ".join(f"{name} {label(thing[name])}" for name in names if name in thing) for thing in part]
        more = f"; and {number(len(said) - MOST_ALONE)} more" if len(said) > MOST_ALONE else ""
        lines += [fitted(f"only in {called}: {'; '.join(said[:MOST_ALONE])}{more}")] if said else []
    return "\n".join(lines)


def _written(value: object) -> str:
    """A part of a scenario on one line."""
    if value is None:
        return "–"
    if isinstance(value, (dict, list)):
        text = json.dumps(value)
        return text if len(text) <= 40 else f"{text[:39]}…"
    return label(value)
