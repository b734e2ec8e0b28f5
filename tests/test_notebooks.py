"""The notebooks of the docs run from top to bottom, and show tables and pictures."""

from __future__ import annotations

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    shown = [output["data"] for output in outputs if output["output_type"] in ("display_data", "execute_result")]
    assert any("image/png" in data for data in shown)
    printed = [output["data"] for output in outputs if output["output_type"] == "display_data"]
    assert all("image/png" in data for data in printed), "a table is the value of its cell, and nothing else is shown"
    assert any("text/html" in data and "<table" in data["text/html"] for data in shown)
    assert not [output for output in outputs if output.get("name") == "stderr"], outputs
