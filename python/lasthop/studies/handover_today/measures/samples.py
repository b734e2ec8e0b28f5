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
        self._names, self._quantities = (arrow.column(name).chunk(0) for name in ("name", "quantity"))
        #: The rows of a name with the codes of their quantities, which are many fewer than all rows.
        self._rows: dict[str, tuple[Any, Any]] = {}

    def of(self, name: str, quantity: str, missing: float = np.nan) -> Array:
        """A quantity at each instant; ``missing`` where it is not shown."""
        rows, quantities = self._of_name(name)
        known = self._quantities.dictionary.to_pylist()
        here = rows[quantities == known.index(quantity)] if quantity in known else rows[:0]
        made = np.full(len(self.at), missing)
        made[self._place[here]] = self._value[here]
        return made

    def _of_name(self, name: str) -> tuple[Any, Any]:
        if name not in self._rows:
            known = self._names.dictionary.to_pylist()
            codes = self._names.indices.to_numpy(zero_copy_only=False)
            rows = np.flatnonzero(codes == known.index(name)) if name in known else np.zeros(0, dtype=int)
            self._rows[name] = rows, self._quantities.indices.to_numpy(zero_copy_only=False)[rows]
        return self._rows[name]

    def so_far(self, name: str, quantity: str) -> Array:
        """A total so far: nothing before it is shown, and the last one where it is not shown any more."""
        made = self.of(name, quantity)
        last = np.maximum.accumulate(np.where(np.isnan(made), 0, np.arange(len(made))))
        held: Array = np.nan_to_num(made[last])
        return held
