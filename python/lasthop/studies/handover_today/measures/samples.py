"""The table `series` of a run, quantity by quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lasthop.results import Table
    from lasthop.studies.grid import Array

__all__ = ["Samples"]


class Samples:
    """Samples at equal intervals, from time 0 on."""

    def __init__(self, table: Table, every_s: float, end_s: float) -> None:
        arrow = table.to_arrow().combine_chunks()
        self._every_s = every_s
        #: The instants.
        self.at: Array = every_s * np.arange(round(end_s / every_s) + 1, dtype=np.float64)
        self._place = np.rint(arrow.column("time_s").to_numpy() / every_s).astype(int)
        self._value: Array = arrow.column("value").to_numpy()
        self._coded: dict[str, tuple[Any, list[str]]] = {}
        for name in ("name", "quantity"):
            chunk = arrow.column(name).chunk(0)
            self._coded[name] = chunk.indices.to_numpy(zero_copy_only=False), chunk.dictionary.to_pylist()

    def of(self, name: str, quantity: str, missing: float = np.nan) -> Array:
        """A quantity at each instant; ``missing`` where it is not shown."""
        here = np.ones(len(self._place), dtype=bool)
        for column, word in (("name", name), ("quantity", quantity)):
            codes, words = self._coded[column]
            if word not in words:
                return np.full(len(self.at), missing)
            here &= codes == words.index(word)
        made = np.full(len(self.at), missing)
        made[self._place[here]] = self._value[here]
        return made

    def so_far(self, name: str, quantity: str) -> Array:
        """A total so far: nothing before it is shown, and the last one where it is not shown any more."""
        made = self.of(name, quantity)
        last = np.maximum.accumulate(np.where(np.isnan(made), 0, np.arange(len(made))))
        held: Array = np.nan_to_num(made[last])
        return held
