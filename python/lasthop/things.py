"""Which tables have means over runs, and what tells the things in them apart: one rule for seeds and for sweeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

__all__ = ["THINGS", "metrics_of", "telling", "things_of"]

#: The tables that have means, and the columns that tell their things apart.
THINGS: dict[str, tuple[str, ...]] = {
    "flows": ("flow", "from", "to"),
    "links": ("link",),
    "transfers": ("flow",),
    "cells": ("cell",),
    "bearers": ("bearer",),
    "drops": ("place", "cause", "flow"),
    "media": ("flow",),
}

#: Numbers that only say which thing it is.
_NAMES = {"transfer"}

#: The names of the types of numbers.
_NUMBERS = {"int64", "double"}


def things_of(table: str) -> tuple[str, ...]:
    """The columns of a table that tell its things apart."""
    if table not in THINGS:
        raise ValueError(f"the table {table!r} has no means; known: {', '.join(THINGS)}")
    return THINGS[table]


def metrics_of(types: Mapping[str, str], names: Collection[str]) -> list[str]:
    """The columns that are numbers and say more than which thing it is; ``types`` are the names of their types."""
    return [name for name, kind in types.items() if kind in _NUMBERS and name not in _NAMES and name not in names]


def telling(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names that tell rows apart: no name that follows from those before it."""
    kinds = [len({tuple(row.get(name) for name in names[:n]) for row in rows}) for n in range(len(names) + 1)]
    return [name for n, name in enumerate(names) if kinds[n + 1] > kinds[n]]
