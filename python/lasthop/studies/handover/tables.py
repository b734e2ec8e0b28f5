"""The tables of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial

import numpy as np

from lasthop.stats import number
from lasthop.studies import records
from lasthop.studies.readings import AS_TAKEN
from lasthop.studies.records import Named, Row

from .data import Data, crowd_row
from .experiments.overprovision import Growth
from .measures.crowd import Crowd
from .measures.grades import Parts, scalability, steps
from .measures.scalability import OPERATIONS
from .measures.table_1 import MECHANISMS, RESERVED, Measures
from .paper import TABLE_1
from .scenario import END, HANDOVERS

NOTHING = Parts(hosts=False, bottleneck=False, elsewhere=False, per_flow=False)

#: Rows beyond the paper's seven.
MORE = {
    "intserv-more": "IntServ that reserves half as much again",
    "swan-3-hops": "SWAN over three hops of radio",
    "none": "best effort",
}


def tables(measured: Mapping[str, Data], found: Growth, grown: Sequence[Crowd]) -> dict[str, Named]:
    """All tables; ``grown`` are runs of the crowd with the factor that was found."""
    return records.tables(
        measured[AS_TAKEN],
        {
            "table-1": (
                "Table I: our grades beside the paper's. Setting (a) is the paper's single flow, (b) voice and video "
                "among four greedy TCP flows; reservation schemes take their grades from (b).",
                partial(_grades, growth=found, grown=grown),
            ),
            "table-1-measures": (
                "The measures behind the grades: medians over the runs, of the worse of voice and video in (b).",
                partial(_measures, growth=found, grown=grown),
            ),
            "counters": ("What each mechanism puts where, and what it costs there.", _counters),
            "over-provisioning": (
                "The search for the factor by which a best-effort link must grow: the longest delay of a voice frame "
                "at each factor tried.",
                lambda _: _growth(found),
            ),
            "frames": ("What voice and video experience in the crowd, at each mechanism.", _frames),
            "runs": ("Each run: packets received and dropped, and its intervals.", lambda _: _runs(measured)),
        },
    )


def _grown(growth: Growth) -> str:
    return f"best effort, links × {number(growth.factor, 1)}"


def _grades(data: Data, growth: Growth, grown: Sequence[Crowd]) -> list[Row]:
    """Our grades in both settings beside the paper's, and what differs."""
    rows: list[Row] = []
    taken = data.grades
    for key, name in MECHANISMS.items():
        alone, among = data.single(key), data.crowd(key)
        differs = [
            f"{column} {steps(ours, paper):+d}"
            for column, ours, paper in zip(("media", "scalability", "dynamic"), taken[key], TABLE_1[key], strict=True)
            if ours != paper
        ]
        rows.append(
            {
                "mechanism": name,
                "setting taken": "b" if key in RESERVED else "a",
                "media (a)": alone.media,
                "media (b)": among.media,
                "media, paper": TABLE_1[key][0],
                "scalability": taken[key][1],
                "scalability, paper": TABLE_1[key][1],
                "dynamic (a)": alone.dynamic,
                "dynamic (b)": among.dynamic,
                "dynamic, paper": TABLE_1[key][2],
                "steps from the paper": ", ".join(differs) or "none",
            }
        )
    for name, among, parts in (
        (MORE["intserv-more"], data.crowd("intserv-more"), data.counters["intserv"].parts),
        (MORE["swan-3-hops"], data.crowd("swan-3-hops"), data.counters["swan"].parts),
        (MORE["none"], data.crowd("none"), NOTHING),
        (_grown(growth), crowd_row(data.taken, grown), NOTHING),
    ):
        rows.append(
            {
                **dict.fromkeys(rows[0], "–"),
                "mechanism": name,
                "setting taken": "b",
                "media (b)": among.media,
                "scalability": scalability(parts),
                "dynamic (b)": among.dynamic,
            }
        )
    return rows


def _measures(data: Data, growth: Growth, grown: Sequence[Crowd]) -> list[Row]:
    """The measures behind the grades. What never happens is missing."""
    rows = []
    settings: list[tuple[str, str, Measures]] = []
    for key, name in MECHANISMS.items():
        settings += [(name, "a", data.single(key)), (name, "b", data.crowd(key))]
    settings += [(name, "b", data.crowd(key)) for key, name in MORE.items()]
    settings.append((_grown(growth), "b", crowd_row(data.taken, grown)))
    for name, setting, row in settings:
        values = {field.name: getattr(row, field.name) for field in fields(row)}
        rows.append({"mechanism": name, "setting": setting, **{k: _plain(v) for k, v in values.items()}})
    return rows


def _counters(data: Data) -> list[Row]:
    """What each mechanism puts where, and what it costs there."""
    rows = []
    for key, name in MECHANISMS.items():
        one = data.counters[key]
        parts = one.parts
        rows.append(
            {
                "mechanism": name,
                "hosts change": _yes(parts.hosts),
                "bottleneck router changes": _yes(parts.bottleneck),
                "other routers change": _yes(parts.elsewhere),
                "state of each flow in the core": _yes(parts.per_flow),
                "scalability": scalability(parts),
                **{
                    f"router state, {n} flow{'s' if n > 1 else ''} (B)": value
                    for n, value in zip(one.flows, one.state_bytes, strict=True)
                },
                "more for each flow (B)": round(one.slope, 6),
                "of it in the core (B)": round(one.core_slope, 6),
                **{f"{name.replace('_', ' ')} per packet": one.operations[name] for name in OPERATIONS},
                "signalling packets at both handovers": data.signals(key).mean,
                "longest gap in service (ms)": data.gap_ms(key).mean,
                "signalling packets per set-up": one.signalling_per_flow,
                "values that only its hosts show": ", ".join(one.shown[0]) or "none",
                "… its bottleneck": ", ".join(one.shown[1]) or "none",
                "… its other routers": ", ".join(one.shown[2]) or "none",
            }
        )
    return rows


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _growth(found: Growth) -> list[Row]:
    """The search, in the order of the factors."""
    return [
        {
            "factor": factor,
            "longest delay (ms)": None if np.isinf(delay) else 1e3 * delay,
            "bound (ms)": 1e3 * found.bound_s,
            "meets it": _yes(delay <= found.bound_s),
        }
        for factor, delay in sorted(found.tried)
    ]


def _frames(data: Data) -> list[Row]:
    """Delay and loss of frames in the crowd, on each link, guards left out; means over the runs."""
    names = {**MECHANISMS, **MORE}
    rows = []
    for key, name in names.items():
        for flow in ("voice", "video"):
            for link, (begin, end) in {"WLAN": (22.0, END - 1), "UMTS": (12.0, HANDOVERS[1])}.items():
                units = [u for c in data.crowds[key] if (u := getattr(c, flow).units)]
                delays = [u.delays(begin, end) for u in units]
                some = [d for d in delays if len(d)]
                intervals = [u.intervals(begin, end) for u in units]
                rows.append(
                    {
                        "mechanism": name,
                        "flow": flow,
                        "link": link,
                        "delay_ms_p50": 1e3 * float(np.mean([np.median(d) for d in some])),
                        "delay_ms_p99": 1e3 * float(np.mean([np.percentile(d, 99) for d in some])),
                        "distortion_ms": 1e3
                        * float(
                            np.mean([np.mean(np.abs(i - u.every_s)) for i, u in zip(intervals, units, strict=True)])
                        ),
                        "greedy_tcp_kbps_umts": 8 * float(np.mean([c.greedy for c in data.crowds[key]])),
                        "lost_pct": 100 * float(np.mean([u.lost(begin, min(end, END - 1)) for u in units])),
                    }
                )
    return rows


def _runs(measured: Mapping[str, Data]) -> list[Row]:
    """A row for each run of the paper's setting."""
    down, up = HANDOVERS
    rows = []
    for name, data in measured.items():
        for key, traces in data.runs.items():
            for one in traces:
                rows.append(
                    {
                        "reading": name,
                        "mechanism": key,
                        "start_s": one.start_s,
                        "received_packets": one.received(0, END),
                        "received_packets_10_20_s": one.received(down, up),
                        "received_packets_20_30_s": one.received(up, END),
                        "dropped_packets": one.dropped(0, END),
                        "dropped_packets_10_20_s": one.dropped(down, up),
                        "dropped_in_slow_start": _or_none(one.slow_start_share()),
                        "down_adaptation_s": _or_none(one.adaptation(data.taken, down)),
                        "up_adaptation_s": _or_none(one.adaptation(data.taken, up)),
                        "wlan_consecutive_ratio_p99": _or_none(one.ratio(fast=True)),
                        "umts_consecutive_ratio_p99": _or_none(one.ratio(fast=False)),
                        "wlan_interval_p95_over_p5": _or_none(one.spread(fast=True)),
                        "umts_interval_p95_over_p5": _or_none(one.spread(fast=False)),
                        "mean_queue_bytes": one.mean_queue(),
                    }
                )
    return rows


def _plain(value: float | str) -> float | str | None:
    """A number without the last digits of its sums; none if it is infinite."""
    return value if isinstance(value, str) else round(value, 6) if np.isfinite(value) else None


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
