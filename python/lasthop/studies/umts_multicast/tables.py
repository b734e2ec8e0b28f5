"""What the runs gave, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lasthop.results import Table
from lasthop.stats import Estimate, estimate, number
from lasthop.studies import records
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Numbers
from lasthop.studies.readings import AS_TAKEN

from . import network
from .data import (
    EXPULSION,
    FAIRNESS,
    FREE,
    GN,
    INDICATION,
    PERMANENT,
    REPORTS,
    SCALING,
    SECONDS,
    SEVERAL,
    STEPS,
    TEMPORARY,
    Data,
    up_to_one,
)
from .judges.cost import COUNTERS
from .judges.fairness import PLACES, variation
from .judges.loss_classification import EXPECTED
from .judges.responsiveness import NAMES, adaptation, adaptations
from .network import LEGACY, MODIFIED, SCHEMES
from .paper import ADAPTATION_S, TABLE_II
from .readings import MULTICAST, UNICAST
from .scenario import MIXED, PAIRS, SIZES, SPELL_S, STEPS_S, UNCONTROLLED

#: The reading without the background.
SILENT = "observed flows alone"

Named = tuple[str, Table]
Row = dict[str, Any]


def tables(measured: Mapping[str, Data], numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """All tables."""
    data, alone = measured[AS_TAKEN], measured.get(SILENT)
    made: dict[str, Named] = {"table-1": ("Table I beside the network that is run.", _rows(_parameters()))}
    makers: dict[str, tuple[str, Callable[[], list[Row]]]] = {
        "table-2": (
            "Table II: throughput over TCP's, the paper's and ours, with 95 % intervals; and without the background.",
            lambda: _table_2(data, alone),
        ),
        "table-readings": (
            "Table II with each other answer to what the paper leaves open, by itself: throughput over TCP's.",
            lambda: _readings(measured),
        ),
        "table-fairness": (
            "Throughput at UE_x in kbit/s, and the least over the most, by the place of the bottleneck.",
            lambda: _fairness(data),
        ),
        "table-smoothness": ("Coefficient of variation of the throughput over 1 s.", lambda: _smoothness(data)),
        "table-adaptation": (
            "Time until what is sent has adapted to a step, in s, as a mean of two steps: of the mean curve over the "
            "runs, and of single runs, of those steps after which they do.",
            lambda: _adaptation(data),
        ),
        "table-permanent": (
            "A terminal that loses 20 % from 50 s on: kbit/s on the wire, and seconds after the change.",
            lambda: _permanent(data),
        ),
        "table-scaling": (
            "The same by buffer and bit rate: seconds until what is sent has adapted.",
            lambda: _scaling(data),
        ),
        "table-expulsion": (
            "A group of ten, one of which is degraded from 50 s on: kbit/s on the wire that members get on average, "
            "and the least of those who are in; seconds after the change.",
            lambda: _expulsion(data),
        ),
        "table-background": (
            "What the background changes: means with all of Table I, and with the observed flows alone.",
            lambda: _background(data, alone),
        ),
        "table-indication": (
            "Losses that a terminal puts down to the wrong cause, in per cent of those with the other.",
            lambda: _indication(data),
        ),
        "table-changes": (
            "Changes of the representative in a minute, while the radio loses up to 5 %.",
            lambda: _changes(data),
        ),
        "table-cost": (
            "What a receiver does for each packet, on average, and keeps; what the sender hears.",
            lambda: _cost(data),
        ),
    }
    for name, (about, make) in makers.items():
        try:
            made[name] = about, _rows(make())
        except NotRun:
            continue
    made["costs"] = records.costs(numbers)
    made |= records.runs(numbers)
    return made


def _rows(rows: list[Row]) -> Table:
    return Table(pa.Table.from_pylist(rows))


def _said(values: Any, places: int | None = None) -> str:
    one = values if isinstance(values, Estimate) else estimate(values)
    return number(one.mean, places) if places is not None else str(one)


def _of_those(values: Any) -> str:
    """The mean of the runs that have a number."""
    known = values[np.isfinite(values)]
    return _said(known) if len(known) else "–"


def _parameters() -> list[Row]:
    ours = {
        "SGSNs": (3, len(network.RNCS)),
        "RNCs": (20, sum(network.RNCS)),
        "Node Bs/cells": (80, network.NODE_BS),
        "servers/groups of TFMCC": (5, network.MULTICAST_SERVERS),
        "servers/groups of PGMCC": (5, network.MULTICAST_SERVERS),
        "servers of TCP": (50, network.TCP_SERVERS),
        "UEs": (500, network.UES),
        "UEs in each group": ("10 to 100", f"{SIZES[0]} to {SIZES[-1]} observed, {network.GROUP} in the background"),
        "groups that a UE joins": ("0 to 2", "0 to 2"),
    }
    return [{"parameter": name, "paper": str(paper), "ours": str(mine)} for name, (paper, mine) in ours.items()]


def _table_2(data: Data, alone: Data | None) -> list[Row]:
    rows = []
    for scheme in (*MODIFIED, *LEGACY):
        for ues in data.sizes:
            row = {
                "scheme": SCHEMES[scheme],
                "UEs": ues,
                "paper": TABLE_II[scheme][SIZES.index(ues)],
                "ours": str(data.ratio(scheme, ues)),
            }
            if alone and TEMPORARY in alone.grids and ues in alone.sizes:
                row["without background"] = str(alone.ratio(scheme, ues))
            rows.append(
                {
                    **row,
                    "kbit/s": _said(data.grid(TEMPORARY).at("kbps", scheme=scheme, ues=ues)),
                    "TCP (kbit/s)": _said(data.tcp_kbps(ues)),
                }
            )
    if alone and TEMPORARY in alone.grids and "cbr" in alone.grid(TEMPORARY).axes["scheme"]:
        for ues in alone.sizes:
            rows.append(
                {
                    "scheme": "CBR of 384 kbit/s",
                    "UEs": ues,
                    "paper": None,
                    "ours": "",
                    "without background": str(alone.ratio("cbr", ues)),
                    "kbit/s": _said(alone.grid(TEMPORARY).at("kbps", scheme="cbr", ues=ues)),
                    "TCP (kbit/s)": _said(alone.tcp_kbps(ues)),
                }
            )
    return rows


def _readings(measured: Mapping[str, Data]) -> list[Row]:
    rows = []
    for name, data in measured.items():
        if not all(touched & {MULTICAST, UNICAST} for touched in data.touches) or " + " in name:
            continue
        for scheme in (*MODIFIED, *LEGACY):
            shown = [ues for ues in (1, 10, 100) if ues in data.sizes]
            rows.append(
                {
                    "reading": name,
                    "scheme": SCHEMES[scheme],
                    **{f"{ues} UEs": str(data.ratio(scheme, ues)) for ues in shown},
                    "TCP (kbit/s)": _said(data.tcp_kbps(10)),
                }
            )
    return rows


def _fairness(data: Data) -> list[Row]:
    rows = []
    for grid, cases in ((FAIRNESS, (*PAIRS, MIXED)), (GN, (*PAIRS, MIXED)), (FREE, UNCONTROLLED)):
        if grid not in data.grids:
            continue
        numbers = data.grid(grid)
        for flows in cases:
            for where in numbers.axes["where"]:
                names = flows.split("+")
                row: Row = {"flows": " + ".join(SCHEMES[name] for name in names), "bottleneck": PLACES[where]}
                for n in range(3):
                    row[f"flow {n + 1}"] = (
                        _said(numbers.at(f"kbps_{n}", flows=flows, where=where)) if n < len(names) else ""
                    )
                rows.append(
                    {
                        **row,
                        "least over most": up_to_one(estimate(numbers.at("least_of_most", flows=flows, where=where))),
                    }
                )
    if not rows:
        raise NotRun("5.1")
    return rows


def _smoothness(data: Data) -> list[Row]:
    stages: list[tuple[str, int | None]] = [
        ("5.1, Iu", None),
        *((f"5.2, stage {n + 1}", n) for n in range(len(STEPS_S))),
    ]
    return [
        {
            "experiment": name,
            **{NAMES[protocol]: str(variation(data, protocol, stage)) for protocol in ("tfmcc", "pgmcc", "tcp")},
        }
        for name, stage in stages
    ]


def _adaptation(data: Data) -> list[Row]:
    rows = []
    for step in ("loss", "delay"):
        for protocol in NAMES:
            of = adaptations(data, protocol, step)
            low, high = ADAPTATION_S[protocol]
            row = {
                "step": step,
                "protocol": NAMES[protocol],
                "paper": f"{low}–{high}" if step == "loss" else "similar",
                "mean curve": str(adaptation(data, step, protocol)),
                "single runs": _said(of),
                "received": _said(adaptations(data, protocol, step, at_ue=True)),
            }
            both = np.array([data.grid(STEPS).at(f"adaptation_{protocol}_{stage}", step=step) for stage in (1, 2)])
            chance = np.array(
                [data.grid(STEPS).at(f"chance_{protocol}_{stage}", step=step) for stage in range(len(STEPS_S))]
            )
            row["without a step"] = _said(chance.ravel())
            rows.append({**row, "never (% of steps)": number(100 * float(np.isnan(both).mean()), 0)})
    return rows


def _permanent(data: Data) -> list[Row]:
    rows = []
    for name, where in ((PERMANENT, {}), (SEVERAL, {"degraded": 3})):
        grid = data.grid(name)
        for scheme in grid.axes["scheme"]:
            at: Mapping[str, Any] = {"scheme": scheme, **where}
            rows.append(
                {
                    "scheme": SCHEMES[scheme] + (", three of ten" if where else ""),
                    "received before": _said(grid.at("before_kbps", **at)),
                    "received after": _said(grid.at("after_kbps", **at)),
                    "sent after": _said(grid.at("sent_after_kbps", **at)),
                    "first rejection (s)": _said(grid.at("first_rejection_s", **at)),
                    "first cut (s)": _said(grid.at("first_cut_s", **at)),
                    "sends a fifth less (s)": _said(grid.at("slower_s", **at)),
                    "adapted, sent (s)": _said(grid.at("adaptation_s", **at)),
                    "adapted, received (s)": _said(grid.at("adaptation_at_ue_s", **at)),
                }
            )
    return rows


def _expulsion(data: Data) -> list[Row]:
    grid = data.grid(EXPULSION)
    rows = []
    for point in grid.points():
        at = {quantity: grid.at(quantity, **point) for quantity in grid.values}
        out = at["expulsions"]
        rows.append(
            {
                "scheme": SCHEMES[point["scheme"]],
                "degraded": "for good" if point["lasts"] == "good" else f"for {SPELL_S:g} s",
                "expels": "yes" if point["expels"] else "no",
                "before": _said(at["before_mean_kbps"]),
                "least before": _said(at["before_min_kbps"]),
                "degraded, not expelled": _said(at["bad_mean_kbps"]),
                "least then": _said(at["bad_min_kbps"]),
                "later": _said(at["later_mean_kbps"]),
                "least later": _said(at["later_min_kbps"]),
                "runs that expel": f"{int(np.sum(out > 0))} of {len(out)}",
                "expelled after (s)": _of_those(at["expelled_s"]),
                "90 % of before after (s)": _of_those(at["recovered_s"]),
            }
        )
    return rows


def _scaling(data: Data) -> list[Row]:
    grid = data.grid(SCALING)
    return [
        {
            "scheme": SCHEMES[point["scheme"]],
            "buffer (packets)": point["queue"],
            "kbit/s": point["rate"],
            "adapted (s)": _said(grid.at("adaptation_s", **point)),
            "first rejection (s)": _said(grid.at("first_rejection_s", **point)),
            "first cut (s)": _said(grid.at("first_cut_s", **point)),
        }
        for point in grid.points()
    ]


def _background(data: Data, alone: Data | None) -> list[Row]:
    """Paired differences where the seeds are the same."""
    rows: list[Row] = []

    def compare(what: str, with_it: Any, without: Any) -> None:
        n = min(len(with_it), len(without))
        rows.append(
            {
                "quantity": what,
                "all of Table I": _said(with_it[:n]),
                "observed flows alone": _said(without[:n]),
                "difference": _said(np.asarray(with_it[:n]) - np.asarray(without[:n])),
            }
        )

    if alone and TEMPORARY in alone.grids:
        compare("5.3, TCP, ten flows (kbit/s)", data.tcp_kbps(10), alone.tcp_kbps(10))
        for scheme in (*MODIFIED, *LEGACY):
            for ues in (ues for ues in (1, 10, 100) if ues in data.sizes and ues in alone.sizes):
                compare(
                    f"5.3, {SCHEMES[scheme]}, {ues} (kbit/s)",
                    *(of.grid(TEMPORARY).at("kbps", scheme=scheme, ues=ues) for of in (data, alone)),
                )
    if alone and FAIRNESS in alone.grids:
        for flows in (*PAIRS, MIXED):
            compare(
                f"5.1, Iu, {' + '.join(SCHEMES[one] for one in flows.split('+'))}, least over most",
                *(of.grid(FAIRNESS).at("least_of_most", flows=flows, where="iu") for of in (data, alone)),
            )
    if SECONDS in data.grids:
        grid = data.grid(SECONDS)
        for scheme in MODIFIED:
            for quantity, words in (("before_kbps", "received before"), ("sent_after_kbps", "sent after")):
                compare(
                    f"5.4, {SCHEMES[scheme]}, {words} (kbit/s)",
                    *(grid.at(quantity, scheme=scheme, background=on) for on in (True, False)),
                )
    if not rows:
        raise NotRun("one of both")
    return rows


def _indication(data: Data) -> list[Row]:
    grid = data.grid(INDICATION)
    rows = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for point in grid.points():
            missed, blamed = EXPECTED.get((point["rule"], point["radio"]), (None, None))
            off = grid.at("own_off", **point) / (
                grid.at("congestion_losses", **point) + grid.at("radio_losses", **point)
            )
            rows.append(
                {
                    "rule": point["rule"],
                    "radio loss (%)": 100 * point["radio"],
                    "congestion taken for radio": _said(100 * grid.ratio("missed", "congestion_losses", **point)),
                    "expected": missed,
                    "radio taken for congestion": _said(100 * grid.ratio("blamed", "radio_losses", **point)),
                    "expected ": blamed,
                    "terminals' own counters differ by (%)": number(100 * float(off.mean()), 2),
                }
            )
    return rows


def _changes(data: Data) -> list[Row]:
    grid = data.grid(TEMPORARY)
    return [
        {
            "UEs": ues,
            **{
                SCHEMES[scheme]: _said(grid.at("changes_per_minute", scheme=scheme, ues=ues))
                for scheme in (*MODIFIED, *LEGACY)
            },
        }
        for ues in data.sizes
    ]


def _cost(data: Data) -> list[Row]:
    rows: list[Row] = []
    sizes = [ues for ues in data.sizes if ues in (1, 10, 100)]
    for scheme in (*MODIFIED, *LEGACY):
        for ues in sizes:
            at = {"scheme": scheme, "ues": ues}
            rows.append(
                {"experiment": "5.3", "scheme": SCHEMES[scheme], "UEs": ues, **_counted(data.grid(TEMPORARY), at)}
            )
    if REPORTS in data.grids:
        grid = data.grid(REPORTS)
        for point in grid.points():
            row = {"experiment": "1 % lost to all, 2 % to one", "scheme": SCHEMES[point["scheme"]], "UEs": point["ues"]}
            rows.append({**row, **_counted(grid, point)})
    return rows


def _counted(grid: Numbers, at: Mapping[str, Any]) -> Row:
    with np.errstate(invalid="ignore", divide="ignore"):
        naks = grid.at("naks", **at) / grid.at("lost_packets", **at)
    return {
        **{word: _said(grid.at(counter, **at)) for counter, word in COUNTERS.items()},
        "reports in a round": _said(grid.at("reports_per_round", **at)),
        "NAKs for each lost packet": _said(np.where(np.isfinite(naks), naks, np.nan)),
    }
