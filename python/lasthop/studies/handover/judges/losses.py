"""What the paper says of losses (§V-A, Fig. 3b): A1 to A4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lasthop.stats import exact
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, judged, within

from ..data import Data, instead
from ..scenario import END, HANDOVERS

DOWN, UP = HANDOVERS


def _tfrc_drops(data: Data) -> Judgement:
    drops = data.drops("tfrc", DOWN, UP)
    return judged(f"{drops}", within("packets of TFRC dropped from 10 to 20 s", drops, 60, 120))


def _xcp_drops(data: Data) -> Judgement:
    total = sum(trace.dropped(0, END) for trace in data.runs["xcp"])
    parts = [data.drops("xcp", *part) for part in ((0, DOWN), (DOWN, UP), (UP, END))]
    lossy = sum(trace.dropped(0, END) > 0 for trace in data.runs["xcp"])
    return judged(
        f"{lossy} of {len(data.runs['xcp'])} runs lose packets: {parts[0]} before 10 s, {parts[1]} from 10 to 20 s, "
        f"{parts[2]} after",
        # A count of all runs together: the paper says "any".
        within("packets of XCP dropped in all runs together", exact(total), 0, 0),
    )


def _fewer(data: Data) -> Judgement:
    tcp, tfrc = data.drops("reno", DOWN, UP), data.drops("tfrc", DOWN, UP)
    more = data.paired("tfrc", "reno", lambda trace: trace.dropped(DOWN, UP))
    return judged(f"TCP {tcp}, TFRC {tfrc}", above("drops from 10 to 20 s, TFRC − TCP", more), tcp=tcp, tfrc=tfrc)


def _slow_start(data: Data) -> Judgement:
    share = data.over("reno", lambda trace: trace.slow_start_share())
    return judged(f"share {share}", above("share of TCP's losses that were sent in slow start", share, 0.5))


def _by_turns(data: Data) -> Data:
    turned = [replace(one, in_slow_start=np.arange(len(one.in_slow_start)) % 2 > 0) for one in data.runs["reno"]]
    return replace(data, runs={**data.runs, "reno": turned})


def _why_not_in_slow_start(data: Data) -> str:
    drops = data.drops("reno", 0, END)
    first = data.over("reno", lambda trace: trace.dropped(0, DOWN))
    return (
        f"of {drops.mean:.0f} packets that TCP loses in a run, {first.mean:.0f} are lost before the first handover; "
        "the handover itself overflows the queue with a window that was grown in congestion avoidance"
    )


JUDGES: Judges[Data] = {
    "A1": Judge(_tfrc_drops, null=instead({"tfrc": "reno"})),
    "A2": Judge(_xcp_drops, null=instead({"xcp": "reno"})),
    "A3": Judge(_fewer, null=instead({"tfrc": "reno"})),
    "A4": Judge(_slow_start, null=_by_turns, cause=_why_not_in_slow_start),
}
