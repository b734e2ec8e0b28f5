"""The judges of the study `satellite`, each on made-up numbers: what it accepts, and what it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from lasthop.studies.claims import NOT_REPRODUCED, REPRODUCED
from lasthop.studies.grid import Numbers
from lasthop.studies.satellite import data, experiments
from lasthop.studies.satellite.data import Data
from lasthop.studies.satellite.judgements import CLAIMS
from lasthop.studies.satellite.network import MULTICAST, TCP, Tree

CLAIM = {claim.id: claim for claim in CLAIMS}
SEEDS = (1, 2, 3, 4)
RLM = experiments.SCHEMES[1]
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
        spread = np.linspace(0.999, 1.001, len(SEEDS))
        made = {}
        for quantity, value in {**self.values, **other}.items():
            array = np.empty((*shape, len(SEEDS)))
            for place in np.ndindex(*shape):
                point = {name: self.axes[name][n] for name, n in zip(names, place, strict=True)}
                array[place] = (value(point) if callable(value) else value) * spread
            made[quantity] = array
        return Numbers(self.axes, SEEDS, made)


SCENARIO = {"scenario": (1, 2, 3)}


def scenarios(**more: Value) -> Made:
    """The three scenarios, with these quantities."""
    return Made(data.SCENARIOS, SCENARIO, more)


def stages(quantity: str, value: Value) -> dict[str, Value]:
    return {f"{quantity}_{stage}": value for stage in range(3)}


def by(axis: str, values: Mapping[Any, float]) -> Value:
    return lambda point: values[point[axis]]


SHARES = scenarios(**stages(f"kbytes {MULTICAST}", 39.6), **stages(f"kbytes {TCP}", 36.0))
LEVELS = scenarios(**stages(f"layers {M1}", 6.0), **stages(f"layers {M2}", 6.5))
STEADY = scenarios(**stages("subscribed_sd", 0.5), changes_per_h=by("scenario", {1: 60.0, 2: 80.0, 3: 70.0}))
PHASES = scenarios(phase_1=0.01, phase_2=0.4, longest_phase_1_s=3.0, longest_phase_3_s=10.0)
LONG = Made(data.ROUND_TRIP, {"rtt_ms": (200,)}, {"phase_2": 0.7})
OURS = scenarios(
    utilisation=0.99, messages_per_h=100.0, grafts_and_prunes_per_h=80.0,
    **{f"cov {MULTICAST}": 0.1, f"cov {TCP}": 0.1, f"subscribed_cov {M1}": 0.1, f"subscribed_cov {M2}": 0.1},
)  # fmt: skip
THEIRS = Made(
    data.RLM, {"defects": (False, True)},
    {
        f"cov {MULTICAST}": 0.3, f"cov {TCP}": 0.3, f"subscribed_cov {M1}": 0.3, f"subscribed_cov {M2}": 0.3,
        f"kbytes {M1}": 20.0, f"kbytes {M2}": 70.0, f"kbytes {TCP}": 40.0,
        "utilisation": 0.9, "messages_per_h": 400.0, "grafts_and_prunes_per_h": 300.0,
    },
)  # fmt: skip


def rlm_falls(by_how_much: float) -> Value:
    return lambda point: 6.0 - (by_how_much if point["scheme"] == RLM and point["loss_pct"] == 3.0 else 0.0)


def passing(layers: float) -> Value:
    """What arrives if so many layers pass the bottleneck and errors take their share."""
    return lambda point: layers * (1 - point["loss_pct"] / 100)


LOSSES = Made(
    data.ERRORS, {"scheme": experiments.SCHEMES, "loss_pct": (0.0, 1.0, 3.0)},
    {f"layers {M1}": passing(6.0), f"layers {M2}": passing(6.0), f"subscribed {M1}": rlm_falls(2.0),
     f"subscribed {M2}": rlm_falls(2.0)},
)  # fmt: skip


def with_rlm(values: Mapping[float, float], ours: float = 0.0) -> Value:
    return lambda point: values[point["leave_s"]] if point["scheme"] == RLM else ours


SLOW = Made(
    data.SLOW, {"scheme": experiments.SCHEMES, "delay_ms": (0.0, 250.0), "leave_s": (0.0, 9.0)},
    {f"layers {M1}": 6.0, f"layers {M2}": 6.0, "overflow_per_h": with_rlm({0.0: 100.0, 9.0: 300.0})},
)  # fmt: skip
RECEIVERS = (f"received {M1} at second", f"received {M1} at d0", f"received {M2} at d1")
MISBEHAVING = Made(
    data.MISBEHAVING, {"scheme": experiments.SCHEMES, "second": ("behaves", "misbehaves")},
    {f"kbytes {TCP}": 36.0, **dict.fromkeys(RECEIVERS, 6.0)},
)  # fmt: skip
WASTE = scenarios(waste_over=0.0, waste_kbps=40.0)
FAIR = {branch.name: branch.fair_layers(Tree.SESSIONS) for branch in Tree.BRANCHES}
TREE = Made(
    data.TREE, {"misbehaves": (False, True)},
    {
        **{f"layers {n} {member}": FAIR[branch.name]
           for n in (1, 2) for branch in Tree.BRANCHES for member in branch.members},
        **{f"stale {n} {branch.name}": 0.0 for n in (1, 2) for branch in Tree.BRANCHES},
    },
)  # fmt: skip
#: A receiver that behaves, behind the same bottleneck as the one that does not.
NEIGHBOUR = Tree.BRANCHES[0].members[-1]
HELD = Made(
    data.HELD, {"window": (experiments.HELD_BACK, 64)},
    {"utilisation": 0.99, f"kbytes {MULTICAST}": 80.0, f"kbytes {TCP}": 9.0},
)  # fmt: skip
PAIR = Made(
    data.PAIR,
    {"sessions": ("connections", "addresses")},
    {f"kbytes {TCP}": by("sessions", {"connections": 8.0, "addresses": 2.0}), f"kbytes {MULTICAST}": 40.0},
)
CONTROL = Made(
    data.ADAPTATIONS,
    {
        "without": ("none", "slowing down", "backing off", "blocking late"),
        "where": (experiments.SCENARIO_1, experiments.ENDING, experiments.LATER),
    },
    {"changes_per_h": lambda point: 50.0 if point["without"] == "none" else 90.0},
)
WAITING = Made(data.WAITING, {"scenario": (1,)}, {"release_ms": 100.0, "join_ms": 400.0})
STATE = Made(
    data.STATE, {"sessions": (10, 100)},
    {"state_bytes": lambda point: 40.0 * point["sessions"], "additions_in": 3.0, "other_places": 0.0},
)  # fmt: skip

#: A claim, numbers at which it holds, and others at which it does not: of which grid, and what the reason names.
CASES: tuple[tuple[str, tuple[Made, ...], tuple[tuple[str, dict[str, Value], str], ...]], ...] = (
    ("L4", (SHARES,), (
        (data.SCENARIOS, stages(f"kbytes {TCP}", 30.0), "multicast over TCP 1.32"),
        (data.SCENARIOS, stages(f"kbytes {TCP}", 44.0), "multicast over TCP 0.9"),
    )),
    ("L5", (LEVELS,), ((data.SCENARIOS, {f"layers {M2}_2": 7.5}, "scenario 3 from 1100 s"),)),
    ("L6", (scenarios(unbalanced_layers=0.4),), ((data.SCENARIOS, {"unbalanced_layers": 1.5}, "after 60 s"),)),
    ("L7", (STEADY,), (
        (data.SCENARIOS, stages("subscribed_sd", by("scenario", {1: 0.5, 2: 1.4, 3: 0.5})), "σ in scenario 2"),
        (data.SCENARIOS, {"changes_per_h": by("scenario", {1: 80.0, 2: 60.0, 3: 70.0})}, "scenario 2 − 1"),
    )),
    ("L8", (PHASES, LONG), (
        (data.ROUND_TRIP, {"phase_2": 0.3}, "phase 2 at 200 ms"),
        (data.SCENARIOS, {"phase_1": 0.2}, "phase 1"),
        (data.SCENARIOS, {"longest_phase_3_s": 40.0}, "longest stay in phase 3"),
    )),
    ("L9", (scenarios(phase_3_ms_p50=120.0, tcp_rtt_ms=80.0),), (
        (data.SCENARIOS, {"phase_3_ms_p50": 320.0}, "median stay"),
    )),
    ("L10", (OURS, THEIRS), (
        (data.RLM, {f"cov {MULTICAST}": 0.15}, "multicast's rate"),
        (data.RLM, {f"cov {TCP}": 0.15}, "TCP's rate"),
        (data.RLM, {f"subscribed_cov {M1}": 0.1, f"subscribed_cov {M2}": 0.1}, "layers"),
    )),
    ("L11", (THEIRS,), ((data.RLM, {f"kbytes {M2}": 45.0}, "multicast_2"),)),
    ("L12", (OURS, THEIRS), ((data.SCENARIOS, {"utilisation": 0.8}, "here − RLM"),)),
    ("L13", (LOSSES,), (
        (data.ERRORS, {f"layers {M1}": 6.0, f"layers {M2}": lambda point: 6.0 - point["loss_pct"]}, "at 3 %"),
        (data.ERRORS, {f"subscribed {M1}": rlm_falls(-1.0), f"subscribed {M2}": rlm_falls(-1.0)}, "RLM's layers"),
    )),
    ("L14", (SLOW,), (
        (data.SLOW, {f"layers {M1}": by("leave_s", {0.0: 6.0, 9.0: 4.0})}, "+250 ms, 9 s"),
        (data.SLOW, {f"layers {M1}": by("delay_ms", {0.0: 6.0, 250.0: 4.0})}, "+250 ms, 0 s"),
        (data.SLOW, {"overflow_per_h": with_rlm({0.0: 300.0, 9.0: 100.0})}, "RLM's drops"),
    )),
    ("L15", (OURS, THEIRS), ((data.RLM, {"messages_per_h": 150.0}, "messages"),)),
    ("L16", (MISBEHAVING,), (
        *((data.MISBEHAVING, {name: by("second", {"behaves": 6.0, "misbehaves": 7.0})}, said)
          for name, said in zip(RECEIVERS, ("its own", "the other of its session", "the other session"), strict=True)),
        (data.MISBEHAVING, {f"kbytes {TCP}": by("second", {"behaves": 36.0, "misbehaves": 30.0})}, "TCP"),
    )),
    ("L17", (WASTE,), (
        (data.SCENARIOS, {"waste_over": by("scenario", {1: 0.0, 2: 0.1, 3: 0.0})}, "scenario 2"),
    )),
    ("L18", (TREE,), (
        (data.TREE, {f"layers 2 {Tree.BRANCHES[1].members[0]}": FAIR["tokyo"] + 1.5}, "session 2 behind tokyo"),
        (data.TREE, {"stale 1 campus": 0.1}, "share of time apart"),
        (data.TREE, {f"layers 1 {NEIGHBOUR}": by("misbehaves", {False: FAIR["boston"] - 0.8, True: FAIR["boston"]})},
         "changes by"),
    )),
    ("L19", (HELD,), ((data.HELD, {"utilisation": by("window", {experiments.HELD_BACK: 0.9, 64: 1.0})}, "utilisation"),
    )),
    ("L20", (PAIR,), (
        (data.PAIR, {f"kbytes {TCP}": by("sessions", {"connections": 2.0, "addresses": 4.0})}, "the pair 2"),
    )),
    ("L21", (CONTROL,), tuple(
        (data.ADAPTATIONS, {"changes_per_h": lambda point, name=name: 30.0 if point["without"] == name else
                            50.0 if point["without"] == "none" else 90.0}, f"without {name}")
        for name in ("slowing down", "backing off", "blocking late")
    )),
    ("L22", (WAITING,), ((data.WAITING, {"release_ms": 300.0}, "release"),)),
    ("L23", (STATE,), (
        (data.STATE, {"state_bytes": lambda point: 40.0 * point["sessions"] ** 2}, "a power of 2"),
        (data.STATE, {"state_bytes": 400.0}, "a power of 0"),
        (data.STATE, {"other_places": 2.0}, "other places have state"),
    )),
)  # fmt: skip


def judged(claim: str, grids: tuple[Made, ...], name: str = "", other: Mapping[str, Value] | None = None):
    made = {grid.name: grid.numbers(other or {} if grid.name == name else {}) for grid in grids}
    return CLAIM[claim].judge(Data("made up", made))


@pytest.mark.parametrize(("claim", "grids"), [(claim, grids) for claim, grids, _ in CASES], ids=[c[0] for c in CASES])
def test_it_holds(claim, grids):
    made = judged(claim, grids)
    assert made.verdict == REPRODUCED, made.reason


REFUTED = [(claim, grids, *case) for claim, grids, cases in CASES for case in cases]


@pytest.mark.parametrize(
    ("claim", "grids", "name", "other", "said"), REFUTED, ids=[f"{case[0]} {case[-1]}" for case in REFUTED]
)
def test_it_does_not(claim, grids, name, other, said):
    made = judged(claim, grids, name, other)
    assert made.verdict == NOT_REPRODUCED
    assert said in made.reason


def test_every_claim_that_rests_on_runs_is_here_or_with_the_study():
    assert {case[0] for case in CASES} == set(CLAIM) - {"L1", "L2", "L3", "L24"}
