"""Faults: whichever call to the system fails, there is a clear message, what was there is whole, and work goes on.

The commands run in forks of one process whose calls ``faults.c`` counts: those of Python, of Arrow and of the core.
First each is run without a fault, which says which calls there are; then once for each call and each way in which it
can fail.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import faulty_worker
import lasthop as lh
import pytest
from lasthop import files

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"), reason="needs Linux and a C compiler"
)

#: The letters of ``faults.c`` with the errors that the manual pages of the calls name.
FAILURES = {
    "o": [errno.ENOSPC, errno.EIO, errno.EMFILE],
    "O": [errno.EIO],
    "w": [errno.ENOSPC, errno.EIO],
    "i": [errno.EIO],
    "s": [errno.EIO, errno.ENOSPC],
    "c": [errno.EIO],
    "t": [errno.EIO],
    "k": [errno.ENOLCK],
    "m": [errno.ENOSPC],
    "r": [errno.EIO, errno.ENOSPC],
    "l": [errno.EPERM, errno.ENOSPC, errno.EIO],
    "u": [errno.EIO],
}

ONCE, FULL, SHORT = range(3)

#: Runs a command in a fork for each line that it reads: what to run, and which call has to fail.
SERVER = """
import ctypes, json, os, sys, traceback
import jinja2, numpy, pandas, pyarrow.csv, pyarrow.parquet
import lasthop.files, lasthop.report, lasthop.sweeps, lasthop.studies.bench
from lasthop.__main__ import main
import stub_study
lasthop.files.code()
stub_study.install()
shim = ctypes.CDLL(None)
shim.faults_disarm.restype = ctypes.c_char_p
for line in sys.stdin:
    task = json.loads(line)
    pid = os.fork()
    if pid == 0:
        said = os.open(task["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1), os.dup2(said, 2)
        sys.argv = ["lasthop", *task["words"]]
        shim.faults_arm(task["folder"].encode(), task["call"], task["error"], task["kind"])
        code = 99
        try:
            main()
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
        calls = shim.faults_disarm()
        with open(task["said"] + ".calls", "wb") as out:
            out.write(calls)
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@dataclass
class Ended:
    """How a command ended, what it said, and the calls that it made."""

    code: int
    said: str
    calls: str


class Server:
    """Runs commands, each with at most one fault."""

    def __init__(self, folder: Path) -> None:
        library = folder / "faults.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "faults.c", "-ldl"], check=True)
        places = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        self._said = folder / "said"
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            env={**os.environ, "LD_PRELOAD": str(library), "MPLBACKEND": "agg", "PYTHONPATH": places, "NO_COLOR": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: object, folder: Path, call: int = -1, error: int = 0, kind: int = ONCE) -> Ended:
        task = {"words": list(map(str, words)), "folder": str(folder), "call": call, "error": error, "kind": kind}
        print(json.dumps({**task, "said": str(self._said)}), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        return Ended(code, self._said.read_text(), self._said.with_name("said.calls").read_text())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("server"))
    yield made
    made.close()


SCENARIO = """
name = "small"
duration = "1 s"

[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "2 Mbit/s"
delay = "30 ms"
queue.droptail.limit = "20 kB"
loss.bernoulli.p = 0.02

[[flow]]
name = "download"
from = "server"
to = "mobile"

[record]
packets = true
"""


#: All faults and not only one of each kind at each place: minutes.
LONG = "LASTHOP_LONG" in os.environ


def faults(calls: str):
    """Every call with every way in which it can fail; and the disk that is full from a call on.

    Unless it may take long, of calls between the same others the first one only, with one of its errors in turn: of a
    hundred writes in a row the first two and the last.
    """
    seen, turns = set(), {letter: itertools.cycle(errors) for letter, errors in FAILURES.items()}
    for n, letter in enumerate(calls):
        place = calls[max(0, n - 1) : n + 2]
        if place in seen and not LONG:
            continue
        seen.add(place)
        for error in FAILURES[letter] if LONG else [next(turns[letter])]:
            yield {"call": n, "error": error}
        if letter in "wi":
            yield {"call": n, "kind": SHORT}
        if letter in "owml":
            yield {"call": n, "kind": FULL}


def said_clearly(ended: Ended, folder: Path, fault: object) -> None:
    """One line names the folder that the user asked for, or a file in it, and the code is that of a failure."""
    errors = [line for line in ended.said.splitlines() if line.startswith("error: ")]
    about = f"{fault}\nexit {ended.code}\n{ended.said}"
    assert ended.code == 1, about
    assert len(errors) == 1 and "Traceback" not in ended.said, about
    assert str(folder) in errors[0] and ".part" not in ended.said and "/." not in errors[0], about


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


def content(folder: Path) -> dict[str, bytes]:
    """Every file in a folder, but for what says when and how fast."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if "manifest.json" in found:
        manifest = json.loads(found["manifest.json"])
        found["manifest.json"] = json.dumps(
            {k: v for k, v in manifest.items() if k not in ("wall_s", "started")}
        ).encode()
    return {name: data for name, data in found.items() if name not in ("claims.json", "report.html")}


def each_fault(server, words, tmp_path, *, earlier=lambda _: None, check=lambda *_: None) -> int:
    """Has each call of a command fail once; the same command without a fault then gives what it gives undisturbed."""
    whole = tmp_path / "whole" / "out"
    earlier(whole)
    undisturbed = server(*words, "-o", whole, folder=whole)
    assert undisturbed.code == 0, undisturbed.said
    expected = content(whole)
    tried, failed = 0, []
    for fault in faults(undisturbed.calls):
        tried += 1
        out = tmp_path / "faults" / "out"
        shutil.rmtree(out.parent, ignore_errors=True)
        earlier(out)
        fault["in"] = undisturbed.calls[: fault["call"] + 1][-20:]
        ended = server(*words, "-o", out, folder=out, **{key: fault[key] for key in fault if key != "in"})
        try:
            if ended.code != 0:
                said_clearly(ended, out, fault)
            check(out, ended, fault)
            if ended.code != 0 or content(out) != expected:
                again = server(*words, "-o", out, folder=out)
                assert again.code == 0, f"{fault}\n{again.said}"
            assert content(out) == expected, fault
        except AssertionError as error:
            failed.append(str(error).split("\nassert")[0])
    print(tried, "faults in", undisturbed.calls)
    assert not failed, "\n".join([f"{len(failed)} of {tried}", *failed])
    return tried


def test_a_sweep(server, scenario, tmp_path):
    words = ["sweep", scenario, "--vary", "link.radio.delay=20 ms,80 ms", "--threads", 1, "-q"]
    assert each_fault(server, words, tmp_path) > 40


def test_a_run_leaves_the_earlier_result_or_none(server, scenario, tmp_path):
    before = {}

    def earlier(out):
        assert server("run", scenario, "--seed", 7, "-o", out, "-q", folder=out).code == 0
        before.update(content(out))

    def check(out, _, fault):
        from lasthop.results import Result

        try:
            result = Result.load(out)
        except ValueError:
            return
        seeds = {"earlier": 7, "new": 1}
        now = content(out)
        same = all(now[name] == data for name, data in before.items())
        assert result.seed == (seeds["earlier"] if same else seeds["new"]), fault
        if not same:
            assert result.flows.to_arrow().equals(expected.to_arrow()), fault

    import lasthop as lh

    expected = lh.run(scenario).flows
    assert each_fault(server, ["run", scenario, "-q"], tmp_path, earlier=earlier, check=check) > 20


def test_a_run_as_text(server, scenario, tmp_path):
    assert each_fault(server, ["run", scenario, "-q", "--format", "csv"], tmp_path) > 20


def test_a_capture(server, scenario, tmp_path):
    """It is there whole, or what was there before is."""
    folder = tmp_path / "captures"
    folder.mkdir()
    capture = folder / "capture.pcapng"
    words = ["run", scenario, "-q", "--force", "--pcap", capture]
    calls = server(*words, folder=folder).calls
    expected = capture.read_bytes()
    assert "w" in calls
    for fault in faults(calls):
        capture.write_bytes(b"earlier")
        ended = server(*words, folder=folder, **fault)
        assert capture.read_bytes() == (b"earlier" if ended.code else expected), fault
        if ended.code:
            said_clearly(ended, capture, fault)
            # In the system's words.
            assert os.strerror(fault.get("error", errno.ENOSPC)) in ended.said, f"{fault}\n{ended.said}"


def test_a_study(server, tmp_path):
    assert each_fault(server, ["reproduce", "stub", "--threads", 1, "-q"], tmp_path) > 40


# Processes that die at any instant

#: Sweeps both shards of a sweep at once in forks, and puts them together in a third, for each line that it reads.
SHARDS = """
import json, os, sys, signal, time
import lasthop as lh, numpy, pyarrow.csv, pyarrow.parquet
import lasthop.sweeps.summary
lasthop.files.code()
for line in sys.stdin:
    scenario, folder, after = json.loads(line)
    children = []
    for part in range(2):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                lh.sweep(scenario, vary={vary!r}, seeds={seeds}, folder=folder, threads=1, shard=(part, 2))
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    began = time.monotonic()
    for pid, seconds in zip(children, after):
        if seconds is not None:
            time.sleep(max(0.0, began + seconds - time.monotonic()))
            os.kill(pid, signal.SIGKILL)
    ended = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    if ended == [0, 0]:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                lh.sweep(scenario, vary={vary!r}, seeds={seeds}, folder=folder, threads=1)
                code = 0
            finally:
                os._exit(code)
        if len(after) > 2:
            time.sleep(after[2])
            os.kill(pid, signal.SIGKILL)
        ended.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(json.dumps([ended, time.monotonic() - began]), flush=True)
"""

VARY = {"link.radio.delay": ["20 ms", "80 ms"]}

#: How many processes are killed.
KILLS = 1000 if LONG else 10


def test_two_shards_killed_at_random_give_the_same_bytes(scenario, tmp_path):
    chance = random.Random(19)
    program = SHARDS.replace("{vary!r}", repr(VARY)).replace("{seeds}", "20")
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:

        def sweep(folder, after):
            print(json.dumps([str(scenario), str(folder), after]), file=parent.stdin, flush=True)
            ended, took = json.loads(parent.stdout.readline())
            assert all(code in (0, -signal.SIGKILL) for code in ended), ended
            return ended, took

        whole = tmp_path / "whole"
        _, took = sweep(whole, [None, None])
        expected = content(whole)
        kills = sweeps = 0
        while kills < KILLS:
            folder, ended = tmp_path / "killed", []
            while ended != [0, 0, 0]:
                more = kills < KILLS
                after = sorted(chance.uniform(0, took) for _ in range(3)) if more else [None, None]
                ended, _ = sweep(folder, after)
                kills += sum(code != 0 for code in ended)
            assert content(folder) == expected
            shutil.rmtree(folder)
            sweeps += 1
        parent.stdin.close()
    print(kills, "processes killed in", sweeps, "sweeps")


# Workers of a cluster


@pytest.fixture
def cluster():
    """The address of a scheduler with two workers, who are given up when they have said nothing for three seconds."""
    distributed = pytest.importorskip("distributed", reason="distributed (Dask) is not installed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "3 s", "distributed.scheduler.allowed-failures": 2}),
        pytest.MonkeyPatch.context() as patch,
    ):
        # Where workers find what is wrong with them.
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, protocol="tcp", host="127.0.0.1", dashboard_address=None
        ) as made:
            yield made


@pytest.mark.parametrize(
    ("how", "says"),
    [
        (faulty_worker.dies, "a worker failed, with KilledWorker"),
        (faulty_worker.raises, "a worker failed, with MemoryError: out of memory"),
    ],
)
def test_a_run_that_its_worker_does_not_survive(cluster, scenario, tmp_path, monkeypatch, how, says):
    """What is finished stays; without the fault the sweep goes on to the same bytes."""
    from lasthop import sweeps
    from lasthop.sweeps.cluster import cluster as joined

    whole = lh.sweep(scenario, vary=VARY, seeds=4, folder=tmp_path / "whole", threads=1)
    monkeypatch.setattr(sweeps, "perform", how)
    with pytest.raises(lh.RunError, match=says), joined(cluster.scheduler_address) as (executor, _):
        lh.sweep(scenario, vary=VARY, seeds=4, folder=tmp_path / "out", executor=executor)
    monkeypatch.undo()
    cluster.wait_for_workers(2, timeout=60)
    with joined(cluster.scheduler_address) as (executor, _):
        lh.sweep(scenario, vary=VARY, seeds=4, folder=tmp_path / "out", executor=executor)
    assert content(tmp_path / "out") == content(whole.folder)


def test_a_worker_that_hangs_is_given_up(cluster, scenario, tmp_path):
    from lasthop.sweeps.cluster import cluster as joined

    whole = lh.sweep(scenario, vary=VARY, seeds=40, folder=tmp_path / "whole", threads=1)
    with joined(cluster.scheduler_address) as (executor, _):
        pid = next(iter(executor._client.run(os.getpid).values()))
        stopped = []

        def stop(share):
            if share > 0.1 and not stopped:
                os.kill(pid, signal.SIGSTOP)
                stopped.append(share)

        try:
            lh.sweep(scenario, vary=VARY, seeds=40, folder=tmp_path / "out", executor=executor, progress=stop)
        finally:
            # Unless the cluster has done so.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert stopped and content(tmp_path / "out") == content(whole.folder)


# Two processes, one folder

#: Holds a folder as a command does that works there, until it is killed.
HOLDS = """
import sys, time, pathlib
from lasthop import files
with files.claimed(pathlib.Path(sys.argv[1]), made_by=sys.argv[2]):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder():
    """Lets another process hold a folder."""
    started = []

    def hold(folder, made_by):
        child = subprocess.Popen([sys.executable, "-c", HOLDS, folder, made_by], stdout=subprocess.PIPE, text=True)
        started.append(child)
        assert child.stdout.readline() == "held\n"
        return child

    yield hold
    for child in started:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("command", ["run", "sweep", "reproduce"])
def test_a_folder_in_use_is_refused_until_its_holder_is_gone(lasthop, scenario, holder, command):
    words = {
        "run": ["run", scenario],
        "sweep": ["sweep", scenario, "--vary=link.radio.delay=20ms"],
        "reproduce": ["reproduce", "handover"],
    }
    out = lasthop.folder / "out"
    other = holder(out, f"lasthop {command}")
    for more in ([], ["--force"]):
        said = lasthop(*words[command], "-o", out, "-q", *more, code=2).stderr
        assert said.startswith(f"error: {out} is in use by process {other.pid} ("), said
    assert list(out.iterdir()) == []
    other.kill()
    other.wait()
    if command != "reproduce":
        lasthop(*words[command], "-o", out, "-q")


@pytest.mark.parametrize(
    "words", [["run"], ["sweep", "--vary=link.radio.delay=20ms,80ms", "--seeds=20"]], ids=["run", "sweep"]
)
def test_of_two_at_once_one_works(lasthop, scenario, words):
    scenario.write_text(SCENARIO.replace('"1 s"', '"20 s"'))
    words = [words[0], scenario, *words[1:], "-q", "-o", "out"]
    children = [lasthop.start(*words) for _ in range(3)]
    said = [child.communicate(timeout=120)[1] for child in children]
    codes = [child.returncode for child in children]
    assert codes.count(0) >= 1 and set(codes) <= {0, 2}, said
    assert all("is in use by" in one for one, code in zip(said, codes, strict=True) if code == 2)
    # Who came after the first had ended found its work done, or did it again.
    assert codes.count(2) >= 1, said
    lasthop(*words)


def test_a_child_does_not_hold_what_its_parent_held(tmp_path):
    program = (
        "import os, sys, time; from pathlib import Path; from lasthop import files\n"
        "with files.claimed(Path(sys.argv[1]), made_by='lasthop run'):\n"
        "    if os.fork() == 0: print('forked', flush=True); time.sleep(30)\n"
        "    else: time.sleep(30)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "out"], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout.readline() == "forked\n"
        child = int(subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(parent.pid)], text=True))
        parent.kill()
        parent.wait()
        with files.claimed(tmp_path / "out", made_by="lasthop run"):
            os.kill(child, signal.SIGKILL)


def test_claims_within_claims(tmp_path):
    with files.claimed(tmp_path, made_by="lasthop run"):
        with files.claimed(tmp_path, made_by="lasthop run"):
            pass
        program = (
            "import pathlib, sys; from lasthop import files\n"
            "with files.claimed(pathlib.Path(sys.argv[1]), made_by=''): pass"
        )
        other = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True)
        assert f"is in use by process {os.getpid()}" in other.stderr
    with (
        files.claimed(tmp_path, made_by="", shared=True),
        files.claimed(tmp_path, made_by="", shared=True),
        pytest.raises(files.OutputRefused, match="in use"),
        files.claimed(tmp_path, made_by=""),
    ):
        pass


def in_a_thread(work):
    """What is refused to a thread; `None` if nothing is."""
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(work).exception()
    assert error is None or isinstance(error, files.OutputRefused), error
    return error and str(error)


def test_a_folder_is_one_threads_of_a_process(tmp_path):
    def claim(**how):
        with files.claimed(tmp_path, made_by="lasthop run", **how):
            pass

    with files.claimed(tmp_path, made_by="lasthop run"):
        claim()
        for how in ({}, {"shared": True}, {"force": True}):
            assert f"{tmp_path} is in use by this program: wait for it" in in_a_thread(partial(claim, **how))
    assert in_a_thread(claim) is None
    with files.claimed(tmp_path, made_by="lasthop run", shared=True):
        assert in_a_thread(partial(claim, shared=True)) is None
        assert "in use by this program" in in_a_thread(claim)


def test_a_shard_is_one_threads_of_a_process(tmp_path):
    asked = {"vary": VARY, "seeds": 2, "folder": tmp_path / "out", "threads": 1}

    def tell(share):
        if share == 0:
            assert "shard 0/2 is at work" in in_a_thread(lambda: lh.sweep(SCENARIO, shard=(0, 2), **asked))
            assert in_a_thread(lambda: lh.sweep(SCENARIO, shard=(1, 2), **asked)) is None

    lh.sweep(SCENARIO, shard=(0, 2), progress=tell, **asked)
    assert lh.sweep(SCENARIO, **asked).finished == 4


def test_two_threads_write_two_drafts_of_a_file(tmp_path):
    path = tmp_path / "table.csv"

    def write():
        with files.whole(path) as draft:
            draft.write_text("theirs")
            return draft

    with files.whole(path) as draft:
        draft.write_text("mine")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(write).result() != draft
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]


def test_a_record_that_is_no_longer_where_it_was_is_named(tmp_path):
    from lasthop.sweeps import journal

    lh.sweep(SCENARIO, vary=VARY, seeds=2, folder=tmp_path, shard=(0, 1))
    path = tmp_path / "runs" / "0-of-1.journal"
    with journal.at_work(tmp_path, 4, journal.ALL, files.manifest(tmp_path)["plan"]) as journals:
        data = path.read_bytes()
        for changed in (data[1:], data[:10], b"", data[data.index(b"lasthop2", 1) :]):
            path.write_bytes(changed)
            with pytest.raises(lh.RunError, match=r"0-of-1\.journal was changed meanwhile: the record of run"):
                list(journals.read())
        path.write_bytes(data)
        assert len(list(journals.read())) == 4


def test_the_disk_is_asked_by_handles_that_may_write(tmp_path, monkeypatch):
    """Windows flushes only such files; a folder cannot be opened so."""
    flags, system = [], os.open
    monkeypatch.setattr(os, "open", lambda path, flag: flags.append(flag) or system(path, flag))
    (tmp_path / "file").write_text("text")
    files.settle(tmp_path / "file")
    files.settle(tmp_path)
    assert flags == [os.O_RDWR, os.O_RDONLY]
    assert (tmp_path / "file").read_text() == "text"
