"""How live runs end, and what they say and leave behind then."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lasthop as lh
import pytest
from conftest import live_command
from lasthop import files

#: A run from Python with a program that a search finds by a word.
LONG = """
import sys, time, lasthop
with lasthop.live("link.toml", hosts=["server", "phone"]) as run:
    run.start("phone", ["sh", "-c", "sleep 600; : " + sys.argv[1]])
    print("up", flush=True)
    time.sleep(600)
"""

#: The name and the MTU of a host (SIOCGIFMTU of netdevice(7)), as a program there sees them.
MTU = """
import fcntl, os, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mtu, = struct.unpack("16xi", fcntl.ioctl(s, 0x8921, struct.pack("16s8x", b"live0"))[:20])
print(os.environ["LASTHOP_HOST"], mtu)
"""


def _processes(word):
    """The processes whose command line has this word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def _gone(word):
    """Whether there are no such processes before long."""
    until = time.monotonic() + 20
    while _processes(word):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.usefixtures("link")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_live_run_ends_with_the_python_that_began_it(how, tmp_path):
    word = f"marker-{os.getpid()}-{how}"
    # Its temporary folder is in this one, whose name the command lines of the run have.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-c", LONG, word]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout.readline() == "up\n"
            assert len(_processes(f"{tmp_path}/lasthop-")) >= 4, "outer and inner process, two hosts"
        finally:
            process.send_signal(how)
    assert _gone(word)
    assert _gone(f"{tmp_path}/lasthop-")


def test_what_a_failed_run_says_is_its_cause_alone(link, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(lh.RunError) as failed, lh.live(link, hosts=["server", "phone"]):
        os.kill(min(_processes(f"{tmp_path}/lasthop-")), signal.SIGKILL)
    assert str(failed.value) == "the live run ended"


def _child(process):
    """The inner process of a run, as soon as there is one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        if found := children.read_text().split():
            return int(found[0])
        time.sleep(0.001)
    raise AssertionError("the run ended")


def _started(*words, **options):
    words = [sys.executable, "-m", "lasthop", "live", *words]
    return subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)


@pytest.mark.usefixtures("link")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_start_is_not_lost(how):
    # The inner process imports its modules then, and hears no signals yet.
    with _started("link.toml", "--for", "60 s", "--run", "server=sleep 60") as process:
        _child(process)
        process.send_signal(how)
        try:
            said = process.communicate(timeout=30)[1]
        finally:
            process.kill()
    assert process.returncode == 0, said


@pytest.mark.usefixtures("link")
def test_a_command_that_a_signal_ended_did_not_succeed():
    for script, code in [
        ("sleep 60; echo done", 143),
        ("trap 'exit 5' TERM; while true; do sleep .1; done", 5),
        ("trap '' TERM; while true; do sleep .1; done", 130),
    ]:
        Path("up").unlink(missing_ok=True)
        with _started("link.toml", "phone", "--", "sh", "-c", f"touch up; {script}") as process:
            while not Path("up").exists():
                assert process.poll() is None
                time.sleep(0.05)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=30)
        assert (process.returncode, said[0]) == (code, ""), said


@pytest.mark.usefixtures("link")
def test_standard_input_is_the_commands_alone():
    words = ["link.toml", "--run", "server=cat > server.in", "phone", "--", "sh", "-c", "sleep 0.5; cat"]
    with _started(*words, stdin=subprocess.PIPE) as process:
        said = process.communicate("line\n" * 20000, timeout=60)
    assert said[0].count("\n") == 20000, said[1]
    assert Path("server.in").read_bytes() == b""


def test_what_no_program_can_be_is_said(link, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with lh.live(link, hosts=["server", "phone"]) as run:
        for command, options, what in [
            (["true"], {"env": {"A": None}}, "not NoneType"),
            ([], {}, "index"),
            (["echo", "a\0b"], {}, "null byte"),
        ]:
            with pytest.raises(ValueError, match=what):
                run.start("phone", command, **options)
        with pytest.raises(FileNotFoundError, match="/no/such/folder"):
            run.run("phone", ["true"], cwd="/no/such/folder")
        with pytest.raises(FileNotFoundError, match="/no/such/program"):
            run.run("phone", ["/no/such/program"])
        # Bytes that are no UTF-8.
        assert run.run("phone", r"printf 'a\377b'").stdout == r"a\xffb"
        process = run.start("phone", r"printf 'a\377b'", stdout=subprocess.PIPE)
        assert process.stdout.read() == r"a\xffb"
    with pytest.raises(lh.RunError, match="the live run has ended"):
        run.run("phone", "true")
    with pytest.raises(lh.RunError), lh.live(link, hosts=["phone"]) as run:
        os.kill(min(_processes(f"{tmp_path}/lasthop-")), signal.SIGKILL)
        assert _gone(f"{tmp_path}/lasthop-")
        with pytest.raises(lh.RunError, match="the live run has ended"):
            run.run("phone", "true")


def test_hosts_of_python_are_those_of_the_command_line(link):
    with pytest.raises(lh.RunError, match="there are no hosts: name nodes"), lh.live(link):
        pass
    with pytest.raises(lh.RunError, match="there are no hosts: name nodes"), lh.live(link, hosts=[]):
        pass
    cell = '[[cell]]\nname = "cell"\nrnc = "server"\nues = 3\n'
    link.write_text(cell + '[[live.host]]\nnode = "cell.ue[*]"\nmtu = 1400\n')
    with lh.live(link, hosts=["server", "cell.ue[1:]"]) as run:
        assert run.hosts == ["server", "cell.ue[1]", "cell.ue[2]"]
        said = [run.run(host, [sys.executable, "-c", MTU]).stdout.split() for host in run.hosts]
    assert said == [["server", "1500"], ["cell.ue[1]", "1400"], ["cell.ue[2]", "1400"]]
    with lh.live(link) as run:
        assert run.hosts == [f"cell.ue[{n}]" for n in range(3)]


def test_programs_of_the_scenario_run_beside_those_of_python(link):
    link.write_text(link.read_text() + '[[live.host]]\nnode = "server"\nrun = ["sh", "-c", "touch up; sleep 60"]\n')
    for hosts in (None, ["phone"]):
        Path("up").unlink(missing_ok=True)
        with lh.live(link, hosts=hosts) as run:
            assert "server" in run.hosts
            until = time.monotonic() + 10
            while not Path("up").exists():
                assert time.monotonic() < until
                time.sleep(0.05)


#: Datagrams to the server for nine seconds.
CHATTER = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(9000):
    s.sendto(bytes(900), ("server", 7000))
    time.sleep(0.001)
"""


def test_a_full_disk_ends_the_run_and_leaves_its_tables(link):
    words = ["--host", "server", "--pcap", "/dev/full", "--force", "-o", "out"]
    done = live_command(link, *words, "phone", "--", sys.executable, "-c", CHATTER)
    assert done.returncode == 1
    assert "/dev/full: No space left on device" in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith(("sound", "LATE"))
    result = lh.Result.load("out")
    assert result.hosts["sent_packets"].max() > 0
    assert result.live.rows()[0]["virtual_s"] < 8


#: Sends without pause once it is asked to end.
STUBBORN = """
import signal, socket, time
def flood(*_):
    while True:
        try:
            s.sendto(b"x", ("10.77.0.1", 7000))
        except OSError:
            pass
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
signal.signal(signal.SIGTERM, flood)
time.sleep(60)
"""


def test_what_a_program_sends_after_the_end_is_not_of_the_run(link):
    words = ["--host", "server", "--for", "500 ms", "-o", "out", "phone", "--", sys.executable, "-c", STUBBORN]
    done = live_command(link, *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith(("sound", "LATE"))
    assert lh.Result.load("out").live.rows()[0]["lost_before_the_bridge"] == 0


def test_modules_come_from_nowhere_but_the_package(link):
    """Python's own `-m` takes them from the working folder first, which the installed command does not."""
    for name in ("click", "json", "queue"):
        Path(f"{name}.py").write_text("raise SystemExit('taken from the working folder')\n")
    words = [sys.executable, "-P", "-m", "lasthop", "live", link, "--host", "server", "phone", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    with lh.live(link, hosts=["server", "phone"]) as run:
        assert run.run("phone", "echo up").stdout == "up\n"


def test_a_host_may_be_without_ipv6(link):
    hosts = [
        '[[live.host]]\nnode = "server"\n',
        '[[live.host]]\nnode = "phone"\nsysctl = { "net.ipv6.conf.all.disable_ipv6" = "1" }\n',
    ]
    link.write_text(link.read_text() + "".join(hosts))
    with lh.live(link) as run:
        names = run.run("server", "grep -e server -e phone /etc/hosts").stdout
        variables = run.run("server", "env | grep LASTHOP_PEER | sort").stdout
    assert names.splitlines() == ["10.77.0.1 server", "fd77::1 server", "10.77.0.2 phone"]
    assert "LASTHOP_PEER_PHONE=10.77.0.2\n" in variables
    assert "PEER_PHONE_6" not in variables
    assert [row["addresses"] for row in run.result.hosts.rows()] == ["10.77.0.1 fd77::1", "10.77.0.2"]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv")
def test_root_writes_into_the_folder_of_another(link):
    """As with `sudo`, in the home of the caller."""
    home = Path("home").absolute()
    home.mkdir()
    os.chown(home, 65534, 65534)
    home.chmod(0o700)
    words = ["--host", "server", "--pcap", home / "a.pcapng", "-o", home / "out", "phone", "--", "cat", home / "secret"]
    (home / "secret").write_text("secret")
    (home / "secret").chmod(0o600)
    os.chown(home / "secret", 65534, 65534)
    done = live_command(link, *words)
    # Programs have no capabilities, also those of root.
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert (home / "a.pcapng").exists()
    assert lh.Result.load(home / "out").live.rows()[0]["virtual_s"] > 0


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="needs root, and ip")
def test_an_interface_that_goes_away_ends_the_run_and_leaves_its_tables(link):
    name = f"lasthop-gone-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        attach = ["--attach", f"server={name}"]
        words = ["link.toml", "--host", "server", *attach, "-o", "out", "phone", "--", "sh", "-c", "touch up; sleep 60"]
        with _started(*words) as process:
            while not Path("up").exists():
                assert process.poll() is None
                time.sleep(0.05)
            taken = live_command(link, "--host", "server", *attach, "phone", "--", "true")
            subprocess.run(["ip", "-n", name, "link", "del", "live0"], check=True)
            said = process.communicate(timeout=30)[1]
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
    assert taken.returncode == 2
    assert "its namespace has a live0 already" in taken.stderr
    assert process.returncode == 1
    assert 'host "server": live0 cannot be used any more' in said
    assert said.strip().splitlines()[-1] == "UNSOUND: the interface of host server went away"
    assert lh.Result.load("out").live.rows()[0]["verdict"] == "UNSOUND: the interface of host server went away"
    assert live_command("--replay", "out").returncode == 0


def test_two_nodes_with_one_variable_are_said(link):
    link.write_text(link.read_text().replace('"server", "phone"', '"a-b", "a_b"'))
    done = live_command(link, "--host", "a-b", "a_b", "--", "true")
    assert done.returncode == 0, done.stderr
    assert 'warning: "a-b" and "a_b" are both LASTHOP_PEER_A_B, which has the address of "a_b"' in done.stderr


@pytest.mark.usefixtures("link")
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv")
def test_root_without_capabilities_is_no_root():
    words = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", sys.executable, "-m", "lasthop", "live"]
    words += ["link.toml", "phone", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "lets only root make network namespaces" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="needs root, and ip")
def test_a_namespace_with_a_default_route_is_refused_in_words(link):
    name = f"lasthop-test-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        for words in ("link set lo up", "route add default dev lo"):
            subprocess.run(["ip", "-n", name, *words.split()], check=True)
        done = live_command(link, "--host", "server", "--attach", f"server={name}", "phone", "--", "true")
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
    assert done.returncode == 2
    assert "its namespace has a default route" in done.stderr


@pytest.mark.usefixtures("link")
def test_the_terminal_is_as_it_was():
    import termios

    def flags():
        return termios.tcgetattr(own)[3] & (termios.ICANON | termios.ECHO)

    shell = Path("shell").absolute()
    shell.write_text("#!/bin/sh\nstty -icanon -echo; touch up; sleep 60\n")
    shell.chmod(0o755)
    own, its = os.openpty()
    before = flags()
    words = [sys.executable, "-m", "lasthop", "live", "link.toml", "--shell", "phone", "--for", "3 s"]
    environment = {**os.environ, "SHELL": str(shell)}
    with subprocess.Popen(words, preexec_fn=lambda: os.login_tty(its), env=environment) as process:
        os.close(its)
        process.wait(timeout=60)
    assert Path("up").exists()
    assert flags() == before
    os.close(own)


def test_what_stands_where_a_live_run_from_python_writes_is_left_alone(link, tmp_path):
    """Nothing starts, and the error speaks of arguments, but names the place as it is."""
    mine = tmp_path / "mine --force"
    mine.mkdir()
    kept = mine / "kept.txt"
    kept.write_text("kept")
    for where, said in (({"out": mine}, "write into it"), ({"pcap": kept}, "replace it")):
        with (
            pytest.raises(files.OutputRefused, match=f"mine --force.*{said} with force=True$"),
            lh.live(link, hosts=["server"], **where),
        ):
            pytest.fail("nothing starts")
    with lh.live(link, hosts=["server"], out=mine, pcap=kept, force=True) as run:
        pass
    assert run.verdict.startswith(("sound", "LATE"))
    assert kept.read_bytes().startswith(b"\x0a\x0d\x0d\x0a"), "a capture (pcapng)"
