"""The judges of the claims (`paper/claims.toml`): cases with a number in an RFC, for each controller made for media."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from lasthop.stats import estimate
from lasthop.studies import words
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, judged
from lasthop.studies.grid import Array

from ..data import MARKS, PRIORITY, SHARING, Data
from ..network.cases import MIN_KBPS
from ..network.controllers import MEDIA
from ..readings import QUESTIONS
from .verdicts import better, numbers

__all__ = ["CLAIMS"]

#: The cases of each claim that is judged for all controllers.
SHARED = {"5.4": ["5.4"], "5.6": ["5.6, 300 ms", "5.6, 1000 ms"], "5.7": ["5.7"], "5.8": ["5.8"]}

#: With which marks a claim of §6.2 is judged.
WITH_MARKS = ("nada-ecn", "scream-ecn", "scream-l4s")


def _said(conditions: list[Condition]) -> Judgement:
    return judged("; ".join(f"{one.what} {one.value}{one.unit}" for one in conditions), *conditions)


def _in_cases(data: Data, *, cases: list[str], controller: str) -> Judgement:
    return _said([one for case in cases for one in numbers(data, case, controller)])


def _twice(data: Data) -> Judgement:
    return _in_cases(data, cases=["6.1"], controller="nada")


def _marks(data: Data, *, controller: str) -> Judgement:
    return _said([better(data, list(data.grid(MARKS).axes["case"]), controller)])


# Null models


def _spoilt(case: str, made: Callable[[Data, str], dict[str, Array]], controller: str) -> Callable[[Data], Data]:
    """Some quantities of a case, as a controller would give them that does nothing of what the case asks for."""

    def of(data: Data) -> Data:
        grid = data.grid(SHARING)
        values = {name: one.copy() for name, one in grid.values.items()}
        for at in SHARED[case]:
            place = (list(grid.axes["case"]).index(at), list(grid.axes["controller"]).index(controller))
            for name, spoilt in made(data, at).items():
                values[name][place] = spoilt
        return data.with_values(SHARING, values)

    return of


def _late_comer(data: Data, case: str, *, controller: str) -> dict[str, Array]:
    """The last flow stays at the lowest rate."""
    return {"ratio_20s": data.of("largest_kbps", case, controller) / MIN_KBPS}


def _starved(data: Data, case: str, *, controller: str) -> dict[str, Array]:
    return {"least_kbps": np.zeros_like(data.of("least_kbps", case, controller))}


def _unweighted(data: Data) -> Data:
    grid = data.grid(PRIORITY)
    equal = np.roll(data.of("first_to_others", "5.4", "nada"), 1)
    spoilt = np.broadcast_to(equal, grid.values["first_to_others"].shape).copy()
    return data.with_values(PRIORITY, {"first_to_others": spoilt})


def _unmarked(data: Data, *, controller: str) -> Data:
    """Runs without marks, of the next seed, in the place of those with marks."""
    from ..network.controllers import CONTROLLERS

    grid = data.grid(MARKS)
    spoilt = grid.values["delay_p95_ms"].copy()
    place = list(grid.axes["controller"]).index(controller)
    for n, case in enumerate(grid.axes["case"]):
        other = data.of("delay_p95_ms", case.removeprefix("6.2: "), CONTROLLERS[controller].without)
        spoilt[n, place] = np.roll(other, 1)
    return data.with_values(MARKS, {"delay_p95_ms": spoilt})


def _judges() -> Judges[Data]:
    """By number, in the order of `claims.toml`: each case with each controller."""
    made: list[Judge[Data]] = []
    nulls = {"5.4": _late_comer, "5.6": _starved, "5.7": _starved, "5.8": _late_comer}
    for case, cases in SHARED.items():
        for name in MEDIA:
            null = _spoilt(case, partial(nulls[case], controller=name), name)
            made.append(Judge(partial(_in_cases, cases=cases, controller=name), null=null))
    made.append(Judge(_twice, null=_unweighted, cause=_capped))
    for name in WITH_MARKS:
        made.append(Judge(partial(_marks, controller=name), null=partial(_unmarked, controller=name)))
    return {f"R{n}": judge for n, judge in enumerate(made, 1)}


def _capped(data: Data) -> str:
    """Why twice may be out of reach."""
    free = estimate(data.of("first_to_others", "6.1, 2.5 Mbit/s", "nada"))
    return (
        "the highest rate of 1.5 Mbit/s is in the way: of 3.5 Mbit/s the others have 1.0 Mbit/s each, audio included, "
        f"and the first 1.5 times that; over 2.5 Mbit/s, where it is not, the ratio is {free}"
    )


JUDGES = _judges()

CLAIMS = words.claims(__name__, JUDGES, QUESTIONS)
