"""Scenarios written in Python: the sections are those of the schema, and type checkers know them."""

from __future__ import annotations

import subprocess
import sys

import lasthop as lh
import pytest
from conftest import ROOT
from test_docs import _script

RIGHT = """
import lasthop as lh

radio = lh.Link(name="radio", between=["a", "b"], rate="2 Mbit/s", queue={"red": {"max_p": 0.1}}, loss="none")
flow = lh.Flow(from_="a", to="b", transport={"tcp": {"variant": "reno"}}, source={"cbr": {"rate": "1 Mbit/s"}})
change = lh.Change(at="1 s", link="radio", rate="1 Mbit/s")
scenario = lh.load(duration="2 s", link=[radio], flow=[flow], change=[change], record={"series": "1 s"})
"""

WRONG = [
    ('lh.Link(name="radio", between=["a", "b"], rate="2 Mbit/s", rat="")', "rat"),
    ('lh.Link(name="radio", between=["a", "b"], rate=2.0)', "rate"),
    ('lh.Link(name="r", between=["a", "b"], rate="2 Mbit/s", queue="rod")', "queue"),
    ('lh.Flow(to="b")', "from_"),
    ("lh.load(duration=3)", "duration"),
]


def test_the_sections_are_those_of_the_schema(tmp_path):
    builders = _script("builders")
    fresh = tmp_path / "builders.py"
    fresh.write_text(builders.module(), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--config", ROOT / "pyproject.toml", fresh]
    subprocess.run(ruff, check=True)
    assert fresh.read_text() == builders.PATH.read_text(), "`python docs/builders.py` and `ruff format` renew it"


def test_they_make_the_scenario_of_the_file():
    names: dict = {}
    exec(RIGHT, names)
    scenario = names["scenario"]
    assert lh.load(scenario.to_toml()) == scenario
    assert scenario["flow"][0]["from"] == "a" and lh.run(scenario).flows["received_bytes"][0] > 0
    with pytest.raises(lh.ScenarioError, match="from_"):
        lh.load(duration="1 s", flow=[{"from__": "a", "to": "b"}])
    with pytest.raises(TypeError, match="not both"):
        lh.load("x.toml", duration="1 s")


def test_type_checkers_know_their_fields(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "mine.py"
    path.write_text(RIGHT + "".join(f"{line}\n" for line, _ in WRONG))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", path],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    errors = [line for line in done.stdout.splitlines() if "mine.py" in line and "error:" in line]
    begin = RIGHT.count("\n") + 1
    assert [int(line.split(":")[1]) - begin for line in errors] == list(range(len(WRONG))), done.stdout
    for line, (_, field) in zip(errors, WRONG, strict=True):
        assert field in line
