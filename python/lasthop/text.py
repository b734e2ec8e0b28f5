"""What the commands print of runs, sweeps and analyses."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING, Any

from lasthop.columns import aligned, fitted
from lasthop.results import SENT_PDUS, Table
from lasthop.stats import Estimate, estimate, mean, number
from lasthop.sweeps.vary import Vary, label

if TYPE_CHECKING:
    from lasthop.analysis import Analysis
    from lasthop.results import Result
    from lasthop.runs import Replications
    from lasthop.sweeps import Sweep

__all__ = ["analysis_text", "cell_text", "page", "replications_text", "run_text", "sweep_text"]


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

#: The columns that name a row, beside what a sweep varies.
_NAMES = {"flow", "from", "to", "connection", "link", "cell"}


def run_text(result: Result) -> str:
    """What `lasthop run` prints of a run."""
    transfers = _transfers(result.tables["transfers"].rows()) if "transfers" in result.tables else ""
    return page(
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
    "note: all seeds gave the same numbers: nothing that is random reached a flow. "
    "A loss model, a random source or random start times make seeds differ."
)

#: The most points that are named of those at which seeds gave the same.
MOST_ALIKE = 3


def replications_text(replications: Replications) -> str:
    """What `lasthop run --seeds` prints: means with the half-width of their 95 % intervals."""
    return page(
        replications.heading(),
        [
            *_cells(replications.runs),
            _flows(replications.means("flows"), str),
            _table(LINKS, _busy(replications.means("links")), str),
            _transfers_of_seeds(replications.runs),
            fitted(SAME) if replications.repeats_itself else "",
        ],
    )


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
    "note: timeouts are left out: a run needs record.variables = true to tell them by connection, a capture has none, "
    "and ns-2's counters of Fack and Vegas leave some out."
)

#: What stands below connections from a capture that does not say which packets were sent where it was taken.
ONE_SIDED = (
    "note: the capture does not say which packets were sent where it was taken; all data count as sent there. "
    "If it was taken at their receiver, round-trip times and outstanding data are next to nothing."
)

#: What stands below connections whose packets are not in the order of their times.
BACK = (
    "note: time goes back from one packet of a connection to the next, by up to {}: a clock was set, or packets were "
    "captured out of order. Round-trip times and means over time are wrong by as much."
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
    back = analysis.back_s
    notes = [
        *([BACK.format(f"{number(back)} s")] if back > 0 else []),
        *([ONE_SIDED] if not analysis.tells_ends else []),
        *([UNKNOWN] if unknown else []),
    ]
    return page(analysis.heading(), [*tables, "\n".join(map(fitted, notes))])


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
    parts = [_cut(flows, sweep.means("flows", by=sweep.by("flows"), metrics=metrics), sweep.vary)]
    if several and len(sweep.points) > 1:
        other = ", ".join(f"{key} = {label(value)}" for key, value in (against or sweep.points[0]).items())
        differences = _cut(flows, sweep.differences(*metrics, against=against, by=sweep.by("flows")), sweep.vary)
        parts.append(fitted(f"difference to {other}, seed by seed") + f"\n{differences}")
    elif against:
        parts.append(fitted("one seed, so no differences: these need several (--seeds N)"))
    parts.append(_cut(links, _busy(sweep.means("links", by=sweep.by("links"))), sweep.vary))
    parts += _cells_of_points(sweep)
    parts.append(_transfers_of_points(sweep, against))
    of_many = [(table, one) for table, one in (("flows", "flow"), ("links", "link")) if sweep.by(table) == ()]
    each = [
        f"a line is the mean of up to {len(sweep.grid(table).things)} {table}: "
        f'Sweep.means("{table}", by=["{one}"]) has each'
        for table, one in of_many
    ]
    together = "\n".join(map(fitted, each))
    return page(heading, [*parts, together, _alike(sweep)])


def _alike(sweep: Sweep) -> str:
    """At which points intervals say nothing."""
    alike = sweep.repeating
    if not alike or len(alike) == len(sweep.points):
        return fitted(SAME) if alike else ""
    named = ["; ".join(f"{key} = {label(value)}" for key, value in point.items()) for point in alike[:MOST_ALIKE]]
    more = f" and at {len(alike) - MOST_ALIKE} more points" if len(alike) > MOST_ALIKE else ""
    return fitted(
        f"note: all seeds gave the same numbers at {' and at '.join(named)}{more}: nothing random reached a flow there"
    )


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


def _cut(view: View, rows: list[dict[str, Any]], varied: Collection[str] = ()) -> str:
    """The first lines of a table."""
    more = f"\n… and {number(len(rows) - LINES)} more lines" if len(rows) > LINES else ""
    return _table(view, rows[:LINES], cell_text, varied) + more


def cell_text(value: Any) -> str:
    """A number, an estimate or a varied value for reading."""
    if isinstance(value, Estimate):
        return str(value)
    return _plain(value) if value is None or isinstance(value, (str, float)) else label(value)


def page(heading: str, tables: Sequence[str]) -> str:
    """The heading, and the tables that are not empty."""
    return "\n\n".join([fitted(heading), *(table for table in tables if table)])


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return value if isinstance(value, str) else number(value)


def _busy(links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The links that carried a part of a packet, hold one, or dropped one."""
    said = ("packets", "drops", "utilisation_pct", "queue_packets")
    return [row for row in links if any(getattr(row.get(name), "mean", row.get(name)) for name in said)]


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


def _table(view: View, rows: list[dict[str, Any]], cell: Callable[[Any], str], varied: Collection[str] = ()) -> str:
    """The columns of `view` that say something about `rows`. Those of the keys ``varied`` name a row too."""
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
    heads = [head for head, _ in shown]
    keys = len([*takewhile(lambda head: head in _NAMES or head in varied, heads)])
    return aligned(heads, cells, keys=max(1, keys))


RADIO = [
    ("radio", ["radio"]),
    ("sent_pdus", ["sent_pdus"]),
    ("again_pct", ["again_pct"]),
    ("air_lost_pct", ["air_lost_pct"]),
    ("queue_bytes", ["queue_bytes"]),
]


SHARED = [
    ("cell", ["cell"]),
    ("ues", ["ues"]),
    ("used_pct", ["used_pct"]),
    ("throughput_kbps", ["throughput_kbps"]),
    ("failed_pct", ["failed_pct"]),
    ("dropped", ["dropped"]),
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

SKY = [
    ("terminal", ["bearer"]),
    ("handoffs", ["handoffs"]),
    ("outages", ["outages"]),
    ("outage_s", ["outage_s"]),
]

#: The length of a slot of HSDPA.
SLOT_MS = 2


def _slots(cells: list[dict[str, Any]], bearers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the slots of each cell of HSDPA carried, and what the queues in front of them dropped."""
    dropped: Counter[str] = Counter()
    for bearer in bearers:
        radio = bearer["bearer"].rpartition(".ue[")[0]
        dropped[f"{radio}.cell[{bearer.get('cell')}]"] += bearer.get("dropped_packets") or 0
    return [
        row
        | {
            "used_pct": 100 * row["used_slots"] / row["slots"] if row["slots"] else None,
            "throughput_kbps": 8 * row["bytes"] / (SLOT_MS * row["slots"]) if row["slots"] else None,
            "failed_pct": 100 * row["failed_blocks"] / row["blocks"] if row["blocks"] else None,
            "dropped": dropped[row["cell"]],
        }
        for row in cells
        if row.get("used_slots") is not None
    ]


def _tries(row: dict[str, Any]) -> dict[str, Any]:
    """What the attempts of a Node B of MBMS brought."""
    return row | {"failed_pct": 100 * row["failed_tries"] / row["tries"] if row["tries"] else None}


def _cells(runs: Sequence[Result]) -> list[str]:
    """What each cell gave away, what RLC, slots and attempts did in it, and which handoffs terminals had."""
    if "cells" not in runs[0].tables:
        return []
    rows = [one.tables["cells"].rows() for one in runs]
    shown = [(head, columns) for head, columns in CELLS if columns[0] in runs[0].tables["cells"].columns]
    # Without dedicated channels to give away there is nothing to say of a cell but its name.
    parts: list[tuple[View, list[list[dict[str, Any]]]]] = [(shown, rows)] if len(shown) > 1 else []
    parts += [
        (RADIO, [_radio(one.tables["bearers"].rows()) for one in runs]),
        (SHARED, [_slots(mine, one.tables["bearers"].rows()) for mine, one in zip(rows, runs, strict=True)]),
        (NODE_BS, [[_tries(row) for row in mine if row.get("tries") is not None] for mine in rows]),
        (SKY, [_handoffs(one) for one in runs]),
    ]
    if len(runs) == 1:
        return [_table(view, mine, _plain) for view, (mine,) in parts]
    return [_table(view, _means(view, mine), str) for view, mine in parts]


#: What the tables of cells say of bearers.
OF_BEARERS = (*SENT_PDUS, "air_lost_pdus", "queue_bytes", "cell", "dropped_packets")


def _cells_of_points(sweep: Sweep) -> list[str]:
    """What RLC did in each cell, and what slots of HSDPA carried, at each point of a sweep: means over the seeds."""
    if not {"cells", "bearers"} <= sweep.tables.keys():
        return []

    vary = Vary(sweep.vary)
    places = {seed: place for place, seed in enumerate(sweep.seeds)}

    def runs(name: str, *columns: str) -> list[list[list[dict[str, Any]]]]:
        """The rows of each run, of each point. Some points may have none."""
        table = sweep.tables[name].to_arrow()
        wanted = ["seed", *(column for column in columns if column in table.column_names)]
        made: list[list[list[dict[str, Any]]]] = [[[] for _ in sweep.seeds] for _ in sweep.points]
        points = vary.points_of({key: table.column(key) for key in sweep.vary})
        for point, row in zip(points, Table(table.select(wanted)).rows(), strict=True):
            made[point][places[row["seed"]]].append(row)
        return made

    bearers = runs("bearers", "bearer", *OF_BEARERS)
    slots = "used_slots" in sweep.tables["cells"].columns
    named = {*sweep.vary, "seed"}
    cells = runs("cells", *(name for name in sweep.tables["cells"].columns if name not in named)) if slots else []
    radios = [[_radio(mine) for mine in point] for point in bearers]
    shared = [[*map(_slots, *point)] for point in zip(cells, bearers, strict=True)] if slots else []
    keys = [(key, [key]) for key in sweep.vary]
    return [
        _cut(
            keys + view,
            [values | row for values, mine in zip(sweep.points, made, strict=True) for row in _means(view, mine)],
            sweep.vary,
        )
        for view, made in ((RADIO, radios), (SHARED, shared))
        if made
    ]


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


def _handoffs(result: Result) -> list[dict[str, Any]]:
    """How often each terminal of a constellation changed its satellite."""
    rows = [row for row in result.tables["bearers"].rows() if row.get("handoffs") is not None]
    if len(rows) > FEW:
        sums = {name: sum(row[name] for row in rows) for name in ("handoffs", "outages", "outage_s")}
        return [{"bearer": f"{number(len(rows))} together", **sums}]
    return [{**row, "bearer": row["bearer"].removesuffix(" down")} for row in rows]


def _radio(bearers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What RLC did in each direction of each cell."""
    sums: dict[str, dict[str, int]] = {}
    for row in bearers:
        if all(row.get(name) is None for name in SENT_PDUS):
            continue
        cell, direction = row["bearer"].rpartition(".ue[")[0], row["bearer"].rpartition(" ")[2]
        mine = sums.setdefault(f"{cell} {direction}", dict.fromkeys((*SENT_PDUS, "air_lost_pdus", "queue_bytes"), 0))
        for name in mine:
            mine[name] += row.get(name) or 0
    lines = []
    for name, mine in sums.items():
        sent = sum(mine[each] for each in SENT_PDUS)
        share = {"again_pct": mine["retransmitted_pdus"], "air_lost_pct": mine["air_lost_pdus"]}
        lines.append(
            {"radio": name, "sent_pdus": sent}
            | {head: 100 * count / sent if sent else None for head, count in share.items()}
            | {"queue_bytes": mine["queue_bytes"]}
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


#: What is said of the transfers of several runs: of durations the mean in each run, of those that ended.
TRANSFERS = [
    ("flow", ["flow"]),
    ("transfers", ["transfers"]),
    ("completed", ["completed"]),
    ("duration_s", ["duration_s"]),
    ("difference", ["difference"]),
]


def _transfers_of_seeds(runs: Sequence[Result]) -> str:
    """A line for each flow with transfers, or for many of one kind: means over the runs."""
    if "transfers" not in runs[0].tables:
        return ""
    rows = [one.tables["transfers"].rows() for one in runs]
    kinds: dict[str, dict[str, None]] = {}
    for row in (row for mine in rows for row in mine):
        kinds.setdefault(_kind(row["flow"]), {})[row["flow"]] = None
    lines = []
    for kind, flows in kinds.items():
        many = {f"{len(flows)} flows {kind}": flows} if len(flows) > FEW else {flow: {flow: None} for flow in flows}
        for name, members in many.items():
            theirs = [[row["duration_s"] for row in mine if row["flow"] in members] for mine in rows]
            ended = [[value for value in mine if value is not None] for mine in theirs]
            counts = {"transfers": estimate(map(len, theirs)), "completed": estimate(map(len, ended))}
            lines.append({"flow": name, **counts, "duration_s": estimate(map(mean, ended))})
    return _table(TRANSFERS[:-1], lines, str)


def _transfers_of_points(sweep: Sweep, against: Mapping[str, Any] | None) -> str:
    """The same at each point of a sweep, with the difference of durations to the one with the values of ``against``."""
    if "transfers" not in sweep.tables or not len(sweep.tables["transfers"]):
        return ""
    grid = sweep.grid("transfers", sweep.by("transfers"))
    others = sweep.opposite(against)
    counts = {"transfers": grid.counts(), "completed": grid.counts("duration_s")}
    durations = grid.values("duration_s")
    lines = []
    for point, values in enumerate(sweep.points):
        for place, thing in enumerate(grid.things):
            mine, theirs = durations[point, place], durations[others[point], place]
            made = {name: count[point, place] for name, count in counts.items()}
            made |= {"duration_s": mine, "difference": mine - theirs if others[point] != point else [math.nan]}
            lines.append({**values, **thing, **{name: _known(numbers) for name, numbers in made.items()}})
    view = TRANSFERS if len(sweep.seeds) > 1 else TRANSFERS[:-1]
    things = [(head, columns) for head, columns in view if head != "flow" or grid.things != [{}]]
    return _cut([(key, [key]) for key in sweep.vary] + things, lines, sweep.vary)


def _known(values: Any) -> Estimate:
    """The mean of what is a number."""
    return estimate(float(value) for value in values if not math.isnan(value))
