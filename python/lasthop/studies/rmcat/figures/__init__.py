"""The figures: each case over time, and all of them side by side."""

from __future__ import annotations

from functools import partial

from lasthop.studies import Picture
from lasthop.studies.pictures import drawn

from ..data import Data
from ..network.cases import BASIC, CELL, PRIORITY, Case
from .over_time import over_time
from .side_by_side import marks, summary

__all__ = ["pictures"]


def pictures(data: Data) -> list[Picture]:
    """All figures whose runs there are."""
    cases: list[Case] = [*BASIC, PRIORITY[0], CELL]
    return drawn([summary, marks, *(partial(over_time, case=case) for case in cases)], data)
