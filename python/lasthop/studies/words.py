"""What a study says in words: its folder `paper/`, with the claims, the questions, and what the paper is about.

`about.toml` has the paper, what it asks, and what was assumed; `questions.toml` what it leaves open; `claims.toml` its
sentences, with what is measured and accepted. Texts may go over several lines, which are joined. Judges are code: a
claim gets the one that stands under its number in the study's `JUDGES`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

from lasthop.studies.claims import Claim, Former, Judge, Null
from lasthop.studies.readings import AS_TAKEN, Answer, Question, with_answers

if TYPE_CHECKING:
    from lasthop.studies.claims import Judges

__all__ = ["About", "Assumption", "StudyError", "about", "claims", "questions", "scenario"]

Data = TypeVar("Data")

#: What a claim has to say, and what it may.
ASKED = ("section", "sentence", "statement", "paper", "measure", "band", "why", "null")
MORE = ("see", "fitted", "fitted_at", "incomparable", "cause", "former")


class StudyError(ValueError):
    """Something is wrong with the folder of a study; the text says what to write instead."""


@dataclass(frozen=True)
class Assumption:
    """What a paper does not say and was taken without an alternative."""

    question: str
    taken: str
    why: str


@dataclass(frozen=True)
class About:
    """A paper, and what was assumed to run it."""

    #: A few words for the list of studies.
    title: str
    #: Authors, title, where and when.
    source: str
    #: What the paper asked, in two sentences.
    question: str
    #: One line about the runs: what, where, how many.
    setting: str
    #: The document among the seeds of the project, if it is one of them.
    seed_document: str = ""
    assumptions: Sequence[Assumption] = ()
    #: What symbols in the claims mean.
    symbols: Mapping[str, str] = field(default_factory=dict)
    #: What claims are held against, if it is no paper.
    behind: str = "the paper"


def about(module: str) -> About:
    """What the paper is about, of the study that a module belongs to."""
    read = _paper(module, "about")
    assumptions = [
        _made(Assumption, one, f"about.toml: assumption {n + 1}") for n, one in enumerate(read.pop("assumption", []))
    ]
    return _made(About, {**read, "assumptions": assumptions}, "about.toml")


def questions(module: str) -> list[Question]:
    """What the paper leaves open; of each question the first answer is the default."""
    made = []
    for question in _paper(module, "questions").get("question", []):
        where = f"questions.toml: {question.get('name', 'a question without a name')}"
        answers = [_made(Answer, answer, where) for answer in question.pop("answer", [])]
        if len(answers) < 2:
            raise StudyError(f"{where}: a question has two answers or more, each below [[question.answer]]")
        made.append(_made(Question, {**question, "answers": answers}, where))
    names = [question.name for question in made], [answer.name for question in made for answer in question.answers]
    for what, said in zip(("questions", "answers"), names, strict=True):
        for name in said:
            if said.count(name) > 1:
                raise StudyError(f"questions.toml: two {what} are named “{name}”: runs are told apart by their names")
            if name == AS_TAKEN or " + " in name:
                raise StudyError(f"questions.toml: “{name}” is a name that readings have")
    return made


def claims(module: str, judges: Judges[Data], asked: Sequence[Question]) -> list[Claim[Data]]:
    """The paper's claims in their order, each with its judge; ``asked`` has the study's questions."""
    read = _paper(module, "claims")
    for number in sorted(read.keys() ^ judges.keys()):
        there, missing = ("paper/claims.toml", "JUDGES") if number in read else ("JUDGES", "paper/claims.toml")
        raise StudyError(f"{number} is in {there} and not in {missing}: a claim has words and a judge")
    return [_claim(number, words, judges[number], asked) for number, words in read.items()]


def _claim(number: str, words: Mapping[str, Any], judge: Judge[Data], asked: Sequence[Question]) -> Claim[Data]:
    where = f"claims.toml: {number}"
    _known(words, (*ASKED, *MORE), where)
    missing = [name for name in ASKED if name not in words]
    if missing:
        raise StudyError(f"{where} does not say: {', '.join(missing)}")
    said = {name: text for name, text in words.items() if name not in ("null", "former", "fitted_at")}
    if judge.cause:
        if "cause" in words:
            raise StudyError(f"{where}: its cause is told twice, in words and by its judge")
        said["cause"] = judge.cause
    if (judge.former is None) != ("former" not in words):
        raise StudyError(f"{where}: what was accepted formerly has words, [{number}.former], and a judge")
    former = Former(**words["former"], judge=judge.former) if judge.former else None
    named = [answer.name for question in asked for answer in question.answers]
    unknown = [name for name in words.get("fitted_at", ()) if name not in named]
    if unknown:
        raise StudyError(f"{where}: no answer is named {', '.join(unknown)}; known: {', '.join(named)}")
    at = with_answers(asked, words.get("fitted_at", ()))
    return Claim(number, **said, judge=judge.judge, null=Null(words["null"], judge.null), former=former, fitted_at=at)


@cache
def scenario(module: str, name: str = "scenario") -> str:
    """The text of a scenario file of the study that a module belongs to."""
    return (resources.files(_package(module)) / f"{name}.toml").read_text(encoding="utf-8")


def _package(module: str) -> str:
    """The package of the study that a module belongs to."""
    return module.rpartition(".")[0]


def _paper(module: str, name: str) -> dict[str, Any]:
    file = resources.files(_package(module)) / "paper" / f"{name}.toml"
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StudyError(f"the study has no paper/{name}.toml") from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{name}.toml: {error}") from None
    joined: dict[str, Any] = _joined(read)
    return joined


def _joined(value: Any) -> Any:
    """The same with each text in one line."""
    if isinstance(value, dict):
        return {key: _joined(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_joined(one) for one in value]
    return re.sub(r" *\n *", " ", value.strip("\n ")) if isinstance(value, str) else value


Made = TypeVar("Made")


def _made(kind: Callable[..., Made], of: Mapping[str, Any], where: str) -> Made:
    """A dataclass from what a file says."""
    _known(of, [one.name for one in fields(kind)], where)  # type: ignore[arg-type]
    try:
        return kind(**of)
    except TypeError as error:
        raise StudyError(f"{where}: {str(error).partition('() ')[2]}") from None


def _known(of: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    unknown = [name for name in of if name not in names]
    if unknown:
        raise StudyError(f"{where}: unknown {', '.join(unknown)}; known: {', '.join(names)}")
