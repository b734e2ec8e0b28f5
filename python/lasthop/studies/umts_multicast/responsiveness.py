"""Responsiveness (§5.2): how fast senders follow steps of the loss rate and of the round-trip time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.umts_multicast.data import STEPS, Array, Data, outside
from lasthop.studies.umts_multicast.experiments import STEPS_S
from lasthop.studies.umts_multicast.paper import ADAPTATION_S

__all__ = ["CLAIMS", "adaptations"]

NAMES = {"tcp": "TCP", "pgmcc": "PGMCC", "tfmcc": "TFMCC"}


def adaptations(data: Data, protocol: str, step: str, *, at_ue: bool = False) -> Array:
    """The time that a protocol needs after a step, of each seed: the mean of both steps, of those that have one."""
    grid = data.grid(STEPS)
    name = "adaptation_at_ue" if at_ue else "adaptation"
    both = np.array([grid.at(f"{name}_{protocol}_{stage}", step=step) for stage in (1, 2)])
    there = ~np.isnan(both)
    with np.errstate(invalid="ignore"):
        made: Array = np.where(there, both, 0).sum(axis=0) / there.sum(axis=0)
    return made


def _order(data: Data, step: str) -> tuple[str, dict[str, Estimate]]:
    of = {protocol: adaptations(data, protocol, step) for protocol in NAMES}
    differences = {
        f"{NAMES[slow]} − {NAMES[fast]}": estimate(of[slow] - of[fast])
        for fast, slow in (("tcp", "pgmcc"), ("pgmcc", "tfmcc"))
    }
    return ", ".join(f"{NAMES[name]} {estimate(one)} s" for name, one in of.items()), differences


def _times(data: Data, step: str, protocols: tuple[str, ...]) -> tuple[str, dict[str, Estimate], list[str]]:
    values, wrong = {}, []
    for protocol in protocols:
        low, high = ADAPTATION_S[protocol]
        values[NAMES[protocol]] = estimate(adaptations(data, protocol, step))
        wrong += outside(NAMES[protocol], values[NAMES[protocol]], 0.4 * low, 2.5 * high, " s")
    return ", ".join(f"{name} {one} s" for name, one in values.items()), values, wrong


def _means(data: Data, step: str) -> tuple[str, dict[str, Estimate], list[str]]:
    grid = data.grid(STEPS)
    values, wrong, said = {}, [], []
    for protocol in ("tfmcc", "pgmcc"):
        each = []
        for stage in range(len(STEPS_S)):
            share = estimate(grid.at(f"kbps_{protocol}_{stage}", step=step) / grid.at(f"kbps_tcp_{stage}", step=step))
            values[f"{NAMES[protocol]}_{stage + 1}"] = share
            wrong += outside(f"{NAMES[protocol]}/TCP in stage {stage + 1}", share, 0.5, 2.0)
            each.append(str(share))
        said.append(f"{NAMES[protocol]}/TCP {', '.join(each)}")
    return "; ".join(said), values, wrong


def _fastest(data: Data) -> Judgement:
    ours, differences = _order(data, "loss")
    return order(ours, differences, [])


def _timely(*protocols: str) -> Callable[[Data], Judgement]:
    def judge(data: Data) -> Judgement:
        ours, values, wrong = _times(data, "loss", protocols)
        return verdict(wrong, ours, values)

    return judge


def _follow(data: Data) -> Judgement:
    ours, values, wrong = _means(data, "loss")
    return verdict(wrong, ours, values)


def _delays(data: Data) -> Judgement:
    ours, differences = _order(data, "delay")
    _, times, late = _times(data, "delay", tuple(NAMES))
    means, shares, apart = _means(data, "delay")
    return order(f"{ours}; {means}", differences, [*late, *apart], **times, **shares)


CLAIMS: list[Claim[Data]] = [
    Claim(
        "M7", "5.2", "After a step of the loss rate TCP adapts first, then PGMCC, and TFMCC last.", "TCP ≤ PGMCC ≤ "
        "TFMCC",
        "the order, in pairs", "the paper's intervals overlap, its sentences do not", _fastest, see="figure-4",
    ),
    Claim(
        "M8", "5.2", "PGMCC and TCP adapt at once.", "PGMCC 1.2–2.0 s, TCP 1.0–1.5 s",
        "from 0.4 of the lower end to 2.5 of the upper one",
        "the paper does not define adaptation; ours is within 20 % of the new mean for 1 s", _timely("pgmcc", "tcp"),
        see="table-adaptation",
    ),
    Claim(
        "M9", "5.2", "TFMCC is slower.", "1.5–2.5 s", "from 0.4 of the lower end to 2.5 of the upper one", "as M8",
        _timely("tfmcc"), see="table-adaptation",
    ),
    Claim(
        "M10", "5.2", "At all three loss levels the schemes' throughputs match TCP's.", "closely", "mean of each "
        "stage within a factor of 2",
        "RFC 4654's meaning of fair", _follow, see="figure-4",
    ),
    Claim(
        "M11", "5.2", "Steps of the round-trip time give similar results.", "similar", "as M7 to "
        "M10", "as there", _delays,
        see="table-adaptation",
    ),
]  # fmt: skip
