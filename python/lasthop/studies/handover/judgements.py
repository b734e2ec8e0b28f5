"""The paper's claims A1 to A20, what was accepted in advance, and how runs fare."""

from __future__ import annotations

from lasthop.stats import Estimate
from lasthop.studies.claims import NOT_COMPARABLE, NOT_REPRODUCED, REPRODUCED, Claim, Judgement
from lasthop.studies.handover.measures import Measured
from lasthop.studies.handover.scenario import HANDOVERS

__all__ = ["CLAIMS"]

NO_TFRC = "TFRC not built yet"
NO_XCP = "XCP not built yet"
NEITHER = "TFRC or XCP not built yet"

DOWN, UP = HANDOVERS


def _tcp_only(ours: str, **values: Estimate) -> Judgement:
    return Judgement(NOT_COMPARABLE, ours, values, NEITHER)


def _few_losses(data: Measured) -> Judgement:
    drops = data.drops(DOWN, UP)
    return _tcp_only(f"TCP {drops}", tcp_drops_10_20_s=drops)


def _slow_start(data: Measured) -> Judgement:
    share = data.slow_start_share()
    good = share.mean >= 0.5
    reason = "" if good else f"{share.mean:.2f} of the lost packets were sent in slow start"
    return Judgement(REPRODUCED if good else NOT_REPRODUCED, f"share {share}", {"slow_start_share": share}, reason)


def _adapts(data: Measured, *, fast: bool) -> Judgement:
    rtts, adapted = data.adaptation_rtts(fast=fast)
    runs = len(data.reno)
    text = f"TCP {rtts} R in {adapted} of {runs} runs" if adapted < runs else f"TCP {rtts} R"
    return _tcp_only(text if adapted else f"TCP in none of {runs} runs", tcp_adaptation_rtts=rtts)


def _share(data: Measured) -> Judgement:
    share = data.share_after_return()
    return _tcp_only(f"TCP {share} of capacity", tcp_share_of_capacity=share)


def _spread(data: Measured) -> Judgement:
    fast, slow = data.spread(fast=True), data.spread(fast=False)
    ours = f"{fast} on WLAN, {slow} on UMTS"
    values = {"wlan_p95_over_p5": fast, "umts_p95_over_p5": slow}
    outside = [
        f"on {name} packets arrive without a gap, at the link's rate, "
        f"in {data.gapless(fast=one is fast)} of {len(data.reno)} runs"
        for name, one in (("WLAN", fast), ("UMTS", slow))
        if not 3 <= one.mean <= 8
    ]
    return Judgement(NOT_REPRODUCED if outside else REPRODUCED, ours, values, "; ".join(outside))


def _alike(data: Measured) -> Judgement:
    received, drops = data.received_difference_pct(), data.drop_difference()
    ours = f"received {received} %, drops {drops}"
    outside = []
    if not abs(received.mean) <= 5:
        outside.append(f"received differ by {received.mean:.1f} %")
    if not abs(drops.mean) <= 5:
        outside.append(f"drops differ by {drops.mean:.1f}")
    verdict = NOT_REPRODUCED if outside else REPRODUCED
    values = {"received_difference_pct": received, "drop_difference": drops}
    return Judgement(verdict, ours, values, " and ".join(outside))


SIGN = "the order is claimed, no number"

CLAIMS: list[Claim[Measured]] = [
    Claim(
        "A1", "V-A", "TFRC loses approximately 90 packets on the slower link", "≈ 90",
        "60–120, mean of 20 start times",
        "a third either way: the figure is read off one run; the delays were chosen by looking at it",
        missing=NO_TFRC, see="figure-3b", fitted=True,
    ),
    Claim(
        "A2", "V-A", "XCP does not suffer any packet loss", "0", "0",
        "the paper says none; the delays were chosen by looking at it", missing=NO_XCP, see="figure-3b", fitted=True,
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
        "≤ 15 R of the new path; TFRC longer than both", "the grade “high” of dynamic behaviour ends at 15 R",
        lambda data: _adapts(data, fast=False), see="figure-3a",
    ),
    Claim(
        "A6", "V-A", "At 20 s XCP and TCP take only a few RTTs to adapt, TFRC is slow", "a few RTT",
        "≤ 6 R each; TFRC > 15 R", "“a few” on top of the window of 5 R over which the rate is measured",
        lambda data: _adapts(data, fast=True), see="figure-3a",
    ),
    Claim(
        "A7", "V-A", "Received after 20 s: XCP more than TCP, TCP more than TFRC", "XCP > TCP > TFRC",
        "order; XCP ≥ 0.85 of capacity", SIGN, _share, see="figure-3a",
    ),
    Claim(
        "A8", "V-B", "With TCP consecutive inter-packet intervals may vary in a range of 5", "5",
        "P95/P5 from 3 to 8, on WLAN and on UMTS",
        "a factor read off a plot; percentiles, because one gap would decide a ratio of extremes",
        _spread, see="figure-4b",
    ),
    Claim(
        "A9", "V-B", "With TFRC and XCP jitter is near 0 outside handovers", "≈ 0",
        "median jitter / median interval ≤ 0.05", "a twentieth of an interval is not seen in the plot", missing=NEITHER,
    ),
    Claim(
        "A10", "V-B", "… but not at the handovers", "peaks", "largest interval within 1 s ≥ 3 × median",
        "a peak that is seen in the plot", missing=NEITHER,
    ),
    Claim(
        "A11", "V", "NewReno shows no significant differences from Reno", "alike",
        "received ± 5 %, drops ± 5, paired by start time", "what would not be seen in Fig. 3", _alike, see="figure-3a",
    ),
    Claim(
        "A12", "III", "XCP maintains small queues", "small", "mean < 10 % of the buffer, and < TCP's",
        "a tenth of the buffer is 0.13 s on UMTS", missing=NO_XCP,
    ),
    Claim(
        "A13", "III", "XCP takes three sums and three multiplications per incoming packet, three multiplications "
        "and one sum per outgoing one", "3 + 3 in, 3 + 1 out", "exact", "operations are counted", missing=NO_XCP,
    ),
    Claim(
        "A14", "VI", "With EWA fewer losses should occur, and the rate is steadier than TCP's", "fewer, steadier",
        "sign, paired", SIGN, missing="EWA not built yet",
    ),
    Claim(
        "A15", "III", "EWA requires that forward and reverse path are the same", "no effect otherwise",
        "the same trajectory as TCP's", "a router that sees no acknowledgement changes nothing",
        missing="EWA not built yet",
    ),
    Claim(
        "A16", "VI", "Notice of the link change would improve TFRC's dynamic behaviour", "better",
        "time to adapt at 20 s ≤ ⅓; drops ≤ 10", "an improvement that decides the grade", missing=NO_TFRC,
    ),
    Claim(
        "A17", "II", "A handover costs reservation schemes signalling and a gap", "costs",
        "> 0 packets, gap IntServ ≥ DiffServ > SWAN", SIGN, missing="reservation schemes not built yet",
    ),
    Claim(
        "A18", "Table I", "The 21 grades of Table I", "21 grades", "equal; one step off is said",
        "grades come from measures by thresholds fixed in advance", missing="most mechanisms not built yet",
    ),
    Claim(
        "A19", "Table I", "The order of scalability", "TCP > TFRC, EWA > … > IntServ", "order as the paper's",
        "from counters of state and operations", missing="most mechanisms not built yet",
    ),
    Claim(
        "A20", "VI", "XCP without exact capacity degrades", "worse", "grade below “very high”",
        "capacity stale or measured", missing=NO_XCP,
    ),
]  # fmt: skip

assert [claim.id for claim in CLAIMS] == [f"A{n}" for n in range(1, 21)]
