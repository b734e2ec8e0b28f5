"""What the paper leaves open: questions with their admissible answers, the default first."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.readings import Answer, Question, as_taken, pairs, singles

__all__ = ["AT_FITTED_DELAY", "QUESTIONS"]

#: What the paper says about the delay.
DOUBLED = "doubling the end-to-end delay and cutting the rate to a tenth of the initial rate"

#: What it says about packets under way.
DUPLICATED = "packets that were sent on the old link are duplicated in the new link"

DELAY = Question(
    "Delay",
    "the paper gives none. A queue of 64 kB is one bandwidth-delay product of 3.84 Mbit/s at 67 ms each way, as "
    "queues were sized then (Villamizar, Song 1994). But 70 ms was first chosen by looking at A1 and A2, which are "
    "fitted there",
    [
        Answer("70/140 ms", "one way, end to end, on WLAN and on UMTS", "routers have queues of 64 kbytes"),
        Answer("50/100 ms", "50 ms one way on WLAN, 100 ms on UMTS", DOUBLED, {"delays_ms": (50, 100)}),
        Answer("20/40 ms", "20 ms one way on WLAN, 40 ms on UMTS", DOUBLED, {"delays_ms": (20, 40)}),
        Answer("90/180 ms", "90 ms one way on WLAN, 180 ms on UMTS", DOUBLED, {"delays_ms": (90, 180)}),
    ],
)

QUESTIONS: Sequence[Question] = [
    DELAY,
    Question(
        "Packets in flight at a handover",
        "“duplicated in the new link” says that they come by the new link. Nobody gets a packet twice of a handover "
        "that is “ideal”",
        [
            Answer(
                "in flight: moved",
                "they go, in order, ahead of the new link's queue, whose limit does not apply to them; they count "
                "for later arrivals",
                "We consider the handover to be ideal, that is, it is instantaneous and " + DUPLICATED,
            ),
            Answer(
                "in flight: both",
                "they arrive by the old link, and a copy of each by the new one",
                DUPLICATED,
                {"in_flight": "copy"},
            ),
            Answer("in flight: finish", "they arrive by the old link", "", {"in_flight": "finish"}),
        ],
    ),
    Question(
        "Packets queued at a handover",
        "a handover that is “ideal” loses nothing by itself",
        [
            Answer("queue: kept", "they wait for the new link", "We consider the handover to be ideal"),
            Answer("queue: emptied", "they are dropped at the handover", "", {"queue": "empty"}),
        ],
    ),
    Question(
        "Minimum RTO",
        "the default of ns-2 in late 2004; the authors used ns-2",
        [
            Answer("RTO from 0.2 s", "the retransmission timer is at least 0.2 s", "All simulations were run on ns-2"),
            Answer("RTO from 1 s", "at least 1 s, as in RFC 6298 §2.4", "", {"min_rto": "1 s"}),
        ],
    ),
    Question(
        "Profile",
        "the authors used ns-2",
        [
            Answer("as in ns-2", "TCP, TFRC and XCP as ns-2.35 has them", "All simulations were run on ns-2"),
            Answer(
                "as in the RFCs",
                "as the standards have them; with a retransmission timer of at least 1 s (RFC 6298 §2.4)",
                "TFRC [6] is an *equation-based* congestion control mechanism.",
                {"profile": "rfc", "min_rto": "1 s"},
            ),
        ],
    ),
    Question(
        "Flow beside voice and video",
        "the paper has no such runs. With 96 kbit/s what asks for service fits into 60 % of UMTS, the smallest "
        "share that a scheme gives away, so that all of them admit the same flows on both links. It was set before "
        "the first run",
        [
            Answer("96 kbit/s beside", "12 packets of 1000 B a second: all of it fits into 60 % of UMTS"),
            Answer(
                "150 kbit/s beside",
                "it fits into 60 % of WLAN and not into 60 % of UMTS, so that the handover overloads what is given "
                "away",
                "in handovers the admittance and reservation procedures need to be repeated or transferred to the "
                "new link",
                {"other_kbps": 150},
            ),
        ],
    ),
]

_OTHERS = [question for question in QUESTIONS if question is not DELAY]

#: The names of the readings with the delay that was chosen by looking at A1 and A2.
AT_FITTED_DELAY = [
    reading.name
    for reading in [as_taken(), *singles(_OTHERS), *pairs(_OTHERS, [question.name for question in _OTHERS])]
]
