"""Tables in aligned columns, as wide as the terminal; without limit where the output is no terminal."""

from __future__ import annotations

import io
import shutil
import sys
import textwrap
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["aligned", "fitted"]

#: What numbers are written with, alone, as a mean with its half-width, or as a pair.
_NUMERIC = set("0123456789.-–±/ ")

#: Spaces between columns.
_GAP = 2

#: A column of text is broken into lines rather than set apart if it keeps this many characters.
_PROSE = 16

#: A column that names a row is repeated if it keeps this many characters.
_NAME = 8


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, keys: int = 1, width: int | None = None) -> str:
    """Columns two spaces apart; a column of numbers is aligned to the right.

    Longer text is broken within its column. Columns for which ``width``, by itself that of the terminal, has no room
    follow in blocks of their own, each behind the first ``keys`` columns, which name a row.
    """
    from rich.cells import cell_len

    columns = list(zip(header, *rows, strict=True))
    natural = [max(map(cell_len, column)) for column in columns]
    width = width or terminal()
    if width is None:
        return _block(header, rows, natural)
    needed = [
        length if _is_numeric(column[1:]) else min(length, max(_PROSE, *map(cell_len, _words(column))))
        for length, column in zip(natural, columns, strict=True)
    ]
    room = width * 2 // 3
    keys = max(1, min(keys, len(columns), (room + _GAP) // (_NAME + _GAP)))
    room = room if len(columns) > keys else width
    needed[:keys] = _narrowed(needed[:keys], room - _GAP * (keys - 1))
    names = sum(needed[:keys]) + _GAP * (keys - 1)
    needed[keys:] = [min(need, width - names - _GAP) for need in needed[keys:]]
    starts, used = [keys], names
    for at, need in enumerate(needed[keys:], keys):
        if used + _GAP + need > width and at > starts[-1]:
            starts.append(at)
            used = names
        used += _GAP + need
    blocks = []
    for start, end in pairwise([*starts, max(keys + 1, len(columns))]):
        of = [*range(keys), *range(start, min(end, len(columns)))]
        widths = _widened([needed[at] for at in of], [natural[at] for at in of], width - _GAP * (len(of) - 1))
        blocks.append(_block([header[at] for at in of], [[row[at] for at in of] for row in rows], widths))
    return "\n\n".join(blocks)


def _narrowed(needed: Sequence[int], room: int) -> list[int]:
    """Widths that the room has place for: the widest give way."""
    widths = list(needed)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _widened(needed: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """Widths that fill the room as far as the text does, those first that lack the least."""
    widths = list(needed)
    lacking = sorted(range(len(widths)), key=lambda at: natural[at] - needed[at])
    for n, at in enumerate(lacking):
        share = (room - sum(widths)) // (len(lacking) - n)
        widths[at] += max(0, min(share, natural[at] - widths[at]))
    return widths


def fitted(text: str) -> str:
    """Text of which lines too long for the terminal are broken between words."""
    width = terminal()
    if width is None:
        return text
    lines = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


def terminal() -> int | None:
    """The columns of the terminal; `None` if the output is none."""
    if not sys.stdout.isatty():
        return None
    # Some report none, as serial lines and pseudo-terminals without a size do: then the usual 80.
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def _is_numeric(cells: Sequence[str]) -> bool:
    return all(set(cell) <= _NUMERIC for cell in cells)


def _words(column: Sequence[str]) -> list[str]:
    return [word for cell in column for word in cell.split(" ")]


def _block(header: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    from rich.console import Console, JustifyMethod
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="")
    for at, (head, width) in enumerate(zip(header, widths, strict=True)):
        justify: JustifyMethod = "right" if _is_numeric([row[at] for row in rows]) else "left"
        table.add_column(Text(head), justify=justify, width=width, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    page = io.StringIO()
    whole = sum(widths) + _GAP * len(widths)
    # Neither a terminal nor a notebook, whatever it runs in: the text goes to the page alone.
    console = Console(file=page, width=whole, color_system=None, force_terminal=False, force_jupyter=False)
    console.print(table)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
