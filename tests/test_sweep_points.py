"""Points of sweeps: such as differ in columns or flows, and the one that the others are compared with."""

from __future__ import annotations

import dataclasses
import json
from importlib import import_module
from itertools import pairwise

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT
from lasthop import _core, plot, sweeps
from lasthop.cli.sweep import values
from lasthop.results import Table, write_table
from looks import faults

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

#: A download over a link with losses.
LINK = """
name = "loss"
duration = "2 s"
[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "2 Mbit/s"
loss.bernoulli.p = 0.02
[[flow]]
name = "download"
from = "server"
to = "mobile"
"""


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


@pytest.fixture(scope="module")
def delays(tmp_path_factory):
    """A finished sweep over three delays, two seeds each."""
    folder = tmp_path_factory.mktemp("delays")
    return lh.sweep(LINK, vary={"link.radio.delay": ["20 ms", "40 ms", "80 ms"]}, seeds=2, folder=folder)


def test_differences_in_json_are_to_the_point_that_is_named(delays, lasthop):
    key = "link.radio.delay"

    def differences(*words):
        document = json.loads(lasthop("sweep", "--collect", "-o", delays.folder, "--json", "-q", *words).stdout)
        rows = [row for row in document["summary"] if row["metric"] == "goodput_kbps"]
        return document["against"], {row[key]: row["difference"] for row in rows}

    for words, point in (([], "20 ms"), ([f"--against={key}=40 ms"], "40 ms")):
        against, found = differences(*words)
        paired = delays.paired("goodput_kbps", against={key: point}).rows()
        assert against == {key: point}
        assert found == {point: None, **{row[key]: row["difference"] for row in paired}}


@pytest.mark.parametrize(
    ("against", "says"),
    [
        ("link.radio.dely=40 ms", "did you mean 'link.radio.delay'"),
        ("link.radio.delay=41 ms", "did you mean '40 ms'"),
        ("link.radio.delay=40 ms,20 ms", "link.radio.delay has 2 values"),
    ],
)
def test_a_collected_sweep_is_compared_with_points_that_it_has(delays, lasthop, against, says):
    for more in ([], ["--json"]):
        said = lasthop("sweep", "--collect", "-o", delays.folder, "--against", against, *more, code=2).stderr
        assert "--against" in said and says in said and "Traceback" not in said


def test_a_line_is_named_at_its_last_point_with_a_value():
    """Of a file that begins shortly before the end there is no round-trip time over a long delay."""
    late = {"name": "late", "from": "server", "to": "mobile", "start": "4.8 s", "source": {"file": {"size": "10 kB"}}}
    scenario = lh.load(LINK)
    both = [*scenario.to_dict()["flow"], late]
    s = lh.sweep(
        scenario.with_(flow=both, duration="5 s"), vary={"link.radio.delay": ["20 ms", "40 ms", "500 ms"]}, seeds=2
    )
    means = {(row["flow"], row["link.radio.delay"]): row["rtt_ms_p50"] for row in s.means("flows")}
    assert means["late", "500 ms"].n == 0 and means["late", "40 ms"].n > 0
    axes = plot.across(s, "rtt_ms_p50")
    ends = {text.get_text(): text.xy for text in axes.texts}
    assert {name: x for name, (x, _) in ends.items()} == {"download": 500.0, "late": 40.0}
    assert np.isfinite([y for _, y in ends.values()]).all() and not faults(axes.figure)


def test_pairs_of_a_sweep_of_one_point_have_their_columns(delays):
    one = lh.sweep(LINK, vary={"link.radio.delay": ["20 ms"]}, seeds=2)
    for by in (None, ()):
        some, none = (swept.paired("goodput_kbps", by=by).to_arrow() for swept in (delays, one))
        assert none.num_rows == 0 < some.num_rows and none.schema == some.schema


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        (["busy.toml"], "FILE"),
        (["--vary", "link.radio.delay=1 ms"], "--vary"),
        (["--seeds", "3"], "--seeds"),
        (["--format", "csv"], "--format"),
        (["--shard", "0/2"], "--shard"),
        (["--force"], "--force"),
    ],
)
def test_what_has_no_meaning_for_tables_put_together_is_refused(lasthop, words, left_out):
    said = lasthop("sweep", "--collect", "-o", "nowhere", *words, code=2).stderr
    assert f"--collect takes the sweep as it was begun: leave out {left_out}" in said


def test_receivers_of_one_flow_have_names_of_their_own():
    scenario = lh.load(ROOT / "examples" / "mbms.toml")
    swept = lh.sweep(scenario, vary={"duration": ["4 s", "5 s"]})
    named = [container.get_label() for container in plot.across(swept, "received_packets").containers]
    assert len({*named}) == len(named) == len({(row["flow"], row["to"]) for row in swept.flows})
    assert any("ue[0]" in name for name in named)


@pytest.mark.parametrize("count", [2, 24])
def test_points_at_one_word_stand_apart_from_those_at_the_next(count):
    """A line for each of eight flows and each loss: with three of these 24."""
    flow = lh.load(LINK).to_dict()["flow"][0]
    several = [{**flow, "name": f"f{n}"} for n in range(min(count, 8))]
    vary = {
        "link.radio.queue": ["droptail", "codel", "red"],
        "link.radio.loss.bernoulli.p": [0.01, 0.02, 0.03][: max(1, count // 8)],
    }
    axes = plot.across(lh.sweep(lh.load(LINK).with_(flow=several), vary=vary), "goodput_kbps", key="link.radio.queue")
    lines = np.array([container.lines[0].get_xdata() for container in axes.containers])
    assert lines.shape == (count, 3)
    apart = lines[1:] - lines[:-1]
    assert apart.min() > 0 and apart.max() <= 0.06 + 1e-9
    gaps = lines.min(axis=0)[1:] - lines.max(axis=0)[:-1]
    assert (gaps > 4 * apart.max()).all()
    assert axes.get_xticks().tolist() == pytest.approx(lines.mean(axis=0).tolist())


def test_a_flow_that_a_point_does_not_have_is_not_one_without_drops():
    """With fewer terminals there are fewer flows; a flow that is there and drops nothing has 0 drops."""
    cell = lh.load(CELL).with_({"duration": "20 s", "cell.rlc": {"am": {"max_dat": 2}}})
    cell = cell.with_({"flow.download.to": "cell.ue[*]"})
    s = lh.sweep(cell, vary={"cell.ues": [3, 2]}, seeds=3)
    names = {ues: {row["flow"] for row in s.flows if row["cell.ues"] == ues} for ues in (3, 2)}
    assert len(names[3]) == 3 and names[2] < names[3]
    rows = s.means("drops", metrics=["packets"])
    assert {row["flow"] for row in rows} >= names[3]
    for row in rows:
        there = row["flow"] not in names[3] or row["flow"] in names[row["cell.ues"]]
        assert row["packets"].n == (3 if there else 0), row
    for row in s.paired("packets", table="drops"):
        assert row["n"] == (3 if row["flow"] not in names[3] - names[2] else 0)
    (all_of_3, all_of_2) = s.means("drops", by=(), metrics=["packets"], total=True)
    assert all_of_3["packets"].n == all_of_2["packets"].n == 3


@pytest.mark.parametrize("key", json.loads(_core.schema())["properties"])
def test_sections_as_a_whole_are_refused_before_anything_runs(key):
    """The tables have columns called as some: all runs were made, and then a traceback ended the sweep."""
    kinds = json.loads(_core.schema())
    field = kinds["properties"][key]
    kind = field.get("$ref") or field.get("items", {}).get("$ref", "")
    if "properties" in kinds["$defs"].get(kind.rpartition("/")[2], {}):
        with pytest.raises(lh.ScenarioError, match=f"'{key}' cannot be varied: vary its parts"):
            sweeps.plan(LINK, {key: [[], {}]})
    else:
        assert key in ("name", "description", "profile", "duration", "seed", "nodes")


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        # The queue that comes later takes the place of the one with the parameter.
        ({"link.queue.red.max_p": [0.01, 0.9], "link.queue": ["red", "codel"]}, "link.queue.red.max_p is set in vain"),
        ({"link.queue.red.max_p": [0.9], "link.queue": ["red", "codel"]}, "link.queue.red.max_p is set in vain"),
        ({"link.radio.delay": ["20 ms", "0.02 s"]}, "link.radio.delay: 20 ms and 0.02 s are the same"),
        ({"link.radio.delay": ["10 ms", "20 ms", "0.02 s"]}, "link.radio.delay: 20 ms and 0.02 s are the same"),
        (
            {"link.queue": ["red", "codel"], "link.radio.delay": ["20 ms", "10 ms", "0.02 s"]},
            "link.radio.delay: 20 ms and 0.02 s are the same",
        ),
        ({"link.loss.bernoulli.p": [0, 0.0]}, "the value 0.0 is there twice"),
        ({"link.loss.bernoulli.p": [0.5, 1.0, 1]}, "the value 1 is there twice"),
    ],
)
def test_points_that_would_be_the_same_are_refused(vary, said):
    with pytest.raises(lh.ScenarioError, match=said):
        lh.sweep(LINK, vary=vary)
    in_order = lh.sweep(LINK, vary={"link.queue": ["red"], "link.queue.red.max_p": [0.01, 0.9]})
    assert [row["link.queue.red.max_p"] for row in in_order.means("flows")] == [0.01, 0.9]


def test_what_is_varied_is_named_by_a_text():
    with pytest.raises(lh.ScenarioError, match=r"named by a text such as 'link.radio.delay', not by \('link"):
        lh.sweep(LINK, vary={("link.radio.delay", "link.radio.rate"): [("1 ms", "1 Mbit/s")]})


def test_whole_numbers_beyond_those_of_a_double_stay_apart():
    most = [2**53 + 1, 2**53 + 2, 2**63]
    s = lh.sweep(LINK, vary={"record.most_rows": most})
    assert [row["record.most_rows"] for row in s.means("flows")] == most
    assert s.flows["record.most_rows"].tolist() == list(map(str, most))


QUEUES = [{"droptail": {"limit": "20 packets"}}, "codel", {"pie": {"target": "30 ms"}}, {"red": {}}]


def test_tables_are_written_as_the_command_takes_them(lasthop, tmp_path):
    """A value can be copied from what is printed, and reads as it was given in Python."""
    s = lh.sweep(LINK, vary={"link.radio.queue": QUEUES}, seeds=2, folder=tmp_path / "queues")
    printed = [*dict.fromkeys(s.flows["link.radio.queue"])]
    assert printed == ['{droptail = {limit = "20 packets"}}', "codel", '{pie = {target = "30 ms"}}', "{red = {}}"]
    assert values([f"link.radio.queue={','.join(printed)}"]) == {"link.radio.queue": QUEUES}
    again = lasthop("sweep", "--collect", "-o", "queues", "--against", f"link.radio.queue={printed[2]}").stdout
    assert f"difference to link.radio.queue = {printed[2]}" in again


def test_tables_have_their_words_in_pictures():
    s = lh.sweep(LINK, vary={"link.radio.queue": QUEUES, "link.radio.loss": [{"bernoulli": {"p": 0.01}}]}, seeds=1)
    axes = plot.across(s, "goodput_kbps")
    ticks = axes.get_xticklabels()
    said = [" ".join(tick.get_text().split()) for tick in ticks]
    assert said == ["droptail (limit 20 packets)", "codel", "pie (target 30 ms)", "red"]
    extents = [tick.get_window_extent() for tick in ticks]
    assert all(left.x1 < right.x0 for left, right in pairwise(extents)), "none reaches into the next"
    assert "bernoulli (p 0.01)" in axes.containers[0].get_label() and not faults(axes.figure)


#: The directions of its link.
THERE, BACK = "radio server>mobile", "radio mobile>server"


@pytest.fixture(scope="module")
def seldom(tmp_path_factory):
    """Folders of runs and of a sweep, in which the way back has no row with the second of three seeds.

    As a link between satellites has none that carried nothing.
    """
    folder = tmp_path_factory.mktemp("seldom")
    made = lh.replicate(LINK, seeds=3)
    idle = dataclasses.replace(made[1], tables={**made[1].tables, "links": made[1].links.where(link=THERE)})
    lh.Replications([made[0], idle, made[2]], 0.0).save(folder / "runs")
    made.save(folder / "all")
    swept = lh.sweep(LINK, vary={"link.radio.delay": ["10 ms", "20 ms"]}, seeds=3, folder=folder / "sweep")
    rows = [row for row in swept.links.rows() if row["link"] == THERE or row["seed"] != 2]
    # At the second point there is no such link.
    rows = [row for row in rows if row["link"] == THERE or row["link.radio.delay"] == "10 ms"]
    write_table(Table(pa.Table.from_pylist(rows, swept.links.to_arrow().schema)), folder / "sweep" / "links.parquet")
    return folder


def _counts_of(row):
    return {name: row[name].n for name in ("packets", "bytes", "drops", "marks", "utilisation_pct", "queue_ms_p50")}


#: In how many of three runs the columns of the way back have a value.
COUNTED = {**dict.fromkeys(("packets", "bytes", "drops", "marks", "utilisation_pct"), 3), "queue_ms_p50": 2}


def test_a_link_without_a_row_carried_nothing(seldom):
    runs = [lh.Result.load(seldom / "runs", seed) for seed in (1, 2, 3)]
    back = next(row for row in lh.Replications(runs, 0.0).means("links") if row["link"] == BACK)
    assert _counts_of(back) == COUNTED
    packets = [sum(one.links.where(link=BACK)["packets"].tolist()) for one in runs]
    assert packets[1] == 0 and back["packets"].mean == np.mean(packets)


def test_a_link_without_a_row_carried_nothing_in_sweeps(seldom):
    swept = lh.Sweep.load(seldom / "sweep")
    here, elsewhere = (row for row in swept.means("links") if row["link"] == BACK)
    assert _counts_of(here) == COUNTED
    assert {*_counts_of(elsewhere).values()} == {0}
    packets = [[row["packets"] for row in swept.links if row["link"] == BACK and row["seed"] == n] for n in (1, 2, 3)]
    assert here["packets"].mean == np.mean([sum(one) for one in packets])
    mean = swept.means("links", by=(), metrics=["packets"])[0]["packets"]
    there = next(row for row in swept.means("links") if row["link"] == THERE)
    assert mean.mean == pytest.approx((here["packets"].mean + there["packets"].mean) / 2)


def test_a_link_without_a_row_carried_nothing_in_comparisons(seldom):
    found = lh.compare(seldom / "runs", seldom / "all").rows("links")
    rows = {row["metric"]: row for row in found if row["link"] == BACK}
    assert rows["packets"]["difference"].n == 3 and rows["packets"]["difference"].mean > 0
    assert "queue_ms_p50" not in rows
