"""The three scenarios (§IV-A to C): what sessions get."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, at_least, at_most, judged, within
from lasthop.studies.grid import Array
from lasthop.studies.nulls import in_place, rewritten

from ..data import SCENARIOS, UNCONTROLLED, Data
from ..measures import STAGES
from ..network import CAPACITY_KBPS, LAYER_KBPS, LAYERS, MULTICAST, TCP
from ..paper import PRINTED
from ..scenario import BEGINNINGS

#: A layer, the unit in which the scheme can share, in kB/s.
LAYER = LAYER_KBPS / 8

#: Multicast may have so much more than TCP: R_Block.
MORE = 1.2

KINDS = {MULTICAST: "multicast", TCP: "TCP"}

#: For claims that sessions share.
WITHOUT_CONTROL = in_place((SCENARIOS, UNCONTROLLED))


def present(scenario: int, stage: int) -> dict[str, list[str]]:
    """The flows of each kind that are there in a stage."""
    begin = STAGES[stage][0]
    return {
        kind: [f"{kind} {n + 1}" for n, start in enumerate(starts) if start <= begin]
        for kind, starts in zip((MULTICAST, TCP), BEGINNINGS[scenario], strict=True)
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


def _former(scenario: int) -> Callable[[Data], Judgement]:
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

    return judge


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
        for scenario in BEGINNINGS
        for stage in range(len(STAGES))
        if all(present(scenario, stage).values())
    ]
    ratio = estimate(np.mean(each, axis=0))
    return judged(f"multicast/TCP {ratio}", above("multicast over TCP − 1", estimate(np.mean(each, axis=0) - 1)),
                  within("multicast over TCP", ratio, 1.0, 1.25))  # fmt: skip


def _within_a_layer(data: Data) -> Judgement:
    conditions = [one for scenario in BEGINNINGS for one in _apart_conditions(data, scenario)]
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


def _why_held_back(data: Data) -> str:
    multicast, tcp = (data.mean(SCENARIOS, f"kbytes {kind}", scenario=1).mean for kind in (MULTICAST, TCP))
    return (
        f"T_observe holds back releases and nothing holds back blocks, so that multicast has {number(multicast, 1)} "
        f"kB/s and TCP {number(tcp, 1)}; R_Block alone would let multicast have more"
    )


JUDGES: Judges[Data] = {
    "L1": Judge(_rates(1, _printed(1)), null=WITHOUT_CONTROL, former=_former(1)),
    "L2": Judge(_rates(2, _printed(2)), null=WITHOUT_CONTROL, former=_former(2)),
    "L3": Judge(_rates(3, _printed(3)), null=WITHOUT_CONTROL, former=_former(3)),
    "L4": Judge(
        _a_little_lower, null=rewritten(SCENARIOS, _no_difference), former=_a_little_lower_before, cause=_why_held_back
    ),
    "L5": Judge(_within_a_layer, null=rewritten(SCENARIOS, _at_random)),
}
