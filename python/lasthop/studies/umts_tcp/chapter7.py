"""Chapter 7, web pages and one inactivity timer: its claims, and how runs fare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, NotRun, order, verdict
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import bends, falls, peaks, rises, spread_pct
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import OPTIMUM, RETRANSMISSIONS

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["BINS", "CLAIMS", "MORE", "OPTIMAL", "VERSIONS", "along", "best_thresholds", "by_rtt"]

#: The versions of chapters 7 and 8.
VERSIONS = ("tahoe", "reno", "newreno", "sack")

#: Table 7.4.
OPTIMAL = {"max_dat": 6, "threshold": 500, "timer": 8}

#: Into how many equal parts Fig. 7.2 divides the points by their round-trip time.
BINS = 10


def _extremes(grid: Numbers, quantity: str) -> tuple[float, float]:
    """The least and the largest mean of all points."""
    with np.errstate(invalid="ignore"):
        means = np.nanmean(grid.values[quantity], axis=-1)
    return float(np.nanmin(means)), float(np.nanmax(means))


def _outside(name: str, value: float, low: float, high: float, unit: str = "") -> list[str]:
    return [] if low <= value <= high else [f"{name} {number(value)}{unit}, outside {number(low)}–{number(high)}{unit}"]


def _several(grid: Numbers, axis: str, *values: object) -> list[object]:
    """Those of some values that are on the grid."""
    there = [value for value in values if value in grid.axes[axis]]
    if not there:
        raise NotRun(f"no runs with {axis} {', '.join(map(str, values))}")
    return there


def _rtt(data: Data) -> Judgement:
    low, high = _extremes(data.grid("chapter 7"), "rtt_s")
    outside = _outside("the least is", low, 0.35, 0.8, " s") + _outside("the largest is", high, 0.35, 0.8, " s")
    mean = data.grid("chapter 7").mean("rtt_s")
    return verdict(outside, f"{number(low)}–{number(high)} s, mean {mean} s", {"rtt_s": mean})


def _packets(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    size, count = grid.mean("packet_bytes"), grid.mean("packets_per_connection")
    outside = [] if abs(size.mean / 1278 - 1) <= 0.01 else [f"packets of {size} B"]
    outside += _outside("packets of a connection:", count.mean, 6, 10)
    return verdict(outside, f"{size} B; {count} packets", {"packet_bytes": size, "packets_per_connection": count})


def by_rtt(grid: Numbers) -> tuple[list[float], list[Estimate]]:
    """Round-trip time and goodput of the points of all versions together, in parts of equal number by their RTT."""
    points = list(grid.points("max_dat", "threshold", "timer"))
    rtt = [grid.mean("rtt_s", **point).mean for point in points]
    parts = np.array_split(np.argsort(rtt, kind="stable"), min(BINS, len(points)))
    goodput = [grid.at("goodput_kbps", **point) for point in points]
    common = grid.at("goodput_kbps")
    made = []
    for part in parts:
        mine = np.mean([goodput[place] for place in part], axis=0)
        made.append(Estimate(float(mine.mean()), estimate(mine - common).half, len(mine)))
    return [float(np.mean([rtt[place] for place in part])) for part in parts], made


def _dip(data: Data) -> Judgement:
    times, goodput = by_rtt(data.grid("chapter 7"))
    means = [one.mean for one in goodput]
    place = min(range(1, len(means) - 1), key=lambda i: means[i])
    before, after = max(means[:place]), max(means[place + 1 :])
    dip = 100 * (1 - means[place] / min(before, after))
    outside = [] if 0 < dip <= 10 else [f"between the ends the least is {dip:.2f} % below both sides"]
    if means[-1] < before:
        outside.append(f"goodput is largest at {times[means.index(max(means))]:.2f} s, not where the RTT is longest")
    shown = (0, place, -1)
    ours = ", ".join(f"{goodput[i]} kbit/s at {times[i]:.2f} s" for i in shown)
    return verdict(outside, ours, {"dip_pct": Estimate(dip, float("nan"), 1)})


def _rtt_over_max_dat(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]
    of = grid.over("rtt_s", "max_dat")
    differences, against = rises("RTT (s) at maxDAT", of, values)
    differences |= bends("RTT", of, values, up=False)
    return order(along(grid, "rtt_s", "max_dat", " s"), differences, against)


def along(grid: Numbers, quantity: str, axis: str, unit: str = "", **where: object) -> str:
    """Means at each value of a parameter, for reading; of goodput without what a seed's traffic makes of all alike."""
    measure = grid.within if quantity == "goodput_kbps" else grid.mean
    means = [measure(quantity, **{axis: value}, **where) for value in grid.axes[axis]]
    return ", ".join(f"{one}{unit} at {value}" for value, one in zip(grid.axes[axis], means, strict=True))


def best_thresholds(grid: Numbers) -> str:
    """Where each version's goodput is largest, for reading."""
    best = {tcp: grid.best("goodput_kbps", "threshold", tcp=tcp)["threshold"] for tcp in VERSIONS}
    return "best for " + ", ".join(f"{TCP[tcp]} at {value}" for tcp, value in best.items()) + " B"


def _retransmissions(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    counts = {tcp: grid.mean("retransmissions", tcp=tcp) for tcp in VERSIONS}
    shares = {tcp: estimate(grid.ratio("timeouts", "retransmissions", tcp=tcp)) for tcp in VERSIONS}
    outside = []
    for tcp in VERSIONS:
        outside += _outside(f"{TCP[tcp]}:", counts[tcp].mean, 0.9, 3)
        outside += _outside(f"{TCP[tcp]}'s share of timeouts:", shares[tcp].mean, 0.4, 0.7)
    differences = {
        f"{TCP[tcp]} − Sack": grid.difference("retransmissions", {"tcp": tcp}, {"tcp": "sack"}) for tcp in VERSIONS[:-1]
    }
    ours = ", ".join(f"{TCP[tcp]} {counts[tcp]}" for tcp in VERSIONS)
    ours += f"; timeouts {grid.mean('timeouts')}, {estimate(grid.ratio('timeouts', 'retransmissions'))} of them"
    values = {f"{tcp}_retransmissions": one for tcp, one in counts.items()}
    values |= {f"{tcp}_timeout_share": one for tcp, one in shares.items()}
    return order(ours, differences, outside, **values)


def _fewer_with_max_dat(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]
    differences, against = falls("retransmissions at maxDAT", grid.over("retransmissions", "max_dat"), values)
    for m in values:
        for tcp in VERSIONS[:-1]:
            differences[f"{TCP[tcp]} − Sack at maxDAT {m}"] = grid.difference(
                "retransmissions", {"tcp": tcp}, {"tcp": "sack"}, max_dat=m
            )
    return order(along(grid, "retransmissions", "max_dat"), differences, against)


def _timeout_share(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]

    def share(tcp: str | Sequence[str], m: object = None) -> Array:
        where = {} if m is None else {"max_dat": m}
        return grid.ratio("timeouts", "retransmissions", tcp=tcp, **where)

    differences, against = falls("share of timeouts at maxDAT", lambda m: share(VERSIONS, m), values)
    for tcp in VERSIONS[:-1]:
        differences[f"Sack − {TCP[tcp]}"] = estimate(share("sack") - share(tcp))
    differences["Reno − Newreno"] = estimate(share("reno") - share("newreno"))
    for tcp in ("reno", "newreno"):
        differences[f"Tahoe − {TCP[tcp]} at maxDAT {values[0]}"] = estimate(
            share("tahoe", values[0]) - share(tcp, values[0])
        )
    ours = ", ".join(f"{estimate(share(VERSIONS, m))} at {m}" for m in values)
    return order(f"all versions {ours}", differences, against)


def _efficiency(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    low, high = _extremes(grid, "efficiency_pct")
    outside = _outside("the least is", low, 7, 23, " %") + _outside("the largest is", high, 7, 23, " %")
    differences, against = falls(
        "efficiency (%) at", grid.over("efficiency_pct", "timer"), grid.axes["timer"], unit=" s"
    )
    ours = f"{number(low)}–{number(high)} %; " + along(grid, "efficiency_pct", "timer", " %") + " s"
    return order(ours, differences, outside + against)


def _goodput_over_max_dat(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]

    def more(one: str, other: str, m: object) -> Estimate:
        return grid.difference("goodput_kbps", {"tcp": one}, {"tcp": other}, max_dat=m)

    differences, against = rises("goodput at maxDAT", grid.over("goodput_kbps", "max_dat"), values)
    for one, other in (("reno", "tahoe"), ("newreno", "tahoe"), ("tahoe", "sack")):
        differences[f"{TCP[one]} − {TCP[other]} at maxDAT 3"] = more(one, other, 3)
    many = [m for m in values if m >= 4]
    for other in ("reno", "newreno", "sack"):
        differences[f"Tahoe − {TCP[other]} from maxDAT 4 on"] = more("tahoe", other, many)
    apart = {m: spread_pct([grid.mean("goodput_kbps", tcp=tcp, max_dat=m) for tcp in VERSIONS]) for m in values}
    if not apart[values[-1]] < apart[3]:
        against.append(f"the versions differ by {apart[3]:.2f} % at 3 and {apart[values[-1]]:.2f} % at {values[-1]}")
    ours = (
        along(grid, "goodput_kbps", "max_dat")
        + " kbit/s; versions differ by "
        + ", ".join(f"{one:.2f} % at {m}" for m, one in apart.items())
    )
    return order(ours, differences, against)


def _thresholds(data: Data) -> Judgement:
    grid = data.grid("chapter 7")

    def more(tcp: str | Sequence[str], one: int, other: int) -> Estimate:
        return grid.gain_pct("goodput_kbps", {"threshold": one}, {"threshold": other}, tcp=tcp)

    spread = _spread(grid)
    outside = [] if spread <= 4 else [f"the spread is {spread:.2f} %"]
    differences = {
        "all, 500 − 1500 B (%)": more(VERSIONS, 500, 1500),
        "all, 1000 − 1500 B (%)": more(VERSIONS, 1000, 1500),
        "Sack, 500 − 1000 B (%)": more("sack", 500, 1000),
        "Sack, 1000 − 1500 B (%)": more("sack", 1000, 1500),
        "Reno, 1000 − 500 B (%)": more("reno", 1000, 500),
        "Newreno, 1000 − 500 B (%)": more("newreno", 1000, 500),
    }
    for tcp in VERSIONS[:-1]:
        differences[f"Sack − {TCP[tcp]} at 500 B"] = grid.difference(
            "goodput_kbps", {"tcp": "sack"}, {"tcp": tcp}, threshold=500
        )
    differences["Reno − Newreno at 500 B"] = grid.difference(
        "goodput_kbps", {"tcp": "reno"}, {"tcp": "newreno"}, threshold=500
    )
    flat = more("tahoe", 1000, 500)
    if not abs(flat.mean) <= 1:
        outside.append(f"Tahoe changes by {flat} % from 500 to 1000 B")
    ours = f"spread {spread:.2f} %; {best_thresholds(grid)}"
    return order(ours, differences, outside, tahoe_1000_over_500_pct=flat)


def _spread(grid: Numbers) -> float:
    """By how many per cent a version's goodput differs over the thresholds of chapter 7, at most."""
    common = [500, 1000, 1500]
    return max(spread_pct([grid.mean("goodput_kbps", tcp=tcp, threshold=t) for t in common]) for tcp in VERSIONS)


def _full_over_threshold(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["threshold"]
    differences, against = falls("full (s) at", grid.over("full_s", "threshold"), values, unit=" B")
    return order(along(grid, "full_s", "threshold", " s") + " B", differences, against)


def _best_timer(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    if len(grid.axes["timer"]) < 3:
        raise NotRun("no timers between the ends")
    best, differences, against = peaks("goodput at", grid.over("goodput_kbps", "timer"), grid.axes["timer"], unit=" s")
    return order(f"largest at {best} s: " + along(grid, "goodput_kbps", "timer") + " s (kbit/s)", differences, against)


def _full_over_timer(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    differences, against = rises("full (s) at", grid.over("full_s", "timer"), grid.axes["timer"], unit=" s")
    return order(along(grid, "full_s", "timer", " s") + " s", differences, against)


def _optimum(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values, outside, parts = {}, [], []
    for tcp, (goodput, page) in OPTIMUM.items():
        mine, takes = (grid.mean(name, tcp=tcp, **OPTIMAL) for name in ("goodput_kbps", "page_s"))
        values[f"{tcp}_kbps"], values[f"{tcp}_page_s"] = mine, takes
        parts.append(f"{TCP[tcp]} {mine} kbit/s, {takes} s")
        if not abs(mine.mean / goodput - 1) <= 0.12:
            outside.append(f"{TCP[tcp]} has {100 * (mine.mean / goodput - 1):+.0f} %")
        if not abs(takes.mean - page) <= 0.5:
            outside.append(f"a page takes {takes} s with {TCP[tcp]}, paper {page:g}")
    differences = {
        f"{TCP[tcp]} − Sack": grid.difference("goodput_kbps", {"tcp": tcp}, {"tcp": "sack"}, **OPTIMAL)
        for tcp in VERSIONS[:-1]
    }
    return order("; ".join(parts), differences, outside, **values)


def _larger_initial_window(data: Data) -> Judgement:
    grid = data.grid("initial window")
    least, *larger = grid.axes["initial_window"]
    differences, outside, parts = {}, [], []
    for window in larger:
        more = grid.difference("retransmissions", {"initial_window": window}, {"initial_window": least})
        gain = grid.gain_pct("goodput_kbps", {"initial_window": window}, {"initial_window": least})
        differences[f"retransmissions {window} − {least}"] = more
        parts.append(f"{window}: retransmissions {more}, goodput {gain} %")
        if not abs(gain.mean) <= 1:
            outside.append(f"with {window} packets goodput changes by {gain} %")
    return order(f"against {least} packets, " + "; ".join(parts), differences, outside)


def _triggered(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    above = _several(grid, "threshold", 1500)
    differences = {
        f"Reno − Sack at {threshold} B": grid.difference(
            "allocations", {"tcp": "reno"}, {"tcp": "sack"}, threshold=threshold
        )
        for threshold in above
    }
    counts = {tcp: grid.mean("allocations", tcp=tcp, threshold=above) for tcp in VERSIONS}
    ours = "at 1500 B " + ", ".join(f"{TCP[tcp]} {one}" for tcp, one in counts.items()) + " allocations per connection"
    return order(ours, differences, [], **counts)


def _few_in_flight(data: Data) -> Judgement:
    window = data.grid("windows").mean("window_packets")
    outside = [] if window.mean < 8 else [f"{window} packets"]
    return verdict(outside, f"{window} packets while a page is under way", {"window_packets": window})


def _unfair_timers(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    differences, against = falls("Jain's index at", grid.over("jain", "timer"), grid.axes["timer"], unit=" s")
    return order(along(grid, "jain", "timer") + " s", differences, against)


SIGN = "the order is claimed, no number"

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C18", "7.3.1", "The mean round-trip time is between 400 and 700 ms in all runs", "0.4–0.7 s", "0.35–0.8 s, "
        "every point",
        "an eighth beyond each end", _rtt, see="figure-7.2",
    ),
    Claim(
        "C19", "7.3.1, 7.3.4", "Packets have 1278 B on average, and a connection 8 of them", "1278 B; 8", "± 1 %; 6–10",
        "the distribution's own mean; the number depends on the load", _packets,
    ),
    Claim(
        "C20", "7.3.1", "Over the round-trip time goodput has a dip of less than 10 %, and is highest where it is "
        "longest",
        "< 10 %", "a dip of 0–10 % between parts of equal number of points; the last part not below the first ones",
        "the figure is a curve through all points", _dip, see="figure-7.2",
    ),
    Claim(
        "C21", "7.3.1", "The round-trip time rises with maxDAT, less and less", "rises, flattens", "rises, paired; "
        "first step > last",
        SIGN, _rtt_over_max_dat, see="figure-7.3",
    ),
    Claim(
        "C22", "Table 7.3", "Retransmissions and timeouts for each connection",
        ", ".join(f"{TCP[tcp]} {a:g}" for tcp, (a, _) in RETRANSMISSIONS.items()) + "; 0.9 timeouts",
        "0.9–3; timeouts 0.4–0.7 of them; Sack least, paired", "the load is not known; half to nearly twice",
        _retransmissions,
        see="table-7.3",
    ),
    Claim(
        "C23", "7.3.2", "Retransmissions fall steeply with maxDAT; Sack always has the fewest", "falls; Sack least",
        "sign, paired, at every maxDAT", SIGN, _fewer_with_max_dat, see="figure-7.4",
    ),
    Claim(
        "C24", "7.3.2", "The share of timeouts falls with maxDAT; it is highest with Sack, with Reno above Newreno, "
        "with Tahoe "
        "high at maxDAT 2", "order", "sign, paired", SIGN, _timeout_share, see="figure-7.5",
    ),
    Claim(
        "C25", "7.3.3", "The cell's efficiency is between 9 and 20 %, and falls with the inactivity timer",
        "9–20 %; falls",
        "7–23 %, every point; falls, paired", "an eighth to a quarter beyond each end", _efficiency, see="figure-7.6",
    ),
    Claim(
        "C26", "7.3.4", "Goodput grows with maxDAT; at 3 Reno and Newreno are above Tahoe, Tahoe above Sack; from 4 "
        "on Tahoe is "
        "first; they converge", "order", "sign, paired", SIGN, _goodput_over_max_dat, see="figure-7.7",
    ),
    Claim(
        "C27", "7.3.4, 8.3.1", "Over the threshold goodput differs by 1.8 % at most; 1500 B is worst; Sack is best at "
        "500 B, Reno and Newreno at 1000 B, Tahoe is stable to 1000 B; at 500 B Sack is best and Reno above Newreno",
        "1.8 %; order", "≤ 4 %; sign, paired; Tahoe ± 1 %", "twice the thesis' spread of three seeds", _thresholds,
        see="figure-7.8",
    ),
    Claim(
        "C28", "7.3.4", "The time for which the cell is full falls with the threshold", "falls", "sign, paired", SIGN,
        _full_over_threshold, see="figure-7.9",
    ),
    Claim(
        "C29", "7.3.4", "Goodput rises with the inactivity timer, and falls beyond about 8 s", "largest at 8 s",
        "a maximum between the ends, above both, paired", SIGN, _best_timer, see="figure-7.10",
    ),
    Claim(
        "C30", "7.3.4", "The time for which the cell is full rises with the timer", "rises", "sign, paired", SIGN,
        _full_over_timer, see="figure-7.11",
    ),
    Claim(
        "C31", "7.4", "At maxDAT 6, 500 B and 8 s", "63.1 kbit/s, pages in 2.7–2.8 s; Sack 62.8, 3.0 s",
        "± 12 %; ± 0.5 s; Sack lower, paired", "the load is inferred from this goodput; a page's time is half an "
        "allocation off",
        _optimum, see="figure-7.10",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C48", "7.3.2",
        "With switching a larger initial window does not pay: it leads to unnecessary retransmissions", "no gain",
        "more retransmissions, paired; goodput ± 1 %", "“probably not a good idea”: neither is it said to cost much",
        _larger_initial_window,
    ),
    Claim(
        "C49", "7.3.4", "With a threshold above the packet size Reno's retransmissions trigger dedicated channels, "
        "Sack's do not",
        "Reno > Sack", "allocations per connection, sign, paired", "1500 B is above every packet's size less its own",
        _triggered, see="figure-7.8",
    ),
    Claim(
        "C50", "7.3.4", "Web traffic keeps few packets in flight", "“never high”", "mean < 8", "a connection has 8 "
        "packets",
        _few_in_flight,
    ),
    Claim(
        "C51", "7.3.4", "Long timers could be unfair to users", "“not tackled”", "Jain's index over users falls with "
        "the timer",
        SIGN, _unfair_timers,
    ),
]  # fmt: skip
