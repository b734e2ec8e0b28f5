"""§8.3.1, 8.3.2 and 8.4, hybrid timers: claims of thresholds, retransmissions, allocations.

A dedicated channel that is idle is kept for the non-preemptive time, `np`, and for the preemptive time, `p`, after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lasthop.stats import estimate
from lasthop.studies.claims import Claim, Former, NotRun, Null
from lasthop.studies.conditions import Judgement, above, alike, below, fact, judged
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import bends, falls, rises, spread_pct
from lasthop.studies.umts_tcp import former
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.goodput import seen
from lasthop.studies.umts_tcp.measures import along, best_thresholds, gain, more_pct, shared, spreads
from lasthop.studies.umts_tcp.nulls import level, one_timer
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import HYBRID_RETRANSMISSIONS, VERSIONS, VISIBLE_PCT

__all__ = ["CLAIMS", "MORE"]

Array = np.ndarray[Any, np.dtype[np.float64]]

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


_READ = f"a difference of less than {VISIBLE_PCT} % is less than the last digit of 63.1 kbit/s"
_ONE_TIMER = Null("chapter 7 in the place of chapter 8: no hybrid timers", one_timer)

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C32", "8.3.1",
        "This difference is not really big, and becomes even smaller (1%) in the last set of simulations. As seen "
        "before, the largest threshold achieves the worst performance … Reno and Newreno achieves the best performance "
        "for a 1,000 Bytes threshold and Sack seems to give the best goodput for a small threshold value",
        "Over the threshold goodput differs by 1 % at most; 1500 B is worst; Reno and Newreno are best at 1000 B, Sack "
        "at a small one", "1 %; order", "as C27, over all thresholds of chapter 8",
        f"each spread < 3 %; orders by {VISIBLE_PCT} % at least", f"three times the thesis' spread; {_READ}",
        _thresholds, level("chapter 8", "threshold", "threshold"),
        Former("the signs of the orders", "orders of a hundredth of a per cent stayed open for ever",
               former.hybrid_thresholds), see="figure-8.2",
        cause="packets have 576 or 1500 B, so 1000 B and 1250 B are nearly one trigger: a full packet passes both",
    ),
    Claim(
        "C33", "8.3.2",
        "The first interesting finding to notice is that the number of retransmissions and of RTO is a lot smaller "
        "than for the similar simulations of Chapter 7 (0.077 instead of 1.76 in Table 7.3).",
        "There are far fewer retransmissions than in chapter 7", f"{HYBRID_RETRANSMISSIONS} instead of 1.76",
        "retransmissions per connection, all timers and versions; those of the shortest timers beside them",
        "≤ 0.25, and ≥ 8 times fewer", "a third of the thesis' ratio of 23", _few_retransmissions, _ONE_TIMER,
        see="figure-8.3", cause=_one_second,
    ),
    Claim(
        "C34", "8.3.2",
        "The main conclusion we can draw from this figure is that the number of retransmissions increase exponentially "
        "with the non-preemptive inactivity timer. … The number of retransmissions increases a little bit and the "
        "proportion of RTO decreases with the preemptive inactivity timer.",
        "Retransmissions grow “exponentially” with the non-preemptive timer, and a little with the preemptive one",
        "convex; grows", "retransmissions per connection, in pairs", "both rise; over NP the last step > the first",
        "the order is claimed, no number", _growing_retransmissions, level("chapter 8", "np", "non-preemptive timer"),
        former=former.steps(_growing_retransmissions),
        see="figure-8.3", cause=_one_second,
    ),
    Claim(
        "C35", "8.3.2",
        "Figure 8.4 helps to confirm that there are less DCH allocations if the non-preemptive timer is high. However, "
        "the same trend can be observed about the preemptive timer",
        "There are fewer allocations with both timers", "falls", "allocations per connection, in pairs", "both fall",
        "where the preemptive timer spares most is said in two ways, and only reported", _allocations,
        level("chapter 8", "np", "non-preemptive timer"),
        former=former.steps(_allocations),
        see="figure-8.4",
    ),
    Claim(
        "C36", "8.3.2",
        "Following this figure, the proportion of retransmissions due to a RTO is decreasing very fast when the "
        "non-preemptive inactivity timer increases. … The number of retransmissions increases a little bit and the "
        "proportion of RTO decreases with the preemptive inactivity timer.",
        "The share of timeouts falls very fast with the non-preemptive timer, and a little with the preemptive one",
        "falls very fast", "timeouts over retransmissions, in pairs", "both fall; over NP by a quarter of it at least",
        "less than a quarter over the whole range is not “very fast”", _timeout_share,
        level("chapter 8", "np", "non-preemptive timer"),
        Former("the signs alone", "the thesis says “very fast”", former.hybrid_timeouts), see="figure-8.5",
        cause=_spurious,
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C52", "8.3.1",
        "In these past results, the maximum goodput difference following the threshold is 1.8% in Section 7.3.4 and "
        "1.5% in Appendix A. This difference is not really big, and becomes even smaller (1%) in the last set of "
        "simulations.",
        "The spread over thresholds becomes smaller than in chapter 7", "1.8 % → 1 %",
        "largest spread of a version's goodput over the shared thresholds; chapter 7 at its largest maxDAT, since "
        "chapter 8 has 10: so only the timers differ", "chapter 8 < chapter 7", "the order is claimed",
        _smaller_spread, _ONE_TIMER,
        Former("chapter 7 over all maxDAT", "its spread is that of maxDAT 2 at 1500 B, which chapter 8 does not have",
               former.smaller_spread), see="figure-8.2",
    ),
    Claim(
        "C54", "8.4",
        "The different TCP versions' behaviors are close to each other because with a small upswitch threshold, even "
        "Sack can easily trigger a switch to a DCH.",
        "At 750 B the versions are close to each other", "close", "goodput beside the mean of the versions, in pairs",
        "± 1.5 %", "the thesis' effects of 1 %", _alike,
        Null("Sack as it is at 1500 B and maxDAT 2 in chapter 7, where packets are lost", _lossy_sack),
        see="figure-8.2",
    ),
    Claim(
        "C55", "8.4",
        "In general, Sack performed better with the hybrid inactivity timer approach than with the single "
        "non-preemptive inactivity timer, especially in case the upswitch threshold is large.",
        "Sack gains most from hybrid timers, and most with a large threshold", "Sack most",
        "goodput over that of chapter 7 at its largest maxDAT, in pairs; beside Reno's gain, since chapter 8 also has "
        "a shorter allocation",
        f"gains, the difference from Reno's and the growth by {VISIBLE_PCT} % at least", _READ, _gains,
        Null("Reno in the place of Sack, in both chapters: one cannot differ from itself", _two_renos),
        Former("the signs of the differences", "equal to a thousandth, they stayed open for ever", former.gains),
        see="figure-8.2",
        cause="Sack asks for dedicated channels as often as Reno does (C49), so it has nothing to make up for",
    ),
    Claim(
        "C56", "5.2",
        "The transfer is divided in 4 periods: … However, around 150s the green connection tries to use a DCH without "
        "success since the blue UE is in its non-preemptive period.",
        "A download goes through four periods; a request is refused while the other's timer is non-preemptive",
        "Figs. 5.1, 5.2", "samples of one download, and of two terminals that share a channel",
        "four periods in order; every refusal while the other's channel cannot be taken", "the figures' own text",
        _periods, Null("room for both: nobody is refused", _room_for_both), see="figure-5.1",
    ),
]  # fmt: skip
