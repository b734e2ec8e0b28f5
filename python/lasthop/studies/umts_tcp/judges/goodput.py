"""§7.3.4 and 7.4, web pages and one inactivity timer: claims of goodput."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged, within
from lasthop.studies.grid import Numbers
from lasthop.studies.nulls import another, changed, filled, level, mirrored, replaced
from lasthop.studies.trends import falls, peaks, rises, spread_pct

from ..data import Data, along, best_thresholds, corner, more_pct, spreads
from ..paper import OPTIMAL, OPTIMUM, VERSIONS, VISIBLE_PCT
from ..scenario import TCP
from . import former


def seen(what: str, gain_pct: Estimate) -> Condition:
    """That a difference in goodput is one that could be read in the thesis."""
    return above(what, gain_pct, VISIBLE_PCT, " %")


def _goodput_over_max_dat(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]

    def more(one: str, other: str, m: object) -> Estimate:
        return more_pct(grid, {"tcp": one}, {"tcp": other}, max_dat=m)

    conditions = rises("goodput over maxDAT", grid.over("goodput_kbps", "max_dat"), values, unit=" kbit/s")
    conditions += [alike(f"{TCP[tcp]} over Tahoe at maxDAT 2", more(tcp, "tahoe", 2), 1, " %") for tcp in VERSIONS[1:]]
    conditions += [seen(f"{TCP[one]} over {TCP[other]} at maxDAT 3", more(one, other, 3))
                   for one, other in (("reno", "tahoe"), ("newreno", "tahoe"), ("tahoe", "sack"))]  # fmt: skip
    many = [m for m in values if m >= 4]
    conditions += [seen(f"Tahoe over {TCP[other]} from maxDAT 4 on", more("tahoe", other, many))
                   for other in VERSIONS[1:]]  # fmt: skip
    apart = {m: spread_pct([grid.at("goodput_kbps", tcp=tcp, max_dat=m) for tcp in VERSIONS]) for m in values}
    converge = estimate(apart[3] - apart[values[-1]])
    conditions.append(above("spread of versions at maxDAT 3 − at the largest", converge, unit=" %"))
    said = ", ".join(f"{estimate(one)} % at {m}" for m, one in apart.items())
    return judged(f"{along(grid, 'goodput_kbps', 'max_dat')} kbit/s; versions differ by {said}", *conditions)


def _thresholds(data: Data) -> Judgement:
    grid = data.grid("chapter 7")

    def more(tcp: str | Sequence[str], one: int, other: int) -> Estimate:
        return more_pct(grid, {"threshold": one}, {"threshold": other}, tcp=tcp)

    each = spreads(grid, (500, 1000, 1500))
    conditions = [below(f"{TCP[tcp]}'s spread over thresholds", one, 4, " %") for tcp, one in each.items()]
    conditions += [
        seen("all, 500 over 1500 B", more(VERSIONS, 500, 1500)),
        seen("all, 1000 over 1500 B", more(VERSIONS, 1000, 1500)),
        seen("Sack, 500 over 1000 B", more("sack", 500, 1000)),
        seen("Reno, 1000 over 500 B", more("reno", 1000, 500)),
        seen("Newreno, 1000 over 500 B", more("newreno", 1000, 500)),
    ]
    conditions += [seen(f"Sack over {TCP[tcp]} at 500 B", more_pct(grid, {"tcp": "sack"}, {"tcp": tcp}, threshold=500))
                   for tcp in VERSIONS[:-1]]  # fmt: skip
    conditions += [
        seen("Reno over Newreno at 500 B", more_pct(grid, {"tcp": "reno"}, {"tcp": "newreno"}, threshold=500)),
        alike("Tahoe, 1000 over 500 B", more("tahoe", 1000, 500), 1, " %"),
    ]
    said = ", ".join(f"{TCP[tcp]} {one} %" for tcp, one in each.items())
    return judged(f"spread {said}; {best_thresholds(grid)}", *conditions)


def _full_over_threshold(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    conditions = falls("full-cell time over the threshold", grid.over("full_s", "threshold"), grid.axes["threshold"],
                       unit=" s")  # fmt: skip
    return judged(along(grid, "full_s", "threshold", " s") + " B", *conditions)


def _best_timer(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    timers = grid.axes["timer"]
    if not grid.has(timer=8) or 8 in (timers[0], timers[-1]):
        raise NotRun("no timers on both sides of 8 s")
    conditions = peaks("goodput", grid.over("goodput_kbps", "timer"), timers, 8, unit=" kbit/s")
    best = grid.best("goodput_kbps", "timer")["timer"]
    return judged(f"largest at {best} s: {along(grid, 'goodput_kbps', 'timer')} s (kbit/s)", *conditions)


def _full_over_timer(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    conditions = rises("full-cell time over the timer", grid.over("full_s", "timer"), grid.axes["timer"], unit=" s")
    return judged(along(grid, "full_s", "timer", " s") + " s", *conditions)


def _optimum(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    conditions, parts = [], []
    for tcp, (goodput, page) in OPTIMUM.items():
        mine, takes = (grid.mean(name, tcp=tcp, **OPTIMAL) for name in ("goodput_kbps", "page_s"))
        parts.append(f"{TCP[tcp]} {mine} kbit/s, {takes} s")
        conditions += [
            within(f"{TCP[tcp]}'s goodput", mine, round(0.88 * goodput, 2), round(1.12 * goodput, 2), " kbit/s"),
            within(f"{TCP[tcp]}'s time of a page", takes, page - 0.5, page + 0.5, " s"),
        ]
    conditions += [above(f"{TCP[tcp]} over Sack", more_pct(grid, {"tcp": tcp}, {"tcp": "sack"}, **OPTIMAL), unit=" %")
                   for tcp in VERSIONS[:-1]]  # fmt: skip
    return judged("; ".join(parts), *conditions)


def _triggered(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    counts = {tcp: grid.mean("allocations", tcp=tcp, threshold=1500) for tcp in VERSIONS}
    less = estimate(1 - grid.at("allocations", tcp="sack", threshold=1500)
                    / grid.at("allocations", tcp="reno", threshold=1500))  # fmt: skip
    ours = "at 1500 B " + ", ".join(f"{TCP[tcp]} {one}" for tcp, one in counts.items())
    return judged(
        f"{ours} allocations per connection; Sack has a share of {less} fewer than Reno",
        above("by what share Sack has fewer allocations than Reno at 1500 B", less, 0.5),
    )


def _few_in_flight(data: Data) -> Judgement:
    window = data.grid("windows").mean("window_packets")
    return judged(f"{window} packets while a page is under way", below("packets in flight", window, 8))


def _unfair_timers(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    conditions = falls("Jain's index over the timer", grid.over("jain", "timer"), grid.axes["timer"])
    return judged(along(grid, "jain", "timer") + " s", *conditions)


_ONE = dict.fromkeys(("tahoe", "newreno", "sack"), "reno")


def _worst(grid: Numbers) -> Numbers:
    return replaced(replaced(grid, "max_dat", {6: 2}), "threshold", {500: 1500})


JUDGES: Judges[Data] = {
    "C26": Judge(_goodput_over_max_dat, null=another("chapter 7", "tcp", _ONE), former=former.orders_over_max_dat),
    "C27": Judge(
        _thresholds, null=another("chapter 7", "tcp", _ONE), former=former.orders_over_thresholds, cause=corner
    ),
    "C28": Judge(_full_over_threshold, null=level("chapter 7", "threshold"), former=former.steps(_full_over_threshold)),
    "C29": Judge(_best_timer, null=level("chapter 7", "timer"), former=former.any_peak),
    "C30": Judge(_full_over_timer, null=level("chapter 7", "timer"), former=former.steps(_full_over_timer)),
    "C31": Judge(_optimum, null=changed("chapter 7", _worst)),
    "C49": Judge(_triggered, null=another("chapter 7", "tcp", {"sack": "reno"}), former=former.triggered),
    "C50": Judge(_few_in_flight, null=filled("windows", "window_packets", lambda _: 20.0)),
    "C51": Judge(_unfair_timers, null=mirrored("chapter 7", "timer"), former=former.steps(_unfair_timers)),
}
