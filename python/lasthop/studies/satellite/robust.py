"""What the text claims and the paper does not simulate: errors, delay, misbehaviour, waste, the tree, cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.satellite import experiments
from lasthop.studies.satellite.data import (
    ADAPTATIONS,
    ERRORS,
    HELD,
    MISBEHAVING,
    PAIR,
    SCENARIOS,
    SLOW,
    STATE,
    TREE,
    WAITING,
    Array,
    Data,
    outside,
)
from lasthop.studies.satellite.network import LAYER_KBPS, MULTICAST, TCP, Tree

__all__ = ["AFTER", "BEFORE"]

SESSIONS = (f"{MULTICAST} 1", f"{MULTICAST} 2")
QUEUE_PHASE, RLM = experiments.SCHEMES

#: Where each adaptation is looked at: two of them change T_observe, which only decides where the queue is empty for
#: a second or more.
WHERE = {
    "slowing down": experiments.ENDING,
    "backing off": experiments.ENDING,
    "blocking late": experiments.SCENARIO_1,
}

#: How much a mean number of layers may change where nothing is to matter.
SAME = 0.5


def _layers(data: Data, grid: str, **where: Any) -> Array:
    """Layers that pass the bottleneck, of a session on average; what is lost behind it has passed."""
    passed = 1 - where.get("loss_pct", 0.0) / 100
    made: Array = np.mean([data.at(grid, f"layers {one}", **where) for one in SESSIONS], axis=0) / passed
    return made


def _subscribed(data: Data, grid: str, **where: Any) -> Array:
    made: Array = np.mean([data.at(grid, f"subscribed {one}", **where) for one in SESSIONS], axis=0)
    return made


def _errors(data: Data) -> Judgement:
    rates = [pct for pct in data.grid(ERRORS).axes["loss_pct"] if pct]
    clean = _layers(data, ERRORS, scheme=QUEUE_PHASE, loss_pct=0.0)
    changes = {pct: estimate(_layers(data, ERRORS, scheme=QUEUE_PHASE, loss_pct=pct) - clean) for pct in rates}
    falls = estimate(
        _subscribed(data, ERRORS, scheme=RLM, loss_pct=0.0) - _subscribed(data, ERRORS, scheme=RLM, loss_pct=rates[-1])
    )
    wrong = [line for pct, one in changes.items() for line in outside(f"at {pct:g} %", one, -SAME, SAME, " layers")]
    ours = (
        f"{number(float(clean.mean()), 1)} layers; "
        + ", ".join(f"{one} at {pct:g} %" for pct, one in changes.items())
        + f"; RLM falls by {falls} of its layers at {rates[-1]:g} %"
    )
    return order(ours, {f"RLM's layers 0 % − {rates[-1]:g} %": falls}, wrong, **_by("change", changes))


def _by(name: str, values: Mapping[Any, Estimate]) -> dict[str, Estimate]:
    return {f"{name}_{key}": one for key, one in values.items()}


def _slow(data: Data) -> Judgement:
    grid = data.grid(SLOW)
    clean = _layers(data, SLOW, scheme=QUEUE_PHASE, delay_ms=0.0, leave_s=0.0)
    changes = {}
    for point in grid.points("delay_ms", "leave_s"):
        if point["delay_ms"] or point["leave_s"]:
            name = f"+{point['delay_ms']:g} ms, {point['leave_s']:g} s"
            changes[name] = estimate(_layers(data, SLOW, scheme=QUEUE_PHASE, **point) - clean)
    last = grid.axes["leave_s"][-1]
    drops = estimate(
        data.at(SLOW, "overflow_per_h", scheme=RLM, leave_s=last)
        - data.at(SLOW, "overflow_per_h", scheme=RLM, leave_s=0.0)
    )
    wrong = [line for name, one in changes.items() for line in outside(name, one, -SAME, SAME, " layers")]
    ours = (
        f"{number(float(clean.mean()), 1)} layers; "
        + ", ".join(f"{one} with {name}" for name, one in changes.items())
        + f"; with RLM the queue drops {drops} packets an hour more if leaving takes {last:g} s"
    )
    return order(ours, {f"RLM's drops, {last:g} s − 0 s": drops}, wrong, **_by("change", changes))


def _misbehaving(data: Data) -> Judgement:
    def of(quantity: str, scheme: str = QUEUE_PHASE) -> Estimate:
        with_it, without = (
            data.at(MISBEHAVING, quantity, scheme=scheme, second=second) for second in ("misbehaves", "behaves")
        )
        return estimate(with_it - without)

    receivers = {
        "its own": f"received {SESSIONS[0]} at second",
        "the other of its session": f"received {SESSIONS[0]} at d0",
        "the other session": f"received {SESSIONS[1]} at d1",
    }
    changes = {name: of(quantity) for name, quantity in receivers.items()}
    harmed = of(f"kbytes {TCP}")
    pinned = of(f"kbytes {TCP}", RLM)
    wrong = [line for name, one in changes.items() for line in outside(name, one, -SAME, SAME, " layers")]
    share = SAME * LAYER_KBPS / 8
    wrong += outside("TCP", harmed, -share, share, " kB/s")
    ours = (
        "layers: " + ", ".join(f"{name} {one}" for name, one in changes.items())
        + f"; TCP {harmed} kB/s; with RLM such a receiver changes TCP's rate by {pinned} kB/s"
    )  # fmt: skip
    return verdict(wrong, ours, {**_by("change", changes), "tcp": harmed, "tcp_with_rlm": pinned})


def _waste(data: Data) -> Judgement:
    values, wrong, said = {}, [], []
    for scenario in experiments.SCENARIOS:
        over = data.mean(SCENARIOS, "waste_over", scenario=scenario)
        mean = data.mean(SCENARIOS, "waste_kbps", scenario=scenario)
        values[f"over_{scenario}"], values[f"kbps_{scenario}"] = over, mean
        wrong += outside(f"scenario {scenario}, share of times above it", over, 0.0, 0.0)
        said.append(f"{number(mean.mean, 0)} kbit/s, above the bound in {number(100 * over.mean, 1)} % of 10 s")
    return verdict(wrong, "; ".join(said), values)


def _agree(data: Data) -> Judgement:
    values, wrong, said = {}, [], []
    for branch in Tree.BRANCHES:
        fair = branch.fair_layers(Tree.SESSIONS)
        for session in range(1, Tree.SESSIONS + 1):
            held = [data.at(TREE, f"layers {session} {one}", misbehaves=True) for one in branch.members]
            most = max(range(len(held)), key=lambda n: abs(float(held[n].mean()) - fair))
            one = estimate(held[most])
            values[f"layers_{branch.name}_{session}"] = one
            wrong += outside(f"session {session} behind {branch.name}", one, fair - 1, fair + 1, " layers")
            stale = data.mean(TREE, f"stale {session} {branch.name}", misbehaves=True)
            values[f"stale_{branch.name}_{session}"] = stale
            wrong += outside(f"session {session} behind {branch.name}: share of time apart for no change", stale, 0, 0)
        pair = [values[f"layers_{branch.name}_{n}"].mean for n in range(1, Tree.SESSIONS + 1)]
        said.append(f"{branch.name} {', '.join(number(one, 1) for one in pair)} (fair {number(fair, 1)})")
    return verdict(wrong + _harm(data, values), "layers: " + "; ".join(said), values)


def _harm(data: Data, values: dict[str, Estimate]) -> list[str]:
    """What the receiver that misbehaves changes for others in the tree."""
    wrong = []
    worst = Estimate(0.0, 0.0, 1)
    for session in range(1, Tree.SESSIONS + 1):
        for branch in Tree.BRANCHES:
            for member in branch.members:
                if session == 1 and member == Tree.MISBEHAVES:
                    continue
                name = f"layers {session} {member}"
                change = estimate(data.at(TREE, name, misbehaves=True) - data.at(TREE, name, misbehaves=False))
                worst = max(worst, change, key=lambda one: abs(one.mean))
                if abs(change.mean) > SAME and member == branch.members[-1]:
                    wrong.append(f"session {session} behind {branch.name} changes by {change} layers")
    values["largest_change"] = worst
    return wrong


def _held(data: Data) -> Judgement:
    window = experiments.HELD_BACK
    used = data.mean(HELD, "utilisation", window=window)
    rates = {kind: data.mean(HELD, f"kbytes {kind}", window=window) for kind in (MULTICAST, TCP)}
    ours = f"utilisation {used}; multicast {number(rates[MULTICAST].mean, 1)}, TCP {number(rates[TCP].mean, 1)} kB/s"
    return verdict(outside("utilisation", used, 0.95, float("inf")), ours, {"utilisation": used, **rates})


def _pair(data: Data) -> Judgement:
    shares = {
        counted: estimate(
            experiments.CONNECTIONS
            * data.at(PAIR, f"kbytes {TCP}", sessions=counted)
            / data.at(PAIR, f"kbytes {MULTICAST}", sessions=counted)
        )
        for counted in ("connections", "addresses")
    }
    ours = f"the pair gets {shares['addresses']} of a session's rate, {shares['connections']} if connections count"
    wrong = outside("the pair", shares["addresses"], 0.0, 1.3, " of a session's rate")
    return verdict(wrong, ours, _by("share", shares))


def _adaptations(data: Data) -> Judgement:
    def pair(name: str, where: str) -> tuple[Array, Array]:
        with_it, without = (data.at(ADAPTATIONS, "changes_per_h", without=one, where=where) for one in ("none", name))
        return with_it, without

    def said(name: str, where: str) -> str:
        with_it, without = (number(float(one.mean()), 0) for one in pair(name, where))
        return f"{with_it} with and {without} without {name} in {where}"

    differences = {}
    for name, where in WHERE.items():
        with_it, without = pair(name, where)
        differences[f"without {name} − with"] = estimate(without - with_it)
    shown = [
        *WHERE.items(),
        *((name, experiments.LATER) for name, where in WHERE.items() if where == experiments.ENDING),
    ]
    return order("changes an hour: " + "; ".join(said(name, where) for name, where in shown), differences, [])


def _waits(data: Data) -> Judgement:
    release, join = (data.mean(WAITING, name) for name in ("release_ms", "join_ms"))
    share = estimate(data.at(WAITING, "release_ms") / data.at(WAITING, "join_ms"))
    ours = f"{release} ms from a release to the first packet, {join} ms from a join: {share} of it"
    return verdict(outside("release", share, 0.0, 0.5, " of a join"), ours, {"share": share})


def _state(data: Data) -> Judgement:
    numbers = data.grid(STATE)
    counts = numbers.axes["sessions"]
    sizes = [float(numbers.at("state_bytes", sessions=n)[0]) for n in counts]
    work = [float(numbers.at("additions_in", sessions=n)[0]) for n in counts]
    others = max(float(numbers.at("other_places", sessions=n)[0]) for n in counts)
    slope = Estimate(math.log(sizes[-1] / sizes[0]) / math.log(counts[-1] / counts[0]), math.nan, 1)
    wrong = outside("state grows with a power of", slope, 0.9, 1.1)
    if others:
        wrong.append(f"{others:g} other places have state")
    ours = (
        f"{', '.join(number(size, 0) for size in sizes)} B and {', '.join(number(one, 1) for one in work)} additions a "
        f"packet with {', '.join(map(str, counts))} sessions of each kind; none elsewhere"
    )
    return verdict(wrong, ours, {"power": slope})


#: L13 and L14, before the control traffic (L15).
BEFORE: list[Claim[Data]] = [
    Claim(
        "L13", "III-B", "Link errors do not decrease what the scheme does.", "not affected",
        "layers within 0.5 of those without errors at 0.1, 1 and 3 %; RLM's fall", "losses are no input of the scheme",
        _errors, see="figure-errors",
    ),
    Claim(
        "L14", "III-B", "Neither long delays nor slow pruning affect the scheme.", "not affected",
        "layers within 0.5 of those without, over a geostationary hop and with a leave latency of 2 and 9 s; RLM's "
        "queue drops more",
        "layers are blocked at the bottleneck", _slow, see="table-robust",
    ),
]  # fmt: skip

#: L16 to L23.
AFTER: list[Claim[Data]] = [
    Claim(
        "L16", "III-B", "A misbehaving receiver gains nothing and harms nobody.", "neither", "within 0.5 layers, "
        "TCP within as much",
        "the bottleneck decides", _misbehaving, see="table-robust",
    ),
    Claim(
        "L17", "III-C", "What a session wastes above the bottleneck is bounded.", "at most its empty layer, and the "
        "unused "
        "rest of its share of the link", "never above a layer for each session (the wire has room for it), over 10 s",
        "the bound as the paper prints it, for the wire before the gateway", _waste, see="table-robust",
    ),
    Claim(
        "L18", "III-B", "Receivers behind a bottleneck are coordinated by what it lets pass.", "well coordinated",
        "tree: layers within 1 of the fair share of the own bottleneck; receivers behind one differ only within 5 s "
        "of a change; a misbehaving one changes nobody's by more than 0.5", "a receiver adds a layer after 2 s and "
        "looks four times a second",
        _agree, see="figure-tree",
    ),
    Claim(
        "L19", "III-A", "What held-back TCP leaves is taken by multicast.", "eventually utilized", "utilisation ≥ "
        "0.95 with "
        "windows of 4 packets", "as in L1", _held, see="figure-3",
    ),
    Claim(
        "L20", "III-C", "Counting pairs of addresses keeps a pair of hosts from stealing with many connections.",
        "prevents", "a pair with 20 connections gets at most 1.3 of what a session gets", "R_Block, and a little",
        _pair, see="table-robust",
    ),
    Claim(
        "L21", "II-B.6", "Each of the three adaptations makes layers change less often.", "to avoid fluctuation",
        "changes an hour without one are more, in pairs: the third in scenario 1, the two of T_observe where TCP ends "
        "and multicast has to rise, over 1.2 Mbit/s", "that is their purpose; T_observe decides only where the "
        "queue is "
        "empty for a second", _adaptations, see="table-control",
    ),
    Claim(
        "L22", "III-C", "An empty layer saves the delay of grafting.", "significantly reduced",
        "from a release to the first packet: less than half of from a join", "a graft has to go up first", _waits,
        see="table-robust",
    ),
    Claim(
        "L23", "III-C", "State grows with sessions only, and is kept at one router.", "one router",
        "bytes grow in proportion (power 0.9 to 1.1); nothing anywhere else", "what has to be told apart", _state,
        see="table-state",
    ),
]  # fmt: skip
