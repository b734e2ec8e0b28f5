"""What differs between two stored results."""

from __future__ import annotations

import json
import shutil

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

LOSSY = """
duration = "10 s"
[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "2 Mbit/s"
delay = "20 ms"
loss.bernoulli.p = 0.01
[[flow]]
name = "download"
from = "server"
to = "mobile"
transport.tcp.variant = "newreno"
"""

SEEDS = 8


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Three folders: a base, one with a longer delay, and the base with other seeds and another variant."""
    folder = tmp_path_factory.mktemp("stored")
    base = lh.load(LOSSY)
    lh.replicate(base, seeds=SEEDS).save(folder / "near")
    lh.replicate(base.with_({"link.radio.delay": "80 ms"}), seeds=SEEDS).save(folder / "far")
    other = base.with_({"flow.download.transport.tcp.variant": "cubic"})
    lh.replicate(other, seeds=range(100, 106)).save(folder / "cubic")
    return folder


def goodput(folder):
    return lh.compare(folder, folder).one.rows("flows")


def test_the_scenarios_are_compared_by_names(stored):
    assert lh.compare(stored / "near", stored / "far").scenario == [("link.radio.delay", "20 ms", "80 ms")]
    assert lh.compare(stored / "near", stored / "near").scenario == []


def test_equal_seeds_are_compared_in_pairs(stored):
    near, far = ([row["goodput_kbps"] for row in goodput(stored / name)] for name in ("near", "far"))
    [row] = [r for r in lh.compare(stored / "near", stored / "far").table() if r["metric"] == "goodput_kbps"]
    interval = stats.ttest_rel(far, near).confidence_interval(0.95)
    assert np.allclose([row["low"], row["high"]], interval) and row["n"] == SEEDS
    assert np.allclose(
        [row["one"], row["other"], row["difference"]], [np.mean(near), np.mean(far), np.mean(far) - np.mean(near)]
    )


def test_other_seeds_are_two_samples(stored):
    near, cubic = ([row["goodput_kbps"] for row in goodput(stored / name)] for name in ("near", "cubic"))
    found = lh.compare(stored / "near", stored / "cubic")
    [row] = [r for r in found.table() if r["metric"] == "goodput_kbps"]
    interval = stats.ttest_ind(cubic, near, equal_var=False).confidence_interval(0.95)
    assert np.allclose([row["low"], row["high"]], interval)
    assert "different seeds" in repr(found)


def test_the_order_of_seeds_does_not_matter(stored, tmp_path):
    lh.replicate(lh.load(LOSSY).with_({"link.radio.delay": "80 ms"}), seeds=range(SEEDS, 0, -1)).save(tmp_path / "far")
    found, again = (lh.compare(stored / "near", folder / "far") for folder in (stored, tmp_path))
    assert again.one.seeds != again.other.seeds and found.table().rows() == again.table().rows()
    assert f"seed by seed, {SEEDS} pairs\n" in repr(again)


def test_of_seeds_that_are_shared_in_part_the_shared_ones_are_compared(stored, tmp_path):
    """Two samples with runs of the same seeds are not independent."""
    lh.replicate(lh.load(LOSSY).with_({"link.radio.delay": "80 ms"}), seeds=range(4, 14)).save(tmp_path / "later")
    found = lh.compare(stored / "near", tmp_path / "later")
    assert found.shared == [4, 5, 6, 7, 8]
    near, later = (
        [row["goodput_kbps"] for row in goodput(folder) if row["seed"] in found.shared]
        for folder in (stored / "near", tmp_path / "later")
    )
    [row] = [r for r in found.table() if r["metric"] == "goodput_kbps"]
    assert np.allclose([row["low"], row["high"]], stats.ttest_rel(later, near).confidence_interval(0.95))
    assert np.allclose([row["one"], row["other"]], [np.mean(near), np.mean(later)]) and row["n"] == 5
    assert "seed by seed, 5 pairs; left out are seeds of one alone, 3 of near and 5 of later" in repr(found)
    lh.replicate(LOSSY, seeds=2).save(tmp_path / "near")
    said = repr(lh.compare(tmp_path / "near", stored / "near"))
    assert f"no number of flows differs, left out are seeds of one alone, {SEEDS - 2} of {stored / 'near'}" in said


def test_what_is_missing_of_some_seeds_is_paired_as_far_as_it_is_there(stored, tmp_path):
    """The difference is that of the means shown, and the heading says of how many pairs it is."""
    folder = tmp_path / "part"
    shutil.copytree(stored / "far", folder)
    rows = lh.results.read_table(folder / "flows.parquet").to_arrow().to_pylist()
    rows[2]["goodput_kbps"] = None
    lh.results.write_table(lh.results.Table(pa.Table.from_pylist(rows[:-1])), folder / "flows.parquet")
    found = lh.compare(stored / "near", folder)
    near, far = ([row["goodput_kbps"] for row in goodput(stored / name)] for name in ("near", "far"))
    there = [place for place in range(SEEDS - 1) if place != 2]
    near, far = np.array(near)[there], np.array(far)[there]
    [row] = [r for r in found.table() if r["metric"] == "goodput_kbps"]
    assert np.allclose([row["one"], row["other"], row["difference"]], [near.mean(), far.mean(), (far - near).mean()])
    assert np.allclose([row["low"], row["high"]], stats.ttest_rel(far, near).confidence_interval(0.95))
    assert row["n"] == SEEDS - 2 and f"seed by seed, {SEEDS - 2} to {SEEDS - 1} pairs" in repr(found)


def test_what_one_side_has_nowhere_is_shown_without_a_difference(tmp_path, lasthop):
    """A file that arrives over the faster link alone; and a flow that alone has a round-trip time."""
    text = LOSSY.replace("loss.bernoulli.p = 0.01\n", "") + 'source.file.size = "500 kB"\n'
    for name, rate in (("fast", "2 Mbit/s"), ("slow", "100 bit/s")):
        lh.replicate(lh.load(text).with_({"link.radio.rate": rate}), seeds=3).save(tmp_path / name)
    found = lh.compare(tmp_path / "fast", tmp_path / "slow")
    rows = {row["metric"]: row for row in found.rows("transfers")}
    assert rows["duration_s"]["one"].n == 3 and rows["duration_s"]["other"].n == 0
    assert str(rows["duration_s"]["other"]) == str(rows["duration_s"]["difference"]) == "–"
    lasthop.folder = tmp_path
    shown = next(
        line.split() for line in lasthop("compare", "fast", "slow").stdout.splitlines() if "rtt_ms_p50" in line
    )
    assert shown[-2:] == ["–", "–"]
    told = json.loads(lasthop("compare", "fast", "slow", "--json").stdout)
    row = next(row for row in told["differences"] if row["metric"] == "rtt_ms_p50")
    assert row["one"] > 0 and row["other"] is None and row["difference"] is None


def test_the_command_says_what_differs(stored, lasthop):
    said = lasthop("compare", stored / "near", stored / "far").stdout
    assert "link.radio.delay" in said and "seed by seed, 8 pairs" in said and "goodput_kbps" in said
    assert max(map(len, said.splitlines())) <= 80
    assert "no number of flows differs" in lasthop("compare", stored / "near", stored / "near").stdout
    document = json.loads(lasthop("compare", stored / "near", stored / "far", "--table", "links", "--json").stdout)
    assert {row["link"] for row in document["differences"]} <= {"radio server>mobile", "radio mobile>server"}
    assert len(lasthop("compare", stored / "near", stored / "far", "--all").stdout.splitlines()) > len(
        said.splitlines()
    )


def test_what_cannot_be_compared_is_said(stored, lasthop, tmp_path):
    unknown = lasthop("compare", stored / "near", stored / "far", "--table", "cells", code=2)
    assert "no table 'cells' in both; known: drops, flows, links" in unknown.stderr
    assert lasthop("compare", stored / "near", tmp_path, code=2).stderr


def test_names_that_are_numbers_are_names_in_csv_too(lasthop, tmp_path):
    """Flows called 01 and 1 are two."""
    text = LOSSY.replace("download", "01") + '[[flow]]\nname = "1"\nfrom = "server"\nto = "mobile"\n'
    found = []
    for format in ("parquet", "csv"):
        for name, delay in (("near", "20 ms"), ("far", "80 ms")):
            scenario = lh.load(text).with_({"link.radio.delay": delay, "duration": "2 s"})
            lh.replicate(scenario, seeds=2).save(tmp_path / format / name, format)
        compared = lh.compare(tmp_path / format / "near", tmp_path / format / "far")
        found.append(compared.table("flows").rows())
        assert compared.rows("drops")
    assert found[0] == found[1] and {row["flow"] for row in found[0]} == {"01", "1"}
    lasthop("report", tmp_path / "csv" / "near")
    assert ">01<" in (tmp_path / "csv" / "near" / "report.html").read_text(encoding="utf-8")


def test_sweeps_are_compared_point_by_point(tmp_path):
    for name, loss in (("few", 0.001), ("many", 0.03)):
        scenario = lh.load(LOSSY).with_({"link.radio.loss": {"bernoulli": {"p": loss}}})
        lh.sweep(scenario, vary={"link.radio.delay": ["20 ms", "80 ms"]}, seeds=3, folder=tmp_path / name)
    found = [r for r in lh.compare(tmp_path / "few", tmp_path / "many").table() if r["metric"] == "goodput_kbps"]
    assert [row["link.radio.delay"] for row in found] == ["20 ms", "80 ms"]
    assert all(row["difference"] < 0 for row in found)


def test_two_results_of_a_study(lasthop, tmp_path):
    claims = [
        {"id": f"A{n}", "statement": f"statement {n}", "paper": "1", "ours": "1.0 ±0.1", "verdict": "reproduced"}
        for n in range(3)
    ]
    other = [dict(claim) for claim in claims[:2]]
    other[1] |= {"ours": "3.0 ±0.1", "verdict": "not reproduced"}
    for name, found in {"quick": claims, "full": other}.items():
        (tmp_path / name).mkdir()
        document = {"study": "stub", "mode": name, "claims": found}
        (tmp_path / name / "claims.json").write_text(json.dumps(document))
    said = lasthop("compare", "quick", "full").stdout
    assert "A0" not in said and "reproduced → not reproduced" in said and "reproduced → –" in said
    assert "2 of 3 verdicts differ" in said
    assert "A0" in lasthop("compare", "quick", "full", "--all").stdout
    rows = json.loads(lasthop("compare", "quick", "full", "--json").stdout)["claims"]
    assert [row["differs"] for row in rows] == [False, True, True] and rows[1]["other_ours"] == "3.0 ±0.1"
    (tmp_path / "full" / "claims.json").write_text(json.dumps({"study": "another", "mode": "full", "claims": []}))
    assert "no claim in both" in lasthop("compare", "quick", "full", code=2).stderr
    (tmp_path / "full" / "claims.json").write_text("[]")
    assert "holds no claims" in lasthop("compare", "quick", "full", code=2).stderr


def test_folders_of_one_name_are_told_apart_by_their_paths(lasthop, stored, tmp_path):
    for name in ("near", "far"):
        shutil.copytree(stored / name, tmp_path / name / "out")
    said = lasthop("compare", "near/out", "far/out").stdout
    assert "flows, far/out − near/out: " in said and said.startswith("differs in        near/out  far/out\n")
    lasthop.folder = tmp_path / "near" / "out"
    assert "flows, far − out: " in lasthop("compare", ".", stored / "far").stdout


def test_results_of_a_study_in_folders_of_one_name(lasthop, tmp_path):
    claim = {"id": "A", "statement": "statement", "paper": "1", "ours": "1.0 ±0.1", "verdict": "reproduced"}
    for name in ("one", "other"):
        (tmp_path / name / "out").mkdir(parents=True)
        document = {"study": "stub", "mode": "quick", "claims": [{**claim, "ours": name}]}
        (tmp_path / name / "out" / "claims.json").write_text(json.dumps(document))
    said = lasthop("compare", "one/out", "other/out").stdout
    assert said.startswith("stub · one/out: quick · other/out: quick\n")


def test_without_differences_the_table_has_its_columns(stored):
    some, none = (lh.compare(stored / "near", stored / name).table("flows") for name in ("far", "near"))
    assert len(none) == 0 and none.columns == some.columns
    assert none.to_arrow().schema == some.to_arrow().schema
    assert {"metric", "one", "other", "difference", "low", "high", "n"} < {*none.columns}


def run_of(text, folder, **changes):
    lh.run(lh.load(text).with_(changes)).save(folder)
    return folder


def test_series_are_compared_by_their_means_over_time(lasthop, tmp_path):
    recorded = {"record.series": "1 s", "record.packets": True}
    near = run_of(LOSSY, tmp_path / "near", **recorded)
    far = run_of(LOSSY, tmp_path / "far", **recorded, **{"link.radio.delay": "80 ms"})
    found = lh.compare(near, far)
    windows = [
        np.mean([row["value"] for row in part.rows("series") if row["quantity"] == "cwnd_packets"])
        for part in (found.one, found.other)
    ]
    [row] = [row for row in found.table("series") if row["quantity"] == "cwnd_packets"]
    assert np.allclose([row["one"], row["other"]], windows) and row["metric"] == "value"
    assert {row["metric"] for row in found.table("series")} == {"value"}
    assert "series, means over time, far − near" in lasthop("compare", near, far, "--table", "series").stdout
    refused = lasthop("compare", near, far, "--table", "packets", code=2)
    assert "'packets' has a row for each event and cannot be compared" in refused.stderr


def test_rows_of_one_thing_are_not_overwritten(tmp_path):
    folder = run_of(LOSSY, tmp_path / "run")
    links = lh.results.read_table(folder / "links.parquet").to_arrow()
    lh.results.write_table(lh.results.Table(pa.concat_tables([links, links])), folder / "links.parquet")
    with pytest.raises(ValueError, match="one row for each thing and seed, found two of link radio server>mobile"):
        lh.compare(folder, folder).rows("links")


def test_handovers_are_compared_by_their_means(tmp_path):
    change = """
    [[change]]
    at = "{at} s"
    link = "radio"
    rate = "{rate} Mbit/s"
    """
    changes = "".join(change.format(at=at, rate=rate) for at, rate in ((2, 1), (4, 2), (6, 3)))
    text = LOSSY + "[record]\nhandovers = true\n" + changes
    near = run_of(text, tmp_path / "near")
    far = run_of(text, tmp_path / "far", **{"link.radio.delay": "80 ms"})
    found = lh.compare(near, far)
    radio = "radio server>mobile"
    packets = [row["packets"] for row in found.other.rows("handovers") if row["link"] == radio]
    assert len(packets) == 3 and len({*packets}) > 1
    rows = {row["metric"]: row for row in found.rows("handovers") if row["link"] == radio}
    assert rows["packets"]["other"].mean == np.mean(packets) and "time_s" not in rows


def test_what_only_one_has_is_named(lasthop, tmp_path):
    two = LOSSY + '[[flow]]\nname = "upload"\nfrom = "mobile"\nto = "server"\n'
    one = run_of(LOSSY, tmp_path / "one")
    other = run_of(LOSSY.replace("download", "other"), tmp_path / "other")
    both = run_of(two, tmp_path / "both")
    said = lasthop("compare", one, other).stdout
    assert "nothing can be compared: no row of flows stands in both" in said and "no number" not in said
    assert "only in one: flow download\nonly in other: flow other" in said
    document = json.loads(lasthop("compare", one, other, "--json").stdout)
    names = {"from": "server", "to": "mobile"}
    assert document["differences"] == [] and document["only_in_one"] == [{"flow": "download", **names}]
    assert document["only_in_other"] == [{"flow": "other", **names}]
    said = lasthop("compare", one, both).stdout
    assert "goodput_kbps" in said and "only in both: flow upload" in said
    assert "transfers has no rows in either" in lasthop("compare", one, other, "--table", "transfers").stdout


def test_sweeps_of_other_keys_are_not_compared(lasthop, tmp_path):
    base = lh.load(LOSSY).with_({"duration": "2 s"})
    run = run_of(LOSSY, tmp_path / "run", duration="2 s")
    lh.sweep(base, vary={"link.radio.delay": ["20 ms", "80 ms"]}, folder=tmp_path / "delays")
    lh.sweep(base, vary={"link.radio.delay": ["20 ms", "40 ms"]}, folder=tmp_path / "short")
    lh.sweep(base, vary={"link.radio.loss.bernoulli.p": [0.01, 0.1]}, folder=tmp_path / "losses")
    said = lasthop("compare", tmp_path / "delays", tmp_path / "losses").stdout
    assert "the same scenario" not in said and "vary link.radio.delay" in said
    assert "delays varies link.radio.delay, losses varies link.radio.loss.bernoulli.p" in said
    assert "only in losses: link.radio.loss.bernoulli.p 0.01, flow download; " in said
    said = lasthop("compare", run, tmp_path / "losses").stdout
    assert "nothing can be compared: run varies nothing, losses varies link.radio.loss.bernoulli.p" in said
    said = lasthop("compare", tmp_path / "delays", tmp_path / "short").stdout
    assert "no number of flows that stands in both differs" in said
    assert "only in delays: link.radio.delay 80 ms\nonly in short: link.radio.delay 40 ms" in said


def test_an_unknown_table_is_an_error(stored):
    for ask in (lh.Comparison.table, lh.Comparison.rows, lh.Comparison.only):
        with pytest.raises(ValueError, match="no table 'nope' in both; known: drops, flows, links"):
            ask(lh.compare(stored / "near", stored / "far"), "nope")


def test_absent_drops_are_none(tmp_path):
    rare, frequent = lh.load(LOSSY), lh.load(LOSSY)
    rare = rare.with_({"duration": "4 s", "link.radio.loss.bernoulli.p": 0.001})
    frequent = rare.with_({"link.radio.loss.bernoulli.p": 0.01})
    for name, scenario in (("rare", rare), ("frequent", frequent)):
        lh.replicate(scenario, seeds=SEEDS).save(tmp_path / name)
    found = lh.compare(tmp_path / "rare", tmp_path / "frequent")
    lost = [
        [
            sum(row["packets"] for row in part.rows("drops") if (row["seed"], row["cause"]) == (seed, "loss"))
            for seed in part.seeds
        ]
        for part in (found.one, found.other)
    ]
    assert 0 in lost[0] and any(lost[0])
    [row] = [row for row in found.table("drops") if row["metric"] == "packets" and row["cause"] == "loss"]
    assert np.allclose([row["one"], row["other"]], np.mean(lost, axis=1)) and row["n"] == SEEDS
    assert np.isclose(row["difference"], np.mean(lost[1]) - np.mean(lost[0]))
    without = run_of(LOSSY, tmp_path / "without", duration="4 s", **{"link.radio.loss": None})
    found = lh.compare(without, run_of(LOSSY, tmp_path / "with", duration="4 s"))
    assert [row["one"] for row in found.table("drops") if row["cause"] == "loss"] == [0, 0]
    other = run_of(LOSSY.replace("download", "other"), tmp_path / "other", duration="4 s")
    found = lh.compare(tmp_path / "with", other)
    assert not found.rows("drops") and [part[0]["flow"] for part in found.only("drops")] == ["download", "other"]


def test_a_damaged_table_is_named(lasthop, tmp_path):
    runs = [run_of(LOSSY, tmp_path / name, **{"record.series": "1 s"}) for name in ("one", "two")]
    whole = (runs[1] / "flows.parquet").read_bytes()
    for damaged in (b"", whole[:500], whole[:-300] + bytes(100) + whole[-200:], whole[:-8] + bytes(4) + whole[-4:]):
        (runs[1] / "flows.parquet").write_bytes(damaged)
        for words in (("compare", *runs), ("report", runs[1]), ("plot", runs[1])):
            said = lasthop(*words, code=1).stderr
            assert (
                said.startswith(f"error: {runs[1] / 'flows.parquet'}: the file is damaged: ") and said.count("\n") == 1
            )
    (runs[1] / "flows.parquet").unlink()
    assert "flows.parquet: No such file or directory" in lasthop("compare", *runs, code=1).stderr


def test_a_file_is_no_stored_run(stored, lasthop):
    (lasthop.folder / "c.toml").write_text(LOSSY)
    refused = lasthop("compare", stored / "near", "c.toml", code=2).stderr
    assert "c.toml is no folder of a stored run: expected one that `lasthop run -o`" in refused
