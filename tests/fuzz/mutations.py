"""Changes of a scenario, by what its schema says of the place."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from random import Random
from typing import Any

from . import values
from .places import MISSING, Array, Path, Place, Table, Text, walk


class Base:
    """A scenario that is right, to start from, and its places."""

    def __init__(self, whole: Place, document: dict[str, Any]) -> None:
        self.text = json.dumps(document)
        self.whole = whole
        found = list(walk(whole, document))
        self.places = [(path, place) for path, place, value in found if path and value is not MISSING]
        self.missing = [(path, place) for path, place, value in found if value is MISSING]
        self.lists = [
            (path, place)
            for path, place, value in found
            if isinstance(value, list) and all(k.least < k.most for k in place.kinds if isinstance(k, Array))
        ]
        self.texts = [
            path
            for path, place, value in found
            if isinstance(value, str) and any(isinstance(k, Text) for k in place.kinds)
        ]
        self.choices = [
            (path, tables)
            for path, place in self.places
            if len(tables := [kind for kind in place.kinds if isinstance(kind, Table)]) > 1
        ]
        self.names = sorted({_at(document, path) for path in self.texts})


class Mutator:
    """Makes scenarios out of others. What one says at a place may come to the same place of another."""

    def __init__(self, whole: Place, documents: Iterable[dict[str, Any]]) -> None:
        self.bases = []
        known: dict[str, set[str]] = defaultdict(set)
        for document in documents:
            self.bases.append(Base(whole, document))
            for _, place, value in walk(whole, document):
                if place.name and value is not MISSING:
                    known[place.name].add(json.dumps(value))
        self.known = {name: sorted(said) for name, said in known.items()}

    def scenario(self, rng: Random) -> dict[str, Any]:
        """A scenario with a few changes."""
        base = rng.choice(self.bases)
        document = json.loads(base.text)
        while True:
            change = rng.choice(CHANGES)
            # An earlier change may have taken the place away.
            with suppress(KeyError, IndexError, TypeError, AttributeError):
                change(self, base, document, rng)
            if rng.random() < 0.45:
                return document

    def value(self, place: Place, rng: Random, names: list[str]) -> Any:
        """A value for a place: a made one, or one that a scenario has."""
        if place.name in self.known and rng.random() < 0.4:
            return json.loads(rng.choice(self.known[place.name]))
        return values.make(place, rng, names)

    # Changes

    def replace(self, base: Base, document: Any, rng: Random) -> None:
        path, place = rng.choice(base.places)
        _put(document, path, self.value(place, rng, base.names))

    def add(self, base: Base, document: Any, rng: Random) -> None:
        path, place = rng.choice(base.missing)
        _put(document, path, self.value(place, rng, base.names))

    def nudge(self, base: Base, document: Any, rng: Random) -> None:
        path, _ = rng.choice(base.places)
        value = _at(document, path)
        if isinstance(value, bool):
            _put(document, path, not value)
        elif isinstance(value, (int, float)):
            _put(document, path, rng.choice((value + 1, value - 1, value * 2, value // 2, -value, value * 1000, 0)))
        elif isinstance(value, str):
            changed = values.scaled(value, rng) if " " in value else value
            _put(document, path, changed if changed != value else _mangled(value, rng))

    def remove(self, base: Base, document: Any, rng: Random) -> None:
        path, _ = rng.choice(base.places)
        del _at(document, path[:-1])[path[-1]]

    def repeat(self, base: Base, document: Any, rng: Random) -> None:
        """A part of a list once more, mostly by another name."""
        path, _ = rng.choice(base.lists)
        parts = _at(document, path)
        part = json.loads(json.dumps(rng.choice(parts)))
        if isinstance(part, dict) and rng.random() < 0.8:
            part["name"] = rng.choice(("a", "b", "c", "second"))
        parts.insert(rng.randrange(len(parts) + 1), part)

    def grow(self, base: Base, document: Any, rng: Random) -> None:
        """A new part of a list."""
        path, place = rng.choice(base.lists)
        [kind] = [kind for kind in place.kinds if isinstance(kind, Array)]
        _at(document, path).append(self.value(kind.items, rng, base.names))

    def turn(self, base: Base, document: Any, rng: Random) -> None:
        """A list in another order."""
        path, _ = rng.choice(base.lists)
        rng.shuffle(_at(document, path))

    def swap(self, base: Base, document: Any, rng: Random) -> None:
        """Two names in each other's place."""
        one, other = rng.choice(base.texts), rng.choice(base.texts)
        first, second = _at(document, one), _at(document, other)
        _put(document, one, second)
        _put(document, other, first)

    def rename(self, base: Base, document: Any, rng: Random) -> None:
        _put(document, rng.choice(base.texts), values.text(rng, base.names))

    def choose(self, base: Base, document: Any, rng: Random) -> None:
        """Another one of several kinds of things, such as another queue."""
        path, tables = rng.choice(base.choices)
        _put(document, path, values.of_kind(rng.choice(tables), rng, base.names, 1))

    def estrange(self, base: Base, document: Any, rng: Random) -> None:
        """What belongs at no such place, or a key that there is not."""
        path, _ = rng.choice(base.places)
        if rng.random() < 0.2:
            _at(document, path)[rng.choice(("nme", "rates", "", "\x00", "a.b"))] = values.strange(rng)
        else:
            _put(document, path, values.strange(rng))

    def shorten(self, base: Base, document: Any, rng: Random) -> None:
        """A run that comes to its end."""
        document["duration"] = f"{10 ** rng.uniform(-2, 1):.3g} s"

    def record(self, base: Base, document: Any, rng: Random) -> None:
        document["record"] = dict.fromkeys(("packets", "state", "handovers", "slots", "variables"), True)
        document["record"]["series"] = f"{rng.choice((1, 10, 100))} ms"


#: The most useful ones more than once.
CHANGES: list[Callable[[Mutator, Base, Any, Random], None]] = [
    *[Mutator.replace] * 5,
    *[Mutator.add] * 5,
    *[Mutator.nudge] * 4,
    *[Mutator.choose] * 3,
    *[Mutator.grow] * 2,
    *[Mutator.repeat] * 2,
    *[Mutator.shorten] * 2,
    Mutator.rename,
    Mutator.remove,
    Mutator.turn,
    Mutator.swap,
    Mutator.record,
    Mutator.estrange,
]


def _at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def _put(document: Any, path: Path, value: Any) -> None:
    _at(document, path[:-1])[path[-1]] = value


def _mangled(value: str, rng: Random) -> str:
    """A text with something left out, twice, or in another's place."""
    begin, end = sorted((rng.randrange(len(value) + 1), rng.randrange(len(value) + 1)))
    middle = value[begin:end]
    return value[:begin] + rng.choice(("", middle * 2, middle[::-1], "0", rng.choice("9 .[]-\n"))) + value[end:]
