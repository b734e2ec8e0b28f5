"""What the paper says of how mechanisms adapt to a handover (§V-A, §VI): A5, A6, A7, A16, A20."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, fact, judged, within

from ..data import Adapted, Data, instead
from ..readings import FAST
from ..scenario import END, HANDOVERS

DOWN, UP = HANDOVERS

NAMES = {"TCP": "reno", "XCP": "xcp", "TFRC": "tfrc"}

#: What the queue in front of the radio link takes, in packets.
QUEUE = 64.0

#: Round trips that are "a few".
FEW = 5.0

#: Round trips that were "quick" and "a few" at first, with the 5 R over which the rate is taken.
QUICK_WITH_WINDOW, FEW_WITH_WINDOW = 15.0, 6.0

#: What XCP's routers know of the capacity, beside all of it at once.
INEXACT = {"one second late": "xcp-late", "never told": "xcp-stale", "measured": "xcp-measured"}


def _adapts_down(data: Data) -> Judgement:
    beyond = {name: data.over(key, lambda trace: trace.excess()) for name, key in NAMES.items()}
    more = {name: data.paired("tfrc", NAMES[name], lambda trace: trace.excess()) for name in ("TCP", "XCP")}
    adapted = {name: data.adapted(key, DOWN, window=False) for name, key in NAMES.items()}
    ours = ", ".join(f"{name} {one}" for name, one in beyond.items())
    rates = ", ".join(f"{name} {one}" for name, one in adapted.items())
    return judged(
        f"packets sent beyond the capacity: {ours}; until the receive rate is the new one: {rates}",
        *(within(f"packets {name} sends beyond the capacity", beyond[name], 0, QUEUE) for name in ("TCP", "XCP")),
        *(above(f"the same, TFRC − {name}", one) for name, one in more.items()),
        **{f"{name.lower()}_beyond": one for name, one in beyond.items()},
    )


def _with_window(data: Data, handover: float) -> tuple[str, Mapping[str, Estimate]]:
    took = {name: data.adapted(key, handover, window=True) for name, key in NAMES.items()}
    return ", ".join(f"{name} {one}" for name, one in took.items()), {name: one.median for name, one in took.items()}


def _adapts_down_formerly(data: Data) -> Judgement:
    ours, median = _with_window(data, DOWN)
    return judged(
        ours,
        *(within(f"R until {name} has adapted", median[name], 0, QUICK_WITH_WINDOW) for name in ("TCP", "XCP")),
        *(fact(f"TFRC takes longer than {name}", median["TFRC"].mean > median[name].mean) for name in ("TCP", "XCP")),
    )


def _adapts_up(data: Data) -> Judgement:
    took = {name: data.adapted(key, UP, window=False) for name, key in NAMES.items()}
    median = {name: one.median for name, one in took.items()}
    return judged(
        ", ".join(f"{name} {one}" for name, one in took.items()),
        *(within(f"R until {name} has adapted, median run", median[name], 0, FEW) for name in ("XCP", "TCP")),
        *(above(f"the same, TFRC − {name}", _longer(took["TFRC"], took[name])) for name in ("XCP", "TCP")),
        **{f"{name.lower()}_rtts": one for name, one in median.items()},
    )


def _longer(one: Adapted, other: Adapted) -> Estimate:
    """By how many round trips, paired by start time."""
    return estimate(a - b for a, b in zip(one.counted, other.counted, strict=True))


def _adapts_up_formerly(data: Data) -> Judgement:
    ours, median = _with_window(data, UP)
    return judged(
        ours,
        *(within(f"R until {name} has adapted", median[name], 0, FEW_WITH_WINDOW) for name in ("XCP", "TCP")),
        above("R until TFRC has adapted", median["TFRC"], QUICK_WITH_WINDOW),
    )


def _why_slow_up(data: Data) -> str:
    """What holds TCP back after the second handover."""
    window = data.over("reno", lambda trace: trace.windows[1])
    path = data.taken.rtt_s(fast=True) * FAST
    return (
        f"TCP comes back with a window of {window.mean:.0f} packets to a path of {path:.0f}, and adds one a round "
        "trip. It is quick only where the path holds no more than the window, and there it fills the path as XCP "
        "does, against A7"
    )


def _after_return(data: Data) -> Judgement:
    share = data.share(UP, END)
    shares = {name: data.over(key, share) for name, key in NAMES.items()}
    return judged(
        ", ".join(f"{name} {shares[name]}" for name in ("XCP", "TCP", "TFRC")) + " of capacity",
        above("share of capacity from 20 to 30 s, XCP − TCP", data.paired("xcp", "reno", share)),
        above("the same, TCP − TFRC", data.paired("reno", "tfrc", share)),
        within("XCP's share of capacity from 20 to 30 s", shares["XCP"], 0.85, inf),
        **{f"{name.lower()}_share": one for name, one in shares.items()},
    )


def _notified(data: Data) -> Judgement:
    share = data.share(UP, END)
    gained = data.paired("tfrc-notified", "tfrc-rfc", share)
    fewer = data.paired("tfrc-rfc", "tfrc-notified", lambda trace: trace.dropped(DOWN, UP))
    without, told = data.over("tfrc-rfc", share), data.over("tfrc-notified", share)
    lost, lost_told = data.drops("tfrc-rfc", DOWN, UP), data.drops("tfrc-notified", DOWN, UP)
    return judged(
        f"TFRC of RFC 5348: {without} of capacity from 20 to 30 s without notice, {told} with; drops from 10 to 20 s "
        f"{lost} and {lost_told}",
        above("share of capacity from 20 to 30 s, with notice − without", gained),
        above("drops from 10 to 20 s, without notice − with", fewer),
        share_without=without,
        share_with=told,
        drops_without=lost,
        drops_with=lost_told,
    )


def _notified_formerly(data: Data) -> Judgement:
    without, told = (data.adapted(key, UP, window=True) for key in ("tfrc-rfc", "tfrc-notified"))
    drops = data.drops("tfrc-notified", DOWN, UP)
    return judged(
        f"TFRC of RFC 5348: at 20 s {without} without notice, {told} with; {drops} drops from 10 to 20 s with notice",
        fact(
            "with notice it takes at most a third of the round trips at 20 s",
            told.median.mean < told.most and told.median.mean <= without.median.mean / 3,
        ),
        within("drops from 10 to 20 s with notice", drops, 0, 10),
    )


def _inexact(data: Data) -> Judgement:
    exact_waste = data.over("xcp", lambda trace: trace.waste(DOWN, END))
    more = {name: data.paired(key, "xcp", lambda trace: trace.waste(DOWN, END)) for name, key in INEXACT.items()}
    grades = {name: data.single(key).dynamic for name, key in {"known": "xcp", **INEXACT}.items()}
    return judged(
        f"packets not carried or dropped, {exact_waste} if known; more: "
        + ", ".join(f"{one} {name}" for name, one in more.items())
        + "; grades: "
        + ", ".join(f"{name} {grade}" for name, grade in grades.items()),
        *(above(f"packets not carried or dropped from 10 to 30 s, {name} − known", one) for name, one in more.items()),
        known=exact_waste,
    )


def _inexact_formerly(data: Data) -> Judgement:
    grades = {name: data.single(INEXACT[name]).dynamic for name in ("never told", "measured")}
    return judged(
        ", ".join(f"{name} {grade}" for name, grade in grades.items()),
        *(fact(f"{name} capacity is graded below “very high”", grade != "very high") for name, grade in grades.items()),
    )


def _why_not_worse(data: Data) -> str:
    best = min(INEXACT, key=lambda name: data.paired(INEXACT[name], "xcp", lambda one: one.waste(DOWN, END)).mean)
    less = data.paired("xcp", INEXACT[best], lambda trace: trace.waste(DOWN, END))
    return (
        f"routers that have the capacity {best} waste {less} packets less than those that know it; in this scenario "
        "one flow keeps its link busy, and then the rate at which a link sends is its capacity"
    )


JUDGES: Judges[Data] = {
    "A5": Judge(_adapts_down, null=instead({"reno": "tfrc", "xcp": "tfrc"}), former=_adapts_down_formerly),
    "A6": Judge(
        _adapts_up,
        null=instead({"reno": "tfrc", "xcp": "tfrc"}),
        former=_adapts_up_formerly,
        cause=_why_slow_up,
    ),
    "A7": Judge(_after_return, null=instead({"xcp": "tfrc", "tfrc": "xcp"})),
    "A16": Judge(_notified, null=instead({"tfrc-notified": "tfrc-rfc"}), former=_notified_formerly),
    "A20": Judge(
        _inexact,
        null=instead(dict.fromkeys(INEXACT.values(), "xcp")),
        former=_inexact_formerly,
        cause=_why_not_worse,
    ),
}
