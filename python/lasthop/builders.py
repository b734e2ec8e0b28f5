"""The sections of a scenario as typed dictionaries, which type checkers know.

Made from the schema by `docs/builders.py`. A field that is a keyword of Python has an underscore behind it: `from_`.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypeAlias, TypedDict

__all__ = ["Cell", "Change", "Constellation", "Flow", "Group", "Hsdpa", "Link", "Mbms", "Record", "ScenarioFields"]

Profile: TypeAlias = "Literal['ns2', 'rfc', 'linux', '3gpp']"

Duration: TypeAlias = "str"


class Link(TypedDict, total=False):
    """A point-to-point link between two nodes."""

    name: Required[str]
    "A name for results and changes."
    between: Required[Sequence[str]]
    "The two nodes. Forward is from the first to the second."
    rate: Rate
    "The rate, in both directions."
    trace: Traces
    "Traces of opportunities to deliver, as mahimahi's, in the place of rates. Default: none."
    delay: Duration
    "The propagation delay, in both directions. Default: 10 ms."
    queue: Queue
    "The queue in front of the link, in both directions. Default: DropTail of 100 packets."
    loss: LossModel
    "Losses of packets sent forward. Default: none."
    reorder: bool
    "Whether a packet may overtake one that was sent before the delay became shorter, as it would on a real path (ns-2: not `avoidReordering_`). Default: it may."
    jitter: Jitter
    "Jitter of packets, each way by itself. Packets keep their order, so `reorder` does not matter. Default: none."
    reverse: Reverse
    "What differs on the way back, from the second node to the first."


Rate: TypeAlias = "str"


class Traces(TypedDict, total=False):
    """Traces of a link: when up to 1,504 bytes each are delivered. The delay comes on top."""

    down: Trace
    "The trace forward: the name of a file beside the scenario, or its lines. Default: none; the link has a `rate` forward."
    up: Trace
    "The trace back, likewise. Default: none; the link has a rate on the way back."
    start: Duration
    "How much of the traces lies before the start of the run. Default: 0 s."
    repeat: bool
    "Whether a trace begins again after its last line; else nothing is delivered any more. Default: true (mahimahi)."


Trace: TypeAlias = "str"


class AsQueueDroptail(TypedDict, total=False):
    """``droptail`` with its parameters."""

    droptail: Required[QueueDroptail]


class AsQueueRed(TypedDict, total=False):
    """``red`` with its parameters."""

    red: Required[QueueRed]


class AsQueueCodel(TypedDict, total=False):
    """``codel`` with its parameters."""

    codel: Required[QueueCodel]


class AsQueuePie(TypedDict, total=False):
    """``pie`` with its parameters."""

    pie: Required[QueuePie]


class AsQueueFqCodel(TypedDict, total=False):
    """``fq_codel`` with its parameters."""

    fq_codel: Required[QueueFqCodel]


class AsQueueDualpi2(TypedDict, total=False):
    """``dualpi2`` with its parameters."""

    dualpi2: Required[QueueDualpi2]


class AsQueueThreshold(TypedDict, total=False):
    """``threshold`` with its parameters."""

    threshold: Required[QueueThreshold]


class AsQueueEwa(TypedDict, total=False):
    """``ewa`` with its parameters."""

    ewa: Required[QueueEwa]


class AsQueueXcp(TypedDict, total=False):
    """``xcp`` with its parameters."""

    xcp: Required[QueueXcp]


class AsQueueSwan(TypedDict, total=False):
    """``swan`` with its parameters."""

    swan: Required[QueueSwan]


class AsQueueRio(TypedDict, total=False):
    """``rio`` with its parameters."""

    rio: Required[QueueRio]


class AsQueueDrr(TypedDict, total=False):
    """``drr`` with its parameters."""

    drr: Required[QueueDrr]


class AsQueuePriority(TypedDict, total=False):
    """``priority`` with its parameters."""

    priority: Required[QueuePriority]


class AsQueueTokenBucket(TypedDict, total=False):
    """``token_bucket`` with its parameters."""

    token_bucket: Required[QueueTokenBucket]


class AsQueueWfq(TypedDict, total=False):
    """``wfq`` with its parameters."""

    wfq: Required[QueueWfq]


class AsQueueQueuePhase(TypedDict, total=False):
    """``queue_phase`` with its parameters."""

    queue_phase: Required[QueueQueuePhase]


class AsQueueDiffserv(TypedDict, total=False):
    """``diffserv`` with its parameters."""

    diffserv: Required[QueueDiffserv]


Queue: TypeAlias = "Literal['droptail', 'red', 'codel', 'pie', 'fq_codel', 'dualpi2', 'threshold', 'ewa', 'xcp', 'swan', 'rio', 'drr', 'priority', 'wfq', 'queue_phase', 'diffserv'] | AsQueueDroptail | AsQueueRed | AsQueueCodel | AsQueuePie | AsQueueFqCodel | AsQueueDualpi2 | AsQueueThreshold | AsQueueEwa | AsQueueXcp | AsQueueSwan | AsQueueRio | AsQueueDrr | AsQueuePriority | AsQueueTokenBucket | AsQueueWfq | AsQueueQueuePhase | AsQueueDiffserv"


class QueueDroptail(TypedDict, total=False):
    """A FIFO that drops at its tail (or at its head) when it is full."""

    limit: Length
    'How much may wait, without the packet in service: `"100 packets"` or `"64 kB"`.'
    also: Length
    'A second limit, which holds too: `"64 kB"` beside one in packets. Default: none.'
    drop_front: bool
    "Drop the packet at the head instead of the arriving one."


Length: TypeAlias = "str"


class QueueRed(TypedDict, total=False):
    """Random early detection."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail."
    min: float
    "The average below which nothing is dropped, in packets of `mean_packet`. Left out: half of what the link sends in `target_delay`, and at least 5 (ns-2.35)."
    max: float
    "The average at which the probability reaches `max_p`, in packets of `mean_packet`. Default: three times `min` (ns-2.35)."
    max_p: Probability
    "The probability at an average of `max`. Default: 0.1 (ns-2.35; Floyd 1997)."
    weight: Probability
    "The weight of the present length in the average. Left out: the average follows within ten round-trip times of three times the link's delay, and of at least 100 ms (ns-2.35)."
    gentle: bool
    "Above `max` the probability grows on, up to 1 at twice `max`, instead of jumping to 1. Default: on."
    wait: bool
    "Wait between two drops for at least 1 / p_b packets. Default: on (ns-2.35)."
    count: Count
    "What the average counts: `bytes` or `packets`. Default: `rfc`: bytes, because a link is busy with bytes (RFC 7141 §2.1). `ns2`: bytes."
    by_size: bool
    "Whether a large packet is dropped with a larger probability than a small one. Default: `rfc`: no (RFC 7141 §2.2). `ns2`: yes (`bytes_`)."
    mean_packet: Size
    "The size of a typical packet, by which lengths in packets are converted. Default: `rfc`: 1500 B. `ns2`: 500 B."
    target_delay: Duration
    "The average queueing delay that `min` is chosen for. Default: 5 ms (ns-2.35)."
    adaptive: bool
    "Adapt `max_p`, so that the average stays in the middle of `min` and `max`. Default: off."
    interval: Duration
    "The time between two adaptations. Default: 500 ms (Floyd, Gummadi, Shenker 2001)."
    increase: Probability
    "What an adaptation adds to `max_p`, but at most a quarter of it. Default: 0.01 (the same)."
    decrease: Probability
    "By what an adaptation multiplies `max_p`. Default: 0.9 (the same)."
    top: Probability
    "The highest `max_p` that adaptation gives. Default: 0.5 (the same)."
    bottom: Probability
    "The lowest. Left out: 0.01, or one packet of 1000 B in 100 ms at the link's rate if that is less (ns-2.35)."
    ecn: bool
    "Mark packets of ECN-capable transports instead of dropping them early. Default: off."
    mark_p: Probability
    "The probability p_b above which ECN-capable packets are dropped all the same (RFC 3168 §7). Default: `rfc`: `max_p`. `ns2`: 0.1."
    follow_rate: bool
    "Choose the parameters left out anew when the link's rate changes. Default: `rfc`: yes. `ns2`: no."


Probability: TypeAlias = "float"

Count: TypeAlias = "Literal['packets', 'bytes']"

Size: TypeAlias = "str"


class QueueCodel(TypedDict, total=False):
    """Controlled delay."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 1000 packets (Linux)."
    also: Length
    'A second limit, which holds too: `"64 kB"` beside one in packets. Default: none.'
    target: Duration
    "The waiting time that is acceptable all the time. Default: 5 ms (RFC 8289 §4.4)."
    interval: Duration
    "How long the waiting time may stay above: a round-trip time of the slowest connections. Default: 100 ms (RFC 8289 §4.3)."
    ecn: bool
    "Mark packets of ECN-capable transports instead of dropping them. Default: off."
    resume: Resume
    "At which drop rate it begins again soon after it has stopped. Default: `rfc`: `difference`. `ns2`: `minus-two`."
    variant: Variant
    "Whose CoDel it is. Default: `rfc`."


Resume: TypeAlias = "Literal['difference', 'minus-two']"

Variant: TypeAlias = "Literal['rfc', 'mahimahi']"


class QueuePie(TypedDict, total=False):
    """Proportional integral controller enhanced."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 1000 packets (Linux)."
    target: Duration
    "The queueing delay that the controller aims at, `QDELAY_REF`. Default: 15 ms (RFC 8033 §4.2)."
    update: Duration
    "The time between two updates of the probability, `T_UPDATE`. Default: 15 ms (RFC 8033 §4.2)."
    alpha: float
    "By how much an update moves the probability for each second of delay above the target, in Hz. Default: 0.125 (RFC 8033 Appendix A)."
    beta: float
    "By how much an update moves the probability for each second by which the delay has grown, in Hz. Default: 1.25 (RFC 8033 Appendix A)."
    burst: Duration
    "How long a burst into a queue that was not congested is spared, `MAX_BURST`. Default: 150 ms (RFC 8033 §4.4)."
    mean_packet: Size
    "The size of a typical packet, `MEAN_PKTSIZE`: nothing is dropped while no more than two of them wait. Default: 1500 B (Linux: the MTU)."
    derandomize: bool
    "Spread drops evenly: none comes until the probabilities of the packets since the last one add up to 0.85 (RFC 8033 §5.4). Default: off."
    ecn: bool
    "Mark packets of ECN-capable transports instead of dropping them. Default: off."
    mark_p: Probability
    "The probability from which ECN-capable packets are dropped all the same, `mark_ecnth`. Default: 0.1 (RFC 8033 §5.1)."


class QueueFqCodel(TypedDict, total=False):
    """Flow queue CoDel."""

    limit: Length
    "How much may wait, all queues together. Beyond it the queue with the most bytes loses packets from its head. Default: 10240 packets (RFC 8290 §5.2.3)."
    flows: int
    "Into how many queues flows are hashed, up to 65536. Default: 1024 (RFC 8290 §5.2.5)."
    quantum: Size
    "What a queue may send in its turn. Default: 1514 B (RFC 8290 §5.2.4)."
    target: Duration
    "CoDel's target. Default: 5 ms (RFC 8290 §5.2.2)."
    interval: Duration
    "CoDel's interval. Default: 100 ms (RFC 8290 §5.2.1)."
    ecn: bool
    "Mark packets of ECN-capable transports instead of dropping them. Default: on (RFC 8290 §5.2.6)."
    ce_threshold: Duration
    "Mark, besides, packets that leave after more than this time in the queue. Default: never (RFC 8290 §5.2.7)."


class QueueDualpi2(TypedDict, total=False):
    """Two coupled queues, for low-latency (L4S) and for classic traffic."""

    dialect: DualPi2Dialect
    "Whose arithmetic and defaults. Default: `rfc`."
    limit: Length
    "How much may wait in both queues together; further arrivals are dropped. Default: `rfc`: what the link sends in 250 ms at the highest rate that it has had, and at least 15 kB. `linux`: 10000 packets."
    target: Duration
    "The queueing delay that the controller aims at. Default: 15 ms (RFC 9332 Figure 2; Linux)."
    update: Duration
    "The time between two updates of the base probability, Tupdate. Default: `rfc`: the least of `target` and a third of `rtt_max`. `linux`: 16 ms."
    rtt_max: Duration
    "The longest round-trip time for which the controller of `rfc` is to be stable. Default: 100 ms (RFC 9332 Figure 2)."
    alpha: float
    "By how much an update moves p′ for each second of delay above the target, in Hz. Default: `rfc`: 0.1·update/rtt_max². `linux`: 41/256."
    beta: float
    "By how much an update moves p′ for each second by which the delay has grown, in Hz. Default: `rfc`: 0.3/rtt_max. `linux`: 819/256."
    k: float
    "The coupling factor: an L4S packet is marked with `k` times p′. Default: 2 (RFC 9332 Figure 2; Linux)."
    min_th: Duration
    "The delay in the L queue up to which its own AQM marks nothing, minTh. Default: `rfc`: 800 us (RFC 9332 Figure 2). `linux`: 1 ms."
    range: Duration
    "The delay over which the marking of that AQM grows from nothing to all; zero is a step. Default: `rfc`: 400 us (RFC 9332 Figure 2). `linux`: 0 s."
    scheduler: DualPi2Scheduler
    "Which of the two queues is served. Default: `wrr` (RFC 9332 Appendix A.2; Linux)."
    c_weight: Probability
    "The weight of the C queue under `wrr`. Default: `rfc`: 1/16 (RFC 9332 §4.2.2). `linux`: 0.1."
    shift: Duration
    "By how much longer than an L packet a C packet waits under `time-shifted`, tshift. Default: 50 ms (RFC 9332 Appendix A.2)."
    overload: DualPi2Overload
    "What happens when all L4S packets are marked and that is not enough. Default: `drop` (RFC 9332 §4.2.3; Linux)."


DualPi2Dialect: TypeAlias = "Literal['rfc', 'linux']"

DualPi2Scheduler: TypeAlias = "Literal['wrr', 'time-shifted']"

DualPi2Overload: TypeAlias = "Literal['drop', 'delay']"


class QueueThreshold(TypedDict, total=False):
    """Marks above a threshold."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 1000 packets (Linux: `txqueuelen`)."
    delay: Duration
    "Packets that leave after more than this time in the queue are marked. Default: 1 ms (the step of Linux's `dualpi2`); none if `backlog` is set."
    backlog: Length
    "Packets that arrive while more than this waits are marked: DCTCP's K (Alizadeh et al. 2010 §3.1). Default: none."


class QueueEwa(TypedDict, total=False):
    """Explicit window adaptation. The constants are those of the later literature on EWA; the paper itself could not be consulted."""

    limit: Length
    "B: how much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail."
    segment: Size
    "The segment in which windows are counted, and by which a limit in bytes becomes packets: the payload of the flows' segments. Default: 1460 B."
    interval: Duration
    "T: the time between two computations of α and the average queue. Default: 10 ms."
    gain: float
    "g: the weight of the present queue in the average. Default: 1/32."
    threshold: float
    "θ: the part of the buffer up to which the average queue counts as short. Default: 0.2."
    increase: float
    "What a computation adds to α while the average queue is short. Default: 1/8."
    decrease: float
    "By what it multiplies α while it is long. Default: 31/32."
    alpha: float
    "α at the start. Default: 1."
    keep_alpha: bool
    "Keep α when the rate of the link changes, instead of beginning anew. Default: off."


class QueueXcp(TypedDict, total=False):
    """XCP's router."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail."
    capacity: Capacity
    'How it learns of the link\'s rate: `oracle`, at once; `stale`, never; `{ delayed = "1 s" }`; `measured`, from how fast packets leave. Default: `oracle`.'
    share: bool
    "Keep packets without XCP in a FIFO of their own, of the same limit. While both have packets the two take turns packet by packet, and XCP uses half of the link's rate (ns-2's `tcp_xcp_on_`). Off: all wait together, and packets without XCP count as input."
    first_control: Duration
    "When the control timer expires first. Left out: drawn from a normal distribution of mean 50 ms and deviation 10 ms, but at least 4 ms (ns-2.35)."
    first_queue: Duration
    "When the queue timer expires first. Default: likewise."


class AsDuration(TypedDict, total=False):
    """``delayed`` with its parameters."""

    delayed: Required[Duration]


Capacity: TypeAlias = "Literal['oracle', 'stale', 'measured'] | AsDuration"


class QueueSwan(TypedDict, total=False):
    """SWAN's classifier, shaper and admission threshold."""

    limit: Length
    "How much best-effort traffic may wait for the shaper; further arrivals are dropped. The line to the medium has the same limit. Default: 100 packets."
    period: Duration
    "How often the shaping rate is adapted, T. Default: 1 s."
    delay: Duration
    "The delay of the medium that is too long, δ: from the shaper to the end of the transmission. Default: 10 ms."
    decrease: Probability
    "By which share the shaping rate is cut after a period with too long a delay, r. Default: 0.5."
    increase: Rate
    "By how much it grows after a period without, c; it is never below this. Default: 32 kbit/s."
    gap: Probability
    "By which share it may exceed the rate that best effort uses, g. Default: 0.1."
    utilisation: Probability
    "The share of the medium's rate that real-time traffic may take, u: the threshold of admission. Default: 0.6."
    window: Duration
    "The window of the estimate of the real-time rate. Default: 1 s."
    marked: Probability
    "Which share of the real-time flows is marked while there is too much; another one in each period. Default: all: 1."


class QueueRio(TypedDict, total=False):
    """Random early detection with two levels."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail."
    in_min: float
    "The average of packets in profile below which none of them is dropped. Default: 15 (ns-2.35)."
    in_max: float
    "The average of packets in profile at which all of them are dropped. Default: 30 (ns-2.35)."
    in_max_p: Probability
    "The probability just below `in_max`. Default: 0.02 (ns-2.35)."
    out_min: float
    "The average of all packets below which none out of profile is dropped. Default: 5 (ns-2.35)."
    out_max: float
    "The average of all packets at which all out of profile are dropped. Default: 15 (ns-2.35)."
    out_max_p: Probability
    "The probability just below `out_max`. Default: 0.2 (ns-2.35)."
    weight: Probability
    "The weight of the present length in the averages. Default: 0.002 (Floyd, Jacobson 1993)."
    mean_packet: Size
    "The size of a typical packet, by which an idle time is counted. Default: 1500 B."


class QueueDrr(TypedDict, total=False):
    """Deficit round robin between flows."""

    quantum: Size
    "What a flow may send in its turn. With the largest packet's size or more, a turn always sends something (Shreedhar, Varghese 1996 §3). Default: 1500 B."
    limit: Length
    "How much may wait, all flows together. Default: 100 packets, as DropTail."


class QueuePriority(TypedDict, total=False):
    """Strict priority by code point."""

    classes: Sequence[PriorityClass]
    "The classes, the most urgent first; at most eight. Code points that none of them names go to the last. Two: expedited forwarding with class selectors 6 and 7, and the rest."


class PriorityClass(TypedDict, total=False):
    """A class of a strict-priority queue."""

    dscp: Sequence[Dscp]
    "The code points of its packets."
    queue: Inner
    "Its queue. Default: DropTail of 100 packets."


Dscp: TypeAlias = "Literal['be', 'ef', 'af11', 'af12', 'af13', 'af21', 'af22', 'af23', 'af31', 'af32', 'af33', 'af41', 'af42', 'af43', 'cs1', 'cs2', 'cs3', 'cs4', 'cs5', 'cs6', 'cs7']"

Inner: TypeAlias = "Literal['droptail', 'red', 'rio', 'codel', 'drr', 'pie', 'fq_codel', 'dualpi2', 'threshold'] | AsQueueDroptail | AsQueueRed | AsQueueRio | AsQueueCodel | AsQueueDrr | AsQueuePie | AsQueueFqCodel | AsQueueDualpi2 | AsQueueThreshold"


class QueueTokenBucket(TypedDict, total=False):
    """A shaper or a policer with a token bucket, around another queue."""

    rate: Required[Rate]
    "The rate at which tokens come."
    burst: Size
    "How many are kept. Default: 15 kB, ten packets of 1500 B."
    excess: Excess
    "What becomes of packets for which there are no tokens."
    queue: Inner
    "Where packets wait. Default: DropTail of 100 packets."


Excess: TypeAlias = "Literal['wait', 'drop', 'demote']"


class QueueWfq(TypedDict, total=False):
    """Weighted fair queueing between reservations and best effort."""

    limit: Length
    "How much may wait of each flow that has a reservation, and of best effort. Default: 100 packets, as DropTail."
    utilisation: Probability
    "The share of the link's rate that can be reserved. Default: 0.9 (ns-2.35, `param-adc.cc`)."
    clock: Clock
    "Where the virtual time comes from."


Clock: TypeAlias = "Literal['self-clocked', 'gps']"


class QueueQueuePhase(TypedDict, total=False):
    """A FIFO before which layers of multicast sessions are blocked and released. The defaults are those of the paper's Table I; what the paper leaves open says so."""

    limit: Length
    "How much may wait, without the packet in service; further arrivals are dropped. Default: 50 packets, as in ns-2's Iridium example."
    first_threshold: Probability
    "The queue is in phase 1 up to this share of its limit, F_QuThresh1. Default: 0: only when it is empty."
    second_threshold: Probability
    "It is in phase 3 from this share on, F_QuThresh2. Default: 0.8."
    check: Duration
    "How often it looks, I_ChekQu. Default: 20 ms."
    observe: Duration
    "For how long the queue has to be in phase 1 before a layer is released, at first, and for how long after a change none is released in phase 2 (`hold`): T_observe. Default: 1 s."
    slow_down: float
    "By what that time grows with each release, F_SlowDown. Default: 1.5; 1 is without this adaptation."
    back_off: float
    "By what it grows when a layer is blocked right after a release, F_BackOff. Default: 4; 1 is without this adaptation."
    block: float
    "By what share the rate of multicast sessions has to exceed TCP's before a layer is blocked, R_Block. Default: 0.2; 0 is without this adaptation."
    rate_window: Duration
    "Over how long rates are counted, T_rate. Default: 2 s: it has to cover the ups and downs of TCP. (Left open.)"
    live: Duration
    "For how long after a packet a layer counts as flowing. Default: 1 s: six packets of 1000 B at 50 kbit/s. (Left open.)"
    most_observe: Duration
    "How long T_observe gets at most. Default: 60 s. (Left open.)"
    quiet: Duration
    "After how long without a block it begins anew; so it does when sessions come or go, and when the link changes. Default: 60 s. (Left open.)"
    hold: QueuePhaseHold
    "For how long after a change no layer is released in phase 2. Default: `observe`."
    counting: QueuePhaseCounting
    "How layers count whose rate has not been seen for the whole window. Default: `settled`. (Left open.)"
    sessions: QueuePhaseSessions
    "What a TCP session is."
    misses: int
    "How many checks in phase 1 may find one or two packets. Default: 0. (Left open.)"


QueuePhaseHold: TypeAlias = "Literal['observe', 'window', 'none']"

QueuePhaseCounting: TypeAlias = "Literal['settled', 'plain']"

QueuePhaseSessions: TypeAlias = "Literal['connections', 'addresses']"


class QueueDiffserv(TypedDict, total=False):
    """Differentiated services: an edge's conditioner and the queues of the classes."""

    edge: bool
    "Whether this is an edge of the domain, which conditions flows and takes their marks for nothing; in the core marks are believed. Default: yes."
    ef: Probability
    "The share of the rate that expedited forwarding may have; the excess is dropped. Default: 0.3."
    ef_burst: Size
    "The burst that expedited forwarding may have, all flows together. Default: 15 kB, ten packets of 1500 B."
    ef_limit: Length
    "How much of expedited forwarding may wait. Default: 100 packets."
    af: Sequence[Probability]
    "The shares of the rate that assured forwarding classes 1 to 4 have at least. Default: 0.1 each."
    rio: QueueRio
    "The queue of each class of assured forwarding."
    limit: Length
    "How much of best effort, whose share is what the others leave, may wait. Default: 100 packets."
    meter: Meter
    "How assured forwarding is metered at an edge: green, yellow and red become drop precedence 1, 2 and 3. Expedited forwarding is metered by a token bucket, and the excess dropped (RFC 3246 §2.2). Default: the single-rate three-colour marker."


class AsMeterTokenBucket(TypedDict, total=False):
    """``token_bucket`` with its parameters."""

    token_bucket: Required[MeterTokenBucket]


class AsMeterSrtcm(TypedDict, total=False):
    """``srtcm`` with its parameters."""

    srtcm: Required[MeterSrtcm]


class AsMeterTrtcm(TypedDict, total=False):
    """``trtcm`` with its parameters."""

    trtcm: Required[MeterTrtcm]


class AsMeterTsw2cm(TypedDict, total=False):
    """``tsw2cm`` with its parameters."""

    tsw2cm: Required[MeterTsw2cm]


class AsMeterTsw3cm(TypedDict, total=False):
    """``tsw3cm`` with its parameters."""

    tsw3cm: Required[MeterTsw3cm]


Meter: TypeAlias = "Literal['token_bucket', 'srtcm', 'trtcm', 'tsw2cm', 'tsw3cm'] | AsMeterTokenBucket | AsMeterSrtcm | AsMeterTrtcm | AsMeterTsw2cm | AsMeterTsw3cm"

MeterTokenBucket: TypeAlias = "Mapping[str, Any]"


class MeterSrtcm(TypedDict, total=False):
    """The single-rate three-colour marker. CIR and CBS are what the flow was promised."""

    excess_burst: Size
    "The excess burst size EBS (RFC 2697 §2). Default: as large as the committed burst."


class MeterTrtcm(TypedDict, total=False):
    """The two-rate three-colour marker. CIR and CBS are what the flow was promised."""

    peak: float
    "The peak rate PIR, as a multiple of the committed rate; at least 1 (RFC 2698 §2). Default: 2."
    peak_burst: Size
    "The peak burst size PBS. Default: as large as the committed burst."


class MeterTsw2cm(TypedDict, total=False):
    """The time sliding window with two colours. The target rate is what the flow was promised."""

    window: Duration
    "The length of the window, AVG_INTERVAL. Default: 1 s (Clark, Fang 1998)."


class MeterTsw3cm(TypedDict, total=False):
    """The time sliding window with three colours. The committed target rate CTR is what the flow was promised."""

    window: Duration
    "The length of the window, AVG_INTERVAL. Default: 1 s (Clark, Fang 1998)."
    peak: float
    "The peak target rate PTR, as a multiple of the committed one; at least 1. Default: 2."


class AsLossModelBernoulli(TypedDict, total=False):
    """``bernoulli`` with its parameters."""

    bernoulli: Required[LossModelBernoulli]


class AsLossModelGilbert(TypedDict, total=False):
    """``gilbert`` with its parameters."""

    gilbert: Required[LossModelGilbert]


class AsLossModelList(TypedDict, total=False):
    """``list`` with its parameters."""

    list: Required[LossModelList]


class AsLossModelSchedule(TypedDict, total=False):
    """``schedule`` with its parameters."""

    schedule: Required[LossModelSchedule]


class AsLossModelRedrawn(TypedDict, total=False):
    """``redrawn`` with its parameters."""

    redrawn: Required[LossModelRedrawn]


class AsLossModelNone(TypedDict, total=False):
    """``none`` with its parameters."""

    none: Required[LossModelNone]


LossModel: TypeAlias = "Literal['none'] | AsLossModelBernoulli | AsLossModelGilbert | AsLossModelList | AsLossModelSchedule | AsLossModelRedrawn | AsLossModelNone"


class LossModelBernoulli(TypedDict, total=False):
    """Each packet is lost with the same probability, independently of all others."""

    p: Required[Probability]
    "The probability of loss."


class LossModelGilbert(TypedDict, total=False):
    """Losses in bursts. The state is drawn from the stationary distribution at the start."""

    good_to_bad: Required[Probability]
    "The probability of going from the good to the bad state after a packet (p)."
    bad_to_good: Required[Probability]
    "The probability of going from the bad to the good state after a packet (r). Its inverse is the mean length of a bad period in packets."
    loss_good: Probability
    "The probability of loss in the good state (Elliott's 1 − k). Default: 0, as in Gilbert's model."
    loss_bad: Probability
    "The probability of loss in the bad state (1 − h). Default: 1."


class LossModelList(TypedDict, total=False):
    """The listed packets are lost, all others arrive."""

    drop: Required[Sequence[int]]
    "Which packets are lost: their numbers in the order of arrival at this direction of the link, all flows together, from 0. A model that a change puts in place counts from there."


class LossModelSchedule(TypedDict, total=False):
    """Each packet is lost independently, with the probability that holds at its arrival."""

    steps: Required[Sequence[StepForms]]
    'From when on which probability holds, in any order: `[["10 s", 0.01], ["20 s", 0]]`, or `[{ at = "10 s", p = 0.01 }]`. Times count from the start of the run; before the first nothing is lost.'
    every: Duration
    'The steps are repeated in this interval: with `steps = [["0 s", 0.1], ["2 s", 0]]` and `every = "10 s"` a tenth is lost during two seconds of ten. Default: they are not repeated.'
    attempts: int
    "The probabilities are the residual losses p after n `attempts`, as where a base station retransmits; each attempt fails with p^(1/n). Default: 1."


StepForms: TypeAlias = "Sequence[Any] | Mapping[str, Any]"


class LossModelRedrawn(TypedDict, total=False):
    """Each packet is lost independently, with a probability that is drawn anew from a range at equal intervals. The draws do not depend on the traffic."""

    low: Probability
    "The lowest probability. Default: 0."
    high: Required[Probability]
    "The highest probability; between the two it is drawn evenly."
    period: Required[Duration]
    "How long each draw holds."
    from_: Duration
    "When the first one begins to hold; nothing is lost before. Default: 0 s."
    until: Duration
    "When the last one ends to hold; nothing is lost from then on. Default: never."
    attempts: int
    "The drawn value is the residual loss p after n `attempts`; each attempt fails with p^(1/n). Default: 1."


LossModelNone: TypeAlias = "Mapping[str, Any]"


class Jitter(TypedDict, total=False):
    """Each packet takes longer than the propagation delay by |max(min(N(0, std²), bound·std), −bound·std)| (RFC 8868 §4.5.3). Packets keep their order: one that would arrive before the last one arrives its transmission time behind it (§4.5.2)."""

    std: Duration
    "The standard deviation before the absolute value is taken. Default: 5 ms (RFC 8868 §4.5.3)."
    bound: float
    "The most, in standard deviations, N_STD. Default: 3 (RFC 8868 §4.5.3)."


class Reverse(TypedDict, total=False):
    """What differs on the way back."""

    rate: Rate
    "The rate."
    delay: Duration
    "The propagation delay."
    queue: Queue
    "The queue."
    loss: LossModel
    "Losses of packets sent back. Default: none."


class Cell(TypedDict, total=False):
    """A cell of UMTS between an RNC and terminals (UEs). The terminals are nodes called `NAME.ue[0]`, `NAME.ue[1]`, …; a flow to or from `NAME.ue[*]` stands for one flow for each of them, and `NAME.ue[0:15]` for the first 15."""

    name: Required[str]
    "A name for results and terminals."
    rnc: Required[str]
    "The node that is the RNC."
    ues: int
    "How many terminals there are. Default: 1."
    rlc: Rlc
    "How RLC carries packets over the radio. Default: `3gpp`: `am`, acknowledged mode. `ns2`: `eurane`, or `eurane_hs` with the attachment `high_speed`."
    pdcp: Pdcp
    "How PDCP compresses headers of packets above RLC. Default: none."
    loss: LossModel
    "Which PDUs the air loses down, for each terminal by itself. Default: none."
    uplink_loss: LossModel
    "Which PDUs the air loses up. Default: none."
    attachment: Attachment
    "What serves the terminals: the common channels, dedicated ones, or dedicated ones on demand. Default: on demand."
    fach: Rate2
    "The forward access channel, down, which all terminals share. Default: 32 kbit/s in intervals of 10 ms."
    rach: Rate2
    "The random access channel, up, which each terminal has for itself. Default: 16 kbit/s in intervals of 20 ms."
    rach_access: Duration
    "Access to the random access channel delays an interval's PDUs by up to this long, at random. Those of a terminal keep their order, but for profile `ns2`. Default: 3 ms (EURANE)."
    rach_aloha: Aloha
    "Access to the random access channel is slotted ALOHA, with collisions, instead of that. Default: no."
    dch: Dch
    "Dedicated channels."
    dsch: Dsch
    "A downlink shared channel (DSCH), which then carries what dedicated channels would carry down. Default: none."
    hs_dsch: HsDsch
    "A high-speed downlink shared channel (HS-DSCH), for the attachment `high_speed`. Default: none."
    cpch: Cpch
    "Common packet channels (CPCH), up, over which a terminal on the common channels sends if much waits there. Default: none."
    iub: Iub
    "Between Node B and RNC."
    queue: Limit
    "How much the queues in front of the air take. Default: `3gpp`: what two intervals carry. `ns2`: EURANE's rule, which mixes units."
    fach_order: Order
    "The order of service on the forward access channel. Default: first come first served."
    spacing: Duration
    "The PDUs of one interval leave RLC one after the other, each up to this long after the one before, at random. So the order at FACH changes in profile `ns2`. Default: 20 µs (EURANE); 0 s keeps the terminals in one order for ever."
    loss_indication: LossIndication
    "By which rule the RNC indicates packets that it never had, or that found no room in RLC's buffer. Default: it does not."
    mobility: Mobility
    "Several radio cells in the place of one, and terminals that move between them. Left out: one cell, in which it does not matter where terminals are."


class AsRlcAm(TypedDict, total=False):
    """``am`` with its parameters."""

    am: Required[RlcAm]


class AsRlcUm(TypedDict, total=False):
    """``um`` with its parameters."""

    um: Required[RlcUm]


class AsRlcEurane(TypedDict, total=False):
    """``eurane`` with its parameters."""

    eurane: Required[RlcEurane]


class AsRlcEuraneHs(TypedDict, total=False):
    """``eurane_hs`` with its parameters."""

    eurane_hs: Required[RlcEuraneHs]


class AsRlcTm(TypedDict, total=False):
    """``tm`` with its parameters."""

    tm: Required[RlcTm]


Rlc: TypeAlias = (
    "Literal['am', 'um', 'eurane', 'eurane_hs', 'tm'] | AsRlcAm | AsRlcUm | AsRlcEurane | AsRlcEuraneHs | AsRlcTm"
)


class RlcAm(TypedDict, total=False):
    """Acknowledged mode."""

    pdu: Size
    "The size of a PDU. Up to 126 B a length indicator takes 1 B, above 2 B (§9.2.2.8). Default: 40 B."
    header: Header
    "Whether the header of 2 B takes of it. Default: `included`."
    special_he: bool
    "Let the header tell that the last byte of a PDU is the last of an SDU (the special value of HE, §9.2.2.7, since release 7), instead of an indicator in the next PDU. Default: off."
    window: int
    "How many PDUs may be under way, and how far the receiver looks ahead (Configured_Tx_Window_Size and Configured_Rx_Window_Size, §9.6). Up to 2047: above half of the sequence numbers a repeated PDU or discard can pass for a new one. Default: 1024 (NIST's EURANE)."
    buffer: Size
    "The most bytes that wait to be put into PDUs; an SDU that does not fit is dropped. Default: 100 kB (EURANE)."
    discard: Discard
    "When SDUs are given up (§9.7.3). Default: `max-dat`."
    max_dat: int
    "How often a PDU is sent, with `discard` at `max-dat` or `reset` (MaxDAT, §9.6 a; RRC can ask for up to 40). Default: 10 (Dubois 2005, ch. 8)."
    maxdat_counts: MaxDatCounts
    "What `max_dat` counts. Default: `transmissions`, which the results of Dubois 2005 imply."
    discard_timer: Duration
    "How long an SDU may wait for its acknowledgement, with `discard` at `timer` (Timer_Discard, §9.5 d; RRC: 0.1 s to 7.5 s). Default: 5 s."
    mrw_timer: Duration
    "How long after an order to move the receiving window (MRW) it is sent again, if it is not acknowledged (Timer_MRW, §9.5 i). Default: 500 ms (Dubois 2005, §5.1)."
    max_mrw: int
    "How often an MRW is sent before both ends are reset (MaxMRW, §9.6 h; RRC: 1 to 32). Default: 8."
    reset_timer: Duration
    "How long after a reset it is asked for again, if it is not acknowledged (Timer_RST, §9.5 h; RRC: 50 ms to 1 s). Default: 500 ms."
    max_rst: int
    "One more than how often a reset is asked for before that is counted as an unrecoverable error (MaxRST, §9.6 e; RRC: 1 to 32). Default: 8."
    poll: Poll
    "What `poll_timer` does. Default: `timer`."
    poll_timer: Duration
    "How long after a poll the next one is sent, if no report has answered it (Timer_Poll, §9.5 a); with `poll` at `periodic`, the time from poll to poll (Timer_Poll_Periodic, §9.5 e). Default: 170 ms (EURANE)."
    poll_last: bool
    "Poll on a new PDU after which none can be sent (*last PDU in buffer*, §9.7.1). Default: on."
    poll_last_retransmission: bool
    "Poll on the last retransmission that is due (*last PDU in retransmission buffer*, §9.7.1). Default: on."
    poll_every: int
    "Poll on every so-many-th PDU (Poll_PDU, §9.6 b; RRC: up to 128). Default: 256 (EURANE); 0 for never."
    poll_every_sdus: int
    "Poll at the end of every so-many-th SDU (Poll_SDU, §9.6 c; RRC: 1, 4, 16, 64). Default: 0 for never."
    poll_window: int
    "Poll on PDUs sent when this percentage of the window is in use (Poll_Window, §9.6 d; RRC: 50 to 99). Default: 0 for never."
    status_on_gap: bool
    "Report when a PDU arrives before one that is missing, and that gap is new (*detection of missing PDUs*, §9.7.2). Default: on."
    status_prohibit: Duration
    "The least time between two reports (Timer_Status_Prohibit, §9.5 f; RRC: 10 ms to 1 s). Default: 80 ms; 0 for none."
    status_periodic: Duration
    "Report at all multiples of this time (Timer_Status_Periodic, §9.5 g; RRC: 0.1 s to 2 s). Default: only on a poll or a gap."
    round_trip: Duration
    "Do not believe that a PDU is missing which was sent less than this ago: the report was made before it could arrive. Left out: send it again at once, as the standard says (§11.5.3)."
    in_sequence: bool
    "Deliver SDUs in the order in which they were sent (*in-sequence delivery*, §11.3.3); otherwise each as soon as it is complete. Default: on."


Header: TypeAlias = "Literal['included', 'free']"

Discard: TypeAlias = "Literal['max-dat', 'timer', 'reset']"

MaxDatCounts: TypeAlias = "Literal['transmissions', 'retransmissions', '3gpp']"

Poll: TypeAlias = "Literal['timer', 'periodic']"


class RlcUm(TypedDict, total=False):
    """Unacknowledged mode."""

    pdu: Size
    "The size of a PDU. Up to 125 B a length indicator takes 1 B, above 2 B (§9.2.2.8). Default: 40 B."
    header: Header
    "Whether the header of 1 B takes of it. Default: `included`."
    tells_start: bool
    "Spend an indicator to tell that a PDU begins with the first byte of an SDU, where the end of the one before does not tell it; then a missing PDU does not cost that SDU. Default: on: the uplink must, the downlink may (§9.2.2.8)."
    buffer: Size
    "The most bytes that wait to be put into PDUs; an SDU that does not fit is dropped. Default: 100 kB, as in acknowledged mode."


class RlcEurane(TypedDict, total=False):
    """RLC in acknowledged mode as EURANE does it."""

    pdu: Size
    "The size of a PDU. Its header takes nothing of it, a length indicator 1 B. Default: 40 B (`payload_`)."
    window: int
    "How many PDUs may lie between the highest that a report spoke of and the next new one. Default: 1024 (`win_`)."
    poll_timer: Duration
    "How long after a poll the next one is sent, if no report covers the PDU that carried it. Default: 170 ms (`poll_timeout_`)."
    poll_every: int
    "After how many PDUs with data one polls at the latest. Default: 256 (`poll_PDU_`)."
    status_prohibit: Duration
    "The least time between two reports. Default: 150 ms (`stprob_timeout_`)."
    buffer: Size
    "How many bytes of SDUs may wait to be put into PDUs; an SDU that does not fit is dropped. Default: 100 kB (`maxRBSize_`)."
    max_dat: int
    "How often a PDU is sent at most (maxDAT). If it is still missing then, its SDU and those before it are given up. Default: without limit, as EURANE was published."
    mrw_timer: Duration
    "With `max_dat`: how long after an order to give SDUs up (MRW) it is sent again, if no report shows that the far end knows. Default: 500 ms (Dubois 2005, §5.1)."


class RlcEuraneHs(TypedDict, total=False):
    """RLC in acknowledged mode as EURANE does it over the high-speed shared channel."""

    am: RlcEurane
    "What both ends have in common, and what the terminal's needs beside that. Its `window` and `buffer` are the terminal's; `max_dat` is not for this channel."
    window: int
    "How many PDUs the RNC may send beyond the first sequence number of the last report. Default: 4095 (`win_` of `UMTS/RLC/AMHS`)."
    buffer: int
    "The limit of PDUs waiting at the RNC; an SDU that would reach it is dropped. Default: 500 (`buffer_level_max_`)."
    wait: Duration
    "How long the last part of an SDU waits for the next one to fill its PDU. Default: 2 ms (`temp_pdu_timeout_time_`)."
    status_delay: Duration
    'How long a report waits for a PDU on which it can ride. Default: 1 s (`status_timeout_`: "1ms" is read as 1 s).'


class RlcTm(TypedDict, total=False):
    """Transparent mode."""

    pdu: Size
    "The largest PDU. Default: 40 B."
    segmentation: bool
    "Cut an SDU that is larger into PDUs, which leave in one interval (*segmentation*, §9.2.2.9); if the channel's interval carries fewer, it is discarded. Default: off: a PDU is an SDU, and a larger SDU is refused."
    buffer: Size
    "The most bytes of SDUs that wait; an SDU that does not fit is dropped. Default: 100 kB, as in the other modes."


class AsPdcpNone(TypedDict, total=False):
    """``none`` with its parameters."""

    none: Required[PdcpNone]


class AsPdcpRfc2507(TypedDict, total=False):
    """``rfc2507`` with its parameters."""

    rfc2507: Required[PdcpRfc2507]


Pdcp: TypeAlias = "Literal['none', 'rfc2507'] | AsPdcpNone | AsPdcpRfc2507"

PdcpNone: TypeAlias = "Mapping[str, Any]"


class PdcpRfc2507(TypedDict, total=False):
    """Header compression by RFC 2507. Defaults and ranges are those of RFC 2507 §14 and TS 25.331 §10.3.4.2."""

    tcp_space: int
    "The largest context identifier of TCP, 3 to 255; identifiers begin at 0 (TCP_SPACE). Default: 15."
    non_tcp_space: int
    "The largest context identifier of other packet streams, 3 to 65535 (NON_TCP_SPACE). 15. Those above 255 take a byte more."
    f_max_period: int
    "The most compressed headers of a stream that is not TCP between two full ones, 1 to 65535 (F_MAX_PERIOD). Default: 256."
    f_max_time: Duration
    "The time after which the next header of a stream that is not TCP is a full one, 1 s to 255 s (F_MAX_TIME). Default: 5 s."


class AsAttachmentRrc(TypedDict, total=False):
    """``rrc`` with its parameters."""

    rrc: Required[AttachmentRrc]


class AsAttachmentCommon(TypedDict, total=False):
    """``common`` with its parameters."""

    common: Required[AttachmentCommon]


class AsAttachmentDedicated(TypedDict, total=False):
    """``dedicated`` with its parameters."""

    dedicated: Required[AttachmentDedicated]


class AsAttachmentHighSpeed(TypedDict, total=False):
    """``high_speed`` with its parameters."""

    high_speed: Required[AttachmentHighSpeed]


class AsAttachmentEurane(TypedDict, total=False):
    """``eurane`` with its parameters."""

    eurane: Required[AttachmentEurane]


Attachment: TypeAlias = "Literal['rrc', 'common', 'dedicated', 'high_speed', 'eurane'] | AsAttachmentRrc | AsAttachmentCommon | AsAttachmentDedicated | AsAttachmentHighSpeed | AsAttachmentEurane"


class AttachmentRrc(TypedDict, total=False):
    """Dedicated channels on demand, and the states of RRC."""

    initial: Initial
    "The state at the start: `cell_fach`, or `idle`."
    threshold: Size
    "A terminal on CELL_FACH asks for dedicated channels when more than this waits for it in its RLC at the RNC: SDUs, and PDUs that are not acknowledged. Default: 1000 B."
    uplink_threshold: Size
    "The same of the data that wait at the terminal to be sent up. Default: it does not ask for that."
    budget: Rate
    "What the cell may give away downlink, the forward access channel included. 800 kbit/s. Dedicated channels also need a code (TS 25.213 §4.3.1): of 64 kbit/s there are 31."
    setup: Duration
    "How long it takes to set up dedicated channels. Default: 0.9 s."
    setup_after_release: Duration
    "How long it takes if another terminal has to be released first. Default: 1 s."
    keep: Duration
    "How long a silent terminal keeps dedicated channels to itself. Default: 5 s."
    preemptible: Duration
    "How long after that it has them until another asks for them. Default: 0 s."
    refused: Refused
    "What a terminal does that asks in vain: it `waits` for what becomes free, first come first served, or `asks_again` when more comes for it. Default: it waits (TS 25.413 §9.2.1.3, queuing allowed)."
    serve_during_switch: bool
    "Whether the common channels serve a terminal while its dedicated ones are set up. Default: no."
    paging_after: Duration
    "A terminal that is silent on CELL_FACH for this time goes to CELL_PCH. Left out: it stays. On CELL_PCH more than 4 changes of its cell in 60 s make it go to URA_PCH."
    from_paging: Duration
    "From CELL_PCH or URA_PCH to CELL_FACH, when there are data for the terminal or of it. Default: 0.5 s."
    from_idle: Duration
    "From Idle to CELL_FACH. Default: 2 s."
    idle_after: Duration
    "A terminal that has been silent for this time, in whatever states, is released, to Idle. Default: 30 min."


Initial: TypeAlias = "Literal['cell_fach', 'idle']"

Refused: TypeAlias = "Literal['waits', 'asks_again']"

AttachmentCommon: TypeAlias = "Mapping[str, Any]"

AttachmentDedicated: TypeAlias = "Mapping[str, Any]"

AttachmentHighSpeed: TypeAlias = "Mapping[str, Any]"


class AttachmentEurane(TypedDict, total=False):
    """Switching as in EURANE."""

    threshold: Size
    "What may wait at the RNC, rounded to 100 bytes, before it asks for dedicated channels. Default: 500 B."
    uplink_threshold: Size
    "What may wait at a terminal, the same. Default: 265 B."
    timer: Duration
    "How long both must have sent little. Default: 1 s."


class Rate2(TypedDict, total=False):
    """The rate of a transport channel, and its transmission time interval."""

    rate: Required[Rate]
    "Bits per second of RLC's PDUs."
    tti: Required[Duration]
    "The transmission time interval: 10, 20, 40 or 80 ms (3GPP TS 25.302 §6.2)."


class Aloha(TypedDict, total=False):
    """Slotted ALOHA on the random access channel."""

    signatures: int
    "How many signatures the cell allows, 1 to 16. Default: 16, all of them."


class Dch(TypedDict, total=False):
    """Dedicated channels."""

    down: Rate2
    "Down. Default: 64 kbit/s in intervals of 10 ms."
    up: Rate2
    "Up. Default: 32 kbit/s in intervals of 10 ms."


class Dsch(TypedDict, total=False):
    """A downlink shared channel: one terminal in each interval. Each terminal that RRC gives access to it has beside it a dedicated channel for signalling, of 3.4 kbit/s down, and `dch.up`."""

    rate: Rate
    "Its rate, in bits per second of RLC's PDUs. Default: 256 kbit/s."
    tti: Duration
    "Its transmission time interval. Default: 10 ms, the shortest (TS 25.302 §6.2)."
    order: Order
    "Whose turn it is: the terminal whose oldest packet came first, behind those with control information of RLC, or the terminals in turn. Default: `fifo`."


Order: TypeAlias = "Literal['fifo', 'round_robin']"


class HsDsch(TypedDict, total=False):
    """A high-speed downlink shared channel (HS-DSCH): one terminal in each slot of 2 ms."""

    cqi: Required[Sequence[Sequence[Sequence[Any]]]]
    "How good the air is: for each terminal a trace of channel quality indicators (CQI), as runs `[slots, CQI]` that are repeated. One trace alone is for all terminals. `[[[1, 14]]]` is a CQI of 14 for ever."
    category: int
    "The category of the terminals (TS 25.306 §5.1): 1 to 6, 11 and 12 receive 5 codes, 7 and 8 receive 10, 9 and 10 receive 15; 11 and 12 do without 16QAM. Default: 6."
    scheduler: Scheduler
    "Whose slot it is. Default: `3gpp`: `round_robin`. `ns2`: `max_sir`."
    processes: int
    "How many processes hybrid ARQ has: a block that failed is sent again this number of slots later. Default: 6."
    transmissions: int
    "How often a block is sent at most. Default: 3 (EURANE)."
    reception: Reception
    "Which transmissions are received. Default: `3gpp`: `combining`. `ns2`: `thresholds`, all of which are reached."
    air_time: Duration
    "How long a block is on the air. Default: `3gpp`: 2 ms. `ns2`: 0 s."
    window: int
    "How many blocks a terminal reorders at most: at most half of the 64 numbers (TS 25.321 §11.6.2.3). Default: 32."
    t1: Duration
    "How long a terminal waits for a block that is missing (T1, TS 25.321 §11.6.2). Default: 25 ms (EURANE); `3gpp`: at least as long as a block may be sent again, (`transmissions` − 1) × `processes` × 2 ms."
    capacity: CapacityPlan
    "How many PDUs the RNC may send to the Node B."


class AsSchedulerRoundRobin(TypedDict, total=False):
    """``round_robin`` with its parameters."""

    round_robin: Required[SchedulerRoundRobin]


class AsSchedulerMaxSir(TypedDict, total=False):
    """``max_sir`` with its parameters."""

    max_sir: Required[SchedulerMaxSir]


class AsSchedulerProportionalFair(TypedDict, total=False):
    """``proportional_fair`` with its parameters."""

    proportional_fair: Required[SchedulerProportionalFair]


class AsSchedulerLeastRecent(TypedDict, total=False):
    """``least_recent`` with its parameters."""

    least_recent: Required[SchedulerLeastRecent]


class AsSchedulerFairChannel(TypedDict, total=False):
    """``fair_channel`` with its parameters."""

    fair_channel: Required[SchedulerFairChannel]


Scheduler: TypeAlias = "Literal['round_robin', 'max_sir', 'proportional_fair', 'least_recent', 'fair_channel'] | AsSchedulerRoundRobin | AsSchedulerMaxSir | AsSchedulerProportionalFair | AsSchedulerLeastRecent | AsSchedulerFairChannel"

SchedulerRoundRobin: TypeAlias = "Mapping[str, Any]"

SchedulerMaxSir: TypeAlias = "Mapping[str, Any]"


class SchedulerProportionalFair(TypedDict, total=False):
    """The terminal with the highest ratio of what the slot would carry to its average; of several, the one with the lowest number."""

    window: Duration
    "Over which time the average goes back. Default: 2 s: 1000 slots of 2 ms, the number of slots that Jalali et al. take."


SchedulerLeastRecent: TypeAlias = "Mapping[str, Any]"


class SchedulerFairChannel(TypedDict, total=False):
    """The terminal whose ratio lies most standard deviations above its mean; of several, the one with the lowest number."""

    window: Duration
    "Over which time mean and variance go back. Default: 2 s: 1000 slots of 2 ms, α = 0.999 (EURANE)."


class AsReceptionCombining(TypedDict, total=False):
    """``combining`` with its parameters."""

    combining: Required[ReceptionCombining]


class AsReceptionThresholds(TypedDict, total=False):
    """``thresholds`` with its parameters."""

    thresholds: Required[ReceptionThresholds]


Reception: TypeAlias = "Literal['combining', 'thresholds'] | AsReceptionCombining | AsReceptionThresholds"

ReceptionCombining: TypeAlias = "Mapping[str, Any]"


class ReceptionThresholds(TypedDict, total=False):
    """Thresholds, as in EURANE: a transmission is received if its power reaches a threshold, which is drawn for each block from a list."""

    gains: Sequence[Decibel]
    "How much more power than the first the second, third, … transmission has; those after the last have as much as that. The first has 40 dB and 1 dB for each step of its CQI. Default: none: all have the same."
    thresholds: Sequence[Decibel]
    "The thresholds, each as likely as any other. Default: 0 dB, which all transmissions reach."


Decibel: TypeAlias = "str"


class CapacityPlan(TypedDict, total=False):
    """Flow control between RNC and Node B (TS 25.435 §5.9, §5.10)."""

    interval: Duration
    "The time between two capacity requests of the RNC. Default: 30 ms (EURANE)."
    delay: Duration
    "From a request until the allocation is at the RNC. Default: `3gpp`: twice the delay of the Iub. `ns2`: 15 ms."
    limit: int
    "How many PDUs may wait for a terminal at the Node B, with those under way to it. Default: 250 (EURANE); `3gpp`: at least as many as the largest blocks of the category carry until the PDUs of the next request have come, in `interval`, `delay`, the delay of the Iub and a slot."


class Cpch(TypedDict, total=False):
    """The common packet channels of a cell."""

    channels: int
    "How many there are. Default: 1, at most 16, since each has an access preamble of its own."
    rate: Rate
    "The rate of each, in bits per second of RLC's PDUs. Default: 64 kbit/s."
    tti: Duration
    "The transmission time interval. Default: 10 ms."
    threshold: Size
    "A terminal asks for one if more than this waits in its RLC and is not yet in PDUs. Default: 500 B."
    max_frames: int
    "The most frames of 10 ms of a message (N_Max_frames, TS 25.331 §10.3.6.22). Default: 64, the most there."
    backoff: int
    "Maximum random backoff, in frames of 10 ms, of a terminal that finds no channel or loses one to another. Default: 16."


class Iub(TypedDict, total=False):
    """The interface between Node B and RNC."""

    rate: Rate
    "Its rate. Default: 622 Mbit/s (EURANE's examples)."
    delay: Duration
    "Its propagation delay. Default: 15 ms (the same)."


Limit: TypeAlias = "Literal['two_intervals', 'mixed_units']"


class AsLossIndicationEdge(TypedDict, total=False):
    """``edge`` with its parameters."""

    edge: Required[LossIndicationEdge]


class AsLossIndicationToggle(TypedDict, total=False):
    """``toggle`` with its parameters."""

    toggle: Required[LossIndicationToggle]


class AsLossIndicationResend(TypedDict, total=False):
    """``resend`` with its parameters."""

    resend: Required[LossIndicationResend]


LossIndication: TypeAlias = (
    "Literal['edge', 'toggle', 'resend'] | AsLossIndicationEdge | AsLossIndicationToggle | AsLossIndicationResend"
)


class LossIndicationEdge(TypedDict, total=False):
    """The bit is set in the first packets after a gap, and in copies that the base station itself asked for."""

    hold: int
    "In how many packets after a gap: the radio may lose the first. Default: 1."


LossIndicationToggle: TypeAlias = "Mapping[str, Any]"

LossIndicationResend: TypeAlias = "Mapping[str, Any]"


class Mobility(TypedDict, total=False):
    """Several radio cells in the place of one, and terminals that move between them. Each has the channels of the block's own cell, and each site an Iub like it."""

    site: Required[Sequence[Site]]
    "The sites: a Node B at each, with one radio cell or one for each sector."
    system: Sequence[System]
    "Sites of other systems, such as a WLAN, which take terminals that hear them well."
    movement: Sequence[Way]
    "How terminals move: the first of these is that of the first terminal, and so on. If there are more terminals, the next begin again with the first. Default: they stay at the origin."
    path_loss: PathLoss
    "How much less comes from farther away."
    shadowing: Shadowing
    "The shadowing by obstacles in between."
    antenna: Antenna
    "The antennas of sites."
    pilot: Level
    "What each cell sends its pilot (CPICH) with; terminals measure it. Default: 33 dBm: a tenth of 43 dBm (3GPP TR 25.942 §5.1.4.1)."
    interval: Duration
    "The time between two measurements. Default: 100 ms."
    soft: SetRules
    "Soft handover: the active set of a terminal with dedicated channels."
    hard: Break
    "Hard handover, to a cell of another carrier (TS 25.331 §14.2.1.1, event 2A). With `soft.most = 1` each handover within a carrier is hard too, by `soft.replace`."
    reselection: Break
    "The change of cell of a terminal that has no dedicated channels (TS 25.304 §5.2.6)."
    relocation: Relocation
    "Relocation: the RNC at whose Node Bs a terminal is becomes the one at which its RLC ends, and packets come there. Left out: there is none, and the first RNC serves for ever, over the Iur."
    iur: Iur
    "Between two RNCs."
    power: Power
    "How well blocks come over the air."


class Site(TypedDict, total=False):
    """A site."""

    at: Point
    "Where it stands, in coordinates east and north. Default: the origin."
    sectors: Sequence[Angle]
    "The main direction of the antenna of each of its sectors. Default: none: one cell that sends alike in all directions."
    rnc: str
    "The node that is its RNC. Default: That of the block."
    carrier: int
    "The number of its carrier. Terminals are in soft handover between cells of one carrier only. Default: 0."


Point: TypeAlias = "Sequence[Any]"

Distance: TypeAlias = "str"

Angle: TypeAlias = "str"


class System(TypedDict, total=False):
    """A site of another system. It serves each terminal by itself, with queues of its own."""

    at: Point
    "Where it stands. Default: the origin."
    rate: Required[Rate]
    "Its rate, in both directions."
    uplink_rate: Rate
    "Its rate up, if that is another."
    delay: Duration
    "Its delay. Default: 20 ms."
    queue: Size
    "The limit of the queue in front of it in each direction; packets beyond it are dropped. Default: 100 kB."
    power: Level
    "What it sends with, alike in all directions. Default: 20 dBm."
    enter: Level
    "A terminal comes that hears it better than this for `held` (TS 25.331 §14.3.1.2, event 3B). −75 dBm."
    only_below: Level
    "But only if it hears no cell of its active set better than this (event 3A). Default: always."
    leave: Level
    "A terminal goes back that hears it worse than this for `held` (event 3C). −80 dBm."
    held: Duration
    "How long each condition must hold. Default: 200 ms."
    interruption: Duration
    "For how long nothing is sent, on the way there and back. Default: 500 ms."
    carry_over: CarryOver
    "What becomes of packets that wait at the former system: whole ones go to the new system, ahead of all others, or are lost. Default: `keep`."


Level: TypeAlias = "str"

CarryOver: TypeAlias = "Literal['keep', 'lose']"


class AsWayStill(TypedDict, total=False):
    """``still`` with its parameters."""

    still: Required[WayStill]


class AsWayWaypoints(TypedDict, total=False):
    """``waypoints`` with its parameters."""

    waypoints: Required[WayWaypoints]


class AsWayStraight(TypedDict, total=False):
    """``straight`` with its parameters."""

    straight: Required[WayStraight]


class AsWayRandomWaypoint(TypedDict, total=False):
    """``random_waypoint`` with its parameters."""

    random_waypoint: Required[WayRandomWaypoint]


Way: TypeAlias = "Literal['still', 'waypoints'] | AsWayStill | AsWayWaypoints | AsWayStraight | AsWayRandomWaypoint"


class WayStill(TypedDict, total=False):
    """A terminal that stays where it is."""

    at: Point
    "Where, in coordinates east and north. Default: the origin."


class WayWaypoints(TypedDict, total=False):
    """A terminal that is at given places at given times, and on the straight way in between."""

    points: Sequence[Waypoint]
    "The places in the order of their times. Before the first it is there, after the last it stays there."


class Waypoint(TypedDict, total=False):
    """A place at a time."""

    time: Required[Duration]
    "When."
    at: Required[Point]
    "Where."


class WayStraight(TypedDict, total=False):
    """A terminal that goes straight."""

    from_: Point
    "Where it is at the start of the run."
    to: Required[Point]
    "Where it goes."
    speed: Speed
    "How fast. Default: 50 km/h."
    back_and_forth: bool
    "Whether it turns at the end and goes back, again and again. Default: no: it stays there."


Speed: TypeAlias = "str"


class WayRandomWaypoint(TypedDict, total=False):
    """A terminal that goes to places drawn at random, starting at one."""

    corners: Required[Sequence[Point]]
    "Two opposite corners of the rectangle."
    speed: Sequence[Speed]
    "The least and the highest speed, between which that of each way is drawn. 3 to 50 km/h. The least is above 0, or terminals come to a stand for ever (Yoon, Liu, Noble: *Random Waypoint Considered Harmful*, INFOCOM 2003)."
    pause: Duration
    "How long it stays at each place. Default: 0 s."


class PathLoss(TypedDict, total=False):
    """Path loss by distance: `at_1_km` + 10 · `exponent` · log₁₀(d/km)."""

    at_1_km: Decibel
    "The loss at 1 km. Default: 128.1 dB (3GPP TR 25.942 §5.1.4.1: the macro cell at 2 GHz with antennas 15 m above the roofs)."
    exponent: float
    "By which power of the distance the loss grows. Default: 3.76 (the same)."
    least_coupling: Decibel
    "The least loss between two antennas' connectors, antenna gains included. Default: 70 dB (the same: minimum coupling loss)."


class Shadowing(TypedDict, total=False):
    """Shadowing: normal in decibels. Along a terminal's way its correlation halves over `distance` (Gudmundson, *Electronics Letters* 27, 1991, in the form of ETSI TR 101 112 §B.1.4.1.4); to different sites it is correlated by `sites`."""

    deviation: Decibel
    "The standard deviation. 0 dB: no shadowing. 3GPP TR 25.942 §5.1.4.1 takes 10 dB for macro cells."
    distance: Distance
    "Over which way the correlation falls to one half. Default: 50 m."
    sites: Probability
    "The correlation between two sites. Default: 0.5 (TR 25.942 §5.1.4.1)."


class Antenna(TypedDict, total=False):
    """The pattern of a sector's antenna: −min(12 (θ/`beamwidth`)², `front_to_back`) beside `gain` (3GPP TR 25.996 §4.5.1)."""

    gain: Decibel
    "The gain in the main direction. Default: 14 dB (TR 25.996 §4.5.1)."
    beamwidth: Angle
    "The width within which the gain is at most 3 dB less. Default: 70 deg (the same, for three sectors)."
    front_to_back: Decibel
    "How much less it is at the back. Default: 20 dB (the same)."
    omnidirectional: Decibel
    "The gain of an antenna that sends alike in all directions, cable losses included. Default: 11 dB (TR 25.942 §5.1.4.1)."


class SetRules(TypedDict, total=False):
    """When cells come into the active set and leave it."""

    add: Decibel
    "Event 1A: a cell is added that is less than this below the best of the set. Default: 3 dB."
    drop: Decibel
    "Event 1B: a cell is dropped that is more than this below the best. Default: 5 dB."
    replace: Decibel
    "Event 1C: in a full set a cell takes the place of the worst if it is better by more than this. Default: 1 dB."
    most: int
    "How many cells the set holds. Default: 3."
    held: Duration
    "How long each condition must hold. Default: 200 ms."


class Break(TypedDict, total=False):
    """A change of cell that breaks before it makes."""

    by: Decibel
    "By how much the new cell must be better. Default: 3 dB."
    held: Duration
    "For how long. Default: 200 ms."
    interruption: Duration
    "For how long nothing is sent. RLC keeps its state. Default: 100 ms."


class Relocation(TypedDict, total=False):
    """Relocation of the serving RNC."""

    held: Duration
    "For how long no cell of the terminal must have belonged to its RNC. Default: 1 s."
    pause: Duration
    "For how long nothing is sent, while the state of RLC moves. Default: 100 ms."


class Iur(TypedDict, total=False):
    """The interface between two RNCs."""

    rate: Rate
    "Its rate. Default: 622 Mbit/s, like the Iub."
    delay: Duration
    "Its delay. Default: 5 ms."


class AsPowerIdeal(TypedDict, total=False):
    """``ideal`` with its parameters."""

    ideal: Required[PowerIdeal]


class AsPowerLoops(TypedDict, total=False):
    """``loops`` with its parameters."""

    loops: Required[PowerLoops]


Power: TypeAlias = "Literal['ideal', 'loops'] | AsPowerIdeal | AsPowerLoops"

PowerIdeal: TypeAlias = "Mapping[str, Any]"


class PowerLoops(TypedDict, total=False):
    """Powers, interference, and the loops that control powers."""

    block_errors: Probability
    "The share of bad blocks that the outer loop aims at. Default: 0.01: the usual one for data (3GPP TS 25.101 §8 tests 0.1 to 0.001)."
    outer_step: Decibel
    "By how much a bad block raises the target of the SIR. Default: 0.5 dB."
    inner_step: Decibel
    "By how much a slot's command changes a power. Default: 1 dB (TS 25.214 §5.1.2.2)."
    half: Decibel
    "The SIR of a slot at which every second block is bad. Default: 4 dB."
    width: Decibel
    "How wide the fall of the curve of bad blocks is: they are 1/(1 + exp((SIR − `half`)/`width`)). Default: 0.5 dB."
    cell_power: Level
    "What each cell sends in all, always. Default: 40 dBm: half of the most (43 dBm, TR 25.942 §5.1.4.1)."
    link_power: Sequence[Level]
    "The least and the highest power of a dedicated channel down. Default: 5 to 30 dBm (the same: a range of 25 dB)."
    terminal_power: Sequence[Level]
    "The least and the highest power of a terminal. −44 to 21 dBm (the same: a range of 65 dB)."
    access_power: Level
    "The power of the forward access channel. Default: 33 dBm."
    access_constant: Decibel
    "How far above the interference a terminal's random access comes to its Node B, before despreading: the constant value of TS 25.331 §8.5.7. −15 dB."
    own_cell: Probability
    "Which share of what its own cell sends disturbs a terminal: 1 less the orthogonality of its codes. Default: 0.4 (TR 25.942 §5.1.4.1)."
    terminal_noise: Decibel
    "The noise figure of terminals. Default: 9 dB (the same)."
    node_b_noise: Decibel
    "The noise figure of Node Bs. Default: 5 dB (the same)."
    noise_rise: Decibel
    "By how much all terminals raise a Node B's noise. Default: 6 dB (the same: a load of 75 %)."


class Hsdpa(TypedDict, total=False):
    """Cells of HSDPA around a centre, with mobiles that stand still. The mobiles are nodes called `NAME.ue[0]`, `NAME.ue[1]`, …; a flow to or from `NAME.ue[*]` stands for one flow for each of them, `NAME.ue[0:15]` for the first 15. The model and its defaults are those of Landström, Larzon and Bodin (*Congestion Control in a High Speed Radio Environment*)."""

    name: Required[str]
    "A name for results and mobiles."
    node: Required[str]
    "The node on the wired side of all base stations."
    ues: int
    "How many mobiles there are, in all cells together: they are dropped uniformly over them. Default: 65."
    places: Sequence[Point]
    'Where the first of them stand, as coordinates from the site in the centre: `[["100 m", "0 m"], ["400 m", "0 m"]]`. Shadowing comes on top: `air.shadowing.deviation = "0 dB"` leaves the distance alone. Default: no place is given, and all are dropped.'
    rings: int
    "How many rings of cells are around the centre: 0 is one cell, 1 is seven, 2 is nineteen. Default: 1."
    radius: Distance
    "The radius of the circle through the corners of a cell, which is a hexagon. Default: 500 m."
    serving: Serving
    "Which site serves a mobile: that with the `strongest` signal, or that in whose `hexagon` it stands. Default: the strongest."
    air: HsdpaAir
    "How good the air is."
    rate_map: RateMap
    "What that buys: which format is used when, and how often it fails."
    scheduler: Scheduler
    "The scheduler of each slot of 2 ms, in each cell. Default: `round_robin`, the mobiles in turn."
    codes: int
    "How many codes of spreading factor 16 the shared channel has. Default: 12."
    users: int
    "How many mobiles are served in one slot, at most. Default: 3."
    split: Split
    "How they share the codes: each takes what it needs, in the scheduler's order, or all have equal shares. Default: what they need."
    attempts: int
    "How often a block is sent, at most; after that its packets are lost. Default: until it comes."
    queue: Queue
    "The queue in front of the air, for each mobile. Packets not received yet count for its limit. Default: DropTail of 90 packets."
    uplink_delay: Duration
    "The delay of packets up, from the mobile to the node. Default: 0 s."


Serving: TypeAlias = "Literal['strongest', 'hexagon']"


class HsdpaAir(TypedDict, total=False):
    """The air."""

    path_loss: PathLoss
    "Path loss. 128.1 dB at 1 km (3GPP TR 25.848 §A.3.1), exponent 3.5 (Landström et al.; a parameter left out beside the others is as in `mobility`)."
    shadowing: Shadowing
    "Shadowing, which stays as it is, since mobiles stand still. Default: 8 dB (Landström et al.), correlation 0.5 between sites."
    power: Watts
    "The power of the shared channel at each site. Default: 10 W (Landström et al.)."
    other_power: Watts
    "The power of all other channels of each site. Default: 1 W (own choice: the interference that follows must leave room for the fourth modulation, which ends at 1.95 W)."
    self_interference: Probability
    "How much of the shared channel's own power interferes with it. Default: 0.1 (Landström et al.: limited to 10 %)."
    intra_cell: Probability
    "How much of the cell's other power interferes. Default: 0.4 (Landström et al.: limited to 40 %)."
    noise_figure: Decibel
    "The noise figure of mobiles, in 3.84 MHz. Default: 9 dB (3GPP TR 25.942 §5.1.4.1)."
    neighbours: Neighbours
    "What the other sites send on their shared channels. Default: always."
    fading: Fading
    "Rayleigh fading of the signal, in blocks. Default: none."


Watts: TypeAlias = "str"

Neighbours: TypeAlias = "Literal['always_on', 'by_slot']"


class Fading(TypedDict, total=False):
    """Rayleigh fading in blocks: the gain is constant for a time, and then another, independent one."""

    coherence: Duration
    "How long the gain is constant. A format is chosen by the gain of the slot itself, so a short time costs nothing. 80 ms: about the coherence time, 0.423/f_d, at 3 km/h and 2 GHz (f_d = 5.6 Hz)."


class AsRateMapModulation(TypedDict, total=False):
    """``modulation`` with its parameters."""

    modulation: Required[RateMapModulation]


class AsRateMapCqi(TypedDict, total=False):
    """``cqi`` with its parameters."""

    cqi: Required[RateMapCqi]


RateMap: TypeAlias = "Literal['modulation', 'cqi'] | AsRateMapModulation | AsRateMapCqi"


class RateMapModulation(TypedDict, total=False):
    """Four modulation and coding schemes, and a fixed share of blocks in error."""

    bler: Probability
    "How likely a block is in error whose scheme suits the signal-to-interference ratio with which it is sent. Default: 0.1."
    bler_below: Probability
    "How likely it is if the ratio is below the threshold of its scheme, as it may be with the lowest. Default: 0.5."


class RateMapCqi(TypedDict, total=False):
    """Formats by CQI."""

    category: int
    "The category of the terminals, 1 to 12: 1 to 6, 11 and 12 receive 5 codes, 7 and 8 receive 10, 9 and 10 receive 15; 11 and 12 do without 16QAM. Default: 6."


Split: TypeAlias = "Literal['need', 'equal']"


class Mbms(TypedDict, total=False):
    """A Node B of MBMS (Multimedia Broadcast Multicast Service) between an RNC and terminals. A packet for several terminals crosses the Iub once; the Node B divides it. The terminals are nodes called `NAME.ue[0]`, `NAME.ue[1]`, …; a flow to or from `NAME.ue[*]` stands for one flow for each of them, `NAME.ue[0:15]` for the first 15. The model is that of Alexiou, Bouras and Papazois (2009)."""

    name: Required[str]
    "A name for results and terminals."
    rnc: Required[str]
    "The node that is the RNC."
    ues: int
    "How many terminals there are. Default: 1."
    iub: MbmsIub
    "Between RNC and Node B, in both directions."
    rate: Rate
    "The rate of each radio bearer down, in bits per second of packets. Default: 384 kbit/s."
    delay: Duration
    "How long a packet takes over the air after its last bit was sent, to the terminal. Default: 20 ms."
    queue: Length
    "The limit of the queue at the Node B for each bearer, without the packet that is being sent. Packets beyond it are dropped. Default: 50 packets."
    attempts: int
    "How often a packet is sent over a point-to-point bearer, at most, back to back. Default: 2; a bearer of unacknowledged mode has 1."
    varying: MbmsVarying
    "How the rate and the delay of point-to-point bearers down change. Default: they do not."
    loss: LossModel
    "Which attempts the air loses down, for each terminal by itself. Default: none."
    uplink: MbmsUplink
    "The bearer of each terminal up."
    uplink_loss: LossModel
    "Which packets the air loses up, for each terminal by itself. Default: none."
    terminal: Sequence[MbmsTerminal]
    "Terminals with losses of their own."
    bearers: MbmsBearers
    "Whether a terminal has a bearer for each `flow`, with a rate and a queue of its own, or one for all that goes to the `terminal`. Default: for each flow."
    ptm_threshold: int
    "From how many listeners in this cell on a packet to a group goes over one bearer for all of them (point to multipoint): a queue for each flow, one attempt, losses of each terminal by itself. Default: never."
    loss_indication: LossIndication
    "By which rule the Node B indicates packets that it never had, or rejected itself. Default: it does not."
    retransmission: Retransmission
    "Whether the Node B asks the RNC for packets to a group that found no room. Default: it does not."


class MbmsIub(TypedDict, total=False):
    """The wire between RNC and Node B."""

    rate: Rate
    "Its rate. Default: 622 Mbit/s (EURANE's examples)."
    delay: Duration
    "Its propagation delay. Default: 15 ms (the same)."
    queue: Length
    "How much waits in front of it. Default: 2000 packets (the same)."


class MbmsVarying(TypedDict, total=False):
    """The rate and the delay of each terminal's bearers down are drawn anew at equal intervals, evenly between the Node B's `rate` and `delay` and these. Bearers of one terminal have the same. A packet never overtakes another of its bearer."""

    slowest: Required[Rate]
    "The slowest rate."
    longest: Required[Duration]
    "The longest delay."
    period: Required[Duration]
    "How long each draw holds."
    from_: Duration
    "When the first one begins to hold. Default: 0 s."
    until: Duration
    "When the last one ends to hold. Default: never."


class MbmsUplink(TypedDict, total=False):
    """The bearer of a terminal up."""

    rate: Rate
    "Its rate. Default: 64 kbit/s."
    delay: Duration
    "How long a packet takes over the air after its last bit was sent, to the Node B. Default: 20 ms."
    queue: Length
    "How much waits in front of it. Default: 50 packets."


class MbmsTerminal(TypedDict, total=False):
    """What differs for one terminal."""

    ue: Required[int]
    "Which one, from 0."
    loss: LossModel
    "Which attempts the air loses down. Default: as for all."
    uplink_loss: LossModel
    "Which packets the air loses up. Default: as for all."


MbmsBearers: TypeAlias = "Literal['flow', 'terminal']"


class Retransmission(TypedDict, total=False):
    """Whether and when a Node B asks the RNC for packets to a group that it rejected."""

    after: Duration
    "How long after the rejection the RNC sends the packet again, the way of the request included. Default: 0.1 s."
    times: int
    "How often the Node B asks for one packet, at most. Default: 1."


class Constellation(TypedDict, total=False):
    """Low-orbit satellites that forward packets to one another and to terminals on the ground. Satellites are nodes called `NAME.sat[0]`, `NAME.sat[1]`, …, plane by plane; terminals are nodes with names of their own. The rules are those of ns-2's `satellite/`."""

    name: Required[str]
    "A name for results and satellites."
    orbits: Orbits
    "Where the satellites are. Default: Iridium's star."
    terminal: Required[Sequence[GroundTerminal]]
    "The terminals."
    isl: Isl
    "The links between satellites."
    up: SatelliteLink
    "The transmitter from a terminal to its satellite."
    down: SatelliteLink
    "The transmitter from a satellite to its terminals: one for all of them."
    handoff: SatelliteHandoff
    "When terminals change their satellite."
    routes: SatelliteRoutes
    "When routes are computed anew."


class AsOrbitsStar(TypedDict, total=False):
    """``star`` with its parameters."""

    star: Required[OrbitsStar]


class AsOrbitsWalker(TypedDict, total=False):
    """``walker`` with its parameters."""

    walker: Required[OrbitsWalker]


class AsOrbitsPlanes(TypedDict, total=False):
    """``planes`` with its parameters."""

    planes: Required[OrbitsPlanes]


class AsOrbitsTle(TypedDict, total=False):
    """``tle`` with its parameters."""

    tle: Required[OrbitsTle]


Orbits: TypeAlias = "Literal['star', 'walker'] | AsOrbitsStar | AsOrbitsWalker | AsOrbitsPlanes | AsOrbitsTle"


class OrbitsStar(TypedDict, total=False):
    """Planes over half a turn, each second one moved by half a satellite."""

    planes: int
    "How many planes. Default: 6 (Iridium)."
    per_plane: int
    "How many satellites each has. Default: 11 (Iridium)."
    altitude: Distance
    "How high above the ground. Default: 780 km (Iridium)."
    inclination: Angle
    "The angle between the planes and the equator's. Default: 86.4 deg (Iridium)."
    node_spacing: Angle
    "Between the ascending nodes of neighbouring planes. Default: 31.6 deg (Iridium), which leaves 22 deg at the seam."


class OrbitsWalker(TypedDict, total=False):
    """Planes over a whole turn."""

    planes: int
    "How many planes. Default: 72 (Starlink's first shell; FCC 20-588)."
    per_plane: int
    "How many satellites each has. Default: 22 (the same)."
    altitude: Distance
    "How high above the ground. Default: 550 km (the same)."
    inclination: Angle
    "The angle between the planes and the equator's. Default: 53 deg (the same)."
    phasing: int
    "By how many t-th parts of a turn a satellite is ahead of its neighbour in the plane before it, of t satellites in all. 39: a value by which the planes of this shell miss one another where they cross."


class OrbitsPlanes(TypedDict, total=False):
    """Planes with the places of their satellites."""

    altitude: Required[Distance]
    "How high above the ground."
    inclination: Required[Angle]
    "The angle between the planes and the equator's."
    plane: Required[Sequence[OrbitalPlane]]
    "The planes, from west to east."
    closes_with: int
    "By how many places a satellite's neighbour in the first plane is ahead of its place in the last one, if these are neighbours, of three planes at least. Default: a seam is between them."


class OrbitalPlane(TypedDict, total=False):
    """A plane."""

    node: Required[Angle]
    "Where it crosses the equator to the north at the start, in degrees east."
    places: Required[Sequence[Angle]]
    "Where its satellites are at the start, from that node on."


class OrbitsTle(TypedDict, total=False):
    """The satellites of element sets."""

    text: Required[str]
    "The sets: two lines for each satellite, with or without a line with its name before them."
    plane_gap: Angle
    "Ascending nodes that are farther apart than this lie in different planes. Default: 2 deg."


class GroundTerminal(TypedDict, total=False):
    """A terminal on the ground."""

    node: Required[str]
    "The node's name."
    latitude: Required[Angle]
    "How far north."
    longitude: Required[Angle]
    "How far east."
    queue: Queue
    "The queue in front of its up-link. Default: as `up` says."


class Isl(TypedDict, total=False):
    """The links between satellites."""

    rate: Rate
    "The rate. Default: 25 Mbit/s (ns-2's Iridium example)."
    queue: Queue
    "The queue in front of each. Default: DropTail of 50 packets (the same)."
    loss: LossModel
    "Losses on the way. Default: none."
    latitude_limit: Angle
    "How far north and south links between planes are up. Default: 60 deg (the same)."
    interval: Duration
    "How often a satellite looks whether its links to other planes can be up. Default: 10 s (the same)."
    jitter: Duration
    "By how much a look is early or late at most, drawn anew each time. Default: 5 s (half of it, as in ns-2)."


class SatelliteLink(TypedDict, total=False):
    """A link between satellites and the ground, in one direction."""

    rate: Rate
    "The rate. Default: 1.5 Mbit/s (ns-2's Iridium example)."
    queue: Queue
    "The queue in front of it. Default: DropTail of 50 packets (the same)."
    loss: LossModel
    "Losses on the way, after transmission; for each terminal by itself. Default: none."


class SatelliteHandoff(TypedDict, total=False):
    """When a terminal changes its satellite, and what becomes of packets."""

    interval: Duration
    "How often a terminal looks. Default: 10 s (ns-2)."
    jitter: Duration
    "By how much a look is early or late at most, drawn anew each time. Default: 5 s (ns-2's half of the interval)."
    mask: Angle
    "The least elevation of a satellite above a terminal's horizon. Default: 8.2 deg (Iridium)."
    rule: SatelliteHandoffRule
    "Which satellite a terminal takes when it needs another."
    initial: int
    "The number of the satellite that terminals are taken to have had before their first look. None. Scripts of ns-2 that link every terminal to a satellite at the start make terminals follow that one, if another of its plane stands high enough."
    queued: SatelliteHandoffQueued
    "What becomes of packets for the terminal that wait at the satellite that it leaves."


SatelliteHandoffRule: TypeAlias = "Literal['follower', 'highest']"

SatelliteHandoffQueued: TypeAlias = "Literal['lose', 'reroute']"

SatelliteRoutes: TypeAlias = "Literal['changes', 'packets']"


class Group(TypedDict, total=False):
    """A multicast group. Each of its senders has a tree of its own."""

    name: Required[str]
    "A name, to which flows send."
    members: Sequence[str]
    "The nodes that listen from the start; `NAME.ue[*]` stands for all terminals of a cell, `NAME.ue[0:15]` for the first 15."
    join: Sequence[Switch]
    "Later joins."
    leave: Sequence[Switch]
    "Leaves."
    trees: Trees
    "How its trees follow members and network: `signalled`, by messages that take their time, along the ways back to the sender; or `instant`, at once, along the ways from the sender (as in ns-2). Default: signalled."
    leave_latency: Duration
    "How long the last router goes on after a member has left, since it asks first whether others are there. Default: 2 s (IGMPv2: two queries a second apart, RFC 2236 §8.8 and §8.9)."
    area: Sequence[str]
    "Broadcast: nodes to which packets always go, independent of membership, such as `NAME.ue[*]`, all terminals of a cell. Default: none."
    expulsion: Expulsion
    "Takes out a receiver whose radio stays bad, and lets it in again later. Default: all receivers stay."


class Switch(TypedDict, total=False):
    """Nodes that join or leave a group at some time."""

    at: Required[Duration]
    "When."
    members: Required[Sequence[str]]
    "The nodes."


Trees: TypeAlias = "Literal['signalled', 'instant']"


class Expulsion(TypedDict, total=False):
    """When a receiver is taken out of a group, and for how long."""

    ratio: float
    "It is bad below this share of the next lowest rate. Default: 0.5."
    least: Rate
    "It is bad below this rate, too. Default: none."
    after: Duration
    "For how long it must be bad. Default: 30 s."
    readmit: Duration
    "For how long it is kept out the first time; each time twice as long. Default: 60 s."


class Flow(TypedDict, total=False):
    """A source, and the transport that carries its data."""

    name: str
    "A name for results. Default: `from>to`."
    from_: Required[str]
    "The sending node."
    to: Required[str]
    "The receiving node, or a group."
    transport: Transport
    "How the data are carried. Default: TCP."
    source: Source
    "The source of data. Default: as much as possible."
    start: Duration
    "When the source starts. Default: at once."
    qos: Qos
    "What it asks of the network. Default: nothing: best effort."


class AsTransportTcp(TypedDict, total=False):
    """``tcp`` with its parameters."""

    tcp: Required[TransportTcp]


class AsTransportUdp(TypedDict, total=False):
    """``udp`` with its parameters."""

    udp: Required[TransportUdp]


class AsTransportTfrc(TypedDict, total=False):
    """``tfrc`` with its parameters."""

    tfrc: Required[TransportTfrc]


class AsTransportMedia(TypedDict, total=False):
    """``media`` with its parameters."""

    media: Required[TransportMedia]


class AsTransportDccp(TypedDict, total=False):
    """``dccp`` with its parameters."""

    dccp: Required[TransportDccp]


class AsTransportTfmcc(TypedDict, total=False):
    """``tfmcc`` with its parameters."""

    tfmcc: Required[TransportTfmcc]


class AsTransportPgmcc(TypedDict, total=False):
    """``pgmcc`` with its parameters."""

    pgmcc: Required[TransportPgmcc]


class AsTransportLayered(TypedDict, total=False):
    """``layered`` with its parameters."""

    layered: Required[TransportLayered]


Transport: TypeAlias = "Literal['tcp', 'udp', 'tfrc', 'media', 'dccp', 'tfmcc', 'pgmcc', 'layered'] | AsTransportTcp | AsTransportUdp | AsTransportTfrc | AsTransportMedia | AsTransportDccp | AsTransportTfmcc | AsTransportPgmcc | AsTransportLayered"


class TransportTcp(TypedDict, total=False):
    """TCP. Parameters left out are as the profile says."""

    profile: Profile
    "The profile, if not the scenario's."
    variant: Variant2
    "The usual pair of loss recovery and congestion control: `cubic` (SACK recovery) by default in profile `rfc`, `newreno` in profile `ns2`. In profile `linux`: `reno`, `cubic` (the default) or `bbr`."
    recovery: Recovery
    "Loss recovery, apart from the variant, or the variant's own with its parameters. Profile `ns2`: only the latter. Profile `linux`: none."
    congestion: Congestion
    "Congestion control, apart from the variant, or the variant's own with its parameters. Profile `ns2`: only the latter."
    segment: Size
    "Payload of a full segment. `rfc`: 1460 B. `ns2`: 1000 B (`packetSize_`). `linux`: 1448 B. If the source chooses another for a connection, the value here is the maximum."
    header: Size
    "Header bytes on the wire of each data segment, IP included: 40 B. In profile `ns2` the first packet (seqno 0) has none without a SYN, and Vegas never has any, as in ns-2."
    handshake: Handshake
    "How a connection opens. Default: `rfc`: `full`. `ns2`: `partial`."
    initial_window: int
    "Initial window in segments. Default: `rfc` and `linux`: 10 (RFC 6928). `ns2`: 2."
    initial_ssthresh: int
    "Initial slow-start threshold in segments. Default: `rfc`: none. `ns2`: the window."
    window: int
    "The receiver's buffer, and so the most it advertises, in segments. Default: `rfc`: 100 000, which does not limit. `ns2`: 20 (`window_`). `linux`: 16,776,528 B, which grow to 20,971,520 B (`tcp_rmem` of 32 MiB)."
    ack: AckPolicy
    "When the receiver acknowledges."
    limited_transmit: bool
    "One new segment on each of the first two duplicate acknowledgements (RFC 3042). Default: on."
    max_burst: int
    "The most segments sent at once, 0 for no limit (`ns2`: `maxburst_`). Default: 0."
    idle_restart: IdleRestart
    "The window after an idle time longer than the RTO. Default: `rfc`: `rfc5681`. `ns2`: `ns2`."
    ecn: bool
    "Explicit congestion notification (RFC 3168). DCTCP and L4S controllers switch it on. Default: off."
    accurate_ecn: bool
    "The receiver counts marks and reports the count in each acknowledgement, in 8 bytes (AccECN, RFC 9768). Default: on with DCTCP and L4S controllers, else off."
    timestamps: bool
    "Time stamps (RFC 7323), which cost 12 bytes in each packet. Default: `rfc`: on with Eifel and with LEDBAT, else off. `ns2`: on with XCP, else off."
    dsack: bool
    "Whether a duplicate segment is reported in the first SACK block (RFC 2883). Default: `rfc`: on."
    spurious: Spurious
    "Detection of spurious retransmission timeouts. Default: none."
    path_hint: PathHint
    "What a change of the terminal's path makes void. Profile `rfc` only. Default: `off`."
    undo: bool
    "Undo a reduction of the window once duplicates that the receiver reports (RFC 3708) or time stamps (RFC 3522) show that nothing was lost (RFC 9438 §4.9, which allows it). Default: on with recovery `rack`, else off."
    rto: Rto
    "The retransmission timer."
    guard: bool
    "No new fast retransmit before everything sent at the last loss is acknowledged (ns-2's `bugFix_`; RFC 6582 §4.1 step 1). Default: on."
    exact_half: bool
    "Profile `ns2`: the window is cut to exactly its half (`precisionReduce_`); otherwise to the half of its whole packets, rounded down, as ns-2 did before 2006. Default: on."
    boot_time: float
    "Profile `ns2`: the phase of the sender's clock ticks, which ns-2 draws uniformly from one tick. Default: drawn likewise."
    overhead: Duration
    "Profile `ns2`: a random delay of up to this before each packet is sent (`overhead_`). Default: none."


Variant2: TypeAlias = "Literal['tahoe', 'reno', 'newreno', 'sack', 'fack', 'vegas', 'cubic', 'dctcp', 'prague', 'copa', 'ledbat', 'bbr', 'xcp']"


class AsRecoveryTahoe(TypedDict, total=False):
    """``tahoe`` with its parameters."""

    tahoe: Required[RecoveryTahoe]


class AsRecoveryReno(TypedDict, total=False):
    """``reno`` with its parameters."""

    reno: Required[RecoveryReno]


class AsRecoveryNewreno(TypedDict, total=False):
    """``newreno`` with its parameters."""

    newreno: Required[RecoveryNewreno]


class AsRecoverySack(TypedDict, total=False):
    """``sack`` with its parameters."""

    sack: Required[RecoverySack]


class AsRecoveryFack(TypedDict, total=False):
    """``fack`` with its parameters."""

    fack: Required[RecoveryFack]


class AsRecoveryVegas(TypedDict, total=False):
    """``vegas`` with its parameters."""

    vegas: Required[RecoveryVegas]


class AsRecoveryRack(TypedDict, total=False):
    """``rack`` with its parameters."""

    rack: Required[RecoveryRack]


Recovery: TypeAlias = "Literal['tahoe', 'reno', 'newreno', 'sack', 'fack', 'vegas', 'rack'] | AsRecoveryTahoe | AsRecoveryReno | AsRecoveryNewreno | AsRecoverySack | AsRecoveryFack | AsRecoveryVegas | AsRecoveryRack"

RecoveryTahoe: TypeAlias = "Mapping[str, Any]"

RecoveryReno: TypeAlias = "Mapping[str, Any]"

RecoveryNewreno: TypeAlias = "Mapping[str, Any]"


class RecoverySack(TypedDict, total=False):
    """SACK recovery's parameters."""

    prr: bool
    "Proportional Rate Reduction (RFC 9937) while it recovers. Default: off (RFC 6675 §5 sets the window at once)."


class RecoveryFack(TypedDict, total=False):
    """FACK's parameters."""

    cwnd_at_trigger: CwndAtTrigger
    "The window when recovery begins. Default: `half`; in profile `ns2` `one`, as ns-2.35 does."
    rampdown: bool
    "Reduce the window gradually, one segment for two acknowledgements (rampdown). Default: off."
    overdamping: bool
    "Halve the window twice if the loss hit in slow start (overdamping). Default: off."


CwndAtTrigger: TypeAlias = "Literal['half', 'one']"

RecoveryVegas: TypeAlias = "Mapping[str, Any]"


class RecoveryRack(TypedDict, total=False):
    """RACK-TLP's parameters."""

    prr: bool
    "Proportional Rate Reduction (RFC 9937) while it recovers. Default: on (RFC 8985 §9.3)."
    tlp: bool
    "Tail loss probes (RFC 8985 §7). Default: on."


class AsCongestionReno(TypedDict, total=False):
    """``reno`` with its parameters."""

    reno: Required[CongestionReno]


class AsCongestionVegas(TypedDict, total=False):
    """``vegas`` with its parameters."""

    vegas: Required[CongestionVegas]


class AsCongestionCubic(TypedDict, total=False):
    """``cubic`` with its parameters."""

    cubic: Required[CongestionCubic]


class AsCongestionDctcp(TypedDict, total=False):
    """``dctcp`` with its parameters."""

    dctcp: Required[CongestionDctcp]


class AsCongestionPrague(TypedDict, total=False):
    """``prague`` with its parameters."""

    prague: Required[CongestionPrague]


class AsCongestionCopa(TypedDict, total=False):
    """``copa`` with its parameters."""

    copa: Required[CongestionCopa]


class AsCongestionLedbat(TypedDict, total=False):
    """``ledbat`` with its parameters."""

    ledbat: Required[CongestionLedbat]


class AsCongestionLedbatPp(TypedDict, total=False):
    """``ledbat_pp`` with its parameters."""

    ledbat_pp: Required[CongestionLedbatPp]


class AsCongestionBbr(TypedDict, total=False):
    """``bbr`` with its parameters."""

    bbr: Required[CongestionBbr]


class AsCongestionXcp(TypedDict, total=False):
    """``xcp`` with its parameters."""

    xcp: Required[CongestionXcp]


class AsCongestionPython(TypedDict, total=False):
    """``python`` with its parameters."""

    python: Required[CongestionPython]


Congestion: TypeAlias = "Literal['reno', 'vegas', 'cubic', 'dctcp', 'prague', 'copa', 'ledbat', 'ledbat_pp', 'bbr', 'xcp'] | AsCongestionReno | AsCongestionVegas | AsCongestionCubic | AsCongestionDctcp | AsCongestionPrague | AsCongestionCopa | AsCongestionLedbat | AsCongestionLedbatPp | AsCongestionBbr | AsCongestionXcp | AsCongestionPython"


class CongestionReno(TypedDict, total=False):
    """Reno's parameters."""

    abe: bool
    "Alternative Backoff with ECN: a mark in congestion avoidance lowers the window to 0.8 of it only (RFC 8511 §3). Default: off (RFC 8511 is Experimental)."


class CongestionVegas(TypedDict, total=False):
    """Vegas' thresholds, in segments."""

    alpha: float
    "Below this many queued segments the window grows. Default: 1."
    beta: float
    "Above this many it shrinks. Default: 3."
    gamma: float
    "Above this many slow start ends. Default: 1."


class CongestionCubic(TypedDict, total=False):
    """CUBIC's constants (RFC 9438 §4)."""

    c: float
    "C, in segments per second cubed. Default: 0.4 (§5.1)."
    beta: float
    "Multiplicative decrease factor β. Default: 0.7 (§4.6)."
    fast_convergence: bool
    "Release of bandwidth for new flows (§4.7). Default: on."
    hystart: bool
    "HyStart++ in the initial slow start (§4.10; RFC 9406). Default: on."
    abe: bool
    "Alternative Backoff with ECN: a mark in congestion avoidance lowers the window to 0.85 of it only (RFC 8511 §3.1). Default: off (RFC 8511 is Experimental)."


class CongestionDctcp(TypedDict, total=False):
    """DCTCP's parameters."""

    gain: float
    "The weight of the newest window of data in the share of marks, g. Above 0, at most 1. Default: 1/16 (RFC 8257 §4.2)."


class CongestionPrague(TypedDict, total=False):
    """The module's parameters."""

    rtt_target: Duration
    "Flows with a round-trip time below this one grow as if they had it, so that they get the same rate (RFC 9331 §4.3). Zero switches that off. Default: 25 ms (`prague_rtt_target`)."
    rtt_transition: int
    "The number of round trips after slow start in which a flow still grows by its own round-trip time. Default: 500 (`prague_rtt_transition`)."


class CongestionCopa(TypedDict, total=False):
    """Copa's parameters."""

    delta: float
    "δ: the flow aims at 1/δ packets in the queue. Default: 0.5 (§2.2). QUIC stacks take 0.05 (mvfst) and 0.04 (tquic)."
    competitive: bool
    "The competitive mode. Default: on (§2.2). mvfst has none."


class CongestionLedbat(TypedDict, total=False):
    """The parameters of RFC 6817 §2.5."""

    target: Duration
    "TARGET: the queueing delay that it aims at. Default: 100 ms (§2.5: at most that)."
    gain: float
    "GAIN: the growth at an empty queue, in segments in a round trip. Default: 1 (§2.5: at most that)."
    base_history: int
    "BASE_HISTORY: in how many minutes the base delay is searched. Default: 10 (§2.5)."
    filter: int
    "CURRENT_FILTER: of how many samples the least is the present delay. Default: 4 (as in ns-3 and in Linux' module; §2.5: at least 1)."
    slow_start: bool
    "Start as TCP does, with its initial window and slow start up to the first loss, as ns-3 and Linux' module do. Otherwise with two segments (INIT_CWND) and the growth of all times. Default: off (§2.4.2)."


class CongestionLedbatPp(TypedDict, total=False):
    """The parameters of LEDBAT++."""

    target: Duration
    "TARGET: the queueing delay that it aims at. Default: 60 ms (draft-06)."


class CongestionBbr(TypedDict, total=False):
    """BBR's parameters; its constants are the draft's."""

    loss_bursts: int
    "How many separate ranges have to be lost in a round trip before a loss rate above 2 % ends a bandwidth probe. With 1 a single lost segment does if fewer than 50 are in flight. quiche asks for 2. Default: 1 (draft-ietf-ccwg-bbr §5.5.10.2)."


class CongestionXcp(TypedDict, total=False):
    """XCP's sender."""

    rate_based: bool
    "Keep a rate instead of a window: feedback is added to it, and segments leave at it whatever is in flight. Profile `rfc` only. Default: off."


class CongestionPython(TypedDict, total=False):
    """Which class, and its parameters."""

    class_: Required[str]
    'The module and the class in it: `"mycc:Mine"`. The module is the file `mycc.py` beside the scenario, or one that is installed. `congestion.python = "mycc:Mine"` says the same.'
    options: Mapping[str, Any]
    "Parameters, which the class gets by their names."


Handshake: TypeAlias = "Literal['full', 'partial', 'data_on_syn', 'none']"


class AckPolicy(TypedDict, total=False):
    """When a receiver acknowledges."""

    every: int
    "Segments to an acknowledgement when all is in order. Default: 1 (RFC 9293 §3.8.6.3 allows 2)."
    delay: Duration
    "The longest delay of an acknowledgement. Default: `rfc`: 200 ms. `ns2`: 100 ms."


IdleRestart: TypeAlias = "Literal['ns2', 'rfc5681', 'off']"

Spurious: TypeAlias = "Literal['none', 'eifel', 'frto']"

PathHint: TypeAlias = "Literal['off', 'delays', 'restart']"


class Rto(TypedDict, total=False):
    """The retransmission timer (RFC 6298)."""

    min: Duration
    "Least value. Default: `rfc`: 1 s (RFC 6298 §2.4). `ns2`: 200 ms."
    max: Duration
    "Greatest value, back-off included. Default: 60 s."
    max_backoff: int
    "Profile `ns2`: the most by which back-off multiplies the timer, as 64 in ns-2.29, whose timer stays there below `max`. None: it is doubled until it reaches `max`, as ns-2.35 does."
    initial: Duration
    "Before the first sample. Default: `rfc`: 1 s (RFC 6298 §2.1). `ns2`: 3 s."
    granularity: Duration
    "Clock granularity G. Default: `rfc`: 1 ms. `ns2`: 10 ms (`tcpTick_`)."
    order: RtoOrder
    "Which mean the deviation is taken from. Default: `rfc`."


RtoOrder: TypeAlias = "Literal['rfc', 'thesis']"


class TransportUdp(TypedDict, total=False):
    """UDP."""

    header: Size
    "Header bytes on the wire, IP included. Default: `rfc`: 28 B, 20 of IPv4 and 8 of UDP. `ns2`: none; what the source writes is the size on the wire."


class TransportTfrc(TypedDict, total=False):
    """TFRC: a rate that follows TCP's throughput equation. Nothing is sent again."""

    profile: Profile
    "The profile, if not the scenario's."
    version: Version
    "Profile `rfc`: which of the two standards. Default: `rfc5348`."
    segment: Size
    "Payload of a full packet, `s` in the equation. Default: `rfc`: 1460 B. `ns2`: 1000 B (`packetSize_`)."
    header: Size
    "Header bytes on the wire of each data packet, IP included. Default: `rfc`: 40 B, 20 of IPv4, 8 of UDP, and 12 for sequence number, time stamp and round-trip time (RFC 5348 §3.2.1). `ns2`: 32 B (`headersize_`); 0 B is `useHeaders_` off."
    loss_trigger: int
    "After how many later packets a missing one is lost. Default: `rfc`: 3 (RFC 5348 §5.1, NDUPACK). `ns2`: 1 (`numPkts_`)."
    discounting: bool
    "Whether a long time without loss discounts the intervals before it (RFC 5348 §5.5). Default: on."
    discount_threshold: float
    "The least discount factor. Default: `rfc`: 0.25 (RFC 5348 §5.5, THRESHOLD). `ns2`: 0.5 (`minDiscountRatio_`)."
    damping: bool
    "Whether the time between packets follows the last round-trip time, against oscillation (RFC 5348 §4.5; ns-2: `ca_`). Default: on."
    rtt_weight: float
    "The weight of the old mean when a round-trip time is averaged. Default: `rfc`: 0.9 (RFC 5348 §4.3). `ns2`: 0.95 (`df_`)."
    ecn: bool
    "Explicit congestion notification: a mark counts as a loss. Default: off."
    buffer: int
    "How many datagrams of a source with a rate of its own may wait; the oldest is dropped when one more comes, since old media are worth least. Default: 50."
    handover: Handover
    "The reaction to a change of the receiver's link. Default: `off`."
    initial_window: int
    "Profile `rfc`: packets for each round trip that the first report allows, W_init. Default: `rfc5348`: 2 to 4, with at most 4380 B (RFC 5348 §4.2). `rfc3448`: 1 (RFC 3448 §4.3)."
    slow_start_limit: SlowStartLimit
    "Profile `rfc`: what limits the rate until the first loss. Default: `received`."
    heavy_rounds: int
    "Profile `ns2`: for how many rounds the rate may exceed twice the rate of reception (`maxHeavyRounds_`). Default: 0; it was 1 before March 2007."
    slow_start: SlowStart
    "Profile `ns2`: how the rate grows until the first loss. Default: `ns-2.35`."
    initial_rate: Rate
    "Profile `ns2`: the rate before the first report (`InitRate_`, there in bytes per second). Default: 2400 bit/s."
    tick: Duration
    "Profile `ns2`: the clock tick of the retransmission timeout (`tcp_tick_`). Default: 100 ms."


Version: TypeAlias = "Literal['rfc5348', 'rfc3448']"

Handover: TypeAlias = "Literal['off', 'restart', 'hint']"

SlowStartLimit: TypeAlias = "Literal['received', 'matched']"

SlowStart: TypeAlias = "Literal['ns-2.35', 'ns-2.29']"


class TransportMedia(TypedDict, total=False):
    """Media over RTP with congestion control."""

    congestion: MediaCongestion
    "The congestion control. Default: `scream`."
    min_rate: Rate
    "The least rate that the congestion control asks of the encoder, RTP headers included. Default: 150 kbit/s (RFC 8867 §4.3)."
    max_rate: Rate
    "The greatest. Default: 1.5 Mbit/s (RFC 8867 §4.3)."
    start_rate: Rate
    "That at the start. Default: `min_rate`."
    packet: Size
    "The largest packet, RTP's header of 12 B included. Default: 1200 B."
    feedback: Duration
    "How often the receiver reports, and at latest after 14 packets. Default: as the congestion control recommends."
    ecn: bool
    "Packets are ECN-capable: ECT(0), and ECT(1) where the congestion control is one of L4S, which switches this on. Default: off."
    path_hint: PathHint
    "What a change of the terminal's path makes void. Default: `off`."


class AsMediaCongestionScream(TypedDict, total=False):
    """``scream`` with its parameters."""

    scream: Required[MediaCongestionScream]


class AsMediaCongestionNada(TypedDict, total=False):
    """``nada`` with its parameters."""

    nada: Required[MediaCongestionNada]


class AsMediaCongestionGcc(TypedDict, total=False):
    """``gcc`` with its parameters."""

    gcc: Required[MediaCongestionGcc]


class AsMediaCongestionPrague(TypedDict, total=False):
    """``prague`` with its parameters."""

    prague: Required[MediaCongestionPrague]


MediaCongestion: TypeAlias = "Literal['scream', 'nada', 'gcc', 'prague'] | AsMediaCongestionScream | AsMediaCongestionNada | AsMediaCongestionGcc | AsMediaCongestionPrague | AsCongestionPython"


class MediaCongestionScream(TypedDict, total=False):
    """SCReAM's parameters. The draft is draft-johansson-ccwg-rfc8298bis-screamv2."""

    l4s: bool
    "Packets are ECT(1), and the window answers to the share of marked ones as L4S asks (RFC 9331). Otherwise a mark is classic ECN's. Default: off (the draft's IS_L4S)."
    queue_target: Duration
    'The delay in queues that is aimed at; from half of it on the window is lowered. Default: "60 ms" (the draft\'s QDELAY_TARGET_LO).'
    beta_loss: float
    "What a loss multiplies the window by. Default: 0.7 (the draft's BETA_LOSS)."
    beta_ecn: float
    "What a mark of classic ECN multiplies the window by. Default: 0.8 (the draft's BETA_ECN)."


class MediaCongestionNada(TypedDict, total=False):
    """NADA's parameters that belong to a flow (RFC 8698, Table 2); RMIN and RMAX are `min_rate` and `max_rate`."""

    prio: float
    "PRIO: the weight of the flow; flows on one bottleneck share it in proportion. Default: 1 (Table 2)."
    xref_ms: float
    "XREF, the reference congestion level, ms: the congestion signal at which a flow of weight 1 stays at its highest rate. Default: 10 (Table 2)."


class MediaCongestionGcc(TypedDict, total=False):
    """Which of the algorithms of this name."""

    dialect: Dialect
    "The draft's algorithm, or WebRTC's. Default: \"webrtc\" (browsers had that one)."


Dialect: TypeAlias = "Literal['draft', 'webrtc']"

MediaCongestionPrague: TypeAlias = "Mapping[str, Any]"


class TransportDccp(TypedDict, total=False):
    """DCCP: congestion control without retransmission (RFC 4340)."""

    ccid: int
    "The congestion control: 2 is TCP-like (RFC 4341), 3 is TFRC (RFC 4342). Default: 3."
    segment: Size
    "Payload of a full data packet. With `ccid` 3: 1464 B, with IPv4's header (20 B) and DCCP's (16 B) 1500 B. With 2: 1448 B, with IPv4's header, that of a DCCP-DataAck (24 B) and an option Ack Ratio (8 B) 1500 B; most packets have 1484 B."
    buffer: int
    "How many datagrams of a source with a rate of its own may wait; the oldest is dropped when one more comes. Default: 50."


class TransportTfmcc(TypedDict, total=False):
    """TFMCC (RFC 4654): a rate for a group. Nothing is sent again."""

    segment: Size
    "Payload of a full packet, `s` in the equation. Default: 1452 B: with the headers, packets of 1500 B."
    header: Size
    "Header bytes on the wire of each data packet, IP included. Default: 48 B: 20 of IPv4, 8 of UDP, 20 of TFMCC (RFC 4654 §2.2.1)."
    classifier: Classifier
    "Which losses count. `all`: each, as RFC 4654 has it. `indication`, `toggle`: those that the packet-loss indication of a base station blames on congestion; what the radio lost counts as received (Alexiou, Bouras, Papazois 2009, §4.2). `ecn`: those before a packet that carries a mark. Default: `all`."
    discounting: bool
    "Whether a long time without loss discounts the intervals before it, down to a factor of 0.5 (RFC 4654 §5.3). Default: on."
    quantise: bool
    "Whether rates and R_max lose what the short floating-point fields of the packets cannot hold (RFC 4654 §2.2). Default: off: they are exact."
    bias: bool
    "Whether receivers with low rates draw shorter times until they report (Widmer, Handley 2001, §2.5.1). Default: off: RFC 4654 dropped it."
    buffer: int
    "How many datagrams of a source with a rate of its own may wait; the oldest is dropped when one more comes, since old media are worth least. Default: 50."


Classifier: TypeAlias = "Literal['all', 'indication', 'toggle', 'ecn']"


class TransportPgmcc(TypedDict, total=False):
    """PGM with PGMCC: one window for a group, opened and closed by what its worst receiver, the acker, acknowledges."""

    segment: Size
    "Payload of a full packet. Default: 1436 B, so that with its headers it has 1500 B."
    header: Size
    "Header bytes on the wire of each data packet, IP included. 64 B: 20 of IPv4, 24 of PGM's data (RFC 3208 §8.2), and 20 for an option with time stamp and acker (draft-ietf-rmt-bb-pgmcc-03 §2.1)."
    buffer: int
    "How many datagrams of a source with a rate of its own may wait; the oldest is dropped when one more comes. Default: 50."
    reliable: bool
    "Whether packets are sent again until every receiver has them. Default: off."
    transmit_window: int
    "With `reliable`: how many packets are kept to be sent again (RFC 3208 §5.1, transmit window). Default: 100,000 packets."
    classifier: Classifier
    "How a receiver tells losses by congestion from losses of the radio, which it does not report. `ecn` is of TFMCC: no packet of PGMCC carries a mark. Default: `all`: it takes every loss for congestion."
    ssthresh: int
    "Below this window each acknowledged packet opens it by one packet. Default: 6 packets (Rizzo 2000); draft-ietf-rmt-bb-pgmcc-03 §2.2 suggests 4."
    token_mode: TokenMode
    "What the sender may send. Default: `in_flight`."
    cut_again: CutAgain
    'What halves the window again after a cut: a loss of a packet sent after it (`later_loss`), or any loss that is reported with feedback for such a packet (`later_feedback`). draft-ietf-rmt-bb-pgmcc-03 §2.2 has both "in each RTT in which a loss event is experienced", "in the same way as TCP", and that changes are cancelled "until feedback is received for the next transmitted packet". Default: `later_loss`.'
    c: float
    "Another receiver becomes the acker if its throughput is below that of the acker times this (draft-ietf-rmt-bb-pgmcc-03 §2.3, C). Above 0, at most 1. Default: 0.75, as the draft suggests."
    kappa: float
    "The weight of a packet in the loss rate of a receiver, κ, rounded to a multiple of 1/65536. Default: 500/65536, a memory of 131 packets (draft-ietf-rmt-bb-pgmcc-03 §2.6)."
    rtt_mode: RttMode
    "How the sender measures the round-trip times that it compares (draft-ietf-rmt-bb-pgmcc-03 §2.5). Default: `packets`."
    model: Model
    "By which model of TCP's throughput it compares receivers (draft-ietf-rmt-bb-pgmcc-03 §2.4). Default: `simple`."
    rto_min: Duration
    "The least timeout of the sender. Default: 1 s (RFC 6298 §2.4)."
    rto_initial: Duration
    "The timeout before the acker's round-trip time is known. Default: 3 s (draft-ietf-rmt-bb-pgmcc-03 §2.7)."
    nak_bo: Duration
    "How long a receiver holds a NAK back at most; it draws a time from 0 to this (RFC 3208 §6.3, NAK_BO_IVL). Default: 30 ms, as ns-2's PGM."
    nak_rpt: Duration
    "After this time without a confirmation a NAK is sent again (RFC 3208 §6.3, NAK_RPT_IVL). With network elements, where the confirmation comes from the next node, 50 ms, as ns-2's PGM; without them, where it comes from the sender, 1 s."
    nak_rdata: Duration
    "With `reliable`: how long after a confirmation a repair is waited for (RFC 3208 §6.3, NAK_RDATA_IVL). Default: 1 s, as ns-2's PGM."
    nak_retries: int
    "How often a NAK is sent again before the packet is given up (RFC 3208 §6.3, NAK_NCF_RETRIES and NAK_DATA_RETRIES together). Default: 5."
    network_elements: bool
    "Whether nodes are network elements of PGM (RFC 3208 §7): each sends only one NAK for a packet on towards the sender, and repairs only to where they were asked for. Default: off: NAKs go straight to the sender."
    ne_forward_worse: bool
    "Whether network elements also send on a second NAK for a packet if it comes from a receiver with a higher loss rate, so that elections do not miss it (draft-ietf-rmt-bb-pgmcc-03 §2.8). Default: off."
    ihb_min: Duration
    "With `reliable`: how long after the last data packet the sender first says what it was, so that receivers can miss it; each time after that is twice as long (RFC 3208 §5.1.5, IHB_MIN). Default: 100 ms."
    ihb_max: Duration
    "The longest of these times (RFC 3208 §5.1.5, IHB_MAX). Default: 30 s."


TokenMode: TypeAlias = "Literal['in_flight', 'literal']"

CutAgain: TypeAlias = "Literal['later_loss', 'later_feedback']"

RttMode: TypeAlias = "Literal['packets', 'time']"

Model: TypeAlias = "Literal['simple', 'full']"


class TransportLayered(TypedDict, total=False):
    """Layered multicast: each layer goes to a group of its own, and receivers subscribe."""

    layers: Sequence[Rate]
    "The rate of each layer on the wire, the lowest first. Default: 15 of 50 kbit/s (Peng, Sikdar 2003)."
    packet: Size
    "Bytes of a packet on the wire. Default: 1000 B."
    jitter: float
    "By which share of itself the time between two packets of a layer is shorter or longer at most, drawn anew for each. Default: 0; ns-2's sources of RLM have 0.5."
    stagger: bool
    "Whether layers send one after the other at the start, spread over the time between two packets, and not all at once. Default: yes."
    control: Control
    "What decides to how many layers a receiver subscribes. Default: RLM."
    exceptions: Sequence[LayeredException]
    "Receivers with a controller of their own."


class AsControlRlm(TypedDict, total=False):
    """``rlm`` with its parameters."""

    rlm: Required[ControlRlm]


class AsControlEmptyLayer(TypedDict, total=False):
    """``empty_layer`` with its parameters."""

    empty_layer: Required[ControlEmptyLayer]


class AsControlFixed(TypedDict, total=False):
    """``fixed`` with its parameters."""

    fixed: Required[ControlFixed]


Control: TypeAlias = "Literal['rlm', 'empty_layer', 'fixed'] | AsControlRlm | AsControlEmptyLayer | AsControlFixed"


class ControlRlm(TypedDict, total=False):
    """The constants, as in ns-2. Those of the paper, where they differ: `relax` 2/3, `most_join` 600 s."""

    join: Duration
    "The join timer of each layer at first, and at least, T_J. Default: 5 s."
    most_join: Duration
    "The longest one. Default: 60 s."
    back_off: float
    "By what a failed experiment lengthens it, α. Default: 2."
    relax: Probability
    "By what it is shortened while all is well, β. Default: 0.75."
    detection: Duration
    "The detection time at first, T_D. Default: 5 s."
    deviation: Duration
    "Its deviation at first, σ. Default: 2 s."
    gain: Probability
    "The gain of the detection time and its deviation, g1 and g2. Default: 0.25."
    loss: Probability
    "The share of losses above which a layer is dropped in the measurement state. Default: 0.25."
    packets: int
    "How many packets have to come before that is judged. Default: 10."
    shared_learning: bool
    "Whether receivers tell one another of their experiments (shared learning). Default: yes."
    defects: bool
    "Whether the two defects of ns-2's code are kept. Default: as the profile says: only `ns2`."


class ControlEmptyLayer(TypedDict, total=False):
    """One layer more than comes. The paper has no times."""

    add: Duration
    "How long after a layer was added the next one may be, and its emptiness is judged. Default: 2 s."
    empty: Duration
    "After how long without a packet a layer counts as empty. Default: 1 s."
    check: Duration
    "How often the receiver looks. Default: 0.25 s."


class ControlFixed(TypedDict, total=False):
    """The same layers all the time."""

    layers: int
    "How many, from the lowest. Default: all."


class LayeredException(TypedDict, total=False):
    """A receiver with a controller of its own."""

    node: Required[str]
    "The receiver's node."
    control: Required[Control]
    "What decides there."


class AsSourceGreedy(TypedDict, total=False):
    """``greedy`` with its parameters."""

    greedy: Required[SourceGreedy]


class AsSourceFile(TypedDict, total=False):
    """``file`` with its parameters."""

    file: Required[SourceFile]


class AsSourceCbr(TypedDict, total=False):
    """``cbr`` with its parameters."""

    cbr: Required[SourceCbr]


class AsSourceOnoff(TypedDict, total=False):
    """``onoff`` with its parameters."""

    onoff: Required[SourceOnoff]


class AsSourceVoice(TypedDict, total=False):
    """``voice`` with its parameters."""

    voice: Required[SourceVoice]


class AsSourceVideo(TypedDict, total=False):
    """``video`` with its parameters."""

    video: Required[SourceVideo]


class AsSourceEncoder(TypedDict, total=False):
    """``encoder`` with its parameters."""

    encoder: Required[SourceEncoder]


class AsSourceWeb(TypedDict, total=False):
    """``web`` with its parameters."""

    web: Required[SourceWeb]


class AsSourceFtp(TypedDict, total=False):
    """``ftp`` with its parameters."""

    ftp: Required[SourceFtp]


class AsSourceFiles(TypedDict, total=False):
    """``files`` with its parameters."""

    files: Required[SourceFiles]


Source: TypeAlias = "Literal['greedy', 'file', 'cbr', 'onoff', 'voice', 'video', 'encoder', 'web', 'ftp', 'files'] | AsSourceGreedy | AsSourceFile | AsSourceCbr | AsSourceOnoff | AsSourceVoice | AsSourceVideo | AsSourceEncoder | AsSourceWeb | AsSourceFtp | AsSourceFiles"

SourceGreedy: TypeAlias = "Mapping[str, Any]"


class SourceFile(TypedDict, total=False):
    """One transfer of a given size."""

    size: Size
    "How much is sent: payload. Default: 1 MB."


class SourceCbr(TypedDict, total=False):
    """Writes of one size at equal intervals, from the start of the flow to the end of the run: over UDP one datagram each."""

    rate: Rate
    "The rate of the payload, headers not counted. 64 kbit/s, a voice channel."
    interval: Duration
    "The time between two writes, instead of a rate."
    size: Size
    "The payload of each write. Default: 1000 B."


class SourceOnoff(TypedDict, total=False):
    """Bursts of writes, from the start of the flow to the end of the run: over UDP one datagram each. The first burst begins at once."""

    rate: Rate
    "The rate of the payload during a burst, headers not counted. Default: 64 kbit/s (ns-2)."
    size: Size
    "The payload of each write. Default: 210 B (ns-2)."
    on: Duration
    "The mean length of a burst. Default: 500 ms (ns-2)."
    off: Duration
    "The mean length of the silence between two bursts. Default: 500 ms (ns-2)."
    distribution: Distribution
    "How the lengths are distributed."
    shape: float
    "The shape of the Pareto distribution, above 1; below 2 its variance is infinite. Default: 1.5 (ns-2)."


Distribution: TypeAlias = "Literal['exponential', 'pareto', 'constant']"


class SourceVoice(TypedDict, total=False):
    """Speech of the AMR coder at 12.2 kbit/s: over UDP one RTP packet for each frame that is sent. The first talk spurt begins at once."""

    talk: Duration
    "The mean length of a talk spurt; lengths are exponential. Default: 1.026 s. (ITU-T P.59: 1.004 s.)"
    silence: Duration
    "The mean length of the silence between two talk spurts; lengths are exponential. Default: 1.171 s. (ITU-T P.59: 1.587 s.)"


class SourceVideo(TypedDict, total=False):
    """Video in frames of several slices: over UDP one RTP packet for each slice. The first frame comes at once. By default 65 kbit/s (3GPP TR 25.892, Annex A: 64 kbit/s)."""

    interval: Duration
    "The time between two frames. Default: 100 ms."
    slices: int
    "Slices of a frame. Default: 8."
    min_size: Size
    "The least size of a slice, without headers: the scale of its Pareto distribution. Default: 40 B. (20 B for 32 kbit/s.)"
    max_size: Size
    "The largest size of a slice, at which the distribution is cut off. Default: 250 B. (125 B for 32 kbit/s.)"
    min_gap: Duration
    "The least time between two slices of a frame: the scale of its Pareto distribution. Default: 2.5 ms."
    max_gap: Duration
    "The longest time between two slices of a frame, at which the distribution is cut off. Default: 12.5 ms."
    shape: float
    "The shape of both distributions. Default: 1.2."


class SourceEncoder(TypedDict, total=False):
    """An encoder that follows the rate of the congestion control, from the start of the flow to the end of the run (RFC 8593 §5). The first frame comes at once."""

    fps: float
    "Frames a second. Default: 30 (RFC 8593, Figure 2)."
    min_rate: Rate
    "The least rate of the encoder, R_min. Default: 150 kbit/s (RFC 8593, Figure 2)."
    max_rate: Rate
    "Its greatest, R_max. Default: 1.5 Mbit/s (RFC 8593, Figure 2)."
    start_rate: Rate
    "That at the start, until the transport says one. Default: `min_rate`."
    reaction: Duration
    "After a change of its rate it takes no other for this time, τ_v. Default: 200 ms (RFC 8593, Figure 2)."
    size_deviation: float
    "Scale of the Laplacian deviation of a frame's size, in sizes, SCALE_B. 0: all have the size that the rate asks for. Default: 0.15 (RFC 8593, Figure 2)."
    interval_deviation: float
    "Scale of the Laplacian deviation of the time between two frames, in such times, SCALE_t. Default: 0.15 (RFC 8593, Figure 2)."
    burst: float
    "The first frame after a rate that rises or falls by half or more is larger by this factor, K_B/B0; the seven frames after it are smaller, so that the eight (K_d) keep the rate. 1: no such burst. Default: 3.24 (RFC 8593, Figure 2: 13.5 kB of 4.17 kB)."
    trace: FrameTrace
    "Sizes that an encoder produced at several bit rates, in the place of the statistical model (§6): on the first line bit rates in kbit/s, ascending, on each further line the sizes in bytes of one frame at these rates. Default: none."
    pauses: Sequence[Sequence[Duration]]
    "Pauses, as `[from, until]` by the run's time: no frame is captured in them (RFC 8867 §5.8). Default: none."
    skip: Duration
    "A frame is skipped if more of the media than this wait at the sender (§4, instant frame skipping). Default: 100 ms, as long as SCReAM lets packets wait."
    playout: Duration
    "How long after its capture a frame is shown; one that is not whole by then is late. Default: 400 ms, the one-way delay beyond which a conversation suffers (ITU-T G.114)."


FrameTrace: TypeAlias = "str"


class SourceWeb(TypedDict, total=False):
    """Pages of a main object and embedded objects, each page over a connection of its own, with time to read it."""

    load: Load
    "What a page is made of."
    main_mean: Size
    "The mean size of main objects before truncation. Default: 10 710 B (3GPP TR 25.876)."
    main_std: Size
    "The standard deviation of their sizes before truncation. Default: 25 032 B."
    main_min: Size
    "The smallest main object. Default: 100 B."
    main_max: Size
    "The largest main object. Default: 2 MB."
    embedded_mean: Size
    "The mean size of embedded objects before truncation. Default: 7758 B."
    embedded_std: Size
    "The standard deviation of their sizes before truncation. Default: 126 168 B."
    embedded_min: Size
    "The smallest embedded object. Default: 50 B."
    embedded_max: Size
    "The largest embedded object. Default: 2 MB."
    number: EmbeddedObjects
    "How many objects are embedded in a page."
    parsing: Duration
    "The mean time from the last byte of an object, sent for the first time, to the next object; exponential. Default: 130 ms."
    reading: Duration
    "The mean time from the acknowledgement of a whole page to the next page; exponential. Default: 30 s."
    first: Duration
    "The latest start of the first page after the start of the flow; the time is uniformly distributed. Default: 30 s (own choice: as if the user had been reading)."
    packet: PagePackets
    "The sizes of packets."


Load: TypeAlias = "Literal['table-5.1', 'thesis-load', 'thesis-load-main']"


class EmbeddedObjects(TypedDict, total=False):
    """How many objects are embedded in a page: a Pareto-distributed number less its least value."""

    shape: float
    "The shape of the Pareto distribution, α. Default: 1.1."
    min: float
    "Its least value k, which is taken off. Default: 2."
    max: float
    "Its largest value m. Default: 55."
    larger: Larger
    "What becomes of larger values."
    rounding: Rounding
    "How the number becomes whole."


Larger: TypeAlias = "Literal['clip', 'reject']"

Rounding: TypeAlias = "Literal['nearest', 'down']"


class PagePackets(TypedDict, total=False):
    """The packets of a page: all large or all small."""

    large: Size
    "The size of large packets, TCP/IP headers of 40 B included. Default: 1500 B (3GPP TR 25.876)."
    small: Size
    "The size of small packets, likewise. Default: 576 B."
    large_share: Probability
    "The share of pages or files that come in large packets. Default: 0.76."


class SourceFtp(TypedDict, total=False):
    """Files of random size, each over a connection of its own, with time to read them."""

    size_mean: Size
    "The mean size of files before truncation; log-normal. Default: 2 MB (3GPP TR 25.876)."
    size_std: Size
    "The standard deviation of their sizes before truncation. Default: 722 kB."
    size_max: Size
    "The largest file. Default: 5 MB."
    reading: Duration
    "The mean time from the acknowledgement of a whole file to the next file; exponential. Default: 180 s."
    first: Duration
    "The latest start of the first file after the start of the flow; the time is uniformly distributed. Default: 30 s (own choice)."
    packet: PagePackets
    "The sizes of packets."


class SourceFiles(TypedDict, total=False):
    """Files of a few sizes, one after another, with a pause after each."""

    sizes: Sequence[Size]
    "The sizes. 3, 7, 15, … 1023 packets of 1450 B: each is what whole rounds of slow start carry."
    weights: Sequence[float]
    "How often each size is drawn, in relation to the others. Default: 9 for the smallest, … 1 for the largest."
    pause: Duration
    "The mean of the pause. Default: 2 s."
    pause_min: Duration
    "The least pause; the time beyond it is exponential, as a truncated exponential distribution is. Default: 0.5 s."
    first: Duration
    "The latest start of the first file after the start of the flow; the time is uniformly distributed. Default: 2 s (own choice)."


class AsQosMark(TypedDict, total=False):
    """``mark`` with its parameters."""

    mark: Required[QosMark]


class AsQosDiffserv(TypedDict, total=False):
    """``diffserv`` with its parameters."""

    diffserv: Required[QosDiffserv]


class AsQosIntserv(TypedDict, total=False):
    """``intserv`` with its parameters."""

    intserv: Required[QosIntserv]


class AsQosSwan(TypedDict, total=False):
    """``swan`` with its parameters."""

    swan: Required[QosSwan]


Qos: TypeAlias = "Literal['mark'] | AsQosMark | AsQosDiffserv | AsQosIntserv | AsQosSwan"


class QosMark(TypedDict, total=False):
    """The flow's packets carry a code point."""

    dscp: Dscp
    "The code point. Default: best effort."


class QosDiffserv(TypedDict, total=False):
    """The flow asks for a class of service at each edge on its way."""

    class_: Service
    "The class. Default: expedited forwarding."
    rate: Required[Rate]
    "The rate that it is to have, headers included."
    burst: Size
    "The burst that it is to have. Default: 3 kB, two packets of 1500 B."
    broker: str
    "The node that decides, the bandwidth broker. Default: each edge decides for itself."
    on_reject: OnReject
    "What becomes of data while the flow is not admitted: not yet, not any more, or refused."
    retry: Duration
    'After what time a refused flow asks again: 0.5 to 1.5 of this. Default: with `on_reject = "block"` 5 s, as SWAN\'s sources; else never, since the edges ask again for it at a handover.'


Service: TypeAlias = "Literal['ef', 'af11', 'af21', 'af31', 'af41']"

OnReject: TypeAlias = "Literal['best_effort', 'block']"


class QosIntserv(TypedDict, total=False):
    """A rate is reserved for the flow at every hop."""

    rate: Required[Rate]
    "The token rate r that the flow keeps to, headers included (RFC 2215 §3.6)."
    bucket: Size
    "The token bucket b: how much may come at once. Default: 10 kB."
    peak: Rate
    "The peak rate p. Default: no limit."
    max_packet: Size
    "The largest packet M, headers included; a larger one is excess (RFC 2211, Policing). Default: 1500 B."
    reserve: Rate
    "The rate R that is reserved. A higher one shortens the delay bound (RFC 2212, End-to-End Behavior). Default: the token rate."
    floor: Rate
    "The least rate that will do where the whole is not free. Default: the rate that is reserved."
    on_reject: OnReject
    "What becomes of data while nothing is reserved for them: not yet, not any more, or refused."
    excess: Excess2
    "What becomes of packets beyond rate, bucket, peak or size at the sender."
    at_handover: AtHandover
    "How the reservation gets to a changed link."
    refresh: Duration
    "The refresh period R of all state; each refresh comes after 0.5 R to 1.5 R, and state lives for (3 + 0.5)·1.5·R. Default: 30 s (RFC 2205 §3.7)."
    processing: Duration
    "How long each node works at a message. Default: 5 ms."


Excess2: TypeAlias = "Literal['drop', 'demote']"

AtHandover: TypeAlias = "Literal['signal', 'transfer']"


class QosSwan(TypedDict, total=False):
    """Real-time service without state in the network."""

    rate: Required[Rate]
    "The rate that the flow wants, headers included."
    floor: Rate
    "The least rate that will do where the whole is not free. Default: the rate that it wants."
    bucket: Size
    "How much may come at once above the admitted rate; more is not sent. Default: 10 kB."
    on_reject: OnReject
    "What becomes of data while the flow is not admitted."
    wait: Duration
    "How long a source waits at most before it probes again when the way carries too much, W; it draws a time from 0 to this. Also the least time between two complaints of the receiver. Default: 1 s, SWAN's period."
    timeout: Duration
    "How long a source waits for the answer to a probe. Default: 1 s."
    retry: Duration
    "After what time a source that did not get all that it wants probes again: 0.5 to 1.5 of this. Default: 5 s."


class Change(TypedDict, total=False):
    """A change of a link, or of the way to a terminal, during the run. Properties left out stay as they are."""

    at: Required[Duration]
    "When."
    link: Required[str]
    "The link; or a radio, `cell`, or one of its terminals, `cell.ue[3]`, or several, `cell.ue[0:3]`; or a constellation or one of its terminals. A radio and a constellation stand for all their terminals. A change of a terminal is one of the way to it: of the air, not of routes."
    rate: Rate
    "The new rate, in both directions; of a terminal of MBMS that of its bearers down, of one of a constellation that of its up-link."
    ramp: Duration
    "The time in which the rate goes to its new value, in ten equal steps. The n-th is made after n tenths of this time. Another change of the link's rate ends it. Default: 0 s: the rate changes at once."
    delay: Duration
    "The new propagation delay, in both directions."
    up: bool
    "Whether the link is up. Packets find no way over a link that is down, and those that wait there stay. A terminal that is not up has no coverage: nothing comes over the air to it or from it."
    quality: Decibel
    "By how much the ratio of signal to interference at the terminal is better than it is by itself, from now on: `-10 dB` in a car park. Of radios that choose formats by it."
    loss: LossModel
    "A new loss model, forward. On the way to a terminal it loses blocks on top of what the air loses; of a constellation it takes the place of the former one."
    loss_for: Duration
    "For how long the new loss model holds. Then the former one goes on. Default: for good."
    in_flight: InFlight
    "What becomes of packets in service and in flight."
    queue: Queued
    "What becomes of waiting packets."
    forwarding: Duration
    "How long the way of forwarded packets takes, from the old access to the queue of the changed link."
    interruption: Duration
    "Break before make: how long nothing is sent, in both directions. Packets that come meanwhile wait."
    overlap: Duration
    "Make before break: how long the old access goes on sending the waiting packets, while the new one sends arriving ones. Packets of the new one may arrive first."
    repeat: Repeat
    "Makes the same change again, at equal intervals."


InFlight: TypeAlias = "Literal['finish', 'move', 'copy', 'lose', 'forward']"

Queued: TypeAlias = "Literal['keep', 'empty', 'forward']"


class Repeat(TypedDict, total=False):
    """How often a change is made."""

    every: Required[Duration]
    "The time from each change to the next."
    times: Required[int]
    "How many changes there are, the first one included."


class Live(TypedDict, total=False):
    """How `lasthop live` connects real programs."""

    late: Duration
    "A packet that is handed to its host later than this counts as late. Default: 1 ms."
    memory: Size
    "The most bytes of real packets under way; further packets are dropped in front of the network, and the run is unsound. Default: 1 GB."
    offload: bool
    "Let the hosts' kernels hand over TCP uncut: it is cut into segments in front of the network, and segments for a host that are due at the same time are joined again. It spares time at high rates. Default: no."
    host: Sequence[LiveHost]
    "The nodes at which real packets enter and leave. Default: the ends of the flows."
    group: Mapping[str, str]
    "Multicast addresses of groups. Default: 239.77.0.N for the N-th group."


class LiveHost(TypedDict, total=False):
    """A node at which real packets enter and leave the network."""

    node: Required[str]
    "A node; `NAME.ue[*]` makes a host of each terminal of a cell."
    address: str
    "Its IPv4 address. Default: 10.77.0.N for the N-th host, beside fd77::N."
    mtu: int
    "The longest packet of its interface in bytes. Default: 1500 (Ethernet)."
    run: Sequence[str]
    "A program, with its arguments, that runs at this host as long as the live run lasts."
    congestion: str
    "The congestion control of its kernel's TCP, such as `cubic` or `bbr`. Default: the system's."
    sysctl: Mapping[str, str]
    'Settings of its kernel\'s network, such as `"net.ipv4.tcp_ecn" = "1"`. Default: the system\'s.'


class Record(TypedDict, total=False):
    """Recordings beyond totals. Recording does not alter a run."""

    transfers: bool
    "Keep every transfer that a source has begun, for the table `transfers`. Yes. In a long run with many sources of pages, memory does not grow without it."
    series: Duration
    "Sample links and flows at this interval, into the table `series`."
    quantities: Sequence[str]
    "What else stands in the table `series`, wherever it is shown: names of values in the tables `state` and `media`, such as `timeouts` and `frames_late`. A distribution, such as `rtt_ms_p95`, has the values since the last sample."
    transfer_quantities: Sequence[str]
    "By how much these values in the table `state` of a flow's ends grow during each transfer, in the table `transfer_state`; and `dropped_packets`, those that the network drops of the flow. A transfer counts until the next one of its flow begins."
    packets: bool
    "Record every packet sent, received, dropped and marked, into the table `packets`."
    state: bool
    "Show every value that links, endpoints and signalling machines keep at the end, into the table `state`."
    hops: bool
    "Record each node that a packet goes on from too, into the table `packets`."
    handovers: bool
    "Record what each change of a link did, into the table `handovers`."
    slots: bool
    "Record what each slot of a radio's shared channel carries, into the table `slots`."
    variables: bool
    "Record every change of `cwnd`, `ssthresh`, `srtt` and the like, into the table `changes`."
    most_rows: int
    "A run ends with an error when one of these tables has more rows, so that it does not use up memory: a row of `packets` takes about 100 B. Default: 5 million."


class ScenarioFields(TypedDict, total=False):
    """A network, what it carries, what changes, and what to record."""

    name: str
    "A name for tables and files. Default: the file's name."
    description: str
    "What it is about, for readers."
    profile: Profile
    "The rules for parameters left out: `rfc`, `ns2`, `linux` or `3gpp`."
    duration: Duration
    "Simulated time. Default: 60 s."
    seed: int
    "The seed of all random streams, from 0 to 2⁵³ − 1."
    nodes: Sequence[str]
    "Nodes by name. If left out, the nodes are those that links name."
    link: Sequence[Link]
    "Point-to-point links."
    cell: Sequence[Cell]
    "Cells of UMTS."
    hsdpa: Sequence[Hsdpa]
    "Cells of HSDPA."
    mbms: Sequence[Mbms]
    "Node Bs of MBMS."
    constellation: Sequence[Constellation]
    "Constellations of satellites."
    group: Sequence[Group]
    "Multicast groups."
    flow: Sequence[Flow]
    "Flows."
    change: Sequence[Change]
    "What changes during the run."
    live: Live
    "Real programs at its nodes, for `lasthop live`."
    record: Record
    "Recordings beyond totals."
