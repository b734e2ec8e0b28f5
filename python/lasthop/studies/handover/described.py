"""What the paper says of the mechanisms themselves (§II, §III, §V): A11, A12, A13, A15, A17."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from lasthop.stats import estimate, exact, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, alike, below, fact, judged, within
from lasthop.studies.handover.measured import Measured
from lasthop.studies.handover.scenario import END
from lasthop.studies.handover.tableone import MECHANISMS, RESERVED

__all__ = ["CLAIMS"]

#: A tenth of the queue in front of the radio link, in bytes.
SMALL_QUEUE = 6400.0

#: Operations of XCP for a packet that comes and for one that goes, as the paper has them.
PAPER = {"additions_in": 3.0, "multiplications_in": 3.0, "multiplications_out": 3.0, "additions_out": 1.0}

#: How the counters for the header of XCP's paper begin.
WINDOW_HEADER = "window_header_"


def _alike(data: Measured) -> Judgement:
    pairs = list(zip(data.runs["reno"], data.runs["newreno"], strict=True))
    received = estimate(100 * (b.received(0, END) / a.received(0, END) - 1) for a, b in pairs)
    drops = data.paired("newreno", "reno", lambda trace: trace.dropped(0, END))
    return judged(
        f"received {received} %, drops {drops}",
        alike("packets received, NewReno over Reno", received, 5, " %"),
        alike("packets dropped, NewReno − Reno", drops, 5),
    )


def _why_newreno_differs(data: Measured) -> str:
    timed_out = sum(len(trace.timeouts_s) > 0 for trace in data.runs["reno"])
    return (
        "several packets of a window are lost at once; NewReno sends one of them again in each round trip, where "
        f"Reno waits for its timer (it expires in {timed_out} of {len(data.runs['reno'])} runs)"
    )


def _small_queue(data: Measured) -> Judgement:
    xcp, tcp = (data.over(key, lambda trace: trace.mean_queue()) for key in ("xcp", "reno"))
    more = data.paired("reno", "xcp", lambda trace: trace.mean_queue())
    return judged(
        f"XCP {xcp} B, TCP {tcp} B",
        below("mean queue of XCP", xcp, SMALL_QUEUE, " B"),
        above("mean queue, TCP − XCP", more, unit=" B"),
    )


def _cost(data: Measured, header: str) -> str:
    counted = data.counters["xcp"].operations
    sums, products = (f"{header}additions", f"{header}multiplications")
    return (
        f"{number(counted[f'{sums}_in'])} + {number(counted[f'{products}_in'])} in, "
        f"{number(counted[f'{products}_out'])} + {number(counted[f'{sums}_out'])} out"
    )


def _operations(data: Measured) -> Judgement:
    counted = data.counters["xcp"].operations
    return judged(
        f"{_cost(data, WINDOW_HEADER)} with the header of XCP's paper, which has the window; {_cost(data, '')} with "
        "that of ns-2, which has rtt/cwnd",
        *(
            within(f"{_words(name)} of a packet", exact(counted[WINDOW_HEADER + name]), stated, _most(name, stated))
            for name, stated in PAPER.items()
        ),
    )


def _words(name: str) -> str:
    return name.replace("_", ", packets ")


def _most(name: str, stated: float) -> float:
    """For what goes out the paper says “at least”."""
    return inf if name.endswith("_out") else stated


def _operations_formerly(data: Measured) -> Judgement:
    counted = data.counters["xcp"].operations
    return judged(
        _cost(data, ""),
        *(
            within(f"{_words(name)} of a packet", exact(counted[name]), stated, stated)
            for name, stated in PAPER.items()
        ),
    )


def _other_header(data: Measured) -> Measured:
    xcp = data.counters["xcp"]
    operations = {**xcp.operations, **{WINDOW_HEADER + name: xcp.operations[name] for name in PAPER}}
    return replace(data, counters={**data.counters, "xcp": replace(xcp, operations=operations)})


def _inert(data: Measured) -> Judgement:
    pairs = list(zip(data.runs["ewa-asymmetric"], data.runs["reno-asymmetric"], strict=True))
    same = sum(len(a.received_s) == len(b.received_s) and bool((a.received_s == b.received_s).all()) for a, b in pairs)
    return judged(
        f"the same arrivals in {same} of {len(pairs)} runs",
        fact("all packets arrive when they do with TCP, in every run", same == len(pairs)),
    )


def _signalling(data: Measured) -> Judgement:
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


def _signalling_formerly(data: Measured) -> Judgement:
    signals, gaps = ({key: of(key) for key in RESERVED} for of in (data.signals, data.gap_ms))
    return judged(
        "; ".join(f"{MECHANISMS[key]} {signals[key]} packets, gap {gaps[key]} ms" for key in RESERVED),
        *(above(f"packets of signalling, {MECHANISMS[key]}", one) for key, one in signals.items()),
        within("longest gap, IntServ − DiffServ", data.longer_gap_ms("intserv", "diffserv"), 0, inf, " ms"),
        above("longest gap, DiffServ − SWAN", data.longer_gap_ms("diffserv", "swan"), unit=" ms"),
    )


CLAIMS: Sequence[Claim[Measured]] = [
    Claim(
        "A11",
        "V",
        "New Reno was also simulated with no significant differences.",
        "NewReno shows no significant differences from Reno",
        "alike",
        "packets received, and packets dropped, in 30 s; in pairs of equal start time",
        "received within ± 5 %, drops within ± 5",
        "what would not be seen in Fig. 3",
        _alike,
        Null(
            "TFRC's runs in the place of NewReno's: the paper says that these differ",
            lambda d: d.replaced({"newreno": "tfrc"}),
        ),
        see="figure-3a",
        cause=_why_newreno_differs,
    ),
    Claim(
        "A12",
        "III",
        "XCP also maintains small-sized queues in the routers",
        "XCP maintains small queues",
        "small",
        "mean queue by Little's law, two seconds after the start and each handover left out; mean of the start times",
        "below 6400 B; TCP − XCP above 0, paired",
        "a tenth of the queue's limit takes 0.13 s on UMTS, about the delay of the empty path",
        _small_queue,
        Null("TCP's runs in the place of XCP's: TCP fills the queue", lambda d: d.replaced({"xcp": "reno"})),
        cause="XCP's queue is small only once it knows the new capacity",
    ),
    Claim(
        "A13",
        "III",
        "its operation requires that three sums and three multiplications are performed in the routers by incoming "
        "packet and that at least three multiplications and one sum are performed per outgoing packet",
        "XCP takes three sums and three multiplications per incoming packet, at least three multiplications and one "
        "sum per outgoing one",
        "3 + 3 in, at least 3 + 1 out",
        "operations that the router counts, per packet, with a header that has the window (Katabi, Handley, Rohrs "
        "2002, §3.2)",
        "exact for what comes in, at least that for what goes out",
        "operations are counted; the paper's words",
        _operations,
        Null(
            "the header of ns-2 and of the draft, which holds rtt/cwnd ready for use: other counts, exactly known",
            _other_header,
        ),
        former=Former(
            "3 + 3 in and 3 + 1 out, exactly, with the header of ns-2",
            "the paper says “at least” for what goes out, and its figures are those of XCP's paper, whose header "
            "has the window; this was changed after the claim had been found not reproduced",
            _operations_formerly,
        ),
    ),
    Claim(
        "A15",
        "III",
        "This mechanism requires that the reverse and the forward paths are the same.",
        "EWA requires that forward and reverse path are the same",
        "no effect otherwise",
        "arrivals of all packets with EWA and with TCP where acknowledgements take another path",
        "the same in every run",
        "a router that sees no acknowledgement changes nothing",
        _inert,
        Null(
            "the runs in which acknowledgements come back through the router: there EWA acts",
            lambda d: d.replaced({"ewa-asymmetric": "ewa", "reno-asymmetric": "reno"}),
        ),
    ),
    Claim(
        "A17",
        "II-A",
        "in handovers the admittance and reservation procedures need to be repeated or transferred to the new link. "
        "Examples of reservation-based architectures include the Intserv [2] and Diffserv [3] models, as well as "
        "the SWAN [4] architecture",
        "A handover costs reservation schemes signalling, and IntServ and DiffServ a longer gap than SWAN",
        "costs",
        "packets of signalling within 2 s after the handovers; the longest time for which a flow is without the "
        "service that it had, in pairs of equal seed",
        "packets above 0 with each of the three; IntServ − SWAN and DiffServ − SWAN above 0",
        "“need to be repeated” leaves none of them without; Table I grades SWAN's dynamic behaviour above that of "
        "the others; a flow that the new link refuses is without its service until it is admitted again",
        _signalling,
        Null(
            "best effort in the place of each: nobody has anything to repeat",
            lambda d: d.replaced(dict.fromkeys(RESERVED, "none")),
        ),
        former=Former(
            "the same, and the gap of IntServ at least that of DiffServ",
            "the paper does not order the gaps of these two, and gives both the same grade",
            _signalling_formerly,
        ),
        cause="SWAN repeats its probes only where real time exceeds its share of the new link",
    ),
]
