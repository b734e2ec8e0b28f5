"""Claims of papers: what is claimed, what was accepted in advance, and how a run fares.

A claim is judged by a function from a study's results to a :class:`Judgement`. The band that it
accepts is reasoned before the runs and written beside it; it is never fitted to the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from lasthop.stats import Estimate

__all__ = [
    "VERDICTS",
    "Claim",
    "Judged",
    "Judgement",
    "NotRun",
    "at",
    "count",
    "explained",
    "holds",
    "judge",
    "order",
    "summary",
    "verdict",
]

Data = TypeVar("Data")

REPRODUCED = "reproduced"
CONSISTENT = "consistent (fitted)"
NOT_REPRODUCED = "not reproduced"
NOT_COMPARABLE = "not comparable"
NOT_YET_RUN = "not yet run"

#: The verdicts, in the order in which they are counted.
VERDICTS = (REPRODUCED, CONSISTENT, NOT_REPRODUCED, NOT_COMPARABLE, NOT_YET_RUN)


class NotRun(Exception):
    """What a claim asks about was not run at these parameters, or not in this mode; the text says what."""


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
    #: The variants at which one was.
    fitted_at: Sequence[str] = ()
    #: Why it is not reproduced at the default parameters, as far as the runs show it.
    cause: str = ""


@dataclass(frozen=True)
class Judged:
    """A claim with its judgement at the default parameters and at the others."""

    claim: Claim[Any]
    judgement: Judgement
    #: At each other variant that has runs for it.
    by_variant: Mapping[str, Judgement] = field(default_factory=dict)
    #: The variant of the default parameters.
    default: str = ""

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
    """Judges a claim at every variant that has runs for it; the one called ``default`` gives its verdict."""
    if claim.judge is None:
        return Judged(claim, Judgement(NOT_YET_RUN, reason=claim.missing), default=default)
    judgements = {}
    for name, data in variants.items():
        try:
            judgements[name] = _held(claim, name, claim.judge(data), default)
        except NotRun as missing:
            if name == default:
                judgements[name] = Judgement(NOT_YET_RUN, reason=str(missing))
    others = {name: judgement for name, judgement in judgements.items() if name != default}
    return Judged(claim, judgements[default], others, default)


def _held(claim: Claim[Any], variant: str, judgement: Judgement, default: str) -> Judgement:
    """A fitted claim is consistent at best; the cause is said where it is known."""
    if (claim.fitted or variant in claim.fitted_at) and judgement.verdict == REPRODUCED:
        return Judgement(CONSISTENT, judgement.ours, judgement.values, judgement.reason)
    if claim.cause and variant == default and judgement.verdict == NOT_REPRODUCED:
        return replace(judgement, reason=f"{judgement.reason}; cause: {claim.cause}")
    return judgement


def explained(claims: Iterable[Claim[Data]], causes: Mapping[str, str]) -> list[Claim[Data]]:
    """The claims with their causes, by number."""
    return [replace(claim, cause=causes.get(claim.id, "")) for claim in claims]


# What most judgements come down to


def verdict(outside: Sequence[str], ours: str, values: Mapping[str, Estimate]) -> Judgement:
    """Reproduced if nothing is outside of what was accepted."""
    return Judgement(NOT_REPRODUCED if outside else REPRODUCED, ours, values, "; ".join(outside))


def order(ours: str, differences: Mapping[str, Estimate], outside: Sequence[str], **values: Estimate) -> Judgement:
    """Of differences that are claimed to be positive: one below 0 refutes, one that may be 0 leaves it open."""
    wrong = [name for name, one in differences.items() if one.excludes(0) and one.mean < 0]
    wrong += [name for name, one in differences.items() if one.half == 0 and one.mean == 0]
    outside = [*(f"{name} is {differences[name]}" for name in wrong), *outside]
    everything = {**values, **{name.replace(" ", "_").replace("−", "minus"): one for name, one in differences.items()}}
    if outside:
        return Judgement(NOT_REPRODUCED, ours, everything, "; ".join(outside))
    unclear = [f"{name} is {one}" for name, one in differences.items() if not one.excludes(0)]
    if unclear:
        return Judgement(NOT_COMPARABLE, ours, everything, "; ".join(unclear) + ": the interval holds 0")
    return Judgement(REPRODUCED, ours, everything)


def at(judged: Judged, variant: str) -> Judgement | None:
    """The judgement at a variant, if that has runs for it."""
    return judged.judgement if variant == judged.default else judged.by_variant.get(variant)


def holds(judgement: Judgement | None) -> bool:
    """Whether the claim holds, fitted or not."""
    return judgement is not None and judgement.verdict in (REPRODUCED, CONSISTENT)


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
