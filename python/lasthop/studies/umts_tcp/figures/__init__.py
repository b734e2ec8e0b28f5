"""The thesis' figures, drawn from our runs."""

from __future__ import annotations

from lasthop.studies import Picture
from lasthop.studies.pictures import drawn

from ..data import Data
from . import chapter5, chapter6, chapter7, chapter8


def pictures(data: Data) -> list[Picture]:
    """All figures that the runs suffice for, in the thesis' order."""
    return drawn([*chapter5.ALL, *chapter6.ALL, *chapter7.ALL, *chapter8.ALL], data)
