"""§8.3.3 to 8.4, goodput over both timers, at each threshold: its claims."""

from __future__ import annotations

from typing import Any

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged
from lasthop.studies.grid import Array
from lasthop.studies.nulls import another, level, mirrored
from lasthop.studies.trends import falls, rises, spread_pct

from ..data import Data, Surface
from ..paper import VISIBLE_PCT
from ..scenario import TCP
from . import former
from .goodput import seen

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


_FLAT = level("chapter 8", "np")


JUDGES: Judges[Data] = {
    "C37": Judge(_easy_to_allocate, null=_FLAT, former=former.steps(_easy_to_allocate)),
    "C38": Judge(_no_hole, null=mirrored("chapter 8", "p"), former=former.no_hole, cause=_one_trigger),
    "C39": Judge(_bowl, null=_FLAT),
    "C40": Judge(_sack_easy, null=another("chapter 8", "tcp", {"sack": "reno"}), former=former.sack_easy),
    "C41": Judge(_unpredictable, null=another("chapter 8", "threshold", {1000: 750})),
    "C42": Judge(_sack_hard, null=level("chapter 8", "p"), former=former.steps(_sack_hard), cause=_taken),
    "C43": Judge(_spared, null=_FLAT, former=former.spared, cause=_not_full),
    "C44": Judge(_best, null=mirrored("chapter 8", "np"), former=former.near_the_best),
    "C53": Judge(_sensitive, null=another("chapter 8", "threshold", {1500: 750})),
}
