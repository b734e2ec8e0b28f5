"""§6.3.5, a small maxDAT on the common channels: its claims."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lasthop.stats import estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged, within
from lasthop.studies.nulls import another

from ..data import Data
from ..paper import TABLE_6_2
from ..scenario import TCP
from . import former
from .fach import BY_LOSS, FEW

#: The versions of chapter 6; FACK had “some NS2 implementation problems” (§6.2).
FIVE = (*BY_LOSS, "vegas")

#: Error rates between few losses and too many.
BETWEEN = (0.05, 0.1, 0.15)


def _few_transmissions(data: Data) -> Judgement:
    grid = data.grid("maxDAT 2")
    conditions: list[Condition] = []
    parts = []
    for bler in grid.axes["bler"]:
        if bler > 0.2:
            conditions += [below(f"{TCP[tcp]}'s goodput at {bler:g}", grid.mean("sent_kbps", tcp=tcp, bler=bler), 3,
                                 " kbit/s") for tcp in FIVE]  # fmt: skip
        elif bler in BETWEEN or bler == FEW:
            pairs = [("vegas", other) for other in BY_LOSS] if bler == FEW else [
                ("sack", "newreno"), ("newreno", "tahoe"), ("tahoe", "reno"), ("tahoe", "vegas"),
            ]  # fmt: skip
            conditions += [
                above(f"{TCP[one]} − {TCP[other]} at {bler:g}",
                      grid.difference("sent_kbps", {"tcp": one}, {"tcp": other}, bler=bler), unit=" kbit/s")
                for one, other in pairs
            ]  # fmt: skip
            means = sorted(((grid.mean("sent_kbps", tcp=tcp, bler=bler), tcp) for tcp in FIVE),
                           key=lambda one: -one[0].mean)  # fmt: skip
            parts.append(f"at {bler:g} " + ", ".join(f"{TCP[tcp]} {mean}" for mean, tcp in means))
    return judged("; ".join(parts) + " kbit/s", *conditions)


def _saturates(data: Data) -> Judgement:
    grid = data.grid("maxDAT")
    most = max(grid.axes["max_dat"])
    conditions = [
        alike(f"{TCP[tcp]}'s gain beyond maxDAT 4",
              grid.gain_pct("sent_kbps", {"max_dat": most}, {"max_dat": 4}, tcp=tcp), 1, " %") for tcp in FIVE
    ]  # fmt: skip
    apart = {tcp: grid.gain_pct("sent_kbps", {"tcp": tcp}, {"tcp": "reno"}, max_dat=most)
             for tcp in FIVE if tcp != "reno"}  # fmt: skip
    conditions += [
        above("Vegas over Reno", one, 1, " %") if tcp == "vegas" else alike(f"{TCP[tcp]} over Reno", one, 1, " %")
        for tcp, one in apart.items()
    ]
    shown = [m for m in grid.axes["max_dat"] if m in (2, 3, 4, most)]
    steps = ", ".join(f"{grid.mean('sent_kbps', tcp='reno', max_dat=m)} at {m}" for m in shown)
    others = ", ".join(f"{TCP[tcp]} {one} %" for tcp, one in apart.items())
    return judged(f"Reno {steps} kbit/s; at {most} against Reno: {others}", *conditions)


def _table(data: Data) -> Judgement:
    grid = data.grid("maxDAT 2")
    conditions, apart = [], {}
    for bler, band in ((0.01, 0.12), (0.1, 0.25)):
        for tcp, theirs in TABLE_6_2[bler].items():
            for name, quantity, unit, paper in zip(
                ("window", "RTT"), ("window_packets", "srtt_s"), ("", " s"), theirs, strict=True
            ):
                one = grid.mean(quantity, tcp=tcp, bler=bler)
                if tcp == "fack":
                    apart[f"fack_{name.lower()}_at_{bler:g}"] = one
                else:
                    conditions.append(within(f"{TCP[tcp]}'s {name} at {bler:g}", one, round(paper * (1 - band), 4),
                                             round(paper * (1 + band), 4), unit))  # fmt: skip
    near = sum(one.low <= one.value.mean <= one.high for one in conditions)
    fack = ", ".join(str(one) for one in apart.values())
    return judged(f"{near} of {len(conditions)} means within the bands; FACK beside them: {fack}", *conditions, **apart)


def _unfair(data: Data) -> Judgement:
    grid = data.grid("two users, small maxDAT")
    least = min(grid.axes["max_dat"])
    values = {tcp: grid.mean("both_jain", tcp=tcp, max_dat=least) for tcp in grid.axes["tcp"]}
    return judged(
        f"Jain's index at maxDAT {least}: " + ", ".join(f"{TCP[tcp]} {one}" for tcp, one in values.items()),
        *(below(f"Jain's index with {TCP[tcp]}", one, 0.9) for tcp, one in values.items()),
    )


def _endless(data: Data) -> Data:
    """The shares of two users at maxDAT 9000 in the place of those at a small one."""
    grid, versions = data.grid("two users, small maxDAT"), data.grid("versions")
    each = [versions.at("both_jain", tcp=tcp) for tcp in grid.axes["tcp"]]
    shares = np.stack([np.stack([one] * len(grid.axes["max_dat"])) for one in each])
    return data.with_grids({"two users, small maxDAT": replace(grid, values={**grid.values, "both_jain": shares})})


def _alike(data: Data) -> Judgement:
    grid = data.grid("maxDAT 2")
    middle = grid.at("sent_kbps", tcp=BY_LOSS, bler=FEW)
    apart = {tcp: estimate(100 * (grid.at("sent_kbps", tcp=tcp, bler=FEW) / middle - 1)) for tcp in BY_LOSS}
    return judged(
        ", ".join(f"{TCP[tcp]} {one} %" for tcp, one in apart.items()) + " of their mean",
        *(alike(f"{TCP[tcp]} beside the mean of four", one, 2, " %") for tcp, one in apart.items()),
    )


JUDGES: Judges[Data] = {
    "C14": Judge(
        _few_transmissions,
        null=another("maxDAT 2", "tcp", dict.fromkeys(("tahoe", "newreno", "vegas", "sack"), "reno")),
        former=former.pooled_orders,
    ),
    "C15": Judge(_saturates, null=another("maxDAT", "tcp", {"vegas": "reno"})),
    "C16": Judge(_table, null=another("maxDAT 2", "tcp", {"vegas": "reno"}), former=former.table_of_samples),
    "C17": Judge(_unfair, null=_endless),
    "C45": Judge(_alike, null=another("maxDAT 2", "tcp", {"sack": "vegas"})),
}
