"""The thesis' figures, drawn from our runs."""

from __future__ import annotations

from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.umts_tcp import figures5, figures6, figures7, figures8
from lasthop.studies.umts_tcp.data import Data

__all__ = ["pictures"]


def pictures(data: Data) -> list[Picture]:
    """All figures that the runs suffice for, in the thesis' order."""
    made = []
    for draw in (*figures5.ALL, *figures6.ALL, *figures7.ALL, *figures8.ALL):
        try:
            made.append(draw(data))
        except NotRun:
            continue
    return made
