"""What the figures of studies share: a picture of a drawing and its numbers, columns that grow, legends, labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from lasthop.results import Table
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FAINT", "SOFT", "Columns", "drawn", "legend", "picture", "whole"]

Data = TypeVar("Data")

#: A thin line beside the others, and grey words.
FAINT, SOFT = "#BBBBBB", "#555555"


class Columns:
    """The numbers behind a figure, which grow line by line."""

    def __init__(self, *names: str) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in names}

    def add(self, *values: Any) -> None:
        """Rows: a value for each column, or one for all of them."""
        rows = max((len(value) for value in values if _several(value)), default=1)
        for column, value in zip(self._columns.values(), values, strict=True):
            column += np.asarray(value).tolist() if _several(value) else [value] * rows

    def table(self) -> Table:
        """As a table."""
        return Table(pa.table(self._columns))


def _several(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def picture(
    id: str, figure: Figure, data: Columns | Mapping[str, Any] | Sequence[Mapping[str, Any]], *, caption: str, alt: str
) -> Picture:
    """A figure with its numbers: columns by name, or rows."""
    if isinstance(data, Columns):
        table = data.table()
    else:
        table = Table(pa.table(dict(data)) if isinstance(data, Mapping) else pa.Table.from_pylist(list(data)))
    return Picture(id, caption, alt, figure, table)


def drawn(makers: Iterable[Callable[[Data], Picture | Sequence[Picture]]], data: Data) -> list[Picture]:
    """All figures whose runs there are, in their order."""
    made: list[Picture] = []
    for make in makers:
        try:
            one = make(data)
        except NotRun:
            continue
        made += [one] if isinstance(one, Picture) else one
    return made


def legend(axes: Axes, columns: int = 4) -> None:
    """A legend above the axes."""
    axes.legend(
        ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.0, handlelength=1.8,
        borderaxespad=0.2,
    )  # fmt: skip


def whole(axis: Any) -> None:
    """Ticks at whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins=5))
