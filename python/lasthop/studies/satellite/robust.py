"""What the text claims and the paper does not simulate: errors, delay, misbehaviour, the tree, held-back TCP."""

from __future__ import annotations

from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, alike, judged, within
from lasthop.studies.satellite import experiments
from lasthop.studies.satellite.data import (
    ERRORS,
    HELD,
    MISBEHAVING,
    RLM_ERRORS,
    RLM_MISBEHAVING,
    RLM_SLOW,
    SLOW,
    TREE,
    Array,
    Data,
    at_least,
    at_most,
    in_place,
    rewritten,
)
from lasthop.studies.satellite.network import CAPACITY_KBPS, LAYER_KBPS, MULTICAST, TCP, Tree
from lasthop.studies.satellite.reductions import MIXED

__all__ = ["CLAIMS"]

SESSIONS = (f"{MULTICAST} 1", f"{MULTICAST} 2")

#: How much a mean number of layers may change where nothing is to matter; and a rate, in kB/s.
SAME = 0.5
SAME_KBYTES = SAME * LAYER_KBPS / 8

#: By which share of themselves the queue's drops may rise where nothing is to matter.
MORE_DROPS = 0.1


def _layers(data: Data, grid: str, **where: Any) -> Array:
    """What passes the bottleneck in layers of 50 kbit/s, of a session on average; what is lost behind it has passed."""
    passed = 1 - where.get("loss_pct", 0.0) / 100
    made: Array = np.mean([data.at(grid, f"layers {one}", **where) for one in SESSIONS], axis=0) / passed
    return made


def _changes(data: Data, grid: str) -> tuple[float, dict[str, Estimate]]:
    """Layers where nothing is wrong, and how they change elsewhere."""
    clean, changes = None, {}
    for point in data.grid(grid).points():
        here = _layers(data, grid, **point)
        if clean is None:
            clean = here
        else:
            changes[_named(point)] = estimate(here - clean)
    assert clean is not None
    return float(clean.mean()), changes


def _named(point: Any) -> str:
    units = {"loss_pct": " % lost", "delay_ms": " ms more", "leave_s": " s to leave"}
    return ", ".join(f"{value:g}{units[name]}" for name, value in point.items())


def _errors(data: Data) -> Judgement:
    clean, changes = _changes(data, ERRORS)
    return judged(
        f"{number(clean, 1)} layers; " + ", ".join(f"{one} with {name}" for name, one in changes.items()),
        *(at_least(f"change with {name}", one, -SAME, " layers") for name, one in changes.items()),
    )


def _errors_before(data: Data) -> Judgement:
    clean, changes = _changes(data, ERRORS)
    last = data.grid(RLM_ERRORS).axes["loss_pct"][-1]
    none, most = (
        np.mean([data.at(RLM_ERRORS, f"subscribed {one}", loss_pct=pct) for one in SESSIONS], axis=0)
        for pct in (0.0, last)
    )
    falls = estimate(none - most)
    return judged(
        f"{number(clean, 1)} layers; RLM falls by {falls}",
        *(alike(f"change with {name}", one, SAME, " layers") for name, one in changes.items()),
        above(f"RLM's layers, 0 − {last:g} % lost", falls),
    )


def _drops(data: Data, grid: str) -> Array:
    """By which share of themselves the queue's drops rise if leaving takes longest; over both ways together."""
    slow = data.grid(grid).axes["leave_s"][-1]
    most, least = (data.at(grid, "overflow_per_h", leave_s=leave) for leave in (slow, 0.0))
    made: Array = most / least - 1
    return made


def _slow(data: Data) -> Judgement:
    clean, changes = _changes(data, SLOW)
    drops = estimate(_drops(data, SLOW))
    return judged(
        f"{number(clean, 1)} layers; " + ", ".join(f"{one} with {name}" for name, one in changes.items())
        + f"; the queue's drops rise by {drops} of themselves with slow leaving",
        *(at_least(f"change with {name}", one, -SAME, " layers") for name, one in changes.items()),
        at_most("rise of the queue's drops with slow leaving", drops, MORE_DROPS),
    )  # fmt: skip


def _slow_before(data: Data) -> Judgement:
    clean, changes = _changes(data, SLOW)
    slow = data.grid(RLM_SLOW).axes["leave_s"][-1]
    drops = estimate(
        data.at(RLM_SLOW, "overflow_per_h", leave_s=slow) - data.at(RLM_SLOW, "overflow_per_h", leave_s=0.0)
    )
    return judged(
        f"{number(clean, 1)} layers; RLM's queue drops {drops} packets an hour more",
        *(alike(f"change with {name}", one, SAME, " layers") for name, one in changes.items()),
        above("RLM's drops with slow leaving − without", drops),
    )


RECEIVERS = {
    "its own": f"received {SESSIONS[0]} at second",
    "of the other of its session": f"received {SESSIONS[0]} at d0",
    "of the other session": f"received {SESSIONS[1]} at d1",
}


def _misbehaving(data: Data) -> Judgement:
    def of(quantity: str) -> Estimate:
        with_it, without = (data.at(MISBEHAVING, quantity, second=second) for second in ("misbehaves", "behaves"))
        return estimate(with_it - without)

    changes = {name: of(quantity) for name, quantity in RECEIVERS.items()}
    harmed = of(f"kbytes {TCP}")
    return judged(
        "layers: " + ", ".join(f"{name} {one}" for name, one in changes.items()) + f"; TCP {harmed} kB/s",
        *(alike(f"change of layers, {name}", one, SAME, " layers") for name, one in changes.items()),
        alike("change of TCP's rate", harmed, SAME_KBYTES, " kB/s"),
    )


def _branch(data: Data, session: int, members: list[str], *, misbehaves: bool) -> Array:
    """Layers of the receivers that behave, on average."""
    behaved = [member for member in members if member != Tree.MISBEHAVES]
    held = [data.at(TREE, f"layers {session} {member}", misbehaves=misbehaves) for member in behaved]
    made: Array = np.mean(held, axis=0)
    return made


def _agree(data: Data) -> Judgement:
    conditions, said = [], []
    for branch in Tree.BRANCHES:
        fair, here = branch.fair_layers(Tree.SESSIONS), []
        for session in range(1, Tree.SESSIONS + 1):
            where = f"session {session} behind {branch.name}"
            with_it, without = (_branch(data, session, branch.members, misbehaves=wrong) for wrong in (True, False))
            here.append(number(float(with_it.mean()), 1))
            conditions += [
                within(f"{where}, from its fair share", estimate(with_it - fair), -1.0, 1.0, " layers"),
                alike(f"{where}, what the one that misbehaves changes", estimate(with_it - without), SAME, " layers"),
                at_most(
                    f"{where}, share of time in which receivers differ without a recent change",
                    data.mean(TREE, f"stale {session} {branch.name}", misbehaves=True), 0.01,
                ),
            ]  # fmt: skip
        said.append(f"{branch.name} {', '.join(here)} (fair {number(fair, 1)})")
    return judged("layers: " + "; ".join(said), *conditions)


def _agree_before(data: Data) -> Judgement:
    conditions = []
    for branch in Tree.BRANCHES:
        fair = branch.fair_layers(Tree.SESSIONS)
        for session in range(1, Tree.SESSIONS + 1):
            where = f"session {session} behind {branch.name}"
            held = [data.at(TREE, f"layers {session} {one}", misbehaves=True) for one in branch.members]
            most = max(held, key=lambda one: abs(float(one.mean()) - fair))
            stale = data.mean(TREE, f"stale {session} {branch.name}", misbehaves=True)
            last = [
                data.at(TREE, f"layers {session} {branch.members[-1]}", misbehaves=wrong) for wrong in (True, False)
            ]
            conditions += [
                within(f"{where}, the one that is farthest", estimate(most), fair - 1, fair + 1, " layers"),
                at_most(f"{where}, share of time apart for no change", stale, 0.0),
                alike(f"{where}, change", estimate(last[0] - last[1]), SAME, " layers"),
            ]
    return judged("as the farthest receiver has it", *conditions)


def _scattered(data: Data) -> dict[str, Array]:
    """Receivers behind different bottlenecks in the place of those behind one."""
    made: dict[str, Array] = {}
    numbers = data.grid(TREE)
    for session in range(1, Tree.SESSIONS + 1):
        everyone = [f"layers {session} {member}" for branch in Tree.BRANCHES for member in branch.members]
        mean = np.mean([numbers.values[name] for name in everyone], axis=0)
        for name in everyone:
            made[name] = mean
        made |= {
            f"stale {session} {branch.name}": numbers.values[f"stale {session} {MIXED}"] for branch in Tree.BRANCHES
        }
    return made


def _held(data: Data) -> Judgement:
    window = experiments.HELD_BACK
    used = data.mean(HELD, "utilisation", window=window)
    rates = {kind: data.mean(HELD, f"kbytes {kind}", window=window) for kind in (MULTICAST, TCP)}
    ours = f"utilisation {used}; multicast {number(rates[MULTICAST].mean, 1)}, TCP {number(rates[TCP].mean, 1)} kB/s"
    return judged(ours, at_least("utilisation", used, 0.95))


def _tcp_alone(data: Data) -> dict[str, Array]:
    flows = len(experiments.SCENARIOS[1][1])
    return {"utilisation": data.grid(HELD).values[f"kbytes {TCP}"] * flows * 8 / CAPACITY_KBPS}


#: L13, L14, L16, L18 and L19.
CLAIMS: list[Claim[Data]] = [
    Claim(
        "L13", "III-B",
        "Therefore, link errors in satellite environments also can not decrease the performance of our scheme.",
        "Link errors do not decrease what the scheme does.", "can not decrease",
        "what passes the bottleneck, in layers of a session, with 0.1, 1 and 3 % of packets lost behind it, against "
        "none lost",
        "at most half a layer "
        "less", "losses are no input of the scheme; half the unit of control is no change; a rise is none "
        "of the claim's business, and §III-A expects one where TCP gets less",
        _errors, Null("RLM in the place of queue-phase control, which takes errors for "
                      "congestion", in_place((ERRORS, RLM_ERRORS))),
        Former("within half a layer in both directions; RLM's layers "
               "fall", "the sentence says “not decrease”; what RLM does is "
               "the null model now", _errors_before),
        see="figure-errors",
    ),
    Claim(
        "L14", "III-B",
        "Therefore, our scheme is not affected adversely by either the long link delays in satellite environments or "
        "the long pruning delay of the IGMP protocol.",
        "Neither long delays nor slow pruning harm the scheme.", "not affected adversely",
        "what passes the bottleneck, in layers of a session, over a geostationary hop and with routers that take up to "
        "9 s to leave; and the queue's drops with the slowest leaving against instant",
        "at most half a layer less; drops rise by a tenth at most",
        "layers are blocked at the bottleneck; a layer that cannot be left soon enough shows as drops",
        _slow, Null("RLM in the place of queue-phase control, whose failed experiments fill the queue until the layer "
                    "is left",
                    in_place((SLOW, RLM_SLOW))),
        Former("within half a layer in both directions; RLM's queue drops "
               "more", "the sentence says “adversely”, and the drops of "
               "the scheme itself were not looked at", _slow_before),
        see="table-robust",
    ),
    Claim(
        "L16", "III-B",
        "Another feature of our scheme is that a misbehaving receiver can neither benefit itself nor hurt other "
        "receivers",
        "A misbehaving receiver gains nothing and harms nobody.", "neither",
        "layers that come to a receiver that takes all, to the others, and TCP's rate, against the same run with one "
        "that behaves, in pairs",
        "within half a layer, TCP within as much", "the bottleneck decides; half the unit of control is no change",
        _misbehaving, Null("RLM in the place of queue-phase control, where what one takes comes down the link",
                           in_place((MISBEHAVING, RLM_MISBEHAVING))),
        see="table-robust",
    ),
    Claim(
        "L18", "III-B",
        "Furthermore, all receivers downstream from a bottleneck are well coordinated in our scheme by the multicast "
        "traffic, which is effectively controlled on the bottleneck.",
        "Receivers behind a bottleneck are coordinated by what it lets pass.", "well coordinated",
        "tree: for how long receivers of a bottleneck differ without one of them having changed in the last 5 s; mean "
        "layers of each session behind each bottleneck against its fair share, and against the run without a "
        "misbehaving receiver",
        "at most 1 % of the time; within 1 layer; within half a layer",
        "a receiver adds a layer after 2 s, looks four times a second and waits 1 s before it calls one empty; the "
        "share is of whole layers",
        _agree, Null("receivers behind three different bottlenecks in the place of those behind "
                     "one", rewritten(TREE, _scattered)),
        Former("the receiver farthest from the fair share within 1 layer, no time apart, no change above half a layer "
               "of the last "
               "receiver", "the farthest of several is chosen by its error, and never is no share that an interval can "
               "hold", _agree_before),
        see="figure-tree",
    ),
    Claim(
        "L19", "III-A", "Eventually the free bandwidth will be utilized.",
        "What held-back TCP leaves is taken by multicast.", "eventually utilized",
        "the bottleneck's utilisation with TCP windows of 4 packets, from 100 s on", "from 0.95",
        "a layer is 3 % of the link, and one may be blocked",
        _held, Null("the same without multicast's part: what TCP's small windows let it "
                    "take", rewritten(HELD, _tcp_alone)),
        see="figure-3",
    ),
]  # fmt: skip
