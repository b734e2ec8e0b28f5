"""The plan of a sweep: a scenario, the varied keys, the seeds. Nothing here has run yet.

Runs are numbered: all seeds of the first point, then those of the second. A run is computed from its
number, so a plan of any length takes no memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from lasthop import files
from lasthop.comparison import differing
from lasthop.errors import ScenarioError
from lasthop.scenario import EACH, Scenario, from_text
from lasthop.stats import number
from lasthop.sweeps.vary import Vary, in_line, label
from lasthop.sweeps.work import Task

__all__ = ["DECIDES", "Plan", "fingerprint", "texts_of_files"]

#: A plan of more runs is a mistake: the journal takes 12 bytes for each.
MOST_RUNS = 100_000_000


#: What makes a plan, in its manifest.
DECIDES = ("scenario_text", "vary", "seeds", "format", "code")


@dataclass(frozen=True)
class Plan:
    """The runs of a sweep."""

    scenario: Scenario
    vary: Vary
    #: Every point runs with all of these.
    seeds: Sequence[int]
    #: The format of the tables.
    format: str

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.vary.points * len(self.seeds)

    def variant(self, point: int) -> Scenario:
        """The scenario of a point."""
        called = f"{self.scenario.origin} with {self.vary.where(point)}"
        return self.scenario.changed(self.vary.changes(point), called=called)

    def task(self, run: int, plan: str) -> Task:
        """A run, as it is sent to its worker; ``plan`` stands in the manifest."""
        point, seed = divmod(run, len(self.seeds))
        return Task(
            run=run,
            text=self.scenario.text,
            origin=self.scenario.origin,
            changes=self.vary.sent(point),
            where=self.vary.where(point),
            seed=self.seeds[seed],
            code=files.code(),
            controllers=json.dumps(self._sources(point)),
            plan=plan,
        )

    @cached_property
    def code(self) -> str:
        """Which code makes the runs: this program, and the controllers in Python that they use."""
        used: dict[str, str] = {}
        for point in range(self.vary.points):
            used |= self._sources(point)
        return files.code() + "".join(f" with {name} {digest[:16]}" for name, digest in sorted(used.items()))

    @cached_property
    def needs_processes(self) -> bool:
        """Whether threads would wait for one another: controllers in Python hold the interpreter's lock.

        A class that only this process knows, of a notebook or a function, cannot be sent to another.
        """
        from lasthop.controller import is_importable

        named = [name for point in range(self.vary.points) for name in self._sources(point)]
        return bool(named) and all(map(is_importable, named))

    @cached_property
    def _names_controllers(self) -> bool:
        """Whether a point may have a controller in Python."""
        return '"python"' in json.dumps(self.vary.keys) or "python" in self.scenario.text

    def _sources(self, point: int) -> dict[str, str]:
        """The controllers in Python of a point, with the digests of their texts."""
        if not self._names_controllers:
            return {}
        from lasthop.controller import sources

        scenario = self.variant(point)
        return sources(scenario.to_dict(), scenario.origin)

    def check(self) -> None:
        """Builds the scenario of every point, so that whatever is wrong is said before anything runs."""
        if self.runs > MOST_RUNS:
            raise ScenarioError(
                f"{self} are {number(self.runs)} runs, and the most is {number(MOST_RUNS)}", path="vary"
            )
        alike: dict[tuple[str, bytes], list[Any]] = {}
        for point in range(self.vary.points):
            try:
                made = self.variant(point)
            except ScenarioError as error:
                raise self._narrowed(point, error) from None
            for key, value in self._alone(point).items():
                alike.setdefault((key, hashlib.sha256(made.core.json().encode()).digest()), []).append(value)
        self._check_keys()
        for (key, _), values in alike.items():
            if len(values) > 1:
                one, other = map(label, values[:2])
                raise ScenarioError(f"{key}: {one} and {other} are the same, and make no difference", path=key)

    def doubts(self) -> list[str]:
        """Where a point has less than the scenario says: a choice by its name alone has that choice's defaults."""
        notes = []
        for key, values in self.vary.keys.items():
            said = self.scenario.stated(key)
            for value in values:
                mine = said.get(value) if isinstance(said, dict) and isinstance(value, str) else None
                if isinstance(mine, dict) and mine:
                    notes.append(
                        f"{key} = {value} has the defaults of {value}, without {in_line(mine)} of the scenario. "
                        f"To keep that, write {in_line({value: mine})} in the place of {value}"
                    )
        return notes

    def _check_keys(self) -> None:
        """Whether each key is a field of its own, and none behind another sets the whole that this is a part of.

        A field may have several names: `link.radio.delay`, `link.0.delay`.
        """
        names: dict[frozenset[str], str] = {}
        for key, values in self.vary.keys.items():
            try:
                made = [self.scenario.changed({key: self.vary.whole(key, value)}) for value in values[:2]]
            except ScenarioError:
                continue  # it goes with another key only
            one, other = [scenario.to_dict() for scenario in ([self.scenario, *made] if len(made) == 1 else made)]
            fields = frozenset(place for place, *_ in differing(one, other))
            if fields and fields in names:
                raise ScenarioError(f"{key} is the same field as {names[fields]}, which is varied too", path=key)
            names[fields] = key
        ways = {key: self.scenario.way(key) for key in self.vary.keys}
        for key, behind in combinations(ways, 2):
            if ways[key] != ways[behind] and _covers(ways[behind], ways[key]):
                raise ScenarioError(
                    f"{key} is set in vain: {behind} behind it sets the whole that it is a part of", path=key
                )

    def _alone(self, point: int) -> dict[str, Any]:
        """The key that alone has not its first value at this point, with its value; at the first point all keys."""
        first, values = self.vary.values(0), self.vary.values(point)
        moved = {key: value for key, value in values.items() if label(value) != label(first[key])}
        if len(moved) > 1:
            return {}
        return moved or first

    def _narrowed(self, point: int, error: ScenarioError) -> ScenarioError:
        """The error of a point, put down to the one value that makes it by itself, if there is one."""
        for key, value in self.vary.values(point).items():
            try:
                called = f"{self.scenario.origin} with {key} = {label(value)}"
                self.scenario.changed({key: self.vary.whole(key, value)}, called=called)
            except ScenarioError as mine:
                if str(mine).replace(mine.origin, "") == str(error).replace(error.origin, ""):
                    return mine
        return error

    def __str__(self) -> str:
        points, seeds = self.vary.points, len(self.seeds)
        return f"{number(points)} point{'s' * (points != 1)} × {number(seeds)} seed{'s' * (seeds != 1)}"

    def document(self) -> dict[str, Any]:
        """The plan as plain data. ``plan`` tells its runs from those of any other."""
        made = {
            "scenario_text": self.scenario.text,
            "vary": self.vary.keys,
            "seeds": list(self.seeds),
            "format": self.format,
            "code": self.code,
            **({"files": self.vary.files} if self.vary.files else {}),
        }
        return {"scenario": self.scenario.name, **made, "plan": fingerprint(made)}

    def difference(self, other: dict[str, Any]) -> str | None:
        """What makes this another plan than that of a manifest, if it is one."""
        if other["code"] != self.code:
            return f"was begun by {other['code']}, and this is {self.code}, which may give other results"
        if not self._same_scenario(other["scenario_text"]):
            return f"is of another scenario than {self.scenario.origin} says now"
        if other["vary"] != self.vary.keys or list(other["vary"]) != list(self.vary.keys):
            return f"varies {Vary(other['vary'])}"
        if differ := self._other_files(other.get("files", {})):
            return f"has other texts of files that are varied: {', '.join(differ)}"
        if other["seeds"] != list(self.seeds):
            return f"has {seeds_text(other['seeds'])}, not {seeds_text(self.seeds)}"
        if other["format"] != self.format:
            return f"is to be written as {other['format']}, not {self.format}"
        return None

    def _other_files(self, files: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The values of which the files have other texts than those of a manifest."""
        there = Vary(self.vary.keys, files)
        return [
            label(value)
            for key, values in self.vary.keys.items()
            for value in values
            if self.vary.whole(key, value) != there.whole(key, value)
        ]

    def _same_scenario(self, text: str) -> bool:
        """Whether a text says what this scenario says, be it in other words."""
        if text == self.scenario.text:
            return True
        try:
            # Its name may be its file's, and changes nothing.
            other = from_text(text, origin=self.scenario.origin).with_(name=self.scenario.name)
            return other.to_dict() == self.scenario.to_dict()
        except ScenarioError:
            return False


def texts_of_files(scenario: Scenario, vary: Vary) -> dict[str, dict[str, Any]]:
    """The values that name files, with the files' texts in the places of the names: by key and label.

    What is wrong with a value is left for :meth:`Plan.check` to say.
    """
    found: dict[str, dict[str, Any]] = {}
    folder = Path(scenario.origin).parent
    for key, values in vary.keys.items():
        # Most values name no file, and the scenario need not be read with each of them.
        for value in (one for one in values if any(_is_file(folder / text) for text in _texts(one))):
            try:
                made = scenario.changed(vary.values(vary.moved(0, {key: value})))
            except ScenarioError:
                continue
            whole = _filled(value, scenario.stated(key, of=made))
            if whole != value:
                found.setdefault(key, {})[label(value)] = whole
    return found


def _texts(value: Any) -> Iterator[str]:
    """The texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # what is no name: too long, or with a NUL
        return False


def _filled(value: Any, whole: Any) -> Any:
    """A value with the texts that stand in ``whole`` in the places of its own."""
    if isinstance(value, dict) and isinstance(whole, dict):
        return {key: _filled(one, whole.get(key)) for key, one in value.items()}
    if isinstance(value, list) and isinstance(whole, list) and len(value) == len(whole):
        return [_filled(one, of) for one, of in zip(value, whole, strict=True)]
    return whole if isinstance(value, str) and isinstance(whole, str) else value


def _covers(whole: Sequence[str], key: Sequence[str]) -> bool:
    """Whether the key is in what another sets, which may be a part of each of several."""
    return len(whole) <= len(key) and all(one in (part, EACH) for one, part in zip(whole, key, strict=False))


def fingerprint(document: Mapping[str, Any]) -> str:
    """What tells a plan from any other, from what a manifest says of it."""
    # Only plans with values that name files say what is in these.
    made = files.json_text({key: document[key] for key in (*DECIDES, "files") if key in document})
    return hashlib.sha256(made.encode()).hexdigest()[:16]


def seeds_text(seeds: Sequence[int]) -> str:
    """Seeds for reading."""
    count = f"{number(len(seeds))} seed{'s' * (len(seeds) != 1)}"
    return f"{count} from {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"the seed {seeds[0]}"
