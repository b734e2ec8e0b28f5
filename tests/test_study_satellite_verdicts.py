"""The judges of the study `satellite` on made-up numbers: what each accepts, what it does not, and its null model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from conftest import keeps_its_bands
from lasthop.studies.claims import NotRun
from lasthop.studies.conditions import FAILS, HOLDS, Judgement
from lasthop.studies.grid import Numbers
from lasthop.studies.satellite import data, scenario
from lasthop.studies.satellite.data import Data
from lasthop.studies.satellite.judges import CLAIMS
from lasthop.studies.satellite.measures import MIXED
from lasthop.studies.satellite.network import MULTICAST, TCP, Tree
from lasthop.studies.satellite.paper import PRINTED, model

CLAIM = {claim.id: claim for claim in CLAIMS}
SEEDS = (1, 2, 3, 4)
M1, M2 = f"{MULTICAST} 1", f"{MULTICAST} 2"

#: A number, or how it follows from the point.
Value = float | Callable[[Mapping[str, Any]], float]


@dataclass(frozen=True)
class Made:
    """A grid of made-up numbers."""

    name: str
    axes: Mapping[str, tuple[Any, ...]]
    values: Mapping[str, Value]

    def numbers(self, other: Mapping[str, Value]) -> Numbers:
        """The grid, with other numbers for some quantities; each is a little apart by seed."""
        names = tuple(self.axes)
        shape = tuple(len(axis) for axis in self.axes.values())
        spread = np.linspace(0.9999, 1.0001, len(SEEDS))
        made = {}
        for quantity, value in {**self.values, **other}.items():
            array = np.empty((*shape, len(SEEDS)))
            for place in np.ndindex(*shape):
                point = {name: self.axes[name][n] for name, n in zip(names, place, strict=True)}
                array[place] = (value(point) if callable(value) else value) * spread
            made[quantity] = array
        return Numbers(self.axes, SEEDS, made)


def by(axis: str, values: Mapping[Any, float]) -> Value:
    return lambda point: values[point[axis]]


def scenarios(**values: Value) -> Made:
    return Made(data.SCENARIOS, {"scenario": (1, 2, 3)}, values)


def uncontrolled(**values: Value) -> Made:
    return Made(data.UNCONTROLLED, {"scenario": (1, 2, 3)}, values)


def rlm(**values: Value) -> Made:
    return Made(data.RLM, {"scenario": (1,)}, values)


def stages(quantity: str, value: Value) -> dict[str, Value]:
    return {f"{quantity}_{stage}": value for stage in range(3)}


def printed(stage: int, more: float) -> Value:
    return lambda point: PRINTED[point["scenario"]][stage] + more


RATES = {
    **{f"kbytes {MULTICAST}_{stage}": printed(stage, 1.0) for stage in range(3)},
    **{f"kbytes {TCP}_{stage}": printed(stage, -2.0) for stage in range(3)},
    **stages("jain", 0.99),
}
FULL = {**stages(f"kbytes {MULTICAST}", 90.0), **stages(f"kbytes {TCP}", 2.0), **stages("jain", 0.5)}
SHARES = (scenarios(**RATES), uncontrolled(**FULL))
LEVELS = (scenarios(**stages(f"layers {M1}", 6.0), **stages(f"layers {M2}", 6.5)),)
BALANCED = (scenarios(unbalanced_layers=0.4, balanced=0.7), uncontrolled(unbalanced_layers=0.1, balanced=0.0))
WITHOUT = {"where": (scenario.SCENARIO_1,), "without": tuple(scenario.ADAPTATIONS)}
STEADY = (
    scenarios(changes_per_session_h=by("scenario", {1: 30.0, 2: 40.0, 3: 35.0})),
    Made(
        data.ADAPTATIONS, WITHOUT, {"changes_per_session_h": lambda point: 900.0 if point["without"] == "all" else 30.0}
    ),
)
PHASES = (scenarios(phase_1=0.02, phase_2=0.7, phase_3=0.28), uncontrolled(phase_1=0.0, phase_2=0.01, phase_3=0.99))
ONE = {"scenario": (1,)}
STAYS = (
    Made(data.OVERFLOW, ONE, {"after_overflow_ms": 500.0, "tcp_rtt_ms": 300.0}),
    Made(data.FULL_OVERFLOW, ONE, {"after_overflow_ms": 90_000.0, "tcp_rtt_ms": 300.0}),
)
VARIATIONS = (f"long cov {MULTICAST}", f"long cov {TCP}", f"subscribed_cov {M1}", f"subscribed_cov {M2}")
STEADIER = (scenarios(**dict.fromkeys(VARIATIONS, 0.1)), rlm(**dict.fromkeys(VARIATIONS, 0.3)))
APART = (scenarios(much_lower=0.0, much_higher=0.02), rlm(much_lower=0.4, much_higher=0.3))
FULLER = (scenarios(utilisation=0.99), rlm(utilisation=0.9))
TOLD = {"messages_per_h": 100.0, "grafts_and_prunes_per_h": 80.0}
FEWER = (scenarios(**TOLD), rlm(**{name: 4 * value for name, value in TOLD.items()}))


def passing(of: Callable[[float], float]) -> dict[str, Value]:
    """What arrives if so many layers pass the bottleneck at a share of errors, which take theirs."""

    def value(point: Mapping[str, Any]) -> float:
        return of(point["loss_pct"]) * (1 - point["loss_pct"] / 100)

    return {f"layers {M1}": value, f"layers {M2}": value}


PERCENT = {"loss_pct": (0.0, 1.0, 3.0)}
LOSSES = (
    Made(data.ERRORS, PERCENT, passing(lambda pct: 6.0 + pct)),
    Made(data.RLM_ERRORS, PERCENT, passing(lambda pct: 6.0 - pct)),
)
WAYS = {"delay_ms": (0.0, 250.0), "leave_s": (0.0, 9.0)}
PASS = {f"layers {M1}": 6.0, f"layers {M2}": 6.0}
SLOW = (
    Made(data.SLOW, WAYS, {**PASS, "overflow_per_h": 100.0}),
    Made(data.RLM_SLOW, WAYS, {**PASS, "overflow_per_h": by("leave_s", {0.0: 100.0, 9.0: 300.0})}),
)
RECEIVERS = (f"received {M1} at second", f"received {M1} at d0", f"received {M2} at d1")
SECOND = {"second": ("behaves", "misbehaves")}
MISBEHAVING = (
    Made(data.MISBEHAVING, SECOND, {f"kbytes {TCP}": 36.0, **dict.fromkeys(RECEIVERS, 6.0)}),
    Made(data.RLM_MISBEHAVING, SECOND, {
        f"kbytes {TCP}": by("second", {"behaves": 36.0, "misbehaves": 3.0}), **dict.fromkeys(RECEIVERS, 6.0),
    }),
)  # fmt: skip
WASTE = (
    scenarios(waste_of_bound=0.99, waste_beyond=0.001),
    Made(data.MISBEHAVING, SECOND, {
        "waste_of_bound": by("second", {"behaves": 1.0, "misbehaves": 5.0}),
        "waste_beyond": by("second", {"behaves": 0.0, "misbehaves": 1.0}),
    }),
)  # fmt: skip
FAIR = {branch.name: branch.fair_layers(Tree.SESSIONS) for branch in Tree.BRANCHES}
TREE = (
    Made(
        data.TREE, {"misbehaves": (False, True)},
        {
            **{f"layers {n} {member}": FAIR[branch.name]
               for n in (1, 2) for branch in Tree.BRANCHES for member in branch.members},
            **{f"stale {n} {branch.name}": 0.001 for n in (1, 2) for branch in Tree.BRANCHES},
            **{f"stale {n} {MIXED}": 0.9 for n in (1, 2)},
        },
    ),
)  # fmt: skip
CAMPUS = Tree.BRANCHES[2].members
HELD = (Made(data.HELD, {"window": (scenario.HELD_BACK,)}, {
    "utilisation": 0.99, f"kbytes {MULTICAST}": 80.0, f"kbytes {TCP}": 9.0,
}),)  # fmt: skip
PAIR = (Made(
    data.PAIR, {"sessions": ("connections", "addresses")},
    {f"kbytes {TCP}": by("sessions", {"connections": 8.0, "addresses": 2.0}), f"kbytes {MULTICAST}": 40.0},
),)  # fmt: skip
CONTROL = (Made(
    data.ADAPTATIONS, WITHOUT,
    {"changes_per_h": lambda point: 50.0 if point["without"] == "none" else 90.0},
),)  # fmt: skip
WAITING = (Made(data.WAITING, {"sessions": (2,)}, {"release_ms_at_gateway": 80.0, "join_ms_at_gateway": 300.0}),)
STATE = (Made(data.STATE, {"sessions": (10, 100)}, {
    "state_bytes": lambda point: 40.0 * point["sessions"], "additions_in": 3.0, "other_places": 0.0,
}),)  # fmt: skip

#: A claim, numbers at which it holds, and others at which it does not: of which grid, and what the reason names.
CASES: tuple[tuple[str, tuple[Made, ...], tuple[tuple[str, dict[str, Value], str], ...]], ...] = (
    *(
        (f"L{scenario}", SHARES, (
            (data.SCENARIOS, stages(f"kbytes {TCP}", 20.0), "TCP from 100 to 500 s"),
            (data.SCENARIOS, {f"kbytes {MULTICAST}_2": 55.0}, "multicast from 1100 to 1500 s"),
            (data.SCENARIOS, {"jain_1": 0.9}, "Jain's index from 600 to 1000 s"),
        ))
        for scenario in (1, 2, 3)
    ),
    ("L4", SHARES, (
        (data.SCENARIOS, stages(f"kbytes {TCP}", 30.0), "multicast over TCP: 1.36"),
        (data.SCENARIOS, stages(f"kbytes {TCP}", 44.0), "multicast over TCP: 0.9"),
    )),
    ("L5", LEVELS, ((data.SCENARIOS, {f"layers {M2}_2": 7.5}, "scenario 3 from 1100"),)),
    ("L6", BALANCED, (
        (data.SCENARIOS, {"unbalanced_layers": 1.5}, "layers after a minute"),
        (data.SCENARIOS, {"balanced": 0.4}, "share of time in phase 2"),
    )),
    ("L7", STEADY, (
        *((data.SCENARIOS, {"changes_per_session_h": by("scenario", {1: 30.0, 2: 40.0, 3: 35.0, n: 600.0})},
           f"changes in an hour, scenario {n}:") for n in (1, 2, 3)),
        (data.SCENARIOS, {"changes_per_session_h": by("scenario", {1: 40.0, 2: 30.0, 3: 35.0})}, "scenario 2 − 1"),
    )),
    ("L8", PHASES, (
        (data.SCENARIOS, {"phase_2": 0.41}, "phase 2"),
        (data.SCENARIOS, {"phase_1": 0.0}, "phase 1"),
        (data.SCENARIOS, {"phase_3": 0.0}, "phase 3"),
    )),
    ("L9", STAYS, (
        # Packets that come and go around the threshold, and a queue that stays full.
        (data.OVERFLOW, {"after_overflow_ms": 60.0}, "median time"),
        (data.OVERFLOW, {"after_overflow_ms": 2000.0}, "median time"),
    )),
    ("L10", STEADIER, (
        (data.RLM, {f"long cov {MULTICAST}": 0.15}, "multicast's rate"),
        (data.RLM, {f"long cov {TCP}": 0.08}, "TCP's rate"),
        (data.RLM, {f"subscribed_cov {M1}": 0.1, f"subscribed_cov {M2}": 0.1}, "layers"),
    )),
    ("L11", APART, (
        (data.RLM, {"much_lower": 0.2, "much_higher": 0.2}, "with either"),
        (data.RLM, {"much_lower": 0.0, "much_higher": 0.9}, "much less"),
        (data.RLM, {"much_lower": 0.9, "much_higher": 0.0}, "much more"),
    )),
    ("L12", FULLER, (
        (data.SCENARIOS, {"utilisation": 0.8}, "here − RLM"),
        # More, by what nobody would see.
        (data.SCENARIOS, {"utilisation": 0.900001}, "here − RLM"),
    )),
    ("L13", LOSSES, ((data.ERRORS, passing(lambda pct: 6.0 - pct), "3 % lost"),)),
    ("L14", SLOW, (
        (data.SLOW, {f"layers {M1}": by("leave_s", {0.0: 6.0, 9.0: 4.0})}, "250 ms more, 9 s to leave"),
        (data.SLOW, {f"layers {M1}": by("delay_ms", {0.0: 6.0, 250.0: 4.0})}, "250 ms more, 0 s to leave"),
        (data.SLOW, {"overflow_per_h": by("leave_s", {0.0: 100.0, 9.0: 150.0})}, "drops"),
    )),
    ("L15", FEWER, ((data.RLM, {"messages_per_h": 150.0}, "messages"),)),
    ("L16", MISBEHAVING, (
        *((data.MISBEHAVING, {name: by("second", {"behaves": 6.0, "misbehaves": 7.0})}, said)
          for name, said in zip(RECEIVERS, ("its own", "the other of its session", "the other session"), strict=True)),
        (data.MISBEHAVING, {f"kbytes {TCP}": by("second", {"behaves": 36.0, "misbehaves": 30.0})}, "TCP"),
    )),
    ("L17", WASTE, (
        (data.SCENARIOS, {"waste_of_bound": by("scenario", {1: 0.9, 2: 1.1, 3: 0.9})}, "scenario 2, waste"),
        (data.SCENARIOS, {"waste_beyond": by("scenario", {1: 0.0, 2: 0.1, 3: 0.0})}, "scenario 2, share of time"),
    )),
    ("L18", TREE, (
        (data.TREE, {f"layers 2 {member}": FAIR["campus"] + 1.5 for member in CAMPUS}, "from its fair share"),
        (data.TREE, {"stale 1 campus": 0.1}, "without a recent change"),
        (data.TREE, {f"layers 1 {member}": by("misbehaves", {False: FAIR["campus"], True: FAIR["campus"] - 0.8})
                     for member in CAMPUS}, "what the one that misbehaves changes"),
    )),
    ("L19", HELD, ((data.HELD, {"utilisation": 0.9}, "utilisation"),)),
    ("L20", PAIR, (
        (data.PAIR, {f"kbytes {TCP}": by("sessions", {"connections": 2.0, "addresses": 4.0})}, "− addresses"),
        (data.PAIR, {f"kbytes {TCP}": by("sessions", {"connections": 40.0, "addresses": 4.0})}, "a session's rate"),
    )),
    ("L21", CONTROL, tuple(
        (data.ADAPTATIONS, {"changes_per_h": lambda point, name=name: 30.0 if point["without"] == name else
                            50.0 if point["without"] == "none" else 90.0}, f"without {name}")
        for name in ("slowing down", "backing off", "blocking late")
    )),
    ("L22", WAITING, ((data.WAITING, {"release_ms_at_gateway": 200.0}, "from a release"),)),
    ("L23", STATE, (
        (data.STATE, {"state_bytes": lambda point: 40.0 * point["sessions"] ** 2}, "power of the number"),
        (data.STATE, {"state_bytes": 400.0}, "power of the number"),
        (data.STATE, {"other_places": 2.0}, "no other place has state"),
    )),
)  # fmt: skip


def of(grids: tuple[Made, ...], name: str = "", other: Mapping[str, Value] | None = None) -> Data:
    return Data("made up", {grid.name: grid.numbers(other or {} if grid.name == name else {}) for grid in grids})


def state(judgement: Judgement) -> str:
    return judgement.state()


@pytest.mark.parametrize(("claim", "grids"), [(claim, grids) for claim, grids, _ in CASES], ids=[c[0] for c in CASES])
def test_it_holds(claim, grids):
    made = CLAIM[claim].judge(of(grids))
    assert state(made) == HOLDS, made.reason
    keeps_its_bands("satellite", claim, made)


REFUTED = [(claim, grids, *case) for claim, grids, cases in CASES for case in cases]


@pytest.mark.parametrize(
    ("claim", "grids", "name", "other", "said"), REFUTED, ids=[f"{case[0]} {case[-1]}" for case in REFUTED]
)
def test_it_does_not(claim, grids, name, other, said):
    made = CLAIM[claim].judge(of(grids, name, other))
    assert state(made) == FAILS
    assert said in made.reason


@pytest.mark.parametrize(("claim", "grids"), [(claim, grids) for claim, grids, _ in CASES], ids=[c[0] for c in CASES])
def test_its_null_model_does_not_pass(claim, grids):
    null = CLAIM[claim].null
    assert null.about
    assert state(CLAIM[claim].judge(null.of(of(grids)))) != HOLDS


def equal(multicast: float, tcp: float, congested: bool) -> float:
    """A session that takes what TCP takes, in steps of a layer."""
    del congested
    return multicast + max(-model.LAYER, min(model.LAYER, tcp - multicast))


def test_the_proof_is_judged_by_equal_rates():
    printed = CLAIM["L24"].judge(Data("made up"))
    assert state(printed) == FAILS
    for said in ("difference of the mean rates", "rises with each cycle"):
        assert said in printed.reason
    followed = CLAIM["L24"].judge(replace(Data("made up"), rule=equal))
    assert [one.state() for one in followed.conditions if "difference" in one.what] == [HOLDS, HOLDS]
    assert state(CLAIM["L24"].judge(CLAIM["L24"].null.of(Data("made up")))) == FAILS


def test_every_claim_is_here():
    assert {case[0] for case in CASES} | {"L24"} == set(CLAIM)


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.id not in ("L23", "L24")], ids=lambda one: one.id)
def test_what_was_not_run_is_not_judged(claim):
    with pytest.raises(NotRun):
        claim.judge(Data("made up"))
