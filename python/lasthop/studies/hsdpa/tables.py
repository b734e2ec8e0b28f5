"""What the runs gave, as tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from lasthop.studies import records
from lasthop.studies.grid import Numbers
from lasthop.studies.readings import AS_TAKEN
from lasthop.studies.records import Named, Row

from .data import BEYOND, DETECTION, FIRST, LEVEL, MAIN, Data, of_all
from .judges.bursts import burst
from .measures.percentiles import lowest
from .scenario import SCHEDULERS, SIZES, TITLES

INTERVALS = "Intervals are of 90 %, over runs."

#: A mean with its interval, at the paper's level.
_said = partial(records.said, level=LEVEL)


def tables(measured: Mapping[str, Data], numbers: Mapping[str, Numbers], alone: Collection[str]) -> dict[str, Named]:
    """All tables. The numbers of each run are kept of the readings named in ``alone``."""
    data = measured[AS_TAKEN]
    made = records.tables(
        data,
        {
            "table-scenarios": (
                f"The centre cell in each scenario, and with a third scheduler. {INTERVALS}",
                _scenarios,
            ),
            "table-losses": (
                f"Loss of each size of file with TFRC, and lost packets for each congestion event. {INTERVALS}",
                _losses,
            ),
            "table-first-losses": (
                "Packets of a file of 740 950 B sent before its first loss; losses of the two largest sizes in events, "
                f"and how many times as many events independent losses would make. {INTERVALS}",
                _first,
            ),
            "table-spurious": (
                "Timeouts of TCP, how many of them are spurious by ground truth, and what the sender detects. "
                f"{INTERVALS}",
                _spurious,
            ),
            "table-spikes": (
                "Delay spikes, and how likely a packet is dropped while one lasts or within a second after it. "
                f"{INTERVALS}",
                _spikes,
            ),
        },
    )
    made["costs"] = records.costs(numbers)
    made |= records.runs({f"{reading}: {MAIN}": of.main for reading, of in measured.items() if reading in alone})
    rows = data.main.rows
    if rows is not None:
        made["transfers"] = "Every transfer of the centre cell that the verdicts rest on.", rows
    return made


def _cases(data: Data) -> list[tuple[Data, dict[str, Any]]]:
    """The scenarios of the paper, then those with the third scheduler."""
    made = [(data, dict(point)) for point in data.main.points()]
    if BEYOND in data.grids:
        beyond = Data(data.name, {MAIN: data.grids[BEYOND]})
        made += [(beyond, dict(point)) for point in beyond.main.points()]
    return made


def _named(point: Mapping[str, Any]) -> dict[str, Any]:
    return {"protocol": TITLES[point["protocol"]], "scheduler": TITLES[point["scheduler"]], "mobiles": point["ues"]}


def _scenarios(data: Data) -> list[Row]:
    rows = []
    for of, point in _cases(data):
        at = of.main.at

        def percent(name: str, at: Any = at, point: Mapping[str, Any] = point) -> str:
            return _said(100 * at(name, **point))

        rows.append(
            {
                **_named(point),
                "files": _said(at("files", **point)),
                "files (kbit/s)": _said(at("files_kbps", **point)),
                "payload (kbit/s)": _said(at("goodput_kbps", **point)),
                "retransmitted (kbit/s)": _said(at("retransmitted_kbps", **point)),
                "twice over the air (kbit/s)": _said(at("duplicates_kbps", **point)),
                "rate of 4350 B (kbit/s)": _said(of.rate(SIZES[0], **point)),
                "rate of 1 483 350 B (kbit/s)": _said(of.rate(SIZES[-1], **point)),
                "fifth percentile of the files (kbit/s)": str(lowest(of.rates(**point), level=LEVEL)),
                "users below 50 kbit/s (%)": _said(100 * of.per("slow_users", "users", **point)),
                "slots without receiver (%)": percent("receivers_0"),
                "slots with 1 or 2 (%)": percent("one_or_two"),
                "slots with 5 or more (%)": percent("five_or_more"),
                "Jain's index": _said(at("jain", **point)),
                "bytes of the better half (%)": percent("upper_half_share"),
            }
        )
    return rows


def _losses(data: Data) -> list[Row]:
    rows = []
    for scheduler in SCHEDULERS:
        for ues in data.main.axes["ues"]:
            where = {"protocol": "tfrc", "scheduler": scheduler, "ues": ues}
            for size in SIZES:
                rows.append(
                    {
                        "scheduler": TITLES[scheduler],
                        "mobiles": ues,
                        "size (B)": size,
                        "transfers in a run": _said(data.main.at(f"transfers_{size}", **where)),
                        "lose something (%)": _said(100 * data.mean_of("lossy", size, **where)),
                        "above 10 % (%)": _said(100 * data.mean_of("above_mild", size, **where)),
                        "above 15 % (%)": _said(100 * data.mean_of("above_high", size, **where)),
                        "lost packets / event": _said(burst(data, **where)) if size == SIZES[-1] else "",
                        "the same, TCP": _said(burst(data, **{**where, "protocol": "tcp"}))
                        if size == SIZES[-1]
                        else "",
                    }
                )
    return rows


def _first(data: Data) -> list[Row]:
    grid = data.grid(FIRST)
    return [
        {
            **_named(point),
            "transfers in a run": _said(grid.at("transfers", **point)),
            "with losses": _said(grid.at("with_losses", **point)),
            "packets before the first loss": _said(grid.at("before_first_loss", **point)),
            "lost packets / event": _said(of_all(*(grid.at(name, **point) for name in ("lost", "events")))),
            "times as many events if independent": _said(
                of_all(*(grid.at(name, **point) for name in ("events_apart", "events")))
            ),
        }
        for point in grid.points()
    ]


def _spurious(data: Data) -> list[Row]:
    named = {"none": "rfc", "eifel": "rfc, Eifel", "frto": "rfc, F-RTO"}
    rows = []
    for scheduler in SCHEDULERS:
        where = {"protocol": "tcp", "scheduler": scheduler, "ues": 65}
        cases = [("ns2", data.main, where)]
        if DETECTION in data.grids:
            grid = data.grids[DETECTION]
            cases += [(named[one], grid, {**where, "spurious": one}) for one in grid.axes["spurious"]]
        for name, grid, point in cases:
            share, detected, each = (
                of_all(grid.at(part, **point), grid.at(whole, **point))
                for part, whole in (("spurious", "timeouts"), ("detected", "spurious"), ("timeouts", "transfers"))
            )
            rows.append(
                {
                    "scheduler": TITLES[scheduler],
                    "TCP": name,
                    "timeouts in a run": _said(grid.at("timeouts", **point)),
                    "timeouts / transfer": _said(each),
                    "spurious, ground truth (%)": _said(100 * share),
                    "detected / spurious (%)": _said(100 * detected) if "," in name else "–",
                    "payload (kbit/s)": _said(grid.at("goodput_kbps", **point)),
                }
            )
    return rows


def likelier(of: Data, point: Mapping[str, Any]) -> tuple[Any, Any]:
    """The shares of packets dropped in spikes, and otherwise, of each seed."""
    offered, dropped, within, lost = (
        of.main.at(name, **point)
        for name in ("offered_packets", "dropped_packets", "offered_in_spike", "dropped_in_spike")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return lost / within, (dropped - lost) / (offered - within)


def _spikes(data: Data) -> list[Row]:
    rows = []
    for of, point in _cases(data):
        within, otherwise = likelier(of, point)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = within / otherwise
        rows.append(
            {
                **_named(point),
                "spikes / transfer": _said(of.per("delay_spikes", "transfers", **point)),
                "packets in them (%)": _said(100 * of.per("offered_in_spike", "offered_packets", **point)),
                "dropped in them (%)": _said(100 * within),
                "dropped otherwise (%)": _said(100 * otherwise),
                "times as likely": _said(np.where(np.isfinite(ratio), ratio, np.nan)),
            }
        )
    return rows
