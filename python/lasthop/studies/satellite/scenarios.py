"""The three scenarios (§IV-A to C): what sessions get."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Condition, Judgement, above, judged, within
from lasthop.studies.satellite import experiments
from lasthop.studies.satellite.data import (
    SCENARIOS,
    UNCONTROLLED,
    Array,
    Data,
    at_least,
    at_most,
    in_place,
    rewritten,
)
from lasthop.studies.satellite.network import CAPACITY_KBPS, LAYER_KBPS, LAYERS, MULTICAST, TCP
from lasthop.studies.satellite.reductions import STAGES

__all__ = ["CLAIMS", "PRINTED", "WITHOUT_CONTROL", "ideal", "present"]

#: What the paper says of each stage of a scenario, in kB/s.
PRINTED = {1: (40, 40, 40), 2: (60, 45, 35), 3: (60, 45, 35)}

#: A layer, the unit in which the scheme can share, in kB/s.
LAYER = LAYER_KBPS / 8

#: Multicast may have so much more than TCP: R_Block.
MORE = 1.2

KINDS = {MULTICAST: "multicast", TCP: "TCP"}

#: For claims that sessions share.
WITHOUT_CONTROL: Null[Data] = Null(
    "sessions of all layers whatever the queue, which nothing blocks: they fill the link, and TCP gets what they leave",
    in_place((SCENARIOS, UNCONTROLLED)),
)


def present(scenario: int, stage: int) -> dict[str, list[str]]:
    """The flows of each kind that are there in a stage."""
    begin = STAGES[stage][0]
    return {
        kind: [f"{kind} {n + 1}" for n, start in enumerate(starts) if start <= begin]
        for kind, starts in zip((MULTICAST, TCP), experiments.SCENARIOS[scenario], strict=True)
    }


def ideal(scenario: int, stage: int) -> dict[str, tuple[float, float]]:
    """What each kind gets in kB/s if multicast has 1 to 1.2 times what TCP has, from the least to the most."""
    flows = present(scenario, stage)
    multicast, tcp = len(flows[MULTICAST]), len(flows[TCP])
    capacity = CAPACITY_KBPS / 8
    equal, most = capacity / (multicast + tcp), capacity / (MORE * multicast + tcp)
    return {MULTICAST: (equal, MORE * most if multicast else equal), TCP: (most if multicast else equal, equal)}


def _from(stage: int) -> str:
    begin, end = STAGES[stage]
    return f"from {begin:g} to {end:g} s"


def _rates(scenario: int, band: Callable[[int, str], tuple[float, float]]) -> Callable[[Data], Judgement]:
    """Rates in their bands at each stage, and Jain's index over all sessions."""

    def judge(data: Data) -> Judgement:
        conditions, said = [], []
        for stage in range(len(STAGES)):
            here = [kind for kind, flows in present(scenario, stage).items() if flows]
            rates = {kind: data.mean(SCENARIOS, f"kbytes {kind}_{stage}", scenario=scenario) for kind in here}
            conditions += [
                within(f"{KINDS[kind]} {_from(stage)}", one, *band(stage, kind), " kB/s") for kind, one in rates.items()
            ]
            index = data.mean(SCENARIOS, f"jain_{stage}", scenario=scenario)
            conditions.append(at_least(f"Jain's index {_from(stage)}", index, 0.98))
            said.append(", ".join(f"{KINDS[kind]} {number(one.mean, 1)}" for kind, one in rates.items()))
        return judged("; ".join(said) + " kB/s", *conditions)

    return judge


def _printed(scenario: int) -> Callable[[int, str], tuple[float, float]]:
    def band(stage: int, kind: str) -> tuple[float, float]:
        del kind
        return PRINTED[scenario][stage] - LAYER, PRINTED[scenario][stage] + LAYER

    return band


def _former(scenario: int) -> Former[Data]:
    def band(stage: int, kind: str) -> tuple[float, float]:
        low, high = ideal(scenario, stage)[kind]
        return 0.85 * low, 1.15 * high

    def judge(data: Data) -> Judgement:
        rates = _rates(scenario, band)(data)
        more: list[Condition] = []
        for stage in range(len(STAGES)):
            used = data.mean(SCENARIOS, f"utilisation_{stage}", scenario=scenario)
            more.append(at_least(f"utilisation {_from(stage)}", used, 0.95))
            for session in present(scenario, stage)[MULTICAST]:
                sigma = data.mean(SCENARIOS, f"subscribed_sd {session}_{stage}", scenario=scenario)
                more.append(at_most(f"σ of the layers of {session} {_from(stage)}", sigma, 1.0))
        return judged(rates.ours, *rates.conditions, *more, *_apart_conditions(data, scenario))

    return Former(
        "each kind within 15 % of the interval that is ideal if multicast has 1 to 1.2 times what TCP has, Jain's "
        "index from 0.98, σ of the layers up to 1, sessions within a layer, utilisation from 0.95",
        "the paper's sentence names rates, and these are what to hold ours against; steadiness and the sessions' "
        "difference are other claims",
        judge,
    )


def _apart(data: Data, scenario: int, stage: int, sessions: list[str]) -> Array:
    one, other = (data.at(SCENARIOS, f"layers {name}_{stage}", scenario=scenario) for name in sessions)
    made: Array = np.abs(one - other)
    return made


def _apart_conditions(data: Data, scenario: int) -> list[Condition]:
    made = []
    for stage in range(len(STAGES)):
        sessions = present(scenario, stage)[MULTICAST]
        if len(sessions) == 2:
            one = estimate(_apart(data, scenario, stage, sessions))
            made.append(at_most(f"between the sessions, scenario {scenario} {_from(stage)}", one, 1.0, " layers"))
    return made


def _ratio(data: Data, scenario: int, stage: int) -> Array:
    multicast, tcp = (data.at(SCENARIOS, f"kbytes {kind}_{stage}", scenario=scenario) for kind in (MULTICAST, TCP))
    made: Array = multicast / tcp
    return made


def _a_little_lower(data: Data) -> Judgement:
    ratio = estimate(np.mean([_ratio(data, 1, stage) for stage in range(len(STAGES))], axis=0))
    return judged(f"multicast/TCP {ratio}", Condition("multicast over TCP", ratio, 1.0, MORE, strict=True))


def _a_little_lower_before(data: Data) -> Judgement:
    each = [
        _ratio(data, scenario, stage)
        for scenario in experiments.SCENARIOS
        for stage in range(len(STAGES))
        if all(present(scenario, stage).values())
    ]
    ratio = estimate(np.mean(each, axis=0))
    return judged(f"multicast/TCP {ratio}", above("multicast over TCP − 1", estimate(np.mean(each, axis=0) - 1)),
                  within("multicast over TCP", ratio, 1.0, 1.25))  # fmt: skip


def _within_a_layer(data: Data) -> Judgement:
    conditions = [one for scenario in experiments.SCENARIOS for one in _apart_conditions(data, scenario)]
    most = max(conditions, key=lambda one: one.value.mean)
    return judged(f"{most.value} layers at most ({most.what})", *conditions)


def _no_difference(data: Data) -> Mapping[str, Array]:
    """The mean of both kinds in the place of each."""
    values = data.grid(SCENARIOS).values
    return {
        f"kbytes {kind}_{stage}": np.mean([values[f"kbytes {one}_{stage}"] for one in KINDS], axis=0)
        for kind in KINDS
        for stage in range(len(STAGES))
    }


def _at_random(data: Data) -> Mapping[str, Array]:
    """Sessions that have any number of layers with equal chance."""
    draws = np.random.default_rng(0)
    return {
        name: draws.integers(1, LAYERS + 1, values.shape).astype(float)
        for name, values in data.grid(SCENARIOS).values.items()
        if name.startswith(f"layers {MULTICAST}")
    }


MEASURE = "means of each kind from 100 s after each change to the next, on the wire; Jain's index over all sessions"
BAND = "each kind within 6.25 kB/s of the figure that the paper names, and Jain's index from 0.98"
WHY = (
    "“close to” is taken as within a layer, the unit in which the scheme can share; with five sessions of which one "
    "has a layer more than the others the index is 0.98"
)

CLAIMS: list[Claim[Data]] = [
    Claim(
        "L1", "IV-A",
        "both the average session throughput of TCP sessions and the average session throughput of multicast sessions "
        "are close to 40 KBytes/s all the time, so fairness among competing sessions, in general, is achieved.",
        "All sessions that start and stop together get about the same.", "40 kB/s each", MEASURE, BAND, WHY,
        _rates(1, _printed(1)), WITHOUT_CONTROL, _former(1), see="figure-5",
    ),
    Claim(
        "L2", "IV-B",
        "in the first 500 seconds there are 3 sessions and each session gets a throughput close to 60 KBytes/s. When a "
        "TCP session starts at the 500th second, each existing session releases a right share of bandwidth for the new "
        "session. Each session then gets a new throughput close to 45 KBytes/s. … each session has a throughput close "
        "to 35 KBytes/s now.",
        "A late TCP flow gets its share, and each existing session releases its "
        "part.", "60, 45, 35 kB/s", MEASURE, BAND,
        WHY, _rates(2, _printed(2)), WITHOUT_CONTROL, _former(2), see="figure-7",
    ),
    Claim(
        "L3", "IV-C",
        "before the multicast sessions start, each TCP session has a throughput close to 60 KBytes/s. After the first "
        "multicast session starts at the 500th second, it gets a throughput close to 45 KBytes/s. … the new multicast "
        "session gets a right share of bandwidth and then each session has a throughput close to 35 KBytes/s.",
        "A late multicast session gets its share, and only that.", "60, 45, 35 kB/s", MEASURE, BAND, WHY,
        _rates(3, _printed(3)), WITHOUT_CONTROL, _former(3), see="figure-9",
    ),
    Claim(
        "L4", "IV-A",
        "First, the average session throughput of TCP sessions is a little lower than the average session throughput "
        "of multicast sessions.",
        "TCP gets a little less than multicast.", "a little lower", "multicast's mean rate over TCP's in scenario 1",
        "above 1, below 1.2", "a layer is blocked if multicast has more than 1.2 of TCP's rate: R_Block is 0.2",
        _a_little_lower,
        Null("the mean of both kinds in the place of each: no difference", rewritten(SCENARIOS, _no_difference)),
        Former("above 1 and from 1 to 1.25, over all three "
               "scenarios", "the sentence is of scenario 1, and R_Block is 0.2",
               _a_little_lower_before),
        see="table-shares",
    ),
    Claim(
        "L5", "IV-A",
        "The second observation is that there is a small difference between the throughput of the two multicast "
        "sessions. A difference of a layer between the throughput of multicast sessions sharing a bottleneck is "
        "possible",
        "The two sessions differ by a layer at "
        "most.", "a layer", "the difference of the sessions' mean rates, in layers of "
        "50 kbit/s, whichever has more, at each stage with both", "up to 1 layer", "the sentence says so",
        _within_a_layer,
        Null("sessions that have any of their fifteen layers with equal chance", rewritten(SCENARIOS, _at_random)),
        see="figure-5",
    ),
]  # fmt: skip
