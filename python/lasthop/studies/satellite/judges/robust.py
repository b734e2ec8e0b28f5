"""What the text claims and the paper does not simulate: errors, delay, misbehaviour, the tree, held-back TCP."""

from __future__ import annotations

from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, alike, at_least, at_most, judged, within
from lasthop.studies.grid import Array
from lasthop.studies.nulls import in_place, rewritten

from ..data import ERRORS, HELD, MISBEHAVING, RLM_ERRORS, RLM_MISBEHAVING, RLM_SLOW, SLOW, TREE, Data
from ..measures import MIXED
from ..network import CAPACITY_KBPS, LAYER_KBPS, MULTICAST, TCP, Tree
from ..scenario import BEGINNINGS, HELD_BACK

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
    window = HELD_BACK
    used = data.mean(HELD, "utilisation", window=window)
    rates = {kind: data.mean(HELD, f"kbytes {kind}", window=window) for kind in (MULTICAST, TCP)}
    ours = f"utilisation {used}; multicast {number(rates[MULTICAST].mean, 1)}, TCP {number(rates[TCP].mean, 1)} kB/s"
    return judged(ours, at_least("utilisation", used, 0.95))


def _tcp_alone(data: Data) -> dict[str, Array]:
    flows = len(BEGINNINGS[1][1])
    return {"utilisation": data.grid(HELD).values[f"kbytes {TCP}"] * flows * 8 / CAPACITY_KBPS}


#: L13, L14, L16, L18 and L19.


JUDGES: Judges[Data] = {
    "L13": Judge(_errors, null=in_place((ERRORS, RLM_ERRORS)), former=_errors_before),
    "L14": Judge(_slow, null=in_place((SLOW, RLM_SLOW)), former=_slow_before),
    "L16": Judge(_misbehaving, null=in_place((MISBEHAVING, RLM_MISBEHAVING))),
    "L18": Judge(_agree, null=rewritten(TREE, _scattered), former=_agree_before),
    "L19": Judge(_held, null=rewritten(HELD, _tcp_alone)),
}
