"""The paper's experiments as scenarios, and what the bit tells and costs.

Fairness (§5.1), responsiveness (§5.2), temporary and permanent degradation (§5.3, §5.4).
The terminal of the paper, UE_x, is number 0, behind Node B 0, RNC 0 and SGSN 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies.grid import Point

from .network import ELSEWHERE, GROUP, NODE_BS, PER_RNC, UES, Flow, Setting, rnc, text
from .readings import ALONE, AS_STATED, Taken, losing

#: Simulated seconds of §5.1, and from when on means are taken.
FAIRNESS_S, FROM_S = 200.0, 50.0

#: The flows of an experiment of §5.1: two of a scheme, and one of each.
PAIRS = ("mod_tfmcc+mod_tfmcc", "mod_pgmcc+mod_pgmcc")
MIXED = "mod_tfmcc+mod_pgmcc+tcp"

#: The same with a flow that is not controlled in the place of the first one; by what they replace.
FREED: Mapping[str, str] = {
    PAIRS[0]: "cbr+mod_tfmcc",
    PAIRS[1]: "cbr+mod_pgmcc",
    MIXED: "cbr+mod_pgmcc+tcp",
}
UNCONTROLLED = tuple(FREED.values())

#: §5.2: when each of the three stages ends.
STEPS_S = (50.0, 100.0, 150.0)

#: §5.2: the loss rates of the stages, and the delays that are added to the Iu, in ms.
CHANGES: Mapping[str, Sequence[float]] = {"loss": (0.01, 0.05, 0.025), "delay": (0.0, 50.0, 100.0)}

#: §5.3: the sizes of Table II, and the highest share of packets that the radio loses.
SIZES = (1, 3, 6, 10, 15, 20, 30, 50, 70, 100)
HIGHEST = 0.05

#: TCP flows that the schemes are compared with, one to each of the first members.
TCP_FLOWS = 10

#: §5.4: from when to when a terminal loses packets, and which share of them.
PERMANENT_S = (50.0, 150.0)
SHARE = 0.2

#: The degraded terminals of the variant with several.
DEGRADED = (0, 1, 2)

#: §6, expulsion: how long a run lasts, and how long a spell that passes.
EXPULSION_S, SPELL_S = 260.0, 20.0

#: The rate of the source where it is counted what the bit tells.
TOLD_KBPS = 240.0

#: What the bit tells is run with these losses of the radio, and these rules.
RADIO_LOSSES = (0.05, 0.2)
CASES: Mapping[str, Sequence[Any]] = {"rule": ("edge", "edge 2", "toggle", "resend"), "radio": RADIO_LOSSES}

#: Values that are sampled beside the usual ones.
QUANTITIES = (
    "clr",
    "acker",
    "clr_changes",
    "acker_changes",
    "window_cuts",
    "rejected_packets",
    "timeouts",
    "expelled",
    "expulsions",
)


@cache
def _loaded(written: str) -> Scenario:
    return load(written)


def _scenario(taken: Taken, *, series: str, state: bool = True, **setting: Any) -> Scenario:
    """A setting by what is taken."""
    radio = {**taken.radio, **setting.pop("radio", {})}
    record = {"state": state, "series": series, "quantities": list(QUANTITIES), **setting.pop("record", {})}
    given = {
        "indication": taken.indication,
        "requests": taken.requests,
        "tcp": taken.tcp,
        "c": taken.c,
        "cut_again": taken.cut_again,
        "background": taken.background,
        "cell": taken.cell,
        "cbr_kbps": float(taken.rate_kbps),
        **setting,
    }
    return _loaded(text(Setting(radio={} if taken.rlc else radio, record=record, **given)))


def _group(first: int) -> list[int]:
    """UE_x and one terminal of each of nine RNCs below SGSNs 1 and 2."""
    return [0, *(ELSEWHERE + PER_RNC * n + first for n in range(GROUP - 1))]


def fairness(point: Point, *, taken: Taken = AS_STATED) -> Scenario:
    """§5.1: `flows` of several schemes to UE_x, through the bottleneck `where`: `iu`, `gn`, `bearer` or `none`."""
    where, schemes = point["where"], point["flows"].split("+")

    # On a bearer for all its flows only UE_x listens, so that a flow's goodput is what came over this bearer. Behind
    # the Gn a terminal of the next RNC listens too, so that what comes over it divides there.
    def members(n: int) -> list[int]:
        return [0] if where == "bearer" else [*_group(n), *([PER_RNC] if where == "gn" else [])]

    flows = [
        Flow(scheme, [0] if scheme == "tcp" else members(n), start_s=float(n), name=f"observed{n}")
        for n, scheme in enumerate(schemes)
    ]
    narrow = {"rate": "600 kbit/s", "queue": {"droptail": {"limit": "30 packets"}}}
    links = {"iu": {"iu0": narrow}, "gn": {"gn0": narrow}}.get(where, {})
    radio = {"bearers": "terminal"} if where == "bearer" else {}
    return _scenario(taken, series="1 s", observed=flows, duration_s=FAIRNESS_S, links=links, radio=radio, state=False)


def responsiveness(point: Point, *, taken: Taken = AS_STATED) -> Scenario:
    """§5.2: a flow of TFMCC, PGMCC and TCP each to UE_x, while the Iu changes its `step`: `loss` or `delay`."""
    flows = [
        Flow("mod_tfmcc", _group(0), name="observed0"),
        Flow("mod_pgmcc", _group(1), name="observed1"),
        Flow("tcp", [0], name="observed2"),
    ]
    begins = (0.0, *STEPS_S[:-1])
    losses = CHANGES["loss"] if point["step"] == "loss" else (CHANGES["loss"][0],) * len(begins)
    steps = [[f"{at:g} s", p] for at, p in zip(begins, losses, strict=True)]
    iu = {"rate": "10 Mbit/s", "loss": {"schedule": {"steps": steps}}}
    changes = [
        {"at": f"{at:g} s", "link": "iu0", "delay": f"{0.4 + more:g} ms"}
        for at, more in zip(begins, CHANGES["delay"], strict=True)
        if point["step"] == "delay" and more
    ]
    return _scenario(
        taken,
        series="1 s" if taken.background else "100 ms",
        observed=flows,
        duration_s=STEPS_S[-1],
        links={"iu0": iu},
        changes=changes,
        radio={"rate": "2 Mbit/s"},
        state=False,
    )


def temporary(point: Point, *, taken: Taken = AS_STATED, series: str = "20 s") -> Scenario:
    """§5.3: a `scheme` alone to a group of `ues`, each of which loses a share of packets that is drawn anew every 5
    s."""
    scheme, ues = point["scheme"], point["ues"]
    if scheme == "tcp":
        flows = [Flow("tcp", [ue], name=f"observed{ue}") for ue in range(min(ues, TCP_FLOWS))]
    else:
        flows = [Flow(scheme, range(ues), name="observed0")]
    drawn = {
        "high": losing(HIGHEST, taken),
        "period": "5 s",
        "from": f"{taken.begins_s:g} s",
        "until": f"{taken.until_s:g} s",
        "attempts": taken.residual_attempts,
    }
    radio: dict[str, Any] = {"loss": {"redrawn": drawn} if not taken.burst else {"gilbert": _bursts(taken)}}
    if taken.varying:
        radio["varying"] = {"slowest": f"{taken.rate_kbps / 2:g} kbit/s", "longest": "120 ms", "period": "5 s"}
    given: dict[str, Any] = {} if taken.cell is None else {"cell": {**taken.cell, **radio}}
    return _scenario(taken, series=series, observed=flows, duration_s=taken.until_s, radio=radio, **given)


def _bursts(taken: Taken) -> dict[str, float]:
    """Bursts of attempts that leave the mean of the range lost: a packet is lost if all its attempts meet the burst."""
    stays = 1 - 1 / taken.burst
    # Share of attempts lost times the chance that the next ones are lost too.
    share = HIGHEST / 2 / stays ** (taken.residual_attempts - 1)
    return {"good_to_bad": share / (1 - share) / taken.burst, "bad_to_good": 1 / taken.burst}


def permanent(point: Point, *, taken: Taken = AS_STATED, series: str = "100 ms") -> Scenario:
    """§5.4: a `scheme` to UE_x alone; or to ten terminals, of which three are `degraded`. Sampled at each
    ``series``."""
    begin, end = PERMANENT_S
    degraded = DEGRADED[: point.get("degraded", 1)]
    members = [0] if len(degraded) == 1 else range(GROUP)
    steps = [[f"{begin:g} s", losing(SHARE, taken)], [f"{end:g} s", 0.0]]
    loss = {"loss": {"schedule": {"steps": steps, "attempts": taken.residual_attempts}}}
    return _scenario(
        taken,
        series=series,
        observed=[Flow(point["scheme"], members, name="observed0")],
        duration_s=end,
        node_bs={f"nb{ue}": loss for ue in degraded},
    )


def expulsion(point: Point, *, taken: Taken = AS_STATED) -> Scenario:
    """§6: a `scheme` to ten terminals, one of which is degraded from 50 s on, for `lasts`: good, or a spell. The group
    `expels`, or not."""
    begin = PERMANENT_S[0]
    steps = [[f"{begin:g} s", losing(SHARE, taken)]]
    if point["lasts"] == "spell":
        steps.append([f"{begin + SPELL_S:g} s", 0.0])
    loss = {"loss": {"schedule": {"steps": steps, "attempts": taken.residual_attempts}}}
    return _scenario(
        taken,
        series="1 s",
        observed=[Flow(point["scheme"], range(GROUP), name="observed0")],
        duration_s=EXPULSION_S,
        node_bs={"nb0": loss},
        group={"expulsion": {}} if point["expels"] else {},
    )


def indication(point: Point, *, duration_s: float) -> Scenario:
    """What the bit tells (§4) by its `rule`: ten terminals, 1 % lost before the tree, and a share by the `radio`.

    The source has a rate that the scheme allows at these losses, so that nothing is lost for want of room.
    """
    taken = replace(ALONE, indication=point["rule"], requests=False)
    steps = [["0 s", 0.01]]
    return _scenario(
        taken,
        series=f"{duration_s:g} s",
        observed=[Flow("mod_tfmcc", range(GROUP), name="observed0", source_kbps=TOLD_KBPS)],
        duration_s=duration_s,
        links={"internet": {"loss": {"schedule": {"steps": steps}}}},
        radio={"attempts": 1, "loss": {"bernoulli": {"p": point["radio"]}}, "rate": "2 Mbit/s"},
        record={"packets": True},
    )


def reports(point: Point, *, duration_s: float = 120.0) -> Scenario:
    """How many report (§5, scalability): a `scheme` to `ues`, all but one of which miss the same 1 % of its packets.

    The last one, behind an RNC of its own, misses 1 % more and so represents them: where all are equal the
    representative changes now and then, and what the former one has under way counts with the others' reports.
    """
    worse = NODE_BS - 1
    equal = [ue for ue in range(UES) if rnc(ue) != rnc(worse)][: point["ues"] - 1]
    loss = {"loss": {"bernoulli": {"p": 0.01}}}
    return _scenario(
        ALONE,
        series=f"{duration_s:g} s",
        observed=[Flow(point["scheme"], [*equal, worse], name="observed0")],
        duration_s=duration_s,
        links={"internet": loss, f"iu{rnc(worse)}": loss},
        radio={"rate": "2 Mbit/s"},
    )


def example() -> str:
    """The scenario of §5.4 with TFMCC, and all of Table I.

    With so many flows shorter samples would be more rows than a table may have.
    """
    return permanent({"scheme": "mod_tfmcc"}, series="1 s").text
