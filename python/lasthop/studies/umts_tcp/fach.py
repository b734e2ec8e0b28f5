"""§6.3.1 to 6.3.4, endless downloads on the common channels with a large maxDAT: its claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Condition, Judgement, above, below, judged, within
from lasthop.studies.grid import Numbers
from lasthop.studies.trends import falls, rises
from lasthop.studies.umts_tcp import former
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.measures import crossing
from lasthop.studies.umts_tcp.nulls import another, instead, level
from lasthop.studies.umts_tcp.readings import IUB, readings_with
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import ALONE, BOTH

__all__ = ["BY_LOSS", "CLAIMS", "FEW"]

Array = np.ndarray[Any, np.dtype[np.float64]]

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


_NO_VEGAS = another("Reno in the place of Vegas: it does not look at the delay", "versions", "tcp", {"vegas": "reno"})
_NO_VEGAS_ERRORS = another("Reno in the place of Vegas: one cannot differ from itself", "errors", "tcp",
                           {"vegas": "reno"})  # fmt: skip
_ALONE = instead(
    "a user alone in the place of two: nobody shares the channel", "versions",
    both_sent_kbps="sent_kbps", both_iub_kbps="iub_kbps",
)  # fmt: skip
_TWO = instead("two users in the place of one: the channel is shared", "versions", sent_kbps="both_sent_kbps",
               iub_kbps="both_iub_kbps")  # fmt: skip

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C1", "6.3.1, 6.3.4",
        "TCP Reno keeps the outstanding window size at its maximum value (the advertised window, 20 packets).",
        "With a large maxDAT Reno keeps its window at the advertised one", "19.97 of 20",
        "packets sent and not acknowledged, mean of samples of the first part with its start", "19.8–20",
        "a window that is only limited by the advertised one, slow start included", _reno_window,
        another("Vegas in the place of Reno: it keeps its window small", "versions", "tcp", {"reno": "vegas"}),
        see="figure-6.1",
    ),
    Claim(
        "C2", "6.3.1, 6.3.4",
        "It uses the RTT as a congestion indicator, and not only the lost TCP packets, keeping its outstanding window "
        "quite small (2.57 packets).",
        "Vegas keeps its window small", "2.57; elsewhere “4”", "as C1", "2–4.2", "the text gives two numbers",
        _vegas_window, _NO_VEGAS, see="figure-6.1",
    ),
    Claim(
        "C3", "6.3.1",
        "When the second user begins to transmit, Figure 6.1 shows 2 distinct decreasing steps, corresponding to RTOs "
        "caused by the congestion, and CWND decreases until half its past value.",
        "When the second user comes, the first one's window falls to about half with Vegas, and stays with Reno",
        "half; unchanged", "the first user's mean window in the second part over that in the first",
        "Vegas 0.35–0.65; Reno 0.99–1.01", "half, by half a packet more or less of the three to four that it has",
        _second_user_windows, _NO_VEGAS,
        Former("Vegas' total over the first part's window 0.75–1.25; Reno's as now",
               "the thesis plots one user, and infers the total from it", former.total_window),
        see="figure-6.1", cause=_second_vegas,
    ),
    Claim(
        "C4", "6.3.2",
        "While using Reno TCP, the average RTT grows very fast with the error rate. However, if TCP Vegas is used, the "
        "RTT stays quite small and stable until the error rate becomes higher than 0.4. … Figure 6.2 shows that the "
        "RTT is always significantly lower in the case of TCP Vegas.",
        "Reno's round-trip time grows very fast with the error rate; Vegas' is lower, and stable to 0.4", "trend",
        "mean RTT of the first user alone, at each error rate",
        "Reno's rises, to more than twice; Vegas' lower at each, in pairs; to 0.4 at most twice that at 0.01",
        "“very fast”: it doubles at least; “stable”: it does not yet", _rtt_over_errors, _NO_VEGAS_ERRORS,
        Former("Vegas' less than half of Reno's at every error rate",
               "the text says significantly lower, not by what factor", former.half_the_rtt),
        see="figure-6.2",
    ),
    Claim(
        "C5", "6.3.2",
        "The two decreasing steps of the Vegas CWND results in two distinct decreasing steps of the Vegas SRTT. In the "
        "case of Reno, the RTT grows very rapidly and never goes down, since the congestion is not detected by the "
        "Reno TCP sender. Therefore, the CWND does not adapt itself and the number of outstanding packets is doubled",
        "When the second user comes, Reno's SRTT about doubles and stays; Vegas' comes down again", "about double",
        "Reno: mean RTT of the second part over that of the first; Vegas: SRTT in the first 200 s with the second user "
        "and from 500 s on",
        "Reno × 1.7–2.6; Vegas down by a quarter at least",
        "twice the packets; Fig. 6.1 shows both steps down before 2000 s, and the window halves", _rtt_with_second_user,
        _NO_VEGAS,
        Former("Vegas' largest SRTT above its later mean", "the largest of a series is always above its mean",
               former.peak), see="figure-6.3", cause=_second_vegas,
    ),
    Claim(
        "C6", "6.3.3",
        "As said before, in the case of Reno, Newreno, Fack, Sack and Tahoe, there are almost no retransmissions, even "
        "if the error rate is high.",
        "With a large maxDAT there is hardly any retransmission by TCP, even at high error rates, but by Vegas",
        "almost none", "retransmitted packets of all sent, of one user and of two, and of Reno at each error rate",
        "< 0.1 %", "one packet in a thousand is hardly any", _few_retransmissions,
        Null("the retransmissions of maxDAT 2 at an error rate of 0.1, where RLC gives packets up", _with_losses),
    ),
    Claim(
        "C7", "6.3.4", "During the first part, the link is almost used at its full capacity (32kbs).",
        "A user alone nearly fills the link; the throughput of RLC is the same with Reno and Vegas", "≈ 32 kbit/s",
        "PDUs that RLC sends over the Iub, times 320 bits", "31–32.5 kbit/s each", "the link's rate less its overhead",
        _nearly_full, _TWO, see="figure-6.4",
    ),
    Claim(
        "C8", "6.3.4",
        "The TCP Vegas goodput is a little bit higher than the other protocols (31.48kbs instead of 30.36kbs), and the "
        "RLC throughput is the same.",
        "Goodput of a user alone", "Reno 30.36, Vegas 31.48 kbit/s", "payload sent for the first time", "± 2 %",
        "one run against the mean of several", _alone, _TWO, see="figure-6.4",
    ),
    Claim(
        "C9", "6.3.4",
        "The TCP Vegas goodput is a little bit higher than the other protocols (31.48kbs instead of 30.36kbs) … This "
        "explains the smaller TCP goodput (25.76kbs for Reno, 26.72kbs for Vegas).",
        "Vegas over Reno, alone and together", "1.037 in both parts", "goodput acknowledged, in pairs", "1.02–1.05",
        "ns-2's Vegas sends no header: 1.04", _header, _NO_VEGAS, see="figure-6.4",
    ),
    Claim(
        "C10", "6.3.4", "This explains the smaller TCP goodput (25.76kbs for Reno, 26.72kbs for Vegas).",
        "Goodput of two users together", "Reno 25.76, Vegas 26.72 kbit/s", "as C8, of both users", "± 10 %",
        "the thesis gives neither the Iub's delay nor the status prohibit timer", _together, _ALONE, see="figure-6.4",
        fitted="the delay of 5 ms was chosen by this goodput", fitted_at=readings_with(IUB),
        cause="what is missing is asked for again while it is under way, and sent twice: the more so the longer the "
        "Iub's delay",
    ),
    Claim(
        "C11", "6.3.4",
        "Moreover, the RLC throughput is a lot higher than the link capacity. … Another observation is that the RLC "
        "throughput while using Vegas is smaller than while using Reno.",
        "With two users the throughput of RLC is a lot higher than the link, and Vegas' is lower than Reno's",
        "≫ 32 kbit/s; Vegas < Reno", "as C7, of both users", "> 42 kbit/s; sign, in pairs",
        "a third above the link is a lot", _beyond_the_link, _ALONE, see="figure-6.4",
    ),
    Claim(
        "C12", "6.3.4",
        "The general trend is that the goodput decreases while the error rate grows. … Moreover, the goodput while "
        "using Vegas is always higher than … the goodput while using Reno, for error rates smaller than 0.5. "
        "Afterwards, the Vegas performance becomes worse.",
        "Goodput falls with the error rate; Vegas' is above Reno's below 0.5, and worse above", "crossing at 0.5",
        "goodput of a user alone at each error rate", "falls; Vegas above Reno at each to 0.3, below from 0.6 on",
        "the figure has steps of 0.1, and the text says “0.4 or 0.5” too", _goodput_over_errors, _NO_VEGAS_ERRORS,
        Former("the means cross at 0.3–0.6; Vegas above Reno at 0.01",
               "the text says always higher, and a crossing of means has no interval", former.crosses),
        see="figure-6.5",
    ),
    Claim(
        "C13", "6.3.4",
        "However, the goodput difference between part 1 and part 2 (respectively with and without congestion) is "
        "decreasing with the error rate.",
        "What the second user costs shrinks with the error rate (Reno)", "falls",
        "goodput of the first part less that of the second", "ends in pairs, no step up by more than 0.3 kbit/s",
        "a hundredth of the link", _congestion_over_errors, level("errors", "bler", "error rate"), see="figure-6.6",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C46", "6.3.2",
        "Following this equation, notice that without reducing the throughput, reducing the advertised window lead to "
        "a smaller RTT.",
        "A smaller advertised window lowers the round-trip time, not the goodput", "no loss",
        "Reno alone with windows of 4 and 20 packets", "goodput ≥ 98 %, RTT ≤ ¼",
        "a window of a fifth, four times what the empty path needs", _small_window,
        another("a window of 20 packets in the place of 4: nothing is reduced", "window", "window", {4: 20}),
    ),
    Claim(
        "C47", "9.1",
        "When a second user began to transmit on FACH, the total goodput decreased a little bit with all the TCP "
        "versions.",
        "With the second user the total goodput falls with every version", "a little",
        "goodput of the first part less that of the second, of each version", "sign, in pairs",
        "the order is claimed, no number", _falls_for_all, _ALONE, see="figure-6.4",
    ),
]  # fmt: skip
