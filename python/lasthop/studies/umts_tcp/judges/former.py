"""What the project accepted at first, where it was replaced after results had been seen.

These judges are kept so that a reader sees both verdicts. Their bands were held against means; here, as everywhere,
against intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lasthop.stats import estimate, exact
from lasthop.studies.conditions import Condition, Judgement, above, below, judged, within
from lasthop.studies.grid import Array
from lasthop.studies.trends import STEP

from ..data import Data, Surface, crossing, gain, shared, spreads, tenths
from ..paper import TABLE_6_2, VERSIONS
from ..scenario import TCP


def _all(*conditions: Condition) -> Judgement:
    return judged("; ".join(f"{one.what} {one.value}{one.unit}" for one in conditions), *conditions)


def steps(judge: Callable[[Data], Judgement]) -> Callable[[Data], Judgement]:
    """What was asked of the steps of a trend: none back that is more than chance."""

    def before(data: Data) -> Judgement:
        made = judge(data)
        return judged(made.ours, *(
            above(f"{one.what}, highest that chance allows", exact(one.value.high)) if one.what.endswith(STEP) else one
            for one in made.conditions
        ))  # fmt: skip

    return before


def total_window(data: Data) -> Judgement:
    """C3."""
    grid = data.grid("versions")
    total = estimate(grid.at("both_window_total", tcp="vegas") / grid.at("window_packets", tcp="vegas"))
    reno = estimate(grid.at("both_window_packets", tcp="reno") / grid.at("window_packets", tcp="reno"))
    return _all(within("Vegas' total", total, 0.75, 1.25), within("Reno's first user", reno, 0.99, 1.01))


def half_the_rtt(data: Data) -> Judgement:
    """C4."""
    grid = data.grid("errors")
    return _all(*(
        below(f"Vegas over Reno at {bler:g}",
              estimate(grid.at("rtt_s", tcp="vegas", bler=bler) / grid.at("rtt_s", tcp="reno", bler=bler)), 0.5)
        for bler in grid.axes["bler"]
    ))  # fmt: skip


def peak(data: Data) -> Judgement:
    """C5."""
    grid = data.grid("versions")
    growth = estimate(grid.at("both_rtt_s", tcp="reno") / grid.at("rtt_s", tcp="reno"))
    above_mean = estimate(grid.at("both_srtt_peak_s", tcp="vegas") - grid.at("both_rtt_s", tcp="vegas"))
    return _all(within("Reno", growth, 1.7, 2.6), above("Vegas' peak − its later mean", above_mean, unit=" s"))


def crosses(data: Data) -> Judgement:
    """C12."""
    grid = data.grid("errors")
    errors = grid.axes["bler"]
    more = [grid.difference("sent_kbps", {"tcp": "vegas"}, {"tcp": "reno"}, bler=bler) for bler in errors]
    place = crossing(errors, [one.mean for one in more])
    return _all(
        above(f"Vegas − Reno at {errors[0]:g}", more[0], unit=" kbit/s"),
        within("crossing", exact(1.0 if place is None else place), 0.3, 0.6),
    )


def pooled_orders(data: Data) -> Judgement:
    """C14."""
    grid = data.grid("maxDAT 2")
    between = [bler for bler in (0.05, 0.1, 0.15) if bler in grid.axes["bler"]]
    conditions = [
        above(f"{TCP[one]} − {TCP[other]}", grid.difference("sent_kbps", {"tcp": one}, {"tcp": other}, bler=between))
        for one, other in (("tahoe", "reno"), ("tahoe", "vegas"))
    ]
    conditions += [
        above(f"Vegas − {TCP[other]} at 0.01",
              grid.difference("sent_kbps", {"tcp": "vegas"}, {"tcp": other}, bler=0.01)) for other in VERSIONS
    ]  # fmt: skip
    for one, other in (("sack", "newreno"), ("newreno", "tahoe")):
        less = grid.difference("sent_kbps", {"tcp": one}, {"tcp": other}, bler=between)
        conditions.append(above(f"{TCP[one]} − {TCP[other]}, highest that chance allows", exact(less.high)))
    return _all(*conditions)


def table_of_samples(data: Data) -> Judgement:
    """C16."""
    grid = data.grid("maxDAT 2")
    return _all(*(
        within(f"{TCP[tcp]}'s {quantity} at {bler:g}", grid.mean(quantity, tcp=tcp, bler=bler), paper * (1 - band),
               paper * (1 + band))
        for bler, band in ((0.01, 0.12), (0.1, 0.25))
        for tcp, theirs in TABLE_6_2[bler].items()
        for quantity, paper in zip(("window_packets", "rtt_s"), theirs, strict=True)
    ))  # fmt: skip


def counted_packets(data: Data) -> Judgement:
    """C19."""
    grid = data.grid("chapter 7")
    return _all(
        within("mean size", grid.mean("packet_bytes"), 1278 * 0.99, 1278 * 1.01, " B"),
        within("packets of a connection", grid.mean("packets_per_connection"), 6, 10),
    )


def any_dip(data: Data) -> Judgement:
    """C20."""
    _, goodput = tenths(data.grid("chapter 7"))
    means = [float(one.mean()) for one in goodput]
    place = min(range(1, len(means) - 1), key=lambda i: means[i])
    before, after = max(means[:place]), max(means[place + 1 :])
    dip = 100 * (1 - means[place] / min(before, after))
    return _all(within("dip of means", exact(dip), 0, 10, " %"), above("last − first parts", exact(means[-1] - before)))


def generous_retransmissions(data: Data) -> Judgement:
    """C22."""
    grid = data.grid("chapter 7")
    versions = grid.axes["tcp"]
    return _all(
        *(within(TCP[tcp], grid.mean("retransmissions", tcp=tcp), 0.9, 3) for tcp in versions),
        *(within(f"{TCP[tcp]}'s share of timeouts", estimate(grid.ratio("timeouts", "retransmissions", tcp=tcp)), 0.4,
                 0.7) for tcp in versions),
        *(above(f"{TCP[tcp]} − Sack", grid.difference("retransmissions", {"tcp": tcp}, {"tcp": "sack"}))
          for tcp in versions if tcp != "sack"),
    )  # fmt: skip


def fewer_with_max_dat(data: Data) -> Judgement:
    """C23."""
    grid = data.grid("chapter 7")
    values = grid.axes["max_dat"]
    return _all(
        above("fall", grid.difference("retransmissions", {"max_dat": values[0]}, {"max_dat": values[-1]})),
        *(above(f"{TCP[tcp]} − Sack at maxDAT {m}",
                grid.difference("retransmissions", {"tcp": tcp}, {"tcp": "sack"}, max_dat=m))
          for tcp in grid.axes["tcp"] if tcp != "sack" for m in values),
    )  # fmt: skip


def efficiency_of_points(data: Data) -> Judgement:
    """C25."""
    grid = data.grid("chapter 7")
    means = [grid.mean("efficiency_pct", **point) for point in grid.points()]
    low, high = (of(means, key=lambda one: one.mean) for of in (min, max))
    return _all(within("least", low, 7, 23, " %"), within("largest", high, 7, 23, " %"))


def _signs(
    data: Data, grid: str, *pairs: tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]
) -> list[Condition]:
    """That goodput is more here than there, each named."""
    numbers = data.grid(grid)
    return [above(name, numbers.difference("goodput_kbps", one, other, **where), unit=" kbit/s")
            for name, one, other, where in pairs]  # fmt: skip


def orders_over_max_dat(data: Data) -> Judgement:
    """C26."""
    values = data.grid("chapter 7").axes["max_dat"]
    many = [m for m in values if m >= 4]
    return _all(*_signs(
        data, "chapter 7", ("largest − least maxDAT", {"max_dat": values[-1]}, {"max_dat": values[0]}, {}),
        *((f"{one} − {other} at 3", {"tcp": one}, {"tcp": other}, {"max_dat": 3})
          for one, other in (("reno", "tahoe"), ("newreno", "tahoe"), ("tahoe", "sack"))),
        *((f"tahoe − {other} from 4 on", {"tcp": "tahoe"}, {"tcp": other}, {"max_dat": many})
          for other in ("reno", "newreno", "sack")),
    ))  # fmt: skip


def orders_over_thresholds(data: Data) -> Judgement:
    """C27."""

    def at(one: int, other: int, *tcp: str) -> tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]:
        where = {"tcp": tcp} if tcp else {}
        return f"{', '.join(tcp)} {one} − {other} B", {"threshold": one}, {"threshold": other}, where

    grid = data.grid("chapter 7")
    flat = grid.gain_pct("goodput_kbps", {"threshold": 1000}, {"threshold": 500}, tcp="tahoe")
    return _all(
        *(below(f"spread of {tcp}", one, 4, " %") for tcp, one in spreads(grid, (500, 1000, 1500)).items()),
        *_signs(
            data, "chapter 7", at(500, 1500), at(1000, 1500), at(500, 1000, "sack"), at(1000, 1500, "sack"),
            at(1000, 500, "reno"), at(1000, 500, "newreno"),
            *((f"{one} − {other} at 500 B", {"tcp": one}, {"tcp": other}, {"threshold": 500})
              for one, other in (("sack", "tahoe"), ("sack", "reno"), ("sack", "newreno"), ("reno", "newreno"))),
        ),
        within("Tahoe, 1000 over 500 B", flat, -1, 1, " %"),
    )  # fmt: skip


def any_peak(data: Data) -> Judgement:
    """C29."""
    grid = data.grid("chapter 7")
    timers = grid.axes["timer"]
    best = grid.best("goodput_kbps", "timer")["timer"]
    return _all(*_signs(data, "chapter 7", *(
        (f"best − {end} s", {"timer": best}, {"timer": end}, {}) for end in (timers[0], timers[-1])
    )))  # fmt: skip


def triggered(data: Data) -> Judgement:
    """C49."""
    less = data.grid("chapter 7").difference("allocations", {"tcp": "reno"}, {"tcp": "sack"}, threshold=1500)
    return _all(above("Reno − Sack at 1500 B", less))


# Chapter 8


def hybrid_thresholds(data: Data) -> Judgement:
    """C32."""
    grid = data.grid("chapter 8")
    values = grid.axes["threshold"]
    return _all(
        *(below(f"spread of {tcp}", one, 3, " %") for tcp, one in spreads(grid, values).items()),
        *_signs(
            data, "chapter 8",
            *((f"{t} − 1500 B", {"threshold": t}, {"threshold": 1500}, {}) for t in values if t != 1500),
            *((f"{tcp}, 1000 − {t} B", {"threshold": 1000}, {"threshold": t}, {"tcp": tcp})
              for tcp in ("reno", "newreno") for t in values if t not in (1000, 1500)),
            *[(f"sack, {values[0]} − 1000 B", {"threshold": values[0]}, {"threshold": 1000}, {"tcp": "sack"})][
                : values[0] < 1000],
        ),
    )  # fmt: skip


def hybrid_timeouts(data: Data) -> Judgement:
    """C36."""
    grid = data.grid("chapter 8")
    return _all(*(
        above(f"fall over {axis}", estimate(grid.ratio("timeouts", "retransmissions", **{axis: values[0]})
                                            - grid.ratio("timeouts", "retransmissions", **{axis: values[-1]})))
        for axis, values in (("np", grid.axes["np"]), ("p", grid.axes["p"]))
    ))  # fmt: skip


def smaller_spread(data: Data) -> Judgement:
    """C52."""
    both = shared(data)
    single, hybrid = (max(one.mean for one in spreads(data.grid(name), both).values())
                      for name in ("chapter 7", "chapter 8"))  # fmt: skip
    return _all(above("chapter 7 − chapter 8", exact(single - hybrid), unit=" %"))


def gains(data: Data) -> Judgement:
    """C55."""
    both = shared(data)
    return _all(
        *(above(f"Sack − Reno at {t} B", estimate(gain(data, "sack", t) - gain(data, "reno", t)), unit=" %")
          for t in both),
        above("Sack, largest − least", estimate(gain(data, "sack", both[-1]) - gain(data, "sack", both[0])), unit=" %"),
    )  # fmt: skip


def no_hole(data: Data) -> Judgement:
    """C38."""
    surface = Surface(data, 1000)
    conditions = []
    for tcp in ("reno", "tahoe"):
        hole = estimate(surface.hole_pct(tcp))
        conditions.append(below(f"{tcp}: lowest hole that chance allows", exact(hole.low)))
        more = surface.fall_pct(tcp, p=surface.p[-1]) - surface.fall_pct(tcp, p=surface.p[0])
        conditions.append(above(f"{tcp}: fall at the longest P − at the shortest", estimate(more), unit=" %"))
    return _all(*conditions)


def sack_easy(data: Data) -> Judgement:
    """C40."""
    surface = Surface(data, 750)
    reno, sack = (surface.fall_pct(tcp) for tcp in ("reno", "sack"))
    return _all(
        above("Sack falls", estimate(sack), unit=" %"),
        above("Sack's hole", estimate(surface.hole_pct("sack")), unit=" %"),
        above("Reno − Sack", estimate(reno - sack), unit=" %"),
    )


def spared(data: Data) -> Judgement:
    """C43."""
    grid = data.grid("chapter 8")
    p, np_values = grid.axes["p"], grid.axes["np"]

    def less(end: object) -> Array:
        made: Array = (grid.at("allocations", threshold=1500, np=end, p=p[0])
                       - grid.at("allocations", threshold=1500, np=end, p=p[-1]))  # fmt: skip
        return made

    return _all(above("spared at the smallest NP − at the largest", estimate(less(np_values[0]) - less(np_values[-1]))))


def near_the_best(data: Data) -> Judgement:
    """C44."""
    grid = data.grid("chapter 8")
    best = grid.at("goodput_kbps", threshold=750, **grid.best("goodput_kbps", "np", "p", threshold=750))
    good = [(a, b) for a in (0, 2) for b in (4, 8) if grid.has(np=a, p=b)]
    return _all(*(
        above(f"NP {a}, P {b} s over the best", estimate(100 * (grid.at("goodput_kbps", threshold=750, np=a, p=b) / best
                                                                - 1)), -1, " %") for a, b in good
    ))  # fmt: skip
