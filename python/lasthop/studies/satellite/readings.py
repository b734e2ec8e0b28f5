"""What the paper leaves open, and what a reading of it sets."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.readings import Answer, Question, Reading
from lasthop.studies.satellite.network import Setting

__all__ = ["LONG_WIRE", "QUESTIONS", "setting"]

#: The answer that makes the round trip long.
LONG_WIRE = "wire of 55 ms"

#: What makes T_observe neither end nor begin anew by itself, in a run of 1500 s.
NEVER = "100000 s"

QUESTIONS: Sequence[Question] = (
    Question(
        "releases in phase 2",
        "§II-B.6 describes a loop of a release in phase 2 and a block in phase 3 and adds its procedures against it. "
        "Two of the three make T_observe longer, so T_observe has to hold off releases in phase 2 too. Algorithm 1, "
        "and §II-B.7 (“before a layer can be released in phase 1”), have it in phase 1 alone. At first this study took "
        "the rest of 2 s; it was changed when results of both were known.",
        (
            Answer("rest of T_observe", "after a change none is released in phase 2 for T_observe",
                   "This process repeats forever if no precautions are taken."),
            Answer("rest of 2 s", "after a change none is released in phase 2 for as long as rates are counted",
                   changes={"queue.hold": "window"}),
            Answer("as printed", "in phase 2 a layer may be released at every check, fifty times a second",
                   "If R_{MctAvg} is less than R_{TcpAvg} , a multicast layer is released.", {"queue.hold": "none"}),
        ),
    ),
    Question(
        "over how long rates are counted",
        "The paper names no time. The rate of a TCP session is one only over a whole period of its “famous fluctuation "
        "pattern”. A fifth of 1.5 Mbit/s at a round-trip time of 0.35 s with the queue is a window of 13 packets, "
        "which TCP halves and fills again in 7 round trips: 2 to 3 s. A prototype was run with 0.5, 2 and 5 s before "
        "the study.",
        (
            Answer("rates over 2 s", "rates are counted over 2 s",
                   "the total number of passing-through TCP packets (N_{TcpPkt}) and the total number of "
                   "passing-through multicast packets (N_{MctPkt}) in a period of time are counted"),
            Answer("rates over 0.5 s", "rates are counted over 0.5 s", changes={"queue.rate_window": "0.5 s"}),
            Answer("rates over 5 s", "rates are counted over 5 s", changes={"queue.rate_window": "5 s"}),
        ),
    ),
    Question(
        "what counts after a change",
        "Layers are to be blocked instantly, and several if need be. With what was counted in a past window alone, "
        "fifty looks a second would block layer after layer until that window is over; a rest has to be added then, "
        "which the paper does not have.",
        (
            Answer("layers as they are "
                   "now", "a layer that has been open for less than the window counts as the mean of its "
                   "session's older ones, a blocked one not at all",
                   "Multicast sessions will block a layer instantly when the queue enters phase 3"),
            Answer("plain "
                   "counts", "rates are what was counted, and the controller rests for the window after each change",
                   "then they are divided by the the number of TCP sessions and the number of multicast sessions "
                   "passing through the bottleneck", {"queue.counting": "plain"}),
        ),
    ),
    Question(
        "when T_observe begins anew",
        "The paper lets T_observe grow, and never says that it falls. But it is to grow when multicast sessions “need "
        "to increase their traffic rate continuously”, so it has to begin anew when they do not; the 60 s are ours. "
        "With either answer it begins anew when sessions come or go and at a handoff.",
        (
            Answer("after a quiet minute", "T_observe begins anew at 1 s after 60 s without a block; at most 60 s",
                   "When multicast sessions need to increase their traffic rate continuously, the rate of increase is "
                   "decreased each time when a layer is released."),
            Answer("never by itself", "it grows without a limit, and time alone does not end that",
                   changes={"queue.quiet": NEVER, "queue.most_observe": NEVER}),
        ),
    ),
    Question(
        "misses in phase 1",
        "Table I has F_QuThresh1 = 0, so a queue in phase 1 is empty.",
        (
            Answer("no misses", "a packet in the queue at a look ends phase 1",
                   "multicast layers are released in phase 1 with our scheme only if the queue can stay in phase 1 for "
                   "a specific amount of time"),
            Answer("three misses", "three looks that find a packet or two do not end it", changes={"queue.misses": 3}),
        ),
    ),
    Question(
        "gaps between packets",
        "ns-2's sources of RLM vary their gaps, and both schemes are to have the same sources. With equal gaps "
        "sessions meet a full queue in the same order each time (phase effects; Floyd and Jacobson 1991).",
        (
            Answer("gaps "
                   "vary", "the gap before a packet of a layer varies by a half of itself; layers begin one after the "
                   "other"),
            Answer("equal gaps", "the packets of a layer come at equal gaps", changes={"sessions.jitter": 0.0}),
            Answer("layers at once", "and all layers of a session at the same instants",
                   changes={"sessions.jitter": 0.0, "sessions.stagger": False}),
        ),
    ),
    Question(
        "TCP's minimum timeout",
        "ns-2's default was 1 s until October 2004; the paper is of 2003.",
        (
            Answer("timeout from 1 s", "TCP's timeout is at least 1 s"),
            Answer("timeout from 0.2 s", "TCP's timeout is at least 0.2 s, as in ns-2.35",
                   changes={"transport.rto": {"min": "0.2 s"}}),
        ),
    ),
    Question(
        "TCP's window",
        "The text says it.",
        (
            Answer("large windows", "a window of 1000 packets, which no flow reaches",
                   "we generally assumed that TCP sessions are not limited in their rate increase by their receiver's "
                   "advertised window"),
            Answer("windows of 20", "at most 20 packets, ns-2's default", changes={"transport.window": 20}),
        ),
    ),
    Question(
        "which TCP",
        "The authors used ns-2. The paper says TCP alone; in 2003 NewReno was what hosts used, and ns-2's simplest "
        "agent was still Tahoe.",
        (
            Answer("NewReno of ns-2", "recovery of all losses of a window without slow start, as ns-2 has it",
                   "One of the example satellite systems given in NS2 is used in our simulations."),
            Answer("NewReno of the RFCs", "the same as the standards have it", changes={"transport.profile": "rfc"}),
            Answer("Tahoe", "slow start after each loss", changes={"transport.variant": "tahoe"}),
        ),
    ),
    Question(
        "the wire",
        "The paper gives the wires' rate and no delay; ns-2's example of satellites and wires has 2 ms. The 55 ms, "
        "which make the round trip 200 ms without queues, were taken when a prototype had shown that the queue is in "
        "phase 2 for longer then.",
        (
            Answer("wire of 2 ms", "the wire before the gateway has 2 ms",
                   "each link in the wireline network is configured to have a bandwidth of 5Mb/s"),
            Answer(LONG_WIRE, "it has 55 ms", changes={"delay_ms": 55.0}),
        ),
    ),
    Question(
        "which RLM",
        "The authors used ns-2, whose RLM cannot join again once it dropped its last layer, and tries no more once it "
        "had all.",
        (
            Answer("RLM of ns-2", "with ns-2's two defects",
                   "a well-known multi-layer multicast congestion control scheme, RLM [1], is adopted"),
            Answer("RLM of its paper", "as McCanne, Jacobson and Vetterli describe it, with ns-2's constants",
                   changes={"rlm.defects": False}),
        ),
    ),
)  # fmt: skip


def setting(reading: Reading) -> Setting:
    """The paper's network, read so.

    What an answer changes is a setting's parameter, or one of a part of it: `queue.hold`.
    """
    made = Setting()
    for name, value in reading.changes.items():
        part, _, parameter = name.partition(".")
        made = made.but(**{part: {parameter: value} if parameter else value})
    return made
