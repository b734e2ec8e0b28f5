"""What the paper says of how mechanisms adapt to a handover (§V-A, §VI): A5, A6, A7, A16, A20."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, fact, judged, within
from lasthop.studies.handover.measured import Adapted, Measured
from lasthop.studies.handover.scenario import END, FAST, HANDOVERS

__all__ = ["CLAIMS"]

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


def _adapts_down(data: Measured) -> Judgement:
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


def _with_window(data: Measured, handover: float) -> tuple[str, Mapping[str, Estimate]]:
    took = {name: data.adapted(key, handover, window=True) for name, key in NAMES.items()}
    return ", ".join(f"{name} {one}" for name, one in took.items()), {name: one.median for name, one in took.items()}


def _adapts_down_formerly(data: Measured) -> Judgement:
    ours, median = _with_window(data, DOWN)
    return judged(
        ours,
        *(within(f"R until {name} has adapted", median[name], 0, QUICK_WITH_WINDOW) for name in ("TCP", "XCP")),
        *(fact(f"TFRC takes longer than {name}", median["TFRC"].mean > median[name].mean) for name in ("TCP", "XCP")),
    )


def _adapts_up(data: Measured) -> Judgement:
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


def _adapts_up_formerly(data: Measured) -> Judgement:
    ours, median = _with_window(data, UP)
    return judged(
        ours,
        *(within(f"R until {name} has adapted", median[name], 0, FEW_WITH_WINDOW) for name in ("XCP", "TCP")),
        above("R until TFRC has adapted", median["TFRC"], QUICK_WITH_WINDOW),
    )


def _why_slow_up(data: Measured) -> str:
    """What holds TCP back after the second handover."""
    window = data.over("reno", lambda trace: trace.windows[1])
    path = data.variant.rtt_s(fast=True) * FAST
    return (
        f"TCP comes back with a window of {window.mean:.0f} packets to a path of {path:.0f}, and adds one a round "
        "trip. It is quick only where the path holds no more than the window, and there it fills the path as XCP "
        "does, against A7"
    )


def _after_return(data: Measured) -> Judgement:
    share = data.share(UP, END)
    shares = {name: data.over(key, share) for name, key in NAMES.items()}
    return judged(
        ", ".join(f"{name} {shares[name]}" for name in ("XCP", "TCP", "TFRC")) + " of capacity",
        above("share of capacity from 20 to 30 s, XCP − TCP", data.paired("xcp", "reno", share)),
        above("the same, TCP − TFRC", data.paired("reno", "tfrc", share)),
        within("XCP's share of capacity from 20 to 30 s", shares["XCP"], 0.85, inf),
        **{f"{name.lower()}_share": one for name, one in shares.items()},
    )


def _notified(data: Measured) -> Judgement:
    share = data.share(UP, END)
    gained = data.paired("tfrc-notified", "tfrc-rfc", share)
    fewer = data.paired("tfrc-rfc", "tfrc-notified", lambda trace: trace.dropped(DOWN, UP))
    without, told = data.over("tfrc-rfc", share), data.over("tfrc-notified", share)
    lost, lost_told = data.drops("tfrc-rfc", DOWN, UP), data.drops("tfrc-notified", DOWN, UP)
    return judged(
        f"{without} of capacity from 20 to 30 s without notice, {told} with; drops from 10 to 20 s {lost} and "
        f"{lost_told}",
        above("share of capacity from 20 to 30 s, with notice − without", gained),
        above("drops from 10 to 20 s, without notice − with", fewer),
        share_without=without,
        share_with=told,
        drops_without=lost,
        drops_with=lost_told,
    )


def _notified_formerly(data: Measured) -> Judgement:
    without, told = (data.adapted(key, UP, window=True) for key in ("tfrc-rfc", "tfrc-notified"))
    drops = data.drops("tfrc-notified", DOWN, UP)
    return judged(
        f"at 20 s {without} without notice, {told} with; {drops} drops from 10 to 20 s with notice",
        fact(
            "with notice it takes at most a third of the round trips at 20 s",
            told.median.mean < told.most and told.median.mean <= without.median.mean / 3,
        ),
        within("drops from 10 to 20 s with notice", drops, 0, 10),
    )


def _inexact(data: Measured) -> Judgement:
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


def _inexact_formerly(data: Measured) -> Judgement:
    grades = {name: data.single(INEXACT[name]).dynamic for name in ("never told", "measured")}
    return judged(
        ", ".join(f"{name} {grade}" for name, grade in grades.items()),
        *(fact(f"{name} capacity is graded below “very high”", grade != "very high") for name, grade in grades.items()),
    )


def _why_not_worse(data: Measured) -> str:
    best = min(INEXACT, key=lambda name: data.paired(INEXACT[name], "xcp", lambda one: one.waste(DOWN, END)).mean)
    less = data.paired("xcp", INEXACT[best], lambda trace: trace.waste(DOWN, END))
    return (
        f"routers that have the capacity {best} waste {less} packets less than those that know it; in this scenario "
        "one flow keeps its link busy, and then the rate at which a link sends is its capacity"
    )


CLAIMS: Sequence[Claim[Measured]] = [
    Claim(
        "A5",
        "V-A",
        "We can observe in Fig. 3(b) that the TFRC source fails to quickly adapt its sending rate to the lower "
        "available bandwidth … Both TCP and XCP succeed in quickly adapting their rate.",
        "At 10 s TCP and XCP adapt their sending rate quickly, TFRC does not",
        "TCP, XCP quick",
        "data packets that the source sends in the first 2 s after 10 s beyond what the new link can carry then; "
        "mean of the start times",
        "TCP and XCP up to 64; TFRC − TCP and TFRC − XCP above 0, paired",
        "the paper speaks of the sending rate and takes drops for its measure: what the queue of 64 kB takes in "
        "costs none",
        _adapts_down,
        Null(
            "TFRC's runs in the place of TCP's and XCP's: no difference",
            lambda d: d.replaced({"reno": "tfrc", "xcp": "tfrc"}),
        ),
        former=Former(
            "median run ≤ 15 R of the new path until the receive rate is within 20 % of the new capacity; TFRC "
            "longer than both",
            "behind a full link the receive rate is the link's, whatever the source sends",
            _adapts_down_formerly,
        ),
        see="figure-3b",
        cause="what a source sends in the first round trip after the handover was released by what it heard before",
    ),
    Claim(
        "A6",
        "V-A",
        "again TFRC is slow adapting to new network conditions, now in the case of an handover from a slower to a "
        "faster link … XCP and TCP take only a few RTT's to adapt.",
        "At 20 s XCP and TCP take only a few RTTs to adapt, TFRC is slow",
        "a few RTT",
        "round trips of the new path from the handover until the receive rate is within 20 % of the new capacity "
        "and stays so for 10 R, less the window of 5 R over which the rate is taken; median of the start times; "
        "never counts as 10 s",
        "XCP and TCP up to 5 R; TFRC − XCP and TFRC − TCP above 0, paired",
        "doubling once a round trip takes log₂ 10 = 3.3 of them to ten times the rate, and one for the first "
        "answer: no sender without explicit feedback can do with less",
        _adapts_up,
        Null(
            "TFRC's runs in the place of TCP's and XCP's: no difference",
            lambda d: d.replaced({"reno": "tfrc", "xcp": "tfrc"}),
        ),
        former=Former(
            "median run ≤ 6 R each, the window over which the rate is taken included; TFRC > 15 R",
            "the window is 5 R by itself, so that 1 R was left for “a few”",
            _adapts_up_formerly,
        ),
        see="figure-3a",
        cause=_why_slow_up,
    ),
    Claim(
        "A7",
        "V-A",
        "again TFRC is slow adapting to new network conditions … It is also noticeable that XCP's resultant rate is "
        "more accurate at using the path's full capacity.",
        "Received after 20 s: XCP more than TCP, TCP more than TFRC",
        "XCP > TCP > TFRC",
        "packets received from 20 to 30 s as a share of what the link can carry, in pairs of equal start time",
        "XCP − TCP and TCP − TFRC above 0; XCP at least 0.85",
        "the order is claimed; “full capacity” leaves XCP what it takes to come back",
        _after_return,
        Null(
            "XCP's and TFRC's runs exchanged: the order is the other way round",
            lambda d: d.replaced({"xcp": "tfrc", "tfrc": "xcp"}),
        ),
        see="figure-3a",
        cause="TCP comes back to a path that holds no more than its window, and uses it as fully as XCP",
    ),
    Claim(
        "A16",
        "VI",
        "It is clear that TFRC could benefit from cross-layer optimizations like the notice of link changes, which "
        "would reset the congestion state of the TFRC algorithm, resulting in a better *Dynamic Behaviour*.",
        "Notice of the link change improves TFRC's dynamic behaviour",
        "better",
        "share of capacity received from 20 to 30 s, and drops from 10 to 20 s, with notice and without, in pairs "
        "of equal start time",
        "more received and fewer dropped",
        "“better” is a sign; the two are the paper's yardsticks of dynamic behaviour",
        _notified,
        Null(
            "the runs without notice in the place of those with it", lambda d: d.replaced({"tfrc-notified": "tfrc-rfc"})
        ),
        former=Former(
            "at 20 s at most a third of the time to adapt; at most 10 drops from 10 to 20 s",
            "the paper says “better”, and gives no size",
            _notified_formerly,
        ),
        see="figure-notification",
        cause="a reset of the congestion state does not tell the new rate: TFRC starts anew, and overruns the slow "
        "link again",
    ),
    Claim(
        "A20",
        "III",
        "One drawback of XCP, is that an XCP router needs to know the capacity of its outgoing links",
        "XCP without exact capacity degrades",
        "worse",
        "packets from 10 to 30 s that the links could have carried and did not, and packets dropped; routers that "
        "hear of the capacity one second late, never, or measure it, against those that know it, in pairs of equal "
        "start time",
        "more with each of the three",
        "“needs to know” means that each other way costs something",
        _inexact,
        Null(
            "the runs with known capacity in the place of the others",
            lambda d: d.replaced(dict.fromkeys(INEXACT.values(), "xcp")),
        ),
        former=Former(
            "grade of dynamic behaviour below “very high” with capacity stale and measured",
            "with known capacity the grade is below “very high” too, so that this could hardly fail",
            _inexact_formerly,
        ),
        see="figure-capacity",
        cause=_why_not_worse,
    ),
]
