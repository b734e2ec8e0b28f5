"""Table I of the paper from measures: each run's, and the median run's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..readings import Taken
from ..scenario import HANDOVERS
from . import excess_drops
from .grades import dynamic_behaviour, media_friendliness, median_grade, worse
from .trace import Trace

#: The mechanisms in the order of the paper's Table I, with their names.
MECHANISMS = {
    "intserv": "IntServ",
    "diffserv": "DiffServ",
    "swan": "SWAN",
    "xcp": "XCP",
    "ewa": "EWA",
    "tfrc": "TFRC",
    "reno": "TCP",
}

#: Those that reserve: alone on a path they do nothing, so their grades are those of the crowd.
RESERVED = ("intserv", "diffserv", "swan")

DOWN, UP = HANDOVERS

#: Bytes of a packet, for drops weighed against the queue.
PACKET = 1000.0


@dataclass(frozen=True)
class Measures:
    """The measures of a run, of one flow or of the worse of several; or their medians over runs."""

    wlan_jitter: float
    umts_jitter: float
    wlan_ratio: float
    umts_ratio: float
    wlan_spread: float
    umts_spread: float
    down_rtts: float
    up_rtts: float
    down_rtts_10_pct: float
    up_rtts_10_pct: float
    down_drops: float
    up_drops: float
    down_lost_volume: float
    up_lost_volume: float
    down_below_request_s: float
    up_below_request_s: float
    media: str
    #: The grade that P95 over P5 of the intervals gives in the place of the ratio of consecutive ones.
    media_by_spread: str
    dynamic: str


def row(taken: Taken, trace: Trace) -> Measures:
    """Measures and grades of one flow in one run: each grade is the worse of both links, or of both handovers."""
    jitter, ratio, spread = (
        [measure(fast=fast, start=False) for fast in (True, False)]
        for measure in (trace.jitter, trace.ratio, trace.spread)
    )
    rtts, near, drops, below, dynamic = [], [], [], [], []
    for handover in HANDOVERS:
        rtt = taken.rtt_s(fast=handover == UP)
        adapted = trace.adaptation(taken, handover)
        rtts.append(adapted / rtt)
        near.append(trace.adaptation(taken, handover, 0.1) / rtt)
        drops.append(float(excess_drops(trace.dropped_s, handover, adapted)))
        below.append(trace.shortfall(taken, handover))
        dynamic.append(dynamic_behaviour(rtts[-1], drops[-1] * PACKET, below[-1]))
    return Measures(
        wlan_jitter=jitter[0],
        umts_jitter=jitter[1],
        wlan_ratio=ratio[0],
        umts_ratio=ratio[1],
        wlan_spread=spread[0],
        umts_spread=spread[1],
        down_rtts=rtts[0],
        up_rtts=rtts[1],
        down_rtts_10_pct=near[0],
        up_rtts_10_pct=near[1],
        down_drops=drops[0],
        up_drops=drops[1],
        down_lost_volume=trace.lost_volume(taken, DOWN),
        up_lost_volume=trace.lost_volume(taken, UP),
        down_below_request_s=below[0],
        up_below_request_s=below[1],
        media=worse(map(media_friendliness, jitter, ratio)),
        media_by_spread=worse(map(media_friendliness, jitter, spread)),
        dynamic=worse(dynamic),
    )


def rows(taken: Taken, runs: Iterable[Sequence[Trace]]) -> list[Measures]:
    """A row for each run: of its flows, measure by measure, the worst."""
    return [_combined([row(taken, trace) for trace in flows], max, worse) for flows in runs]


def summary(of: Sequence[Measures]) -> Measures:
    """The median over runs, measure by measure, and the grade of the median run."""
    return _combined(of, lambda values: float(np.median(values)), median_grade)


def _combined(of: Sequence[Measures], measure: object, grade: object) -> Measures:
    assert callable(measure) and callable(grade)
    made = {}
    for column in fields(Measures):
        values = [getattr(one, column.name) for one in of]
        made[column.name] = (grade if isinstance(values[0], str) else measure)(values)
    return Measures(**made)
