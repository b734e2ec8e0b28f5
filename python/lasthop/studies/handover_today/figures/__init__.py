"""The figures: all paths side by side, then each path over time."""

from __future__ import annotations

from functools import partial

from lasthop.studies import Picture
from lasthop.studies.pictures import drawn

from ..data import Data
from ..network.paths import PATHS
from .over_time import over_time
from .side_by_side import missed, shown

__all__ = ["pictures"]


def pictures(data: Data) -> list[Picture]:
    """All figures whose runs there are."""
    return drawn([missed, shown, *(partial(over_time, path=path) for path in PATHS.values())], data)
