"""The command: what it prints, what it writes, how it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import lasthop as lh
import pytest
from conftest import EXAMPLES, ROOT

COMMANDS = [
    "run", "sweep", "analyze", "check", "compare", "new", "plot", "report", "schema", "studies", "reproduce", "view",
]  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_right_and_run(lasthop, path):
    assert ": valid: " in lasthop("check", path).stdout
    assert path.stem in lasthop("run", path).stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_helps_fit_a_screen_and_start_with_a_sentence_and_an_example(lasthop, command):
    lines = lasthop(command, "--help").stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    sentence, example = lines[2].strip(), lines[3:9]
    assert sentence.endswith(".")
    assert any(line.strip().startswith(f"lasthop {command}") for line in example)


def test_help_starts_at_once(lasthop):
    took = []
    for _ in range(5):
        began = time.perf_counter()
        lasthop("--help")
        took.append(time.perf_counter() - began)
    # 0.2 s on an idle machine; the quickest of five, with room for a busy one.
    assert min(took) < 0.4


def test_data_goes_to_stdout_and_notes_to_stderr(lasthop, busy):
    done = lasthop("run", busy, "-o", "out")
    assert "goodput_kbps" in done.stdout
    assert "wrote" not in done.stdout
    assert "wrote out/flows.parquet" in done.stderr
    assert lasthop("run", busy, "-o", "out", "--quiet").stderr == ""


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)])
def test_a_run_without_standard_streams_does_what_it_does_with_them(lasthop, busy, closed):
    """As cron and daemons may start it, or `>&-` in a shell."""

    def call(*words):
        def close():
            for number in closed:
                os.close(number)

        command = [sys.executable, "-m", "lasthop", *map(str, words)]
        return subprocess.run(
            command, cwd=lasthop.folder, env=lasthop.environment, capture_output=True, text=True, preexec_fn=close
        )

    done = call("run", busy, "-o", "out")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert ("goodput_kbps" in done.stdout) == (1 not in closed)
    assert ("wrote out/flows.parquet" in done.stderr) == (2 not in closed)
    # No table has what was printed.
    assert lh.Result.load(lasthop.folder / "out").flows.rows()
    assert call("run", "nowhere.toml").returncode == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where names are any bytes")
def test_files_whose_names_are_no_utf_8(lasthop, busy):
    """They are read and captured into; folders for tables are refused before the work, as Arrow refuses them."""
    name = os.fsdecode(b"b\xff")
    busy.rename(lasthop.folder / f"{name}.toml")
    vary = ["--vary", "link.radio.delay=20 ms,80 ms"]
    assert ": valid: " in lasthop("check", f"{name}.toml").stdout
    lasthop("run", f"{name}.toml", "-o", "out", "--pcap", f"{name}.pcapng")
    lasthop("analyze", f"{name}.pcapng", "-o", "analysed")
    lasthop("sweep", f"{name}.toml", *vary, "-o", "swept")
    for words in (["run", f"{name}.toml"], ["sweep", f"{name}.toml", *vary], ["analyze", f"{name}.pcapng"]):
        said = lasthop(*words, "-q", "-o", name, code=2).stderr
        assert said == "error: b\\udcff is no name in UTF-8: choose another folder with -o\n"
    assert not (lasthop.folder / name).exists()


def test_json_of_a_run(lasthop, busy):
    document = json.loads(lasthop("run", busy, "--json", "--seed", "7").stdout)
    assert document["seeds"] == [7]
    assert {row["flow"] for row in document["flows"]} == {"file", "call"}
    document = json.loads(lasthop("run", busy, "--json", "--seeds", "3").stdout)
    assert document["seeds"] == [1, 2, 3]
    goodput = document["flows"][0]["goodput_kbps"]
    assert goodput["n"] == 3
    assert goodput["half"] > 0


def test_python_m_lasthop_is_the_command(lasthop):
    assert lasthop("--version").stdout.startswith("lasthop ")


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_tables_are_written_whole_with_a_manifest(lasthop, busy, format):
    lasthop("run", busy, "-o", "out", "--format", format)
    folder = lasthop.folder / "out"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seeds"] == [1]
    assert manifest["scenario_text"] == busy.read_text()
    assert {path.name for path in folder.iterdir()} == {*manifest["tables"].values(), "manifest.json"}


def test_other_peoples_folders_are_left_alone(lasthop, busy):
    folder = lasthop.folder / "mine"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    assert "holds other files" in lasthop("run", busy, "-o", folder, code=2).stderr
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]
    lasthop("run", busy, "-o", folder, "--force")
    assert (folder / "thesis.tex").read_text() == "years of work"
    # What the same command wrote is replaced unasked; what another wrote is not.
    lasthop("run", busy, "-o", folder)
    assert "was written by `lasthop run`" in lasthop("reproduce", "handover", "-o", folder, code=2).stderr


def test_plots(lasthop, busy):
    lasthop("run", busy, "--plot", "-o", "out")
    for name in ("throughput", "window", "rtt", "queue"):
        for suffix in ("png", "svg", "pdf"):
            assert (lasthop.folder / "out" / f"{name}.{suffix}").stat().st_size > 1000
    done = lasthop("plot", "out", "-o", "again")
    assert "again/window.{png,svg,pdf}" in done.stdout


def test_new_writes_a_scenario_that_runs(lasthop):
    listed = lasthop("new").stdout
    for path in EXAMPLES:
        assert path.stem in listed
    lasthop("new", "handover", "-o", "mine.toml")
    lasthop("run", "mine.toml")
    assert "mine.toml exists" in lasthop("new", "handover", "-o", "mine.toml", code=2).stderr


def test_check_expand_is_a_scenario_again(lasthop, busy):
    expanded = lasthop("check", busy, "--expand").stdout
    (lasthop.folder / "expanded.toml").write_text(expanded)
    assert lasthop("check", "expanded.toml", "--expand").stdout == expanded


def test_schema_of_everything_and_of_a_part(lasthop):
    assert "droptail" in lasthop("schema", "queue").stdout
    document = json.loads(lasthop("schema", "--json").stdout)
    assert document["properties"]["link"] and document["$id"].endswith("/scenario.schema.json")
    assert len(lasthop("schema").stdout.splitlines()) < 24, "its sections fit a screen"
    assert len(lasthop("schema", "--all").stdout.splitlines()) > 1000
    assert "droptail" in lasthop("schema", "droptial", code=2).stderr
    field = lasthop("schema", "max_dat").stdout
    assert "link.queue.red" in lasthop("schema", "hsdpa.queue.red").stdout, "described where it is first"
    assert "no section" in lasthop("schema", "hsdpa.rate.red", code=2).stderr
    assert "cell.rlc.am" in field and "| `max_dat` |" in field and "| `buffer` |" not in field


#: What is wrong, the line that makes it so, and what has to be said.
BROKEN = {
    "unknown field": (
        '[[link]]\nname = "radio"',
        '[[link]]\nrat = 3\nname = "radio"',
        ["busy.toml:6:1", '"rat"', "rate"],
    ),
    "wrong unit": ('"2 Mbit/s"', '"2 Mbyte"', ["busy.toml:8:8", "Mbit/s"]),
    "negative rate": ('"2 Mbit/s"', '"-2 Mbit/s"', ["busy.toml:8:8"]),
    "unknown node": ('to = "mobile"', 'to = "mobil"', ["busy.toml", '"mobil"', 'did you mean "mobile"']),
    "unknown queue": ("queue.droptail", "queue.droptial", ["busy.toml:10:7", 'did you mean "droptail"']),
    "absurd number": ('"10 s"', '"1e300 s"', ["busy.toml:3:12"]),
    "not TOML": ("[[link]]", "[[link]", ["busy.toml:5"]),
    "nothing": (None, "", ["busy.toml"]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_scenarios_get_one_message_with_the_place_and_the_mend(lasthop, busy, what):
    old, new, expected = BROKEN[what]
    text = busy.read_text()
    busy.write_text(new if old is None else text.replace(old, new, 1))
    for command in (["check"], ["run", "-o", "out"]):
        done = lasthop(command[0], busy, *command[1:], code=2)
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("error: ") == 1
        for words in expected:
            assert words in done.stderr
    assert not (lasthop.folder / "out").exists()
    said = json.loads(lasthop("check", busy, "--json", code=2).stdout)[0]
    assert said["message"] in done.stderr


def test_files_that_cannot_be_read(lasthop):
    assert "nowhere.toml" in lasthop("run", "nowhere.toml", code=2).stderr
    (lasthop.folder / "binary.toml").write_bytes(bytes(range(256)))
    assert "binary.toml" in lasthop("run", "binary.toml", code=2).stderr


@pytest.mark.parametrize("seed", ["-1", str(2**53)])
def test_a_seed_out_of_range(lasthop, busy, seed):
    assert "seed" in lasthop("run", busy, "--seed", seed, code=2).stderr


def test_unknown_words_get_the_nearest(lasthop):
    assert "'reproduce'" in lasthop("reprodce", code=2).stderr
    assert "'handover'" in lasthop("reproduce", "handovr", code=2).stderr
    assert "'two-flows'" in lasthop("new", "twoflows", code=2).stderr


def test_templates_name_the_schema_for_editors():
    from lasthop.cli.schema import ID

    for path in EXAMPLES:
        assert path.read_text().startswith(f"#:schema {ID}\n# "), path.name


def test_templates_are_the_examples():
    templates = ROOT / "python" / "lasthop" / "templates"
    assert {p.name: p.read_text() for p in templates.glob("*.toml")} == {p.name: p.read_text() for p in EXAMPLES}
