"""Claims of papers: what is claimed, what was accepted in advance, and how a run fares.

A claim is judged by a function from a study's results to a :class:`Judgement`. The band that it
accepts is reasoned before the runs and written beside it; it is never fitted to the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lasthop.stats import Estimate

__all__ = ["VERDICTS", "Claim", "Judged", "Judgement", "at", "count", "holds", "judge", "summary"]

Data = TypeVar("Data")

REPRODUCED = "reproduced"
CONSISTENT = "consistent (fitted)"
NOT_REPRODUCED = "not reproduced"
NOT_COMPARABLE = "not comparable"
NOT_YET_RUN = "not yet run"

#: The verdicts, in the order in which they are counted.
VERDICTS = (REPRODUCED, CONSISTENT, NOT_REPRODUCED, NOT_COMPARABLE, NOT_YET_RUN)


@dataclass(frozen=True)
class Judgement:
    """How a claim fares at one set of parameters."""

    verdict: str
    #: Our figures in words.
    ours: str = "–"
    #: What was measured, by name; each with its interval.
    values: Mapping[str, Estimate] = field(default_factory=dict)
    #: Why not, or what to know.
    reason: str = ""

    def __post_init__(self) -> None:
        assert self.verdict in VERDICTS, self.verdict

    def interval(self) -> dict[str, tuple[float, float]]:
        """The 95 % interval of each measured value."""
        return {name: (value.low, value.high) for name, value in self.values.items()}

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ours": self.ours,
            "interval": self.interval(),
            "values": dict(self.values),
            "verdict": self.verdict,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Claim(Generic[Data]):
    """A sentence of a paper that can be held against a run."""

    #: Its number in the project's list.
    id: str
    #: Where the paper says it.
    section: str
    #: What it says.
    statement: str
    #: The paper's figure, or its trend in words.
    paper: str
    #: What is accepted, fixed before the runs.
    tolerance: str
    #: Why that.
    why: str
    #: From results to a judgement; `None` as long as what it takes is not built.
    judge: Callable[[Data], Judgement] | None = None
    #: What is missing, if there is no judge.
    missing: str = ""
    #: The figure or table to look at.
    see: str = ""
    #: Whether a parameter was chosen by looking at this claim. It can then at best be consistent.
    fitted: bool = False


@dataclass(frozen=True)
class Judged:
    """A claim with its judgement at the default parameters and at the others."""

    claim: Claim[Any]
    judgement: Judgement
    by_variant: Mapping[str, Judgement] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The verdict at the default parameters."""
        return self.judgement.verdict

    def document(self) -> dict[str, Any]:
        """As plain data, in the form that all studies keep."""
        claim = self.claim
        return {
            "id": claim.id,
            "section": claim.section,
            "statement": claim.statement,
            "paper": claim.paper,
            **self.judgement.document(),
            "tolerance": claim.tolerance,
            "by_variant": {name: judgement.document() for name, judgement in self.by_variant.items()},
        }


def judge(claim: Claim[Data], default: str, variants: Mapping[str, Data]) -> Judged:
    """Judges a claim at every variant; the one called ``default`` gives its verdict."""
    if claim.judge is None:
        return Judged(claim, Judgement(NOT_YET_RUN, reason=claim.missing))
    judgements = {name: _held(claim, claim.judge(data)) for name, data in variants.items()}
    return Judged(claim, judgements[default], {n: j for n, j in judgements.items() if n != default})


def _held(claim: Claim[Any], judgement: Judgement) -> Judgement:
    """A fitted claim is consistent at best."""
    if claim.fitted and judgement.verdict == REPRODUCED:
        return Judgement(CONSISTENT, judgement.ours, judgement.values, judgement.reason)
    return judgement


def at(judged: Judged, variant: str) -> Judgement:
    """The judgement at a variant; the one at the default parameters has no other place."""
    return judged.by_variant.get(variant, judged.judgement)


def holds(judgement: Judgement) -> bool:
    """Whether the claim holds, fitted or not."""
    return judgement.verdict in (REPRODUCED, CONSISTENT)


def summary(judged: Sequence[Judged], variants: Sequence[str], what: str) -> list[str]:
    """Sentences: how many claims hold at each variant, and whether one satisfies all that can be satisfied."""
    held = {name: [one.claim.id for one in judged if holds(at(one, name))] for name in variants}
    said = ["Claims that hold: " + ", ".join(f"{len(ids)} at {name}" for name, ids in held.items()) + "."]
    nowhere = [one.claim.id for one in judged if not any(one.claim.id in ids for ids in held.values())]
    if nowhere:
        said.append(f"No {what} satisfies {', '.join(nowhere)}.")
    somewhere = {id for ids in held.values() for id in ids}
    best = [name for name, ids in held.items() if set(ids) == somewhere]
    if best and not nowhere:
        said.append(f"All hold at {', '.join(best)}.")
    elif best:
        said.append(f"All that hold anywhere hold at {', '.join(best)}.")
    else:
        apart = [
            id for id in (one.claim.id for one in judged) if 0 < sum(id in ids for ids in held.values()) < len(held)
        ]
        said.append(
            f"No {what} satisfies all of the others at once: {', '.join(apart)} hold at some and not at others."
        )
    return said


def count(judged: Iterable[Judged]) -> dict[str, int]:
    """How many claims have each verdict."""
    found = Counter(one.verdict for one in judged)
    return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
