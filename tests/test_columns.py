"""Tables at the terminal's width: nothing is lost, nothing is broken by the terminal itself."""

from __future__ import annotations

import os
import sys
from collections import Counter

import pytest
from conftest import ROOT, in_terminal
from hypothesis import given
from hypothesis import strategies as st
from lasthop.columns import aligned

CELLS = st.text("abc 0123456789.-±[]/é漢", max_size=60).map(lambda text: " ".join(text.split()))


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 9))
    line = st.lists(CELLS, min_size=columns, max_size=columns)
    return draw(line), draw(st.lists(line, max_size=4))


@given(tables(), st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal_and_no_character_is_lost(table, width):
    from rich.cells import cell_len

    header, rows = table
    text = aligned(header, rows, width=width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    wanted = Counter(letter for line in [header, *rows] for cell in line for letter in cell)
    assert all(text.count(letter) >= often for letter, often in wanted.items() if letter != " ")


def test_columns_without_room_follow_under_the_same_first_column():
    header, row = ["flow", "goodput_kbps", "timeouts", "marks"], ["[bold]a[0]", "12.5 ±0.3", "3", "4"]
    assert aligned(header, [row], width=30).splitlines() == [
        "flow        goodput_kbps",
        "[bold]a[0]     12.5 ±0.3",
        "",
        "flow        timeouts  marks",
        "[bold]a[0]         3      4",
    ]
    assert aligned(header, [row]).splitlines() == [
        "flow        goodput_kbps  timeouts  marks",
        "[bold]a[0]     12.5 ±0.3         3      4",
    ]


@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize(
    "words", [["new"], ["studies"], ["run", str(ROOT / "examples" / "umts-cell.toml")]], ids=lambda w: w[0]
)
def test_commands_fit_the_terminal(words, columns, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    code, text = in_terminal(columns, [sys.executable, "-m", "lasthop", *words], tmp_path, environment)
    assert code == 0, text
    tables = [line for line in text.splitlines() if "  " in line]
    assert tables and max(map(len, tables)) <= columns, text
