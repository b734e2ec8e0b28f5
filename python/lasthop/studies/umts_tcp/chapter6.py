"""Chapter 6, endless downloads on the common channels: its claims, and how runs fare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import falls, number_of, rises
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import ALONE, BOTH, TABLE_6_2

__all__ = ["CLAIMS"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The error rate of most figures.
FEW = 0.01
#: The versions of §6.3.4 that do not look at the delay.
BY_LOSS = ("tahoe", "reno", "newreno", "sack")


def _errors(grid: Numbers, most: float = 1.0) -> list[float]:
    return [bler for bler in grid.axes["bler"] if bler <= most]


def _band(name: str, value: float, low: float, high: float, unit: str = "") -> list[str]:
    """What to say if a value is outside of its band."""
    if low <= value <= high:
        return []
    return [f"{name} {number(value)}{unit}, outside {number(low)}–{number(high)}{unit}"]


def _reno_window(data: Data) -> Judgement:
    grid = data.grid("versions")
    window = grid.mean("window_packets_whole", tcp="reno")
    return verdict(_band("the window is", window.mean, 19.8, 20.0), f"{window}", {"window_packets": window})


def _vegas_window(data: Data) -> Judgement:
    window = data.grid("versions").mean("window_packets_whole", tcp="vegas")
    return verdict(_band("the window is", window.mean, 2.0, 4.2), f"{window}", {"window_packets": window})


def _second_user_windows(data: Data) -> Judgement:
    grid = data.grid("versions")
    values, outside = {}, []
    for tcp in ("vegas", "reno"):
        alone, both, total = (
            grid.at(name, tcp=tcp) for name in ("window_packets", "both_window_packets", "both_window_total")
        )
        values[f"{tcp}_first_user"] = estimate(both / alone)
        values[f"{tcp}_total"] = estimate(total / alone)
    outside += _band("Vegas' total over the first part's window is", values["vegas_total"].mean, 0.75, 1.25)
    outside += _band("Reno's window over the first part's is", values["reno_first_user"].mean, 0.99, 1.01)
    ours = (
        f"Vegas: the first user's window × {values['vegas_first_user']}, the total × {values['vegas_total']}; "
        f"Reno: the first user's × {values['reno_first_user']}"
    )
    return verdict(outside, ours, values)


def _rtt_over_errors(data: Data) -> Judgement:
    grid = data.grid("errors")
    errors = _errors(grid)
    differences, outside = rises("Reno's RTT at error rate", grid.over("rtt_s", "bler", tcp="reno"), errors)
    means = {tcp: grid.along("rtt_s", "bler", tcp=tcp) for tcp in ("reno", "vegas")}
    for bler, reno, vegas in zip(errors, means["reno"], means["vegas"], strict=True):
        if not vegas.mean < reno.mean / 2:
            outside.append(f"at {bler:g} Vegas has {vegas} s, Reno {reno} s: not less than half")
        if bler <= 0.4 and not vegas.mean <= 2 * means["vegas"][0].mean:
            outside.append(f"Vegas' RTT at {bler:g} is {vegas.mean / means['vegas'][0].mean:.1f} times that at {FEW}")
    shown = [bler for bler in errors if bler in (0.01, 0.1, 0.4, 0.6, 0.9)]
    ours = "; ".join(
        f"{TCP[tcp]} " + ", ".join(f"{means[tcp][errors.index(bler)]} s at {bler:g}" for bler in shown)
        for tcp in ("reno", "vegas")
    )
    return order(ours, differences, outside)


def _rtt_with_second_user(data: Data) -> Judgement:
    grid = data.grid("versions")
    growth = estimate(grid.at("both_rtt_s", tcp="reno") / grid.at("rtt_s", tcp="reno"))
    peak = estimate(grid.at("both_srtt_peak_s", tcp="vegas") - grid.at("both_rtt_s", tcp="vegas"))
    outside = _band("Reno's RTT grows by a factor of", growth.mean, 1.7, 2.6)
    ours = f"Reno × {growth}; Vegas' largest SRTT is {peak} s above its later mean"
    return order(ours, {"Vegas' peak − its later mean (s)": peak}, outside, reno_factor=growth)


def _few_retransmissions(data: Data) -> Judgement:
    versions, errors = data.grid("versions"), data.grid("errors")
    values: dict[str, Estimate] = {}
    for part in ("", "both_"):
        for tcp in BY_LOSS:
            values[f"{part}{tcp}"] = versions.mean(f"{part}retransmitted_pct", tcp=tcp)
    outside = [
        f"{TCP[name.removeprefix('both_')]} {one} % with {'two users' if 'both' in name else 'one user'}"
        for name, one in values.items()
        if not one.mean < 0.1
    ]
    for bler in _errors(errors):
        one = errors.mean("retransmitted_pct", tcp="reno", bler=bler)
        values[f"reno_at_{bler:g}"] = one
        if not one.mean < 0.1:
            outside.append(f"Reno {one} % at error rate {bler:g}")
    worst = max(values.values(), key=lambda one: one.mean)
    vegas = versions.mean("both_retransmitted_pct", tcp="vegas")
    return verdict(outside, f"at most {worst} %; Vegas with two users {vegas} %", values)


def _nearly_full(data: Data) -> Judgement:
    grid = data.grid("versions")
    values = {tcp: grid.mean("iub_kbps", tcp=tcp) for tcp in ("reno", "vegas")}
    outside = [text for tcp, one in values.items() for text in _band(f"{TCP[tcp]}:", one.mean, 31, 32.5, " kbit/s")]
    return verdict(outside, ", ".join(f"{TCP[tcp]} {one} kbit/s" for tcp, one in values.items()), values)


def _alone(data: Data) -> Judgement:
    return _goodput(data, "", ALONE, 0.02)


def _together(data: Data) -> Judgement:
    return _goodput(data, "both_", BOTH, 0.10)


def _goodput(data: Data, part: str, paper: dict[str, float], band: float) -> Judgement:
    grid = data.grid("versions")
    values, outside, parts = {}, [], []
    for tcp, theirs in paper.items():
        sent, acked = (grid.mean(f"{part}{what}_kbps", tcp=tcp) for what in ("sent", "acked"))
        values[f"{tcp}_sent_kbps"], values[f"{tcp}_acked_kbps"] = sent, acked
        parts.append(f"{TCP[tcp]} {sent} kbit/s sent, {acked} acknowledged")
        if not abs(sent.mean / theirs - 1) <= band:
            outside.append(f"{TCP[tcp]} {100 * (sent.mean / theirs - 1):+.1f} %")
    if outside and part:
        outside.append("what is missing is asked for again while it is under way, and sent twice")
    return verdict(outside, "; ".join(parts), values)


def _header(data: Data) -> Judgement:
    grid = data.grid("versions")
    values = {
        name: estimate(grid.at(f"{part}acked_kbps", tcp="vegas") / grid.at(f"{part}acked_kbps", tcp="reno"))
        for name, part in (("alone", ""), ("together", "both_"))
    }
    outside = [text for name, one in values.items() for text in _band(f"{name}", one.mean, 1.02, 1.05)]
    if outside:
        outside.append(
            "(ns-2's Vegas sends segments without the 40 B of header that the others carry: 1040/1000 = 1.04)"
        )
    return verdict(outside, f"{values['alone']} alone, {values['together']} together", values)


def _beyond_the_link(data: Data) -> Judgement:
    grid = data.grid("versions")
    reno, vegas = (grid.mean("both_iub_kbps", tcp=tcp) for tcp in ("reno", "vegas"))
    low = [f"{name} {one} kbit/s" for name, one in (("Reno", reno), ("Vegas", vegas)) if not one.mean > 42]
    less = grid.difference("both_iub_kbps", {"tcp": "reno"}, {"tcp": "vegas"})
    return order(f"Reno {reno}, Vegas {vegas} kbit/s", {"Reno − Vegas (kbit/s)": less}, low, reno=reno, vegas=vegas)


def _goodput_over_errors(data: Data) -> Judgement:
    grid = data.grid("errors")
    errors = _errors(grid)
    differences: dict[str, Estimate] = {}
    outside: list[str] = []
    for tcp in ("reno", "vegas"):
        one, steps = falls(f"{TCP[tcp]}'s goodput at error rate", grid.over("sent_kbps", "bler", tcp=tcp), errors)
        differences |= one
        outside += steps
    more = [grid.difference("sent_kbps", {"tcp": "vegas"}, {"tcp": "reno"}, bler=bler) for bler in errors]
    crossing = _crossing(errors, [one.mean for one in more])
    differences[f"Vegas − Reno at {errors[0]:g}"] = more[0]
    if crossing is None:
        outside.append("Vegas is never worse than Reno" if more[-1].mean >= 0 else "Vegas is never better than Reno")
    else:
        outside += _band("Vegas is worse from an error rate of", crossing, 0.3, 0.6)
    ours = "Vegas is worse " + ("nowhere" if crossing is None else f"from {crossing:.2f} on")
    ours += f"; Vegas − Reno {more[0]} kbit/s at {errors[0]:g}, {more[-1]} at {errors[-1]:g}"
    return order(ours, differences, outside)


def _crossing(places: Sequence[float], values: Sequence[float]) -> float | None:
    """Where a curve that begins above 0 first comes below."""
    for (low, one), (high, other) in zip(zip(places, values, strict=True), zip(places[1:], values[1:], strict=True),
                                         strict=False):  # fmt: skip
        if one > 0 >= other:
            return low + (high - low) * one / (one - other)
    return None


def _congestion_over_errors(data: Data) -> Judgement:
    grid = data.grid("errors")
    errors = _errors(grid)

    def less(bler: float) -> Array:
        made: Array = grid.at("sent_kbps", tcp="reno", bler=bler) - grid.at("both_sent_kbps", tcp="reno", bler=bler)
        return made

    lost = {bler: estimate(less(bler)) for bler in errors}
    outside = [
        f"from {low:g} to {high:g} it grows by {lost[high].mean - lost[low].mean:.2f} kbit/s"
        for low, high in pairwise(errors)
        if lost[high].mean > lost[low].mean + 0.3
    ]
    ends, _ = falls("part 1 − part 2 at error rate", less, errors)
    shown = [errors[0], *(bler for bler in errors if bler in (0.1, 0.4)), errors[-1]]
    ours = ", ".join(f"{lost[bler]} at {bler:g}" for bler in shown) + " kbit/s"
    return order(ours, ends, outside)


def _few_transmissions(data: Data) -> Judgement:
    grid = data.grid("maxDAT 2")
    between = [bler for bler in (0.05, 0.1, 0.15) if bler in grid.axes["bler"]]
    high = [bler for bler in grid.axes["bler"] if bler > 0.2]
    outside = [
        f"{TCP[tcp]} {number(one.mean)} kbit/s at {bler:g}"
        for bler in high
        for tcp in ("tahoe", "reno", "newreno", "vegas", "sack")
        if not (one := grid.mean("sent_kbps", tcp=tcp, bler=bler)).mean < 3
    ]

    def more(one: str, other: str) -> Estimate:
        return grid.difference("sent_kbps", {"tcp": one}, {"tcp": other}, bler=between)

    differences = {
        f"{TCP[one]} − {TCP[other]}": more(one, other) for one, other in (("tahoe", "reno"), ("tahoe", "vegas"))
    }
    values = {}
    for better, other in (("sack", "newreno"), ("newreno", "tahoe")):
        values[f"{better}_minus_{other}"] = least = more(better, other)
        if least.excludes(0) and least.mean < 0:
            outside.append(f"{TCP[better]} − {TCP[other]} is {least} kbit/s at 0.05–0.15")
    for other in BY_LOSS:
        differences[f"Vegas − {TCP[other]} at {FEW}"] = grid.difference(
            "sent_kbps", {"tcp": "vegas"}, {"tcp": other}, bler=FEW
        )
    means = sorted(((grid.mean("sent_kbps", tcp=tcp, bler=between), tcp) for tcp in (*BY_LOSS, "vegas")),
                   key=lambda one: -one[0].mean)  # fmt: skip
    ours = f"mean at {'–'.join(f'{bler:g}' for bler in (between[0], between[-1]))}: " + ", ".join(
        f"{TCP[tcp]} {mean}" for mean, tcp in means
    )
    return order(ours + " kbit/s", differences, outside, **values)


def _saturates(data: Data) -> Judgement:
    grid = data.grid("maxDAT")
    most = max(grid.axes["max_dat"])
    outside = []
    versions = [tcp for tcp in grid.axes["tcp"] if tcp != "fack"]
    for tcp in versions:
        gain = grid.gain_pct("sent_kbps", {"max_dat": most}, {"max_dat": 4}, tcp=tcp)
        if not abs(gain.mean) <= 1:
            outside.append(f"{TCP[tcp]} gains {gain} % beyond maxDAT 4")
    apart = {}
    for tcp in versions:
        if tcp == "reno":
            continue
        apart[tcp] = gain = grid.gain_pct("sent_kbps", {"tcp": tcp}, {"tcp": "reno"}, max_dat=most)
        if tcp == "vegas" and abs(gain.mean) <= 1:
            outside.append(f"Vegas differs by {gain} %")
        if tcp != "vegas" and not abs(gain.mean) <= 1:
            outside.append(f"{TCP[tcp]} differs by {gain} %")
    shown = [m for m in grid.axes["max_dat"] if m in (2, 3, 4, most)]
    steps = ", ".join(f"{grid.mean('sent_kbps', tcp='reno', max_dat=m)} at {number_of(m)}" for m in shown)
    ours = f"Reno {steps} kbit/s; at {number_of(most)} against Reno: " + ", ".join(
        f"{TCP[tcp]} {one} %" for tcp, one in apart.items()
    )
    return verdict(outside, ours, {f"{tcp}_over_reno_pct": one for tcp, one in apart.items()})


def _table(data: Data) -> Judgement:
    grid = data.grid("maxDAT 2")
    values, outside, near = {}, [], 0
    for bler, band in ((0.01, 0.12), (0.1, 0.25)):
        for tcp, theirs in TABLE_6_2[bler].items():
            for name, unit, quantity, paper in zip(
                ("window", "RTT"), ("", " s"), ("window_packets", "rtt_s"), theirs, strict=True
            ):
                one = grid.mean(quantity, tcp=tcp, bler=bler)
                values[f"{tcp}_{name.lower()}_at_{bler:g}"] = one
                near += abs(one.mean / paper - 1) <= band
                if not abs(one.mean / paper - 1) <= band:
                    outside.append(f"{TCP[tcp]}'s {name} at {bler:g} is {one}{unit}, paper {paper:g}")
    return verdict(outside, f"{near} of {len(values)} values within the bands", values)


def _unfair(data: Data) -> Judgement:
    grid = data.grid("two users, small maxDAT")
    least = min(grid.axes["max_dat"])
    values = {
        f"{tcp} {m}": grid.mean("both_jain", tcp=tcp, max_dat=m)
        for m in grid.axes["max_dat"]
        for tcp in grid.axes["tcp"]
    }
    outside = [
        f"{TCP[tcp]}: {values[f'{tcp} {least}']} at maxDAT {least}"
        for tcp in grid.axes["tcp"]
        if not values[f"{tcp} {least}"].mean < 0.9
    ]
    if outside:
        outside.append(
            "who finds room in the Node B's queue is drawn anew in each interval, so both lose alike; without that "
            "random spacing EURANE serves one user alone"
        )
    ours = ", ".join(f"{TCP[tcp]} {values[f'{tcp} {least}']}" for tcp in grid.axes["tcp"])
    return verdict(
        outside,
        f"Jain's index at maxDAT {least}: {ours}",
        {name.replace(" ", "_max_dat_"): one for name, one in values.items()},
    )


def _alike(data: Data) -> Judgement:
    grid = data.grid("maxDAT 2")
    means = {tcp: grid.mean("sent_kbps", tcp=tcp, bler=FEW) for tcp in BY_LOSS}
    middle = sum(one.mean for one in means.values()) / len(means)
    outside = [f"{TCP[tcp]} {100 * (one.mean / middle - 1):+.1f} %" for tcp, one in means.items()
               if not abs(one.mean / middle - 1) <= 0.02]  # fmt: skip
    return verdict(outside, ", ".join(f"{TCP[tcp]} {one}" for tcp, one in means.items()) + " kbit/s", means)


def _small_window(data: Data) -> Judgement:
    grid = data.grid("window")
    goodput = estimate(100 * grid.at("acked_kbps", window=4) / grid.at("acked_kbps", window=20))
    rtt = estimate(grid.at("rtt_s", window=4) / grid.at("rtt_s", window=20))
    outside = [] if goodput.mean >= 98 else [f"goodput is {goodput} %"]
    outside += [] if rtt.mean <= 0.25 else [f"the RTT is {rtt} of that of window 20"]
    return verdict(outside, f"goodput {goodput} %, RTT × {rtt}", {"goodput_pct": goodput, "rtt_ratio": rtt})


def _falls_for_all(data: Data) -> Judgement:
    grid = data.grid("versions")
    lost = {f"{TCP[tcp]}: part 1 − part 2": estimate(grid.at("sent_kbps", tcp=tcp) - grid.at("both_sent_kbps", tcp=tcp))
            for tcp in grid.axes["tcp"] if tcp != "fack"}  # fmt: skip
    ours = ", ".join(f"{name.partition(':')[0]} {one}" for name, one in lost.items()) + " kbit/s less"
    return order(ours, lost, [])


SIGN = "the order is claimed, no number"

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C1", "6.3.1, 6.3.4", "With a large maxDAT Reno keeps its window at the advertised one", "19.97 of 20",
        "19.8–20",
        "a window that is only limited by the advertised one, slow start included", _reno_window, see="figure-6.1",
    ),
    Claim(
        "C2", "6.3.1, 6.3.4", "Vegas keeps its window small", "2.57; elsewhere “4”", "2–4.2",
        "the text gives two numbers", _vegas_window, see="figure-6.1",
    ),
    Claim(
        "C3", "6.3.1", "When the second user comes, Vegas' window falls in two steps to about half, and the total "
        "stays; "
        "Reno's stays", "half; unchanged", "Vegas' total ± 25 %; Reno's ± 1 %",
        "“remains unchanged” with whole packets in windows of two to four", _second_user_windows, see="figure-6.1",
    ),
    Claim(
        "C4", "6.3.2", "Reno's round-trip time grows very fast with the error rate; Vegas' is lower, and stable to 0.4",
        "trend", "Reno's rises; Vegas' < ½ of Reno's, and to 0.4 ≤ 2 × that at 0.01",
        "“significantly lower”, “quite small and stable”", _rtt_over_errors, see="figure-6.2",
    ),
    Claim(
        "C5", "6.3.2", "When the second user comes, Reno's SRTT about doubles and stays; Vegas' peaks and falls again",
        "about double", "Reno × 1.7–2.6; Vegas' peak above its later mean", "the figure's own scale",
        _rtt_with_second_user, see="figure-6.3",
    ),
    Claim(
        "C6", "6.3.3", "With a large maxDAT there is hardly any retransmission by TCP, even at high error rates, but "
        "by Vegas",
        "almost none", "< 0.1 % of the packets, two users too", "one packet in a thousand is hardly any",
        _few_retransmissions,
    ),
    Claim(
        "C7", "6.3.4", "A user alone nearly fills the link; the throughput of RLC is the same with Reno and Vegas",
        "≈ 32 kbit/s",
        "31–32.5 kbit/s each", "the link's rate less its overhead", _nearly_full, see="figure-6.4",
    ),
    Claim(
        "C8", "6.3.4", "Goodput of a user alone", "Reno 30.36, Vegas 31.48 kbit/s", "± 2 %",
        "one run against the mean of several", _alone, see="figure-6.4",
    ),
    Claim(
        "C9", "6.3.4", "Vegas over Reno, alone and together", "1.037 in both parts", "1.02–1.05",
        "ns-2's Vegas sends no header: 1.04", _header, see="figure-6.4",
    ),
    Claim(
        "C10", "6.3.4", "Goodput of two users together", "Reno 25.76, Vegas 26.72 kbit/s", "± 10 %",
        "the thesis gives neither the Iub's delay nor the status prohibit timer", _together, see="figure-6.4",
        fitted_at=["Iub 5 ms"],
    ),
    Claim(
        "C11", "6.3.4", "With two users the throughput of RLC is a lot higher than the link, and Vegas' is lower than "
        "Reno's",
        "≫ 32 kbit/s; Vegas < Reno", "> 42 kbit/s; sign, paired", "a third above the link is a lot", _beyond_the_link,
        see="figure-6.4",
    ),
    Claim(
        "C12", "6.3.4", "Goodput falls with the error rate; Vegas' is above Reno's below 0.5, and worse above",
        "crossing at 0.5",
        "falls; crossing at 0.3–0.6", "read off the figure's steps of 0.1", _goodput_over_errors, see="figure-6.5",
    ),
    Claim(
        "C13", "6.3.4", "What the second user costs shrinks with the error rate (Reno)", "falls", "no step up by more "
        "than "
        "0.3 kbit/s, ends paired", "a hundredth of the link", _congestion_over_errors, see="figure-6.6",
    ),
    Claim(
        "C14", "6.3.5", "maxDAT 2: nearly nothing above 0.2; at 0.05–0.15 Sack, Newreno, Tahoe, then Reno and Vegas; "
        "at 0.01 "
        "Vegas slightly best", "order", "< 3 kbit/s above 0.2; order, paired", SIGN, _few_transmissions,
        see="figure-6.7",
    ),
    Claim(
        "C15", "6.3.5", "At an error rate of 0.05 goodput saturates in maxDAT; above, only Vegas differs", "saturates",
        "from maxDAT 4 on ± 1 %; the others within 1 % of Reno, Vegas not", "what is not seen in the figure",
        _saturates,
        see="figure-6.8",
    ),
    Claim(
        "C16", "Table 6.2", "Windows and round-trip times of six versions at maxDAT 2", "24 numbers", "± 12 % at "
        "0.01, ± 25 % at 0.1",
        "at 0.1 a window is two packets", _table, see="figure-6.7",
    ),
    Claim(
        "C17", "6.3.5", "With a small maxDAT two users share very unevenly", "“large inequity”", "Jain's index < 0.9 "
        "at maxDAT 2",
        "one user has twice the other's", _unfair,
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C45", "6.3.5", "At maxDAT 2 and an error rate of 0.01 Reno, Newreno, Tahoe and Sack perform the same",
        "the same",
        "± 2 %", "the figure's resolution", _alike, see="figure-6.7",
    ),
    Claim(
        "C46", "6.3.2", "A smaller advertised window lowers the round-trip time, not the goodput", "no loss",
        "window 4: goodput ≥ 98 %, RTT ≤ ¼ of window 20", "a window of a fifth, four times what the empty path needs",
        _small_window,
    ),
    Claim(
        "C47", "9.1", "With the second user the total goodput falls with every version", "a little", "sign, paired",
        SIGN,
        _falls_for_all, see="figure-6.4",
    ),
]  # fmt: skip
