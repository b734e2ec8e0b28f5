"""What the commands print of runs, sweeps, comparisons and analyses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from lasthop.columns import aligned, fitted
from lasthop.comparison import MEANS
from lasthop.results import SENT_PDUS
from lasthop.stats import Estimate, estimate, number
from lasthop.sweeps.vary import label

if TYPE_CHECKING:
    from lasthop.analysis import Analysis
    from lasthop.comparison import Comparison
    from lasthop.results import Result
    from lasthop.runs import Replications
    from lasthop.sweeps import Sweep

__all__ = ["analysis_text", "comparison_text", "replications_text", "run_text", "sweep_text"]


#: What the terminal shows of the tables: the heading, and the columns joined by `/` under it.
FLOWS = [
    ("flow", ["flow"]),
    ("to", ["to"]),
    ("transport", ["transport"]),
    ("goodput_kbps", ["goodput_kbps"]),
    ("loss_pct", ["loss_pct"]),
    ("rtt_ms p50/p95", ["rtt_ms_p50", "rtt_ms_p95"]),
    ("retransmitted", ["retransmitted_packets"]),
    ("timeouts", ["timeouts"]),
]
LINKS = [
    ("link", ["link"]),
    ("utilisation_pct", ["utilisation_pct"]),
    ("drops", ["drops"]),
    ("marks", ["marks"]),
    ("queue_ms p50/p95", ["queue_ms_p50", "queue_ms_p95"]),
]
CELLS = [
    ("cell", ["cell"]),
    ("occupancy_kbps", ["occupancy_kbps"]),
    ("full_s", ["full_s"]),
    ("allocations", ["allocations"]),
    ("preemptions", ["preemptions"]),
    ("refusals", ["refusals"]),
]
DROPS = [("place", ["place"]), ("cause", ["cause"]), ("flow", ["flow"]), ("packets", ["packets"])]

View = list[tuple[str, list[str]]]


def run_text(result: Result) -> str:
    """What `lasthop run` prints of a run."""
    transfers = _transfers(result.tables["transfers"].rows()) if "transfers" in result.tables else ""
    return _page(
        result.heading(),
        [
            *_cells([result]),
            _flows(result.tables["flows"].rows(), _plain),
            _table(LINKS, _busy(result.tables["links"].rows()), _plain),
            transfers,
        ],
    )


#: What stands below means of which none has an interval.
SAME = (
    "note: all seeds gave the same numbers: nothing in this scenario is random. "
    "A loss model, a random source or random start times make seeds differ."
)


def replications_text(replications: Replications) -> str:
    """What `lasthop run --seeds` prints: means with the half-width of their 95 % intervals."""
    return _page(
        replications.heading(),
        [
            *_cells(replications.runs),
            _flows(replications.means("flows"), str),
            _table(LINKS, _busy(replications.means("links")), str),
            fitted(SAME) if replications.repeats_itself else "",
        ],
    )


#: The most differences of two results that are printed.
MOST_DIFFERENCES = 60

#: The most things that are named of those that only one of two results has.
MOST_ALONE = 8


def comparison_text(comparison: Comparison, table: str = "flows", *, every: bool = False) -> str:
    """What `lasthop compare` prints: what differs in scenarios, and in the numbers that a run shows, or in all."""
    one, other = comparison.one, comparison.other
    said = [[at, _written(mine), _written(theirs)] for at, mine, theirs in comparison.scenario]
    scenario = aligned(["differs in", one.folder.name, other.folder.name], said) if said else "the same scenario"
    rows, alone = comparison.rows(table), _alone(comparison, table)
    if not comparison.in_both(table):
        return _page(scenario, [_nothing(comparison, table) if alone else f"{table} has no rows in either", alone])
    if not rows:
        which = f"{table} that stands in both" if alone else table
        part = f", {left}" if (left := _left_out(comparison)) else ""
        return _page(scenario, [f"no number of {which} differs{part}", alone])
    told = {
        column for _, columns in {"flows": FLOWS, "links": LINKS, "cells": CELLS}.get(table, []) for column in columns
    }
    shown = [row for row in rows if every or not told or row["metric"] in told]
    rest = len(rows) - len(shown)
    rows = shown or rows
    seeds = _seeds(comparison, [row["difference"].n for row in rows])
    things = [name for name in rows[0] if name not in ("metric", "one", "other", "difference")]
    things = _telling(things, rows)
    heads = [*things, "metric", one.folder.name, other.folder.name, "difference"]
    lines = [
        [*(_shown(row[name]) for name in things), row["metric"], *(str(row[k]) for k in ("one", "other", "difference"))]
        for row in rows[:MOST_DIFFERENCES]
    ]
    more = len(rows) - MOST_DIFFERENCES
    body = aligned(heads, lines) + (f"\n… and {number(more)} more" if more > 0 else "")
    note = f"{number(rest)} other numbers differ: --all" if rest and shown else ""
    means = f", means over {MEANS[table]}" if table in MEANS else ""
    return _page(scenario, [f"{table}{means}, {other.folder.name} − {one.folder.name}: {seeds}", body, note, alone])


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
    alone = [(each, len(each.seeds) - len(comparison.shared)) for each in (comparison.one, comparison.other)]
    said = " and ".join(f"{number(more)} of {each.folder.name}" for each, more in alone if more)
    return f"left out are seeds of one alone, {said}" if said else ""


def _pairs(counts: Sequence[int]) -> str:
    """How many pairs of seeds the differences are of."""
    least, most = min(counts), max(counts)
    said = "1 pair" if most == 1 else f"{most} pairs"
    return said if least == most else f"{least} to {said}"


def _telling(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names that tell rows apart: no name that follows from those before it."""
    kinds = [len({tuple(row.get(name) for name in names[:n]) for row in rows}) for n in range(len(names) + 1)]
    return [name for n, name in enumerate(names) if kinds[n + 1] > kinds[n]]


def _nothing(comparison: Comparison, table: str) -> str:
    """That nothing can be compared, and why."""
    one, other = comparison.one, comparison.other
    if {*one.vary} == {*other.vary}:
        return f"nothing can be compared: no row of {table} stands in both"
    varied = [f"{each.folder.name} varies {', '.join(each.vary) or 'nothing'}" for each in (one, other)]
    return f"nothing can be compared: {', '.join(varied)}"


def _alone(comparison: Comparison, table: str) -> str:
    """A line for each of two results that has what the other has not."""
    parts = comparison.only(table)
    things = [thing for part in parts for thing in part]
    names = _telling([*dict.fromkeys(name for thing in things for name in thing)], [*things, {}])
    # The point comes first.
    names.sort(key=lambda name: name not in comparison.one.vary and name not in comparison.other.vary)
    lines = []
    for stored, part in zip((comparison.one, comparison.other), parts, strict=True):
        said = [", ".join(f"{name} {label(thing[name])}" for name in names if name in thing) for thing in part]
        more = f"; and {number(len(said) - MOST_ALONE)} more" if len(said) > MOST_ALONE else ""
        lines += [fitted(f"only in {stored.folder.name}: {'; '.join(said[:MOST_ALONE])}{more}")] if said else []
    return "\n".join(lines)


def _written(value: object) -> str:
    """A part of a scenario on one line."""
    if value is None:
        return "–"
    if isinstance(value, (dict, list)):
        text = json.dumps(value)
        return text if len(text) <= 40 else f"{text[:39]}…"
    return label(value)


#: What `lasthop analyze` shows of a connection, or of several together.
ANALYSIS = [
    ("goodput_kbps received/acked/sent", ["received_kbps", "acked_kbps", "sent_kbps"]),
    ("outstanding_packets mean/max", ["outstanding_packets_mean", "outstanding_packets_max"]),
    ("sent", ["sent_packets"]),
    ("retransmitted", ["retransmitted_packets"]),
    ("acks", ["acks"]),
    ("duplicate", ["duplicate_acks"]),
    ("runs over 3", ["dupack_runs_over_3"]),
    ("rtt_ms min/mean/max", ["rtt_ms_min", "rtt_ms_mean", "rtt_ms_max"]),
    ("timeouts", ["timeouts"]),
    ("transmission_s", ["transmission_s"]),
    ("off_s", ["off_s"]),
]


#: What stands below connections whose timeouts nothing tells.
UNKNOWN = (
    "note: timeouts are left out: a run needs record.variables = true to tell them by connection, a capture has none."
)


def analysis_text(analysis: Analysis) -> str:
    """What `lasthop analyze` prints: each connection, and what those of a flow, and all, did together."""
    connections, totals = analysis.connections.rows(), analysis.totals.rows()
    names = ["from", "to"] if len({row["flow"] for row in totals}) == 1 else ["flow"]
    tables = [_cut([*((name, [name]) for name in names), ("connection", ["connection"]), *ANALYSIS], connections)]
    if len(connections) > 1:
        told = [{**row, "flow": row["flow"] or "all together"} for row in totals]
        tables.append(_cut([("flow", ["flow"]), ("connections", ["connections"]), *ANALYSIS], told))
    unknown = any(row["timeouts"] is None for row in connections)
    return _page(analysis.heading(), [*tables, fitted(UNKNOWN) if unknown else ""])


#: The most lines of a table of a sweep, or of an analysis.
LINES = 40


def sweep_text(sweep: Sweep, against: Mapping[str, Any] | None = None) -> str:
    """What `lasthop sweep` prints: means at each point, and differences to the one with the values of ``against``."""
    if not sweep.tables:
        return f"{sweep.heading()} · {number(sweep.finished)} of {number(sweep.runs)} runs are finished"
    several = len(sweep.seeds) > 1
    heading = sweep.heading() + (" · mean ± half-width of the 95 % interval" if several else "")
    flows, links = _sweep_view(sweep, "flows", FLOWS), _sweep_view(sweep, "links", LINKS)
    metrics = _metrics(sweep, "flows", flows)
    parts = [_cut(flows, sweep.means("flows", by=sweep.by("flows"), metrics=metrics))]
    if several and len(sweep.points) > 1:
        other = ", ".join(f"{key} = {label(value)}" for key, value in (against or sweep.points[0]).items())
        differences = _cut(flows, sweep.differences(*metrics, against=against, by=sweep.by("flows")))
        parts.append(fitted(f"difference to {other}, seed by seed") + f"\n{differences}")
    elif against:
        parts.append(fitted("one seed, so no differences: these need several (--seeds N)"))
    parts.append(_cut(links, _busy(sweep.means("links", by=sweep.by("links")))))
    return _page(heading, [*parts, fitted(SAME) if sweep.repeats_itself else ""])


def _sweep_view(sweep: Sweep, table: str, view: View) -> View:
    """The columns of a table, behind those that name the point."""
    grid = sweep.grid(table, sweep.by(table))
    flows = [thing.get("flow") for thing in grid.things]
    shown = [(head, columns) for head, columns in view if head != "to" or len(set(flows)) < len(flows)]
    if grid.things == [{}]:
        # Too many to tell apart: their mean.
        shown = [(head, [column for column in columns if column in grid.metrics]) for head, columns in shown]
    return [(key, [key]) for key in sweep.vary] + [(head, columns) for head, columns in shown if columns]


def _metrics(sweep: Sweep, table: str, view: View) -> list[str]:
    known = sweep.grid(table, sweep.by(table)).metrics
    return [column for _, columns in view for column in columns if column in known]


def _cut(view: View, rows: list[dict[str, Any]]) -> str:
    """The first lines of a table."""
    more = f"\n… and {number(len(rows) - LINES)} more lines" if len(rows) > LINES else ""
    return _table(view, rows[:LINES], _shown) + more


def _shown(value: Any) -> str:
    if isinstance(value, Estimate):
        return str(value)
    return _plain(value) if value is None or isinstance(value, (str, float)) else label(value)


def _page(heading: str, tables: Sequence[str]) -> str:
    return "\n\n".join([fitted(heading), *(table for table in tables if table)])


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return value if isinstance(value, str) else number(value)


def _busy(links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The links that carried a packet, or dropped one."""
    return [row for row in links if any(getattr(row[name], "mean", row[name]) for name in ("packets", "drops"))]


#: More flows of one kind are shown by those with the highest, the median and the lowest goodput.
FEW = 8


def _flows(rows: list[dict[str, Any]], cell: Callable[[Any], str]) -> str:
    """The table of flows. Flows of one kind differ in a number in their names."""
    kinds: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault((_kind(row["flow"]), row.get("transport")), []).append(row)
    shown = []
    for several in kinds.values():
        ordered = sorted(several, key=lambda row: -_goodput(row)) if len(several) > FEW else []
        named = {"highest": 0, "median": len(ordered) // 2, "lowest": -1} if ordered else {}
        shown += [{**ordered[place], "flow": f"{ordered[place]['flow']}, {rank}"} for rank, place in named.items()]
        shown += [] if ordered else several
    left_out = len(rows) - len(shown)
    note = (
        f"\n… and {number(left_out)} more flows, by goodput between these: -o DIR or --json has all" if left_out else ""
    )
    return _table(FLOWS, shown, cell) + fitted(note)


def _kind(flow: str) -> str:
    """The name of a flow without its number."""
    return re.sub(r"\d+", "…", flow)


def _goodput(row: dict[str, Any]) -> float:
    value = getattr(row["goodput_kbps"], "mean", row["goodput_kbps"])
    return value if value is not None else 0.0


def _table(view: View, rows: list[dict[str, Any]], cell: Callable[[Any], str]) -> str:
    """The columns of `view` that say something about `rows`."""
    if not rows:
        return ""

    def says(columns: list[str]) -> bool:
        values = [row[c] for row in rows for c in columns if c in row]
        if columns == ["to"]:
            # The receiver is named where a flow has several.
            return len({row["flow"] for row in rows}) < len(rows)
        if columns == ["marks"]:
            return any(getattr(v, "mean", v) for v in values)
        return any(v is not None and getattr(v, "n", 1) for v in values)

    shown = [(head, columns) for head, columns in view if says(columns)]
    cells = [[" / ".join(cell(row[c]) for c in columns) for _, columns in shown] for row in rows]
    return aligned([head for head, _ in shown], cells)


RADIO = [
    ("radio", ["radio"]),
    ("sent_pdus", ["sent_pdus"]),
    ("again_pct", ["again_pct"]),
    ("air_lost_pct", ["air_lost_pct"]),
]


SHARED = [
    ("cell", ["cell"]),
    ("ues", ["ues"]),
    ("used_pct", ["used_pct"]),
    ("throughput_kbps", ["throughput_kbps"]),
    ("failed_pct", ["failed_pct"]),
]

NODE_BS = [
    ("node_b", ["cell"]),
    ("ues", ["ues"]),
    ("packets", ["packets"]),
    ("tries", ["tries"]),
    ("failed_pct", ["failed_pct"]),
    ("rejected", ["rejected_packets"]),
    ("resent", ["resent_packets"]),
    ("indicated", ["indicated_packets"]),
]

#: The length of a slot of HSDPA.
SLOT_MS = 2


def _slots(row: dict[str, Any]) -> dict[str, Any]:
    """What the slots of a cell of HSDPA carried."""
    return row | {
        "used_pct": 100 * row["used_slots"] / row["slots"] if row["slots"] else None,
        "throughput_kbps": 8 * row["bytes"] / (SLOT_MS * row["slots"]) if row["slots"] else None,
        "failed_pct": 100 * row["failed_blocks"] / row["blocks"] if row["blocks"] else None,
    }


def _tries(row: dict[str, Any]) -> dict[str, Any]:
    """What the attempts of a Node B of MBMS brought."""
    return row | {"failed_pct": 100 * row["failed_tries"] / row["tries"] if row["tries"] else None}


def _cells(runs: Sequence[Result]) -> list[str]:
    """What each cell gave away, what RLC did in each of its directions, what slots carried, what attempts brought."""
    if "cells" not in runs[0].tables:
        return []
    rows = [one.tables["cells"].rows() for one in runs]
    shown = [(head, columns) for head, columns in CELLS if columns[0] in runs[0].tables["cells"].columns]
    # Without dedicated channels to give away there is nothing to say of a cell but its name.
    parts: list[tuple[View, list[list[dict[str, Any]]]]] = [(shown, rows)] if len(shown) > 1 else []
    parts += [
        (RADIO, [_radio(one) for one in runs]),
        (SHARED, [[_slots(row) for row in mine if row.get("used_slots") is not None] for mine in rows]),
        (NODE_BS, [[_tries(row) for row in mine if row.get("tries") is not None] for mine in rows]),
    ]
    if len(runs) == 1:
        return [_table(view, mine, _plain) for view, (mine,) in parts]
    return [_table(view, _means(view, mine), str) for view, mine in parts]


def _means(view: View, runs: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Rows that runs have in common, by their first column, with the mean of each number and its interval."""
    head, *others = [column for _, columns in view for column in columns]
    named: dict[str, list[dict[str, Any]]] = {}
    for row in (row for rows in runs for row in rows):
        named.setdefault(row[head], []).append(row)
    return [
        {head: name, **{column: estimate(row[column] for row in rows) for column in others}}
        for name, rows in named.items()
    ]


def _radio(result: Result) -> list[dict[str, Any]]:
    """What RLC did in each direction of each cell."""
    sums: dict[str, dict[str, int]] = {}
    for row in result.tables["bearers"].rows():
        if all(row.get(name) is None for name in SENT_PDUS):
            continue
        cell, direction = row["bearer"].rpartition(".ue[")[0], row["bearer"].rpartition(" ")[2]
        mine = sums.setdefault(f"{cell} {direction}", dict.fromkeys((*SENT_PDUS, "air_lost_pdus"), 0))
        for name in mine:
            mine[name] += row.get(name) or 0
    lines = []
    for name, mine in sums.items():
        sent = sum(mine[each] for each in SENT_PDUS)
        share = {"again_pct": mine["retransmitted_pdus"], "air_lost_pct": mine["air_lost_pdus"]}
        lines.append(
            {"radio": name, "sent_pdus": sent}
            | {head: 100 * count / sent if sent else None for head, count in share.items()}
        )
    return lines


def _transfers(rows: list[dict[str, Any]]) -> str:
    """A line for each flow with transfers, or for many of one kind: how many, how many ended, how long they took."""
    kinds: dict[str, dict[str, None]] = {}
    for row in rows:
        kinds.setdefault(_kind(row["flow"]), {})[row["flow"]] = None
    lines = []
    flows = {
        name: several if len(several) > FEW else [flow]
        for several in map(list, kinds.values())
        for flow in several
        for name in [f"{len(several)} flows {_kind(flow)}" if len(several) > FEW else flow]
    }
    for flow, members in flows.items():
        mine = [row for row in rows if row["flow"] in members]
        ended = [row["duration_s"] for row in mine if row["duration_s"] is not None]
        middle = number(median(ended)) if ended else "–"
        longest = number(max(ended)) if ended else "–"
        lines.append([flow, number(len(mine)), number(len(ended)), f"{middle} / {longest}"])
    return aligned(["flow", "transfers", "completed", "duration_s p50/max"], lines) if lines else ""
