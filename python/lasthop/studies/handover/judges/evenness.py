"""What the paper says of how evenly packets arrive (§V-B, §VI): A8, A9, A10, A14."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from lasthop.stats import Estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, judged, within

from ..data import Data, instead
from ..measures.trace import Trace
from ..readings import FAST, SLOW
from ..scenario import END, HANDOVERS

DOWN, UP = HANDOVERS

LINKS = {"WLAN": True, "UMTS": False}

#: The mechanisms with even intervals.
EVEN = {"TFRC": "tfrc", "XCP": "xcp"}


def _on_links(data: Data, mechanism: str, measure: Callable[[Trace, bool], float]) -> Mapping[str, Estimate]:
    return {link: data.over(mechanism, lambda t, fast=fast: measure(t, fast)) for link, fast in LINKS.items()}  # type: ignore[misc]


def _said(values: Mapping[str, Estimate]) -> str:
    return ", ".join(f"{one} on {link}" for link, one in values.items())


def _range_of_five(data: Data) -> Judgement:
    ratio = _on_links(data, "reno", lambda trace, fast: trace.ratio(fast=fast))
    return judged(
        _said(ratio),
        *(within(f"ratio of consecutive intervals on {link}", one, 3, 8) for link, one in ratio.items()),
    )


def _range_of_five_formerly(data: Data) -> Judgement:
    spread = _on_links(data, "reno", lambda trace, fast: trace.spread(fast=fast))
    return judged(_said(spread), *(within(f"P95 over P5 on {link}", one, 3, 8) for link, one in spread.items()))


def _why_not_five(data: Data) -> str:
    gapless = {link: sum(trace.spread(fast=fast) < 1.01 for trace in data.runs["reno"]) for link, fast in LINKS.items()}
    said = " and ".join(f"{runs} of {len(data.runs['reno'])} runs on {link}" for link, runs in gapless.items())
    return (
        "while packets wait, they arrive at the link's rate whatever TCP does: the 5th and the 95th percentile of "
        f"all intervals are the same in {said}. What varies is the step into a gap and out of it, and the gap has the "
        "length of a recovery, not of five intervals"
    )


def _steady(data: Data) -> Judgement:
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


def _steady_formerly(data: Data) -> Judgement:
    jitter = {name: _on_links(data, key, lambda trace, fast: trace.jitter(fast=fast)) for name, key in EVEN.items()}
    return judged(
        "; ".join(f"{name} {_said(one)}" for name, one in jitter.items()),
        *(
            within(f"{name}, median jitter over the median interval on {link}", one, 0, 0.05)
            for name, links in jitter.items()
            for link, one in links.items()
        ),
    )


def _why_not_steady(data: Data) -> str:
    high = {
        f"{name} on {link}": one.mean
        for name, key in EVEN.items()
        for link, one in _on_links(data, key, lambda trace, fast: trace.high_jitter(fast=fast)).items()
    }
    worst = max(high, key=lambda name: high[name])
    path = data.taken.rtt_s(fast=True) * FAST
    return (
        f"{worst} has {high[worst]:.2f}. XCP's window is a whole number of packets, and WLAN holds {path:.1f}: once a "
        "round trip the link is idle for the rest of a packet; on UMTS there are gaps just after 12 s, when what was "
        "moved has drained"
    )


def _at_handovers(data: Data, measure: Callable[[Trace, float], float]) -> Mapping[str, Mapping[str, Estimate]]:
    return {
        name: {f"{at:.0f} s": data.over(key, lambda trace, at=at: measure(trace, at)) for at in HANDOVERS}  # type: ignore[misc]
        for name, key in EVEN.items()
    }


def _jumps(data: Data) -> Judgement:
    jumps = _at_handovers(data, lambda trace, at: trace.jump(at))
    return judged(
        "; ".join(f"{name} " + ", ".join(f"{one} at {at}" for at, one in by.items()) for name, by in jumps.items()),
        *(
            above(f"{name}, largest jitter at {at} over the median interval on UMTS", one, 1)
            for name, by in jumps.items()
            for at, one in by.items()
        ),
    )


def _jumps_formerly(data: Data) -> Judgement:
    peaks = _at_handovers(data, lambda trace, at: trace.peak(at))
    return judged(
        "; ".join(f"{name} " + ", ".join(f"{one} at {at}" for at, one in by.items()) for name, by in peaks.items()),
        *(
            within(f"{name}, largest interval at {at} over the median", one, 3, np.inf)
            for name, by in peaks.items()
            for at, one in by.items()
        ),
    )


def _at_the_links_rate(data: Data) -> Data:
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


def _ewa(data: Data) -> Judgement:
    ewa, tcp = (data.drops(key, 0, END) for key in ("ewa", "reno"))
    fewer = data.paired("reno", "ewa", lambda trace: trace.dropped(0, END))
    steadier, parts = {}, []
    for link, fast in LINKS.items():
        width = data.taken.rtt_s(fast=fast)
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


JUDGES: Judges[Data] = {
    "A8": Judge(_range_of_five, null=instead({"reno": "xcp"}), former=_range_of_five_formerly, cause=_why_not_five),
    "A9": Judge(
        _steady,
        null=instead({"tfrc": "reno", "xcp": "reno"}),
        former=_steady_formerly,
        cause=_why_not_steady,
    ),
    "A10": Judge(_jumps, null=_at_the_links_rate, former=_jumps_formerly),
    "A14": Judge(_ewa, null=instead({"ewa": "reno"})),
}
