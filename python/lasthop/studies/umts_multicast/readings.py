"""What the paper leaves open: questions with their admissible answers, the default first, and what each touches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lasthop.studies.readings import Answer, Question, Reading


#: What an answer can touch: §5.1; §5.2; the schemes of §5.3, and TCP there; the schemes of §5.4 with one terminal, TCP
#: there, and the schemes with several; what the bit tells.
FAIR, STEP, MULTICAST, UNICAST = "5.1", "5.2", "5.3", "5.3 TCP"
WORSE, TCP, MANY_WORSE, TELLS = "5.4", "5.4 TCP", "5.4 several", "bit"

SPAN = Question(
    "degradation of §5.3",
    "§5.4 says that no degradation occurs in the beginning; §5.3 does not, and its radios lose packets from the start. "
    "The only span that it names is 20 s. The first 20 s are left out of the throughput, as the first 50 s are in "
    "§5.1: how flows start is not compared. A clean start of 20 s, which was taken at first, stands nowhere in the "
    "paper",
    [
        Answer(
            "from the start",
            "the radio loses packets from 0 s on; throughput from 20 to 40 s",
            "During each 5 s period, the applied packet loss rate is selected randomly from a range from 0% up to 5%.",
        ),
        Answer(
            "start counted",
            "the radio loses packets from 0 s on; throughput from 0 to 20 s, the start of the flows included",
            "The packet loss rate is selected to be relatively small and is assumed to be stable in a period of 20 s.",
            {"from_s": 0.0, "until_s": 20.0},
        ),
        Answer(
            "two minutes",
            "the radio loses packets from 0 s on; throughput from 20 to 120 s",
            "Eventually, the radio channel degradation will cause a significant and steady degradation of the service "
            "performance.",
            {"until_s": 120.0},
        ),
        Answer("clean start", "20 s without loss; then losses, and throughput from 20 to 40 s", "", {"begins_s": 20.0}),
        Answer(
            "clean start, two minutes",
            "20 s without loss; then losses for 120 s, and throughput of the last 80 s",
            "",
            {"begins_s": 20.0, "from_s": 60.0, "until_s": 140.0},
        ),
    ],
)

LOSSES = Question(
    "losses of §5.3",
    "§5.3 states a rate of packet loss and no bursts; of the loss model that it cites it gives no parameters",
    [
        Answer(
            "one by one",
            "attempts are lost independently of each other",
            "The packet loss rate is selected to be relatively small",
        ),
        Answer(
            "bursts",
            "attempts are lost in bursts of 4 (Gilbert), with 2.5 % of the packets on average",
            "We consider a UMTS network with a loss model presented in [15]",
            # A chain has no beginning in the middle of a run.
            {"burst": 4.0, "begins_s": 0.0},
        ),
        Answer(
            "varying bearer",
            "each terminal's rate and delay are drawn anew every 5 s too, from 192 to 384 kbit/s and from 20 to 120 ms",
            "TCP/IP performance over 3G wireless links with rate and delay variation.",
            {"varying": True},
        ),
    ],
)

#: What a bearer with one attempt cannot be asked, and what one with RLC cannot either.
_ONE = {"remains": True}
_RLC = {**_ONE, "requests": False, "varying": False, "burst": 0.0}

BEARER = Question(
    "radio bearer",
    "the smallest model in which a bad radio both loses packets, as §5.3 needs, and fills the Node B's buffer, as §5.4 "
    "does: with one attempt a packet takes its time whether it is lost or not, and no buffer fills",
    [
        Answer(
            "two attempts",
            "a bearer for each terminal and flow; a packet is sent at most twice",
            "When a permanent degradation occurs on the radio link, the buffer of the Node B will possibly overflow "
            "and some packets will be rejected.",
        ),
        Answer(
            "one attempt", "a bearer of unacknowledged mode without segments", "", {"bearer": "one attempt", **_ONE}
        ),
        Answer(
            "shared bearer",
            "point to multipoint: one bearer for all of a cell that listen, one attempt (of TCP too)",
            "Its advantage is that the sender's data are transmitted only once over the links that are shared along "
            "the paths to a targeted set of destinations.",
            {"bearer": "shared", **_ONE},
        ),
        Answer("RLC UM", "cells with RLC in unacknowledged mode", "", {"bearer": "um", **_RLC}),
        Answer("RLC AM", "cells with RLC in acknowledged mode, PDUs sent at most twice", "", {"bearer": "am", **_RLC}),
    ],
)

SHARE = Question(
    "share of lost packets",
    "“packet loss rate” is what a terminal sees of packets",
    [
        Answer(
            "of packets",
            "the share is what stays lost after all attempts",
            "applying a loss rate of 20% over the packets transmitted via the corrupted wireless link",
        ),
        Answer(
            "of attempts",
            "the share is lost of each attempt, so with two attempts its square stays lost",
            "applying an error rate over the packets transmitted via the radio links",
            {"remains": False},
        ),
    ],
)

BUFFER = Question(
    "buffer at the Node B",
    "the paper gives none; a queue of ns-2, its simulator, holds 50 packets unless it is told otherwise "
    "(ns-default.tcl)",
    [
        Answer("50 packets", "50 packets for each bearer"),
        Answer(
            "25 packets",
            "25 packets for each bearer",
            "This time interval may differ according to the bit-rate of the transmission and the size of the buffer in "
            "Node B.",
            {"queue": 25},
        ),
    ],
)

RATE = Question(
    "rate of a bearer",
    "the paper gives none; EURANE's fastest dedicated channel has 384 kbit/s",
    [
        Answer("384 kbit/s", "384 kbit/s down"),
        Answer(
            "192 kbit/s",
            "half of it",
            "This time interval may differ according to the bit-rate of the transmission and the size of the buffer in "
            "Node B.",
            {"rate_kbps": 192},
        ),
    ],
)

BIT = Question(
    "packet-loss indication",
    "a lost packet carries nothing, so the bit has to be in another one: the first that is admitted after a gap, and "
    "the copies that the Node B asked for. That is the paper's “previously lost” and “previously rejected” as far as "
    "both can hold",
    [
        Answer(
            "reading A",
            "set in the first packet after a gap, and in copies that the Node B asked for (edge)",
            "0 indicates a correctly received packet in Node B, whereas 1 indicates a previously lost packet",
        ),
        Answer("reading B", "changes with each gap (toggle)", "", {"indication": "toggle"}),
        Answer(
            "reading C",
            "set only in copies that the Node B asked for (resend)",
            "Node B sets the packet loss indication to 1 in the header of the data packets that have previously been "
            "rejected due to overflow of its buffer.",
            {"indication": "resend"},
        ),
        Answer("bit held twice", "reading A, the bit in two packets after a gap", "", {"indication": "edge 2"}),
    ],
)

REQUESTS = Question(
    "requests of the Node B",
    "§3.3 says so, and no more of it: each rejected packet is asked for once, after 0.1 s, in modified networks",
    [
        Answer(
            "requests",
            "Node Bs ask their RNC for what they rejected",
            "Subsequently, Node B will request the retransmission of the rejected packets from its corresponding RNC.",
        ),
        Answer(
            "no requests",
            "they do not: §4 and §5 know nothing of them",
            "",
            {"requests": False},
        ),
    ],
)

CONSTANT = Question(
    "PGMCC's constant C",
    "draft-ietf-rmt-bb-pgmcc-03 §2.3 gives 0.75; it accepts 0.6 to 0.75",
    [
        Answer("C = 0.75", "another receiver becomes the acker below 0.75 of the acker's throughput"),
        Answer("C = 0.6", "below 0.6 of it", "For full details of PGMCC, we refer the reader to [5].", {"c": 0.6}),
    ],
)

CUT_AGAIN = Question(
    "what halves PGMCC's window again",
    "draft-ietf-rmt-bb-pgmcc-03 §2.2 halves it once in each round trip with a loss, in the same way as TCP, whose rule "
    "is that the lost packet was sent after the last cut (RFC 6582); by its other words any loss that comes with "
    "feedback for a later packet does",
    [
        Answer("a later loss", "the loss of a packet that was sent after the last cut"),
        Answer(
            "later feedback",
            "any loss that is reported with feedback for such a packet, be it of a packet before the cut",
            "",
            {"cut_again": "later_feedback"},
        ),
    ],
)

OF_TCP = Question(
    "TCP",
    "the authors used ns-2, and the equation that they give is for Reno; NewReno is its descendant that ns-2's studies "
    "of the time take, with ns-2's minimum timeout of 0.2 s",
    [
        Answer(
            "NewReno of ns-2",
            "profile ns2, NewReno, minimum timeout 0.2 s",
            "we use the enhanced UMTS radio-access network extensions extension of ns-2 [13]",
        ),
        Answer("TCP SACK", "with SACK", "", {"tcp": {"variant": "sack"}}),
        Answer("TCP 1 s", "with a minimum timeout of 1 s (RFC 6298)", "", {"tcp": {"rto": {"min": "1 s"}}}),
        Answer("TCP of profile rfc", "NewReno as the standards have it", "", {"tcp": {"profile": "rfc"}}),
    ],
)

BACKGROUND = Question(
    "servers that are not observed",
    "Table I has them. They share no bearer and no bottleneck with what is observed, so that all other readings go "
    "without",
    [
        Answer(
            "all of Table I",
            "five groups of TFMCC, five of PGMCC and fifty TCP flows send",
            "Number of servers for TCP traffic",
        ),
        Answer(
            "observed flows alone",
            "the other servers are silent",
            "The experiment is executed five times, once for each of examined schemes, with exactly the same "
            "parameters.",
            {"background": False},
        ),
    ],
)

QUESTIONS: Sequence[Question] = [
    SPAN,
    LOSSES,
    BEARER,
    SHARE,
    BUFFER,
    RATE,
    BIT,
    REQUESTS,
    CONSTANT,
    CUT_AGAIN,
    OF_TCP,
    BACKGROUND,
]

#: What the answers to a question touch, by its name: elsewhere a run is the same, packet for packet.
TOUCHES: Mapping[str, frozenset[str]] = {
    SPAN.name: frozenset({MULTICAST, UNICAST}),
    LOSSES.name: frozenset({MULTICAST, UNICAST}),
    BEARER.name: frozenset({MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    SHARE.name: frozenset({MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    BUFFER.name: frozenset({FAIR, MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    RATE.name: frozenset({MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    BIT.name: frozenset({FAIR, STEP, MULTICAST, WORSE, MANY_WORSE, TELLS}),
    REQUESTS.name: frozenset({FAIR, MULTICAST, WORSE, MANY_WORSE}),
    CONSTANT.name: frozenset({FAIR, STEP, MULTICAST, MANY_WORSE}),
    CUT_AGAIN.name: frozenset({FAIR, STEP, MULTICAST, WORSE, MANY_WORSE}),
    OF_TCP.name: frozenset({FAIR, STEP, UNICAST, TCP}),
    BACKGROUND.name: frozenset({FAIR, MULTICAST, UNICAST}),
}


def touched(reading: Reading) -> Sequence[frozenset[str]]:
    """What each answer of a reading touches. With other answers the background is silent anyway."""
    several = len(reading.chosen) > 1
    return [frozenset() if several and name == BACKGROUND.name else TOUCHES[name] for name in reading.chosen]


def part(reading: Reading, of: Collection[str]) -> Reading:
    """The answers of a reading that touch something of these."""
    chosen = {name: answer for name, answer in reading.chosen.items() if TOUCHES[name] & set(of)}
    if len(chosen) > 1:
        chosen.pop(BACKGROUND.name, None)
    return Reading(chosen)
