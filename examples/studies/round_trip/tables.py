"""What the runs gave, as tables."""

from __future__ import annotations

from collections.abc import Mapping

from lasthop.studies import records
from lasthop.studies.grid import Numbers
from lasthop.studies.records import Named, Row, said

from .experiments import Data
from .judges import power
from .paper import POWER


def _powers(data: Data) -> list[Row]:
    return [{"losses": "random", "paper": POWER, "ours": said(power(data))}]


def tables(data: Data, numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """All tables whose runs there are, then what each grid cost, then the numbers of each run."""
    made = records.tables(data, {"table-1": ("The power of the round-trip time with its 95 % interval.", _powers)})
    return {**made, "costs": records.costs(numbers), **records.runs(numbers)}
