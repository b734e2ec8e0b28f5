"""§7.3.1 to 7.3.3, web pages and one inactivity timer: claims of round trips, retransmissions, efficiency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, judged, within
from lasthop.studies.grid import Array, Numbers
from lasthop.studies.nulls import another, changed, filled, instead, level
from lasthop.studies.trends import bends, falls, rises

from ..data import Data, along, corner, tenths
from ..paper import RETRANSMISSIONS, VERSIONS, VISIBLE_PCT
from ..scenario import TCP
from . import former

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


JUDGES: Judges[Data] = {
    "C18": Judge(_rtt, null=instead("chapter 7", {"rtt_s": "page_s"})),
    "C19": Judge(
        _packets,
        null=filled("chapter 7", "bytes_per_connection", lambda grid: _WHOLE * grid.values["bytes_per_connection"]),
        former=former.counted_packets,
    ),
    "C20": Judge(_dip, null=changed("chapter 7", _reversed_rtt), former=former.any_dip, cause=corner),
    "C21": Judge(_rtt_over_max_dat, null=level("chapter 7", "max_dat"), former=former.steps(_rtt_over_max_dat)),
    "C22": Judge(
        _retransmissions, null=another("chapter 7", "tcp", {"sack": "reno"}), former=former.generous_retransmissions
    ),
    "C23": Judge(
        _fewer_with_max_dat,
        null=another("chapter 7", "tcp", {"sack": "reno"}),
        former=former.fewer_with_max_dat,
        cause=_one_loss,
    ),
    "C24": Judge(
        _timeout_share,
        null=another("chapter 7", "tcp", {"sack": "reno"}),
        former=former.steps(_timeout_share),
        cause=_spurious,
    ),
    "C25": Judge(_efficiency, null=level("chapter 7", "timer"), former=former.efficiency_of_points, cause=_occupied),
    "C48": Judge(_larger_initial_window, null=level("initial window", "initial_window")),
}
