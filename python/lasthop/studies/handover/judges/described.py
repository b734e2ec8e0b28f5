"""What the paper says of the mechanisms themselves (§II, §III, §V): A11, A12, A13, A15, A17."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from lasthop.stats import estimate, exact, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, alike, below, fact, judged, within

from ..data import Data, instead
from ..measures.table_1 import MECHANISMS, RESERVED
from ..paper import OPERATIONS
from ..scenario import END

#: A tenth of the queue in front of the radio link, in bytes.
SMALL_QUEUE = 6400.0

#: How the counters for the header of XCP's paper begin.
WINDOW_HEADER = "window_header_"


def _alike(data: Data) -> Judgement:
    pairs = list(zip(data.runs["reno"], data.runs["newreno"], strict=True))
    received = estimate(100 * (b.received(0, END) / a.received(0, END) - 1) for a, b in pairs)
    drops = data.paired("newreno", "reno", lambda trace: trace.dropped(0, END))
    return judged(
        f"received {received} %, drops {drops}",
        alike("packets received, NewReno over Reno", received, 5, " %"),
        alike("packets dropped, NewReno − Reno", drops, 5),
    )


def _why_newreno_differs(data: Data) -> str:
    timed_out = sum(len(trace.timeouts_s) > 0 for trace in data.runs["reno"])
    return (
        "several packets of a window are lost at once; NewReno sends one of them again in each round trip, where "
        f"Reno waits for its timer (it expires in {timed_out} of {len(data.runs['reno'])} runs)"
    )


def _small_queue(data: Data) -> Judgement:
    xcp, tcp = (data.over(key, lambda trace: trace.mean_queue()) for key in ("xcp", "reno"))
    more = data.paired("reno", "xcp", lambda trace: trace.mean_queue())
    return judged(
        f"XCP {xcp} B, TCP {tcp} B",
        below("mean queue of XCP", xcp, SMALL_QUEUE, " B"),
        above("mean queue, TCP − XCP", more, unit=" B"),
    )


def _cost(data: Data, header: str) -> str:
    counted = data.counters["xcp"].operations

    def several(what: str, name: str) -> str:
        count = counted[header + name]
        return f"{number(count)} {what}{'s' * (count != 1)}"

    return (
        f"{several('sum', 'additions_in')} and {several('product', 'multiplications_in')} in, "
        f"{several('product', 'multiplications_out')} and {several('sum', 'additions_out')} out"
    )


def _operations(data: Data) -> Judgement:
    counted = data.counters["xcp"].operations
    return judged(
        f"{_cost(data, WINDOW_HEADER)} with the header of XCP's paper, which has the window; {_cost(data, '')} with "
        "that of ns-2, which has rtt/cwnd",
        *(
            within(f"{_words(name)} of a packet", exact(counted[WINDOW_HEADER + name]), stated, _most(name, stated))
            for name, stated in OPERATIONS.items()
        ),
    )


def _words(name: str) -> str:
    return name.replace("_", ", packets ")


def _most(name: str, stated: float) -> float:
    """For what goes out the paper says “at least”."""
    return inf if name.endswith("_out") else stated


def _operations_formerly(data: Data) -> Judgement:
    counted = data.counters["xcp"].operations
    return judged(
        _cost(data, ""),
        *(
            within(f"{_words(name)} of a packet", exact(counted[name]), stated, stated)
            for name, stated in OPERATIONS.items()
        ),
    )


def _other_header(data: Data) -> Data:
    xcp = data.counters["xcp"]
    operations = {**xcp.operations, **{WINDOW_HEADER + name: xcp.operations[name] for name in OPERATIONS}}
    return replace(data, counters={**data.counters, "xcp": replace(xcp, operations=operations)})


def _inert(data: Data) -> Judgement:
    pairs = list(zip(data.runs["ewa-asymmetric"], data.runs["reno-asymmetric"], strict=True))
    same = sum(len(a.received_s) == len(b.received_s) and bool((a.received_s == b.received_s).all()) for a, b in pairs)
    return judged(
        f"the same arrivals in {same} of {len(pairs)} runs",
        fact("all packets arrive when they do with TCP, in every run", same == len(pairs)),
    )


def _signalling(data: Data) -> Judgement:
    signals = {key: data.signals(key) for key in RESERVED}
    gaps = {key: data.gap_ms(key) for key in RESERVED}
    return judged(
        "; ".join(f"{MECHANISMS[key]} {signals[key]} packets, gap {gaps[key]} ms" for key in RESERVED),
        *(above(f"packets of signalling at the handovers, {MECHANISMS[key]}", one) for key, one in signals.items()),
        *(
            above(f"longest gap in service, {MECHANISMS[key]} − SWAN", data.longer_gap_ms(key, "swan"), unit=" ms")
            for key in ("intserv", "diffserv")
        ),
        **{f"{key}_gap_ms": one for key, one in gaps.items()},
    )


def _signalling_formerly(data: Data) -> Judgement:
    signals, gaps = ({key: of(key) for key in RESERVED} for of in (data.signals, data.gap_ms))
    return judged(
        "; ".join(f"{MECHANISMS[key]} {signals[key]} packets, gap {gaps[key]} ms" for key in RESERVED),
        *(above(f"packets of signalling, {MECHANISMS[key]}", one) for key, one in signals.items()),
        within("longest gap, IntServ − DiffServ", data.longer_gap_ms("intserv", "diffserv"), 0, inf, " ms"),
        above("longest gap, DiffServ − SWAN", data.longer_gap_ms("diffserv", "swan"), unit=" ms"),
    )


JUDGES: Judges[Data] = {
    "A11": Judge(_alike, null=instead({"newreno": "tfrc"}), cause=_why_newreno_differs),
    "A12": Judge(_small_queue, null=instead({"xcp": "reno"})),
    "A13": Judge(_operations, null=_other_header, former=_operations_formerly),
    "A15": Judge(_inert, null=instead({"ewa-asymmetric": "ewa", "reno-asymmetric": "reno"})),
    "A17": Judge(_signalling, null=instead(dict.fromkeys(RESERVED, "none")), former=_signalling_formerly),
}
