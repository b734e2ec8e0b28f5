"""What the paper says of how evenly packets arrive (§V-B, §VI): A8, A9, A10, A14."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lasthop.stats import Estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, judged, within
from lasthop.studies.handover.measured import Measured
from lasthop.studies.handover.scenario import END, FAST, HANDOVERS, SLOW
from lasthop.studies.handover.trace import Trace

__all__ = ["CLAIMS"]

DOWN, UP = HANDOVERS

LINKS = {"WLAN": True, "UMTS": False}

#: The mechanisms with even intervals.
EVEN = {"TFRC": "tfrc", "XCP": "xcp"}


def _on_links(data: Measured, mechanism: str, measure: Callable[[Trace, bool], float]) -> Mapping[str, Estimate]:
    return {link: data.over(mechanism, lambda t, fast=fast: measure(t, fast)) for link, fast in LINKS.items()}  # type: ignore[misc]


def _said(values: Mapping[str, Estimate]) -> str:
    return ", ".join(f"{one} on {link}" for link, one in values.items())


def _range_of_five(data: Measured) -> Judgement:
    ratio = _on_links(data, "reno", lambda trace, fast: trace.ratio(fast=fast))
    return judged(
        _said(ratio),
        *(within(f"ratio of consecutive intervals on {link}", one, 3, 8) for link, one in ratio.items()),
    )


def _range_of_five_formerly(data: Measured) -> Judgement:
    spread = _on_links(data, "reno", lambda trace, fast: trace.spread(fast=fast))
    return judged(_said(spread), *(within(f"P95 over P5 on {link}", one, 3, 8) for link, one in spread.items()))


def _why_not_five(data: Measured) -> str:
    gapless = {link: sum(trace.spread(fast=fast) < 1.01 for trace in data.runs["reno"]) for link, fast in LINKS.items()}
    said = " and ".join(f"{runs} of {len(data.runs['reno'])} runs on {link}" for link, runs in gapless.items())
    return (
        "while packets wait, they arrive at the link's rate whatever TCP does: the 5th and the 95th percentile of "
        f"all intervals are the same in {said}. What varies is the step into a gap and out of it, and the gap has the "
        "length of a recovery, not of five intervals"
    )


def _steady(data: Measured) -> Judgement:
    jitter = {
        name: _on_links(data, key, lambda trace, fast: trace.high_jitter(fast=fast)) for name, key in EVEN.items()
    }
    return judged(
        "; ".join(f"{name} {_said(one)}" for name, one in jitter.items()),
        *(
            within(f"{name}, P99 of jitter over the median interval on {link}", one, 0, 0.2)
            for name, links in jitter.items()
            for link, one in links.items()
        ),
    )


def _steady_formerly(data: Measured) -> Judgement:
    jitter = {name: _on_links(data, key, lambda trace, fast: trace.jitter(fast=fast)) for name, key in EVEN.items()}
    return judged(
        "; ".join(f"{name} {_said(one)}" for name, one in jitter.items()),
        *(
            within(f"{name}, median jitter over the median interval on {link}", one, 0, 0.05)
            for name, links in jitter.items()
            for link, one in links.items()
        ),
    )


def _why_not_steady(data: Measured) -> str:
    high = {
        f"{name} on {link}": one.mean
        for name, key in EVEN.items()
        for link, one in _on_links(data, key, lambda trace, fast: trace.high_jitter(fast=fast)).items()
    }
    worst = max(high, key=lambda name: high[name])
    path = data.variant.rtt_s(fast=True) * FAST
    return (
        f"{worst} has {high[worst]:.2f}. XCP's window is a whole number of packets, and WLAN holds {path:.1f}: once a "
        "round trip the link is idle for the rest of a packet; on UMTS there are gaps just after 12 s, when what was "
        "moved has drained"
    )


def _at_handovers(data: Measured, measure: Callable[[Trace, float], float]) -> Mapping[str, Mapping[str, Estimate]]:
    return {
        name: {f"{at:.0f} s": data.over(key, lambda trace, at=at: measure(trace, at)) for at in HANDOVERS}  # type: ignore[misc]
        for name, key in EVEN.items()
    }


def _jumps(data: Measured) -> Judgement:
    jumps = _at_handovers(data, lambda trace, at: trace.jump(at))
    return judged(
        "; ".join(f"{name} " + ", ".join(f"{one} at {at}" for at, one in by.items()) for name, by in jumps.items()),
        *(
            above(f"{name}, largest jitter at {at} over the median interval on UMTS", one, 1)
            for name, by in jumps.items()
            for at, one in by.items()
        ),
    )


def _jumps_formerly(data: Measured) -> Judgement:
    peaks = _at_handovers(data, lambda trace, at: trace.peak(at))
    return judged(
        "; ".join(f"{name} " + ", ".join(f"{one} at {at}" for at, one in by.items()) for name, by in peaks.items()),
        *(
            within(f"{name}, largest interval at {at} over the median", one, 3, np.inf)
            for name, by in peaks.items()
            for at, one in by.items()
        ),
    )


def _at_the_links_rate(data: Measured) -> Measured:
    """Packets that arrive one after another at the rate of the present link, whatever the mechanism."""
    times = np.concatenate(
        [
            np.arange(0, DOWN, 1 / FAST),
            np.arange(DOWN + 1 / SLOW, UP, 1 / SLOW),
            np.arange(UP + 1 / FAST, END, 1 / FAST),
        ]
    )
    even = {
        key: [replace(one, received_s=times[times >= one.start_s]) for one in data.runs[key]] for key in EVEN.values()
    }
    return replace(data, runs={**data.runs, **even})


def _ewa(data: Measured) -> Judgement:
    ewa, tcp = (data.drops(key, 0, END) for key in ("ewa", "reno"))
    fewer = data.paired("reno", "ewa", lambda trace: trace.dropped(0, END))
    steadier, parts = {}, []
    for link, fast in LINKS.items():
        width = data.variant.rtt_s(fast=fast)
        mine = [data.over(key, lambda t, w=width, f=fast: t.unevenness(w, fast=f)) for key in ("ewa", "reno")]  # type: ignore[misc]
        parts.append(f"{mine[0]} and {mine[1]} on {link}")
        steadier[link] = data.paired("reno", "ewa", lambda t, w=width, f=fast: t.unevenness(w, fast=f))  # type: ignore[misc]
    return judged(
        f"drops {ewa} and {tcp}; variation of the rate {', '.join(parts)} (EWA and TCP)",
        above("packets dropped, TCP − EWA", fewer),
        *(above(f"variation of the rate on {link}, TCP − EWA", one) for link, one in steadier.items()),
        ewa_drops=ewa,
        tcp_drops=tcp,
    )


CLAIMS: Sequence[Claim[Measured]] = [
    Claim(
        "A8",
        "V-B",
        "TCP inter-packet delay 4(b) is unsuitable for real-time interactive media, since consecutive interval "
        "values may vary in a range of 5",
        "With TCP consecutive inter-packet intervals may vary in a range of 5",
        "5",
        "P99 of the ratio of consecutive intervals, the longer over the shorter, on each link; two seconds after "
        "the start and each handover left out; mean of the start times",
        "3 to 8, on WLAN and on UMTS",
        "a factor read off a plot. “May” asks for a high percentile: a gap in each window is two of at most 133 "
        "steps (64 packets queued, 69 under way on WLAN), which P99 sees and P95 does not; the largest would be one "
        "timeout",
        _range_of_five,
        Null(
            "XCP's runs in the place of TCP's: the paper says that these are even",
            lambda d: d.replaced({"reno": "xcp"}),
        ),
        former=Former(
            "P95 over P5 of all intervals from 3 to 8, on WLAN and on UMTS",
            "the paper speaks of consecutive intervals; percentiles of all intervals do not see a gap in each window",
            _range_of_five_formerly,
        ),
        see="figure-4b",
        cause=_why_not_five,
    ),
    Claim(
        "A9",
        "V-B",
        "both XCP and TFRC produce constant or slowly varying inter-packet intervals which results in a jitter near 0",
        "With TFRC and XCP jitter is near 0 outside handovers",
        "≈ 0",
        "P99 of the difference of consecutive intervals over the median interval, on each link; two seconds after "
        "the start and each handover left out; mean of the start times",
        "up to 0.2, on WLAN and on UMTS",
        "a fifth of an interval, up to which jitter is graded “high”; the same percentile as for TCP, from which "
        "the paper tells them",
        _steady,
        Null(
            "TCP's runs in the place of both: the paper says that its jitter is high",
            lambda d: d.replaced({"tfrc": "reno", "xcp": "reno"}),
        ),
        former=Former(
            "median jitter over the median interval up to 0.05, on WLAN and on UMTS",
            "TCP's is 0 as well: the median does not tell them apart",
            _steady_formerly,
        ),
        see="figure-4a",
        cause=_why_not_steady,
    ),
    Claim(
        "A10",
        "V-B",
        "constant or slowly varying inter-packet intervals which results in a jitter near 0, except for handovers",
        "… but not at the handovers",
        "peaks",
        "the largest difference of consecutive intervals that ends within 1 s after a handover, over the median "
        "interval on UMTS; mean of the start times",
        "above 1, with TFRC and XCP, at both",
        "the change of the rate to a tenth, and back, makes 0.9 by itself: packets that leave the new link one "
        "after another show no more",
        _jumps,
        Null("packets that arrive at the rate of the present link, without a gap", _at_the_links_rate),
        former=Former(
            "the largest interval within 1 s over the median on the new link, at least 3 at both handovers",
            "the last interval on UMTS is ten of WLAN: every mechanism passes at 20 s",
            _jumps_formerly,
        ),
        see="figure-4c",
        cause="what is on its way when the delay changes decides: it waits for the new link only where it is moved",
    ),
    Claim(
        "A14",
        "VI",
        "since routers explicitly inform senders about the maximum *cwnd* they may use, less losses should occur, "
        "resulting in a more stable rate of EWA flows",
        "With EWA fewer losses should occur, and the rate is steadier than TCP's",
        "fewer, steadier",
        "packets dropped; variation of the packets received in each round trip, on each link; in pairs of equal "
        "start time",
        "TCP − EWA above 0, each",
        "the order is claimed, no number",
        _ewa,
        Null("TCP's runs in the place of EWA's: no difference", lambda d: d.replaced({"ewa": "reno"})),
        see="figure-4d",
        cause="where TCP's rate is the link's as well, there is nothing left to make steadier",
    ),
]
