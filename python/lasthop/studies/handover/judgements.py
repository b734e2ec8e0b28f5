"""The paper's claims A1 to A20, what was accepted in advance, and how runs fare."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import REPRODUCED, Claim, Judgement, order, verdict
from lasthop.studies.handover.grades import GRADES, PAPER, steps
from lasthop.studies.handover.measured import (
    Adapted,
    Measured,
    jitter_on,
    peak_at,
    spread_on,
    unevenness_on,
)
from lasthop.studies.handover.scenario import END, FAST, HANDOVERS, SLOW
from lasthop.studies.handover.tableone import MECHANISMS, RESERVED

__all__ = ["CLAIMS"]

DOWN, UP = HANDOVERS

#: What round trips count as, so that an infinite median can be told from a finite one.
QUICK, FEW = 15.0, 6.0

#: A tenth of the queue in front of the radio link, in bytes.
SMALL_QUEUE = 6400.0


def _tfrc_drops(data: Measured) -> Judgement:
    drops = data.drops("tfrc", DOWN, UP)
    outside = [] if 60 <= drops.mean <= 120 else [f"{drops.mean:.0f} packets on average"]
    return verdict(outside, f"{drops}", {"tfrc_drops_10_20_s": drops})


def _xcp_drops(data: Measured) -> Judgement:
    drops = data.drops("xcp", 0, END)
    lossy = [trace for trace in data.runs["xcp"] if len(trace.dropped_s)]
    outside = []
    if lossy:
        before = sum(trace.dropped(0, DOWN) for trace in lossy)
        within = sum(trace.dropped(DOWN, UP) for trace in lossy)
        after = sum(trace.dropped(UP, END) for trace in lossy)
        outside.append(
            f"{len(lossy)} of {len(data.runs['xcp'])} runs lose packets: {before} before 10 s, {within} from 10 "
            "to 20 s, "
            f"{after} after"
        )
    return verdict(outside, f"{drops}", {"xcp_drops": drops})


def _few_losses(data: Measured) -> Judgement:
    tcp, tfrc = data.drops("reno", DOWN, UP), data.drops("tfrc", DOWN, UP)
    more = data.paired("tfrc", "reno", lambda trace: trace.dropped(DOWN, UP))
    return order(f"TCP {tcp}, TFRC {tfrc}", {"TFRC − TCP": more}, [], tcp_drops=tcp, tfrc_drops=tfrc)


def _slow_start(data: Measured) -> Judgement:
    share = data.over("reno", lambda trace: trace.slow_start_share())
    outside = [] if share.mean >= 0.5 else [f"{share.mean:.2f} of the lost packets were sent in slow start"]
    return verdict(outside, f"share {share}", {"slow_start_share": share})


def _adaptation(data: Measured, handover: float) -> dict[str, Adapted]:
    return {name: data.adapted(key, handover) for name, key in (("TCP", "reno"), ("XCP", "xcp"), ("TFRC", "tfrc"))}


def _took(adapted: Mapping[str, Adapted]) -> tuple[str, dict[str, Estimate]]:
    ours = ", ".join(f"{name} {one}" for name, one in adapted.items())
    return ours, {f"{name.lower()}_adaptation_rtts": one.mean for name, one in adapted.items()}


def _median(name: str, one: Adapted) -> str:
    if one.median == float("inf"):
        return f"{name} never adapts in {len(one.rtts) - one.adapted} of {len(one.rtts)} runs"
    return f"{name} takes {one.median:.1f} R in the median run"


def _why_tcp_down(data: Measured) -> str:
    """What happens to TCP after the first handover."""
    runs = data.runs["reno"]
    timed_out = sum(bool(((t.timeouts_s >= DOWN) & (t.timeouts_s < UP)).any()) for t in runs)
    lost = data.drops("reno", DOWN, UP)
    window = estimate(t.windows[0] for t in runs)
    return (
        f" (it loses {lost.mean:.0f} packets of a window of {window.mean:.0f}, and the timer expires in "
        f"{timed_out} of {len(runs)} runs)"
    )


def _why_tcp_up(data: Measured) -> str:
    """What holds TCP back after the second handover."""
    window = estimate(t.windows[1] for t in data.runs["reno"])
    path = data.variant.rtt_s(fast=True) * FAST
    return (
        f" (its window is {window.mean:.0f} packets when it comes back to a path of {path:.0f}, and grows by "
        "one a round trip)"
    )


def _adapts_down(data: Measured) -> Judgement:
    adapted = _adaptation(data, DOWN)
    ours, values = _took(adapted)
    why = {"TCP": _why_tcp_down(data), "XCP": ""}
    outside = [_median(name, adapted[name]) + why[name] for name in why if not adapted[name].median <= QUICK]
    slowest = max(adapted["TCP"].median, adapted["XCP"].median)
    if not adapted["TFRC"].median > slowest:
        lost = data.drops("tfrc", DOWN, UP)
        outside.append(
            f"{_median('TFRC', adapted['TFRC'])}, no longer than the slower of TCP and XCP: sending too much fills the "
            f"slow link at once, at the price of {lost.mean:.0f} packets"
        )
    return verdict(outside, ours, values)


def _adapts_up(data: Measured) -> Judgement:
    adapted = _adaptation(data, UP)
    ours, values = _took(adapted)
    why = {"TCP": _why_tcp_up(data), "XCP": " (the rate is taken over 5 R, so an ideal sender reads 4 to 5 R)"}
    outside = [_median(name, adapted[name]) + why[name] for name in why if not adapted[name].median <= FEW]
    if not adapted["TFRC"].median > QUICK:
        outside.append(_median("TFRC", adapted["TFRC"]))
    return verdict(outside, ours, values)


def _after_return(data: Measured) -> Judgement:
    shares = {name: data.over(key, data.share(key, UP, END)) for name, key in
              (("XCP", "xcp"), ("TCP", "reno"), ("TFRC", "tfrc"))}  # fmt: skip
    ours = ", ".join(f"{name} {share}" for name, share in shares.items()) + " of capacity"
    differences = {
        "XCP − TCP": data.paired("xcp", "reno", data.share("xcp", UP, END)),
        "TCP − TFRC": data.paired("reno", "tfrc", data.share("reno", UP, END)),
    }
    low = [] if shares["XCP"].mean >= 0.85 else [f"XCP gets {shares['XCP'].mean:.2f} of capacity"]
    return order(ours, differences, low, **{f"{name.lower()}_share": share for name, share in shares.items()})


def _spread(data: Measured) -> Judgement:
    fast, slow = (data.over("reno", spread_on(fast)) for fast in (True, False))
    ours = f"{fast} on WLAN, {slow} on UMTS"
    values = {"wlan_p95_over_p5": fast, "umts_p95_over_p5": slow}
    outside = []
    for name, one, quick in (("WLAN", fast, True), ("UMTS", slow, False)):
        if not 3 <= one.mean <= 8:
            gapless = data.gapless("reno", fast=quick)
            outside.append(
                f"on {name} packets arrive without a gap, at the link's rate, in {gapless} of "
                f"{len(data.runs['reno'])} runs"
            )
    return verdict(outside, ours, values)


def _steady(data: Measured) -> Judgement:
    outside, parts, values = [], [], {}
    for name, key in (("TFRC", "tfrc"), ("XCP", "xcp")):
        links = {link: data.over(key, jitter_on(fast))
                 for link, fast in (("WLAN", True), ("UMTS", False))}  # fmt: skip
        parts.append(f"{name} " + ", ".join(f"{one.mean:.3f} on {link}" for link, one in links.items()))
        for link, one in links.items():
            values[f"{name.lower()}_{link.lower()}_jitter"] = one
            if not one.mean <= 0.05:
                outside.append(f"{name} {one.mean:.2f} on {link}")
    return verdict(outside, "; ".join(parts), values)


def _peaks(data: Measured) -> Judgement:
    outside, parts, values = [], [], {}
    for name, key in (("TFRC", "tfrc"), ("XCP", "xcp")):
        at = {handover: data.over(key, peak_at(handover)) for handover in HANDOVERS}
        parts.append(f"{name} " + ", ".join(f"{one} × at {handover:.0f} s" for handover, one in at.items()))
        for handover, one in at.items():
            values[f"{name.lower()}_peak_at_{handover:.0f}_s"] = one
            if not one.mean >= 3:
                outside.append(f"{name} {one.mean:.1f} × the median at {handover:.0f} s")
    return verdict(outside, "; ".join(parts), values)


def _alike(data: Measured) -> Judgement:
    pairs = list(zip(data.runs["reno"], data.runs["newreno"], strict=True))
    received = estimate(100 * (b.received(0, END) / a.received(0, END) - 1) for a, b in pairs)
    drops = data.paired("newreno", "reno", lambda trace: trace.dropped(0, END))
    outside = []
    if not abs(received.mean) <= 5:
        outside.append(f"received differ by {received.mean:.1f} %")
    if not abs(drops.mean) <= 5:
        outside.append(f"drops differ by {drops.mean:.1f}")
    values = {"received_difference_pct": received, "drop_difference": drops}
    return verdict(outside, f"received {received} %, drops {drops}", values)


def _small_queue(data: Measured) -> Judgement:
    xcp, tcp = (data.over(key, lambda trace: trace.mean_queue()) for key in ("xcp", "reno"))
    less = data.paired("reno", "xcp", lambda trace: trace.mean_queue())
    large = [] if xcp.mean < SMALL_QUEUE else [f"XCP's mean queue is {number(xcp.mean, 0)} B"]
    return order(f"XCP {xcp} B, TCP {tcp} B", {"TCP − XCP": less}, large, xcp_queue_bytes=xcp, tcp_queue_bytes=tcp)


def _operations(data: Measured) -> Judgement:
    counted = data.counters["xcp"].operations

    def cost(header: str) -> str:
        sums, products = (f"{header}additions", f"{header}multiplications")
        return (
            f"{number(counted[f'{sums}_in'])} + {number(counted[f'{products}_in'])} in, "
            f"{number(counted[f'{products}_out'])} + {number(counted[f'{sums}_out'])} out"
        )

    # The paper's figures are those of the header of Katabi, Handley, Rohrs 2002, which has the window (§3.2): three
    # sums and three products for what comes in (their Appendix A). For what goes out it says "at least".
    paper = {"additions_in": 3.0, "multiplications_in": 3.0, "multiplications_out": 3.0, "additions_out": 1.0}
    least = ("multiplications_out", "additions_out")
    values = {name: Estimate(counted[name], 0.0, 1) for name in (*paper, *(f"window_header_{n}" for n in paper))}
    outside = []
    for name, stated in paper.items():
        found = counted[f"window_header_{name}"]
        if found < stated - 1e-9 or (name not in least and found > stated + 1e-9):
            outside.append(f"{name.replace('_', ' ')}: {number(found)} per packet")
    ours = (
        f"{cost('window_header_')} with the header of the paper, which has the window; {cost('')} with that of ns-2, "
        "which has rtt/cwnd"
    )
    return verdict(outside, ours, values)


def _ewa(data: Measured) -> Judgement:
    ewa, tcp = (data.drops(key, 0, END) for key in ("ewa", "reno"))
    fewer = data.paired("reno", "ewa", lambda trace: trace.dropped(0, END))
    values, differences, parts = {"ewa_drops": ewa, "tcp_drops": tcp}, {"drops TCP − EWA": fewer}, []
    for link, fast in (("WLAN", True), ("UMTS", False)):
        width = data.variant.rtt_s(fast=fast)
        measure = unevenness_on(fast, width)
        parts.append(f"{data.over('ewa', measure)} and {data.over('reno', measure)} on {link}")
        differences[f"variation {link} TCP − EWA"] = data.paired("reno", "ewa", measure)
    ours = f"drops {ewa} and {tcp}; variation of the rate {', '.join(parts)} (EWA and TCP)"
    return order(ours, differences, [], **values)


def _inert(data: Measured) -> Judgement:
    pairs = list(zip(data.runs["ewa-asymmetric"], data.runs["reno-asymmetric"], strict=True))
    same = sum(len(a.received_s) == len(b.received_s) and bool((a.received_s == b.received_s).all()) for a, b in pairs)
    outside = [] if same == len(pairs) else [f"{len(pairs) - same} of {len(pairs)} runs differ"]
    return verdict(outside, f"the same arrivals in {same} of {len(pairs)} runs", {})


def _notified(data: Measured) -> Judgement:
    without, with_ = data.adapted("tfrc-rfc", UP), data.adapted("tfrc-notified", UP)
    drops, later = (data.drops("tfrc-notified", *part) for part in ((DOWN, UP), (UP, END)))
    before, hinted = data.drops("tfrc-rfc", DOWN, UP), data.drops("tfrc-hint", DOWN, UP)
    ours = f"at 20 s {without} without notice, {with_} with; drops from 10 to 20 s {before} and {drops}"
    outside = []
    # If neither ever adapts there is nothing to compare.
    if not (with_.median <= without.median / 3 and np.isfinite(with_.median)):
        outside.append(
            f"at 20 s {_median('TFRC', without)} without notice; with it {_median('TFRC', with_)}, "
            f"and {later.mean:.0f} packets are lost after 20 s as it starts anew"
        )
    if not drops.mean <= 10:
        outside.append(
            f"{drops.mean:.1f} drops from 10 to 20 s with notice, {before.mean:.1f} without; "
            f"{hinted.mean:.1f} if the notice also tells the new link's rate"
        )
    values = {"rtts_without": without.mean, "rtts_with": with_.mean, "drops_without": before, "drops_with": drops}
    return verdict(outside, ours, values)


def _cost(data: Measured) -> Judgement:
    signals = {key: data.signals(key) for key in RESERVED}
    gaps = {key: data.gap_ms(key) for key in RESERVED}
    ours = "; ".join(f"{MECHANISMS[key]} {signals[key]} packets, gap {gaps[key]} ms" for key in RESERVED)
    outside = [f"{MECHANISMS[key]} signals nothing at a handover" for key in RESERVED if not signals[key].mean > 0]
    if not gaps["intserv"].mean >= gaps["diffserv"].mean:
        outside.append("IntServ's gap is shorter than DiffServ's")
    if not gaps["diffserv"].mean > gaps["swan"].mean:
        outside.append("DiffServ's gap is no longer than SWAN's")
    values = {f"{key}_packets": one for key, one in signals.items()}
    values |= {f"{key}_gap_ms": one for key, one in gaps.items()}
    return verdict(outside, ours, values)


def _table(data: Measured) -> Judgement:
    ours = data.grades()
    differ = []
    for key, name in MECHANISMS.items():
        for column, mine, theirs in zip(("media", "scalability", "dynamic"), ours[key], PAPER[key], strict=True):
            if off := steps(mine, theirs):
                differ.append((abs(off), f"{name} {column}: {mine}, paper {theirs}"))
    equal, near = 21 - len(differ), sum(off == 1 for off, _ in differ)
    text = f"{equal} equal, {near} one step off, {len(differ) - near} further"
    said = [text for _, text in differ]
    if any(f"{MECHANISMS[key]} media" in one for one in said for key in RESERVED):
        said.append(
            f"(in the crowd a voice frame, one every 20 ms, waits up to {1e3 / SLOW:.1f} ms on UMTS while one "
            "packet of 1000 B is sent)"
        )
    return verdict(said, text, {})


def _scalability(data: Measured) -> Judgement:
    ours = {key: grades[1] for key, grades in data.grades().items()}
    outside = [
        f"{MECHANISMS[one]} {ours[one]} is not above {MECHANISMS[other]} {ours[other]}"
        for one in MECHANISMS
        for other in MECHANISMS
        if steps(PAPER[one][1], PAPER[other][1]) > 0 and steps(ours[one], ours[other]) <= 0
    ]
    ranked = [
        f"{', '.join(MECHANISMS[key] for key in MECHANISMS if ours[key] == grade)} {grade}"
        for grade in reversed(GRADES)
        if grade in ours.values()
    ]
    return verdict(outside, "; ".join(ranked), {})


def _inexact(data: Measured) -> Judgement:
    known = data.single("xcp").dynamic
    modes = {"stale": "xcp-stale", "late": "xcp-late", "measured": "xcp-measured"}
    graded = {name: data.single(key).dynamic for name, key in modes.items()}
    ours = f"known {known}; " + ", ".join(f"{name} {grade}" for name, grade in graded.items())
    outside = [f"{name} capacity: still very high" for name in ("stale", "measured") if graded[name] == "very high"]
    if not outside and (same := [name for name, grade in graded.items() if grade == known]):
        return Judgement(REPRODUCED, ours, {}, f"{' and '.join(same)} capacity costs no grade")
    return verdict(outside, ours, {})


SIGN = "the order is claimed, no number"

CLAIMS: list[Claim[Measured]] = [
    Claim(
        "A1", "V-A", "TFRC loses approximately 90 packets on the slower link", "≈ 90",
        "60–120, mean of 20 start times",
        "a third either way: the figure is read off one run; the delays were chosen by looking at it",
        _tfrc_drops, see="figure-3b", fitted=True,
    ),
    Claim(
        "A2", "V-A", "XCP does not suffer any packet loss", "0", "0",
        "the paper says none; the delays were chosen by looking at it", _xcp_drops, see="figure-3b", fitted=True,
    ),
    Claim(
        "A3", "V-A", "TCP loses fewer packets than TFRC on the slower link", "TCP < TFRC", "sign, paired", SIGN,
        _few_losses, see="figure-3b",
    ),
    Claim(
        "A4", "V-A", "Most TCP losses occur in the slow-start phase", "most", "share ≥ 0.5",
        "“most” is more than half; a loss counts by the sender's state when it sent the packet",
        _slow_start, see="figure-3b",
    ),
    Claim(
        "A5", "V-A", "At 10 s TCP and XCP adapt their rate quickly, TFRC does not", "TCP, XCP quick",
        "median run ≤ 15 R of the new path; TFRC longer than both", "the grade “high” of dynamic behaviour ends "
        "at 15 R",
        _adapts_down, see="figure-3a",
    ),
    Claim(
        "A6", "V-A", "At 20 s XCP and TCP take only a few RTTs to adapt, TFRC is slow", "a few RTT",
        "median run ≤ 6 R each; TFRC > 15 R", "“a few” on top of the window of 5 R over which the rate is measured",
        _adapts_up, see="figure-3a",
    ),
    Claim(
        "A7", "V-A", "Received after 20 s: XCP more than TCP, TCP more than TFRC", "XCP > TCP > TFRC",
        "order, paired; XCP ≥ 0.85 of capacity", SIGN, _after_return, see="figure-3a",
    ),
    Claim(
        "A8", "V-B", "With TCP consecutive inter-packet intervals may vary in a range of 5", "5",
        "P95/P5 from 3 to 8, on WLAN and on UMTS",
        "a factor read off a plot; percentiles, because one gap would decide a ratio of extremes",
        _spread, see="figure-4b",
    ),
    Claim(
        "A9", "V-B", "With TFRC and XCP jitter is near 0 outside handovers", "≈ 0",
        "median jitter / median interval ≤ 0.05, on WLAN and on UMTS",
        "a twentieth of an interval is not seen in the plot", _steady, see="figure-4a",
    ),
    Claim(
        "A10", "V-B", "… but not at the handovers", "peaks", "largest interval within 1 s ≥ 3 × median, at both",
        "a peak that is seen in the plot", _peaks, see="figure-4c",
    ),
    Claim(
        "A11", "V", "NewReno shows no significant differences from Reno", "alike",
        "received ± 5 %, drops ± 5, paired by start time", "what would not be seen in Fig. 3", _alike, see="figure-3a",
    ),
    Claim(
        "A12", "III", "XCP maintains small queues", "small", "mean < 10 % of the buffer, and < TCP's",
        "a tenth of the buffer is 0.13 s on UMTS", _small_queue,
    ),
    Claim(
        "A13", "III", "XCP takes three sums and three multiplications per incoming packet, at least three "
        "multiplications and one sum per outgoing one", "3 + 3 in, at least 3 + 1 out",
        "exact in, at least that out; with the header of the paper",
        "operations are counted; for what goes out the paper gives the least", _operations,
    ),
    Claim(
        "A14", "VI", "With EWA fewer losses should occur, and the rate is steadier than TCP's", "fewer, steadier",
        "sign, paired; steadier: variation of the packets received in each round trip, on WLAN and on UMTS", SIGN, _ewa,
        see="figure-4d",
    ),
    Claim(
        "A15", "III", "EWA requires that forward and reverse path are the same", "no effect otherwise",
        "the same trajectory as TCP's", "a router that sees no acknowledgement changes nothing", _inert,
    ),
    Claim(
        "A16", "VI", "Notice of the link change would improve TFRC's dynamic behaviour", "better",
        "time to adapt at 20 s ≤ ⅓; drops ≤ 10", "an improvement that decides the grade", _notified,
        see="figure-notification",
    ),
    Claim(
        "A17", "II", "A handover costs reservation schemes signalling and a gap", "costs",
        "> 0 packets, gap IntServ ≥ DiffServ > SWAN", SIGN, _cost,
    ),
    Claim(
        "A18", "Table I", "The 21 grades of Table I", "21 grades", "equal; one step off is said",
        "grades come from measures by thresholds fixed in advance", _table, see="figure-grades",
    ),
    Claim(
        "A19", "Table I", "The order of scalability", "TCP > TFRC, EWA > XCP, DiffServ, SWAN > "
        "IntServ", "the paper's order",
        "from counters of state and operations", _scalability,
    ),
    Claim(
        "A20", "VI", "XCP without exact capacity degrades", "worse", "grade below “very high”",
        "capacity stale or measured", _inexact, see="figure-capacity",
    ),
]  # fmt: skip

assert [claim.id for claim in CLAIMS] == [f"A{n}" for n in range(1, 21)]
