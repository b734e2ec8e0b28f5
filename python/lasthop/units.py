"""The units of quantities as scenarios write them."""

from __future__ import annotations

__all__ = ["FAMILIES", "amount"]

#: Units of one quantity, and how large they are beside each other; seconds, bit/s, bytes and metres are 1.
FAMILIES: list[dict[str, float]] = [
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    {"m": 1.0, "km": 1e3},
]


def amount(text: str) -> float:
    """A quantity as the core writes it: 1500.0 of ``"1.5 kB"``, 0.02 of ``"20 ms"``."""
    number, _, unit = text.partition(" ")
    return float(number) * next(family[unit] for family in FAMILIES if unit in family)
