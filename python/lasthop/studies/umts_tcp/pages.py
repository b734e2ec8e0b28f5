"""§7.3.1 to 7.3.3, web pages and one inactivity timer: claims of round trips, retransmissions, efficiency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Former, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, judged, within
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import bends, falls, rises
from lasthop.studies.umts_tcp import former
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.measures import along, corner, tenths
from lasthop.studies.umts_tcp.nulls import another, filled, instead, level, made
from lasthop.studies.umts_tcp.readings import ANY_OBJECT, TABLE_5_1, readings_with, readings_without
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import RETRANSMISSIONS, VERSIONS, VISIBLE_PCT

__all__ = ["CLAIMS", "MORE"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The payload of a packet of mean size.
PAYLOAD = 1278 - 40


def _rtt(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    means = [grid.mean("rtt_s", **point) for point in grid.points()]
    low, high = (of(means, key=lambda one: one.mean) for of in (min, max))
    return judged(
        f"{number(low.mean)}–{number(high.mean)} s, mean {grid.mean('rtt_s')} s",
        within("the least RTT of all points", low, 0.35, 0.8, " s"),
        within("the largest RTT of all points", high, 0.35, 0.8, " s"),
    )


def _packets(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    size = grid.mean("packet_bytes")
    count = estimate(grid.at("bytes_per_connection") / PAYLOAD)
    return judged(
        f"packets of {size} B; a connection's bytes are {count} packets of 1278 B; it has {_count(grid)} packets",
        within("mean size of a packet", size, 1278 * 0.99, 1278 * 1.01, " B"),
        within("bytes of a connection over those of a packet of 1278 B", count, 6, 10),
    )


def _count(grid: Numbers) -> Estimate:
    return grid.mean("packets_per_connection")


def _dip(data: Data) -> Judgement:
    times, goodput = tenths(data.grid("chapter 7"))
    means = [float(one.mean()) for one in goodput]
    place = min(range(1, len(means) - 1), key=lambda i: means[i])
    before = max(range(place), key=lambda i: means[i])
    after = max(range(place + 1, len(means)), key=lambda i: means[i])
    lower = before if means[before] < means[after] else after
    dip = estimate(100 * (1 - goodput[place] / goodput[lower]))
    last = estimate(goodput[-1] - goodput[before])
    shown = ", ".join(f"{number(means[i])} kbit/s at {times[i]:.2f} s" for i in (before, place, -1))
    return judged(
        f"{shown}; the dip is {dip} %",
        within(
            "how far the lowest part between the ends is below the higher parts on both sides",
            dip,
            VISIBLE_PCT,
            10,
            " %",
        ),
        above("goodput of the part with the longest RTT − of the best before the dip", last, unit=" kbit/s"),
    )


def _rtt_over_max_dat(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values, of = grid.axes["max_dat"], grid.over("rtt_s", "max_dat")
    if len(values) < 3:
        raise NotRun("two values of maxDAT do not show whether the RTT flattens")
    conditions = rises("RTT over maxDAT", of, values, unit=" s")
    return judged(along(grid, "rtt_s", "max_dat", " s"), *conditions, bends("RTT over maxDAT", of, values, up=False))


def _retransmissions(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    conditions: list[Condition] = []
    for tcp, (again, timeouts) in RETRANSMISSIONS.items():
        for name, quantity, theirs in (
            ("retransmissions", "retransmissions", again),
            ("timeouts", "timeouts", timeouts),
        ):
            ours = grid.mean(quantity, tcp=tcp)
            conditions.append(within(f"{name} of {TCP[tcp]}", ours, round(0.8 * theirs, 3), round(1.2 * theirs, 3)))
    conditions.append(
        above("timeouts of all retransmissions", estimate(grid.ratio("timeouts", "retransmissions")), 0.5)
    )
    conditions += [
        above(f"retransmissions, {TCP[tcp]} − Sack",
              grid.difference("retransmissions", {"tcp": tcp}, {"tcp": "sack"})) for tcp in VERSIONS[:-1]
    ]  # fmt: skip
    ours_said = ", ".join(f"{TCP[tcp]} {grid.mean('retransmissions', tcp=tcp)}" for tcp in VERSIONS)
    share = estimate(grid.ratio("timeouts", "retransmissions"))
    return judged(f"{ours_said}; timeouts {grid.mean('timeouts')}, {share} of them", *conditions)


def _fewer_with_max_dat(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]
    conditions = falls("retransmissions over maxDAT", grid.over("retransmissions", "max_dat"), values)
    for tcp in VERSIONS[:-1]:
        more = {m: grid.gain_pct("retransmissions", {"tcp": tcp}, {"tcp": "sack"}, max_dat=m) for m in values}
        conditions += [above(f"{TCP[tcp]} over Sack at maxDAT {m}", one, 0.5, " %") for m, one in more.items()]
    reno = grid.gain_pct("retransmissions", {"tcp": "reno"}, {"tcp": "sack"})
    return judged(f"{along(grid, 'retransmissions', 'max_dat')}; Reno over Sack {reno} %", *conditions)


def _timeout_share(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]

    def share(tcp: str | Sequence[str], m: object = None) -> Array:
        where = {} if m is None else {"max_dat": m}
        return grid.ratio("timeouts", "retransmissions", tcp=tcp, **where)

    conditions = falls("share of timeouts over maxDAT", lambda m: share(VERSIONS, m), values)
    conditions += [above(f"share of Sack − of {TCP[tcp]}", estimate(share("sack") - share(tcp)))
                   for tcp in VERSIONS[:-1]]  # fmt: skip
    conditions.append(above("share of Reno − of Newreno", estimate(share("reno") - share("newreno"))))
    conditions += [
        above(f"share of Tahoe − of {TCP[tcp]} at the least maxDAT",
              estimate(share("tahoe", values[0]) - share(tcp, values[0]))) for tcp in ("reno", "newreno")
    ]  # fmt: skip
    ours = ", ".join(f"{estimate(share(VERSIONS, m))} at {m}" for m in values)
    return judged(f"all versions {ours}", *conditions)


def _spurious(data: Data) -> str:
    share = data.grid("chapter 7").mean("spurious_share")
    return (
        f"unexplained. By ground truth {share} of the timeouts are spurious: they follow the set-up of channels, which "
        "maxDAT does not change, so their share does not follow what is lost"
    )


def _one_loss(data: Data) -> str:
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]
    few, many = (grid.gain_pct("retransmissions", {"tcp": "reno"}, {"tcp": "sack"}, max_dat=m)
                 for m in (values[0], values[-1]))  # fmt: skip
    return (
        f"Reno has {few} % more at maxDAT {values[0]}, where RLC gives packets up, and {many} % at {values[-1]}, where "
        "nearly all retransmissions are those of spurious timeouts, in which both send again what is in flight"
    )


def _efficiency(data: Data) -> Judgement:
    grid = data.grid("chapter 7")
    timers = grid.axes["timer"]
    conditions = [within(f"efficiency with a timer of {timer} s", grid.mean("efficiency_pct", timer=timer), 7, 23, " %")
                  for timer in timers]  # fmt: skip
    conditions += falls("efficiency over the timer", grid.over("efficiency_pct", "timer"), timers, unit=" %")
    means = [grid.mean("efficiency_pct", **point).mean for point in grid.points()]
    points = f"all points {number(min(means))}–{number(max(means))} %"
    return judged(f"{along(grid, 'efficiency_pct', 'timer', ' %')} s; {points}", *conditions)


def _occupied(data: Data) -> str:
    grid = data.grid("chapter 7")
    least = grid.axes["timer"][0]
    goodput, occupied = (grid.mean(f"{name}_kbps", timer=least) for name in ("goodput", "occupancy"))
    return (
        f"at {least} s goodput is {goodput} kbit/s, where the thesis has 63.1 at its best, and the cell has given away "
        f"{occupied} kbit/s"
    )


def _larger_initial_window(data: Data) -> Judgement:
    grid = data.grid("initial window")
    least, *larger = grid.axes["initial_window"]
    conditions, parts = [], []
    for window in larger:
        more = grid.difference("retransmissions", {"initial_window": window}, {"initial_window": least})
        gain = grid.gain_pct("goodput_kbps", {"initial_window": window}, {"initial_window": least})
        conditions += [
            above(f"retransmissions with {window} packets − with {least}", more),
            alike(f"goodput with {window} packets over that with {least}", gain, 1, " %"),
        ]
        parts.append(f"{window}: retransmissions {more}, goodput {gain} %")
    return judged(f"against {least} packets, " + "; ".join(parts), *conditions)


def _reversed_rtt(grid: Numbers) -> Numbers:
    return replace(grid, values={**grid.values, "rtt_s": -grid.values["rtt_s"]})


#: The mean page of Table 5.1 over its main object.
_WHOLE = (10734 + 5.62 * 8212) / 10734

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C18", "7.3.1", "The average RTT is always between 400ms and 700ms.",
        "The mean round-trip time is between 400 and 700 ms in all runs", "0.4–0.7 s",
        "mean of all users' RTT samples, at each point", "0.35–0.8 s, every point", "an eighth beyond each end", _rtt,
        instead("the time of a whole page in the place of a round trip", "chapter 7", rtt_s="page_s"), see="figure-7.2",
    ),
    Claim(
        "C19", "7.3.1, 7.3.4",
        "First, the average packet size (1,278 Bytes) is a lot larger than in these examples. … there are only a few "
        "packets per connection (the average is 8)",
        "Packets have 1278 B on average, and a connection 8 of them", "1278 B; 8",
        "bytes of a connection over the payload of a packet of mean size: 8 fits that and not the mean of counts, "
        "since the pages of 576 B have more packets",
        "1278 B ± 1 %; 6–10", "the distribution's own mean; the number depends on the load", _packets,
        filled("pages of Table 5.1, which are five times their main objects", "chapter 7", "bytes_per_connection",
               lambda grid: _WHOLE * grid.values["bytes_per_connection"]),
        Former("6–10 packets in a connection, mean of counts",
               "8 is the mean size over the mean packet", former.counted_packets),
        fitted="a load of one object in a connection was concluded from these 8 packets",
        fitted_at=readings_without(TABLE_5_1),
    ),
    Claim(
        "C20", "7.3.1",
        "The second part shows a dip (less than 10%) in the goodput when the RTT becomes a little bit higher. … The "
        "third part, where the RTT and the goodput are the highest, contains all the other simulations.",
        "Over the round-trip time goodput has a dip of less than 10 %, and is highest where it is longest", "< 10 %",
        "points in the order of their RTT, in ten parts of equal number; goodput in pairs",
        f"a dip of {VISIBLE_PCT}–10 % between parts; the last part above the first ones",
        "the figure is a curve through all points; less than the last digit of 63.1 kbit/s is no dip in it", _dip,
        made("the points in reversed order: goodput would be highest where the RTT is shortest", "chapter 7",
             _reversed_rtt),
        Former("a dip of 0–10 %", "between the ends something is always lowest", former.any_dip), see="figure-7.2",
        cause=corner,
    ),
    Claim(
        "C21", "7.3.1",
        "Figure 7.3 shows that maxDAT has a big impact on the RTT. … increasing maxDAT is more pronounced at lower "
        "maxDAT values than at higher ones.",
        "The round-trip time rises with maxDAT, less and less", "rises, flattens", "mean RTT at each maxDAT, in pairs",
        "rises; first step > last", "the order is claimed, no number", _rtt_over_max_dat,
        level("chapter 7", "max_dat", "maxDAT"),
        former=former.steps(_rtt_over_max_dat),
        see="figure-7.3",
    ),
    Claim(
        "C22", "Table 7.3, 7.3.2",
        "There are less than two retransmissions per connection, and at least half of them are caused by a RTO. … SACK "
        "has always a lower number of retransmissions since it uses a selective repeat mechanism.",
        "Retransmissions and timeouts for each connection",
        ", ".join(f"{TCP[tcp]} {a:g}" for tcp, (a, _) in RETRANSMISSIONS.items()) + "; 0.9 timeouts",
        "of all users, over the number of connections", "± 20 %; half of them timeouts; Sack least, in pairs",
        "three seeds, whose retransmissions vary by a tenth", _retransmissions,
        another("Reno in the place of Sack: one cannot differ from itself", "chapter 7", "tcp", {"sack": "reno"}),
        Former("0.9–3 retransmissions; 0.4–0.7 of them timeouts; Sack least", "half to twice is no number",
               former.generous_retransmissions), see="table-7.3",
    ),
    Claim(
        "C23", "7.3.2",
        "Moreover, Figure 7.4 shows that the number of TCP retransmissions per connection decreases very quickly when "
        "maxDAT grows. All the TCP versions react in the same way, but SACK has always a lower number of "
        "retransmissions since it uses a selective repeat mechanism.",
        "Retransmissions fall steeply with maxDAT; Sack always has the fewest", "falls; Sack least",
        "retransmissions per connection at each maxDAT, in pairs", "falls; the others 0.5 % above Sack at each maxDAT",
        "Table 7.3 has them 1.1 to 1.7 % above; 0.01 of 1.76 is its last digit", _fewer_with_max_dat,
        another("Reno in the place of Sack: one cannot differ from itself", "chapter 7", "tcp", {"sack": "reno"}),
        Former("the sign alone", "where the two are the same to a thousandth, it stayed open for ever",
               former.fewer_with_max_dat), see="figure-7.4",
        cause=_one_loss,
    ),
    Claim(
        "C24", "7.3.2",
        "There are less RTOs when maxDAT is high. … The proportion of packets retransmitted because of a RTO is always "
        "a lot higher in the case of SACK, especially when maxDAT is very small. … a greater number of RTOs occur in "
        "Reno than Newreno, especially if maxDAT is small",
        "The share of timeouts falls with maxDAT; it is highest with Sack, with Reno above Newreno, with Tahoe high at "
        "maxDAT 2", "order", "timeouts over retransmissions, in pairs", "signs", "the order is claimed, no number",
        _timeout_share,
        another("Reno in the place of Sack: one cannot differ from itself", "chapter 7", "tcp", {"sack": "reno"}),
        former=former.steps(_timeout_share),
        see="figure-7.5", cause=_spurious,
    ),
    Claim(
        "C25", "7.3.3",
        "Practically, the simulations show that the efficiency stays between 9% and 20%. … The cell efficiency is "
        "strongly dependent on the inactivity timer (see Figure 7.6). Therefore, it is better not to use a too long "
        "inactivity timer.",
        "The cell's efficiency is between 9 and 20 %, and falls with the inactivity timer", "9–20 %; falls",
        "goodput over mean occupancy, the mean at each timer, as in Fig. 7.6", "7–23 % at each timer; falls, in pairs",
        "a fifth beyond each end", _efficiency, level("chapter 7", "timer", "timer"),
        Former("7–23 % at every point", "the figure is a curve of means over all but the timer",
               former.efficiency_of_points), see="figure-7.6",
        fitted="a load of one object, and which, was concluded from goodput and confirmed by this efficiency",
        fitted_at=readings_with(ANY_OBJECT), cause=_occupied,
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C48", "7.3.2",
        "Although it was not simulated for this report, we believe that this kind of optimisation is probably not a "
        "good idea when the FACH/DCH switch occurs. Indeed, if the first packets sent are retransmitted because of the "
        "DCH allocation time, it will lead to unnecessary retransmissions, and the TCP window will be decreased anyway "
        "before new packets could be sent.",
        "With switching a larger initial window does not pay: it leads to unnecessary retransmissions", "no gain",
        "at Table 7.4's values, against an initial window of 2 packets, in pairs",
        "more retransmissions; goodput ± 1 %", "“probably not a good idea”: neither is it said to cost much",
        _larger_initial_window, level("initial window", "initial_window", "initial window"),
    ),
]  # fmt: skip
