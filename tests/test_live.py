"""Live runs as a user has them: the command, the package, the view, the page, the how-tos.

Where the system lets nobody make network namespaces they are skipped and say why; they fail instead if
`LASTHOP_NEEDS_LIVE` is set.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import lasthop as lh
import pytest
from conftest import LINK, ROOT
from conftest import live_command as command

EXAMPLES = ROOT / "examples" / "live"

#: 300 datagrams of 1,000 B in one go: the queue of 30 kB drops most of them.
BURST = """
import socket, time
time.sleep(0.3)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(300):
    s.sendto(bytes(972), ("server", 7000))
time.sleep(0.5)
"""


SEND_FIVE = """
import socket, time
time.sleep(1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(5):
    s.sendto(bytes(1472), ("phone", 7000))
time.sleep(9)
"""

#: The times between datagrams, in ms, by the kernel's stamps (SO_TIMESTAMPNS).
RECEIVE_FIVE = """
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7000))
s.settimeout(5)
s.setsockopt(socket.SOL_SOCKET, 35, 1)
stamps = [struct.unpack("qq", s.recvmsg(2000, 100)[1][0][2]) for _ in range(5)]
at = [1e3 * seconds + 1e-6 * nanos for seconds, nanos in stamps]
print(*(b - a for a, b in zip(at, at[1:])))
"""

#: ECN, the MTU (SIOCGIFMTU of netdevice(7)) and the server's address, as a program at a host sees them.
SETTINGS = """
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mtu, = struct.unpack("16xi", fcntl.ioctl(s, 0x8921, struct.pack("16s8x", b"live0"))[:20])
print(open("/proc/sys/net/ipv4/tcp_ecn").read().strip(), mtu, socket.gethostbyname("server"))
"""


def test_the_exit_code_is_the_programs_and_the_last_line_a_verdict(link):
    done = command(link, "--host", "server", "phone", "--", "sh", "-c", "echo $LASTHOP_HOST; exit 7")
    assert (done.returncode, done.stdout) == (7, "phone\n")
    assert re.fullmatch(r"sound|LATE: .*", done.stderr.strip().splitlines()[-1])


def test_a_recording_runs_again_to_the_same_tables_and_the_same_capture(link):
    words = ["-o", "out", "--pcap", "live.pcapng", "--host", "server", "phone", "--", sys.executable, "-c", BURST]
    done = command(link, *words)
    assert done.returncode == 0, done.stderr
    again = command("--replay", "out", "-o", "again", "--pcap", "again.pcapng")
    assert again.returncode == 0, again.stderr
    # What it says was written was.
    written = re.findall(r"^wrote (.*)", again.stderr, re.MULTILINE)
    assert "again/manifest.json" in written
    assert not any("packets" in one or "live.json" in one for one in written)
    assert Path("live.pcapng").read_bytes() == Path("again.pcapng").read_bytes()
    first, second = lh.Result.load("out"), lh.Result.load("again")
    assert set(first.tables) == {*second.tables, "live"}
    for name, table in second.tables.items():
        assert first.tables[name] == table, name
    # Each datagram came or is in the capture as a drop: nothing else was sent by UDP.
    (flow,) = [row for row in first.real_flows if row["protocol"] == 17]
    assert flow["sent_packets"] == 300 == flow["delivered_packets"] + flow["dropped_packets"]
    assert flow["dropped_packets"] > 200
    text = b"dropped: overflow at radio phone>server"
    assert Path("live.pcapng").read_bytes().count(text) == flow["dropped_packets"]
    assert [row["flow"] for row in first.drops] == [flow["flow"]]
    # The page that replays a run takes a recording too.
    view = subprocess.run(
        [sys.executable, "-m", "lasthop", "view", "out"], capture_output=True, text=True, check=False, timeout=60
    )
    assert view.returncode == 0, view.stderr
    page = Path("out/view.html").read_text()
    assert "Replay of link" in page
    assert flow["flow"] in page


def test_a_scenario_names_its_hosts_their_programs_and_their_kernels(link):
    link.write_text(
        LINK
        + """
        [live]
        late = "1 s"
        [[live.host]]
        node = "server"
        address = "10.1.2.3"
        run = ["sleep", "60"]
        [[live.host]]
        node = "phone"
        mtu = 1400
        congestion = "reno"
        sysctl = { "net.ipv4.tcp_ecn" = "1" }
        """
    )
    done = command(link, "-o", "out", "phone", "--", sys.executable, "-c", SETTINGS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1400", "10.1.2.3"]
    row = lh.Result.load("out").live.rows()[0]
    assert row["congestion_control"].endswith("phone reno")
    assert row["verdict"] == "sound"
    other = command(link.with_name("x.toml"), "phone", "--", "true")
    assert other.returncode == 2


def test_a_kernel_that_has_not_the_congestion_control_says_which_it_has(link):
    link.write_text(LINK + '[[live.host]]\nnode = "server"\ncongestion = "nonesuch"\n')
    done = command(link, "phone", "--", "true")
    assert done.returncode == 2
    assert re.search(
        r'host "server" cannot be made: this kernel has no congestion control "nonesuch"; it has .*reno', done.stderr
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "a scenario is needed, or --trace FILE"),
        (["-", "phone", "--", "true"], "a live run needs a file: standard input is COMMAND's"),
        (["link.toml"], "nothing is to run: give NODE -- COMMAND, --shell NODE or --run NODE=COMMAND"),
        (["link.toml", "phone"], "what is to run at 'phone'? write: phone -- COMMAND"),
        (["link.toml", "phnoe", "--", "true"], 'there is no node "phnoe"; did you mean "phone"?'),
        (["link.toml", "--for", "soon", "phone", "--", "true"], '--for: "soon" is not a duration'),
        (["--trace", "down.trace", "link.toml", "phone"], "--trace stands in place of SCENARIO: leave out link.toml"),
        (["--replay", "nowhere", "--seed", "5"], "--replay repeats the run as it was: leave out --seed"),
        (["--replay", "nowhere", "--web", "0"], "--replay repeats the run as it was: leave out --web"),
        (["--replay", "nowhere", "-o", "./nowhere"], "nowhere is the recording itself: choose another folder with -o"),
        (["link.toml", "--run", "server", "phone", "--", "true"], "--run needs NODE=COMMAND, not 'server'"),
        (["link.toml", "--shell", "phone", "phone", "--", "true"], "either NODE -- COMMAND or --shell NODE"),
        (
            ["link.toml", "--uplink", "x", "phone", "--", "true"],
            "--uplink goes with --trace; a scenario says it itself",
        ),
        (["link.toml", "--attach", "phone", "phone", "--", "true"], "--attach needs NODE=NETNS, not 'phone'"),
        (["link.toml", "--view", "phone", "--", "true"], "--view draws in a terminal, and this is none: use --web"),
        (["--replay", "nowhere"], "nowhere/live.json: No such file or directory"),
        (["--trace", "nowhere", "--", "true"], "nowhere cannot be read: No such file or directory"),
        (["--trace", "latin1.trace", "--", "true"], "latin1.trace is no text: it is not UTF-8"),
        (["--trace", "/dev/zero", "--", "true"], "/dev/zero is larger than 1024 MB"),
        (["--trace", "ns2.toml", "--", "true"], 'line 1 of the trace: "profile = "ns2"" is no whole number'),
        (["ns2.toml", "phone", "--", "true"], 'profile "ns2" counts packets and cannot carry real ones'),
        (
            ["ewa.toml", "phone", "--", "true"],
            "`ewa` changes TCP windows, which the bridge does not write into real packets",
        ),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the first thing said is that it needs Linux")
def test_what_cannot_run_is_said_before_anything_is_made(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link.toml").write_text(LINK)
    Path("latin1.trace").write_bytes(b"\xb5\n")
    Path("ns2.toml").write_text('profile = "ns2"\n' + LINK)
    Path("ewa.toml").write_text(LINK.replace('queue.droptail.limit = "30 kB"', 'queue = "ewa"'))
    done = command(*words)
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ('node = "nowhere"', 'there is no node "nowhere"'),
        ('node = "phone"\nmtu = 100', "an MTU of 100 bytes"),
        ('node = "phone"\naddress = "224.0.0.1"', "224.0.0.1 is no address of a host"),
        ('node = "phone"\ncongestion = "a b"', '"a b" is no name of a congestion control'),
        ('node = "phone"\nsysctl = { "kernel.x" = "1" }', '"kernel.x" is no setting of a network'),
        ('node = "phone"\nsysctl = { "net.ipv4.." = "1" }', '"net.ipv4.." is no setting of a network'),
        ('node = "phone"\nrun = [""]', "no program"),
        ('node = "phone"\n[[live.host]]\nnode = "phone"', 'host "phone" is there twice'),
        (
            'node = "phone"\naddress = "10.0.0.1"\n[[live.host]]\nnode = "server"\naddress = "10.0.0.1"',
            'hosts "phone" and "server" both have 10.0.0.1',
        ),
    ],
)
def test_hosts_that_cannot_be_are_errors_of_the_scenario(host, says):
    with pytest.raises(lh.ScenarioError, match=re.escape(says)):
        lh.load(LINK + "[[live.host]]\n" + host)


@pytest.mark.parametrize(
    ("group", "says"),
    [
        ('tw = "239.1.1.1"', 'there is no group "tw"'),
        ('tv = "10.0.0.1"', "10.0.0.1 is no multicast address"),
    ],
)
def test_addresses_of_groups_are_those_of_multicast(group, says):
    tv = '[[group]]\nname = "tv"\nmembers = ["phone"]\n'
    with pytest.raises(lh.ScenarioError, match=re.escape(says)):
        lh.load(LINK + tv + "[live.group]\n" + group)


def test_options_are_words_of_the_scenario():
    from lasthop.live_runs.hosts import with_hosts

    made = with_hosts(lh.load(LINK), late="3 ms", memory="1 MB", offload=True)
    assert made.to_dict()["live"] == {"late": "3 ms", "memory": "1 MB", "offload": True}
    assert "live" not in with_hosts(lh.load(LINK)).to_dict()


def test_a_run_does_not_look_at_live():
    plain, live = lh.load(LINK), lh.load(LINK + '[live]\nlate = "3 ms"\n[[live.host]]\nnode = "phone"')
    assert lh.run(plain.with_(duration="1 s")).links == lh.run(live.with_(duration="1 s")).links


@pytest.mark.usefixtures("link")
def test_two_traces_are_a_link_in_one_line():
    Path("down.trace").write_text("".join(f"{ms}\n" for ms in range(10, 1001, 10)))
    Path("up.trace").write_text("1\n")
    words = [
        "--trace",
        "down.trace",
        "--uplink",
        "up.trace",
        "--delay",
        "5ms",
        "--queue",
        "codel",
        "-o",
        "out",
        "--force",
    ]
    Path("send.py").write_text(SEND_FIVE)
    Path("receive.py").write_text(RECEIVE_FIVE)
    done = command(*words, "--run", f"server={sys.executable} send.py", "--", sys.executable, "receive.py")
    assert done.returncode == 0, done.stderr
    gaps = [float(gap) for gap in done.stdout.split()]
    # A datagram of 1,504 bytes takes a whole opportunity, and there is one each 10 ms.
    assert len(gaps) == 4
    assert sum(gaps) == pytest.approx(40, abs=5)
    scenario = json.loads(lh.Result.load("out").scenario_text)
    assert scenario["link"][0]["queue"] == "codel"


def test_programs_start_and_end_from_python(link):
    with lh.live(link, hosts=["server", "phone"], out="out") as run:
        server = run.start("server", ["python3", str(EXAMPLES / "server.py")], stderr=subprocess.PIPE)
        assert server.poll() is None
        got = run.run("phone", ["python3", str(EXAMPLES / "client.py"), "http://server:8000/50000"], check=True)
        assert got.stdout == "50000 bytes\n"
        assert run.run("phone", "exit 3").returncode == 3
        assert run.run("phone", "echo $WORD; pwd", env={"WORD": "x"}, cwd="/").stdout == "x\n/\n"
        with pytest.raises(subprocess.CalledProcessError):
            run.run("phone", ["false"], check=True)
        with pytest.raises(FileNotFoundError):
            run.start("phone", ["/there/is/none"])
        with pytest.raises(subprocess.TimeoutExpired):
            run.run("phone", ["sleep", "60"], timeout=0.2)
        with pytest.raises(KeyError, match="the hosts are server, phone"):
            run.start("tablet", "true")
        server.terminate()
        assert server.wait(timeout=10) == -15
        assert "GET /50000" in server.stderr.read()
        # It ends with the run, whoever forgets it.
        run.start("phone", ["sleep", "600"])
    assert re.match("sound|LATE", run.verdict)
    assert run.result.hosts["delivered_bytes"].min() > 0
    assert lh.Result.load("out").seed == 1


def test_a_host_may_answer_before_the_request_is_done(link, monkeypatch):
    """A program that cannot start is told so at once, and the host closes the connection."""
    send = socket.send_fds

    def slowly(*arguments):
        sent = send(*arguments)
        time.sleep(0.5)
        return sent

    monkeypatch.setattr(socket, "send_fds", slowly)
    with lh.live(link, hosts=["phone"]) as run:
        with pytest.raises(FileNotFoundError):
            run.start("phone", ["/there/is/none"])
        assert run.run("phone", "exit 3").returncode == 3


def test_what_cannot_run_is_an_error_in_python(link):
    with pytest.raises(lh.RunError, match='there is no node "moon"'), lh.live(link, hosts=["moon"]):
        pass


def test_the_page_shows_what_is_going_on(link):
    words = [sys.executable, "-m", "lasthop", "live", str(link), "--web", "0", "--host", "server", "phone", "--"]
    sender = BURST.replace("time.sleep(0.5)", "time.sleep(2.5)")
    process = subprocess.Popen([*words, sys.executable, "-c", sender], stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())[0]
        page = _get(address)
        assert "link.toml" not in page
        assert "Live run of" in page
        # A page elsewhere cannot read it by a name of its own, and nothing else is served.
        for url, headers, code in [(address, {"Host": "evil.example"}, 403), (address + "etc", {}, 404)]:
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10)
            assert refused.value.code == code
        with urllib.request.urlopen(address + "snapshots", timeout=20) as stream:
            lines = stream.read().decode().splitlines()
        snapshots = [json.loads(line[6:]) for line in lines if line.startswith('data: {"at_s')]
        assert lines[-3:-1] == ["event: over", "data: {}"]
        assert len(snapshots) >= 2
        (way,) = [way for way in snapshots[-1]["ways"] if way["way"] == "radio phone>server"]
        assert way["all_drops"]["overflow"] > 200
        assert {host["host"] for host in snapshots[-1]["hosts"]} == {"server", "phone"}
    finally:
        process.terminate()
        process.wait()


def _get(address):
    for _ in range(100):
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError("no page")


def test_the_terminal_shows_queues_drops_lateness_and_what_programs_print():
    from lasthop.live_runs.view import picture
    from rich.console import Console

    way = {
        "way": "radio a>b",
        "rate_kbps": 98765.4,
        "queue_packets": 12,
        "queue_bytes": 18000,
        "queue_ms": 14.6,
        "marks": 3,
    }
    host = {
        "host": "phone",
        "sent_kbps": 12.3,
        "delivered_kbps": 9800.0,
        "lateness_ms_p50": 0.05,
        "lateness_ms_p99": 0.2,
    }
    snapshot = {
        "at_s": 61.0,
        "behind_ms": 4.2,
        "cpu_pct": 37.2,
        "hosts": [{**host, "late_packets": 2}],
        "ways": [{**way, "drops": {"overflow": 1}, "all_drops": {"overflow": 4321}}],
        "served": [["cell.ue[0] down", "HS-DSCH"]],
    }
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(picture("cell", snapshot, ["hello"]))
    said = console.export_text()
    assert "cell · 61 s · processor 37 % of a core · 4.2 ms behind" in said
    assert re.search(r"radio a>b +98 765 +12 +15 +3 +4321 overflow", said)
    assert re.search(r"phone +12 +9 800 +0\.05\S* / 0\.2\S* +2", said)
    assert "served by  cell.ue[0] down: HS-DSCH" in said
    assert said.rstrip().endswith("hello")


@pytest.mark.usefixtures("possible")
def test_the_how_to_of_continuous_integration_runs(tmp_path):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", str(EXAMPLES / "test_app.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.usefixtures("possible")
def test_the_how_to_of_two_builds_runs(tmp_path):
    builds = ["python3 server.py", "python3 server.py --congestion reno"]
    words = [sys.executable, str(EXAMPLES / "two_builds.py"), *builds, "--handovers", "2", "--size", "100000"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^ +\d+ ms +\d+\.\d\d s +\d+\.\d\d s$", done.stdout, re.MULTILINE)) == 2
    assert re.search(r"the second takes .* s longer", done.stdout)


def test_an_endpoint_sends_a_file_by_tfrc_over_real_sockets(tmp_path):
    content = bytes(n * 7 % 256 for n in range(300_000))
    (tmp_path / "original").write_bytes(content)
    words = [sys.executable, "-m", "lasthop", "endpoint", "tfrc"]
    port = _free_port()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path}
    with subprocess.Popen([*words, "receive", "--port", str(port), "--out", "copy"], **pipes) as receiver:
        time.sleep(1)
        send = [*words, "send", "--to", f"127.0.0.1:{port}", "--file", "original", "--receivers", "1", "-o", "sent"]
        sent = subprocess.run(send, **pipes, timeout=60, check=False)
        assert sent.returncode == 0, sent.stderr
        assert "1 of 1 receivers have it" in sent.stdout
        assert receiver.wait(timeout=30) == 0
    assert (tmp_path / "copy").read_bytes() == content
    assert "sent_bytes" in (tmp_path / "sent" / "flows.csv").read_text()


def test_an_interrupted_endpoint_ends_in_order(tmp_path):
    words = [sys.executable, "-m", "lasthop", "endpoint", "tfrc", "receive", "--port", str(_free_port()), "-o", "got"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    said, complaints = process.communicate(timeout=20)
    assert process.returncode == 0, complaints
    assert "received 0 datagrams" in said
    assert (tmp_path / "got").is_dir()


def test_an_endpoint_that_waits_for_its_file_can_be_interrupted(tmp_path):
    os.mkfifo(tmp_path / "original")
    words = [sys.executable, "-m", "lasthop", "endpoint", "tfrc", "send", "--to", "127.0.0.1:9", "--file", "original"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        maps = Path(f"/proc/{process.pid}/maps")
        while process.poll() is None and "_core" not in maps.read_text():
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=20) == -signal.SIGINT, process.stderr.read()
        finally:
            process.kill()


def test_an_endpoint_says_what_is_wrong():
    done = subprocess.run(
        [sys.executable, "-m", "lasthop", "endpoint", "tfrc", "send"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    helped = subprocess.run(
        [sys.executable, "-m", "lasthop", "endpoint", "--help"], capture_output=True, text=True, check=False
    )
    assert helped.returncode == 0
    assert helped.stdout.startswith("usage: lasthop endpoint tfrc send")


def _free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
