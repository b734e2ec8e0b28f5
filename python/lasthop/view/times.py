"""Times as scenarios write them."""

from __future__ import annotations

__all__ = ["seconds"]

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A time of a scenario that has been read: a number and its unit."""
    number, _, unit = text.partition(" ")
    return float(number) * _UNITS[unit]
