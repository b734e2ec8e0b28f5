"""Stored results of runs with a controller in Python: they are looked at without it, and nothing of it runs."""

from __future__ import annotations

import json

import pytest
from conftest import Lasthop

MODULE = "import lasthop\n\n\nclass Mine(lasthop.Controller):\n    pass\n"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The folders of a run and a sweep; in the place of their module there is one that says if it is imported."""
    scenario = {
        "name": "s",
        "duration": "3 s",
        "link": [{"name": "radio", "between": ["server", "phone"], "rate": "2 Mbit/s", "delay": "20 ms"}],
        "flow": [
            {
                "name": "f",
                "from": "server",
                "to": "phone",
                "transport": {"tcp": {"congestion": {"python": "stored_mine:Mine"}}},
            }
        ],
        "record": {"series": "100 ms", "packets": True, "hops": True},
    }
    folder = tmp_path_factory.mktemp("stored")
    lasthop = Lasthop(folder)
    beside = folder / "beside"
    beside.mkdir()
    (beside / "stored_mine.py").write_text(MODULE)
    (beside / "s.json").write_text(json.dumps(scenario))
    lasthop("run", "beside/s.json", "-o", "run", "-q")
    lasthop("run", "beside/s.json", "--seed", "2", "-o", "other", "-q")
    lasthop("sweep", "beside/s.json", "--vary", "link.radio.delay=20 ms,40 ms", "--seeds", "2", "-o", "swept", "-q")
    for place in (folder, beside, folder / "run", folder / "other", folder / "swept"):
        (place / "stored_mine.py").write_text("from pathlib import Path\n\nPath('imported').touch()\n")
    return lasthop


@pytest.mark.parametrize(
    "words",
    [
        ("report", "run"),
        ("report", "run", "other", "-o", "both.html"),
        ("report", "swept"),
        ("compare", "run", "other"),
        ("compare", "swept", "swept"),
        ("analyze", "run"),
        ("plot", "run"),
        ("plot", "swept"),
        ("view", "run"),
    ],
    ids=" ".join,
)
def test_a_stored_result_is_looked_at_without_its_controller(stored, words):
    stored(*words)
    assert not list(stored.folder.rglob("imported"))


def test_what_differs_in_controllers_is_named(stored):
    import lasthop as lh
    from lasthop.comparison import Stored
    from lasthop.scenario import of_result

    its = Stored.load(stored.folder / "run").scenario
    assert its["flow"][0]["transport"]["tcp"]["congestion"] == {"python": "stored_mine:Mine"}
    media = {"media": {"congestion": {"python": {"class": "stored_mine:Its", "options": {"a": 1}}}}}
    flows = [
        {"from": "a", "to": "b"},
        {"name": "call", "from": "a", "to": "b", "transport": media, "source": "encoder"},
    ]
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s"}
    text = json.dumps({"duration": "1 s", "link": [link], "flow": flows})
    with pytest.raises(lh.ScenarioError, match="stored_mine"):
        lh.load(f"{text}\n")
    assert of_result(text, origin="x")["flow"][1]["transport"]["media"]["congestion"] == media["media"]["congestion"]


def test_a_folder_that_is_named_twice(stored):
    assert "run is named twice" in stored("report", "run", "run", "-o", "twice.html", code=2).stderr
