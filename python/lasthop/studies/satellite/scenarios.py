"""The three scenarios (§IV-A to C) and the queue (§IV-E): shares, balance, stability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.satellite import experiments
from lasthop.studies.satellite.data import ROUND_TRIP, SCENARIOS, Array, Data, outside
from lasthop.studies.satellite.network import CAPACITY_KBPS, MULTICAST, TCP
from lasthop.studies.satellite.reductions import STAGES

__all__ = ["BAND", "CLAIMS", "ideal", "present"]

#: How far a mean may be from the ideal interval.
BAND = 0.15

#: Multicast may have so much more than TCP: R_Block.
MORE = 1.2

KINDS = {MULTICAST: "multicast", TCP: "TCP"}


def present(scenario: int, stage: int) -> dict[str, list[str]]:
    """The flows of each kind that are there in a stage."""
    begin = STAGES[stage][0]
    starts = dict(zip((MULTICAST, TCP), experiments.SCENARIOS[scenario], strict=True))
    return {
        kind: [f"{kind} {n + 1}" for n, start in enumerate(of_kind) if start < begin]
        for kind, of_kind in starts.items()
    }


def ideal(scenario: int, stage: int) -> dict[str, tuple[float, float]]:
    """What each kind gets in kB/s if multicast has 1 to 1.2 times what TCP has, from the least to the most."""
    flows = present(scenario, stage)
    multicast, tcp = len(flows[MULTICAST]), len(flows[TCP])
    capacity = CAPACITY_KBPS / 8
    equal, most = capacity / (multicast + tcp), capacity / (MORE * multicast + tcp)
    return {MULTICAST: (equal, MORE * most if multicast else equal), TCP: (most if multicast else equal, equal)}


def _shares(scenario: int) -> Callable[[Data], Judgement]:
    def judge(data: Data) -> Judgement:
        values: dict[str, Estimate] = {}
        wrong: list[str] = []
        said = []
        for stage, (begin, end) in enumerate(STAGES):
            flows = present(scenario, stage)
            for kind, (low, high) in ideal(scenario, stage).items():
                if not flows[kind]:
                    continue
                one = data.mean(SCENARIOS, f"kbytes {kind}_{stage}", scenario=scenario)
                values[f"{KINDS[kind]}_{stage + 1}"] = one
                wrong += outside(
                    f"{KINDS[kind]} from {begin:g} to {end:g} s", one, (1 - BAND) * low, (1 + BAND) * high, " kB/s"
                )
            said.append(
                ", ".join(
                    f"{KINDS[kind]} {number(values[f'{KINDS[kind]}_{stage + 1}'].mean, 1)}"
                    for kind in (MULTICAST, TCP)
                    if flows[kind]
                )
            )
            wrong += _even(data, scenario, stage, flows[MULTICAST], values)
        return verdict(wrong, "; ".join(said) + " kB/s", values)

    return judge


def _even(data: Data, scenario: int, stage: int, sessions: list[str], values: dict[str, Estimate]) -> list[str]:
    """What speaks against even shares, steady layers and a full link."""
    words = f"from {STAGES[stage][0]:g} s"

    def of(quantity: str) -> Estimate:
        values[f"{quantity.replace(' ', '_')}_{stage + 1}"] = one = data.mean(
            SCENARIOS, f"{quantity}_{stage}", scenario=scenario
        )
        return one

    wrong = outside(f"Jain's index {words}", of("jain"), 0.98, float("inf"))
    wrong += outside(f"utilisation {words}", of("utilisation"), 0.95, float("inf"))
    for session in sessions:
        wrong += outside(f"σ of the layers of {session} {words}", of(f"subscribed_sd {session}"), 0.0, 1.0)
    if len(sessions) == 2:
        apart = estimate(_apart(data, scenario, stage, sessions))
        values[f"apart_{stage + 1}"] = apart
        wrong += outside(f"difference of the sessions {words}", apart, 0.0, 1.0, " layers")
    return wrong


def _apart(data: Data, scenario: int, stage: int, sessions: list[str]) -> Array:
    one, other = (data.at(SCENARIOS, f"layers {name}_{stage}", scenario=scenario) for name in sessions)
    made: Array = np.abs(one - other)
    return made


def _ratios(data: Data) -> dict[str, Array]:
    """What multicast gets over what TCP gets, where both are there."""
    return {
        f"scenario {scenario} from {STAGES[stage][0]:g} s": data.at(
            SCENARIOS, f"kbytes {MULTICAST}_{stage}", scenario=scenario
        )
        / data.at(SCENARIOS, f"kbytes {TCP}_{stage}", scenario=scenario)
        for scenario in experiments.SCENARIOS
        for stage in range(len(STAGES))
        if all(present(scenario, stage).values())
    }


def _below(data: Data) -> Judgement:
    each = _ratios(data)
    whole = estimate(np.mean(list(each.values()), axis=0))
    wrong = outside("multicast over TCP", whole, 1.0, 1.25)
    ours = f"multicast/TCP {whole}: " + ", ".join(
        f"{number(float(one.mean()), 2)} in {name}" for name, one in each.items()
    )
    more = Estimate(whole.mean - 1.0, whole.half, whole.n, whole.level)
    return order(ours, {"multicast/TCP − 1": more}, wrong)


def _within(data: Data) -> Judgement:
    values, wrong = {}, []
    for scenario in experiments.SCENARIOS:
        for stage in range(len(STAGES)):
            sessions = present(scenario, stage)[MULTICAST]
            if len(sessions) == 2:
                one = estimate(_apart(data, scenario, stage, sessions))
                values[f"scenario_{scenario}_{stage + 1}"] = one
                wrong += outside(f"scenario {scenario} from {STAGES[stage][0]:g} s", one, 0.0, 1.0, " layers")
    most = max(values.values(), key=lambda one: one.mean)
    return verdict(wrong, f"{most} layers apart at most", values)


def _soon(data: Data) -> Judgement:
    one = data.mean(SCENARIOS, "unbalanced_layers", scenario=1)
    return verdict(
        outside("after 60 s", one, 0.0, 1.0, " layers"), f"{one} layers from the final mean", {"layers": one}
    )


def _stable(data: Data) -> Judgement:
    spread = {
        n: estimate(
            np.mean([data.at(SCENARIOS, f"subscribed_sd_{stage}", scenario=n) for stage in range(len(STAGES))], axis=0)
        )
        for n in (1, 2)
    }
    changes = {n: data.mean(SCENARIOS, "changes_per_h", scenario=n) for n in (1, 2)}
    wrong = [line for n, one in spread.items() for line in outside(f"σ in scenario {n}", one, 0.0, 1.0, " layers")]
    more = estimate(data.at(SCENARIOS, "changes_per_h", scenario=2) - data.at(SCENARIOS, "changes_per_h", scenario=1))
    said = [number(one.mean, 0) for one in changes.values()]
    ours = f"σ {spread[1]} and {spread[2]} layers; {' and '.join(said)} changes an hour"
    return order(ours, {"changes an hour, scenario 2 − 1": more}, wrong, sigma_1=spread[1], sigma_2=spread[2])


def _phases(data: Data) -> Judgement:
    long = data.mean(ROUND_TRIP, "phase_2")
    here = {n: data.mean(SCENARIOS, "phase_2", scenario=n) for n in experiments.SCENARIOS}
    first = data.mean(SCENARIOS, "phase_1", scenario=1)
    stays = {n: data.mean(SCENARIOS, f"longest_phase_{n}_s", scenario=1) for n in (1, 3)}
    wrong = outside("phase 2 at 200 ms", long, 0.5, 1.0)
    wrong += outside("phase 1", first, 0.0, 0.05)
    for n, one in stays.items():
        wrong += outside(f"longest stay in phase {n}", one, 0.0, 20.0, " s")
    ours = (
        f"phase 2 for {number(100 * long.mean, 0)} % of the time at a round-trip time of 200 ms; in the scenarios "
        + ", ".join(f"{number(100 * one.mean, 0)} %" for one in here.values())
    )
    return verdict(
        wrong, ours, {"phase_2_long": long, **{f"phase_2_{n}": one for n, one in here.items()}, "phase_1": first}
    )


def _short(data: Data) -> Judgement:
    stay, trip = (data.at(SCENARIOS, name, scenario=1) for name in ("phase_3_ms_p50", "tcp_rtt_ms"))
    share = estimate(stay / trip)
    ours = f"median stay {number(float(stay.mean()), 0)} ms, TCP's round-trip time {number(float(trip.mean()), 0)} ms"
    return verdict(outside("median stay", share, 0.0, 3.0, " round-trip times"), ours, {"round_trips": share})


BANDS = (
    "each kind within 15 % of its ideal interval, Jain's index ≥ 0.98, σ of the layers ≤ 1, sessions within a layer, "
    "utilisation ≥ 0.95; from 100 s after each change"
)
WHY = "R_Block lets multicast have 1 to 1.2 times what TCP has; the rest is what fair and stable mean in the text"

CLAIMS: list[Claim[Data]] = [
    Claim(
        "L1", "IV-A", "All sessions that start and stop together get about the same.", "40 kB/s each", BANDS, WHY,
        _shares(1), see="figure-5",
    ),
    Claim(
        "L2", "IV-B", "A late TCP flow gets its share, and each existing session releases its part.",
        "60, 45, 35 kB/s", BANDS, WHY, _shares(2), see="figure-7",
    ),
    Claim(
        "L3", "IV-C", "A late multicast session gets its share, and only that.", "60, 45, 35 kB/s", BANDS, WHY,
        _shares(3), see="figure-9",
    ),
    Claim(
        "L4", "IV-A", "TCP gets a little less than multicast.", "a little lower", "multicast/TCP above 1, and 1–1.25",
        "R_Block is 0.2", _below, see="table-shares",
    ),
    Claim(
        "L5", "IV-A", "The two sessions differ by a layer at most.", "one layer", "mean difference ≤ 1 layer",
        "a layer is the unit of control", _within, see="figure-5",
    ),
    Claim(
        "L6", "IV-A", "The queue enters balance quickly, and stays there.", "quickly",
        "layers from 55 to 65 s within 1 of the mean after 100 s", "a minute of 25 is soon", _soon, see="figure-5",
    ),
    Claim(
        "L7", "IV-A, B", "Layers are fairly stable, in scenario 2 with a few more changes.", "fairly stable; a "
        "little more", "σ ≤ 1 layer; more changes an hour in scenario 2, in pairs", "a layer is the unit of control",
        _stable, see="table-control",
    ),
    Claim(
        "L8", "IV-E", "The queue is in phase 2 most of the time.", "most of the time", "above 50 % at a round-trip "
        "time of 200 ms; below it is reported; phase 1 below 5 %; no stay in phase 1 or 3 above 20 s",
        "with short round-trip times three greedy TCP flows keep a queue of 50 packets near its end", _phases,
        see="figure-13",
    ),
    Claim(
        "L9", "IV-E", "After an overflow the queue is in phase 3 for a short time, until TCP has reacted.",
        "at least a round-trip time", "median stay ≤ 3 round-trip times", "TCP needs one to react and more to drain",
        _short, see="figure-13",
    ),
]  # fmt: skip
