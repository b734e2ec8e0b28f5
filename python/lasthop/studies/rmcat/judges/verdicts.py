"""The three verdicts on a case with a controller: the RFC's number, our floors, the place among the controllers.

RFC 8867 defines no pass, so none is given. Where an RFC has a number that number is a condition; elsewhere there is
none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.conditions import FAILS, HOLDS, LEVEL, Condition, Judgement, at_least, at_most, below, within

from ..data import Data
from ..network.cases import CASES, MAX_KBPS, MIN_KBPS, Case
from ..network.controllers import CONTROLLERS

__all__ = [
    "MET", "MISSED", "NO_NUMBER", "OPEN", "Verdict", "better", "floors", "numbers", "rank", "ranked", "rfc", "sane",
]  # fmt: skip

MET, MISSED, OPEN = "met", "missed", "open"

#: The verdict by the RFC where it has no number.
NO_NUMBER = "no number in the RFC"

#: Where none of our floors makes sense.
NO_FLOOR = "no floor"

#: What is said of weights where a controller has none, and of the case's twin in which nothing marks where there is
#: none.
NO_WEIGHTS, NO_TWIN = "no priorities", "no runs without marks"

#: Bounds of the RFCs: ratios of rates (RFC 8868 §3), and about twice (RFC 8867 §6.1).
RATIO, TWICE = 3.0, (1.6, 2.5)

#: The others of case 5.8 reach the highest rate, less the encoder's ±5 % (RFC 8867 §4.3).
REACHED_KBPS = 0.95 * MAX_KBPS


@dataclass(frozen=True)
class Verdict:
    """A word, and what stands behind it."""

    word: str
    #: The conditions that are not met, in a few words each.
    why: Sequence[str] = ()

    def __str__(self) -> str:
        return f"{self.word}: {', '.join(self.why)}" if self.why else self.word


def numbers(data: Data, case: str, controller: str) -> list[Condition]:
    """What the RFCs ask of a case as a number; none for most."""
    of = _measured(data, case, controller)
    section = case.partition(",")[0]
    if section == "5.4":
        return [at_most("ratio of rates over 20 s", of("ratio_20s"), RATIO)]
    if section in ("5.6", "5.7"):
        return [at_least("media rate", of("least_kbps"), MIN_KBPS, " kbit/s")]
    if section == "5.8":
        return [
            at_least("others in the pause", of("others_kbps"), REACHED_KBPS, " kbit/s"),
            at_most("ratio of rates over 20 s", of("ratio_20s"), RATIO),
        ]
    if section == "6.1" and CONTROLLERS[controller].weighs:
        return [within("first to others", of("first_to_others"), *TWICE)]
    if section.startswith("6.2: ") and CONTROLLERS[controller].without:
        return [better(data, [case], controller)]
    return []


def better(data: Data, cases: Sequence[str], controller: str) -> Condition:
    """That delays are not higher with marks than without, in pairs of equal seed, as a mean over cases."""
    without = CONTROLLERS[controller].without
    each = [
        data.of("delay_p95_ms", case, controller) - data.of("delay_p95_ms", case.removeprefix("6.2: "), without)
        for case in cases
    ]
    return below("delay p95 above that without marks", estimate(np.mean(each, axis=0)), 0.0, " ms")


def rfc(data: Data, case: str, controller: str) -> Verdict:
    """The verdict by the number in an RFC."""
    asked = numbers(data, case, controller)
    if asked:
        return _verdict(asked)
    if case.startswith("6.1"):
        return Verdict(NO_WEIGHTS)
    return Verdict(NO_TWIN if case.startswith("6.2: ") else NO_NUMBER)


@dataclass(frozen=True)
class Floor:
    """A floor of ours: a bound for a quantity, and the cases in which it is asked for."""

    quantity: str
    what: str
    bound: float
    unit: str
    asks: Callable[[Case], bool]
    #: Whether the bound is the least or the most.
    least: bool = False


def _basic(case: Case) -> str:
    return case.id.removeprefix("6.2: ").partition(",")[0]


#: Where other traffic shares the queue neither it nor the rate is the media's own.
FLOORS: tuple[Floor, ...] = (
    Floor("utilisation", "utilisation", 0.70, "", lambda case: not case.long_tcp and not case.short_tcp, least=True),
    Floor("queue_p95_ms", "queue", 200.0, " ms", lambda case: not case.long_tcp and not case.short_tcp),
    Floor("loss_pct", "loss", 1.0, " %", lambda case: _basic(case) in ("5.1", "5.2", "5.3", "5.4", "5.5")),
    Floor("convergence_s", "convergence", 20.0, " s", lambda case: not case.long_tcp and not case.short_tcp),
    Floor("unconverged", "not converged", 0.0, "", lambda case: not case.long_tcp and not case.short_tcp),
    Floor("least_kbps", "media rate", MIN_KBPS, " kbit/s", lambda case: _basic(case) in ("5.6", "5.7"), least=True),
    Floor("ratio_20s", "ratio", RATIO, "", lambda case: _basic(case) in ("5.4", "5.8")),
)


def floors(data: Data, case: str, controller: str) -> list[Condition]:
    """Our floors for a case."""
    of = _measured(data, case, controller)
    made = []
    for floor in FLOORS:
        if floor.asks(CASES[case]) and data.known(floor.quantity, case, controller):
            make = at_least if floor.least else at_most
            made.append(make(floor.what, of(floor.quantity), floor.bound, floor.unit))
    return made


def sane(data: Data, case: str, controller: str) -> Verdict:
    """The verdict by our floors."""
    asked = floors(data, case, controller)
    return _verdict(asked) if asked else Verdict(NO_FLOOR)


def _measured(data: Data, case: str, controller: str) -> Callable[[str], Estimate]:
    def of(quantity: str) -> Estimate:
        values = data.of(quantity, case, controller)
        known = values[np.isfinite(values)]
        return estimate(known if len(known) else values)

    return of


def _verdict(conditions: Sequence[Condition]) -> Verdict:
    state = Judgement("", conditions).state()
    if state == HOLDS:
        return Verdict(MET)
    level = 1 - (1 - LEVEL) / len(conditions) if state == FAILS else LEVEL
    word = MISSED if state == FAILS else OPEN
    if len(conditions) == 1:
        return Verdict(word)
    return Verdict(word, [one.what for one in conditions if one.state(level) == state])


#: What places are taken from: the quantity, and whether more of it is better. Where media compete their rate stands
#: for utilisation.
PLACED = (("utilisation", True), ("delay_p95_ms", False), ("late_pct", False))
COMPETING = (("rate_kbps", True), *PLACED[1:])


def rank(data: Data, case: str, controllers: Sequence[str]) -> dict[str, int]:
    """The place of each controller in a case, by its places in utilisation, delay, and frames late or lost."""
    ranked = [name for name in controllers if data.has(case, name)]
    total = dict.fromkeys(ranked, 0.0)
    for quantity, more in COMPETING if CASES[case].long_tcp or CASES[case].short_tcp else PLACED:
        means = {name: float(np.nanmean(data.of(quantity, case, name))) for name in ranked}
        for name in ranked:
            better = sum(other > means[name] if more else other < means[name] for other in means.values())
            total[name] += better
    return {name: 1 + sum(other < total[name] for other in total.values()) for name in ranked}


def ranked(data: Data) -> dict[tuple[str, str], str]:
    """The place of each controller in each of its cases: `2 of 6`."""
    controllers: dict[str, list[str]] = {}
    for case, controller in data.rows():
        controllers.setdefault(case, []).append(controller)
    made = {}
    for case, names in controllers.items():
        for name, place in rank(data, case, names).items():
            made[case, name] = f"{place} of {len(names)}" if len(names) > 1 else "–"
    return made
