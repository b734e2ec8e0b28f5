"""Sweeps whose points differ in what they have: in columns of tables, in flows."""

from __future__ import annotations

from importlib import import_module

import lasthop as lh
import numpy as np
import pytest
from lasthop import plot

#: A download by one of the modes of RLC, whose entities count different things.
CELL = """
name = "modes"
duration = "5 s"
[[cell]]
name = "cell"
rnc = "rnc"
loss.gilbert = { good_to_bad = 0.0087, bad_to_good = 0.1491 }
[[flow]]
name = "download"
from = "rnc"
to = "cell.ue[0]"
"""

MODES = {"cell.rlc": ["am", "um"]}


@pytest.mark.parametrize("modes", [["am", "um"], ["um", "am"]])
@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("portion", [1, 2_000])
def test_columns_that_a_point_does_not_have_are_missing_there(modes, format, portion, tmp_path, monkeypatch):
    """Also where they are written in several portions, of which the first does not have them."""
    monkeypatch.setattr(import_module("lasthop.sweeps.collect"), "RUNS", portion)
    s = lh.sweep(CELL, vary={"cell.rlc": modes}, seeds=2, folder=tmp_path, format=format)
    alone = {mode: lh.replicate(lh.load(CELL).with_({"cell.rlc": mode}), seeds=2) for mode in modes}
    columns = {mode: alone[mode].bearers.columns for mode in modes}
    assert "status_pdus" in columns["am"] and "status_pdus" not in columns["um"]
    assert s.bearers.columns == ["cell.rlc", *dict.fromkeys(columns[modes[0]] + columns[modes[1]])]
    for mode in modes:
        rows = s.bearers.where(**{"cell.rlc": mode}).rows()
        for found, row in zip(rows, alone[mode].bearers.rows(), strict=True):
            assert found == {**dict.fromkeys(found), "cell.rlc": mode, **row}
        (mean, *_) = [row for row in s.means("bearers") if row["cell.rlc"] == mode]
        assert mean["status_pdus"].n == (2 if mode == "am" else 0)


def test_what_a_point_does_not_have_is_no_number_in_what_is_said_of_it(lasthop, tmp_path):
    (tmp_path / "modes.toml").write_text(CELL)
    words = ["sweep", "modes.toml", "--vary=cell.rlc=am,um", "--seeds", "2", "-o", "out"]
    assert "difference to cell.rlc = am" in lasthop(*words).stdout
    s = lh.Sweep.load(tmp_path / "out")
    found = {row["cell.rlc"]: row for row in s.summary if row["metric"] == "status_pdus" and "down" in row["bearer"]}
    assert found["am"]["n"] == 2 and found["um"]["n"] == 0
    assert found["um"]["mean"] is None and found["um"]["difference"] is None
    (row,) = s.paired("status_pdus", table="bearers", by=()).rows()
    assert np.isnan(row["difference"]) and row["n"] == 0
    assert [str(one["status_pdus"]) for one in s.means("bearers", by=(), total=True)][1] == "–"
    plot.across(s, "status_pdus", table="bearers")
    lasthop("report", "out")
