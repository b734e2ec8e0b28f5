"""Sweeps over files beside the scenario: their texts are part of the plan, wherever and whenever its runs are made."""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import lasthop as lh
import pytest
from lasthop import sweeps
from lasthop.files import MANIFEST, OutputRefused
from lasthop.sweeps.plan import fingerprint

SCENARIO = """
duration = "3 s"
[[link]]
name = "radio"
between = ["server", "mobile"]
trace.down = "fast.trace"
rate = "5 Mbit/s"
delay = "10 ms"
[[flow]]
name = "download"
from = "server"
to = "mobile"
"""

#: The link without name and trace.
RADIO = {"between": ["server", "mobile"], "rate": "5 Mbit/s", "delay": "10 ms"}

#: The key of the trace, two files for it, their texts (6 Mbit/s and 1.2 Mbit/s), and another one for the second.
KEY = "link.radio.trace.down"
FILES = ["fast.trace", "sub/slow.trace"]
FAST, SLOW, SLOWER = "2\n", "10\n", "40\n"


@pytest.fixture
def traces(tmp_path, monkeypatch):
    """The folder with scenario and traces, in which the test works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "t.toml").write_text(SCENARIO)
    (tmp_path / "fast.trace").write_text(FAST)
    (tmp_path / "sub" / "slow.trace").write_text(SLOW)
    return tmp_path


def goodputs(sweep):
    return [round(row["goodput_kbps"].mean) for row in sweep.means(metrics=["goodput_kbps"])]


def alone(text):
    """The goodput over a trace of this text."""
    return round(lh.run(lh.load("t.toml").with_({KEY: text})).flows["goodput_kbps"][0])


@pytest.mark.usefixtures("traces")
def test_files_are_found_whatever_else_is_varied():
    """Rates and folders have slashes, which once made the scenario's folder another."""
    s = lh.sweep("t.toml", vary={KEY: FILES, "link.radio.rate": ["1 Mbit/s", "5 Mbit/s"]}, threads=1)
    rows = s.means(metrics=["goodput_kbps"])
    assert [row[KEY] for row in rows] == ["fast.trace"] * 2 + ["sub/slow.trace"] * 2
    assert goodputs(s)[1::2] == [alone(FAST), alone(SLOW)]
    assert s.flows[KEY].tolist() == [row[KEY] for row in rows]


def test_a_file_that_is_not_there_is_named_with_its_point(traces, lasthop):
    vary = [f"--vary={KEY}=fast.trace,sub/none.trace", "--vary=link.radio.rate=1 Mbit/s,5 Mbit/s"]
    said = lasthop("sweep", "t.toml", *vary, code=2).stderr
    assert 'the file "sub/none.trace": there is no such file' in said
    assert f"--> t.toml with {KEY} = sub/none.trace: link[0].trace.down" in said
    (traces / "sub" / "none.trace").write_text("1\nsoon\n")
    said = lasthop("sweep", "t.toml", *vary, code=2).stderr
    assert 'the file "sub/none.trace"' in said and f"--> t.toml with {KEY} = sub/none.trace: " in said
    with pytest.raises(lh.ScenarioError) as caught:
        lh.sweep("t.toml", vary={KEY: ["sub/none.trace"]})
    assert (
        caught.value.origin == f"t.toml with {KEY} = sub/none.trace" and f"{caught.value.origin}: " in caught.value.ansi
    )


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("link.*.trace.down", FILES),
        ("link.trace", [{"down": name} for name in FILES]),
        ("link.radio", [{**RADIO, "name": "radio", "trace": {"down": name}} for name in FILES]),
        ("link.radio", [{**RADIO, "name": "other", "trace": {"down": name}} for name in FILES]),
    ],
)
def test_a_value_may_hold_the_name(traces, key, values):
    asked = sweeps.plan("t.toml", {key: values})
    assert not any(name in json.dumps(asked.vary.changes(point)) for point, name in enumerate(FILES))
    assert [asked.vary.values(point) for point in range(2)] == [{key: value} for value in values]
    assert goodputs(sweeps.perform_plan(asked, traces / "out", threads=1)) == [alone(FAST), alone(SLOW)]


def test_a_sweep_runs_with_what_the_files_have_when_it_is_called(traces):
    before = goodputs(lh.sweep("t.toml", vary={KEY: FILES}, threads=1))
    (traces / "sub" / "slow.trace").write_text(SLOWER)
    after = goodputs(lh.sweep("t.toml", vary={KEY: FILES}, threads=1))
    assert before == [alone(FAST), alone(SLOW)] and after == [alone(FAST), alone(SLOWER)]


def test_a_changed_file_makes_another_plan(traces, lasthop):
    words = ["sweep", "t.toml", f"--vary={KEY}={','.join(FILES)}", "--quiet"]
    lasthop(*words, "-o", "one")
    assert json.loads((traces / "one" / MANIFEST).read_text())["files"] == {
        KEY: {"fast.trace": FAST, "sub/slow.trace": SLOW}
    }
    lasthop(*words, "-o", "one")
    (traces / "sub" / "slow.trace").write_text(SLOWER)
    assert "has other texts of files that are varied: sub/slow.trace" in lasthop(*words, "-o", "one", code=2).stderr
    lasthop(*words, "-o", "other")
    ((at, mine, theirs),) = lh.compare("one", "other").scenario
    assert (at, mine[1], theirs[1]) == (f"vary {KEY}", SLOW, SLOWER)
    assert mine[0] == theirs[0] == FAST


def test_shards_of_other_texts_are_refused(traces):
    lh.sweep("t.toml", vary={KEY: FILES}, folder="shards", shard=(0, 2))
    (traces / "sub" / "slow.trace").write_text(SLOWER)
    with pytest.raises(OutputRefused, match=r"other texts .*: sub/slow\.trace"):
        lh.sweep("t.toml", vary={KEY: FILES}, folder="shards", shard=(1, 2))
    (traces / "sub" / "slow.trace").write_text(SLOW)
    lh.sweep("t.toml", vary={KEY: FILES}, folder="shards", shard=(1, 2))
    assert goodputs(sweeps.collect("shards")) == [alone(FAST), alone(SLOW)]


def test_a_folder_of_names_alone_is_read_and_not_gone_on_with(traces):
    """Earlier versions kept the names of the files."""
    lh.sweep("t.toml", vary={KEY: FILES}, folder="old")
    path = traces / "old" / MANIFEST
    manifest = json.loads(path.read_text())
    del manifest["files"]
    path.write_text(json.dumps({**manifest, "plan": fingerprint(manifest)}))
    assert goodputs(lh.Sweep.load("old")) == [alone(FAST), alone(SLOW)]
    with pytest.raises(OutputRefused, match=r"other texts .*: fast\.trace, sub/slow\.trace"):
        lh.sweep("t.toml", vary={KEY: FILES}, folder="old")
    assert "files" not in sweeps.plan("t.toml", {"link.radio.delay": ["1 ms", "fast.trace"]}).document()


@pytest.mark.usefixtures("traces")
def test_a_worker_elsewhere_needs_no_file():
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=os.chdir, initargs=("/",)) as elsewhere:
        s = lh.sweep("t.toml", vary={KEY: FILES}, executor=elsewhere)
    assert goodputs(s) == [alone(FAST), alone(SLOW)]


def test_frames_of_an_encoder_are_read_likewise(traces):
    (traces / "large.txt").write_text("100 1000\n" + "500 5000\n" * 30)
    (traces / "small.txt").write_text("100 1000\n" + "100 1000\n" * 30)
    source = {"encoder": {"trace": "large.txt"}}
    media = {"name": "call", "from": "server", "to": "mobile", "transport": "media", "source": source}
    link = {"name": "radio", **RADIO}
    key, names = "flow.call.source.encoder.trace", ["large.txt", "small.txt"]
    asked = sweeps.plan({"duration": "2 s", "link": [link], "flow": [media]}, {key: names})
    assert asked.vary.files == {key: {name: (traces / name).read_text() for name in names}}
