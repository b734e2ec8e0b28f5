"""What may stand at each place of a scenario, from its JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]

#: What stands at a place of which the scenario says nothing.
MISSING = object()


@dataclass(frozen=True)
class Constants:
    """One of these."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Text:
    """Any text: a name, a reference to one, an element set."""


@dataclass(frozen=True)
class Quantity:
    """A number and a unit."""

    units: tuple[str, ...]
    signed: bool


@dataclass(frozen=True)
class Number:
    """A number within bounds."""

    least: float
    most: float
    whole: bool


@dataclass(frozen=True)
class Truth:
    """Yes or no."""


@dataclass(frozen=True)
class Nothing:
    """Null."""


@dataclass(frozen=True)
class Array:
    """A list. The first places may differ from those behind them."""

    first: tuple[Place, ...]
    items: Place
    least: int
    most: int


@dataclass(frozen=True)
class Table:
    """Fields by name."""

    fields: dict[str, Place]
    required: frozenset[str]


Kind = Constants | Text | Quantity | Number | Truth | Nothing | Array | Table


@dataclass(eq=False)
class Place:
    """One of several kinds. A definition may hold itself, so they come after it is made."""

    kinds: list[Kind] = field(default_factory=list)
    #: The definition's name; empty if it has none.
    name: str = ""


def compiled(schema: dict[str, Any]) -> Place:
    """The place of a whole scenario."""
    definitions: dict[str, Place] = {}

    def place(node: dict[str, Any]) -> Place:
        reference = node.get("$ref")
        if reference is None:
            return Place(list(kinds(node)))
        name = reference.removeprefix("#/$defs/")
        if name not in definitions:
            definitions[name] = made = Place(name=name)
            made.kinds.extend(kinds(schema["$defs"][name]))
        return definitions[name]

    def kinds(node: dict[str, Any]) -> Iterator[Kind]:
        if "$ref" in node:
            yield from place(node).kinds
        for way in (*node.get("anyOf", ()), *node.get("oneOf", ())):
            yield from kinds(way)
        if "const" in node:
            yield Constants((node["const"],))
        elif "enum" in node:
            yield Constants(tuple(node["enum"]))
        elif "type" in node:
            types = node["type"]
            for one in types if isinstance(types, list) else [types]:
                yield of_type(one, node)

    def of_type(name: str, node: dict[str, Any]) -> Kind:
        match name:
            case "string":
                return quantity(node["pattern"]) if "pattern" in node else Text()
            case "integer" | "number":
                most = {"uint8": 2**8, "uint32": 2**32, "uint64": 2**64}.get(node.get("format", ""), 2**65) - 1
                least = node.get("minimum", -1e308)
                return Number(least, node.get("maximum", most), name == "integer")
            case "boolean":
                return Truth()
            case "null":
                return Nothing()
            case "array":
                first = tuple(map(place, node.get("prefixItems", ())))
                items = place(node["items"]) if isinstance(node.get("items"), dict) else first[-1]
                return Array(first, items, node.get("minItems", 0), node.get("maxItems", 2**32))
            case "object":
                fields = {key: place(value) for key, value in node.get("properties", {}).items()}
                return Table(fields, frozenset(node.get("required", ())))
        raise ValueError(f"a type that no generator knows: {name}")

    return place(schema)


def quantity(pattern: str) -> Quantity:
    """The units of a pattern such as ``^\\s*\\+?[0-9._eE+-]+\\s*[kM]?bit/s\\s*$``."""
    found = re.fullmatch(r"\^\\s\*(.*?)\[0-9\._eE\+-\]\+\\s\*(.*?)\\s\*\$", pattern)
    if not found:
        raise ValueError(f"a pattern that no generator knows: {pattern}")
    sign, units = found.groups()
    return Quantity(tuple(_spelled(units)), signed="-" in sign)


def _spelled(pattern: str) -> Iterator[str]:
    """What a pattern of letters, classes, ``?`` and groups of alternatives stands for."""
    if not pattern:
        yield ""
        return
    group = re.match(r"\(([^)]*)\)|\[([^]]*)\]|(.)", pattern)
    assert group
    alternatives, letters, letter = group.groups()
    rest = pattern[group.end() :]
    if alternatives is not None:
        heads = [head for way in alternatives.split("|") for head in _spelled(way)]
    else:
        heads = list(letters or letter)
    if rest.startswith("?"):
        heads, rest = ["", *heads], rest[1:]
    yield from (head + tail for head in heads for tail in _spelled(rest))


def fits(kind: Kind, value: Any) -> bool:
    """Whether a value looks like one of this kind; its bounds and parts are not looked at."""
    match kind:
        case Constants(values):
            return value in values
        case Text() | Quantity():
            return isinstance(value, str)
        case Number():
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case Truth():
            return isinstance(value, bool)
        case Nothing():
            return value is None
        case Array():
            return isinstance(value, list)
        case Table(fields, required):
            return isinstance(value, dict) and required <= value.keys() <= fields.keys()


def walk(place: Place, value: Any, path: Path = ()) -> Iterator[tuple[Path, Place, Any]]:
    """All places of a scenario, with what stands there; also those of which it says nothing."""
    yield path, place, value
    kind = next((kind for kind in place.kinds if fits(kind, value)), None)
    if isinstance(kind, Table):
        for key, inner in kind.fields.items():
            if key in value:
                yield from walk(inner, value[key], (*path, key))
            else:
                yield (*path, key), inner, MISSING
    elif isinstance(kind, Array):
        for i, item in enumerate(value):
            inner = kind.first[i] if i < len(kind.first) else kind.items
            yield from walk(inner, item, (*path, i))
