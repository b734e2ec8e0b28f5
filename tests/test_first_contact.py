"""What a new user tries first: each was once a stumbling block."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import lasthop as lh
import pytest
from conftest import EXAMPLES, ROOT
from lasthop.scenario import from_text

TWO_FLOWS = ROOT / "examples" / "two-flows.toml"

#: One link, one flow, nothing random.
PLAIN = """
duration = "2 s"
[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "2 Mbit/s"
[[flow]]
name = "download"
from = "server"
to = "mobile"
"""


@pytest.fixture(scope="module")
def result():
    return lh.run(PLAIN)


def lasthop(*words: object, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lasthop", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def test_tables_iterate_over_rows_and_know_their_columns(result):
    assert [row["flow"] for row in result.flows] == ["download"]
    assert "goodput_kbps" in result.flows and "goodput" not in result.flows
    assert "goodput_kbps" in result.flows._ipython_key_completions_()
    assert result.flows.df["flow"].tolist() == ["download"]


def test_results_and_scenarios_pickle_compare_and_hash(result):
    scenario = lh.load(TWO_FLOWS)
    for one in (result, scenario, result.flows):
        assert pickle.loads(pickle.dumps(one)) == one
    assert hash(pickle.loads(pickle.dumps(result))) == hash(result)
    assert len({scenario, pickle.loads(pickle.dumps(scenario)), scenario.with_(seed=9)}) == 2
    assert lh.run(PLAIN) == result and lh.run(PLAIN, seed=7) != result
    assert pickle.loads(pickle.dumps(scenario)).name == "two-flows"


@pytest.mark.parametrize(("module", "ask"), [("pandas", "df"), ("polars", "to_polars")])
def test_a_missing_extra_is_named(result, monkeypatch, module, ask):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'lasthop\[{module}\]'"):
        value = getattr(result.flows, ask)
        value()


def test_a_receivers_losses_are_its_own():
    lost = {row["to"]: row["loss_pct"] for row in lh.run(ROOT / "examples" / "mbms.toml").flows}
    assert lost["far.ue[0]"] > 15 and max(loss for to, loss in lost.items() if to != "far.ue[0]") < 3


def test_pairs_are_numbers_for_pandas():
    lossy = PLAIN.replace("[[flow]]", "loss.bernoulli.p = 0.01\n[[flow]]")
    pairs = lh.sweep(lossy, vary={"link.radio.delay": ["10 ms", "20 ms"]}, seeds=3).paired("goodput_kbps").df
    assert {pairs[column].dtype.kind for column in ("difference", "low", "high")} == {"f"}
    assert pairs["n"].dtype.kind == "i"


def test_losses_come_and_go_without_a_list_of_changes():
    onoff = 'loss.schedule = { every = "1 s", steps = [["0 s", 0], ["500 ms", 1]] }\n[[flow]]'
    udp = 'transport = "udp"\nsource.cbr = { interval = "10 ms", size = "100 B" }\n[record]\npackets = true\n'
    dropped = lh.run(PLAIN.replace("[[flow]]", onoff) + udp).packets.where(event="dropped")
    assert len(dropped) == 100 and all(time % 1 >= 0.5 for time in dropped["time_s"])


def test_runs_are_spread_over_processes():
    scenarios = [lh.load(PLAIN).with_(seed=seed) for seed in (1, 2)]
    with ProcessPoolExecutor(2) as pool:
        assert [one.seed for one in pool.map(lh.run, scenarios)] == [1, 2]


def test_a_dash_is_standard_input_and_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = lasthop("new", "two-flows", "-o", "-")
    assert written.stdout.startswith("#:schema ") and not list(tmp_path.iterdir())
    assert lasthop("check", "-", given=written.stdout).stdout.startswith("-: valid: ")
    assert "download" in lasthop("run", "-", given=PLAIN).stdout
    wrong = lasthop("run", "-", given=PLAIN.replace("rate", "rat"))
    assert wrong.returncode == 2 and "<stdin>" in wrong.stderr


def test_seeds_that_agree_are_said_to(tmp_path):
    note = "nothing in this scenario is random"
    path = tmp_path / "plain.toml"
    path.write_text(PLAIN)
    assert note in lasthop("run", path, "--seeds", 3).stdout
    swept = lasthop("sweep", path, "--vary", "link.radio.delay=10ms,20ms", "--seeds", 2, "-o", tmp_path / "swept")
    assert note in swept.stdout
    path.write_text(PLAIN.replace("[[flow]]", "loss.bernoulli.p = 0.01\n[[flow]]"))
    assert note not in lasthop("run", path, "--seeds", 3).stdout
    assert note not in lasthop("run", path, "--seeds", 1).stdout


def test_what_the_readme_does_with_seeds_is_random():
    readme = (ROOT / "README.md").read_text()
    [template] = [line.split()[2] for line in readme.splitlines() if line.startswith(".venv/bin/lasthop new ")]
    scenario = ROOT / "examples" / f"{template}.toml"
    assert "nothing in this scenario is random" not in repr(lh.replicate(lh.load(scenario), seeds=3))


def test_a_sweep_that_failed_makes_room_for_the_next(tmp_path):
    path, folder = tmp_path / "plain.toml", tmp_path / "swept"
    path.write_text("record.packets = true\nrecord.most_rows = 10\n" + PLAIN)
    words = ("sweep", path, "--vary", "link.radio.delay=10ms,20ms", "-o", folder)
    assert lasthop(*words).returncode == 1
    path.write_text(PLAIN)
    assert lasthop(*words).returncode == 0
    # One with finished runs stays.
    path.write_text(PLAIN.replace("2 Mbit/s", "3 Mbit/s"))
    refused = lasthop(*words)
    assert refused.returncode == 2 and "holds another sweep" in refused.stderr


@pytest.mark.parametrize(
    ("written", "meant"), [("2 Mbps", "Mbit/s"), ("2 kbps", "kbit/s"), ("2 Mbit", "Mbit/s"), ("2 Gb/s", "Gbit/s")]
)
def test_a_unit_spelled_otherwise_is_recognised(written, meant):
    with pytest.raises(lh.ScenarioError, match=f'did you mean "{meant}"'):
        lh.load(PLAIN.replace("2 Mbit/s", written))


def test_a_second_section_is_told_how_to_be_one():
    with pytest.raises(lh.ScenarioError, match=r"write \[\[link\]\] each time"):
        lh.load(PLAIN.replace("[[link]]", "[link]") + '[[link]]\nname = "other"\n')


def test_colours_can_be_asked_for(lasthop, tmp_path):
    (tmp_path / "wrong.toml").write_text("duraton = '1 s'\n")
    lasthop.environment.pop("NO_COLOR", None)
    assert "\x1b[" not in lasthop("check", "wrong.toml", code=2).stderr
    lasthop.environment["FORCE_COLOR"] = "1"
    assert "\x1b[" in lasthop("check", "wrong.toml", code=2).stderr
    lasthop.environment["NO_COLOR"] = "1"
    assert "\x1b[" not in lasthop("check", "wrong.toml", code=2).stderr


def test_tables_say_what_they_are_of(lasthop, tmp_path):
    from pyarrow import parquet

    lasthop("run", TWO_FLOWS, "-o", "run", "-q")
    lasthop("sweep", TWO_FLOWS, "--vary", "link.radio.delay=20 ms,80 ms", "--seeds", "2", "-o", "swept", "-q")
    for file, seeds in {"run/flows.parquet": [1], "swept/flows.parquet": [1, 2]}.items():
        said = json.loads(parquet.read_schema(tmp_path / file).metadata[b"lasthop"])
        assert said["scenario"] == "two-flows" and said["seeds"] == seeds
        assert "[[link]]" in said["scenario_text"] and said["lasthop"]


def test_a_sweep_is_compared_with_the_point_that_is_asked_for(lasthop):
    words = ("sweep", TWO_FLOWS, "--vary", "link.radio.delay=20 ms,80 ms", "--seeds", "2", "-q")
    assert "difference to link.radio.delay = 20 ms" in lasthop(*words, "-o", "a").stdout
    assert (
        "difference to link.radio.delay = 80 ms"
        in lasthop(*words, "-o", "b", "--against", "link.radio.delay=80 ms").stdout
    )
    assert "did you mean" in lasthop(*words, "-o", "c", "--against", "link.radio.dely=80 ms", code=2).stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_scenario_is_written_as_toml(path):
    scenario = lh.load(path)
    if scenario.core.whole:
        # What it names beside it stands in the text then.
        assert from_text(scenario.to_toml(), origin=str(path)) == scenario
    else:
        assert scenario.to_toml() == path.read_text(encoding="utf-8")
    changed = scenario.with_(seed=7, name="other")
    text = changed.to_toml()
    assert text.startswith('name = "other"') and "null" not in text
    assert from_text(text, origin="other.toml") == changed
    # What was written, and no default beside it.
    assert "reorder" not in text


def test_means_over_seeds_show_the_cells_too(lasthop):
    for example, heads in {
        "umts-cell": ("occupancy_kbps", "sent_pdus"),
        "hsdpa": ("used_pct",),
        "mbms": ("tries",),
    }.items():
        text = lasthop("run", ROOT / "examples" / f"{example}.toml", "--seeds", 2).stdout
        assert all(head in text.partition("goodput_kbps")[0] for head in heads), example
        assert "±" in text.partition("goodput_kbps")[0]


def test_many_flows_of_one_kind_take_few_lines(lasthop):
    lines = lasthop("run", ROOT / "examples" / "hsdpa.toml").stdout.splitlines()
    assert len(lines) < 30
    # The cells stand before the flows, and of these the best, the median and the worst.
    assert lines[2].split()[:2] == ["cell", "ues"]
    ranks = [line for line in lines if line.startswith("download[")]
    assert [line.split(", ")[1].split()[0] for line in ranks] == ["highest", "median", "lowest"]
    result = lh.run(ROOT / "examples" / "hsdpa.toml")
    goodput = sorted(result.flows["goodput_kbps"])
    assert [float(line.split()[4]) for line in ranks] == [float(f"{goodput[n]:.4g}") for n in (-1, 32, 0)]
    assert any("… and 62 more flows" in line for line in lines)
    assert any(line.startswith("65 flows download[…]") for line in lines)
