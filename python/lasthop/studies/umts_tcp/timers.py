"""§8.3.3 to 8.4, goodput over both timers, at each threshold: its claims."""

from __future__ import annotations

from typing import Any

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Claim, Former, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged
from lasthop.studies.trends import falls, rises, spread_pct
from lasthop.studies.umts_tcp import former
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.goodput import seen
from lasthop.studies.umts_tcp.measures import Surface
from lasthop.studies.umts_tcp.nulls import another, level, mirrored
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import VISIBLE_PCT

__all__ = ["CLAIMS", "MORE"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The versions whose surfaces the thesis shows beside Sack's.
SHOWN = ("reno", "tahoe")


def _falls(surface: Surface, tcp: str) -> list[Condition]:
    """That goodput falls over NP."""
    return falls(f"{TCP[tcp]}'s goodput over NP", lambda v: surface.at(tcp=tcp, np=v), surface.np, unit=" kbit/s")


def _easy_to_allocate(data: Data) -> Judgement:
    surface = Surface(data, 750)
    conditions: list[Condition] = []
    parts = []
    for tcp in SHOWN:
        hole = estimate(surface.hole_pct(tcp))
        conditions += [*_falls(surface, tcp), above(f"{TCP[tcp]}'s hole", hole, unit=" %")]
        parts.append(f"{TCP[tcp]} falls over NP by {estimate(surface.fall_pct(tcp))} %, hole {hole} %")
    apart = estimate(100 * (surface.at(tcp="reno") / surface.at(tcp="tahoe") - 1))
    conditions.append(alike("Reno over Tahoe", apart, 1.5, " %"))
    return judged(f"{'; '.join(parts)}; Reno over Tahoe {apart} %", *conditions)


def _no_hole(data: Data) -> Judgement:
    surface = Surface(data, 1000)
    conditions, parts = [], []
    for tcp in SHOWN:
        hole = estimate(surface.hole_pct(tcp))
        short, long = (surface.fall_pct(tcp, p=p) for p in (surface.p[0], surface.p[-1]))
        conditions += [
            below(f"{TCP[tcp]}'s hole", hole, VISIBLE_PCT, " %"),
            above(f"{TCP[tcp]}: fall over NP at the longest P − at the shortest", estimate(long - short), unit=" %"),
        ]
        parts.append(
            f"{TCP[tcp]} falls over NP by {estimate(short)} % at P {surface.p[0]} s, {estimate(long)} % at "
            f"{surface.p[-1]} s, hole {hole} %"
        )
    return judged("; ".join(parts), *conditions)


def _one_trigger(data: Data) -> str:
    grid = data.grid("chapter 8")
    small, large = (grid.mean("allocations", threshold=t) for t in (750, 1000))
    return (
        "packets have 576 or 1500 B, so 750 B and 1000 B are one trigger: a full packet passes both, a small one "
        f"neither, two small ones both. Allocations per connection are {small} at 750 B and {large} at 1000 B, so what "
        "one threshold shows the other must"
    )


def _bowl(data: Data) -> Judgement:
    surface = Surface(data, 1500)
    sums = sorted({a + b for a in surface.np for b in surface.p})
    groups = {
        "small": [s for s in sums if s <= 6],
        "middle": [s for s in sums if 8 <= s <= 14],
        "large": [s for s in sums if s >= 18],
    }
    if not all(groups.values()):
        raise NotRun("no sums of timers in the middle")

    def of(tcp: str, group: str) -> Array:
        points = [(a, b) for a in surface.np for b in surface.p if a + b in groups[group]]
        made: Array = np.mean([surface.at(tcp=tcp, np=a, p=b) for a, b in points], axis=0)
        return made

    more = {(tcp, end): estimate(100 * (of(tcp, end) / of(tcp, "middle") - 1))
            for tcp in SHOWN for end in ("small", "large")}  # fmt: skip
    ours = "; ".join(f"{TCP[tcp]} {more[tcp, 'small']} % and {more[tcp, 'large']} % above the middle" for tcp in SHOWN)
    return judged(
        f"at small and large NP + P: {ours}",
        *(above(f"{TCP[tcp]}: {end} sums over middle ones", one, unit=" %") for (tcp, end), one in more.items()),
    )


def _sack_easy(data: Data) -> Judgement:
    surface = Surface(data, 750)
    hole = estimate(surface.hole_pct("sack"))
    reno, sack = (surface.fall_pct(tcp) for tcp in ("reno", "sack"))
    return judged(
        f"Sack falls over NP by {estimate(sack)} %, Reno by {estimate(reno)} %; hole {hole} %",
        *_falls(surface, "sack"),
        above("Sack's hole", hole, unit=" %"),
        seen("fall over NP, Reno's − Sack's", estimate(reno - sack)),
    )


def _range(surface: Surface, **where: Any) -> Array:
    """By how many per cent goodput differs over the timers."""
    return spread_pct([surface.at(np=a, p=b, **where) for a in surface.np for b in surface.p])


def _unpredictable(data: Data) -> Judgement:
    small, large = (_range(Surface(data, threshold), tcp="sack") for threshold in (750, 1000))
    return judged(
        f"goodput varies over the timers by {estimate(large)} %, and by {estimate(small)} % at 750 B",
        above("range over the timers at 1000 B − at 750 B", estimate(large - small), unit=" %"),
    )


def _sack_hard(data: Data) -> Judgement:
    surface = Surface(data, 1500)
    conditions: list[Condition] = []
    gains = []
    for value in surface.np:

        def of(p: Any, np: Any = value) -> Array:
            return surface.at(tcp="sack", np=np, p=p)

        gains.append(f"{estimate(of(surface.p[-1]) - of(surface.p[0]))} at NP {value} s")
        conditions += rises(f"Sack's goodput over P at NP {value} s", of, surface.p, unit=" kbit/s")
    return judged("gains " + ", ".join(gains) + " (kbit/s, from the shortest P to the longest)", *conditions)


def _taken(data: Data) -> str:
    grid = data.grid("chapter 8")
    p = grid.axes["p"]
    short, long = (grid.mean("preemptions", tcp="sack", threshold=1500, p=end) for end in (p[0], p[-1]))
    return (
        f"{short} channels are taken from others per connection at P {p[0]} s and {long} at {p[-1]} s, each of which "
        "takes 1 s in place of 0.5 s"
    )


def _not_full(data: Data) -> str:
    grid = data.grid("chapter 8")
    last = grid.axes["np"][-1]
    full = grid.mean("full_s", threshold=1500, np=last)
    return (
        f"at NP {last} s the cell is full for {full} s of a run: in the rest a longer P keeps channels for the next "
        "page, as it does at NP 0"
    )


def _spared(data: Data) -> Judgement:
    grid = data.grid("chapter 8")
    first, last = grid.axes["np"][0], grid.axes["np"][-1]
    p = grid.axes["p"]

    def of(**where: Any) -> Array:
        return grid.at("allocations", threshold=1500, **where)

    spared = {end: of(np=end, p=p[0]) - of(np=end, p=p[-1]) for end in (first, last)}
    left = estimate(spared[last] / float(spared[first].mean()))
    ours = ", ".join(f"{estimate(one)} spared at NP {end} s" for end, one in spared.items())
    return judged(
        ours,
        *falls("allocations over P", lambda v: of(p=v), p),
        below("what P spares at the largest NP, of what it spares at the smallest", left, 0.1),
    )


def _best(data: Data) -> Judgement:
    surface = Surface(data, 750)
    good = [(a, b) for a in (0, 2) for b in (4, 8)]
    rest = [(a, b) for a in surface.np for b in surface.p if (a, b) not in good]
    if not rest:
        raise NotRun("no runs beside those at NP 0–2 s and P 4–8 s")
    others = np.mean([surface.at(np=a, p=b) for a, b in rest], axis=0)
    more = {(a, b): estimate(100 * (surface.at(np=a, p=b) / others - 1)) for a, b in good}
    best = surface.grid.best("goodput_kbps", "np", "p", threshold=750)
    said = ", ".join(f"{one} % at NP {a}, P {b} s" for (a, b), one in more.items())
    return judged(
        f"over the mean of all other timers: {said}; best at NP {best['np']}, P {best['p']} s "
        f"({number(float(surface.at(**best).mean()))} kbit/s)",
        *(seen(f"NP {a}, P {b} s over the mean of the others", one) for (a, b), one in more.items()),
    )


def _sensitive(data: Data) -> Judgement:
    small, large = (_range(Surface(data, threshold)) for threshold in (750, 1500))
    return judged(
        f"goodput differs over the timers by {estimate(large)} % at 1500 B, {estimate(small)} % at 750 B",
        above("range at 1500 B − 1.5 times that at 750 B", estimate(large - 1.5 * small), unit=" %"),
    )


_FLAT = level("chapter 8", "np", "non-preemptive timer")
_SIGN = "the order is claimed, no number"

CLAIMS: list[Claim[Data]] = [
    Claim(
        "C37", "8.3.3",
        "The behavior of the two described TCP versions is almost exactly the same. … First, the goodput tends to "
        "decrease if the non-preemptive inactivity timer is large. … Second, a hole can be seen in the graphs with a "
        "small non-preemptive timer and a large preemptive timer.",
        "750 B: goodput falls with the non-preemptive timer; it has a hole where that is small and the preemptive one "
        "large; Reno is like Tahoe", "trends", "goodput of Reno and of Tahoe, in pairs",
        "falls; a hole; Reno ± 1.5 % of Tahoe", f"{_SIGN}; “almost exactly” is the thesis' effects of 1 %",
        _easy_to_allocate, _FLAT,
        former=former.steps(_easy_to_allocate),
        see="figure-8.6",
    ),
    Claim(
        "C38", "8.3.4",
        "The goodput decrease seen with a 750Byte upswitch threshold, a small non-preemptive and a large preemptive "
        "inactivity timer disappeared. … However, this small trend becomes a real dip in the graph for Reno and Tahoe, "
        "when the preemptive inactivity timer is large.",
        "1000 B: the hole is gone; goodput falls with the non-preemptive timer, most where the preemptive one is large",
        "trends", "as C37", f"no hole of {VISIBLE_PCT} %; larger fall at the longest P",
        "what cannot be read in the thesis has disappeared; of the fall the order is claimed", _no_hole,
        mirrored("chapter 8", "p", "preemptive timers"),
        Former("no hole that is more than chance", "absence of evidence is none of absence", former.no_hole),
        see="figure-8.8", cause=_one_trigger,
    ),
    Claim(
        "C39", "8.3.5",
        "There is no more real trend to explain the protocol behavior. … The goodput is then quickly reduced. When the "
        "sum of the two inactivity timers increases, the goodput grows.",
        "1500 B: goodput falls with the sum of the timers, then grows", "a bowl",
        "goodput at sums to 6 s, of 8 to 14 s, and from 18 s on, in pairs", "both ends above the middle", _SIGN, _bowl,
        _FLAT, see="figure-8.10",
        incomparable="the thesis itself says that there is “no more real trend”",
    ),
    Claim(
        "C40", "8.3.6",
        "The two trends here are the same than for Reno and Tahoe (see Section 8.3.3). However, the goodput decrease "
        "following the non-preemptive inactivity timer is really small since Sack performs well when sending data on "
        "the common channels.",
        "Sack at 750 B: as C37, but the non-preemptive timer has less effect", "trends", "as C37",
        f"falls; a hole; Reno falls by {VISIBLE_PCT} % more at least",
        f"a difference of less than {VISIBLE_PCT} % is less than the last digit of 63.1 kbit/s", _sack_easy,
        another("Reno in the place of Sack: one cannot differ from itself", "chapter 8", "tcp", {"sack": "reno"}),
        Former("the sign of the difference", "equal to a thousandth, it stayed open for ever", former.sack_easy),
        see="figure-8.12", cause="Sack and Reno lose hardly a packet here, and differ in nothing else",
    ),
    Claim(
        "C41", "8.3.6",
        "Figure 8.13 shows that the behavior of Sack is more unpredictable when the upswitch threshold is 1,000 Bytes.",
        "Sack at 1000 B is “unpredictable”", "–", "range of goodput over the timers at 1000 B and at 750 B",
        "larger at 1000 B", _SIGN, _unpredictable,
        another("750 B in the place of 1000 B: one cannot differ from itself", "chapter 8", "threshold", {1000: 750}),
        see="figure-8.13", incomparable="“unpredictable” cannot be held against a run",
    ),
    Claim(
        "C42", "8.3.6",
        "Figure 8.14 shows that with a large upswitch threshold (1,500 Bytes), Sack behavior is very foreseeable and "
        "follow a clear trend. … The preemptive inactivity should be large in order to fulfill this objective.",
        "Sack at 1500 B: goodput grows with the preemptive timer, at every non-preemptive one", "grows",
        "Sack's goodput over P, at each NP, in pairs", "rises at each", _SIGN, _sack_hard,
        level("chapter 8", "p", "preemptive timer"),
        former=former.steps(_sack_hard),
        see="figure-8.14", cause=_taken,
    ),
    Claim(
        "C43", "8.3.6",
        "Moreover, as seen on Figures 8.4 and 8.15, the gain of DCH allocation thanks to a large preemptive timer is "
        "large if the non-preemptive timer is small, and reduces to null for bigger values.",
        "1500 B: allocations fall with the preemptive timer, and no more at large non-preemptive ones", "falls to null",
        "allocations per connection that the longest P spares, at each NP, in pairs",
        "falls; at the largest NP less than a tenth of what it spares at the smallest",
        "a tenth of it can hardly be told from nothing in the figure", _spared, _FLAT,
        Former("less at the largest NP", "the thesis says that it “reduces to null”", former.spared), see="figure-8.15",
        cause=_not_full,
    ),
    Claim(
        "C44", "8.4",
        "In this case, the good values for the inactivity timers could be 0 or 2 seconds for the non-preemptive timer "
        "and 4 or 8 seconds for the preemptive timer.",
        "750 B: good values are 0 or 2 s, and 4 or 8 s", "the best",
        "goodput at each of these timers over the mean of all others, in pairs",
        f"each by {VISIBLE_PCT} % above it at least", "good is better than others, by what can be read in the thesis",
        _best, mirrored("chapter 8", "np", "non-preemptive timers"),
        Former("within 1 % of the best point", "no point is further from the best", former.near_the_best),
        see="figure-8.6",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "C53", "8.4",
        "However, for a very large threshold (1,500 Bytes in this chapter), the goodput is a lot more sensitive to the "
        "inactivity timer values.",
        "With 1500 B goodput is a lot more sensitive to the timers than with 750 B", "a lot",
        "the best mean over the least of all timers, in per cent, in pairs", "1.5 times that at 750 B at least",
        "“a lot” is half as much again", _sensitive,
        another("750 B in the place of 1500 B: one cannot differ from itself", "chapter 8", "threshold", {1500: 750}),
        see="figure-8.10",
        cause="users ask for what they load; the timers change goodput by about a per cent, whatever the threshold",
    ),
]  # fmt: skip
