"""Readings crossed: under which answers claims hold, which question decides a claim, which answers fit together.

Every question is first answered otherwise by itself. Where that changes what is known of a claim the claim *depends*
on the question; all pairs of the questions that any claim depends on are run too. All readings have the same seeds,
so two that differ in one answer are compared in equal contexts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies import claims
from lasthop.studies.claims import NOT_RUN, Claim, Judged
from lasthop.studies.conditions import FAILS, HOLDS, Condition, Judgement
from lasthop.studies.readings import AS_TAKEN, Question, Reading, as_taken, pairs, singles

__all__ = ["Decider", "Explored", "Together", "decider", "depends", "explore", "together"]

Data = TypeVar("Data")

#: Contexts from which the spread of an effect over them is taken.
SEVERAL = 3


@dataclass(frozen=True)
class Explored:
    """The readings that were run."""

    readings: Sequence[Reading]
    #: Their data, by name.
    measured: Mapping[str, Any]
    #: The questions of which all pairs were run, and what that took.
    crossed: Sequence[str] = ()
    crossed_s: float = 0.0


def explore(
    questions: Sequence[Question],
    judge: Sequence[Claim[Data]],
    measure: Callable[[Sequence[Reading]], Mapping[str, Data]],
    *,
    cross: bool,
) -> Explored:
    """Runs the default reading, each answer by itself, and if wanted all pairs of the questions that matter."""
    readings = [as_taken(), *singles(questions)]
    measured = dict(measure(readings))
    if not cross:
        return Explored(readings, measured)
    began = time.perf_counter()
    judged = [claims.judge(claim, measured) for claim in judge]
    matter = [question.name for question in questions if any(depends(one, question) for one in judged)]
    more = pairs(questions, matter)
    measured |= measure(more)
    return Explored([*readings, *more], measured, matter, time.perf_counter() - began)


def depends(judged: Judged, question: Question) -> bool:
    """Whether another answer, by itself, changes what is known of a claim."""
    here = judged.judgement
    others = (judged.readings.get(answer.name) for answer in question.answers[1:])
    return here is not None and any(other and other.state() != here.state() for other in others)


@dataclass(frozen=True)
class Decider:
    """The question whose answer decides a claim."""

    question: str
    answer: str
    #: In how many contexts, of how many, the other answer makes the claim fail where it held, or hold where it failed.
    flips: int
    contexts: int
    #: What it changes most, by how much, as a mean over the contexts.
    what: str
    effect: Estimate
    unit: str

    @property
    def said(self) -> str:
        """In a line."""
        return (
            f"{self.question}: “{self.answer}” changes it in {self.flips} of {self.contexts} contexts "
            f"({self.what} {self.effect.mean:+.3g}{self.unit} [{self.effect.low:+.3g}, {self.effect.high:+.3g}])"
        )

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "question": self.question,
            "answer": self.answer,
            "flips": self.flips,
            "contexts": self.contexts,
            "of": self.what,
            "effect": self.effect.mean,
            "interval": [self.effect.low, self.effect.high],
            "unit": self.unit.strip(),
        }


def decider(judged: Judged, questions: Sequence[Question], readings: Sequence[Reading]) -> Decider | None:
    """The answer that most often changes whether a claim holds, with its main effect."""
    found = []
    for question in questions:
        for answer in question.answers[1:]:
            matched = [
                (judged.readings[reading.without(question).name], judged.readings[reading.name], reading)
                for reading in readings
                if reading.chosen.get(question.name) is answer
                and reading.name in judged.readings
                and reading.without(question).name in judged.readings
            ]
            flips = sum(
                {judged.state(reading.without(question).name), judged.state(reading.name)} == {HOLDS, FAILS}
                for *_, reading in matched
            )
            if flips:
                what, effect, unit = _effect([(before, after) for before, after, _ in matched])
                found.append(Decider(question.name, answer.name, flips, len(matched), what, effect, unit))
    return max(found, key=lambda one: (one.flips / one.contexts, _clarity(one.effect)), default=None)


def _effect(matched: Sequence[tuple[Judgement, Judgement]]) -> tuple[str, Estimate, str]:
    """Of the condition that an answer changes most clearly, of those that it makes hold or fail: by how much, as a mean
    over contexts."""
    made = []
    for what, unit in {one.what: one.unit for before, _ in matched for one in before.conditions}.items():
        both = [(b, a) for before, after in matched if (b := _of(before, what)) and (a := _of(after, what))]
        changes = [after.value.mean - before.value.mean for before, after in both]
        if not changes:
            continue
        if len(changes) >= SEVERAL:
            effect = estimate(changes)
        else:
            # Too few contexts for their spread: the error of the values, as if they were independent.
            squares = sum(before.value.half**2 + after.value.half**2 for before, after in both)
            effect = Estimate(float(np.mean(changes)), float(np.sqrt(squares)) / len(both), len(both))
        flips = any({before.state(), after.state()} == {HOLDS, FAILS} for before, after in both)
        made.append((flips, _clarity(effect), (what, effect, unit)))
    return max(made, key=lambda one: one[:2])[2]


def _of(judgement: Judgement, what: str) -> Condition | None:
    return next((one for one in judgement.conditions if one.what == what), None)


def _clarity(effect: Estimate) -> float:
    """An effect over its error."""
    if not np.isfinite(effect.half):
        return 0.0
    return abs(effect.mean) / effect.half if effect.half else float("inf") if effect.mean else 0.0


@dataclass(frozen=True)
class Together:
    """What another reading changes."""

    reading: str
    #: The claims that hold in it and not in the default reading, and those that were judged in it and hold no more.
    gained: Sequence[str]
    lost: Sequence[str]


def together(judged: Sequence[Judged], readings: Iterable[Reading], most: int = 5) -> list[Together]:
    """The readings in which more claims hold than in the default one: most first, the fewest answers among equals."""
    made = []
    for reading in readings:
        if reading.name != AS_TAKEN:
            states = {one.claim.id: (one.state(), one.state(reading.name)) for one in judged}
            gained = [id for id, (before, after) in states.items() if after == HOLDS != before]
            lost = [id for id, (before, after) in states.items() if before == HOLDS and after not in (HOLDS, NOT_RUN)]
            if len(gained) > len(lost):
                made.append(Together(reading.name, gained, lost))
    return sorted(made, key=lambda one: (len(one.lost) - len(one.gained), one.reading.count(" + ")))[:most]
