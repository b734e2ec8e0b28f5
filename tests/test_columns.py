"""Tables at the terminal's width: nothing is lost, nothing is broken by the terminal itself."""

from __future__ import annotations

import os
import sys
from collections import Counter

import lasthop as lh
import pytest
from conftest import ROOT, in_terminal
from hypothesis import given
from hypothesis import strategies as st
from lasthop.columns import aligned
from lasthop.text import analysis_text, sweep_text
from lasthop.text_compared import comparison_text

CELLS = st.text("abc 0123456789.-±[]/é漢", max_size=60).map(lambda text: " ".join(text.split()))


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 9))
    line = st.lists(CELLS, min_size=columns, max_size=columns)
    return draw(line), draw(st.lists(line, max_size=4))


@given(tables(), st.integers(1, 9), st.integers(20, 120))
def test_no_line_is_wider_than_the_terminal_and_no_character_is_lost(table, keys, width):
    from rich.cells import cell_len

    header, rows = table
    text = aligned(header, rows, keys=keys, width=width)
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


def test_all_columns_that_name_a_row_are_repeated():
    header, row = ["delay", "flow", "goodput_kbps", "timeouts"], ["20 ms", "download", "12.5 ±0.3", "3"]
    assert aligned(header, [row], keys=2, width=32).splitlines() == [
        "delay  flow      goodput_kbps",
        "20 ms  download     12.5 ±0.3",
        "",
        "delay  flow      timeouts",
        "20 ms  download         3",
    ]


@pytest.mark.parametrize("columns", [0, 60, 80, 132])
@pytest.mark.parametrize(
    "words", [["new"], ["studies"], ["run", str(ROOT / "examples" / "umts-cell.toml")]], ids=lambda w: w[0]
)
def test_commands_fit_the_terminal(words, columns, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    code, text = in_terminal(columns, [sys.executable, "-m", "lasthop", *words], tmp_path, environment)
    assert code == 0, text
    tables = [line for line in text.splitlines() if "  " in line]
    # One that says nothing of its width has the usual 80.
    assert tables and max(map(len, tables)) <= (columns or 80), text
    assert columns or max(map(len, tables)) > 40, text


def test_tables_that_are_split_name_each_row(monkeypatch, tmp_path):
    scenario = {
        "name": "two flows",
        "duration": "1 s",
        "record": {"packets": True},
        "link": [{"name": "radio", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "10 ms"}],
        "flow": [{"name": name, "from": "a", "to": "b"} for name in ("mine", "yours")],
    }
    sweep = lh.sweep(scenario, vary={"link.radio.delay": ["10 ms", "40 ms"]}, seeds=2)
    run = lh.run(scenario)
    for name, rate in (("at-one-megabit-a-second", "1 Mbit/s"), ("at-two-megabit-a-second", "2 Mbit/s")):
        link = {**scenario["link"][0], "rate": rate}
        lh.run({**scenario, "link": [link]}).save(tmp_path / name)
    monkeypatch.setattr("lasthop.columns.terminal", lambda: 80)
    told = [
        (sweep_text(sweep), [["link.radio.delay", "flow"], ["link.radio.delay", "link"]]),
        (analysis_text(lh.analyze(run, flows=["mine"])), [["from", "connection"]]),
        (comparison_text(lh.compare(*sorted(tmp_path.iterdir()))), [["flow", "metric"]]),
    ]
    for text, names in told:
        lines = text.splitlines()
        heads = [line.split() for line in lines if line.startswith(names[0][0] + "  ")]
        assert len(heads) > len(names) and max(map(len, lines)) <= 80, text
        assert all(any(head[: len(each)] == each for each in names) for head in heads), text
