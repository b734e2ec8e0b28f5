"""Values for a place: mostly such as a user would write, sometimes the extremes of their kind."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from .places import Array, Constants, Kind, Nothing, Number, Place, Quantity, Table, Text, Truth

#: Whole numbers at which something ends.
EDGES = (0, 1, 2, 3, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 10**6, 2**24, 2**31 - 1, 2**32 - 1, 2**53 - 1, 2**64 - 1)

#: Numbers that are written in an uncommon way, or stand at an end of what a float holds.
ODD_NUMBERS = [
    "0",
    "0.0",
    "1e-300",
    "1e300",
    "1e309",
    "0.0000000004",
    "1_000",
    "9.3e9",
    "4.5e6",
    "1e",
    "--1",
    "1e-9",
    "+5",
]

#: Names that no one expects.
ODD_TEXTS = ("", " ", "\x00", "a\nb", "x" * 300, "\ud800", *["../../x", "é", "𝕏", "a.b", "[0]", "ue[*]", "0", "\u202e"])

#: What stands at no place, as JSON.
STRANGE = [
    "null",
    "true",
    "-1",
    "0",
    "18446744073709551616",
    "1e400",
    "-1e400",
    '""',
    '"0"',
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    '{"":""}',
    '{"name":1}',
    '[1,"a"]',
]

#: Tables within tables do not go on for ever.
DEPTH = 6


def make(place: Place, rng: Random, names: list[str], depth: int = 0) -> Any:
    """A value for a place. ``names`` are those that the scenario has."""
    kinds = place.kinds
    if depth >= DEPTH:
        kinds = [kind for kind in kinds if not isinstance(kind, (Table, Array))] or kinds
    return of_kind(rng.choice(kinds), rng, names, depth)


def of_kind(kind: Kind, rng: Random, names: list[str], depth: int = 0) -> Any:
    match kind:
        case Constants(values):
            return rng.choice(values)
        case Truth():
            return rng.random() < 0.5
        case Nothing():
            return None
        case Text():
            return text(rng, names)
        case Quantity(units, signed):
            return quantity(rng, units, signed)
        case Number():
            return number(rng, kind)
        case Array(first, items, least, most):
            length = min(most, max(least, rng.choice((0, 1, 1, 2, 3))))
            ahead = [make(place, rng, names, depth + 1) for place in first]
            return ahead + [make(items, rng, names, depth + 1) for _ in range(length - len(ahead))]
        case Table(fields, required):
            share = 0.3 / (1 + depth)
            return {
                key: make(place, rng, names, depth + 1)
                for key, place in fields.items()
                if key in required or (depth < DEPTH and rng.random() < share)
            }


def number(rng: Random, kind: Number) -> int | float:
    dice = rng.random()
    if dice < 0.15:
        edge = rng.choice((kind.least, kind.most, rng.choice(EDGES), -1))
        return int(edge) if kind.whole and abs(edge) < 1e300 else edge
    if kind.whole:
        return round(10 ** rng.uniform(0, 3 if dice < 0.9 else 6))
    if kind.most <= 1:
        return rng.choice((0, 1, 0.5, rng.random(), 10 ** rng.uniform(-6, 0)))
    return rng.choice((0.0, 1.0, -1.0, rng.random(), 10 ** rng.uniform(-3, 4), -(10 ** rng.uniform(-3, 4))))


def quantity(rng: Random, units: tuple[str, ...], signed: bool) -> str:
    dice = rng.random()
    if dice < 0.08:
        shown = rng.choice(ODD_NUMBERS)
    elif dice < 0.16:
        shown = str(rng.choice(EDGES))
    elif dice < 0.8:
        shown = str(round(10 ** rng.uniform(0, 3)))
    else:
        shown = f"{10 ** rng.uniform(-3, 4):.4g}"
    sign = "-" if rng.random() < (0.3 if signed else 0.01) else ""
    return f"{sign}{shown} {rng.choice(units)}"


def text(rng: Random, names: list[str]) -> str:
    dice = rng.random()
    if names and dice < 0.7:
        return rng.choice(names)
    if names and dice < 0.9:
        return f"{rng.choice(names)}.ue[{rng.choice(('*', '0', '1', '2'))}]"
    return rng.choice(("a", "b", "c", "d")) if dice < 0.96 else rng.choice(ODD_TEXTS)


def strange(rng: Random) -> Any:
    return json.loads(rng.choice(STRANGE))


def scaled(shown: str, rng: Random) -> str:
    """A quantity written otherwise, or a larger or a smaller one."""
    head, _, unit = shown.rpartition(" ")
    try:
        value = float(head)
    except ValueError:
        return shown
    factor = rng.choice((0, 0.001, 0.1, 0.5, 0.999, 1.001, 2, 10, 1000, 1e6))
    return f"{value * factor:.12g} {unit}"
