"""What the thesis leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.readings import Answer, Question, Reading, as_taken, pairs, singles

__all__ = ["ANY_OBJECT", "IUB", "QUESTIONS", "TABLE_5_1", "TRANSMISSIONS", "readings_with", "readings_without"]

#: Names of answers that claims speak of.
ANY_OBJECT, TABLE_5_1, IUB, TRANSMISSIONS = "any object", "Table 5.1", "Iub 5 ms", "transmissions"

QUESTIONS: Sequence[Question] = (
    Question(
        "what a connection loads",
        "Table 5.1 makes pages of 57 kB, all over one connection; the text says that a connection has 8 packets, and "
        "both cannot be. A connection of so few packets can only be a page of which one object is loaded. Each page of "
        "Table 5.1 has its main object; that it be any other one is a rule that the text does not have. The main "
        "object's 10.7 kB are 8.4 times the mean packet, any object's 8.6 kB 6.7 times. At first this study took any "
        "object, chosen by the goodput of Table 7.4; it was changed when results of both were known, with which C22, "
        "C29 and C34 fare better with the main object.",
        (
            Answer("main object", "the main object of a page of Table 5.1 and nothing else, 10.7 kB",
                   "there are only a few packets per connection (the average is 8)"),
            Answer(ANY_OBJECT, "one of the objects of a page of Table 5.1, each with equal chance, 8.6 kB",
                   changes={"load": "thesis-load"}),
            Answer(TABLE_5_1, "pages of 57 kB as Table 5.1 has them, five times the load of the results",
                   "The distributions of the parameters for the web browsing traffic model are described in Table 5.1",
                   {"load": "table-5.1"}),
        ),
    ),
    Question(
        "who asks in vain",
        "The text says it.",
        (
            Answer("goes on", "it stays on the common channels, and asks again when more comes for it",
                   "If not, the user simply keeps using the common channels."),
            Answer("waits", "it waits for what becomes free, first come first served", changes={"refused": "waits"}),
        ),
    ),
    Question(
        "while a channel is set up",
        "The text says it.",
        (
            Answer("nothing is sent", "neither common nor dedicated channels serve the terminal",
                   "The examples in [12] consider that the user cannot use the common channels while allocating a DCH. "
                   "This is the approach that was considered in this report."),
            Answer("served while switching", "the common channels go on",
                   "It is not specified if the user can continue to use the common channels or not when allocating a "
                   "DCH.", {"serve_during_switch": True}),
        ),
    ),
    Question(
        "minimum RTO",
        "ns-2's default was 1 s until 14 October 2004 (its ns-default.tcl says so), and the guide to EURANE that the "
        "thesis names is of 2004; a paper of the same group with the same traffic states 1 s.",
        (
            Answer("1 s", "a minimum RTO of 1 s", "The other parameters are set to the NS2 or EURANE default values."),
            Answer("minimum RTO 0.2 s", "a minimum RTO of 0.2 s, ns-2's default from then on",
                   changes={"min_rto": "200 ms"}),
        ),
    ),
    Question(
        "what maxDAT counts",
        "TS 25.322, which the thesis follows, has MaxDAT as the limit of VT(DAT), which counts transmissions. The "
        "thesis' own words are retransmissions. The project first concluded it from Table 6.2, so claims that it was "
        "concluded from are fitted.",
        (
            Answer(TRANSMISSIONS, "how often a PDU is sent"),
            Answer("retransmissions", "how often it is sent again: one more",
                   "The maximum number of RLC retransmissions (maxDAT), is taken very high (9,000) in most of the "
                   "results", {"more_transmissions": 1}),
        ),
    ),
    Question(
        "the wire",
        "EURANE's examples have it so.",
        (
            Answer("60 ms", "60 ms from the server to the RNC: 35, 15, 10 and 0.4 ms"),
            Answer("wire 11 ms", "servers next to the GGSN: 0.6, 10 and 0.4 ms",
                   "There are n nodes connected to the GGSN and n UEs.", {"server_delay": "0.3 ms"}),
        ),
    ),
    Question(
        "delay of the Iub",
        "EURANE's examples have 15 ms.",
        (
            Answer("15 ms", "15 ms"),
            Answer(IUB, "5 ms, chosen by the goodput of two users (C10)", changes={"iub": "5 ms"}),
        ),
    ),
    Question(
        "spacing of PDUs",
        "EURANE's RLC spaces the PDUs of an interval at random.",
        (
            Answer("random", "the PDUs of an interval up to 20 µs one after the other, drawn anew in each"),
            Answer("no spacing", "none: the terminals come to the Node B in one order for ever",
                   "This inequity is caused by the DropTail queue at the BS.", {"spacing": "0 s"}),
        ),
    ),
    Question(
        "profile",
        "The thesis used ns-2 and EURANE.",
        (
            Answer("ns2", "TCP as in ns-2, RLC and channels as in EURANE",
                   "EURANE (Enhanced UMTS Radio Access Network Extensions for NS2) is the NS2 UMTS extension developed "
                   "within the framework of the IST SEACORN project[17] that was used during this project."),
            Answer("profile 3gpp", "RLC, queues and TCP as the standards have them", changes={"profile": "3gpp"}),
        ),
    ),
)  # fmt: skip


def readings_with(answer: str) -> list[str]:
    """The names of all readings of up to two answers that have this one."""
    return [one.name for one in _every() if any(one.answer(question).name == answer for question in QUESTIONS)]


def readings_without(answer: str) -> list[str]:
    """The names of all others."""
    those = set(readings_with(answer))
    return [one.name for one in _every() if one.name not in those]


def _every() -> list[Reading]:
    return [as_taken(), *singles(QUESTIONS), *pairs(QUESTIONS, [one.name for one in QUESTIONS])]
