"""A run over time: the table `series`, taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lasthop.results import Table

    Array = np.ndarray[Any, Any]

__all__ = ["Series", "jain"]


class Series:
    """The table `series`, taken apart."""

    def __init__(self, table: Table) -> None:
        arrow = table.to_arrow().combine_chunks()
        codes, names = {}, {}
        for column in ("name", "quantity"):
            chunk = arrow.column(column).chunk(0)
            codes[column] = chunk.indices.to_numpy()
            names[column] = chunk.dictionary.to_pylist()
        time, value = (arrow.column(column).to_numpy() for column in ("time_s", "value"))
        key = codes["name"].astype(np.int64) * len(names["quantity"]) + codes["quantity"]
        order = np.argsort(key, kind="stable")
        ends = np.flatnonzero(np.diff(key[order])) + 1
        self._of: dict[tuple[str, str], tuple[Array, Array]] = {}
        for rows in np.split(order, ends):
            name, quantity = divmod(int(key[rows[0]]), len(names["quantity"]))
            self._of[names["name"][name], names["quantity"][quantity]] = time[rows], value[rows]

    def of(self, name: str, quantity: str) -> tuple[Array, Array]:
        """The times and values of a quantity; empty if it never stood there."""
        return self._of.get((name, quantity), (np.zeros(0), np.zeros(0)))

    def on(self, name: str, quantity: str, times: Array) -> Array:
        """The values at these samples; not a number where there is none."""
        mine, values = self.of(name, quantity)
        made = np.full(len(times), np.nan)
        here = np.isin(times, mine)
        made[here] = values[np.searchsorted(mine, times[here])]
        return made

    def at(self, name: str, quantity: str, time: float) -> float:
        """The value at a sample; 0 if there is none yet, as of a count."""
        times, values = self.of(name, quantity)
        place = int(np.searchsorted(times, time, "right")) - 1
        return float(values[place]) if place >= 0 else 0.0

    def grown(self, name: str, quantity: str, begin: float, end: float) -> float:
        """By how much a count grew from one sample to another."""
        return self.at(name, quantity, end) - self.at(name, quantity, begin)

    def mean(self, name: str, quantity: str, begin: float, end: float) -> float:
        """The mean of the samples in (begin, end]."""
        times, values = self.of(name, quantity)
        here = values[(times > begin) & (times <= end)]
        return float(here.mean()) if len(here) else float("nan")

    def largest(self, name: str, quantity: str, begin: float, end: float) -> float:
        """The largest of the samples in (begin, end]."""
        times, values = self.of(name, quantity)
        return float(np.max(values[(times > begin) & (times <= end)], initial=0.0))


def jain(shares: Array) -> float:
    """Jain's index of fairness: 1 if all shares are equal, 1/n if one has everything."""
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (len(shares) * squares) if squares else float("nan")
