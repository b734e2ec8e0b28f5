"""
The compiled core of lasthop. Use the package `lasthop` instead.
"""

from types import CapsuleType
from typing import Any, final

__all__ = ["Table"]

@final
class Table:
    """
    A table of results. Give it to `pyarrow.table`, `polars.DataFrame` or DuckDB, which read it
    through `__arrow_c_stream__` without copying.
    """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> CapsuleType:
        """
        The table as a stream of the Arrow C interface.
        """
    def __len__(self, /) -> int: ...
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """
