"""§7.3.4 and 7.4, web pages and one inactivity timer: claims of goodput."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged, within
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import falls, peaks, rises, spread_pct
from lasthop.studies.umts_tcp import former
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.measures import along, best_thresholds, corner, more_pct, spreads
from lasthop.studies.umts_tcp.nulls import another, filled, level, made, mirrored, replaced
from lasthop.studies.umts_tcp.readings import ANY_OBJECT, readings_with
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import OPTIMAL, OPTIMUM, VERSIONS, VISIBLE_PCT

__all__ = ["CLAIMS", "MORE", "seen"]


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


_SAME_TCP = "Reno in the place of all other versions: one cannot differ from itself"
_ONE = dict.fromkeys(("tahoe", "newreno", "sack"), "reno")
_READ = f"a difference of less than {VISIBLE_PCT} % is less than the last digit of 63.1 kbit/s"


def _worst(grid: Numbers) -> Numbers:
    return replaced(replaced(grid, "max_dat", {6: 2}), "threshold", {500: 1500})


CLAIMS: list[Claim[Data]] = [
    Claim(
        "C26", "7.3.4",
        "It can be seen that it is better to have a high maxDAT. … When maxDAT is 2, all the versions achieve more or "
        "less the same performance. … If maxDAT is equal to 3, we can see significant differences. Reno and Newreno "
        "have the same behavior, and give better performance than Tahoe. … In this case, Tahoe gives better "
        "performance than Newreno and Reno, since it always reacts to the congestion by going back into Slow Start. "
        "When maxDAT becomes higher, all the TCP versions tend to achieve the same performance since there are only a "
        "few dropped packets. SACK stays below the other TCP versions",
        "Goodput grows with maxDAT; at 3 Reno and Newreno are above Tahoe, Tahoe above Sack; from 4 on Tahoe is first; "
        "they converge", "order", "goodput at each maxDAT, in pairs",
        f"rises; at 2 ± 1 %; the others by {VISIBLE_PCT} % at least; the spread falls from 3 on", _READ,
        _goodput_over_max_dat, another(_SAME_TCP, "chapter 7", "tcp", _ONE),
        Former("the signs alone", "where versions are the same to a thousandth, it stayed open for ever",
               former.orders_over_max_dat), see="figure-7.7",
        cause="the load of pages is what users ask for; once RLC repeats, hardly a packet is lost, and the versions "
        "differ in nothing else",
    ),
    Claim(
        "C27", "7.3.4, 8.3.1",
        "The larger threshold gives the worst performance, but the optimal threshold is not necessarily the smallest, "
        "and this depends on the TCP version. … In these past results, the maximum goodput difference following the "
        "threshold is 1.8% in Section 7.3.4",
        "Over the threshold goodput differs by 1.8 % at most; 1500 B is worst; Sack is best at 500 B, Reno and Newreno "
        "at 1000 B, Tahoe is stable to 1000 B; at 500 B Sack is best and Reno above Newreno", "1.8 %; order",
        "spread of each version's goodput over 500, 1000 and 1500 B; orders, in pairs",
        f"each spread < 4 %; orders by {VISIBLE_PCT} % at least; Tahoe ± 1 %",
        f"twice the thesis' spread of three seeds; {_READ}", _thresholds, another(_SAME_TCP, "chapter 7", "tcp", _ONE),
        Former("the signs of the orders", "orders of a thousandth stayed open for ever", former.orders_over_thresholds),
        see="figure-7.8", cause=corner,
    ),
    Claim(
        "C28", "7.3.4", "Figure 7.9 shows that a small threshold leads to a bigger full-cell time",
        "The time for which the cell is full falls with the threshold", "falls",
        "seconds in which no further dedicated channel fits, in pairs", "falls", "the order is claimed, no number",
        _full_over_threshold, level("chapter 7", "threshold", "threshold"),
        former=former.steps(_full_over_threshold),
        see="figure-7.9",
    ),
    Claim(
        "C29", "7.3.4, Table 7.4",
        "In general, a high inactivity timer value helps a connection to remain in DCH and therefore increases its "
        "goodput. However, it is clear that a too long inactivity timer has a bad impact.",
        "Goodput rises with the inactivity timer, and falls beyond about 8 s", "largest at 8 s",
        "goodput over all points, as in Fig. 7.10, in pairs", "at 8 s above both ends", "Table 7.4 has 8 s as the best",
        _best_timer, level("chapter 7", "timer", "timer"),
        Former("the largest of the means lies between the ends", "the largest of several means holds their noise",
               former.any_peak), see="figure-7.10",
    ),
    Claim(
        "C30", "7.3.4",
        "Indeed, there is a higher probability for the cell to be fully loaded if the inactivity timer is long (see "
        "Figure 7.11), even if the DCH is not effectively used.",
        "The time for which the cell is full rises with the timer", "rises", "as C28", "rises",
        "the order is claimed, no number", _full_over_timer, level("chapter 7", "timer", "timer"),
        former=former.steps(_full_over_timer),
        see="figure-7.11",
    ),
    Claim(
        "C31", "7.4",
        "The goodput is 63.1 kbps, and a packet call takes about 2.7 or 2.8 seconds. The performance of SACK was a "
        "little bit worse, with a 62.8kbps goodput, and a packet call length of 3 seconds.",
        "At maxDAT 6, 500 B and 8 s", "63.1 kbit/s, pages in 2.7–2.8 s; Sack 62.8, 3.0 s",
        "goodput, and mean time from a page's first byte sent to its last acknowledged",
        "± 12 %; ± 0.5 s; Sack lower, in pairs", "the load is inferred; a page's time is half an allocation off",
        _optimum,
        made("maxDAT 2 and 1500 B in the place of Table 7.4's values", "chapter 7", _worst), see="figure-7.10",
        fitted="any object was chosen by the goodput of 63.1 kbit/s", fitted_at=readings_with(ANY_OBJECT),
        cause="no load of Table 5.1 gives both: a main object makes pages of the right length and too much goodput, "
        "any object the reverse",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C49", "7.3.4, 7.4",
        "Finally, SACK performance decreases very fast since it almost never trigger a switch because of its small "
        "number of retransmissions. … Moreover, a switch to a DCH can be caused by the Go-Back-N retransmissions if "
        "the upswitch threshold is higher than the packet size.",
        "With a threshold above the packet size Reno's retransmissions trigger dedicated channels, Sack's almost never "
        "do", "Reno ≫ Sack", "allocations per connection at 1500 B, in pairs", "Sack less than half of Reno's",
        "“almost never” against “many”", _triggered,
        another("Reno in the place of Sack: one cannot differ from itself", "chapter 7", "tcp", {"sack": "reno"}),
        Former("the sign alone", "a thousandth fewer is not “almost never”", former.triggered), see="figure-7.8",
        cause="channels are asked for when two packets wait, as they do with the second packet of a page, whichever "
        "version sends it; few follow from retransmissions",
    ),
    Claim(
        "C50", "7.3.4",
        "If there are only a few packets to send, the TCP sending window is never high",
        "Web traffic keeps few packets in flight", "“never high”", "mean of samples while there are any, every 2 s",
        "mean < 8", "a connection has 8 packets", _few_in_flight,
        filled("a sender that fills the window of 20 packets, as chapter 6's Reno", "windows", "window_packets",
               lambda _: 20.0),
    ),
    Claim(
        "C51", "7.3.4",
        "It could also cause unfairness between the connections, but this problem was not tackled in this project.",
        "Long timers could be unfair to users", "“not tackled”", "Jain's index of what users received, in pairs",
        "falls with the timer", "the order is supposed, no number", _unfair_timers,
        mirrored("chapter 7", "timer", "timers"),
        incomparable="the thesis does not claim it: “this problem was not tackled in this project”",

        former=former.steps(_unfair_timers),
    ),
]  # fmt: skip
