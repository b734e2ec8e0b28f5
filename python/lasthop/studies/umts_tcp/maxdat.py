"""§6.3.5, a small maxDAT on the common channels: its claims."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lasthop.stats import estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged, within
from lasthop.studies.umts_tcp import former
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.fach import BY_LOSS, FEW
from lasthop.studies.umts_tcp.nulls import another
from lasthop.studies.umts_tcp.readings import TRANSMISSIONS, readings_with
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import TABLE_6_2

__all__ = ["CLAIMS", "MORE"]

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


_CONCLUDED = "that maxDAT counts transmissions was first concluded from this"

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C14", "6.3.5",
        "TCP Vegas performance is a little bit higher … Vegas performance is then similar to Reno performance. … Sack, "
        "Newreno and Tahoe give a similar performance, but Sack achieved the best performance thanks to its Selective "
        "Acknowledgement mechanism. Newreno follows and is just a little bit better than Tahoe thanks to its Fast "
        "Recovery functionality. When the error rate is higher than 0.2, all the protocols achieved an almost null "
        "goodput.",
        "maxDAT 2: nearly nothing above 0.2; at 0.05–0.15 Sack, Newreno, Tahoe, then Reno and Vegas; at 0.01 Vegas "
        "slightly best", "order", "goodput of a user alone, at each error rate by itself",
        "< 3 kbit/s above 0.2; each order in pairs, at each error rate",
        "“almost null” is a tenth of the link; of the rest an order is claimed, no number", _few_transmissions,
        another("Reno in the place of all others: one cannot differ from itself", "maxDAT 2", "tcp",
                dict.fromkeys(("tahoe", "newreno", "vegas", "sack"), "reno")),
        Former("orders pooled over 0.05–0.15; Sack ≥ Newreno ≥ Tahoe unless more than chance speaks against it",
               "pooled, the least error rate decides alone", former.pooled_orders),
        see="figure-6.7", fitted=_CONCLUDED, fitted_at=readings_with(TRANSMISSIONS),
        cause="no cause was found; Vegas' missing header is worth 4 % of goodput, about as much as Tahoe is behind it",
    ),
    Claim(
        "C15", "6.3.5, 6.4",
        "However, this figure shows that above a certain value of maxDAT, Vegas is the only TCP version that achieves "
        "a different performance. TCP Vegas performance is better than the others since it keeps its CWND small … The "
        "simulations also show that an infinite maxDAT value is not needed in order to reach the maximum goodput when "
        "the user is alone.",
        "At an error rate of 0.05 goodput saturates in maxDAT; above, only Vegas differs", "saturates",
        "goodput of a user alone at maxDAT 4 and at the largest, in pairs",
        "from maxDAT 4 on ± 1 %; the others within 1 % of Reno, Vegas more than 1 % above",
        "what is not seen in the figure", _saturates,
        another("Reno in the place of Vegas: one cannot differ from itself", "maxDAT", "tcp", {"vegas": "reno"}),
        see="figure-6.8",
    ),
    Claim(
        "C16", "Table 6.2", "Average outstanding window and RTT for maxDAT = 2 (part 1)",
        "Windows and round-trip times of five versions at maxDAT 2", "20 numbers",
        "window: mean of samples; RTT: TCP's smoothed one, mean over time, since variables were traced when they "
        "changed (§5.5.2); FACK stands apart, as it had “some NS2 implementation problems” (§6.2)",
        "± 12 % at 0.01, ± 25 % at 0.1", "at 0.1 a window is two packets", _table,
        another("Reno in the place of Vegas: it does not look at the delay", "maxDAT 2", "tcp", {"vegas": "reno"}),
        Former("the same with the mean of RTT samples, and with FACK",
               "a mean of samples counts short round trips more often; §6.2 disowns FACK", former.table_of_samples),
        see="table-6.2", fitted=_CONCLUDED, fitted_at=readings_with(TRANSMISSIONS),
    ),
    Claim(
        "C17", "6.3.5",
        "The congestion problem will not be explained since a large inequity occurred between the connections when the "
        "second user begins to transmit.",
        "With a small maxDAT two users share very unevenly", "“large inequity”",
        "Jain's index of what two users have acknowledged in the second part", "< 0.9 at maxDAT 2, of each version",
        "one user has twice the other's", _unfair,
        Null("the shares at maxDAT 9000, where the thesis has both users alike", _endless),
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C45", "6.3.5",
        "Therefore, Reno, Newreno and Tahoe perform the same, as no congestion control is involved. Sack performs the "
        "same as these protocols.",
        "At maxDAT 2 and an error rate of 0.01 Reno, Newreno, Tahoe and Sack perform the same", "the same",
        "goodput of each beside the mean of the four, in pairs", "± 2 %", "the figure's resolution", _alike,
        another("Vegas in the place of Sack: it sends no header, and is 4 % better", "maxDAT 2", "tcp",
                {"sack": "vegas"}),
        see="figure-6.7",
    ),
]  # fmt: skip
