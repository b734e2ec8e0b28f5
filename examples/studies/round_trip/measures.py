"""From a run's tables to the numbers that are kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.results import Result


def measures(result: Result) -> Mapping[str, float]:
    """The goodput of the file."""
    return {"goodput_kbps": float(result.flows["goodput_kbps"][0])}
