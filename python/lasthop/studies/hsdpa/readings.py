"""What the paper leaves open: questions with their admissible answers, the default first."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.hsdpa.scenario import LARGE, MEDIUM
from lasthop.studies.readings import Answer, Question

__all__ = ["QUESTIONS", "REVERSED_AT", "TAKEN_UP"]

#: Changes of how a claim reads the text, by its number. At which size TCP has more congestion events than TFRC:
REVERSED_AT = "text.H8"

#: Which of TCP's bytes take up capacity of the channel that TFRC has free:
TAKEN_UP = "text.H20"

#: What a TFRC of ns-2 needs beside its slow start: three later packets show a loss, as RFC 3448 has it (§5.1), and
#: headers as TCP's.
NS2_TFRC = {
    "tfrc.profile": "ns2",
    "tfrc.version": None,
    "tfrc.slow_start_limit": None,
    "tfrc.initial_window": None,
    "tfrc.header": "40 B",
    "tfrc.loss_trigger": 3,
}

QUESTIONS: Sequence[Question] = [
    Question(
        "TCP's first window",
        "the paper wants TCP to begin as if there were no handshake: one segment on the SYN, then the initial window "
        "of two, "
        "then four. So does ns-2's two-way TCP with data on the SYN, which sets the window to the initial one when "
        "the SYN is "
        "acknowledged. The sizes of the files, 2ⁿ − 1 segments, are whole rounds of 1, 2, 4, … segments",
        [
            Answer(
                "TCP begins with one",
                "one segment in the first round trip, on the SYN; then two, four, …",
                "By setting the initial window of TCP to two segments and sending data on the SYN, the window is "
                "doubled "
                "as if no handshake was made.",
            ),
            Answer(
                "TCP begins with two",
                "the initial window of two segments is sent in the first round trip, with the SYN; then four, eight, …",
                "By setting the initial window of TCP to two segments and sending data on the SYN",
                {"tcp.initial_window": 2},
            ),
        ],
    ),
    Question(
        "TCP's standard",
        "the authors used the TCP of ns-2",
        [
            Answer("TCP of ns-2", "profile ns2", "The network simulator (ns) version 2.27"),
            Answer(
                "TCP of the RFCs",
                "profile rfc: loss recovery of RFC 6675, limited transmit (RFC 3042), timer of RFC 6298",
                "",
                {"tcp.profile": "rfc"},
            ),
        ],
    ),
    Question(
        "TFRC's slow start",
        "the paper says what its TFRC does, in the words of ns-2.27's code, which it changed to follow RFC 3448",
        [
            Answer(
                "TFRC doubles each round trip",
                "TFRC of RFC 3448, but in slow start the rate doubles each round trip while what is received matches "
                "what "
                "was sent, and is twice the rate of reception if not",
                "TFRC mimics the TCP slow start behavior in the beginning of each session by doubling the sending rate "
                "once per round trip time, if the reported receive rate matches the current send rate, otherwise the "
                "new sending "
                "rate is set to twice the receive rate.",
            ),
            Answer(
                "TFRC of RFC 3448",
                "by the letter: at most twice the rate of reception, which is that of a round trip before, so the rate "
                "doubles every second round trip",
                "We also modified the TFRC code to follow RFC3448",
                {"tfrc.slow_start_limit": "received"},
            ),
            Answer(
                "TFRC of ns-2.29",
                "ns-2's TFRC, with the slow start that it had until 2005 and a no-feedback timer of two round trips",
                "The network simulator (ns) version 2.27",
                {**NS2_TFRC, "tfrc.slow_start": "ns-2.29"},
            ),
            Answer(
                "TFRC of ns-2.35",
                "ns-2's TFRC, with its later slow start and a no-feedback timer of two round trips",
                "",
                {**NS2_TFRC, "tfrc.slow_start": "ns-2.35"},
            ),
        ],
    ),
    Question(
        "TFRC after its first report",
        "RFC 3448 §4.3, which the paper's TFRC follows: the first report allows one packet in a round trip",
        [
            Answer("TFRC sends 1-1-2-4", "one packet in the first round trip and in the second, then two"),
            Answer(
                "TFRC sends 1-2-4",
                "the first report doubles the rate already: one packet in the first round trip, two in the second",
                "TFRC mimics the TCP slow start behavior in the beginning of each session",
                {"tfrc.initial_window": 2},
            ),
        ],
    ),
    Question(
        "Serving cell",
        "mobiles choose the strongest cell",
        [
            Answer("strongest cell", "the cell with the strongest signal serves, shadowing included"),
            Answer(
                "own hexagon",
                "a mobile is served by the hexagon that it stands in",
                "The nodes were distributed uniformly over the seven cells.",
                {"hsdpa.hsdpa.serving": "hexagon"},
            ),
        ],
    ),
    Question(
        "Shadowing toward several sites",
        "3GPP's usual assumption (TR 25.942 §5.1.3)",
        [
            Answer("sites correlate", "the shadowing toward two sites correlates by 0.5", "Stddev 8dB"),
            Answer(
                "sites apart",
                "the shadowing toward two sites is independent",
                "Stddev 8dB",
                {"hsdpa.hsdpa.air.shadowing.sites": 0.0},
            ),
        ],
    ),
    Question(
        "Other power of a cell",
        "a cell has other channels than the shared one; above 1.95 W the fourth rate of Table II could never occur, "
        "and 1 W lies "
        "between that and none",
        [
            Answer(
                "1 W other power", "1 W beside the 10 W of the shared channel", "The average power was fixed to 10 W"
            ),
            Answer(
                "no other power",
                "the shared channel has the cell for itself",
                "The average power was fixed to 10 W",
                {"hsdpa.hsdpa.air.other_power": "0 W"},
            ),
            Answer(
                "1.9 W other power",
                "just less than would make the fourth rate impossible",
                "",
                {"hsdpa.hsdpa.air.other_power": "1.9 W"},
            ),
        ],
    ),
    Question(
        "Neighbour cells",
        "the paper's interference is limited by distance only, not by what other cells have to send",
        [
            Answer("neighbours always", "other cells disturb all the time", "Limited by distance"),
            Answer(
                "neighbours by slot",
                "other cells disturb in the slots in which they send",
                "",
                {"hsdpa.hsdpa.air.neighbours": "by_slot"},
            ),
        ],
    ),
    Question(
        "Codes of a slot",
        "with “max” a user who has much may have all codes, and the peak of 7.20 Mbit/s is that of all 12",
        [
            Answer(
                "codes by need",
                "by need, in the scheduler's order, for at most three users",
                "Max 3 users",
            ),
            Answer(
                "equal codes",
                "the users of a slot get the same number of codes: 12, 6 or 4",
                "Max 3 users",
                {"hsdpa.hsdpa.split": "equal"},
            ),
            Answer(
                "one user a slot",
                "no code multiplexing",
                "This means that it is possible for a single user to capture the wireless channel with SIR scheduling.",
                {"hsdpa.hsdpa.users": 1},
            ),
        ],
    ),
    Question(
        "Pause between files",
        "an exponential distribution that is truncated from below is the least value and an exponential time beyond "
        "it; its mean is "
        "then the one stated",
        [
            Answer(
                "pause of 2 s",
                "0.5 s and an exponential time, 2 s on average",
                "truncated exponentially distributed waiting time with mean 2 seconds and a minimum value of 0.5 "
                "seconds",
            ),
            Answer(
                "pause of 2.5 s",
                "exponential with mean 2 s, drawn again below 0.5 s: 2.5 s on average",
                "truncated exponentially distributed waiting time with mean 2 seconds and a minimum value of 0.5 "
                "seconds",
                {"flow.download.source": {"files": {"pause": "2.5 s"}}},
            ),
        ],
    ),
    Question(
        "Capacity of retransmissions",
        "TFRC sends nothing again: it is spared each retransmission, also of what was dropped before the air",
        [
            Answer(
                "all retransmissions",
                "all that TCP sends again takes up capacity; next to none of it is dropped once more",
                "the retransmissions performed by TCP take up capacity corresponding to the additional transfers "
                "performed "
                "with TFRC",
                {TAKEN_UP: "retransmitted_kbps"},
            ),
            Answer(
                "duplicates only",
                "only what comes twice over the air: a retransmission of what was dropped before it takes no more "
                "than the "
                "packet would have",
                "packets can only be lost in the queue awaiting transport over the wireless link",
                {TAKEN_UP: "duplicates_kbps"},
            ),
        ],
    ),
    Question(
        "Size with the reversed events",
        "it is what is printed; but then one of the two sentences is wrong, since 740 950 B is one of the two largest "
        "sizes",
        [
            Answer(
                "reversed at 740 950 B",
                "TCP has more congestion events at 740 950 B, TFRC at 1 483 350 B",
                "The situation is reversed for the 740950 byte files",
                {REVERSED_AT: LARGE[0]},
            ),
            Answer(
                "reversed at 369 750 B",
                "TCP has more at 369 750 B, TFRC at the two largest sizes: both sentences hold but for the number",
                "This type of events are more frequent for TFRC for the two largest file sizes than "
                "the fast "
                "retransmits are for TCP",
                {REVERSED_AT: MEDIUM},
            ),
        ],
    ),
]
