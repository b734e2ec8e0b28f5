"""What a sweep varies: keys of the scenario with their values, and the points that these make."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lasthop.errors import ScenarioError
from lasthop.results import coded, numbers, plain, texts
from lasthop.scenario import held, is_section

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Places = np.ndarray[Any, np.dtype[np.int64]]

__all__ = ["Vary", "hint", "in_line", "label", "refuse", "words"]

#: What a sweep varies otherwise, or what makes no difference to vary.
_REFUSED = {
    "seed": "seeds are asked for by their number, and every point runs with all of them",
    "name": "a name changes nothing",
    "description": "a description changes nothing",
}

#: Whole numbers up to this are exact among numbers with a point.
_EXACT = 2**53

#: Keys that TOML takes without quotes.
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Vary:
    """Keys with their values. A point is a value of each key; the last key changes fastest.

    A value may name a file beside the scenario: ``files`` then has, by key and label, the value with the file's text in
    the place of its name. Tables, pictures and messages have the name.
    """

    def __init__(self, keys: Mapping[str, Iterable[Any]], files: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.keys: dict[str, list[Any]] = {key: _values(key, values) for key, values in keys.items()}
        self.files = {key: dict(several) for key, several in (files or {}).items()}
        if not self.keys:
            raise ScenarioError("nothing is varied: say what, as in link.radio.delay over 20 ms and 80 ms")
        self._kinds = held(json.dumps(self.keys))

    @property
    def points(self) -> int:
        """How many points there are."""
        return math.prod(len(values) for values in self.keys.values())

    def values(self, point: int) -> dict[str, Any]:
        """The value of each key at a point."""
        chosen = zip(self.keys.items(), self._places(point), strict=True)
        return {key: values[int(place)] for (key, values), place in chosen}

    def whole(self, key: str, value: Any) -> Any:
        """A value of a key, with the texts of files that it names."""
        texts = self.files.get(key)
        return texts.get(label(value), value) if texts else value

    def changes(self, point: int) -> dict[str, Any]:
        """The same as :meth:`values`, with the texts of files that they name."""
        return {key: self.whole(key, value) for key, value in self.values(point).items()}

    def sent(self, point: int) -> tuple[tuple[str, str], ...]:
        """The same as :meth:`changes`, with values as JSON. Points share the text of a value: a file may be large."""
        chosen = zip(self._json.items(), self._places(point), strict=True)
        return tuple((key, values[int(place)]) for (key, values), place in chosen)

    @cached_property
    def _json(self) -> dict[str, list[str]]:
        return {key: [json.dumps(self.whole(key, value)) for value in values] for key, values in self.keys.items()}

    def where(self, point: int) -> str:
        """A point in words."""
        return ", ".join(f"{key} = {label(value)}" for key, value in self.values(point).items())

    def moved(self, point: int, to: Mapping[str, Any]) -> int:
        """The point at which these keys have these values, and the others theirs of ``point``."""
        number = 0
        for (key, values), place in zip(self.keys.items(), self._places(point), strict=True):
            number = number * len(values) + (self._find(key, to[key]) if key in to else int(place))
        return number

    def known(self, key: str) -> str:
        """The key, if it is varied."""
        if key not in self.keys:
            raise ValueError(f"{key!r} is not varied{hint(key, list(self.keys))}")
        return key

    def _find(self, key: str, value: Any) -> int:
        values = self.keys[self.known(key)]
        if value in values:
            return values.index(value)
        # A number may also be named as `--vary` takes it.
        labels = [label(one) for one in values]
        if label(value) not in labels:
            raise ValueError(f"{key} has no value {label(value)!r}{hint(label(value), labels)}")
        return labels.index(label(value))

    def _places(self, points: Any) -> list[Any]:
        """The number of each key's value at a point, or at each of an array of points."""
        places = []
        for values in reversed(self.keys.values()):
            points, place = divmod(points, len(values))
            places.append(place)
        return places[::-1]

    def __str__(self) -> str:
        return "; ".join(f"{key} over {', '.join(map(label, values))}" for key, values in self.keys.items())

    # In tables

    def columns(self, points: Places) -> dict[str, pa.Array]:
        """The values at these points: columns of whole numbers, of numbers, or else of text."""
        import numpy as np

        made = {}
        for (key, values), places in zip(self.keys.items(), self._places(points), strict=True):
            if key in self.texts:
                made[key] = coded(places, [label(value) for value in values])
            else:
                whole = all(isinstance(value, int) for value in values)
                made[key] = numbers(np.asarray(values, np.int64 if whole else np.float64)[places])
        return made

    @property
    def texts(self) -> list[str]:
        """The keys whose columns are text."""
        return [key for key, values in self.keys.items() if not all(map(_is_number, values))]

    def points_of(self, columns: Mapping[str, pa.ChunkedArray]) -> Places:
        """The points of the rows of a table, by its columns for the keys."""
        import numpy as np
        import pyarrow.compute as pc

        points: Places = np.zeros(len(next(iter(columns.values()))), np.int64)
        for key, values in self.keys.items():
            if key in self.texts:
                known = texts([label(value) for value in values])
            else:
                known = numbers(np.asarray(values, np.float64))
            found = pc.index_in(columns[key].cast(known.type), value_set=known)
            points = points * len(values) + plain(found).astype(np.int64)
        return points


def label(value: Any) -> str:
    """A varied value for reading, and for the tables: as ``--vary`` takes it."""
    return value if isinstance(value, str) else in_line(value)


def words(value: Any) -> str:
    """A varied value for pictures, without the signs of TOML: ``droptail (limit 20 packets)``."""
    if not isinstance(value, dict):
        return label(value)
    return ", ".join(
        f"{key} ({words(one)})" if one and isinstance(one, dict) else f"{key} {words(one)}".rstrip()
        for key, one in value.items()
    )


def in_line(value: Any) -> str:
    """Plain data as a value of TOML on one line."""
    if isinstance(value, dict):
        pairs = (f"{key if _BARE.fullmatch(key) else in_line(key)} = {in_line(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(in_line, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _values(key: str, values: Iterable[Any]) -> list[Any]:
    if not isinstance(key, str):
        raise ScenarioError(f"what is varied is named by a text such as 'link.radio.delay', not by {key!r}")
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ScenarioError(f"{key}: the values to vary it over must be a list, not {values!r}", path=key)
    try:
        made = json.loads(json.dumps(list(values), default=lambda value: value.item()))
    except (TypeError, AttributeError, ValueError, RecursionError):
        raise ScenarioError(f"{key}: the values to vary it over must be plain data", path=key) from None
    if not made:
        raise ScenarioError(f"{key}: there is no value to vary it over", path=key)
    seen: set[Any] = set()
    for value in made:
        # 1 and 1.0 are one number.
        if {label(value), *([value] if _is_number(value) else [])} & seen:
            raise ScenarioError(f"{key}: the value {label(value)} is there twice", path=key)
        seen |= {label(value), *([value] if _is_number(value) else [])}
    return list(made)


def refuse(keys: Iterable[str]) -> None:
    """Refuses keys that cannot be varied."""
    for key in keys:
        why = _REFUSED.get(key)
        if why is None and is_section(key):
            why = "vary its parts or their fields, by keys with dots"
        if why:
            raise ScenarioError(f"{key!r} cannot be varied: {why}", path=key)


def _is_number(value: Any) -> bool:
    """Whether a value is a number that a column of numbers holds exactly."""
    return type(value) is float or (type(value) is int and abs(value) <= _EXACT)


def hint(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
