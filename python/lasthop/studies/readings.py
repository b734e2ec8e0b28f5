"""What a paper leaves open: questions with two or more admissible answers, and readings that choose among them.

The first answer of a question is its default: chosen by the paper's text, or by the simulator and version that its
authors used, never by what it gives. A reading takes one answer for each question.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AS_TAKEN", "Answer", "Question", "Reading", "as_taken", "pairs", "singles", "with_answers"]

#: The name of the reading that takes all defaults.
AS_TAKEN = "as taken"


@dataclass(frozen=True)
class Answer:
    """One admissible answer of a question."""

    #: In a word or two; no two answers of a study have the same.
    name: str
    #: What it means, with its numbers.
    about: str
    #: The sentence of the paper that it rests on; empty if there is none.
    quote: str = ""
    #: What it changes: parameters of the study's scenarios by name.
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """Something that a paper leaves open."""

    #: In a word or two.
    name: str
    #: Why the first answer is the default.
    why: str
    #: The default first.
    answers: Sequence[Answer]

    def __post_init__(self) -> None:
        assert len(self.answers) > 1, f"{self.name}: a question without a choice"

    @property
    def default(self) -> Answer:
        """The answer that is taken unless another is named."""
        return self.answers[0]


@dataclass(frozen=True)
class Reading:
    """An answer for each question of a study; those that are not named have their default."""

    #: The answers that are no defaults, by the names of their questions, in the order of the questions.
    chosen: Mapping[str, Answer] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The answers that differ from the defaults."""
        return " + ".join(answer.name for answer in self.chosen.values()) or AS_TAKEN

    @property
    def about(self) -> str:
        """What differs, with its numbers."""
        return "; ".join(answer.about for answer in self.chosen.values()) or "the default answer of each question"

    @property
    def changes(self) -> Mapping[str, Any]:
        """What its answers change, together."""
        return {key: value for answer in self.chosen.values() for key, value in answer.changes.items()}

    def answer(self, question: Question) -> Answer:
        """What it answers."""
        return self.chosen.get(question.name, question.default)

    def only(self, keep: Callable[[str, Answer], bool]) -> Reading:
        """The same with the defaults of all questions but those that are kept, by name and answer."""
        return Reading({name: answer for name, answer in self.chosen.items() if keep(name, answer)})

    def without(self, question: Question) -> Reading:
        """The same with this question's default."""
        return self.only(lambda name, _: name != question.name)


def as_taken() -> Reading:
    """The reading that takes all defaults."""
    return Reading()


def singles(questions: Sequence[Question]) -> list[Reading]:
    """The readings that answer one question otherwise."""
    return [Reading({question.name: answer}) for question in questions for answer in question.answers[1:]]


def pairs(questions: Sequence[Question], among: Collection[str]) -> list[Reading]:
    """The readings that answer two of these questions otherwise. Answers that change the same thing exclude another."""
    return list(_pairs([question for question in questions if question.name in among]))


def with_answers(questions: Sequence[Question], names: Collection[str]) -> list[str]:
    """The names of all readings, of two answers at most that are no defaults, that have one of these answers."""
    every = [as_taken(), *singles(questions), *pairs(questions, [question.name for question in questions])]
    return [one.name for one in every if any(one.answer(question).name in names for question in questions)]


def _pairs(questions: Sequence[Question]) -> Iterator[Reading]:
    for one, other in itertools.combinations(questions, 2):
        for first, second in itertools.product(one.answers[1:], other.answers[1:]):
            if not first.changes.keys() & second.changes.keys():
                yield Reading({one.name: first, other.name: second})
