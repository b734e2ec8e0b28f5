"""Runs with several seeds: which one is meant, and what a run without a row says."""

from __future__ import annotations

import json
import re

import lasthop as lh
import numpy as np
import pytest
from conftest import ROOT
from lasthop import plot
from lasthop.report import write_runs
from lasthop.things import THINGS

#: A file over a link that loses one packet in two thousand: some runs lose none.
RARE = """
duration = "20 s"

[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "2 Mbit/s"
loss.bernoulli.p = 0.0005
queue.droptail.limit = "1000 packets"

[[flow]]
name = "file"
from = "server"
to = "mobile"
source.file.size = "1 MB"
"""


TEMPLATES = ROOT / "python" / "lasthop" / "templates"

#: A call over a link with losses.
CALL = """
duration = "5 s"
[[link]]
name = "radio"
between = ["a", "b"]
rate = "1 Mbit/s"
loss.bernoulli.p = 0.02
[[flow]]
name = "call"
from = "a"
to = "b"
transport.media.congestion = "gcc"
source = "encoder"
"""


@pytest.fixture(scope="module")
def rare():
    return lh.replicate(RARE, seeds=10)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three runs in one folder, and the scenario."""
    folder = tmp_path_factory.mktemp("three")
    scenario = plot.recording(lh.load(RARE))
    lh.replicate(scenario, seeds=3).save(folder / "runs")
    return folder / "runs", scenario


def test_a_folder_of_several_runs_gives_the_one_that_is_chosen(three):
    folder, scenario = three
    with pytest.raises(ValueError, match="holds 3 runs: choose one by its seed, from 1 to 3"):
        lh.Result.load(folder)
    with pytest.raises(ValueError, match="no run with seed 4"):
        lh.Result.load(folder, seed=4)
    with pytest.raises(ValueError, match="no run with seed '1', only 1, 2, 3"):
        lh.Result.load(folder, seed="1")
    second, again = lh.Result.load(folder, seed=2), lh.run(scenario, seed=2)
    assert second == again and second.seed == 2


def test_seeds_with_gaps_are_listed(tmp_path):
    lh.replicate(lh.load(RARE).with_({"duration": "1 s"}), seeds=[7, 3, 5]).save(tmp_path / "runs")
    with pytest.raises(ValueError, match=r"choose one by its seed, [357], [357], [357]$"):
        lh.Result.load(tmp_path / "runs")


@pytest.mark.parametrize("manifest", ['{"tables": 3}', '{"tables": {}, "seeds": []}', '{"tables": [], "seeds": [1]}'])
def test_a_damaged_manifest_is_named(lasthop, manifest):
    (lasthop.folder / "damaged").mkdir()
    (lasthop.folder / "damaged" / "manifest.json").write_text(manifest)
    for call in (["report", "damaged"], ["compare", "damaged", "damaged"]):
        said = lasthop(*call, code=2).stderr
        assert "damaged holds no" in said and "Traceback" not in said


def test_pictures_and_pages_are_of_one_seed(three, lasthop):
    folder, scenario = three
    for command in ("plot", "view"):
        assert "choose one by its seed" in lasthop(command, str(folder), code=2).stderr
    lasthop("plot", str(folder), "--seed", 2, "-o", "chosen")
    plot.standard(lh.run(scenario, seed=2), lasthop.folder / "alone")
    names = {path.name for path in (lasthop.folder / "chosen").glob("*.png")}
    assert "throughput.png" in names
    for name in names:
        drawn = [(lasthop.folder / one / name).read_bytes() for one in ("chosen", "alone")]
        assert drawn[0] == drawn[1], name


def test_a_report_draws_the_first_seed_and_lists_all(three, tmp_path):
    folder, scenario = three
    lh.run(scenario.with_(duration="10 s")).save(tmp_path / "short")
    text = write_runs([folder], tmp_path / "all.html").read_text(encoding="utf-8")
    assert "20 s simulated, 3 runs; pictures are of the first seed" in text
    charts = [json.loads(one) for one in re.findall(r'<script type="application/json">(.*?)</script>', text)]
    lines = [series for one in charts for chart in one["charts"] for series in chart["series"]]
    assert lines
    for line in lines:
        assert line["x"] == sorted(line["x"]), "a line goes back to the start"
    assert len(re.findall(r'<th scope="col"[^>]*>seed</th>', text)) >= 2
    text = write_runs([folder, tmp_path / "short"], tmp_path / "both.html").read_text(encoding="utf-8")
    assert "20 s and 10 s simulated, 4 runs" in text


def test_a_run_without_a_drop_has_none(rare):
    lost = [one.links["drops"].sum() for one in rare.runs]
    assert 0 in lost and any(lost)
    [drops], [link] = rare.means("drops"), [row for row in rare.means("links") if row["drops"].mean]
    assert drops["packets"] == link["drops"] and drops["packets"].n == 10


@pytest.mark.parametrize(
    "scenario", [TEMPLATES / "hsdpa.toml", TEMPLATES / "umts-cell.toml", CALL], ids=["hsdpa", "umts", "media"]
)
def test_seeds_and_sweeps_have_the_same_means(scenario):
    """A row for each thing, each number of at most one value for each seed."""
    short = lh.load(scenario).with_({"duration": "30 s"})
    seeds, swept = lh.replicate(short, seeds=3), lh.sweep(short, vary={"duration": ["30 s"]}, seeds=3)
    tables = [name for name in THINGS if name in seeds[0].tables]
    assert tables[:2] == ["flows", "links"]
    for name in tables:
        mine, theirs = (
            [{column: str(value) for column, value in row.items() if column != "duration"} for row in one.means(name)]
            for one in (seeds, swept)
        )
        assert mine == theirs, name
        numbers = [value for row in seeds.means(name) for value in row.values() if isinstance(value, lh.Estimate)]
        assert all(one.n <= 3 for one in numbers), name


def test_tables_without_means_are_refused_alike():
    short = lh.load(RARE).with_({"record.series": "1 s", "record.state": True})
    runs = lh.replicate(short, seeds=2), lh.sweep(short, vary={"duration": ["20 s"]}, seeds=2)
    for name in ("series", "state"):
        for one in runs:
            with pytest.raises(ValueError, match=f"the table '{name}' has no means; known: flows, links"):
                one.means(name)


def test_points_of_a_sweep_count_their_runs_without_a_drop(tmp_path):
    chances = {"link.radio.loss.bernoulli.p": [0.0001, 0.0005]}
    swept = lh.sweep(RARE, vary=chances, seeds=10, folder=tmp_path)
    drops = [row["packets"] for row in swept.means("drops")]
    links = [row["drops"] for row in swept.means("links", metrics=["drops"]) if row["link"].startswith("radio server")]
    assert drops == links and {one.n for one in drops} == {10}
    [row] = swept.paired("packets", table="drops").rows()
    assert row["difference"] == pytest.approx(links[1].mean - links[0].mean)


def test_seeds_are_there_once_and_at_least_one():
    for seeds, message in [([1, 2, 1], "there twice"), ([], "at least one")]:
        with pytest.raises(lh.ScenarioError, match=message):
            lh.replicate(RARE, seeds=seeds)


def test_seeds_are_whole_numbers_of_python_or_numpy():
    assert [run.seed for run in lh.replicate(CALL, seeds=np.int64(2))] == [1, 2]
    assert lh.sweep(CALL, vary={"link.radio.delay": ["1 ms"]}, seeds=np.int64(2)).seeds == [1, 2]
    assert type(lh.run(CALL, seed=np.int64(4)).seed) is int
    for seeds in ("12", ["1"], [1.0]):
        with pytest.raises(lh.ScenarioError, match=r"the seed ('1'|1\.0) is no whole number"):
            lh.replicate(CALL, seeds=seeds)
    with pytest.raises(lh.ScenarioError, match=r"2\.5 seeds: a whole number is needed, or a list"):
        lh.replicate(CALL, seeds=2.5)
    with pytest.raises(lh.ScenarioError, match="the seed '1' is no whole number"):
        lh.run(CALL, seed="1")


def test_a_comment_makes_no_other_sweep_of_a_file_without_a_name(lasthop):
    file = lasthop.folder / "cell.toml"
    file.write_text(RARE)
    command = ["sweep", "cell.toml", "--vary=link.radio.delay=20ms,40ms", "-o", "out", "-q"]
    lasthop(*command)
    file.write_text("# Another day.\n" + RARE)
    lasthop(*command)
    file.write_text(RARE.replace("2 Mbit/s", "3 Mbit/s"))
    assert "of another scenario" in lasthop(*command, code=2).stderr


def test_a_field_is_varied_under_one_name():
    twice = {"link.radio.delay": ["20 ms", "40 ms"], "link.0.delay": ["100 ms"]}
    with pytest.raises(lh.ScenarioError, match=r"link\.0\.delay is the same field as link\.radio\.delay"):
        lh.sweep(RARE, vary=twice)
    lh.sweep(RARE, vary={"link.radio.delay": ["20 ms", "40 ms"], "link.radio.rate": ["1 Mbit/s", "2 Mbit/s"]})
    changes = [{"at": f"{at} s", "link": "radio", "rate": "1 Mbit/s"} for at in (2, 4)]
    changing = lh.load(RARE).with_(change=changes)
    lh.sweep(changing, vary={f"change.{n}.rate": ["1 Mbit/s", "3 Mbit/s"] for n in (0, 1)})


def test_json_of_several_seeds_has_all_tables_of_means(lasthop):
    lasthop("new", "umts-cell", "-o", "cell.toml")
    text = (lasthop.folder / "cell.toml").read_text()
    (lasthop.folder / "cell.toml").write_text(re.sub(r'^duration = ".*"', 'duration = "22 s"', text, flags=re.M))
    made = json.loads(lasthop("run", "cell.toml", "--seeds", 2, "--json", "-q").stdout)
    assert {"flows", "links", "cells", "bearers"} <= made.keys()


def test_a_link_that_drops_everything_is_shown(lasthop):
    (lasthop.folder / "dead.toml").write_text(RARE.replace("p = 0.0005", "p = 1.0"))
    said = lasthop("run", "dead.toml", "-q").stdout
    assert re.search(r"radio server>mobile\b", said), said


def test_what_holds_no_run_is_named(three, tmp_path):
    _, scenario = three
    lh.sweep(RARE, vary={"link.radio.delay": ["20 ms", "40 ms"]}, folder=tmp_path / "swept")
    with pytest.raises(ValueError, match="holds no run: `lasthop sweep` wrote it"):
        lh.Result.load(tmp_path / "swept")
    with pytest.raises(ValueError, match="the format 'xml' is not known"):
        lh.run(scenario).save(tmp_path / "out", "xml")


def test_a_scenario_is_asked_for_its_parts():
    scenario = lh.load(RARE)
    assert "link" in scenario and "cell" not in scenario
    assert [*scenario] == [*scenario.to_dict()]


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (3, "seeds 1–3"),
        ([1, 5, 9], "seeds 1, 5, 9"),
        ([3, 2, 1], "seeds 3, 2, 1"),
        ([7], "seed 7"),
        (range(1, 19, 2), "9 seeds from 1 to 17"),
    ],
)
def test_a_heading_names_the_seeds_that_ran(seeds, said):
    short = lh.load(RARE).with_({"flow.file.source": {"file": {"size": "1 kB"}}, "duration": "1 s"})
    assert f" · {said} · mean" in lh.replicate(short, seeds=seeds).heading()
