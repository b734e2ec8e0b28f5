"""Runs from Python: tables, seeds, threads, interruption."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import BUSY, ROOT, stopped
from lasthop.results import SENT_PDUS, begin, type_name
from lasthop.stats import number


@pytest.fixture(scope="module")
def scenario():
    return lh.load(BUSY)


@pytest.fixture(scope="module")
def result(scenario):
    return lh.run(scenario)


def test_tables_are_attributes_and_arrow(result):
    assert set(result.tables) >= {"flows", "links", "drops", "transfers", "series", "packets", "changes"}
    assert result.flows.to_pandas()["flow"].tolist() == ["file", "call"]
    assert pa.table(result.flows).num_rows == 2
    assert result.flows["goodput_kbps"].dtype == np.float64
    assert len(result.packets.where(event="dropped")) > 0


def test_rows_are_chosen_by_what_is_missing(result):
    rows = result.flows.where(rtt_ms_p50=None)
    assert rows["flow"].tolist() == [row["flow"] for row in result.flows if row["rtt_ms_p50"] is None] == ["call"]
    assert not len(result.flows.where(rtt_ms_p50=None, flow="file"))


def test_missing_tables_say_how_to_get_them():
    bare = lh.run(lh.load(BUSY.split("[record]")[0]))
    with pytest.raises(AttributeError, match=r"record\.series"):
        _ = bare.series
    with pytest.raises(AttributeError, match="known: flows"):
        _ = bare.flws


def test_objects_show_themselves(scenario, result):
    assert "busy" in repr(scenario)
    assert "goodput_kbps" in repr(result)
    assert "<table>" in result._repr_html_()
    assert "<table>" in result.flows._repr_html_()
    assert "<table>" in scenario._repr_html_()


def test_names_are_text_in_a_notebook(scenario):
    """That of a scenario from data is `<data>`."""
    result = lh.run(scenario.with_(name="<data>"))
    for shown in (result, lh.analyze(result)):
        assert "<p>&lt;data&gt; · " in shown._repr_html_() and "<data>" not in shown._repr_html_()


@pytest.mark.parametrize("again", ["run", "analyze"])
def test_tables_of_an_earlier_result_go(result, scenario, tmp_path, again):
    result.save(tmp_path)
    (tmp_path / "thesis.parquet").write_text("years of work")
    later = lh.run(scenario.with_({"record.series": None})) if again == "run" else lh.analyze(result)
    later.save(tmp_path, "csv", force=True)
    kept = {f"{name}.csv" for name in later.tables}
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "manifest.json", "thesis.parquet"}


def test_tables_that_a_manifest_says_to_lie_elsewhere_stay(result, tmp_path):
    thesis, out = tmp_path / "thesis.tex", tmp_path / "out"
    thesis.write_text("years of work")
    result.save(out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["tables"] = {"flows": "../thesis.tex", "links": str(thesis), "drops": 1, "series": ".."}
    (out / "manifest.json").write_text(json.dumps(manifest))
    result.save(out)
    assert thesis.read_text() == "years of work" and lh.Result.load(out).flows == result.flows


def test_tables_of_a_manifest_of_others_stay(result, tmp_path):
    (tmp_path / "years.csv").write_text("of work")
    (tmp_path / "manifest.json").write_text(json.dumps({"tables": {"work": "years.csv"}}))
    result.save(tmp_path, force=True)
    assert (tmp_path / "years.csv").read_text() == "of work"


def test_a_live_run_begins_without_tables(result, tmp_path):
    result.save(tmp_path)
    begin(tmp_path, made_by="lasthop live")
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_recording_does_not_change_the_trajectory(scenario, result):
    bare = lh.run(scenario.with_({"record.series": None, "record.packets": False, "record.variables": False}))
    for name in ("flows", "links", "drops", "transfers"):
        assert getattr(bare, name).to_arrow().equals(getattr(result, name).to_arrow())


def test_a_changed_scenario_is_another(scenario):
    other = scenario.with_({"link.radio.rate": "1 Mbit/s", "flow.0.transport.tcp.variant": "reno"}, duration="5 s")
    assert scenario["duration"] == "10 s"
    assert other["duration"] == "5 s"
    assert other["link"][0]["rate"] == "1 Mbit/s"
    with pytest.raises(lh.ScenarioError, match="radoi"):
        scenario.with_({"link.radoi.rate": "1 Mbit/s"})
    with pytest.raises(lh.ScenarioError) as caught:
        scenario.with_({"link.radio.rate": "fast"})
    assert caught.value.path == "link[0].rate"


CELL = """
duration = "2 s"
[[cell]]
name = "cell"
rnc = "rnc"
[[flow]]
from = "rnc"
to = "cell.ue[0]"
"""


@pytest.mark.parametrize(
    ("profile", "short", "whole", "value"),
    [
        ("3gpp", "cell.rlc.max_dat", "cell.cell.rlc.am.max_dat", 7),
        ("ns2", "cell.rlc.max_dat", "cell.cell.rlc.eurane.max_dat", 7),
        ("3gpp", "cell.rlc.um.pdu", "cell.cell.rlc.um.pdu", "20 B"),
        ("3gpp", "cell.ues", "cell.cell.ues", 7),
        ("3gpp", "flow.transport.window", "flow.0.transport.tcp.window", 7),
    ],
)
def test_a_key_may_leave_out_what_is_the_only_one(profile, short, whole, value):
    cell = lh.load(f'profile = "{profile}"\n{CELL}')
    assert cell.with_({short: value}).to_dict() == cell.with_({whole: value}).to_dict() != cell.to_dict()


SEVERAL = {
    "duration": "10 s",
    "link": [{"name": "core", "between": ["server", "rnc"], "rate": "10 Mbit/s"}],
    "cell": [{"name": "cell", "rnc": "rnc", "ues": 3}],
    "flow": [
        {"from": "server", "to": "cell.ue[*]", "source": {"file": {"size": "10 kB"}}},
        {"name": "w", "from": "server", "to": "cell.ue[1:3]"},
        {"name": "w[5]", "from": "server", "to": "cell.ue[0]", "transport": "udp", "source": "cbr"},
        {"from": "server", "to": "rnc", "transport": "udp", "source": "cbr"},
    ],
    "change": [
        {"at": "1 s", "link": "core", "rate": "5 Mbit/s", "repeat": {"every": "1 s", "times": 3}},
        {"at": "5 s", "link": "core", "loss": {"bernoulli": {"p": 0.2}}},
    ],
}


@pytest.mark.parametrize(
    ("key", "flow", "way"),
    [
        ("flow.0.transport.window", 0, "flow.0.transport.tcp.window"),
        ("flow.0.source.size", 0, "flow.0.source.file.size"),
        ("flow.1.transport.window", 1, "flow.1.transport.tcp.window"),
        ("flow.w.transport.window", 1, "flow.w.transport.tcp.window"),
        ("flow.2.source.interval", 2, "flow.2.source.cbr.interval"),
        ("flow.w[5].source.interval", 2, "flow.w[5].source.cbr.interval"),
        ("flow.3.source.interval", 3, "flow.3.source.cbr.interval"),
        ("flow.server>rnc.source.interval", 3, "flow.server>rnc.source.cbr.interval"),
    ],
)
def test_numbers_and_names_are_those_of_what_is_written(key, flow, way):
    """A flow to several terminals is one part, and so is a change that repeats."""
    scenario = lh.load(SEVERAL)
    assert ".".join(scenario.way(key)) == way
    value = {"window": 7, "size": "3 kB", "interval": "3 s"}[key.rpartition(".")[2]]
    told = [f"{one['transport']}{one['source']}" for one in scenario["flow"]]
    made = [f"{one['transport']}{one['source']}" for one in scenario.with_({key: value})["flow"]]
    changed = [place for place, (one, other) in enumerate(zip(told, made, strict=True)) if one != other]
    assert changed == [[0, 1, 2], [3, 4], [5], [6]][flow]
    assert scenario.with_({key: value}).stated(key) == value


def test_the_only_flow_may_be_left_out_if_it_goes_to_several_terminals():
    scenario = lh.load({**SEVERAL, "flow": SEVERAL["flow"][:1], "change": SEVERAL["change"][:1]})
    assert [flow["transport"]["tcp"]["window"] for flow in scenario.with_({"flow.transport.window": 7})["flow"]] == [
        7
    ] * 3
    assert {change["rate"] for change in scenario.with_({"change.rate": "3 Mbit/s"})["change"]} == {"3 Mbit/s"}
    with pytest.raises(lh.ScenarioError, match=r"nothing is called 'server>cell.ue\[0\]' there"):
        scenario.with_({'flow."server>cell.ue[0]".start': "1 s"})


def test_a_change_is_addressed_by_its_number_behind_one_that_repeats():
    scenario = lh.load(SEVERAL)
    changed = scenario.with_({"change.1.loss.bernoulli.p": 0.1, "change.0.rate": "2 Mbit/s"})["change"]
    assert [change.get("rate") for change in changed] == ["2 Mbit/s"] * 3 + [None]
    assert changed[3]["loss"] == {"bernoulli": {"p": 0.1}} and scenario.stated("change.1.at") == "5 s"


MEMORY = """
import resource, sys
import lasthop as lh
from lasthop.studies.umts_tcp import scenario
point = {"tcp": "sack", "max_dat": 6, "threshold": 500, "timer": 8}
cell = {"cell.ues": 500, "cell.attachment.budget": "8 Mbit/s", "cell.fach.rate": "320 kbit/s"}
for seconds in (1, 100, 1000):
    lh.run(scenario.inactivity(point, duration=seconds).with_({"record.transfers": False, **cell}))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.timeout(600)
def test_500_terminals_take_no_more_memory_the_longer_they_run():
    shown = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout
    start, short, long = (float(line) / 1024 for line in shown.split())
    assert short - start < 10, "MB that the cell takes at all"
    assert long - short < 6, "MB that ten times as long a run takes more"


def test_wrong_text_raises_with_the_place():
    with pytest.raises(lh.ScenarioError) as caught:
        lh.load(BUSY.replace("2 Mbit/s", "2 parsec"))
    assert caught.value.line == 8
    assert isinstance(caught.value, ValueError)


def _bytes(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "manifest.json"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_what_is_no_number_is_named_where_it_stands(scenario, value):
    with pytest.raises(lh.ScenarioError, match=r"^link\[0\]\.loss\.bernoulli\.p: (nan|-?inf) is no number$") as caught:
        scenario.with_({"link.0.loss": {"bernoulli": {"p": value}}})
    assert caught.value.path == "link[0].loss.bernoulli.p"
    with pytest.raises(lh.ScenarioError, match=r"^duration: (nan|-?inf) is no number$"):
        lh.load({"duration": value})


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_same_seed_same_bytes_whatever_the_threads(scenario, tmp_path, format):
    for threads in (1, 2):
        lh.replicate(scenario, seeds=6, threads=threads).save(tmp_path / str(threads), format)
    lh.replicate(scenario, seeds=6, threads=2).save(tmp_path / "again", format)
    one, two, again = (_bytes(tmp_path / name) for name in ("1", "2", "again"))
    assert one.keys() == two.keys() == again.keys()
    assert one == two == again


def test_seeds_differ(scenario):
    runs = lh.replicate(scenario, seeds=[3, 4])
    assert runs.flows["seed"].tolist() == [3, 3, 4, 4]
    assert not runs[0].packets.to_arrow().equals(runs[1].packets.to_arrow())


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_what_is_stored_comes_back_as_it_was(tmp_path, format):
    handover = lh.run(ROOT / "examples" / "handover.toml")
    handover.save(tmp_path, format)
    again = lh.Result.load(tmp_path)
    assert again == handover
    assert np.isnan(again.flows["idle_timeouts"]).all(), "missing numbers are not-a-number"
    kinds = [[type_name(kind) for kind in one.transfers.to_arrow().schema.types] for one in (again, handover)]
    assert kinds[0] == kinds[1]


def test_tables_that_were_not_recorded_say_how_to_get_them():
    bare = lh.run({"duration": "1 s", "link": [{"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s"}]})
    for name, ask in (("handovers", "record.handovers"), ("slots", "record.slots"), ("transfer_state", "quantities")):
        with pytest.raises(AttributeError, match=ask):
            getattr(bare, name)


def test_toml_1_1_can_be_changed_and_swept():
    """The core reads TOML 1.1, which the Python of most installations does not."""
    text = """
    duration = "1 s"
    link = [{
        name = "radio",
        between = ["a", "b"],
        rate = "1 Mbit/s",
    }]
    flow = [{ name = "\\x66", from = "a", to = "b" }]
    """
    scenario = lh.load(text)
    assert scenario.with_({"link.radio.rate": "2 Mbit/s"})["link"][0]["rate"] == "2 Mbit/s"
    assert lh.sweep(scenario, vary={"link.radio.delay": ["1 ms", "2 ms"]}).flows["flow"].tolist() == ["f", "f"]


@pytest.mark.parametrize("key", ["cell.ues", "cell.0.ues", "change.0.rate", "group.news.leave_latency"])
def test_a_key_of_a_section_that_is_not_there_says_so(scenario, key):
    with pytest.raises(lh.ScenarioError, match=f"{key}: there is no {key.split('.')[0]} in the scenario"):
        scenario.with_({key: 3})


def test_a_part_is_found_by_its_name_first_and_by_a_name_with_dots():
    links = [{"name": name, "between": ["a", "b"], "rate": "1 Mbit/s"} for name in ("1", "2", "radio.down")]
    scenario = lh.load({"duration": "1 s", "link": links})
    for key, place in (("link.1.rate", 0), ("link.2.rate", 1), ("link.0.rate", 0), ('link."radio.down".rate', 2)):
        rates = [link["rate"] for link in scenario.with_({key: "2 Mbit/s"})["link"]]
        assert rates.index("2 Mbit/s") == place and rates.count("1 Mbit/s") == 2, key
    with pytest.raises(lh.ScenarioError, match=r"did you mean '\"radio\.down\"'"):
        scenario.with_({"link.radio.down.rate": "2 Mbit/s"})


def test_save_and_load(result, tmp_path):
    result.save(tmp_path / "run")
    again = lh.Result.load(tmp_path / "run")
    assert again.flows.rows() == result.flows.rows()
    assert (again.name, again.seed) == (result.name, result.seed)


def test_estimates_agree_with_scipy():
    from scipy import stats

    values = [3.1, 4.7, 2.2, 5.0, 3.3]
    mine = lh.estimate(values)
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert np.allclose([mine.low, mine.high], [low, high])
    assert lh.estimate([1.0]).n == 1
    assert np.isnan(lh.estimate([]).mean)


#: More than a minute of work: nearly the longest run that there is.
LONG = BUSY.replace('"10 s"', '"4000000 s"').split("[record]")[0]


@pytest.mark.parametrize("words", [["run"], ["run", "--seeds", "8"], ["run", "--pcap", "capture.pcapng"]])
def test_ctrl_c_stops_within_a_second_and_leaves_nothing_half_written(lasthop, words):
    (lasthop.folder / "long.toml").write_text(LONG)
    child = lasthop.start(*words, "long.toml", "-o", "out")
    time.sleep(4)
    assert child.poll() is None
    said, took = stopped(child)
    assert took < 1.0 * os.cpu_count()
    assert child.returncode == 130
    assert "Traceback" not in said
    out = lasthop.folder / "out"
    assert not out.exists() or list(out.iterdir()) == []
    assert not list(lasthop.folder.glob("*capture*"))


def test_progress_on_stderr(lasthop):
    (lasthop.folder / "long.toml").write_text(LONG)
    child = lasthop.start("run", "long.toml")
    time.sleep(4)
    child.send_signal(signal.SIGINT)
    out, said = child.communicate(timeout=120)
    assert "of 4000000 simulated s" in said
    assert out == ""


def test_progress_of_a_total_that_grows(monkeypatch, capsys):
    """The time left is that of the whole total at the pace so far; a total of nothing is done."""
    from lasthop.cli import common

    clock = iter([0.0, 1.0, 13.0, 25.0, 30.0, 40.0])
    monkeypatch.setattr(common, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    progress = common.Progress("study", 10, "runs")
    for done, total in ((0, 10), (5, 10), (10, 30)):
        progress.at(done, total)
    assert capsys.readouterr().err.splitlines() == [
        "study: 5 of 10 runs, 12 s left",
        "study: 10 of 30 runs, 48 s left",
    ]
    with common.Progress("nothing", 0, "runs") as progress:
        monkeypatch.setattr(progress, "_terminal", True)
        progress(1.0)


def test_studies_are_listed(lasthop):
    listed = json.loads(lasthop("studies", "--json").stdout)
    assert listed[0]["study"] == "handover"
    assert listed[0]["verdicts"] is None


def test_counts_of_sent_pdus_add_up():
    # All PDUs down are sent over FACH, whose queue loses none: some beside reports, some after a reset.
    text = """
        duration = "200 s"
        [[cell]]
        name = "cell"
        rnc = "server"
        attachment = "common"
        queue = "mixed_units"
        rlc.am = { poll_every = 2, status_prohibit = "20 ms", max_dat = 2, discard = "reset" }
        uplink_loss.bernoulli.p = 0.02
        loss.bernoulli.p = 0.02
        [[flow]]
        from = "server"
        to = "cell.ue[0]"
        transport.tcp.segment = "60 B"
        source.file.size = "5 kB"
        [[flow]]
        from = "cell.ue[0]"
        to = "server"
        transport.tcp.segment = "60 B"
        source.file.size = "5 kB"
    """
    result = lh.run(lh.load(text))
    [down] = [row for row in result.bearers.rows() if row["bearer"].endswith("down")]
    assert down["queue_dropped_pdus"] == 0 and down["reset_pdus"] > 0 and down["piggybacked_status"] > 0
    assert sum(down.get(name) or 0 for name in SENT_PDUS) == result.cells["fach_sent_pdus"][0]


def test_loss_is_of_all_transmissions():
    """Of a path that loses everything but the handshake 100 % are lost, however often the sender tries again."""
    loss = {"schedule": {"steps": [["0 s", 0], ["30 ms", 1]]}}
    link = {"name": "radio", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "20 ms", "loss": loss}
    (flow,) = lh.run({"duration": "20 s", "link": [link], "flow": [{"from": "a", "to": "b"}]}).flows.rows()
    assert flow["sent_packets"] == 10 and flow["retransmitted_packets"] > 0 and flow["loss_pct"] == 100


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 9, 29, 199, 9_999, 10_001, 1e6])
@pytest.mark.parametrize("probability", [0.9, 0.975, 0.995])
def test_quantiles_of_student_are_scipys(freedom, probability):
    from lasthop._core import student
    from scipy.special import stdtrit

    assert student(freedom, probability) == pytest.approx(stdtrit(freedom, probability), rel=2e-8)
    with pytest.raises(ValueError):
        student(freedom, 1.0)
    with pytest.raises(ValueError):
        student(-freedom, probability)


def test_a_link_was_busy_with_what_is_still_on_its_way():
    """The serialiser takes 62.5 packets of 1028 B a second: 0.514 of 1 Mbit/s, whatever the delay."""
    for delay in ("0 s", "1 s", "10 s"):
        link = {"name": "link", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": delay}
        source = {"cbr": {"rate": "500 kbit/s", "size": "1000 B"}}
        flow = {"name": "f", "from": "a", "to": "b", "transport": {"udp": {}}, "source": source}
        there, _ = lh.run({"duration": "5 s", "link": [link], "flow": [flow]}).links["utilisation_pct"]
        assert there == pytest.approx(51.4, rel=0.01), delay


def test_a_link_by_a_trace_was_busy_with_the_opportunities_that_were_used():
    """125 packets of 1504 B, one in eight of the 1000 opportunities of the run, whatever comes after them."""
    for delay, after in itertools.product(("0 s", "5 s"), ([], [10_000], range(1_010, 11_000, 10))):
        trace = "".join(f"{ms}\n" for ms in [*range(1, 1001), *after])
        link = {"name": "link", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": delay, "trace": {"down": trace}}
        source = {"cbr": {"interval": "8 ms", "size": "1476 B"}}
        flow = {"name": "f", "from": "a", "to": "b", "transport": {"udp": {}}, "source": source}
        there, _ = lh.run({"duration": "1 s", "link": [link], "flow": [flow]}).links["utilisation_pct"]
        assert there == pytest.approx(12.5), (delay, after)


def test_samples_have_what_came_to_distributions_since_the_last_one():
    """A file waits in a queue, and then single packets find it empty: the delay of these is not that of the file."""
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "queue": {"droptail": {"limit": "20 packets"}}}
    file = {"name": "f", "from": "a", "to": "b", "transport": "tcp", "source": {"file": {"size": "100 kB"}}}
    thin = {"name": "thin", "from": "a", "to": "b", "transport": "udp", "start": "5 s"}
    thin["source"] = {"cbr": {"size": "100 B", "interval": "400 ms"}}
    asked = ["queue_ms_p95", "queue_ms_mean", "queue_ms_samples", "rtt_ms_mean", "rtt_ms_samples"]
    record = {"series": "1 s", "quantities": asked}
    result = lh.run({"duration": "9 s", "link": [link], "flow": [file, thin], "record": record})
    rows = result.series.to_pandas().pivot(index=["name", "time_s"], columns="quantity", values="value")
    for name, of, table in (("l a>b", "queue_ms", result.links), ("f", "rtt_ms", result.flows)):
        here = rows.loc[name]
        samples, means = here[f"{of}_samples"], here[f"{of}_mean"]
        assert (means.isna() == (samples == 0)).all()
        whole = float(np.nansum(samples * means) / samples.sum())
        if f"{of}_mean" in table.df:
            assert whole == pytest.approx(table.to_pandas()[f"{of}_mean"][0])
        assert whole > 10
    late = rows.loc["l a>b"].loc[6:]
    assert (late["queue_ms_samples"] >= 2).all() and (late["queue_ms_p95"] == 0).all()
    assert result.links["queue_ms_p95"][0] > 100


def test_the_median_of_transfers_is_between_the_two_in_the_middle():
    """Of an even number of transfers."""
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "10 ms"}
    files = {"sizes": ["20 kB", "500 kB"], "weights": [1.0, 1.0]}
    flow = {"name": "f", "from": "a", "to": "b", "source": {"files": files}}
    even = 0
    for seed in range(1, 8):
        result = lh.run({"duration": "14 s", "link": [link], "flow": [flow]}, seed=seed)
        took = [row["duration_s"] for row in result.transfers if row["duration_s"] is not None]
        even += len(took) % 2 == 0
        (said,) = [line for line in repr(result).splitlines() if line.split()[:3:2] == ["f", f"{len(took)}"]]
        assert said.endswith(f"  {number(np.median(took).item())} / {number(max(took))}")
    assert even > 0
