"""Figs. 6.1, 6.3 and 6.4: one run each of Reno and Vegas, followed over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasthop.results import SENT_PDUS
from lasthop.studies.series import Series

from ..measures import PDU_BITS
from ..scenario import ftp

if TYPE_CHECKING:
    from lasthop.results import Result
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Array


#: Over how many samples rates are taken.
WIDTH = 10


@dataclass(frozen=True)
class Followed:
    """A run of chapter 6 over time."""

    time_s: Array
    #: Packets in flight of the first user, and of the second.
    windows: tuple[Array, Array]
    #: The first user's smoothed round-trip time in seconds.
    srtt_s: Array
    #: The ends of the times over which rates are taken; goodput of both users, and what RLC sends over the Iub.
    ends_s: Array
    goodput_kbps: Array
    iub_kbps: Array
    #: When the second user starts.
    second_s: float


def follow(bench: Bench, parts: tuple[float, float], seed: int) -> Mapping[str, Followed]:
    """Reno and Vegas at the usual error rate."""
    names = ("reno", "vegas")
    scenarios = [ftp({"tcp": tcp, "bler": 0.01, "users": 2}, parts=parts) for tcp in names]
    made = bench.run([(scenario, seed) for scenario in scenarios], _followed, counts=False)
    return dict(zip(names, made, strict=True))


def _followed(result: Result) -> Followed:
    series = Series(result.series)
    time = series.of("first", "in_flight_packets")[0]
    first, second = (series.of(flow, "in_flight_packets")[1] for flow in ("first", "second"))
    srtt = series.on("first", "srtt_ms", time)
    bearers = [f"cell.ue[{place}] down" for place in (0, 1)]
    sent = np.sum([series.of(flow, "sent_bytes")[1] for flow in ("first", "second")], axis=0)
    counts = [series.of(bearer, count)[1] for bearer in bearers for count in SENT_PDUS]
    pdus = np.sum([count for count in counts if len(count)], axis=0)
    ends = time[WIDTH::WIDTH]
    each = np.diff(time[::WIDTH])
    goodput = 8e-3 * np.diff(sent[::WIDTH]) / each
    iub = PDU_BITS * 1e-3 * np.diff(pdus[::WIDTH]) / each
    return Followed(time, (first, second), 1e-3 * srtt, ends, goodput, iub, float(result.flows["start_s"][1]))
