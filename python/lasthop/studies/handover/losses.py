"""What the paper says of losses (§V-A, Fig. 3b): A1 to A4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lasthop.stats import exact
from lasthop.studies.claims import Claim, Null
from lasthop.studies.conditions import Judgement, above, judged, within
from lasthop.studies.handover.measured import Measured
from lasthop.studies.handover.readings import AT_FITTED_DELAY
from lasthop.studies.handover.scenario import END, HANDOVERS

__all__ = ["CLAIMS"]

DOWN, UP = HANDOVERS

FITTED = "the delay of 70 ms on WLAN was chosen by looking at A1 and A2"


def _tfrc_drops(data: Measured) -> Judgement:
    drops = data.drops("tfrc", DOWN, UP)
    return judged(f"{drops}", within("packets of TFRC dropped from 10 to 20 s", drops, 60, 120))


def _xcp_drops(data: Measured) -> Judgement:
    total = sum(trace.dropped(0, END) for trace in data.runs["xcp"])
    parts = [data.drops("xcp", *part) for part in ((0, DOWN), (DOWN, UP), (UP, END))]
    lossy = sum(trace.dropped(0, END) > 0 for trace in data.runs["xcp"])
    return judged(
        f"{lossy} of {len(data.runs['xcp'])} runs lose packets: {parts[0]} before 10 s, {parts[1]} from 10 to 20 s, "
        f"{parts[2]} after",
        # A count of all runs together: the paper says "any".
        within("packets of XCP dropped in all runs together", exact(total), 0, 0),
    )


def _fewer(data: Measured) -> Judgement:
    tcp, tfrc = data.drops("reno", DOWN, UP), data.drops("tfrc", DOWN, UP)
    more = data.paired("tfrc", "reno", lambda trace: trace.dropped(DOWN, UP))
    return judged(f"TCP {tcp}, TFRC {tfrc}", above("drops from 10 to 20 s, TFRC − TCP", more), tcp=tcp, tfrc=tfrc)


def _slow_start(data: Measured) -> Judgement:
    share = data.over("reno", lambda trace: trace.slow_start_share())
    return judged(f"share {share}", above("share of TCP's losses that were sent in slow start", share, 0.5))


def _by_turns(data: Measured) -> Measured:
    turned = [replace(one, in_slow_start=np.arange(len(one.in_slow_start)) % 2 > 0) for one in data.runs["reno"]]
    return replace(data, runs={**data.runs, "reno": turned})


def _why_not_in_slow_start(data: Measured) -> str:
    drops = data.drops("reno", 0, END)
    first = data.over("reno", lambda trace: trace.dropped(0, DOWN))
    return (
        f"of {drops.mean:.0f} packets that TCP loses in a run, {first.mean:.0f} are lost before the first handover; "
        "the handover itself overflows the queue with a window that was grown in congestion avoidance"
    )


CLAIMS: Sequence[Claim[Measured]] = [
    Claim(
        "A1",
        "V-A",
        "We can observe in Fig. 3(b) that the TFRC source fails to quickly adapt its sending rate to the lower "
        "available bandwidth … in the slower link (UMTS), which causes that approximately 90 packets are discarded",
        "TFRC loses about 90 packets on the slower link",
        "≈ 90",
        "data packets dropped by the network from 10 to 20 s; mean of the start times",
        "60 to 120",
        "a third either way: the figure is that of one run, read off a plot",
        _tfrc_drops,
        Null(
            "TCP's runs in the place of TFRC's: the paper says that these lose fewer",
            lambda d: d.replaced({"tfrc": "reno"}),
        ),
        fitted=FITTED,
        fitted_at=AT_FITTED_DELAY,
        see="figure-3b",
        cause="how long TFRC overruns the slow link follows from the delay, which the paper does not give, and from "
        "what becomes of the packets in flight",
    ),
    Claim(
        "A2",
        "V-A",
        "XCP which uses explicit quantitative feedback does not suffer any packet loss.",
        "XCP loses nothing",
        "0",
        "data packets dropped by the network, in all runs together",
        "0",
        "the paper says: not any",
        _xcp_drops,
        Null(
            "TCP's runs in the place of XCP's: TCP finds the capacity by losing packets",
            lambda d: d.replaced({"xcp": "reno"}),
        ),
        fitted=FITTED,
        fitted_at=AT_FITTED_DELAY,
        see="figure-3b",
        cause="what XCP has under way on WLAN comes to the slow link within one delay, and overflows the queue "
        "where the path holds more than 64 kB; that depends on the delay, which the paper does not give",
    ),
    Claim(
        "A3",
        "V-A",
        "the TFRC source fails to quickly adapt its sending rate … Both TCP and XCP succeed in quickly adapting "
        "their rate.",
        "TCP loses fewer packets than TFRC on the slower link",
        "TCP < TFRC",
        "data packets dropped from 10 to 20 s, in pairs of equal start time",
        "TFRC − TCP above 0",
        "the order is claimed, no number; Fig. 3b is the paper's yardstick",
        _fewer,
        Null("TCP's runs in the place of TFRC's: no difference", lambda d: d.replaced({"tfrc": "reno"})),
        see="figure-3b",
        cause="with this answer TFRC loses no more than TCP",
    ),
    Claim(
        "A4",
        "V-A",
        "Most TCP losses occur in the *slow start* phase, when TCP is probing the network for available capacity",
        "Most of TCP's losses occur in slow start",
        "most",
        "share of the dropped packets that were sent while the window was below the slow-start threshold; mean of "
        "the start times",
        "above 0.5",
        "“most” is more than half; the sender's state when it sent the packet decides",
        _slow_start,
        Null("every second loss of TCP counts for slow start, as if by the toss of a coin", _by_turns),
        see="figure-3b",
        cause=_why_not_in_slow_start,
    ),
]
