"""What a new user tries first: each was once a stumbling block."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import lasthop as lh
import pytest
from conftest import EXAMPLES, ROOT
from lasthop.scenario import from_text
from lasthop.stats import number

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
    for nothing in ("", " \n"):
        assert "<stdin> is empty" in lasthop("check", "-", given=nothing).stderr
    assert "download" in lasthop("run", "-", given=PLAIN).stdout
    assert "<stdin> is larger than 16 MB" in lasthop("check", "-", given="#" * 16_000_001).stderr
    wrong = lasthop("run", "-", given=PLAIN.replace("rate", "rat"))
    assert wrong.returncode == 2 and "<stdin>" in wrong.stderr


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs names of open pipes")
@pytest.mark.parametrize("text", [PLAIN, "\ufeff" + PLAIN, json.dumps(lh.load(PLAIN).to_dict())])
def test_a_pipe_is_read_once(text):
    """As of `lasthop run <(…)`."""
    assert _through_a_pipe(text).text == text
    changed = _through_a_pipe(text).with_(duration="1 s")
    assert changed.duration_s == 1.0


def test_what_is_wrong_with_a_pipe_names_it():
    for text, said in (("", "is empty"), (PLAIN.replace("rate", "rat"), 'unknown field "rat"')):
        with pytest.raises(lh.ScenarioError, match=said) as error:
            _through_a_pipe(text)
        assert "/dev/fd/" in str(error.value)


def _through_a_pipe(text):
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "w", encoding="utf-8") as out:
        out.write(text)
        out.close()
        return lh.load(f"/dev/fd/{reading}")


def test_seeds_that_agree_are_said_to(tmp_path):
    note = "nothing that is random reached a flow"
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
    assert "nothing that is random reached a flow" not in repr(lh.replicate(lh.load(scenario), seeds=3))


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


def test_acknowledgements_that_wait_for_a_slow_channel_up_are_seen(lasthop):
    """One terminal on HS-DSCH, whose acknowledgements need more than the 32 kbit/s of its channel up."""
    (lasthop.folder / "fast.toml").write_text("""
duration = "20 s"
link = [{name = "core", between = ["server", "rnc"], rate = "100 Mbit/s", delay = "20 ms"}]
flow = [{name = "download", from = "server", to = "cell.ue[0]"}]
[[cell]]
name = "cell"
rnc = "rnc"
attachment = "high_speed"
hs_dsch.category = 10
hs_dsch.cqi = [[[1, 25]]]
""")
    lines = lasthop("run", "fast.toml").stdout.splitlines()
    head = next(line for line in lines if line.startswith("radio"))
    up = next(line for line in lines if line.startswith("cell up"))
    assert head.split()[-1] == "queue_bytes"
    waiting = lh.run(lasthop.folder / "fast.toml").bearers.to_pandas().set_index("bearer").queue_bytes["cell.ue[0] up"]
    assert up.endswith(f"  {number(waiting)}")
    # 32 kbit/s carry 100 PDUs in a second, and an acknowledgement of 40 B needs more than one of them.
    assert waiting > 5_000


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


def test_a_choice_by_its_name_says_what_of_the_scenario_it_leaves_out(lasthop):
    """Varied over its name alone, the scenario's queue of 8 packets is one of 100 at every point."""
    (lasthop.folder / "short.toml").write_text(
        PLAIN.replace("[[flow]]", 'queue.droptail.limit = "8 packets"\n[[flow]]')
    )
    vary = ("sweep", "short.toml", "--vary")
    said = lasthop(*vary, "link.radio.queue=droptail,codel", "-o", "a").stderr
    assert 'note: link.radio.queue = droptail has the defaults of droptail, without {limit = "8 packets"}' in said
    assert said.count("note: ") == 1
    [whole] = [line for line in said.splitlines() if line.startswith("note: ")]
    instead = whole.partition("write ")[2].partition(" in the place")[0]
    again = lasthop(*vary, f"link.radio.queue={instead},codel", "-o", "b")
    assert "note: " not in again.stderr
    alone = lh.run(lasthop.folder / "short.toml").flows["goodput_kbps"][0]
    assert lh.Sweep.load(lasthop.folder / "b").flows["goodput_kbps"][0] == alone
    assert "note: " not in lasthop(*vary, "link.radio.queue.droptail.limit=8 packets,9 packets", "-o", "c").stderr


def test_pairs_of_choices_with_parameters_name_them_as_the_tables_do():
    queues = ["droptail", "codel", {"red": {"max_p": 0.1}}, {"codel": {"target": "10 ms"}}]
    s = lh.sweep(PLAIN, vary={"link.radio.queue": queues})
    names = list(dict.fromkeys(s.flows["link.radio.queue"].tolist()))
    assert [row["link.radio.queue"] for row in s.paired("goodput_kbps")] == names[1:]


def test_pictures_of_several_seeds_say_of_which_they_are(lasthop):
    (lasthop.folder / "plain.toml").write_text(PLAIN)
    said = lasthop("run", "plain.toml", "--seeds", 2, "--plot", "-o", "several").stderr
    assert "the pictures are of seed 1 alone; of another one: lasthop plot several --seed N" in said
    lasthop("plot", "several", "--seed", 2)
    assert "alone" not in lasthop("run", "plain.toml", "--plot", "-o", "one").stderr


#: Three files of which the last does not end, whatever the seed.
FILES = PLAIN.replace('duration = "2 s"', 'duration = "4 s"').replace(
    "[[flow]]", "loss.bernoulli.p = 0.01\n[[flow]]"
) + "".join(
    f'[[flow]]\nname = "{name}"\nfrom = "server"\nto = "mobile"\nsource.file.size = "{size}"\n'
    for name, size in {"small": "20 kB", "medium": "100 kB", "huge": "1 GB"}.items()
)


def test_transfers_of_several_seeds_are_said_to_take_their_time(lasthop):
    (lasthop.folder / "files.toml").write_text(FILES)
    runs = lh.replicate(lasthop.folder / "files.toml", seeds=3)
    took = {row["flow"]: row["duration_s"] for row in runs.means("transfers")}
    table = lasthop("run", "files.toml", "--seeds", 3).stdout.partition("completed")[2].splitlines()
    cells = {line.split()[0]: [part.strip() for part in line.split("  ") if part][1:] for line in table[1:] if line}
    assert cells["small"] == ["1 ±0", "1 ±0", str(took["small"])] and cells["huge"] == ["1 ±0", "0 ±0", "–"]

    vary = ("--vary", "link.radio.delay=10 ms,40 ms")
    table = lasthop("sweep", "files.toml", *vary, "--seeds", 3).stdout.partition("completed")[2].splitlines()
    s = lh.Sweep.load(lasthop.folder / "out" / "files-sweep")
    [longer] = [row for row in s.differences("duration_s", table="transfers") if row["flow"] == "medium"]
    [line] = [line for line in table if "40 ms" in line and "medium" in line]
    assert line.split("  ")[-1].strip() == str(longer["duration_s"])
    assert "completed" not in lasthop("run", TWO_FLOWS, "--seeds", 2).stdout, "no transfers"


def test_transfers_of_many_points_are_counted_once(monkeypatch):
    """They were counted anew for each line: 8 s for 400 points of 6 flows."""
    from lasthop.sweeps.compare import Grid

    calls = []
    for name in ("counts", "values"):
        whole = getattr(Grid, name)
        monkeypatch.setattr(Grid, name, lambda *words, whole=whole: calls.append(words) or whole(*words))
    counted = []
    for points in (2, 6):
        swept = lh.sweep(FILES, vary={"link.radio.delay": [f"{n} ms" for n in range(points)]})
        calls.clear()
        assert "completed" in repr(swept)
        counted.append(len(calls))
    assert counted[0] == counted[1]


def test_a_series_is_not_searched_for_quantities_that_no_scenario_asks_for(monkeypatch):
    """It may have millions of rows: the search took longer than the run."""
    from lasthop.recorded import in_vain

    scenario = lh.load(PLAIN).with_({"record.series": "100 ms"})
    result = lh.run(scenario)
    for name in ("__getitem__", "to_arrow"):
        whole = getattr(lh.Table, name)
        monkeypatch.setattr(lh.Table, name, lambda *words, whole=whole: read.append(words) or whole(*words))
    read = []
    assert [*in_vain(scenario, result)] == [] and not read


def test_a_constellation_says_how_many_handoffs_there_were(lasthop):
    """Within 300 s Iridium's satellites need not change; within 600 s each terminal's has."""
    for duration, handoffs in {"300 s": "0", "600 s": "1"}.items():
        text = (ROOT / "examples" / "satellite.toml").read_text().replace("600 s", duration)
        (lasthop.folder / "sky.toml").write_text(text)
        for more in ([], ["--seeds", 2]):
            lines = lasthop("run", "sky.toml", *more).stdout.splitlines()
            assert lines[2].split() == ["terminal", "handoffs", "outages", "outage_s"]
            assert [line.split()[:2] for line in lines[3:5]] == [["gateway", handoffs], ["remote", handoffs]]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("MaxDAT", "did you mean 'max_dat'?"),
        ("initial-window", "did you mean 'initial_window'?"),
        ("codle", 'did you mean "codel"?'),
        ("frobnicate", "known: link, cell"),
    ],
)
def test_a_field_spelled_otherwise_is_found_in_the_schema(lasthop, name, says):
    assert says in lasthop("schema", name, code=2).stderr


def test_a_field_is_found_in_the_schema_by_its_path(lasthop):
    for name in ("max_dat", "am.max_dat", "cell.rlc.am.max_dat"):
        assert lasthop("schema", name).stdout.startswith("cell.rlc.am\n")
    assert "eurane" not in lasthop("schema", "am.max_dat").stdout
    # As it is written below [[flow]].
    whole = lasthop("schema", "flow.transport.tcp.congestion.cubic").stdout
    assert lasthop("schema", "transport.tcp.congestion.cubic").stdout == whole


@pytest.mark.parametrize("key", ["max_dat", "rlc.max_dat", "cell.max_dat", "flow.max_dat"])
def test_a_key_in_the_wrong_place_is_led_to_the_right_one(key):
    cell = lh.load(ROOT / "examples" / "umts-cell.toml")
    with pytest.raises(lh.ScenarioError, match=r"max_dat is a field of this scenario at cell\.cell\.rlc\.am\.max_dat"):
        cell.with_({key: 4})
    assert cell.with_({"cell.cell.rlc.am.max_dat": 4}) != cell


def test_compare_says_that_it_takes_folders(result):
    with pytest.raises(TypeError, match=r"not a Result: save it first"):
        lh.compare(result, result)
    with pytest.raises(ValueError, match="nowhere holds no results: there is no such folder"):
        lh.compare("nowhere", "nowhere")


def test_what_cannot_be_drawn_or_compared_is_said(result):
    swept = lh.sweep(PLAIN, vary={"link.radio.delay": ["10 ms"]})
    for other in (swept, "folder", [swept], {"a": swept}, []):
        with pytest.raises(TypeError, match=r"results of `lh\.run`.*plot\.across` draws a sweep"):
            lh.plot.window(other)
    with pytest.raises(TypeError, match="draws a sweep, no Result"):
        lh.plot.across(result, "goodput_kbps")
    with pytest.raises(ValueError, match="no metric is named"):
        swept.paired()
    with pytest.raises(KeyError, match="no column 'flw'; known: flow, from"):
        result.flows.where(flw="download")
    with pytest.raises(AttributeError, match=r"lh\.plot\.recording"):
        lh.plot.window(result)


def test_mobiles_of_hsdpa_stand_where_they_are_put():
    wire = {"name": "wire", "between": ["server", "bs"], "rate": "1 Gbit/s"}
    cell = {"name": "h", "node": "bs", "ues": 3, "places": [["300 m", "-400 m"], ["2 km", "0 m"]]}
    flow = {"from": "server", "to": "h.ue[*]"}
    scenario = lh.load({"duration": "2 s", "link": [wire], "hsdpa": [cell], "flow": [flow]})
    put, dropped = lh.run(scenario).bearers, lh.run(scenario.with_({"hsdpa.places": []})).bearers
    assert put["x_m"][:2].tolist() == [300, 2000] and put["y_m"][:2].tolist() == [-400, 0]
    assert put["x_m"][2] == dropped["x_m"][2] and put["x_m"][0] != dropped["x_m"][0]
    with pytest.raises(lh.ScenarioError, match="2 places, and mobiles: 1"):
        scenario.with_({"hsdpa.ues": 1})


def test_quantities_that_nothing_has_are_said():
    scenario = lh.load({
        "duration": "2 s",
        "record": {"quantities": ["timeouts", "timeoutz", "bogus"], "transfer_quantities": ["timeouts", "nought"]},
        "link": [{"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s"}],
        "flow": [{"from": "a", "to": "b", "source": {"file": {"size": "20 kB"}}}],
    })  # fmt: skip
    said = lasthop("run", "-", given=scenario.text).stderr
    assert said.splitlines() == [
        'note: record.quantities are samples, and none are taken: write record.series = "1 s", too',
        "note: record.transfer_quantities: nothing here has nought: the table state has the names",
    ]
    said = lasthop("run", "-", given=scenario.with_({"record.series": "100 ms"}).text).stderr
    assert said.splitlines()[:2] == [
        "note: record.quantities: nothing here has timeoutz; did you mean timeouts?",
        "note: record.quantities: nothing here has bogus: the table state has the names",
    ]
    for run in (lh.run, partial(lh.replicate, seeds=2)):
        with pytest.warns(lh.RecordWarning) as doubts:
            run(scenario)
        assert [str(doubt.message)[:30] for doubt in doubts] == [
            "record.quantities are samples,",
            "record.transfer_quantities: no",
        ]
        assert {doubt.filename for doubt in doubts} == {__file__}


def test_what_a_viewer_misses_counts_frames_that_were_skipped():
    """On too slow a path frames are left out in front of the encoder, which late and lost ones say nothing of."""
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "20 ms"}
    flow = {"name": "v", "from": "a", "to": "b", "transport": {"media": {"congestion": "nada"}}, "source": "encoder"}
    change = [{"at": "5 s", "link": "l", "rate": "60 kbit/s"}]
    (row,) = lh.run({"duration": "20 s", "link": [link], "flow": [flow], "change": change}).media.rows()
    missed = row["frames_late"] + row["frames_lost"] + row["frames_skipped"]
    ended = row["frames_received"] + row["frames_lost"] + row["frames_skipped"]
    assert row["frames_skipped"] > 0 and row["not_shown_pct"] == pytest.approx(100 * missed / ended)
    assert row["not_shown_pct"] > row["late_or_lost_pct"]
