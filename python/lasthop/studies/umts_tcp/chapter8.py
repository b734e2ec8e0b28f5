"""Chapter 8, web pages and hybrid inactivity timers: its claims, and how runs fare.

A dedicated channel that is idle is kept for the non-preemptive time, `np`, and for the preemptive time, `p`, after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import NOT_COMPARABLE, Claim, Judgement, NotRun, order, verdict
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import bends, falls, rises, spread_pct
from lasthop.studies.umts_tcp.chapter7 import VERSIONS, along, best_thresholds
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import HYBRID_RETRANSMISSIONS

__all__ = ["CLAIMS", "MORE"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The versions whose surfaces the thesis shows beside Sack's.
SHOWN = ("reno", "tahoe")


def _grid(data: Data) -> Numbers:
    return data.grid("chapter 8")


def _ends(grid: Numbers, axis: str) -> tuple[Any, Any]:
    values = grid.axes[axis]
    return values[0], values[-1]


def _threshold_spread(grid: Numbers, values: Sequence[int]) -> float:
    return max(spread_pct([grid.mean("goodput_kbps", tcp=tcp, threshold=t) for t in values]) for tcp in VERSIONS)


def _thresholds(data: Data) -> Judgement:
    grid = _grid(data)
    values = grid.axes["threshold"]
    spread = _threshold_spread(grid, values)
    outside = [] if spread <= 3 else [f"the spread is {spread:.2f} %"]

    def more(tcp: str | Sequence[str], one: int, other: int) -> Estimate:
        return grid.gain_pct("goodput_kbps", {"threshold": one}, {"threshold": other}, tcp=tcp)

    differences = {f"all, {t} − 1500 B (%)": more(VERSIONS, t, 1500) for t in values if t != 1500}
    for tcp in ("reno", "newreno"):
        differences |= {f"{TCP[tcp]}, 1000 − {t} B (%)": more(tcp, 1000, t) for t in values if t not in (1000, 1500)}
    small = [t for t in values if t < 1000]
    if small:
        differences[f"Sack, {small[0]} − 1000 B (%)"] = more("sack", small[0], 1000)
    return order(f"spread {spread:.2f} %; {best_thresholds(grid)}", differences, outside)


def _few_retransmissions(data: Data) -> Judgement:
    ours, before = _grid(data).mean("retransmissions"), data.grid("chapter 7").mean("retransmissions")
    outside = [] if ours.mean <= 0.25 else [f"{ours} per connection"]
    if not before.mean >= 8 * ours.mean:
        outside.append(f"{before.mean / ours.mean:.1f} times fewer than in chapter 7")
    values = {"retransmissions": ours, "retransmissions_chapter_7": before}
    return verdict(outside, f"{ours} per connection, {before} in chapter 7", values)


def _growing_retransmissions(data: Data) -> Judgement:
    grid = _grid(data)
    np_values, p_values = grid.axes["np"], grid.axes["p"]

    def over_np(value: Any) -> Array:
        return grid.at("retransmissions", np=value)

    differences, against = rises("retransmissions at NP", over_np, np_values, unit=" s")
    if len(np_values) > 2:
        differences |= bends("retransmissions over NP", over_np, np_values, up=True)
    more, also = rises("retransmissions at P", grid.over("retransmissions", "p"), p_values, unit=" s")
    ours = f"NP: {along(grid, 'retransmissions', 'np')} s; P: {along(grid, 'retransmissions', 'p')} s"
    return order(ours, differences | more, against + also)


def _allocations(data: Data) -> Judgement:
    grid = _grid(data)
    first = grid.axes["np"]
    differences, against = falls("allocations at NP", grid.over("allocations", "np"), first, unit=" s")
    more, also = falls("allocations at P", grid.over("allocations", "p"), grid.axes["p"], unit=" s")
    least, most = _ends(grid, "p")
    gains = {
        end: estimate(grid.at("allocations", np=end, p=least) - grid.at("allocations", np=end, p=most))
        for end in _ends(grid, "np")
    }
    ours = (
        f"NP: {along(grid, 'allocations', 'np')} s; P: {along(grid, 'allocations', 'p')} s; a longer P spares "
        + ", ".join(f"{one} at NP {end} s" for end, one in gains.items())
        + " (the thesis says in 8.3.2 that it spares more at a large NP, in 8.3.6 at a small one)"
    )
    return order(ours, differences | more, against + also)


def _timeout_share(data: Data) -> Judgement:
    grid = _grid(data)

    def share(**where: Any) -> Array:
        return grid.ratio("timeouts", "retransmissions", **where)

    differences, against = falls("share of timeouts at NP", lambda v: share(np=v), grid.axes["np"], unit=" s")
    more, also = falls("share of timeouts at P", lambda v: share(p=v), grid.axes["p"], unit=" s")
    ours = "NP: " + ", ".join(f"{estimate(share(np=v))} at {v}" for v in grid.axes["np"])
    ours += " s; P: " + ", ".join(f"{estimate(share(p=v))} at {v}" for v in grid.axes["p"]) + " s"
    return order(ours, differences | more, against + also)


def _surface(data: Data, threshold: int) -> tuple[Numbers, Any]:
    """The grid, and a function that gives goodput of each seed at this threshold."""
    grid = _grid(data)
    if not grid.has(threshold=threshold):
        raise NotRun(f"no runs with threshold {threshold}")

    def goodput(**where: Any) -> Array:
        return grid.at("goodput_kbps", threshold=threshold, **where)

    return grid, goodput


def _less(part: Array, whole: Array) -> Estimate:
    """By how many per cent ``part`` is less than ``whole``, in pairs."""
    return estimate(100 * (1 - part / whole))


def _hole(grid: Numbers, goodput: Any, tcp: str) -> Estimate:
    """By how many per cent goodput is less at the smallest NP with the largest P than with the smallest P."""
    first = grid.axes["np"][0]
    least, most = _ends(grid, "p")
    return _less(goodput(tcp=tcp, np=first, p=most), goodput(tcp=tcp, np=first, p=least))


def _fall(grid: Numbers, goodput: Any, tcp: str, **where: Any) -> Array:
    """By how many per cent goodput is less at the largest NP than at the smallest, of each seed."""
    first, last = _ends(grid, "np")
    made: Array = 100 * (1 - goodput(tcp=tcp, np=last, **where) / goodput(tcp=tcp, np=first, **where))
    return made


def _easy_to_allocate(data: Data) -> Judgement:
    grid, goodput = _surface(data, 750)
    differences: dict[str, Estimate] = {}
    against: list[str] = []
    parts = []
    for tcp in SHOWN:
        of = grid.over("goodput_kbps", "np", threshold=750, tcp=tcp)
        one, steps = falls(f"{TCP[tcp]} at NP", of, grid.axes["np"], unit=" s")
        differences |= one
        against += steps
        hole = _hole(grid, goodput, tcp)
        differences[f"{TCP[tcp]}: the hole (%)"] = hole
        parts.append(f"{TCP[tcp]} falls over NP by {estimate(_fall(grid, goodput, tcp))} %, hole {hole} %")
    apart = estimate(100 * (goodput(tcp="reno") / goodput(tcp="tahoe") - 1))
    if not abs(apart.mean) <= 1.5:
        against.append(f"Reno and Tahoe differ by {apart} %")
    return order(f"{'; '.join(parts)}; Reno over Tahoe {apart} %", differences, against)


def _no_hole(data: Data) -> Judgement:
    grid, goodput = _surface(data, 1000)
    least, most = _ends(grid, "p")
    differences, against, parts = {}, [], []
    for tcp in SHOWN:
        hole = _hole(grid, goodput, tcp)
        if hole.excludes(0) and hole.mean > 0:
            against.append(f"{TCP[tcp]} still has a hole of {hole} %")
        short, long = (_fall(grid, goodput, tcp, p=p) for p in (least, most))
        differences[f"{TCP[tcp]}: fall over NP at P {most} − at P {least} s (%)"] = estimate(long - short)
        parts.append(f"{TCP[tcp]} falls over NP by {estimate(short)} % at P {least} s, {estimate(long)} % at {most} s")
    return order("; ".join(parts), differences, against)


def _bowl(data: Data) -> Judgement:
    grid, goodput = _surface(data, 1500)
    sums = sorted({a + b for a in grid.axes["np"] for b in grid.axes["p"]})
    groups = {
        "small": [s for s in sums if s <= 6],
        "middle": [s for s in sums if 8 <= s <= 14],
        "large": [s for s in sums if s >= 18],
    }
    if not all(groups.values()):
        raise NotRun("no sums of timers in the middle")

    def of(tcp: str, group: str) -> Array:
        points = [(a, b) for a in grid.axes["np"] for b in grid.axes["p"] if a + b in groups[group]]
        made: Array = np.mean([goodput(tcp=tcp, np=a, p=b) for a, b in points], axis=0)
        return made

    differences = {
        f"{TCP[tcp]}: {end} − middle sums (%)": estimate(100 * (of(tcp, end) / of(tcp, "middle") - 1))
        for tcp in SHOWN
        for end in ("small", "large")
    }
    ours = "; ".join(
        f"{TCP[tcp]} {differences[f'{TCP[tcp]}: small − middle sums (%)']} % and "
        f"{differences[f'{TCP[tcp]}: large − middle sums (%)']} % above the middle"
        for tcp in SHOWN
    )
    return order(f"at small and large NP + P: {ours}", differences, [])


def _sack_easy(data: Data) -> Judgement:
    grid, goodput = _surface(data, 750)
    differences, against = falls("Sack at NP", lambda v: goodput(tcp="sack", np=v), grid.axes["np"], unit=" s")
    hole = _hole(grid, goodput, "sack")
    differences["Sack: the hole (%)"] = hole
    reno, sack = (_fall(grid, goodput, tcp) for tcp in ("reno", "sack"))
    differences["fall over NP, Reno − Sack (%)"] = estimate(reno - sack)
    ours = f"Sack falls over NP by {estimate(sack)} %, Reno by {estimate(reno)} %; hole {hole} %"
    return order(ours, differences, against)


def _unpredictable(data: Data) -> Judgement:
    grid, goodput = _surface(data, 1000)
    means = [float(goodput(tcp="sack", **point).mean()) for point in grid.points("np", "p")]
    return Judgement(
        NOT_COMPARABLE,
        f"{number(min(means))}–{number(max(means))} kbit/s over the timers",
        reason="“unpredictable” cannot be held against a run",
    )


def _sack_hard(data: Data) -> Judgement:
    grid, _ = _surface(data, 1500)
    differences: dict[str, Estimate] = {}
    against: list[str] = []
    for value in grid.axes["np"]:
        of = grid.over("goodput_kbps", "p", threshold=1500, tcp="sack", np=value)
        one, steps = rises(f"NP {value} s: goodput at P", of, grid.axes["p"], unit=" s")
        differences |= one
        against += steps
    ours = "gains " + ", ".join(
        f"{one} at NP {value} s" for value, one in zip(grid.axes["np"], differences.values(), strict=True)
    )
    return order(ours + " (kbit/s, from the shortest P to the longest)", differences, against)


def _spared(data: Data) -> Judgement:
    grid = _grid(data)
    least, most = _ends(grid, "p")
    first, last = _ends(grid, "np")

    def of(**where: Any) -> Array:
        return grid.at("allocations", threshold=1500, **where)

    differences, against = falls("allocations at P", lambda v: of(p=v), grid.axes["p"], unit=" s")
    spared = {end: of(np=end, p=least) - of(np=end, p=most) for end in (first, last)}
    differences[f"spared at NP {first} − at NP {last} s"] = estimate(spared[first] - spared[last])
    ours = ", ".join(f"{estimate(one)} spared at NP {end} s" for end, one in spared.items())
    return order(ours, differences, against)


def _best(data: Data) -> Judgement:
    grid, goodput = _surface(data, 750)
    best = max(grid.points("np", "p"), key=lambda point: goodput(**point).mean())
    top = goodput(**best)
    outside, values = [], {}
    for a in (0, 2):
        for b in (4, 8):
            if not grid.has(np=a, p=b):
                continue
            short = estimate(100 * (goodput(np=a, p=b) / top - 1))
            values[f"np_{a}_p_{b}_pct"] = short
            if not short.mean >= -1:
                outside.append(f"NP {a}, P {b} s is {short} %")
    if not values:
        raise NotRun("no runs at NP 0–2 s and P 4–8 s")
    return verdict(
        outside, f"best at NP {best['np']}, P {best['p']} s; there {', '.join(map(str, values.values()))} %", values
    )


def _smaller_spread(data: Data) -> Judgement:
    common = [500, 1000, 1500]
    both = [t for t in common if t in _grid(data).axes["threshold"] and t in data.grid("chapter 7").axes["threshold"]]
    if len(both) < 2:
        raise NotRun("the chapters share no thresholds")
    hybrid, single = (_threshold_spread(grid, both) for grid in (_grid(data), data.grid("chapter 7")))
    outside = [] if hybrid < single else ["it does not become smaller"]
    values = {
        name: Estimate(one, float("nan"), 1) for name, one in (("chapter_8_pct", hybrid), ("chapter_7_pct", single))
    }
    return verdict(outside, f"{single:.2f} % → {hybrid:.2f} %", values)


def _range(grid: Numbers, threshold: int) -> float:
    means = [grid.mean("goodput_kbps", threshold=threshold, **point) for point in grid.points("np", "p")]
    return spread_pct(means)


def _sensitive(data: Data) -> Judgement:
    grid = _grid(data)
    if not grid.has(threshold=[750, 1500]):
        raise NotRun("no runs at 750 or 1500 B")
    small, large = _range(grid, 750), _range(grid, 1500)
    outside = [] if large >= 1.5 * small else [f"only {large / small:.2f} times"]
    values = {
        name: Estimate(one, float("nan"), 1) for name, one in (("range_750_pct", small), ("range_1500_pct", large))
    }
    return verdict(
        outside, f"goodput differs over the timers by {large:.2f} % at 1500 B, {small:.2f} % at 750 B", values
    )


def _alike(data: Data) -> Judgement:
    _, goodput = _surface(data, 750)
    apart = {tcp: estimate(100 * (goodput(tcp=tcp) / goodput() - 1)) for tcp in VERSIONS}
    outside = [f"{TCP[tcp]} {one} %" for tcp, one in apart.items() if not abs(one.mean) <= 1.5]
    return verdict(outside, ", ".join(f"{TCP[tcp]} {one} %" for tcp, one in apart.items()) + " of the mean", apart)


def _gains(data: Data) -> Judgement:
    hybrid, single = _grid(data), data.grid("chapter 7")
    most = max(single.axes["max_dat"])
    if hybrid.seeds != single.seeds:
        raise NotRun("the chapters have other seeds")

    def gain(tcp: str, threshold: int) -> Array:
        one = hybrid.at("goodput_kbps", tcp=tcp, threshold=threshold)
        made: Array = 100 * (one / single.at("goodput_kbps", tcp=tcp, threshold=threshold, max_dat=most) - 1)
        return made

    thresholds = [t for t in (500, 1000, 1500) if hybrid.has(threshold=t) and single.has(threshold=t)]
    differences = {f"Sack − Reno at {t} B (%)": estimate(gain("sack", t) - gain("reno", t)) for t in thresholds}
    low, high = thresholds[0], thresholds[-1]
    differences[f"Sack at {high} − at {low} B (%)"] = estimate(gain("sack", high) - gain("sack", low))
    ours = "; ".join(
        f"{TCP[tcp]} " + ", ".join(f"{estimate(gain(tcp, t))} % at {t} B" for t in thresholds)
        for tcp in ("sack", "reno")
    )
    return order(f"over chapter 7 (maxDAT {most}): {ours}", differences, [])


def _periods(data: Data) -> Judgement:
    if data.download is None or data.sharing is None:
        raise NotRun("the runs of Figs. 5.1 and 5.2 were not made")
    download, sharing = data.download, data.sharing
    outside = []
    if not download.in_order:
        outside.append(f"the periods are {', '.join(one.name for one in download.periods)}")
    if not sharing.refusals:
        outside.append("nobody is refused")
    if late := [time for time in sharing.refusals if sharing.may_be_taken(time)]:
        outside.append(f"a refusal at {late[0]:.1f} s comes when the other's channel could be taken")
    ours = "; ".join(f"{one.name} {one.begin_s:.2f}–{one.end_s:.2f} s" for one in download.periods)
    ours += f". Two terminals: {len(sharing.refusals)} refusals, {sharing.preemptions} preemptions"
    return verdict(outside, ours, {})


SIGN = "the order is claimed, no number"

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C32", "8.3.1", "Over the threshold goodput differs by 1 % at most; 1500 B is worst; Reno and Newreno are "
        "best at 1000 B, "
        "Sack at a small one", "1 %; order", "≤ 3 %; sign, paired", "as C27", _thresholds, see="figure-8.2",
    ),
    Claim(
        "C33", "8.3.2", "There are far fewer retransmissions than in chapter 7", f"{HYBRID_RETRANSMISSIONS} instead "
        "of 1.76",
        "≤ 0.25 for each connection, and ≥ 8 times fewer", "a third of the thesis' ratio of 23", _few_retransmissions,
        see="figure-8.3",
    ),
    Claim(
        "C34", "8.3.2", "Retransmissions grow “exponentially” with the non-preemptive timer, and a little with the "
        "preemptive one",
        "convex; grows", "sign, paired; last step > first", SIGN, _growing_retransmissions, see="figure-8.3",
    ),
    Claim(
        "C35", "8.3.2", "There are fewer allocations with both timers", "falls", "sign, paired",
        "where the preemptive timer spares most is said in two ways, and only reported", _allocations, see="figure-8.4",
    ),
    Claim(
        "C36", "8.3.2", "The share of timeouts falls fast with the non-preemptive timer, and a little with the "
        "preemptive one",
        "falls", "sign, paired", SIGN, _timeout_share, see="figure-8.5",
    ),
    Claim(
        "C37", "8.3.3", "750 B: goodput falls with the non-preemptive timer; it has a hole where that is small and "
        "the preemptive "
        "one large; Reno is like Tahoe", "trends", "sign, paired; Reno ± 1.5 % of Tahoe", SIGN, _easy_to_allocate,
        see="figure-8.6",
    ),
    Claim(
        "C38", "8.3.4", "1000 B: the hole is gone; goodput falls with the non-preemptive timer, most where the "
        "preemptive one is "
        "large", "trends", "no hole; larger fall at the largest P, paired", SIGN, _no_hole, see="figure-8.8",
    ),
    Claim(
        "C39", "8.3.5", "1500 B: goodput falls with the sum of the timers, then grows", "a bowl",
        "both ends above the middle, paired", "“no more real trend”", _bowl, see="figure-8.10",
    ),
    Claim(
        "C40", "8.3.6", "Sack at 750 B: as C37, but the non-preemptive timer has less effect", "trends",
        "sign, paired", SIGN,
        _sack_easy, see="figure-8.12",
    ),
    Claim(
        "C41", "8.3.6", "Sack at 1000 B is “unpredictable”", "–", "none", "nothing to hold against", _unpredictable,
        see="figure-8.13",
    ),
    Claim(
        "C42", "8.3.6", "Sack at 1500 B: goodput grows with the preemptive timer, at every non-preemptive one", "grows",
        "sign, paired, at each", SIGN, _sack_hard, see="figure-8.14",
    ),
    Claim(
        "C43", "8.3.6", "1500 B: allocations fall with the preemptive timer, less and less at larger non-preemptive "
        "ones", "falls",
        "sign, paired", SIGN, _spared, see="figure-8.15",
    ),
    Claim(
        "C44", "8.4", "750 B: good values are 0 or 2 s, and 4 or 8 s", "the best", "within 1 % of the best point",
        "the thesis' own spread over thresholds", _best, see="figure-8.6",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C52", "8.3.1", "The spread over thresholds becomes smaller than in chapter 7", "1.8 % → 1 %", "chapter 8 < "
        "chapter 7",
        SIGN, _smaller_spread, see="figure-8.2",
    ),
    Claim(
        "C53", "8.4", "With 1500 B goodput is a lot more sensitive to the timers than with 750 B", "a lot",
        "range over the grid "
        "≥ 1.5 times", "“a lot” is half as much again", _sensitive, see="figure-8.10",
    ),
    Claim(
        "C54", "8.4", "At 750 B the versions are close to each other", "close", "± 1.5 % of their mean", "the thesis' "
        "effects of 1 %",
        _alike, see="figure-8.2",
    ),
    Claim(
        "C55", "8.4", "Sack gains most from hybrid timers, and most with a large threshold", "Sack most", "gain over "
        "Reno's, paired; "
        "largest at the largest threshold", SIGN, _gains, see="figure-8.2",
    ),
    Claim(
        "C56", "5.2", "A download goes through four periods; a request is refused while the other's timer is "
        "non-preemptive",
        "Figs. 5.1, 5.2", "four periods in order; every refusal in the non-preemptive time", "the figures' own text",
        _periods,
        see="figure-5.1",
    ),
]  # fmt: skip
