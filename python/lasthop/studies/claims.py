"""Claims of papers: what is claimed, what is accepted, what must not pass, and how runs fare.

A claim is judged by a function from a study's data to a :class:`~lasthop.studies.conditions.Judgement`. The band that
it accepts is reasoned before the runs and written beside it. A band or measure that was set after results had been
seen says so, and keeps the former one beside it. Each judge is also shown a null model, in which the claim must not
hold: a judge that lets it pass decides nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from lasthop.studies.conditions import FAILS, HOLDS, OPEN, Judgement
from lasthop.studies.readings import AS_TAKEN

__all__ = [
    "FITTED",
    "NOT_COMPARABLE",
    "NOT_REPRODUCED",
    "NOT_RUN",
    "REPRODUCED",
    "REPRODUCED_OTHERWISE",
    "VERDICTS",
    "Claim",
    "Former",
    "Judge",
    "Judged",
    "Judges",
    "NotRun",
    "Null",
    "count",
    "explained",
    "judge",
]

Data = TypeVar("Data")
Made = TypeVar("Made")

REPRODUCED = "reproduced"
REPRODUCED_OTHERWISE = "reproduced under another reading"
NOT_REPRODUCED = "not reproduced"
NOT_COMPARABLE = "not comparable"
FITTED = "fitted"

#: The verdicts, in the order in which they are counted.
VERDICTS = (REPRODUCED, REPRODUCED_OTHERWISE, FITTED, NOT_REPRODUCED, NOT_COMPARABLE)

#: Beside what is known of a claim: that there were no runs for it.
NOT_RUN = "not run"


class NotRun(Exception):
    """What a claim asks about was not run at these parameters, or not in this mode; the text says what."""


@dataclass(frozen=True)
class Null(Generic[Data]):
    """A model in which a claim must not hold."""

    #: What it is, and why the claim cannot hold in it.
    about: str
    #: From a reading's data to what the null model gives in its place.
    of: Callable[[Data], Data]


@dataclass(frozen=True)
class Former(Generic[Data]):
    """What was accepted before results had been seen."""

    #: The measure and the band.
    band: str
    #: Why it was replaced.
    why: str
    judge: Callable[[Data], Judgement]


@dataclass(frozen=True)
class Judge(Generic[Data]):
    """What of a claim is code; its words are in the study's `paper/claims.toml`."""

    #: From results to a judgement.
    judge: Callable[[Data], Judgement]
    #: From results to those of a model in which the claim must not hold.
    null: Callable[[Data], Data]
    #: The judge that was replaced, if there was one.
    former: Callable[[Data], Judgement] | None = None
    #: Why it is not reproduced, if the figures for that come from the runs at hand.
    cause: Callable[[Data], str] | None = None


#: The judges of a study by the numbers of their claims.
Judges = Mapping[str, Judge[Data]]


@dataclass(frozen=True)
class Claim(Generic[Data]):
    """A sentence of a paper that can be held against a run."""

    #: Its number in the project's list.
    id: str
    #: Where the paper says it.
    section: str
    #: The paper's own words.
    sentence: str
    #: What they claim, in a line.
    statement: str
    #: The paper's figure, or its trend in words.
    paper: str
    #: What is measured, as the paper's words ask.
    measure: str
    #: What is accepted.
    band: str
    #: Why that.
    why: str
    #: From results to a judgement.
    judge: Callable[[Data], Judgement]
    null: Null[Data]
    #: What was accepted at first, if the measure or the band were set after results had been seen.
    former: Former[Data] | None = None
    #: The figure or table to look at.
    see: str = ""
    #: How a parameter or the judge itself was chosen by looking at this claim. It is then *fitted* at best.
    fitted: str = ""
    #: The readings of which this is so; empty if it is of all.
    fitted_at: Sequence[str] = ()
    #: Why no run can decide it: the paper contradicts itself, or does not say enough.
    incomparable: str = ""
    #: Why it is not reproduced: words, or a function that takes the figures from the runs at hand.
    cause: str | Callable[[Data], str] = ""

    @property
    def set(self) -> str:
        """When measure and band were set."""
        return "after results were seen" if self.former else "before the first run"


@dataclass(frozen=True)
class Judged:
    """A claim with its judgement in each reading that has runs for it; the default's first."""

    claim: Claim[Any]
    #: By the name of the reading.
    readings: Mapping[str, Judgement] = field(default_factory=dict)
    #: What the judge says of the null model, in the same readings; what has no runs for it is missing.
    nulls: Mapping[str, Judgement] = field(default_factory=dict)
    #: What the former judge says in the default reading.
    former: Judgement | None = None
    #: Why it is not reproduced, as far as the runs at hand show it.
    cause: str = ""
    #: What was not run, if there is no judgement in the default reading.
    missing: str = ""
    #: Why there is none of its null model there.
    null_missing: str = ""

    @property
    def judgement(self) -> Judgement | None:
        """How it fares in the default reading."""
        return self.readings.get(AS_TAKEN)

    @property
    def ours(self) -> str:
        """Our figures in the default reading."""
        return self.judgement.ours if self.judgement else "–"

    @property
    def others(self) -> list[str]:
        """The readings that were tried beside the default."""
        return [name for name in self.readings if name != AS_TAKEN]

    def state(self, reading: str = AS_TAKEN) -> str:
        """What is known of it in a reading; where the null model passes too, nothing is."""
        judgement = self.readings.get(reading)
        if judgement is None:
            return NOT_RUN
        state = judgement.state(1 if reading == AS_TAKEN else max(1, len(self.others)))
        return OPEN if state == HOLDS and self.passes_null(reading) else state

    def passes_null(self, reading: str = AS_TAKEN) -> bool:
        """Whether the judge lets the null model pass."""
        null = self.nulls.get(reading)
        return null is not None and null.state() == HOLDS

    @property
    def holding(self) -> list[str]:
        """The readings in which it holds."""
        return [name for name in self.readings if self.state(name) == HOLDS]

    @property
    def verdict(self) -> str:
        """The verdict, in one of five words."""
        here = self.state()
        if self.claim.incomparable:
            return NOT_COMPARABLE
        if here == HOLDS:
            return FITTED if self._fitted(AS_TAKEN) else REPRODUCED
        if self.holding:
            return FITTED if all(map(self._fitted, self.holding)) else REPRODUCED_OTHERWISE
        return NOT_REPRODUCED if here == FAILS else NOT_COMPARABLE

    @property
    def reason(self) -> str:
        """What stands behind the verdict: which reading, why not, what is open."""
        if self.claim.incomparable:
            return self.claim.incomparable
        said = []
        if self.missing:
            said.append(self.missing)
        elif self.judgement and self.judgement.state() == HOLDS and self.passes_null():
            said.append(f"the judge does not tell it from the null model: {self.claim.null.about}")
        elif self.judgement and self.state() != HOLDS:
            said.append(self.judgement.reason)
        if self.null_missing and self.state() == HOLDS:
            said.append(f"whether the null model passes too is not known: {self.null_missing}")
        verdict = self.verdict
        if verdict == FITTED:
            said.append(self.claim.fitted)
        elif verdict == REPRODUCED_OTHERWISE:
            said.insert(0, _named([name for name in self.holding if not self._fitted(name)]))
        elif verdict == NOT_REPRODUCED:
            said.insert(0, f"in none of {len(self.readings)} readings tried" if self.others else "")
        if verdict != REPRODUCED and self.cause:
            said.append(f"cause: {self.cause}")
        return "; ".join(one for one in said if one)

    def _fitted(self, reading: str) -> bool:
        return bool(self.claim.fitted) and (not self.claim.fitted_at or reading in self.claim.fitted_at)

    def document(self) -> dict[str, Any]:
        """As plain data, in the form that all studies keep."""
        claim, former = self.claim, self.claim.former
        empty: dict[str, Any] = {"conditions": [], "values": {}}
        return {
            "id": claim.id,
            "section": claim.section,
            "sentence": claim.sentence,
            "statement": claim.statement,
            "paper": claim.paper,
            "measure": claim.measure,
            "band": claim.band,
            "why": claim.why,
            "set": claim.set,
            "former": former
            and {
                "band": former.band,
                "why": former.why,
                "state": self.former.state() if self.former else NOT_RUN,
                "ours": self.former.ours if self.former else "–",
            },
            "null": {"about": claim.null.about, **_in_short(self.nulls.get(AS_TAKEN))},
            "verdict": self.verdict,
            "ours": self.ours,
            "reason": self.reason,
            "cause": self.cause,
            **{key: value for key, value in (self.judgement.document() if self.judgement else empty).items()
               if key in empty},
            "readings": {
                name: {**_in_short(one), "state": self.state(name), "null": _in_short(self.nulls.get(name))["state"]}
                for name, one in self.readings.items()
            },
        }  # fmt: skip


def _in_short(judgement: Judgement | None) -> dict[str, str]:
    return {"state": judgement.state(), "ours": judgement.ours} if judgement else {"state": NOT_RUN, "ours": "–"}


#: More readings than these are counted.
MOST_NAMED = 3


def _named(readings: Sequence[str]) -> str:
    """Those with the fewest answers first."""
    first = sorted(readings, key=lambda name: name.count(" + "))
    more = f" and {len(first) - MOST_NAMED} more" if len(first) > MOST_NAMED else ""
    return "with " + ", or ".join(f"“{name}”" for name in first[:MOST_NAMED]) + more


def judge(claim: Claim[Data], readings: Mapping[str, Data]) -> Judged:
    """Judges a claim in every reading that has runs for it."""
    made: dict[str, Judgement] = {}
    nulls: dict[str, Judgement] = {}
    missing = null_missing = ""
    for name, data in readings.items():
        try:
            made[name] = claim.judge(data)
        except NotRun as not_run:
            if name == AS_TAKEN:
                missing = str(not_run)
            continue
        if name == AS_TAKEN or made[name].state() == HOLDS:
            try:
                nulls[name] = _of_null(claim, data)
            except NotRun as not_run:
                null_missing = str(not_run) if name == AS_TAKEN else null_missing
    if AS_TAKEN in nulls and all(math.isnan(one.value.mean) for one in nulls[AS_TAKEN].conditions):
        null_missing = "it has no values"
    taken = readings[AS_TAKEN]
    former = _if_run(claim.former.judge, taken) if claim.former else None
    cause = claim.cause if isinstance(claim.cause, str) else _if_run(claim.cause, taken) or ""
    return Judged(claim, made, nulls, former, cause, missing, null_missing)


def _of_null(claim: Claim[Data], data: Data) -> Judgement:
    return claim.judge(claim.null.of(data))


def _if_run(of: Callable[[Data], Made], data: Data) -> Made | None:
    """What a function makes of data, if they have the runs that it asks for."""
    try:
        return of(data)
    except NotRun:
        return None


def explained(claims: Iterable[Claim[Data]], causes: Mapping[str, str | Callable[[Data], str]]) -> list[Claim[Data]]:
    """The claims with their causes, by number."""
    return [replace(claim, cause=causes.get(claim.id, "")) for claim in claims]


def count(judged: Iterable[Judged]) -> dict[str, int]:
    """How many claims have each verdict."""
    found = Counter(one.verdict for one in judged)
    return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
