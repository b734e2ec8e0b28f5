"""§8.3.1, 8.3.2 and 8.4, hybrid timers: claims of thresholds, retransmissions, allocations.

A dedicated channel that is idle is kept for the non-preemptive time, `np`, and for the preemptive time, `p`, after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lasthop.stats import estimate
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Judgement, above, alike, below, fact, judged
from lasthop.studies.grid import Array, Numbers
from lasthop.studies.nulls import level
from lasthop.studies.trends import bends, falls, rises, spread_pct

from ..data import Data, along, best_thresholds, gain, more_pct, shared, spreads
from ..paper import VERSIONS
from ..scenario import TCP
from . import former
from .goodput import seen

BOTH_CHAPTERS = ("chapter 7", "chapter 8")


def _grid(data: Data) -> Numbers:
    return data.grid("chapter 8")


def _thresholds(data: Data) -> Judgement:
    grid = _grid(data)
    values = grid.axes["threshold"]
    each = spreads(grid, values)
    conditions = [below(f"{TCP[tcp]}'s spread over thresholds", one, 3, " %") for tcp, one in each.items()]
    conditions += [seen(f"all, {t} over 1500 B", more_pct(grid, {"threshold": t}, {"threshold": 1500}))
                   for t in values if t != 1500]  # fmt: skip
    for tcp in ("reno", "newreno"):
        conditions += [
            seen(f"{TCP[tcp]}, 1000 over {t} B", more_pct(grid, {"threshold": 1000}, {"threshold": t}, tcp=tcp))
            for t in values if t not in (1000, 1500)
        ]  # fmt: skip
    if values[0] < 1000:
        conditions.append(seen(f"Sack, {values[0]} over 1000 B",
                               more_pct(grid, {"threshold": values[0]}, {"threshold": 1000}, tcp="sack")))  # fmt: skip
    said = ", ".join(f"{TCP[tcp]} {one} %" for tcp, one in each.items())
    return judged(f"spread {said}; {best_thresholds(grid)}", *conditions)


def _few_retransmissions(data: Data) -> Judgement:
    grid = _grid(data)
    ours, before = grid.mean("retransmissions"), data.grid("chapter 7").mean("retransmissions")
    fewer = estimate(data.grid("chapter 7").at("retransmissions") / grid.at("retransmissions"))
    where = {"np": grid.axes["np"][0], "p": grid.axes["p"][0]}
    least = grid.mean("retransmissions", **where)
    return judged(
        f"{ours} per connection, {before} in chapter 7; at NP {where['np']} and P {where['p']} s {least}",
        below("retransmissions per connection, all timers", ours, 0.25),
        above("those of chapter 7 over these", fewer, 8),
        at_the_shortest_timers=least,
    )


def _one_second(data: Data) -> str:
    grid = _grid(data)
    p = grid.axes["p"]
    short, long = (grid.mean("retransmissions", p=end) for end in (p[0], p[-1]))
    taken = grid.mean("preemptions", p=p[-1])
    return (
        f"{short} retransmissions at P {p[0]} s and {long} at {p[-1]} s: with a long P the cell is full of channels "
        f"that can be taken, {taken} are taken per connection, and an allocation takes 1 s, beside a minimum RTO of 1 s"
    )


def _growing_retransmissions(data: Data) -> Judgement:
    grid = _grid(data)
    np_values, p_values = grid.axes["np"], grid.axes["p"]
    over_np, over_p = grid.over("retransmissions", "np"), grid.over("retransmissions", "p")
    if len(np_values) < 3:
        raise NotRun("two values of NP do not show whether retransmissions bend")
    conditions = rises("retransmissions over NP", over_np, np_values)
    conditions.append(bends("retransmissions over NP", over_np, np_values, up=True))
    conditions += rises("retransmissions over P", over_p, p_values)
    return judged(f"NP: {along(grid, 'retransmissions', 'np')} s; P: {along(grid, 'retransmissions', 'p')} s",
                  *conditions)  # fmt: skip


def _allocations(data: Data) -> Judgement:
    grid = _grid(data)
    conditions = falls("allocations over NP", grid.over("allocations", "np"), grid.axes["np"])
    conditions += falls("allocations over P", grid.over("allocations", "p"), grid.axes["p"])
    p = grid.axes["p"]
    gains = {end: estimate(grid.at("allocations", np=end, p=p[0]) - grid.at("allocations", np=end, p=p[-1]))
             for end in (grid.axes["np"][0], grid.axes["np"][-1])}  # fmt: skip
    ours = (
        f"NP: {along(grid, 'allocations', 'np')} s; P: {along(grid, 'allocations', 'p')} s; a longer P spares "
        + ", ".join(f"{one} at NP {end} s" for end, one in gains.items())
        + " (the thesis says in 8.3.2 that it spares more at a large NP, in 8.3.6 at a small one)"
    )
    return judged(ours, *conditions)


def _timeout_share(data: Data) -> Judgement:
    grid = _grid(data)

    def share(**where: Any) -> Array:
        return grid.ratio("timeouts", "retransmissions", **where)

    values = grid.axes["np"]
    conditions = falls("share of timeouts over NP", lambda v: share(np=v), values)
    less = estimate(1 - share(np=values[-1]) / share(np=values[0]))
    conditions.append(above("by what share of itself it falls over NP", less, 0.25))
    conditions += falls("share of timeouts over P", lambda v: share(p=v), grid.axes["p"])
    ours = "NP: " + ", ".join(f"{estimate(share(np=v))} at {v}" for v in values)
    ours += " s; P: " + ", ".join(f"{estimate(share(p=v))} at {v}" for v in grid.axes["p"]) + " s"
    return judged(ours, *conditions)


def _spurious(data: Data) -> str:
    grid = _grid(data)
    ends = (grid.axes["np"][0], grid.axes["np"][-1])
    shares = ", ".join(f"{grid.mean('spurious_share', np=end)} at NP {end} s" for end in ends)
    return (
        f"by ground truth these shares of the timeouts are spurious: {shares}. They follow the set-up of channels at "
        "any timers; drops on the common channels, which would be told by duplicate ACKs, are few"
    )


def _smaller_spread(data: Data) -> Judgement:
    single = data.grid("chapter 7")
    both = shared(data)
    most = max(single.axes["max_dat"])
    before = {
        tcp: [single.at("goodput_kbps", tcp=tcp, threshold=t, max_dat=most) for t in both] for tcp in VERSIONS
    }  # fmt: skip
    after = {tcp: [_grid(data).at("goodput_kbps", tcp=tcp, threshold=t) for t in both] for tcp in VERSIONS}
    one, other = (_largest_spread(of) for of in (before, after))
    return judged(
        f"{estimate(one)} % at maxDAT {most} → {estimate(other)} %",
        above("largest spread of chapter 7 at its largest maxDAT − of chapter 8", estimate(one - other), unit=" %"),
    )


def _largest_spread(of: dict[str, list[Array]]) -> Array:
    return max((spread_pct(one) for one in of.values()), key=lambda one: float(one.mean()))


def _alike(data: Data) -> Judgement:
    grid = _grid(data)
    middle = grid.at("goodput_kbps", threshold=750)
    apart = {tcp: estimate(100 * (grid.at("goodput_kbps", threshold=750, tcp=tcp) / middle - 1)) for tcp in VERSIONS}
    return judged(
        ", ".join(f"{TCP[tcp]} {one} %" for tcp, one in apart.items()) + " of the mean",
        *(alike(f"{TCP[tcp]} beside the mean of four", one, 1.5, " %") for tcp, one in apart.items()),
    )


def _lossy_sack(data: Data) -> Data:
    """Sack as it is at 1500 B and maxDAT 2 in chapter 7."""
    grid = _grid(data)
    values = grid.values["goodput_kbps"].copy()
    place = grid.axes["tcp"].index("sack")
    values[place] = data.grid("chapter 7").at("goodput_kbps", tcp="sack", threshold=1500, max_dat=2, timer=2)
    return data.with_grids({"chapter 8": replace(grid, values={**grid.values, "goodput_kbps": values})})


def _gains(data: Data) -> Judgement:
    thresholds = shared(data)
    low, high = thresholds[0], thresholds[-1]
    conditions = [seen(f"Sack's gain at {t} B", estimate(gain(data, "sack", t))) for t in thresholds]
    conditions += [seen(f"Sack's gain − Reno's at {t} B", estimate(gain(data, "sack", t) - gain(data, "reno", t)))
                   for t in thresholds]  # fmt: skip
    conditions.append(seen(f"Sack's gain at {high} − at {low} B",
                           estimate(gain(data, "sack", high) - gain(data, "sack", low))))  # fmt: skip
    ours = "; ".join(
        f"{TCP[tcp]} " + ", ".join(f"{estimate(gain(data, tcp, t))} % at {t} B" for t in thresholds)
        for tcp in ("sack", "reno")
    )
    return judged(f"over chapter 7: {ours}", *conditions)


def _two_renos(data: Data) -> Data:
    return data.with_grids({name: data.grid(name).replaced("tcp", {"sack": "reno"}) for name in BOTH_CHAPTERS})


def _periods(data: Data) -> Judgement:
    if data.download is None or data.sharing is None:
        raise NotRun("the runs of Figs. 5.1 and 5.2 were not made")
    download, sharing = data.download, data.sharing
    ours = "; ".join(f"{one.name} {one.begin_s:.2f}–{one.end_s:.2f} s" for one in download.periods)
    return judged(
        f"{ours}. Two terminals: {len(sharing.refusals)} refusals, {sharing.preemptions} preemptions",
        fact("the four periods come in their order", download.in_order),
        fact("somebody is refused", bool(sharing.refusals)),
        fact("whoever is refused could not take the other's channel", not any(map(sharing.may_be_taken,
                                                                                  sharing.refusals))),
    )  # fmt: skip


def _room_for_both(data: Data) -> Data:
    return replace(data, sharing=data.sharing and replace(data.sharing, refused=[]))


def _one_timer(data: Data) -> Data:
    """What chapter 7 gave at its largest maxDAT in the place of chapter 8, whatever the timers."""
    single, hybrid = data.grid("chapter 7"), data.grid("chapter 8")
    most = max(single.axes["max_dat"])
    values = dict(hybrid.values)
    for quantity in {"goodput_kbps", "retransmissions"} & values.keys():
        values[quantity] = values[quantity].copy()
        for i, tcp in enumerate(hybrid.axes["tcp"]):
            for j, threshold in enumerate(hybrid.axes["threshold"]):
                where = {"threshold": threshold} if single.has(threshold=threshold) else {}
                values[quantity][i, j] = np.roll(single.at(quantity, tcp=tcp, max_dat=most, **where), 1)
    return data.with_grids({"chapter 8": replace(hybrid, values=values)})


JUDGES: Judges[Data] = {
    "C32": Judge(_thresholds, null=level("chapter 8", "threshold"), former=former.hybrid_thresholds),
    "C33": Judge(_few_retransmissions, null=_one_timer, cause=_one_second),
    "C34": Judge(
        _growing_retransmissions,
        null=level("chapter 8", "np"),
        former=former.steps(_growing_retransmissions),
        cause=_one_second,
    ),
    "C35": Judge(_allocations, null=level("chapter 8", "np"), former=former.steps(_allocations)),
    "C36": Judge(_timeout_share, null=level("chapter 8", "np"), former=former.hybrid_timeouts, cause=_spurious),
    "C52": Judge(_smaller_spread, null=_one_timer, former=former.smaller_spread),
    "C54": Judge(_alike, null=_lossy_sack),
    "C55": Judge(_gains, null=_two_renos, former=former.gains),
    "C56": Judge(_periods, null=_room_for_both),
}
