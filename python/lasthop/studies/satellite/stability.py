"""How steady layers and the queue are (§IV-A, B and E)."""

from __future__ import annotations

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, below, judged, within
from lasthop.studies.readings import pairs, singles
from lasthop.studies.satellite import experiments
from lasthop.studies.satellite.data import (
    ADAPTATIONS,
    FULL_OVERFLOW,
    OVERFLOW,
    ROUND_TRIP,
    SCENARIOS,
    UNCONTROLLED,
    Array,
    Data,
    at_least,
    at_most,
    in_place,
    rewritten,
)
from lasthop.studies.satellite.readings import LONG_WIRE, QUESTIONS

__all__ = ["CLAIMS"]

#: How often the layers of a session may change in an hour: once a minute.
STEADY_PER_H = 60.0


def _soon(data: Data) -> Judgement:
    apart = data.mean(SCENARIOS, "unbalanced_layers", scenario=1)
    balanced = data.mean(SCENARIOS, "balanced", scenario=1)
    return judged(
        f"{apart} layers from the final mean after a minute; then in phase 2 for {number(100 * balanced.mean, 0)} % of "
        "the time",
        at_most("layers after a minute, from the final mean", apart, 1.0),
        above("share of time in phase 2 from then on", balanced, 0.5),
    )


def _soon_before(data: Data) -> Judgement:
    apart = data.mean(SCENARIOS, "unbalanced_layers", scenario=1)
    return judged(f"{apart} layers", at_most("layers after a minute, from the final mean", apart, 1.0))


def _stable(data: Data) -> Judgement:
    often = {n: data.at(SCENARIOS, "changes_per_session_h", scenario=n) for n in experiments.SCENARIOS}
    said = ", ".join(number(float(one.mean()), 0) for one in often.values())
    return judged(
        f"{said} changes of a session's layers in an hour",
        *(at_most(f"changes in an hour, scenario {n}", estimate(one), STEADY_PER_H) for n, one in often.items()),
        above("changes in an hour, scenario 2 − 1", estimate(often[2] - often[1])),
    )


def _stable_before(data: Data) -> Judgement:
    spread = {n: data.mean(SCENARIOS, "subscribed_sd", scenario=n) for n in (1, 2)}
    more = estimate(data.at(SCENARIOS, "changes_per_h", scenario=2) - data.at(SCENARIOS, "changes_per_h", scenario=1))
    return judged(
        f"σ {spread[1]} and {spread[2]} layers; {more} more changes an hour",
        *(at_most(f"σ in scenario {n}", one, 1.0, " layers") for n, one in spread.items()),
        above("changes an hour, scenario 2 − 1", more),
    )


def _phases(data: Data) -> Judgement:
    shares = {n: data.mean(SCENARIOS, f"phase_{n}", scenario=1) for n in (1, 2, 3)}
    said = ", ".join(f"{number(100 * one.mean, 1)} % in phase {n}" for n, one in shares.items())
    return judged(
        said,
        above("share of time in phase 2", shares[2], 0.5),
        above("share of time in phase 1", shares[1]),
        above("share of time in phase 3", shares[3]),
    )


def _phases_before(data: Data) -> Judgement:
    long = data.mean(ROUND_TRIP, "phase_2")
    first = data.mean(SCENARIOS, "phase_1", scenario=1)
    stays = {n: data.mean(SCENARIOS, f"longest_phase_{n}_s", scenario=1) for n in (1, 3)}
    return judged(
        f"phase 2 for {number(100 * long.mean, 0)} % of the time at 200 ms",
        at_least("phase 2 at 200 ms", long, 0.5),
        at_most("phase 1", first, 0.05),
        *(at_most(f"longest stay in phase {n}", one, 20.0, " s") for n, one in stays.items()),
    )


def _short(data: Data) -> Judgement:
    stay, trip = (data.at(OVERFLOW, name) for name in ("after_overflow_ms", "tcp_rtt_ms"))
    return judged(
        f"{number(float(stay.mean()), 0)} ms at the median, TCP's round-trip time {number(float(trip.mean()), 0)} ms",
        within("median time in phase 3 after an overflow", estimate(stay / trip), 1.0, 3.0, " round-trip times"),
    )


def _short_before(data: Data) -> Judgement:
    stay, trip = (data.at(SCENARIOS, name, scenario=1) for name in ("phase_3_ms_p50", "tcp_rtt_ms"))
    return judged(
        f"median stay {number(float(stay.mean()), 0)} ms",
        below("median stay", estimate(stay / trip), 3.0, " round-trip times"),
    )


def _without_adaptations(data: Data) -> dict[str, Array]:
    changes = data.at(ADAPTATIONS, "changes_per_session_h", without="all")
    return {"changes_per_session_h": np.resize(changes, len(data.grid(SCENARIOS).seeds))}


#: Nothing is blocked.
FULL_QUEUE: Null[Data] = Null(
    "sessions of all layers whatever the queue, which nothing blocks: it stays full",
    in_place((SCENARIOS, UNCONTROLLED)),
)

CLAIMS: list[Claim[Data]] = [
    Claim(
        "L6", "IV-A",
        "This indicates that the queue enters balance quickly and stays there for the rest of the time.",
        "The queue enters balance quickly, and stays there.", "quickly; for the rest of the time",
        "layers from 55 to 65 s against their mean after 100 s; phase 2's share of the time after that minute: §III-A "
        "says what balance is, “the queue stays in phase 2 most of the time”",
        "within a layer; above one half", "a minute of 25 is quick; most is more than half",
        _soon, FULL_QUEUE,
        Former("layers within 1 of the final mean after a minute", "it left out the queue, of which the sentence is",
               _soon_before),
        see="figure-5",
    ),
    Claim(
        "L7", "IV-A to C",
        "Another point we can note in Fig. 5 is that the number of layers for each multicast session is fairly stable "
        "after the initial adjustment. … Furthermore, the number of layers for each multicast session is still fairly "
        "stable, although with a little more small adjustments than in the previous scenario. … In addition, the "
        "number of layers for each multicast session is still fairly stable in this scenario.",
        "Layers are fairly stable, in scenario 2 with a few more changes.", "fairly stable; a little more",
        "how often the layers of a session that pass change in an hour, from 100 s after sessions came on",
        "up to 60, once a minute, in each scenario; more in scenario 2 than in 1, in pairs",
        "what changes each few seconds is the loop that §II-B.6 sets out to end: with Table I's factors T_observe "
        "passes half a minute in its second round; and a change a minute still is 25 steps in a figure of 1500 s",
        _stable,
        Null("the scheme without its three adaptations, of which §II-B.6 says that layers change without end",
             rewritten(SCENARIOS, _without_adaptations)),
        Former("σ up to 1 layer; more changes in scenario 2, in "
               "pairs", "any oscillation by a layer passes, however fast",
               _stable_before),
        see="table-control",
    ),
    Claim(
        "L8", "IV-E",
        "Fig. 13 shows some samples of the queue phases in scenario 1. … As shown in this figure, the queue stays in "
        "phase 2 most of the time and visits phase 3 and phase 1 from time to time.",
        "The queue is in phase 2 most of the time, and visits the others.", "most of the time",
        "the shares of time in the phases in scenario 1", "phase 2 above one half; some time in each of the others",
        "most is more than half", _phases, FULL_QUEUE,
        Former("above 50 % at a round-trip time of 200 ms; phase 1 below 5 %; no stay in phase 1 or 3 above 20 s",
               "the sentence is of scenario 1, and the long round trip was chosen because it passes", _phases_before),
        see="figure-13",
        fitted="the long wire was taken because a prototype was in phase 2 for longer with it",
        fitted_at=tuple(
            one.name
            for one in [*singles(QUESTIONS), *pairs(QUESTIONS, [question.name for question in QUESTIONS])]
            if any(answer.name == LONG_WIRE for answer in one.chosen.values())
        ),
    ),
    Claim(
        "L9", "IV-E",
        "The reason that the queue can stay in phase 3 for a short time is that our scheme does not … block layers in "
        "phase 3 if the average session rate of multicast sessions is not higher than the average session rate of TCP "
        "sessions by a ratio threshold (for stabilizing multicast traffic). However, a TCP session needs at least a "
        "round trip time to respond to congestion. Therefore, after the queue overflows from the increasing rates of "
        "TCP sessions, it takes some time for the TCP sessions to cut their rates and bring the queue back to phase 2.",
        "After an overflow the queue is in phase 3 for a short time, until TCP has "
        "reacted.", "at least a round-trip time",
        "the median time from the first drop of an overflow until the queue leaves phase 3, over TCP's median "
        "round-trip time, in scenario 1",
        "1 to 3 round-trip times",
        "TCP needs one to react and up to one more to send less; with three flows not all lose packets in the first",
        _short,
        Null("sessions of all layers whatever the queue, which nothing blocks: once full it stays full",
             in_place((OVERFLOW, FULL_OVERFLOW))),
        Former("the median of all stays in phase 3 up to 3 round-trip times",
               "packets that come and go around the threshold make short stays without an overflow, and these pass",
               _short_before),
        see="figure-13",
    ),
]  # fmt: skip
