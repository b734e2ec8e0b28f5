"""§6.3.1 to 6.3.4, endless downloads on the common channels with a large maxDAT: its claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, below, judged, within
from lasthop.studies.grid import Array, Numbers
from lasthop.studies.nulls import another, instead, level
from lasthop.studies.trends import falls, rises

from ..data import Data, crossing
from ..paper import ALONE, BOTH
from ..scenario import TCP
from . import former

#: The error rate of most figures.
FEW = 0.01
#: The versions of §6.3.4 that do not look at the delay.
BY_LOSS = ("tahoe", "reno", "newreno", "sack")


def _reno_window(data: Data) -> Judgement:
    window = data.grid("versions").mean("window_packets_whole", tcp="reno")
    return judged(f"{window}", within("Reno's window", window, 19.8, 20.0))


def _vegas_window(data: Data) -> Judgement:
    window = data.grid("versions").mean("window_packets_whole", tcp="vegas")
    return judged(f"{window}", within("Vegas' window", window, 2.0, 4.2))


def _second_user_windows(data: Data) -> Judgement:
    grid = data.grid("versions")
    vegas, reno = (estimate(grid.at("both_window_packets", tcp=tcp) / grid.at("window_packets", tcp=tcp))
                   for tcp in ("vegas", "reno"))  # fmt: skip
    total = estimate(grid.at("both_window_total", tcp="vegas") / grid.at("window_packets", tcp="vegas"))
    return judged(
        f"Vegas: the first user's window × {vegas}, the total × {total}; Reno: the first user's × {reno}",
        within("Vegas' first user: window together over alone", vegas, 0.35, 0.65),
        within("Reno's first user: window together over alone", reno, 0.99, 1.01),
        vegas_total=total,
    )


def _rtt_over_errors(data: Data) -> Judgement:
    grid = data.grid("errors")
    errors = grid.axes["bler"]
    reno = grid.over("rtt_s", "bler", tcp="reno")
    conditions = rises("Reno's RTT", reno, errors, unit=" s")
    conditions.append(above("Reno's RTT at the largest error rate over that at 0.01",
                            estimate(reno(errors[-1]) / reno(FEW)), 2))  # fmt: skip
    vegas = grid.over("rtt_s", "bler", tcp="vegas")
    for bler in errors:
        conditions.append(above(f"Reno − Vegas at {bler:g}", estimate(reno(bler) - vegas(bler)), unit=" s"))
        if FEW < bler <= 0.4:
            growth = estimate(vegas(bler) / vegas(FEW))
            conditions.append(within(f"Vegas' RTT at {bler:g} over that at 0.01", growth, 0, 2))
    shown = [bler for bler in errors if bler in (0.01, 0.1, 0.4, 0.6, 0.9)]
    ours = "; ".join(
        f"{TCP[tcp]} " + ", ".join(f"{grid.mean('rtt_s', tcp=tcp, bler=bler)} s at {bler:g}" for bler in shown)
        for tcp in ("reno", "vegas")
    )
    return judged(ours, *conditions)


def _rtt_with_second_user(data: Data) -> Judgement:
    grid = data.grid("versions")
    growth = estimate(grid.at("both_rtt_s", tcp="reno") / grid.at("rtt_s", tcp="reno"))
    soon, late = (grid.at(f"both_srtt_{when}_s", tcp="vegas") for when in ("soon", "late"))
    less = estimate(1 - late / soon)
    return judged(
        f"Reno × {growth}; Vegas {estimate(soon)} s soon after the second user comes, {estimate(late)} s later",
        within("Reno's RTT together over alone", growth, 1.7, 2.6),
        above("by what share Vegas' SRTT comes down", less, 0.25),
    )


def _second_vegas(data: Data) -> str:
    grid = data.grid("versions")
    total, alone = grid.mean("both_window_total", tcp="vegas"), grid.mean("window_packets", tcp="vegas")
    timeouts = grid.mean("both_timeouts", tcp="vegas")
    return (
        "a second Vegas takes the first one's queue for part of the path's round-trip time, and keeps more packets: "
        f"the two have {total}, the first one alone {alone}. The thesis' steps are timeouts, of which the two have "
        f"{timeouts} here"
    )


def _few_retransmissions(data: Data) -> Judgement:
    versions, errors = data.grid("versions"), data.grid("errors")
    values = {
        f"{TCP[tcp]}, {users}": versions.mean(f"{part}retransmitted_pct", tcp=tcp)
        for part, users in (("", "one user"), ("both_", "two users"))
        for tcp in BY_LOSS
    }
    for bler in errors.axes["bler"]:
        values[f"Reno at error rate {bler:g}"] = errors.mean("retransmitted_pct", tcp="reno", bler=bler)
    worst = max(values.values(), key=lambda one: one.mean)
    vegas = versions.mean("both_retransmitted_pct", tcp="vegas")
    return judged(
        f"at most {worst} %; Vegas with two users {vegas} %",
        *(below(f"retransmitted: {name}", one, 0.1, " %") for name, one in values.items()),
        vegas_pct=vegas,
    )


def _with_losses(data: Data) -> Data:
    grid, limited = data.grid("versions"), data.grid("maxDAT 2")
    runs = len(grid.seeds)
    lost = np.stack([limited.at("retransmitted_pct", tcp=tcp, bler=0.1)[:runs] for tcp in grid.axes["tcp"]])
    return data.with_grids({"versions": replace(grid, values={**grid.values, "retransmitted_pct": lost})})


def _nearly_full(data: Data) -> Judgement:
    grid = data.grid("versions")
    values = {tcp: grid.mean("iub_kbps", tcp=tcp) for tcp in ("reno", "vegas")}
    return judged(
        ", ".join(f"{TCP[tcp]} {one} kbit/s" for tcp, one in values.items()),
        *(within(f"RLC throughput of {TCP[tcp]}", one, 31, 32.5, " kbit/s") for tcp, one in values.items()),
    )


def _alone(data: Data) -> Judgement:
    return _goodput(data, "", ALONE, 0.02)


def _together(data: Data) -> Judgement:
    return _goodput(data, "both_", BOTH, 0.10)


def _goodput(data: Data, part: str, paper: dict[str, float], band: float) -> Judgement:
    grid = data.grid("versions")
    conditions, parts = [], []
    for tcp, theirs in paper.items():
        sent, acked = (grid.mean(f"{part}{what}_kbps", tcp=tcp) for what in ("sent", "acked"))
        parts.append(f"{TCP[tcp]} {sent} kbit/s sent, {acked} acknowledged")
        conditions.append(within(f"goodput of {TCP[tcp]}", sent, theirs * (1 - band), theirs * (1 + band), " kbit/s"))
    return judged("; ".join(parts), *conditions)


def _header(data: Data) -> Judgement:
    grid = data.grid("versions")
    alone, together = (estimate(grid.at(f"{part}acked_kbps", tcp="vegas") / grid.at(f"{part}acked_kbps", tcp="reno"))
                       for part in ("", "both_"))  # fmt: skip
    return judged(
        f"{alone} alone, {together} together",
        within("Vegas over Reno, alone", alone, 1.02, 1.05),
        within("Vegas over Reno, together", together, 1.02, 1.05),
    )


def _beyond_the_link(data: Data) -> Judgement:
    grid = data.grid("versions")
    reno, vegas = (grid.mean("both_iub_kbps", tcp=tcp) for tcp in ("reno", "vegas"))
    less = grid.difference("both_iub_kbps", {"tcp": "reno"}, {"tcp": "vegas"})
    return judged(
        f"Reno {reno}, Vegas {vegas} kbit/s",
        above("RLC throughput of Reno", reno, 42, " kbit/s"),
        above("RLC throughput of Vegas", vegas, 42, " kbit/s"),
        above("RLC throughput, Reno − Vegas", less, unit=" kbit/s"),
    )


def _goodput_over_errors(data: Data) -> Judgement:
    grid = data.grid("errors")
    errors = grid.axes["bler"]
    conditions = [
        one
        for tcp in ("reno", "vegas")
        for one in falls(f"{TCP[tcp]}'s goodput", grid.over("sent_kbps", "bler", tcp=tcp), errors, unit=" kbit/s")
    ]
    more = {bler: grid.difference("sent_kbps", {"tcp": "vegas"}, {"tcp": "reno"}, bler=bler) for bler in errors}
    for bler, one in more.items():
        if bler <= 0.3:
            conditions.append(above(f"Vegas − Reno at {bler:g}", one, unit=" kbit/s"))
        if bler >= 0.6:
            conditions.append(below(f"Vegas − Reno at {bler:g}", one, unit=" kbit/s"))
    place = crossing(errors, [one.mean for one in more.values()])
    ours = "Vegas is worse " + ("nowhere" if place is None else f"from {place:.2f} on")
    return judged(f"{ours}; Vegas − Reno " + ", ".join(f"{one} at {bler:g}" for bler, one in more.items()) + " kbit/s",
                  *conditions)  # fmt: skip


def _lost(grid: Numbers, bler: float) -> Array:
    made: Array = grid.at("sent_kbps", tcp="reno", bler=bler) - grid.at("both_sent_kbps", tcp="reno", bler=bler)
    return made


def _congestion_over_errors(data: Data) -> Judgement:
    grid = data.grid("errors")
    errors: Sequence[float] = grid.axes["bler"]
    lost = [_lost(grid, bler) for bler in errors]
    conditions: list[Condition] = [above("part 1 − part 2: fall from the first error rate to the last",
                                         estimate(lost[0] - lost[-1]), unit=" kbit/s")]  # fmt: skip
    for n, (low, high) in enumerate(pairwise(errors)):
        step = estimate(lost[n] - lost[n + 1])
        conditions.append(above(f"part 1 − part 2: fall from {low:g} to {high:g}", step, -0.3, " kbit/s"))
    return judged(", ".join(f"{estimate(one)} at {bler:g}" for one, bler in zip(lost, errors, strict=True)) + " kbit/s",
                  *conditions)  # fmt: skip


def _small_window(data: Data) -> Judgement:
    grid = data.grid("window")
    goodput = estimate(100 * grid.at("acked_kbps", window=4) / grid.at("acked_kbps", window=20))
    rtt = estimate(grid.at("rtt_s", window=4) / grid.at("rtt_s", window=20))
    return judged(
        f"goodput {goodput} %, RTT × {rtt}",
        above("goodput with window 4, of that with 20", goodput, 98, " %"),
        below("RTT with window 4 over that with 20", rtt, 0.25),
    )


def _falls_for_all(data: Data) -> Judgement:
    grid = data.grid("versions")
    lost: dict[str, Estimate] = {
        TCP[tcp]: estimate(grid.at("sent_kbps", tcp=tcp) - grid.at("both_sent_kbps", tcp=tcp))
        for tcp in grid.axes["tcp"] if tcp != "fack"
    }  # fmt: skip
    ours = ", ".join(f"{name} {one}" for name, one in lost.items()) + " kbit/s less"
    return judged(ours, *(above(f"{name}: part 1 − part 2", one, unit=" kbit/s") for name, one in lost.items()))


_NO_VEGAS = another("versions", "tcp", {"vegas": "reno"})
_NO_VEGAS_ERRORS = another("errors", "tcp", {"vegas": "reno"})
_ALONE = instead("versions", {"both_sent_kbps": "sent_kbps", "both_iub_kbps": "iub_kbps"})
_TWO = instead("versions", {"sent_kbps": "both_sent_kbps", "iub_kbps": "both_iub_kbps"})


JUDGES: Judges[Data] = {
    "C1": Judge(_reno_window, null=another("versions", "tcp", {"reno": "vegas"})),
    "C2": Judge(_vegas_window, null=_NO_VEGAS),
    "C3": Judge(_second_user_windows, null=_NO_VEGAS, former=former.total_window, cause=_second_vegas),
    "C4": Judge(_rtt_over_errors, null=_NO_VEGAS_ERRORS, former=former.half_the_rtt),
    "C5": Judge(_rtt_with_second_user, null=_NO_VEGAS, former=former.peak, cause=_second_vegas),
    "C6": Judge(_few_retransmissions, null=_with_losses),
    "C7": Judge(_nearly_full, null=_TWO),
    "C8": Judge(_alone, null=_TWO),
    "C9": Judge(_header, null=_NO_VEGAS),
    "C10": Judge(_together, null=_ALONE),
    "C11": Judge(_beyond_the_link, null=_ALONE),
    "C12": Judge(_goodput_over_errors, null=_NO_VEGAS_ERRORS, former=former.crosses),
    "C13": Judge(_congestion_over_errors, null=level("errors", "bler")),
    "C46": Judge(_small_window, null=another("window", "window", {4: 20})),
    "C47": Judge(_falls_for_all, null=_ALONE),
}
