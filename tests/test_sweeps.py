"""Sweeps: the same tables whoever does the runs, wherever they were killed; wrong keys; differences in pairs."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, stopped
from lasthop import files, sweeps
from lasthop.results import SENT_PDUS, Table, read_table, write_table
from lasthop.stats import estimate
from lasthop.sweeps import journal, record
from lasthop.sweeps.plan import fingerprint
from lasthop.sweeps.vary import Vary

#: A second of a download with random losses: some milliseconds of work.
QUICK = """
name = "quick"
duration = "1 s"

[[link]]
name = "wire"
between = ["server", "router"]
rate = "10 Mbit/s"

[[link]]
name = "radio"
between = ["router", "mobile"]
rate = "2 Mbit/s"
delay = "30 ms"
queue.droptail.limit = "20 kB"
loss.bernoulli.p = 0.02

[[flow]]
name = "download"
from = "server"
to = "mobile"

[[flow]]
name = "call"
from = "server"
to = "mobile"
transport = "udp"
source.cbr.rate = "200 kbit/s"
"""

VARY = {"link.radio.delay": ["20 ms", "80 ms"], "flow.download.transport.tcp.variant": ["reno", "cubic"]}
WORDS = [f"--vary={key}={','.join(values)}" for key, values in VARY.items()]
SEEDS = 5
RUNS = 4 * SEEDS


def content(folder):
    """Everything in a folder, manifest included, as bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The sweep done at once, on one thread."""
    return lh.sweep(QUICK, vary=VARY, seeds=SEEDS, threads=1, folder=tmp_path_factory.mktemp("whole"))


@pytest.fixture
def quick(tmp_path):
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return path


# What comes out


def test_rows_come_in_the_order_of_the_plan_and_are_those_of_single_runs(whole):
    rows = whole.flows.rows()
    expected = [
        {"link.radio.delay": delay, "flow.download.transport.tcp.variant": variant, "seed": seed, **row}
        for delay in VARY["link.radio.delay"]
        for variant in VARY["flow.download.transport.tcp.variant"]
        for seed in range(1, SEEDS + 1)
        for row in lh.run(
            lh.load(QUICK).with_({"link.radio.delay": delay, "flow.download.transport.tcp.variant": variant}),
            seed=seed,
        ).flows.rows()
    ]
    assert rows == expected
    assert {path.name for path in whole.folder.iterdir()} == {*whole.files.values(), "manifest.json"}


def test_keys_are_typed_columns():
    vary = {
        "link.radio.loss.bernoulli.p": [0, 0.05],
        "link.1.reorder": [True, False],
        "record.series": [None, "500 ms"],
    }
    vary["flow.download.transport.tcp.window"] = [10, 20]
    types = {f.name: str(f.type) for f in lh.sweep(QUICK, vary=vary).flows.to_arrow().schema}
    assert types["link.radio.loss.bernoulli.p"] == "double"
    assert types["flow.download.transport.tcp.window"] == "int64"
    assert "string" in types["link.1.reorder"]


def test_a_table_that_only_some_points_have():
    s = lh.sweep(QUICK, vary={"record.series": [None, "500 ms"]}, seeds=2)
    assert set(s.series["record.series"]) == {"500 ms"}
    assert set(s.flows["record.series"]) == {"null", "500 ms"}


def test_csv_says_what_parquet_says(whole, tmp_path):
    s = lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path / "csv", format="csv")
    for name in whole.tables:
        assert getattr(s, name).rows() == getattr(whole, name).rows()
    assert str(s.means("flows")) == str(whole.means("flows"))


# Differences in pairs


def test_text_of_many_lines_comes_back_from_csv(tmp_path):
    """A trace is such a text. It may end in the middle of what is read at a time, and be longer than that."""
    point = '0\n1\r\n"2", 3\n'
    for length, rows in ((20, 400_000), (3_000_000, 4)):
        texts = [point * (length // len(point)), "0\n"]
        table = Table(pa.table({"trace": [texts[n % 2] for n in range(rows)], "value": [*range(rows)]}))
        assert read_table(write_table(table, tmp_path / "table.csv")) == table, length
    link = {"name": "r", "between": ["s", "m"], "rate": "5 Mbit/s", "delay": "10 ms", "trace": {"down": "0\n1\n"}}
    scenario = {"duration": "0.2 s", "link": [link], "flow": [{"name": "f", "from": "s", "to": "m"}]}
    vary = {"link.r.trace.down": ["0\n1\n2\n", "0\n4\n9\n"]}
    stored = lh.sweep(scenario, vary=vary, seeds=1, format="csv", folder=tmp_path / "csv")
    assert stored.flows == lh.sweep(scenario, vary=vary, seeds=1).flows


def test_means_and_paired_differences_agree_with_scipy(whole):
    from scipy import stats

    flows = whole.flows.to_pandas()
    flows = flows[flows.flow == "download"]
    by_point = {
        point: part.sort_values("seed").goodput_kbps.to_numpy()
        for point, part in flows.groupby(list(VARY), observed=True)
    }
    for row in whole.means("flows"):
        if row["flow"] == "download":
            values = by_point[tuple(row[key] for key in VARY)]
            low, high = stats.t.interval(0.95, SEEDS - 1, np.mean(values), stats.sem(values))
            assert np.allclose([row["goodput_kbps"].low, row["goodput_kbps"].high], [low, high])
    rows = [r for r in whole.paired("goodput_kbps", against={"link.radio.delay": "20 ms"}) if r["flow"] == "download"]
    assert [(row["link.radio.delay"], row["flow.download.transport.tcp.variant"]) for row in rows] == [
        ("80 ms", "reno"),
        ("80 ms", "cubic"),
    ]
    for row in rows:
        variant = row["flow.download.transport.tcp.variant"]
        test = stats.ttest_rel(by_point["80 ms", variant], by_point["20 ms", variant])
        low, high = test.confidence_interval(0.95)
        assert np.allclose([row["low"], row["high"]], [low, high])
        assert (row["metric"], row["n"]) == ("goodput_kbps", SEEDS)


def test_without_against_everything_is_compared_with_the_first_point(whole):
    table = whole.paired("goodput_kbps", by=())
    assert table.df["difference"].dtype.kind == "f"
    rows = table.rows()
    assert len(rows) == 3
    first = whole.flows.where(**{"link.radio.delay": "20 ms", "flow.download.transport.tcp.variant": "reno"})
    last = whole.flows.where(**{"link.radio.delay": "80 ms", "flow.download.transport.tcp.variant": "cubic"})
    assert rows[-1]["difference"] == pytest.approx(np.mean(last["goodput_kbps"]) - np.mean(first["goodput_kbps"]))


def test_variants_share_their_randomness():
    # What the sweep does not touch is the same at all points: the difference is nothing, not merely small.
    s = lh.sweep(QUICK, vary={"flow.download.start": ["0 s", "0.9 s"]}, seeds=3)
    lost = s.flows.where(flow="call").to_pandas().pivot(index="seed", columns="flow.download.start")["sent_packets"]
    assert (lost["0 s"] == lost["0.9 s"]).all()


def test_wrong_words_to_a_finished_sweep_get_the_nearest(whole):
    with pytest.raises(ValueError, match="did you mean 'goodput_kbps'"):
        whole.paired("goodput_kbs")
    with pytest.raises(ValueError, match=r"did you mean 'link\.radio\.delay'"):
        whole.paired("goodput_kbps", against={"link.radio.dely": "20 ms"})
    with pytest.raises(ValueError, match="did you mean '20 ms'"):
        whole.paired("goodput_kbps", against={"link.radio.delay": "20ms"})
    with pytest.raises(AttributeError, match="known: flows"):
        _ = whole.flws


def test_it_shows_itself_and_is_read_again(whole):
    assert "difference to link.radio.delay = 20 ms" in repr(whole)
    assert "quick · 4 points × 5 seeds" in whole._repr_html_()
    again = lh.Sweep.load(whole.folder)
    assert again.summary.rows() == whole.summary.rows()
    assert again.points == whole.points


def datagrams(flows, source):
    """Flows of datagrams from one node to the other."""
    common = {"from": "server", "to": "mobile", "transport": {"udp": {}}, "source": source}
    return [{"name": str(n), **common} for n in range(flows)]


def test_many_flows_are_told_by_their_mean():
    flows = datagrams(9, {"cbr": {"rate": "10 kbit/s"}})
    data = {"duration": "1 s", "link": [{"name": "radio", "between": ["server", "mobile"], "rate": "1 Mbit/s"}]}
    s = lh.sweep({**data, "flow": flows}, vary={"link.radio.delay": ["1 ms", "2 ms"]}, seeds=2)
    mean = next(row for row in s.summary.rows() if row["metric"] == "goodput_kbps")
    assert mean["flow"] == ""
    assert 'a line is the mean of up to 9 flows: Sweep.means("flows", by=["flow"]) has each' in repr(s)
    assert mean["mean"] == pytest.approx(np.mean(s.flows.where(**{"link.radio.delay": "1 ms"})["goodput_kbps"]))


def test_a_point_is_named_as_vary_takes_it():
    link = {"name": "radio", "between": ["a", "b"], "rate": "1 Mbit/s", "loss": {"bernoulli": {"p": 0.1}}}
    data = {"duration": "1 s", "link": [link], "flow": [{"from": "a", "to": "b"}]}
    key = "link.radio.loss.bernoulli.p"
    s = lh.sweep(data, vary={key: [0.001, 0.01]}, seeds=2)
    named, counted = (s.paired("goodput_kbps", against={key: value}) for value in ("0.01", 0.01))
    assert named.rows() == counted.rows()
    with pytest.raises(ValueError, match=f"{key} has no value '0.02'"):
        s.paired("goodput_kbps", against={key: "0.02"})
    with pytest.raises(TypeError, match="against takes keys with values"):
        s.paired("goodput_kbps", against=key)
    with pytest.raises(TypeError, match="metrics takes a list"):
        s.means("flows", metrics="goodput_kbps")


def test_drops_of_many_flows_count_those_without_any():
    """Ten flows of which at a higher rate fewer lose packets: the mean over all ten is a tenth of all drops."""
    flows = datagrams(10, {"onoff": {"rate": "500 kbit/s"}})
    link = {"name": "radio", "between": ["server", "mobile"], "rate": "1 Mbit/s"}
    link["queue"] = {"droptail": {"limit": "5 packets"}}
    data = {"duration": "2 s", "link": [link], "flow": flows}
    s = lh.sweep(data, vary={"link.radio.rate": ["1 Mbit/s", "3.5 Mbit/s"]}, seeds=3)
    assert len({(row["link.radio.rate"], row["flow"], row["seed"]) for row in s.drops.rows()}) < 60, "some lose none"
    said = [row for row in s.summary.rows() if (row["table"], row["metric"]) == ("drops", "packets")]
    for row in said:
        here = s.drops.where(**{"link.radio.rate": row["link.radio.rate"]})
        assert row["mean"] == pytest.approx(here["packets"].sum() / 3 / 10)
    assert said[1]["difference"] == pytest.approx(said[1]["mean"] - said[0]["mean"])


def test_points_at_which_all_seeds_gave_the_same_are_named():
    link = {"name": "radio", "between": ["server", "mobile"], "rate": "1 Mbit/s"}
    flow = {"from": "server", "to": "mobile", "transport": {"udp": {}}, "source": {"cbr": {"rate": "100 kbit/s"}}}
    loss = [{"bernoulli": {"p": 0.1}}, {"list": {"drop": [3]}}]
    s = lh.sweep({"duration": "5 s", "link": [link], "flow": [flow]}, vary={"link.radio.loss": loss}, seeds=3)
    assert [*s.repeating] == [s.points[1]]
    alone = {"duration": "10 s", "link": [link], "flow": [{"from": "server", "to": "mobile"}]}
    # Not all equal numbers of three seeds have a mean that is a third of their sum to the last bit.
    alike = lh.sweep(alone, vary={"link.radio.delay": [f"{n} ms" for n in range(20, 30)]}, seeds=3)
    assert len(alike.repeating) == 10
    said = repr(s).replace("\n", " ")
    assert "all seeds gave the same numbers at link.radio.loss = {list = {drop = [3]}}: nothing random" in said


def test_totals_are_sums_within_each_run(whole):
    together = whole.means("flows", by=(), metrics=["goodput_kbps"], total=True)
    assert len(together) == len(whole.points)
    for row in together:
        runs = whole.flows.where(**{key: row[key] for key in VARY}).df.groupby("seed")["goodput_kbps"].sum()
        assert row["goodput_kbps"].mean == pytest.approx(runs.mean())
        assert row["goodput_kbps"].n == SEEDS
    first, *_, last = together
    found = whole.paired("goodput_kbps", by=(), total=True).rows()[-1]
    assert found["difference"] == pytest.approx(last["goodput_kbps"].mean - first["goodput_kbps"].mean)
    assert not [name for name in together[0] if name.endswith(("_pct", "_p50", "_p95", "_mean"))]
    for metric in ("loss_pct", "rtt_ms_p50", "rtt_ms_mean"):
        with pytest.raises(ValueError, match=f"a sum of {metric} says nothing: leave out total=True"):
            whole.paired(metric, by=(), total=True)


def test_text_is_said_where_all_rows_of_a_thing_have_it(whole):
    """Not that of the first row, as if it were of all."""
    assert {row["transport"] for row in whole.means("flows") if row["flow"] == "call"} == {"udp"}
    drops = whole.means("drops", by=["cause"], total=True)
    assert {row["cause"]: row["place"] for row in drops} == dict.fromkeys(("overflow", "loss"), "radio router>mobile")
    assert not any("flow" in row for row in drops)
    together = whole.means("flows", by=["from"])
    assert all(row["to"] == "mobile" and "flow" not in row and "transport" not in row for row in together)
    ends = {"a": "m", "b": "m", "c": "n"}
    flows = [{"name": name, "from": "server", "to": to} for name, to in ends.items()]
    links = [{"name": to, "between": ["server", to], "rate": "1 Mbit/s"} for to in "mn"]
    by_end = lh.sweep({"duration": "1 s", "link": links, "flow": flows}, vary={"duration": ["1 s"]}).means(
        "flows", by=["to"]
    )
    assert [(row["to"], row["flow"]) for row in by_end] == [("m", ""), ("n", "c")]


def test_each_table_has_its_means():
    s = lh.sweep(ROOT / "examples" / "umts-cell.toml", vary={"duration": ["40 s", "60 s"]}, seeds=2)
    things = {"cells": "cell", "bearers": "bearer", "transfers": "flow", "links": "link"}
    assert set(things) <= set(s.tables)
    for table, thing in things.items():
        assert thing in s.means(table)[0], table
    for seconds, row in zip(("40 s", "60 s"), s.means("bearers", by=(), metrics=["new_pdus"], total=True), strict=True):
        runs = s.tables["bearers"].where(duration=seconds).df.groupby("seed")["new_pdus"].sum()
        assert row["new_pdus"].mean == pytest.approx(runs.mean())


# Whoever does the runs


def test_threads_processes_and_other_executors_give_the_same_files(whole, tmp_path):
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, threads=3, folder=tmp_path / "three")
    with ThreadPoolExecutor(2) as pool:
        lh.sweep(QUICK, vary=VARY, seeds=SEEDS, executor=pool, folder=tmp_path / "threads")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        lh.sweep(QUICK, vary=VARY, seeds=SEEDS, executor=pool, folder=tmp_path / "processes")
    for name in ("three", "threads", "processes"):
        assert content(tmp_path / name) == content(whole.folder)


def test_a_dask_cluster_gives_the_same_files(whole, quick, lasthop):
    distributed = pytest.importorskip("distributed", reason="distributed (Dask) is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        lasthop("sweep", quick, *WORDS, "--seeds", SEEDS, "--scheduler", address, "-o", "dask", "-q")
        with distributed.Client(address, set_as_default=False) as client:
            lh.sweep(QUICK, vary=VARY, seeds=SEEDS, executor=client.get_executor(), folder=lasthop.folder / "python")
    assert tables(lasthop.folder / "dask") == tables(whole.folder)
    assert content(lasthop.folder / "python") == content(whole.folder)


def tables(folder):
    """The tables in a folder as bytes; the manifest also has the comments of the scenario's text."""
    return {name: data for name, data in content(folder).items() if name != "manifest.json"}


def test_a_cluster_that_is_not_there(monkeypatch):
    pytest.importorskip("distributed", reason="distributed (Dask) is not installed")
    from lasthop.sweeps import cluster

    monkeypatch.setattr(cluster, "PATIENCE_S", 0.3)
    with pytest.raises(lh.RunError, match="no Dask scheduler answers"), cluster.cluster("tcp://127.0.0.1:1"):
        pass


def test_a_cluster_whose_workers_come_later(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="distributed (Dask) is not installed")
    from lasthop.sweeps import cluster

    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as local:
        late = threading.Timer(0.5, local.scale, args=[1])
        late.start()
        with cluster.cluster(local.scheduler_address) as (_, threads):
            assert threads == 1
    with distributed.LocalCluster(n_workers=0, protocol="tcp", host="127.0.0.1", dashboard_address=None) as local:
        monkeypatch.setattr(cluster, "PATIENCE_S", 1)
        with pytest.raises(lh.RunError, match="no workers after 1 s"), cluster.cluster(local.scheduler_address):
            pass


def test_shards_and_what_puts_them_together(whole, quick, lasthop):
    command = ["sweep", quick, *WORDS, "--seeds", SEEDS, "-o", "out"]
    for part in (2, 0):
        assert "runs are finished" in lasthop(*command, "--shard", f"{part}/3").stdout
    said = lasthop("sweep", "--collect", "-o", "out", code=1).stderr
    assert f"7 of {RUNS} runs are missing" in said
    lasthop(*command, "--shard", "1/3")
    done = lasthop("sweep", "--collect", "-o", "out")
    assert "difference to" in done.stdout
    assert content(lasthop.folder / "out").keys() == content(whole.folder).keys()
    assert tables(lasthop.folder / "out") == tables(whole.folder)
    # A later call without --shard makes what is missing, and then the tables.
    command[-1] = "other"
    lasthop(*command, "--shard", "1/3")
    lasthop(*command)
    assert content(lasthop.folder / "other") == content(lasthop.folder / "out")
    assert lh.sweep(quick, vary=VARY, seeds=SEEDS, folder=lasthop.folder / "out").wall_s < 1


def test_shards_of_a_running_sweep_lock_out_who_would_do_all(tmp_path):
    asked = sweeps.plan(QUICK, VARY, SEEDS)
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(0, 3))
    plan = files.manifest(tmp_path)["plan"]
    hold = (
        "import sys, time; from pathlib import Path; from lasthop.sweeps import journal\n"
        f"with journal.at_work(Path({str(tmp_path)!r}), {asked.runs}, '1-of-3', {plan!r}):\n"
        "    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(files.OutputRefused, match="shard 1/3 is at work"):
            lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)
        with pytest.raises(files.OutputRefused, match="shard 1/3 is at work"):
            lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(1, 3))
        other.kill()
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)


# Killed at any instant

#: Sweeps in a new process for each line that it reads, and says how that ended. It has imported everything
#: before, so that a kill does not only hit imports.
FORKS = """
import os, sys
import lasthop as lh, pandas, pyarrow.csv, pyarrow.parquet
while folder := sys.stdin.readline():
    pid = os.fork()
    if pid == 0:
        lh.sweep(sys.argv[1], vary={vary!r}, seeds={seeds}, folder=folder.strip(), threads=2)
        os._exit(0)
    print(pid, flush=True)
    sys.stdin.readline()
    print(os.waitpid(pid, 0)[1], flush=True)
"""


def test_killed_fifty_times_it_ends_with_the_same_files_and_repeats_nothing(quick, tmp_path):
    seeds = 40
    program = FORKS.format(vary=VARY, seeds=seeds)
    chance = random.Random(50)
    with subprocess.Popen(
        [sys.executable, "-c", program, quick], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:

        def sweep(folder, after=None):
            """Whether the sweep was killed, and how long it took."""
            print(folder, file=parent.stdin, flush=True)
            pid, began = int(parent.stdout.readline()), time.monotonic()
            if after is not None:
                time.sleep(after)
                # Its parent has not waited for it yet: the number is still its own.
                os.kill(pid, signal.SIGKILL)
            print("wait", file=parent.stdin, flush=True)
            status = int(parent.stdout.readline())
            assert status in (0, signal.SIGKILL)
            return status != 0, time.monotonic() - began

        # The shorter of two: a kill later than the end of a sweep is none.
        took = min(sweep(tmp_path / name)[1] for name in ("whole", "again"))
        expected = content(tmp_path / "whole")
        assert content(tmp_path / "again") == expected
        kills, sweeps_done, stages = 0, 0, set()
        while kills < 50:
            folder, kept, killed = tmp_path / f"killed {sweeps_done}", 0, True
            while killed:
                killed, _ = sweep(folder, after=chance.uniform(0, took) if kills < 50 else None)
                kills += killed
                finished, stage = state(folder, 4 * seeds)
                assert finished >= kept, "a finished run was lost"
                kept = finished
                stages.add(stage)
            assert content(folder) == expected
            sweeps_done += 1
        parent.stdin.close()
    # The kills fell before the first run, between runs, and at the tables.
    assert stages >= {"some", "tables"}, stages
    assert sweeps_done < 50


def state(folder, runs):
    """How many runs are finished, and how far the sweep has come; no run is there twice."""
    if not (folder / "manifest.json").exists():
        return 0, "nothing"
    if "tables" in files.manifest(folder):
        return runs, "tables"
    found = []
    for path in folder.glob("runs/*.journal"):
        with path.open("rb") as journal:
            found += [head.run for head, _, _ in record.scan(journal)]
    assert len(set(found)) == len(found), "a finished run was made again"
    return len(found), "tables" if len(found) == runs else "some" if found else "nothing"


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(quick, lasthop):
    words = ["sweep", quick.name, "--vary", "link.radio.delay=20 ms,80 ms", "--seeds", "3000", "-o", "out"]
    child = lasthop.start(*words)
    journal = lasthop.folder / "out" / "runs" / "all.journal"
    while not journal.exists() or journal.stat().st_size < 10_000:
        assert child.poll() is None
        time.sleep(0.01)
    said, took = stopped(child)
    assert took < 2.0 * os.cpu_count()
    assert child.returncode == 130
    assert "Traceback" not in said
    kept = int(said.split(" of 6000 runs are finished")[0].split()[-1])
    assert f"to go on: lasthop {shlex.join(words)}" in said
    assert state(lasthop.folder / "out", 6000)[0] == kept


def test_runs_of_another_plan_are_refused_by_name(tmp_path):
    """A journal of the same shape, of another scenario, put where this sweep's is."""
    one, other = tmp_path / "one", tmp_path / "other"
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=one, shard=(0, 2))
    lh.sweep(lh.load(QUICK).with_(seed=99), vary=VARY, seeds=SEEDS, folder=other, shard=(0, 2))
    journal = one / "runs" / "0-of-2.journal"
    journal.write_bytes((other / "runs" / "0-of-2.journal").read_bytes())
    with pytest.raises(files.OutputRefused, match=r"0-of-2\.journal has runs of another plan"):
        lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=one)


def test_a_record_beyond_the_plan_is_refused(tmp_path):
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(0, 2))
    plan = files.manifest(tmp_path)["plan"]
    with (tmp_path / "runs" / "0-of-2.journal").open("ab") as journal:
        journal.write(record.pack(RUNS + 5, plan, lh.run(QUICK)))
    with pytest.raises(files.OutputRefused, match="another plan"):
        lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seeds", "1000000000000"], "seeds are too many"),
        (["--seeds", "1", "--shard", "1/2", "--dry-run"], None),
        (["--scheduler", "garbage"], "write it as tcp://HOST:PORT"),
        (["--vary", "seed=" + "[" * 5000], "nested too deep"),
        (["--vary", "duration=" + "{a=" * 5000 + "1" + "}" * 5000], "nested too deep"),
        (["--vary", "duration=" + "9" * 5000], "too long a number"),
    ],
)
def test_arguments_that_cannot_be_have_one_message(quick, lasthop, arguments, says):
    varied = [] if "--vary" in arguments else ["--vary", "link.radio.delay=20 ms"]
    done = lasthop("sweep", quick.name, *varied, *arguments, code=2 if says else 0)
    assert "Traceback" not in done.stderr and (says or "0 of them") in done.stderr + done.stdout


def test_a_manifest_without_keys_is_no_sweep(quick, lasthop):
    (lasthop.folder / "out").mkdir()
    (lasthop.folder / "out" / "manifest.json").write_text('{"made_by": "lasthop sweep"}')
    for words in (["--collect"], [quick, *WORDS]):
        done = lasthop("sweep", *words, "-o", "out", code=2)
        assert "it lacks" in done.stderr and "Traceback" not in done.stderr
    lasthop("sweep", quick, *WORDS, "-o", "out", "--force")


@pytest.mark.parametrize("key", ["scenario_text", "vary", "seeds", "format", "code"])
def test_a_manifest_that_was_changed_is_refused(tmp_path, key):
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(0, 2))
    manifest = files.manifest(tmp_path)
    for other in (None, 5, "x", [7], {"a": 1}):
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, key: other}))
        with pytest.raises(ValueError, match="has been changed"):
            sweeps.collect(tmp_path)
        with pytest.raises(files.OutputRefused, match=r"choose another folder, or .* with force=True$"):
            lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)


def test_force_deletes_nothing_outside_the_folder(whole, tmp_path):
    """Whatever the manifest says that its tables are called."""
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("years of work")
    out = tmp_path / "out"
    shutil.copytree(whole.folder, out)
    manifest = files.manifest(out)
    manifest["tables"] = {"flows": "../thesis.tex", "links": str(thesis)}
    (out / "manifest.json").write_text(json.dumps(manifest))
    lh.sweep(QUICK, vary=VARY, seeds=1, folder=out, force=True)
    assert thesis.read_text() == "years of work"


@pytest.mark.parametrize(
    "head",
    [
        b"null",
        b"[]",
        b"{}",
        b'{"run": 1}',
        b'{"run": "1", "plan": "PLAN", "packet_hops": 0, "tables": {}}',
        b'{"run": 1, "plan": "PLAN", "packet_hops": 0, "tables": 5}',
        b'{"run": 1, "plan": "PLAN", "packet_hops": 0, "tables": {"flows": "x"}}',
        b'{"run": -1, "plan": "PLAN", "packet_hops": 0, "tables": {}}',
        b'{"run": 1, "plan": "other", "packet_hops": 0, "tables": {}}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_a_whole_record_of_something_else_is_refused(tmp_path, head):
    """As another version may have written it."""
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(0, 2))
    head = head.replace(b"PLAN", files.manifest(tmp_path)["plan"].encode())
    frame = struct.pack("<8sIQI", b"lasthop2", len(head), 4, zlib.crc32(b"body", zlib.crc32(head)))
    with (tmp_path / "runs" / "0-of-2.journal").open("ab") as journal:
        journal.write(frame + head + b"body")
    with pytest.raises(files.OutputRefused, match=r"0-of-2\.journal has runs of another plan"):
        lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)


@pytest.mark.parametrize("length", ["100", "-5", "1" + 14 * "0", "1" + 30 * "0"])
def test_a_whole_record_without_tables_is_refused(tmp_path, length):
    head = b'{"run": 1, "plan": "a plan", "packet_hops": 0, "tables": {"flows": %s}}' % length.encode()
    frame = struct.pack("<8sIQI", b"lasthop2", len(head), 4, zlib.crc32(b"body", zlib.crc32(head)))
    (tmp_path / "all.journal").write_bytes(frame + head + b"body")
    with (
        (tmp_path / "all.journal").open("rb") as file,
        pytest.raises(lh.RunError, match="run 1 has no tables that can"),
    ):
        record.read(file, 0, 1)


def test_a_sweep_may_have_more_shards_than_a_process_may_open_files(tmp_path):
    """Of 60 shards each has made a run; 20 files more than now may be opened when they are put together."""
    resource = pytest.importorskip("resource")
    made = lh.run(QUICK)
    for shard in range(60):
        with journal.at_work(tmp_path, 60, f"{shard}-of-60", "a plan") as one:
            one.append(shard, record.pack(shard, "a plan", made))
    together = journal.Journals(tmp_path / "runs", 60, tmp_path / "runs" / "all.journal", "a plan")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/dev/fd").iterdir())) + 20, hard))
    try:
        assert [head.run for head, _ in together.read()] == list(range(60)) and together.finished == 60
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_a_killed_process_was_writing_is_cut_off(whole, tmp_path):
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(0, 2))
    journal = tmp_path / "runs" / "0-of-2.journal"
    records = journal.read_bytes()
    for torn in (records[:-1], records[:-1] + b"x", records + records[:100], records + bytes(100), records[:10]):
        journal.write_bytes(torn)
        with journal.open("rb") as file:
            there = list(record.scan(file))
        assert len(there) == (10 if torn.startswith(records) else 0 if torn == records[:10] else 9)
        s = lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path, shard=(0, 2))
        assert s.finished == 10
        assert state(tmp_path, RUNS)[0] == 10
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)
    assert content(tmp_path) == content(whole.folder)


@pytest.mark.parametrize("damage", ["flip", "length", "zeros", "insert", "cut"])
def test_damage_in_a_journal_takes_the_records_that_it_hits_and_no_more(whole, quick, lasthop, damage):
    command = ["sweep", quick, *WORDS, "--seeds", SEEDS, "-o", "out"]
    lasthop(*command, "--shard", "0/1")
    out = lasthop.folder / "out"
    journal = out / "runs" / "0-of-1.journal"
    with journal.open("rb") as file:
        begins = [begin for _, begin, _ in record.scan(file)]
    data = bytearray(journal.read_bytes())
    match damage:
        case "flip":
            data[begins[3] + 100] ^= 1
        case "length":
            data[begins[0] + 12 + 6] ^= 1
        case "zeros":
            data[begins[3] + 5 : begins[4] + 5] = bytes(begins[4] - begins[3])
        case "insert":
            data[begins[3] : begins[3]] = b"lasthop2, but no record"
        case "cut":
            del data[begins[3] + 10 : begins[3] + 20]
    journal.write_bytes(data)
    lost = {"insert": 0, "zeros": 2}.get(damage, 1)
    assert sweeps.progress_of(out)[0] == RUNS - lost
    # It is no folder without runs: another sweep leaves it alone.
    assert "has 5 seeds" in lasthop(*command[:-3], 6, "-o", "out", code=2).stderr
    assert "0-of-1.journal.damaged is a copy" in lasthop(*command).stderr
    assert (out / "0-of-1.journal.damaged").read_bytes() == data
    assert {n: d for n, d in tables(out).items() if not n.endswith(".damaged")} == tables(whole.folder)


def test_a_journal_without_a_whole_record_is_not_thrown_away(tmp_path):
    asked = {"vary": VARY, "folder": tmp_path}
    lh.sweep(QUICK, seeds=SEEDS, shard=(0, 20), **asked)
    journal = tmp_path / "runs" / "0-of-20.journal"
    journal.write_bytes(journal.read_bytes()[:-1] + b"x")
    with pytest.raises(files.OutputRefused, match="has 5 seeds"):
        lh.sweep(QUICK, seeds=SEEDS + 1, **asked)
    journal.write_bytes(b"")
    assert lh.sweep(QUICK, seeds=SEEDS + 1, **asked).runs == 24


def test_killed_before_its_manifest_was_there_a_sweep_begins_again(whole, tmp_path):
    (tmp_path / ".manifest.json.4711.part.json").write_text('{"made_by": "lasthop sw')
    lh.sweep(QUICK, vary=VARY, seeds=SEEDS, folder=tmp_path)
    assert content(tmp_path) == content(whole.folder)


def test_another_plan_in_the_same_folder_is_refused(quick, lasthop):
    command = ["sweep", quick, "--vary=link.radio.delay=20 ms,80 ms", "-o", "out", "-q", "--seeds"]
    lasthop(*command, 2)
    before = content(lasthop.folder / "out")
    assert "has 2 seeds from 1 to 2, not 3 seeds from 1 to 3" in lasthop(*command, 3, code=2).stderr
    other = [word if word != command[2] else "--vary=link.radio.delay=20 ms" for word in command]
    assert "varies link.radio.delay over 20 ms, 80 ms" in lasthop(*other, 2, code=2).stderr
    assert "parquet, not csv" in lasthop(*command, 2, "--format", "csv", code=2).stderr
    quick.write_text(QUICK.replace("0.02", "0.03"))
    assert "of another scenario" in lasthop(*command, 2, code=2).stderr
    assert content(lasthop.folder / "out") == before
    # Other words for the same scenario are no other plan.
    quick.write_text("# A comment\n" + QUICK)
    lasthop(*command, 2)
    assert content(lasthop.folder / "out") == before
    # Another version's runs do not go with this one's.
    manifest = lasthop.folder / "out" / "manifest.json"
    older = json.loads(manifest.read_text().replace('"code": "lasthop ', '"code": "lasthop 0.0.'))
    manifest.write_text(json.dumps({**older, "plan": fingerprint(older)}))
    assert "was begun by lasthop 0.0." in lasthop(*command, 2, code=2).stderr
    lasthop(*command, 3, "--force")
    assert lh.Sweep.load(lasthop.folder / "out").seeds == [1, 2, 3]


def test_other_peoples_folders_are_left_alone(quick, lasthop):
    (lasthop.folder / "mine").mkdir()
    (lasthop.folder / "mine" / "thesis.tex").write_text("years of work")
    command = ["sweep", quick, "--vary=link.radio.delay=20 ms,80 ms", "-o", "mine"]
    assert "holds other files" in lasthop(*command, code=2).stderr
    assert "must not clear it" in lasthop(*command, "--force", "--shard", "0/2", code=2).stderr
    lasthop(*command, "--force")
    assert (lasthop.folder / "mine" / "thesis.tex").read_text() == "years of work"


def test_a_sweep_by_force_takes_the_tables_of_a_run_away(tmp_path):
    lh.run(lh.load(QUICK).with_({"record.series": "100 ms"})).save(tmp_path)
    swept = lh.sweep(QUICK, vary=VARY, seeds=1, folder=tmp_path, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {*swept.files.values(), "manifest.json"}


def test_a_folder_called_runs_keeps_its_other_files(tmp_path):
    """The journals lie in a folder of this name, which may be there already."""
    mine = tmp_path / "runs"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    for _ in ("made", "found"):
        lh.sweep(QUICK, vary=VARY, seeds=1, folder=tmp_path, force=True)
        assert [path.name for path in mine.iterdir()] == ["thesis.tex"]
    sweeps.collect(tmp_path)
    assert (mine / "thesis.tex").read_text() == "years of work"
    (mine / "thesis.tex").unlink()
    sweeps.collect(tmp_path)
    assert not mine.exists()


# Wrong keys and values


def test_the_keys_are_searched_for_controllers_once(monkeypatch):
    """Not at each of their points."""
    searched = []
    asked = sweeps.plan(QUICK, {"link.radio.delay": [f"{n} ms" for n in range(50)]})
    monkeypatch.setattr(json, "dumps", lambda data: searched.append(data) or "")
    assert asked.code == files.code() and not asked.needs_processes
    assert searched == [asked.vary.keys]


#: What is asked, and what has to be said.
WRONG = {
    "unknown field": ("link.radio.dely=20 ms", ['unknown field "dely"', 'did you mean "delay"']),
    "unknown part": ("link.radoi.delay=20 ms", ["nothing is called 'radoi'", "did you mean 'radio'"]),
    "part out of range": ("flow.2.start=1 s", ["nothing is called '2'", "download, call"]),
    "unknown section": ("lnk.radio.delay=20 ms", ['unknown field "lnk"', 'did you mean "link"']),
    "unknown choice": ("flow.download.transport.tcp.variant=reno,cubc", ["= cubc", 'did you mean "cubic"']),
    "unknown unit": ("link.radio.delay=20 ms,3 parsec", ["link.radio.delay = 3 parsec", "expected one of ns, us, ms"]),
    "number for text": ("link.radio.delay=20", ['must be a duration as text, such as "10 ms"']),
    "text for a number": ("link.radio.loss.bernoulli.p=often", ['"p" must be']),
    "digit that is no number": ("flow.²=1 s", ["nothing is called '²' there"]),
    "number of 5,000 digits": (f"flow.{'9' * 5000}.start=1 s", ["nothing is called '999"]),
    "part of a value": ("link.radio.delay.x.y=1", ["link.radio.delay"]),
    "seed": ("seed=1,2", ["'seed' cannot be varied", "every point runs with all of them"]),
    "no value": ("link.radio.delay=", ["write it as KEY=VALUE,VALUE"]),
    "no key": ("20 ms", ["write it as KEY=VALUE,VALUE"]),
    "empty value": ("link.radio.delay=20 ms,,30 ms", ["a value is empty"]),
    "twice": ("link.radio.delay=20 ms,20 ms", ["the value 20 ms is there twice"]),
}


def test_what_cells_of_hsdpa_carried_and_dropped_is_printed():
    """At each point the means of single runs; a key whose values are texts and tables."""
    scenario = {
        "duration": "5 s",
        "link": [{"name": "wire", "between": ["server", "node_b"], "rate": "100 Mbit/s"}],
        "hsdpa": [{"name": "cell", "node": "node_b", "ues": 2, "rings": 0}],
        "flow": [{"from": "server", "to": "cell.ue[*]"}],
    }
    queues = ["codel", {"droptail": {"limit": "20 packets"}}]
    text = repr(lh.sweep(scenario, vary={"hsdpa.queue": queues}, seeds=2))
    lines = [line for line in text.splitlines() if "cell.cell[0]" in line]
    assert len(lines) == len(queues)
    for queue, line in zip(queues, lines, strict=True):
        runs = [lh.run(lh.load(scenario).with_({"hsdpa.queue": queue}), seed=seed) for seed in (1, 2)]
        cells = [one.tables["cells"].rows()[0] for one in runs]
        drops = [sum(row["dropped_packets"] for row in one.tables["bearers"].rows()) for one in runs]
        assert sum(drops) > 0
        used = estimate(100 * cell["used_slots"] / cell["slots"] for cell in cells)
        assert line.endswith(str(estimate(drops)))
        assert f"  {used}  " in line
        assert f"  {drops[0]}" in next(one for one in repr(runs[0]).splitlines() if one.startswith("cell.cell[0]"))


def test_what_rlc_did_in_each_cell_is_printed_at_each_point():
    """Retransmissions and what waits, as means of single runs."""
    scenario = lh.load(ROOT / "examples" / "umts-cell.toml").with_(duration="40 s")
    key, values = "cell.0.rlc.am.max_dat", [1, 10]
    lines = repr(lh.sweep(scenario, vary={key: values}, seeds=2)).splitlines()
    (head,) = (line for line in lines if "again_pct" in line)
    assert head.split() == [key, "radio", "sent_pdus", "again_pct", "air_lost_pct", "queue_bytes"]
    ends = []
    for value in values:
        runs = [lh.run(scenario.with_({key: value}), seed=seed).bearers.to_pandas() for seed in (1, 2)]
        down = [run[run.bearer.str.endswith(" down")] for run in runs]
        (line,) = (line for line in lines if line.split()[:3] == [str(value), "cell", "down"])
        assert f"  {estimate(float(run.filter([*SENT_PDUS]).sum().sum()) for run in down)}  " in line
        ends.append(str(estimate(float(run.queue_bytes.sum()) for run in down)))
        assert line.endswith(f"  {ends[-1]}")
    assert len({*ends}) > 1


def test_points_without_cells_are_printed_beside_those_with_some(tmp_path):
    """Sections as a whole are refused; a plan of an earlier version may have them."""
    cell = {"name": "cell", "node": "node_b", "ues": 2, "rings": 0}
    scenario = {
        "duration": "1 s",
        "link": [{"name": "wire", "between": ["server", "node_b"], "rate": "10 Mbit/s"}],
        "flow": [{"from": "server", "to": "node_b"}],
    }
    vary = Vary({"hsdpa": [[], [cell], [{**cell, "ues": 3}]]})
    s = sweeps.perform_plan(sweeps.Plan(lh.load(scenario), vary, [1, 2], "parquet"), tmp_path / "out")
    lines = [line for line in repr(s).splitlines() if "  cell.cell[0]  " in line]
    assert [line.split("  cell.cell[0]  ")[1].split()[:2] for line in lines] == [["2", "±0"], ["3", "±0"]]


def test_a_star_stands_for_all_parts_of_a_list(quick):
    scenario = lh.load(quick)
    both = scenario.with_({"flow.*.start": "0.1 s"})
    assert [flow["start"] for flow in both["flow"]] == ["100 ms"] * len(scenario["flow"])
    assert len(scenario["flow"]) > 1
    pages = {"web": {"reading": "0 s"}}
    made = scenario.with_({"flow.*.transport": "tcp", "flow.*.source": pages, "flow.0.source.web.reading": "3 s"})
    reading = [flow["source"]["web"]["reading"] for flow in made["flow"]]
    assert reading[0] == "3 s" != reading[1], "a table is not shared"
    assert pages == {"web": {"reading": "0 s"}}
    made = lh.sweep(scenario, vary={"flow.*.start": ["0 s", "0.1 s"]}, seeds=1)
    assert list(made.points) == [{"flow.*.start": "0 s"}, {"flow.*.start": "0.1 s"}]
    with pytest.raises(lh.ScenarioError, match="is set in vain"):
        lh.sweep(scenario, vary={"flow.0.start": ["0 s", "0.1 s"], "flow.*.start": ["0.2 s", "0.3 s"]})


@pytest.mark.parametrize("what", WRONG)
def test_wrong_keys_and_values_are_named_before_anything_runs(quick, lasthop, what):
    vary, expected = WRONG[what]
    done = lasthop("sweep", quick, "--vary", vary, "--vary", "duration=1 s,2 s", "-o", "out", code=2)
    for words in expected:
        assert words in done.stderr
    assert "with duration" not in done.stderr, "only the value that is wrong is named"
    assert not (lasthop.folder / "out").exists()


def test_values_that_are_wrong_only_together_are_named_together(quick, lasthop):
    done = lasthop("sweep", quick, "--vary=duration=3 s,1.5 s", "--vary=flow.call.start=0 s,2 s", code=2)
    assert "with duration = 1.5 s, flow.call.start = 2 s" in done.stderr
    assert 'flow "call" starts at 2 s' in done.stderr


def test_other_wrong_words(quick, lasthop):
    vary = "--vary=link.radio.delay=20 ms"
    assert "nothing is varied" in lasthop("sweep", quick, code=2).stderr
    assert "--shard '3/3'" in lasthop("sweep", quick, vary, "--shard", "3/3", code=2).stderr
    assert "at least one is needed" in lasthop("sweep", quick, vary, "--seeds", "0", code=2).stderr
    assert "is there twice" in lasthop("sweep", quick, vary, vary, code=2).stderr
    assert "holds no results" in lasthop("sweep", "--collect", "-o", "nowhere", code=2).stderr
    with pytest.raises(lh.ScenarioError, match="must be a list, not '20 ms'"):
        lh.sweep(quick, vary={"link.radio.delay": "20 ms"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20 ms,80 ms", ["20 ms", "80 ms"]),
        ("1, 2.5,true", [1, 2.5, True]),
        ("cubic,3gpp,inf,2005-01-01", ["cubic", "3gpp", "inf", "2005-01-01"]),
        ('"a,b",c', ["a,b", "c"]),
        ("droptail,{red = {max_p = 0.1, min = 5}}", ["droptail", {"red": {"max_p": 0.1, "min": 5}}]),
        ("[1, 2],[3]", [[1, 2], [3]]),
        ('{"red": {"max_p": 0.1}}, [null],{"red"', [{"red": {"max_p": 0.1}}, [None], '{"red"']),
    ],
)
def test_values_on_the_command_line(text, expected):
    from lasthop.cli.sweep import values

    assert values([f"key={text}"]) == {"key": expected}


# The command


def test_a_dry_run_counts_and_times_and_leaves_nothing(quick, lasthop):
    done = lasthop("sweep", quick, *WORDS, "--seeds", SEEDS, "--dry-run", "-o", "out", "--shard", "1/3")
    assert "4 points × 5 seeds · 20 runs, 7 of them in part 1 of 3" in done.stdout
    assert "about 0 s" in done.stdout
    assert not (lasthop.folder / "out").exists()
    assert json.loads(lasthop("sweep", quick, *WORDS, "--dry-run", "--json").stdout)["runs"] == 4


def test_json_and_quiet(quick, lasthop):
    done = lasthop("sweep", quick, "--vary=link.radio.delay=20 ms,80 ms", "--seeds", 2, "--json", "-q")
    document = json.loads(done.stdout)
    assert done.stderr == ""
    assert document["folder"] == "out/quick-sweep"
    row = next(r for r in document["summary"] if r["metric"] == "goodput_kbps" and r["link.radio.delay"] == "80 ms")
    assert row["n"] == 2
    assert row["difference"] < 0


def test_plots_of_a_sweep(whole, lasthop):
    from lasthop import plot

    done = lasthop("plot", whole.folder, "-o", "pictures")
    assert "pictures/goodput.{png,svg,pdf}" in done.stdout
    axes = plot.across(whole, "goodput_kbps", key="link.radio.delay")
    assert axes.get_xlabel() == "link.radio.delay (ms)"
    assert axes.get_ylabel() == "goodput (kbit/s)"
    means = {
        (row["flow.download.transport.tcp.variant"], row["link.radio.delay"]): row["goodput_kbps"]
        for row in whole.means("flows")
        if row["flow"] == "download"
    }
    for container in axes.containers:
        flow, _, variant = container.get_label().partition(", ")
        if flow == "download":
            line = container.lines[0]
            assert line.get_xdata().tolist() == [20.0, 80.0]
            assert line.get_ydata().tolist() == [means[variant, delay].mean for delay in ("20 ms", "80 ms")]
    words = plot.across(whole, "rtt_ms_p50", key="flow.download.transport.tcp.variant")
    assert [tick.get_text() for tick in words.get_xticklabels()] == ["reno", "cubic"]
