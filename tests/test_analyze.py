"""What TCP connections did, against sums made by hand, tcptrace, tshark and the simulator's own counters."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess

import lasthop as lh
import numpy as np
import pytest
from conftest import BUSY
from lasthop import analysis, plot
from lasthop.analysis.measures import union

needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
needs_tcptrace = pytest.mark.skipif(not shutil.which("tcptrace"), reason="tcptrace is not installed")

# A small capture, and what it comes to by hand

#: Time in ms, who sends, flags, first number, payload, acknowledgement. The sender is `>`. The third segment is
#: lost and is sent again after three duplicate acknowledgements; the timer resends the last one.
SCRIPT = """
   0  >  S   0     0     -
 100  <  SA  0     0     1
 100  >  A   1     1000  1
 100  >  A   1001  1000  1
 200  <  A   1     0     1001
 200  >  A   2001  1000  1
 200  >  A   3001  1000  1
 210  <  A   1     0     2001
 210  >  A   4001  1000  1
 210  >  A   5001  500   1
 300  <  A   1     0     2001
 310  <  A   1     0     2001
 312  <  A   1     0     2001
 312  >  A   2001  1000  1
 420  <  A   1     0     5501
 600  >  A   5501  400   1
 900  >  A   5501  400   1
 980  <  A   1     0     5901
1000  >  FA  5901  0     1
1100  <  FA  1     0     5902
1100  >  A   5902  0     2
"""

BY_HAND = {
    "start_s": 0.0,
    "end_s": 1.1,
    "period_s": 1.1,
    "acked_bytes": 5900,
    "sent_bytes": 5900,
    "sent_packets": 7,
    "retransmitted_packets": 2,
    "retransmitted_bytes": 1400,
    "acks": 9,
    "duplicate_acks": 3,
    "dupack_runs": 1,
    "dupack_runs_from_3": 1,
    "dupack_runs_over_3": 0,
    "dupack_run_mean": 3.0,
    "dupack_run_max": 3,
    # The SYN 100; 1001: 100; 2001: 110; the FIN 100. Not 5501: a segment before it was sent again, and not 5901,
    # which was sent twice.
    "rtt_samples": 4,
    "rtt_ms_min": 100.0,
    "rtt_ms_mean": 102.5,
    "rtt_ms_max": 110.0,
    # 1 B for 100 ms; 2000 for 100; 3000 for 10; 3500 for 210; 0 for 180; 400 for 380; 0 for 20; 1 B for 100.
    "outstanding_bytes_mean": (100 + 200_000 + 30_000 + 735_000 + 152_000 + 100) / 1100,
    "outstanding_bytes_max": 3500,
    "outstanding_packets_max": 3.5,
    "transmission_s": 0.9,
    "off_s": 0.2,
    "acked_kbps": 5900 * 8 / 1100,
    "sent_kbps": 5900 * 8 / 1100,
    "timeouts": None,
}


def lines(script):
    for line in script.strip().splitlines():
        time, who, flags, seq, payload, ack = line.split()
        yield int(time), who == ">", flags, int(seq), int(payload), None if ack == "-" else int(ack)


#: The header of a frame of Ethernet with IPv4.
ETHERNET = bytes(12) + b"\x08\0"


def capture(path, script, isn=0, *, linktype=1, link=ETHERNET, six=False, extension=b"", stated=True):
    """Writes a script as a pcapng file, as the sender's interface `server` sees it.

    In front of the IP header stands `link`. With `six` this is of IPv6, with an extension header of the kind 0.
    Lengths in headers of IP are 0 where they are not `stated`.
    """

    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    def option(code, value):
        return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack("<HHI", linktype, 0, 0) + option(2, b"server") + option(9, b"\x09") + option(0, b""))
    ends = [(b"\x0a\0\0\x01", 40001), (b"\x0a\0\0\x02", 40002)]
    for time, out, flags, seq, payload, ack in lines(script):
        (source, port), (target, to) = ends if out else ends[::-1]
        bits = sum({"F": 1, "S": 2, "A": 16}[flag] for flag in flags)
        mine, other = (isn, 7000) if out else (7000, isn)
        numbers = [(mine + seq) % 2**32, 0 if ack is None else (other + ack) % 2**32]
        tcp = struct.pack("!HHIIBBHHH", port, to, *numbers, 0x50, bits, 8192, 0, 0)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, (40 + payload) * stated, 0, 0, 64, 6, 0) + source + target
        if six:
            length, kind = len(extension) + 20 + payload, 0 if extension else 6
            ip = (
                struct.pack("!IHBB", 6 << 28, length * stated, kind, 64)
                + bytes(12)
                + source
                + bytes(12)
                + target
                + extension
            )
        packet = link + ip + tcp
        stamp = divmod(time * 1_000_000, 2**32)
        body = struct.pack("<IIIII", 0, *stamp, len(packet), len(packet) + payload) + packet + bytes(-len(packet) % 4)
        data += block(6, body + option(2, struct.pack("<I", 2 if out else 1)) + option(0, b""))
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("isn", [0, 2**32 - 1500], ids=["from 0", "wrapping around"])
def test_a_small_capture_comes_to_what_it_does_by_hand(tmp_path, isn):
    made = lh.analyze(capture(tmp_path / "small.pcapng", SCRIPT, isn))
    (row,) = made.connections.rows()
    assert (row["flow"], row["from"], row["to"]) == ("server:40001>10.0.0.2:40002", "server", "10.0.0.2")
    for name, value in BY_HAND.items():
        assert row[name] == (value if value is None else pytest.approx(value)), name
    assert row["received_bytes"] is None, "nobody looked at the receiver"
    assert "timeouts are left out" in repr(made) and "record.variables" in repr(made)
    assert made.rtts["rtt_ms"] == pytest.approx([100, 100, 110, 100])
    assert made.rtts["time_s"] == pytest.approx([0.1, 0.2, 0.21, 1.1])
    assert [(r["time_s"], r["acks"]) for r in made.dupack_runs.rows()] == [(pytest.approx(0.3), 3)]


#: What the first one does not have: an acknowledgement within a segment, and one that is repeated with nothing
#: outstanding; a segment that is half new, and whose old half makes the sample of another one void; a FIN that repeats
#: an acknowledgement; data outstanding at the end, until the next connection begins.
ODD = """
   0  >  S   0     0     -
 100  <  SA  0     0     1
 100  >  A   1     1000  1
 100  >  A   1001  1000  1
 200  <  A   1     0     1501
 250  <  A   1     0     2001
 260  <  A   1     0     2001
 300  >  A   2001  1000  1
 310  >  A   3001  1000  1
 500  >  A   3501  1000  1
 600  <  A   1     0     4001
 700  <  A   1     0     4501
 800  >  A   4501  1000  1
 850  <  FA  1     0     4501
 900  <  A   2     0     5501
1000  >  A   5501  1000  2
2000  >  S   0     0     -
2100  <  SA  0     0     1
"""


def test_what_is_odd_in_a_capture_comes_to_what_it_does_by_hand(tmp_path):
    made = lh.analyze(capture(tmp_path / "odd.pcapng", ODD))
    row, following = made.connections.rows()
    assert (row["sent_packets"], row["sent_bytes"], row["acked_bytes"]) == (6, 6500, 5500)
    assert (row["retransmitted_packets"], row["retransmitted_bytes"]) == (1, 500)
    assert (row["acks"], row["duplicate_acks"]) == (8, 0)
    # Of the SYN; of 1001, acknowledged whole at 250 ms; of 4501.
    assert made.rtts.where(connection=0)["rtt_ms"] == pytest.approx([100, 150, 100])
    # 1 B for 100 ms; 2000 for 100, 500 for 50; 1000 for 10, 2000 for 190, 2500 for 100, 500 for 100; 1000 for 100; and
    # 1000 until the next connection.
    outstanding = 100 + 200_000 + 25_000 + 10_000 + 380_000 + 250_000 + 50_000 + 100_000 + 1_000_000
    assert row["outstanding_bytes_mean"] == pytest.approx(outstanding / 2100)
    assert following["rtt_samples"] == 1


@pytest.mark.parametrize(
    ("syn", "connections"),
    [("350  >  S   0     0     -", 1), ("350  >  S   9000  0     -", 2), ("1200 >  S   0     0     -", 2)],
    ids=["a late duplicate", "another initial number", "after the end"],
)
def test_a_syn_with_the_same_number_opens_no_connection_while_there_is_one(tmp_path, syn, connections):
    """RFC 9293 §3.10: it is the same SYN once more, until a FIN was acknowledged."""
    script = sorted([*SCRIPT.strip().splitlines(), syn], key=lambda line: int(line.split()[0]))
    rows = lh.analyze(capture(tmp_path / "again.pcapng", "\n".join(script))).connections.rows()
    assert len(rows) == connections
    if connections == 1:
        for name in ("sent_bytes", "acked_bytes", "retransmitted_bytes", "acks", "end_s"):
            assert rows[0][name] == BY_HAND[name], name


def test_data_on_a_syn_that_is_lost_make_one_connection(tmp_path):
    """The data behind the SYN leave before it is sent again."""
    loss = {"bernoulli": {"p": 0.2}}
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "60 ms", "loss": loss}
    transport = {"tcp": {"handshake": "data_on_syn"}}
    flow = {"name": "f", "from": "a", "to": "b", "transport": transport, "source": {"file": {"size": "100 kB"}}}
    scenario = {"profile": "rfc", "duration": "60 s", "link": [link], "flow": [flow], "record": {"packets": True}}
    result = lh.run(scenario, seed=8, pcap=tmp_path / "syn.pcapng")
    (ours,) = lh.analyze(result).connections.rows()
    (row,) = lh.analyze(tmp_path / "syn.pcapng").connections.rows()
    for name in ("sent_bytes", "acked_bytes", "retransmitted_packets", "rtt_samples"):
        assert row[name] == ours[name], name


#: Frames by what they are. 101 is LINKTYPE_RAW, 113 and 276 are LINKTYPE_LINUX_SLL and its second version. The
#: extension is of hop-by-hop options, padded (RFC 8200 §4.2, §4.3). Segments longer than a
#: header of IP can state have a length of 0 there (BIG TCP), and so have those that an interface has yet to cut.
FRAMES = {
    "VLAN": {"link": bytes(12) + b"\x81\0\0\x07\x08\0"},
    "IPv6 over Ethernet": {"link": bytes(12) + b"\x86\xdd", "six": True},
    "bare IPv4": {"linktype": 101, "link": b""},
    "bare IPv6": {"linktype": 101, "link": b"", "six": True},
    "cooked": {"linktype": 113, "link": bytes(14) + b"\x08\0"},
    "cooked IPv6": {"linktype": 113, "link": bytes(14) + b"\x86\xdd", "six": True},
    "cooked, version 2": {"linktype": 276, "link": b"\x08\0" + bytes(18)},
    "IPv6, extended": {"linktype": 101, "link": b"", "six": True, "extension": bytes([6, 0, 1, 4, 0, 0, 0, 0])},
    "without a length": {"stated": False},
    "IPv6 without a length": {"linktype": 101, "link": b"", "six": True, "stated": False},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_all_kinds_come_to_the_same(tmp_path, kind):
    made = lh.analyze(capture(tmp_path / "small.pcapng", SCRIPT, **FRAMES[kind]))
    (row,) = made.connections.rows()
    assert row["from"] == "server" and row["to"] == ("[::a00:2]" if "IPv6" in kind else "10.0.0.2")
    for name, value in BY_HAND.items():
        assert row[name] == (value if value is None else pytest.approx(value)), name
    said = "interface 0 is IEEE802_11, and only Ethernet, Linux's cooked frames and bare IP can be read"
    with pytest.raises(ValueError, match=said):
        lh.analyze(capture(tmp_path / "wlan.pcapng", SCRIPT, linktype=105))


def test_a_part_without_the_syn_has_no_byte_outstanding_that_was_not_sent(tmp_path):
    """Its first number is 1, and 1,000 B are outstanding until they are acknowledged after 80 ms."""
    part = """
    0  >  A   1     1000  1
    80 <  A   1     0     1001
    100 > A   1001  500   1
    """
    (row,) = lh.analyze(capture(tmp_path / "part.pcapng", part)).connections.rows()
    assert row["outstanding_bytes_max"] == 1000
    assert row["outstanding_bytes_mean"] == pytest.approx(1000 * 80 / 100)


def test_acknowledgements_of_data_before_a_part_count(tmp_path):
    """Three of the same number are two duplicates once data are outstanding."""
    part = """
    0  <  A   1     0     500
    10 >  A   2000  1000  1
    20 <  A   1     0     500
    30 <  A   1     0     500
    40 <  A   1     0     1000
    80 <  A   1     0     3000
    """
    (row,) = lh.analyze(capture(tmp_path / "part.pcapng", part, 2**32 - 700)).connections.rows()
    assert (row["acks"], row["duplicate_acks"], row["rtt_samples"]) == (5, 2, 1)
    assert (row["acked_bytes"], row["outstanding_bytes_max"]) == (1000, 1000)


@pytest.mark.filterwarnings("error")
def test_a_connection_of_one_packet_is_drawn(tmp_path):
    made = lh.analyze(capture(tmp_path / "one.pcapng", "0 > A 1 1000 1"))
    for draw in plot.connections.PICTURES.values():
        axes = draw(made)
        axes.figure.canvas.draw()
        assert axes.get_xlim() == pytest.approx((0, 0.001))


def test_connections_and_silence_between_them(tmp_path):
    later = "\n".join(
        " ".join(
            [str(2000 + time), ">" if out else "<", flags, str(seq), str(payload), str(ack) if ack is not None else "-"]
        )
        for time, out, flags, seq, payload, ack in lines(SCRIPT)
    )
    path = capture(tmp_path / "two.pcapng", SCRIPT + later)
    run, own = lh.analyze(path), lh.analyze(path, over="connections")
    assert [row["connection"] for row in run.connections.rows()] == [0, 1]
    first, second = own.connections.rows()
    for name, value in BY_HAND.items():
        if name not in ("start_s", "end_s"):
            for row in (first, second):
                assert row[name] == (value if value is None else pytest.approx(value)), name
    (total,) = own.totals.rows()
    assert total["connections"] == 2
    assert total["period_s"] == pytest.approx(2.2)
    assert total["acked_kbps"] == pytest.approx(BY_HAND["acked_kbps"])
    assert total["transmission_s"] == pytest.approx(1.8)
    assert total["off_s"] == pytest.approx(3.1 - 1.8), "the silence between the two counts"
    (total,) = run.totals.rows()
    assert total["period_s"] == pytest.approx(3.1)
    assert total["acked_kbps"] == pytest.approx(2 * 5900 * 8 / 3100)
    assert total["outstanding_bytes_mean"] == pytest.approx(2 * 1.1 * BY_HAND["outstanding_bytes_mean"] / 3.1)
    assert total["rtt_samples"] == 8


def test_an_acknowledgement_sends_nothing_whatever_number_it_has(tmp_path):
    """In profile `linux` the first one had the number after the first flight of data, which counted as sent again."""
    ahead = SCRIPT.replace(
        " 100  >  A   1     1000  1\n", " 100  >  A   9000  0     1\n 100  >  A   1     1000  1\n", 1
    )
    (row,) = lh.analyze(capture(tmp_path / "ahead.pcapng", ahead)).connections.rows()
    for name, value in BY_HAND.items():
        assert row[name] == (value if value is None else pytest.approx(value)), name


def test_an_interface_called_like_another_host_makes_no_two_flows_one(tmp_path):
    def block(kind, body):
        size = struct.pack("<I", 12 + len(body))
        return struct.pack("<I", kind) + size + body + size

    def segment(host, time_us):
        ends = bytes([10, 0, 0, host, 10, 0, 0, 9])
        data = struct.pack(">BBHHHBBH", 0x45, 0, 140, 0, 0, 64, 6, 0) + ends
        data += struct.pack(">HHIIBBHHH", 80, 5000, 1, 1, 0x50, 16, 65535, 0, 0) + bytes(100)
        out = struct.pack("<HHIHH", 2, 4, 2, 0, 0)
        return block(6, struct.pack("<IIIII", 0, 0, time_us, len(data), len(data)) + data + out)

    name = b"10.0.0.3"
    path = tmp_path / "names.pcapng"
    path.write_bytes(
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        + block(1, struct.pack("<HHIHH", 101, 0, 0, 2, len(name)) + name + struct.pack("<HH", 0, 0))
        + segment(1, 10)
        + segment(3, 20)
    )
    made = lh.analyze(path).connections
    assert sorted(row["flow"] for row in made.rows()) == ["10.0.0.3:80>10.0.0.9:5000", "10.0.0.3:80>10.0.0.9:5000 (2)"]


def test_unions_of_intervals():
    def covered(*intervals):
        return union(np.array([a for a, _ in intervals], float), np.array([b for _, b in intervals], float))

    assert covered() == 0
    assert covered((1, 2), (4, 6)) == 3
    assert covered((1, 10), (2, 3), (5, 11)) == 10
    assert covered((4, 6), (1, 4)) == 5


# Other programs on the same captures

#: Profile and TCP variant of the flow.
VARIANTS = [("rfc", "reno"), ("rfc", "newreno"), ("rfc", "sack"), ("rfc", "cubic"), ("ns2", "newreno"), ("ns2", "sack")]


@pytest.fixture(params=VARIANTS, ids="-".join)
def run(request, tmp_path):
    """A run with its capture."""
    profile, variant = request.param
    scenario = lh.load(BUSY).with_({"flow.file.transport.tcp.variant": variant}, profile=profile, duration="20 s")
    path = tmp_path / "busy.pcapng"
    return lh.run(scenario, pcap=path), path


def tcptrace(path):
    """What tcptrace says of the first connection: of the way there, and of the way back."""
    said = subprocess.run(["tcptrace", "-lrWn", path], capture_output=True, text=True, check=True).stdout
    there, back = {}, {}
    for line in said.splitlines():
        if len(found := re.findall(r"([A-Za-z0-9#/ ]+):\s+([\d.]+)(?=\s|$)", line)) == 2:
            (name, one), (_, other) = found
            there[name.strip()], back[name.strip()] = float(one), float(other)
    return there, back


@needs_tcptrace
def test_tcptrace_agrees(run):
    _, path = run
    (mine,) = lh.analyze(path, over="connections").connections.rows()
    there, back = tcptrace(path)
    assert mine["sent_packets"] + mine["retransmitted_packets"] == there["actual data pkts"]
    assert mine["sent_bytes"] + mine["retransmitted_bytes"] == there["actual data bytes"]
    assert mine["sent_bytes"] == there["unique bytes sent"]
    assert mine["retransmitted_packets"] == there["rexmt data pkts"]
    assert mine["retransmitted_bytes"] == there["rexmt data bytes"]
    assert mine["acks"] == back["ack pkts sent"]
    assert mine["duplicate_acks"] == there["duplicate acks"]
    assert mine["dupack_runs_from_3"] == there["triple dupacks"]
    assert mine["rtt_samples"] == there["RTT samples"]
    # It prints tenths of a millisecond, of microseconds.
    for name in ("min", "max", "avg"):
        assert mine[f"rtt_ms_{name.replace('avg', 'mean')}"] == pytest.approx(there[f"RTT {name}"], abs=0.0511)
    # It counts one number more than there is: of the hand-made capture 3501, with 3500 bytes outstanding.
    assert mine["outstanding_bytes_max"] == there["max owin"] - 1


@needs_tcptrace
@needs_tshark
def test_tcptrace_agrees_on_a_capture_cut_to_68_bytes(tmp_path):
    """Time stamps and SACK blocks reach beyond them."""
    changed = {"flow.file.transport.tcp.variant": "sack", "flow.file.transport.tcp.timestamps": True}
    lh.run(lh.load(BUSY).with_(changed, profile="rfc", duration="20 s"), pcap=tmp_path / "whole.pcapng")
    path = tmp_path / "cut.pcapng"
    subprocess.run(["editcap", "-s", "68", tmp_path / "whole.pcapng", path], check=True)
    (mine,) = lh.analyze(path, over="connections").connections.rows()
    (whole,) = lh.analyze(tmp_path / "whole.pcapng", over="connections").connections.rows()
    there, back = tcptrace(path)
    assert mine == whole and mine["duplicate_acks"] > 0
    assert mine["sent_packets"] + mine["retransmitted_packets"] == there["actual data pkts"]
    assert mine["acks"] == back["ack pkts sent"]
    subprocess.run(["editcap", "-s", "50", tmp_path / "whole.pcapng", tmp_path / "short.pcapng"], check=True)
    with pytest.raises(ValueError, match=r"of \d+ segments: it needs a larger snap length"):
        lh.analyze(tmp_path / "short.pcapng")


@needs_tshark
def test_tshark_agrees(run):
    _, path = run
    (mine,) = lh.analyze(path).connections.rows()
    fields = ["tcp.len", "ip.src", "tcp.flags.ack", "tcp.analysis.duplicate_ack", "tcp.analysis.retransmission"]
    fields += ["tcp.analysis.fast_retransmission", "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order"]
    said = subprocess.run(
        ["tshark", "-r", path, "-Y", "tcp", "-T", "fields", *(w for f in fields for w in ("-e", f))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    data = [row for row in rows if int(row[0]) > 0]
    acks = [row for row in rows if row[1] != data[0][1] and row[2] in ("1", "True")]
    assert mine["sent_packets"] + mine["retransmitted_packets"] == len(data)
    assert mine["sent_bytes"] + mine["retransmitted_bytes"] == sum(int(row[0]) for row in data)
    assert mine["retransmitted_packets"] == sum(any(row[4:]) for row in data)
    assert mine["acks"] == len(acks)
    assert mine["duplicate_acks"] == sum(bool(row[3]) for row in acks)


# A run's own tables


def test_the_capture_says_what_the_table_of_packets_says(run):
    result, path = run
    (here,) = lh.analyze(result).connections.rows()
    (there,) = lh.analyze(path).connections.rows()
    assert there["received_bytes"] is None, "the receiver was not captured"
    ours = {name: value for name, value in here.items() if not name.startswith("received")}
    for name in ("flow", "from", "to", "connection", "timeouts", "period_s"):
        ours.pop(name)
    over_run = result.simulated_s / there["period_s"]
    for name, value in ours.items():
        scale = over_run if name.endswith(("_kbps", "outstanding_bytes_mean", "outstanding_packets_mean")) else 1
        assert value * scale == pytest.approx(there[name], rel=1e-3 if scale != 1 else 1e-9), name


def test_the_simulator_counted_the_same(run):
    result, _ = run
    (mine,) = lh.analyze(result).connections.rows()
    flow = result.flows.where(flow="file").rows()[0]
    # ns-2 counts packet 0, the SYN, as data.
    syn = int(result.scenario_text.find('"ns2"') >= 0)
    assert mine["sent_packets"] + syn == flow["sent_packets"]
    assert mine["retransmitted_packets"] == flow["retransmitted_packets"]
    assert mine["retransmitted_bytes"] == flow["retransmitted_bytes"]
    assert mine["timeouts"] == flow["timeouts"]
    if not syn:
        assert (mine["sent_bytes"], mine["acked_bytes"]) == (flow["sent_bytes"], flow["acked_bytes"])
    arrived = result.packets.where(event="received", place="mobile", flow="file", kind="data").to_pandas()
    first = arrived.drop_duplicates("seq")
    assert mine["received_bytes"] == first.payload_bytes.sum()


#: Web pages beside a file that goes the other way, each over connections of its own.
WEB = """
name = "web"
duration = "300 s"
[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "384 kbit/s"
delay = "60 ms"
queue.droptail.limit = "30 kB"
loss.bernoulli.p = 0.01
[[flow]]
name = "surf"
from = "server"
to = "mobile"
source = "web"
[[flow]]
name = "upload"
from = "mobile"
to = "server"
transport.tcp.variant = "newreno"
source.file.size = "300 kB"
start = "20 s"
[[flow]]
name = "call"
from = "server"
to = "mobile"
transport = "udp"
source.cbr.rate = "12.2 kbit/s"
[record]
packets = true
variables = true
"""


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    path = tmp_path_factory.mktemp("web") / "web.pcapng"
    return lh.run(WEB, pcap=path), path


def test_many_connections_of_several_flows(web):
    result, path = web
    made = lh.analyze(result)
    assert len(made.connections.where(flow="surf")) > 3
    by_flow = {row["flow"]: row for row in made.totals.rows()}
    assert set(by_flow) == {"surf", "upload", ""}
    for flow in result.flows.rows():
        if flow["flow"] == "call":
            continue
        mine, several = by_flow[flow["flow"]], made.connections.where(flow=flow["flow"])
        for name in ("sent_packets", "sent_bytes", "retransmitted_packets", "retransmitted_bytes", "timeouts"):
            assert mine[name] == sum(several[name]) == flow[name], name
        assert mine["transmission_s"] == pytest.approx(sum(several["transmission_s"]))
        assert mine["off_s"] == pytest.approx(mine["end_s"] - mine["start_s"] - mine["transmission_s"])
    # Reading times: more than the silence within connections.
    assert by_flow["surf"]["off_s"] > sum(made.connections.where(flow="surf")["off_s"])
    both = by_flow[""]
    assert both["acks"] == by_flow["surf"]["acks"] + by_flow["upload"]["acks"]
    assert both["sent_kbps"] == pytest.approx(by_flow["surf"]["sent_kbps"] + by_flow["upload"]["sent_kbps"])
    # A capture with both ends, each an interface: no packet is taken for another's repetition.
    there = {row["flow"].split(":")[0]: row for row in lh.analyze(path).totals.rows() if row["flow"]}
    for name, node in (("surf", "server"), ("upload", "mobile")):
        for column in (
            "connections",
            "sent_bytes",
            "received_bytes",
            "acked_bytes",
            "acks",
            "duplicate_acks",
            "rtt_samples",
        ):
            assert there[node][column] == by_flow[name][column], column
        assert there[node]["rtt_ms_mean"] == pytest.approx(by_flow[name]["rtt_ms_mean"])


@pytest.mark.parametrize("variant", ["sack", "vegas", "fack"])
def test_timeouts_of_single_connections_of_ns2_are_right_or_missing(variant):
    """ns-2's counter begins anew with each connection, has none of Fack's expiries, and idle ones of Vegas."""
    changed = {"flow.surf.transport.tcp.variant": variant, "link.radio.loss.bernoulli.p": 0.1}
    result = lh.run(lh.load(WEB).with_(changed, profile="ns2", duration="150 s"))
    (flow,) = result.flows.where(flow="surf").rows()
    made = lh.analyze(result, flows=["surf"])
    counts = [row["timeouts"] for row in made.connections.rows()]
    assert len(counts) > 5 and flow["timeouts"] > 3
    if variant == "sack":
        assert min(counts) == 0 and sum(counts) == flow["timeouts"]
        assert counts == [0, 1, 2, 0, 0, 0, 1]
    else:
        assert set(counts) == {None}


def test_what_is_asked_for_and_is_not_there(web, tmp_path):
    result, path = web
    assert {row["flow"] for row in lh.analyze(result, flows=["surf"]).connections.rows()} == {"surf"}
    with pytest.raises(ValueError, match="no flow 'serf'; known: surf, upload, call"):
        lh.analyze(result, flows=["serf"])
    with pytest.raises(ValueError, match="'call' does not use TCP"):
        lh.analyze(result, flows=["call"])
    with pytest.raises(ValueError, match="no flow 'serf'; known: server:"):
        lh.analyze(path, flows=["serf"])
    with pytest.raises(ValueError, match=r"record\.packets = true"):
        lh.analyze(lh.run(lh.load(WEB).with_({"record.packets": False})))
    (tmp_path / "text.pcapng").write_text("this is no capture, but a text")
    with pytest.raises(ValueError, match="no capture in the format pcapng"):
        lh.analyze(tmp_path / "text.pcapng")


def test_pictures_show_what_the_tables_say(web):
    made = lh.analyze(web[0])
    steps = plot.outstanding(made, flow="upload").lines[0]
    mine = made.outstanding.where(flow="upload")
    assert steps.get_xdata() == pytest.approx(mine["time_s"])
    assert steps.get_ydata() == pytest.approx(mine["outstanding_bytes"] / 1e3)
    points = plot.rtts(made, flow="surf").lines[0]
    assert points.get_ydata() == pytest.approx(made.rtts.where(flow="surf")["rtt_ms"])
    rate = plot.goodput(made, flow="upload").lines[0].get_ydata()[:-1]
    row = next(r for r in made.totals.rows() if r["flow"] == "upload")
    assert rate.mean() * (row["end_s"] - row["start_s"]) == pytest.approx(row["acked_bytes"] * 8e-3)
    sequence = plot.time_sequence(made, flow="upload")
    assert len(sequence.lines[0].get_xdata()) == row["sent_packets"]
    assert len(sequence.lines[1].get_xdata()) == row["retransmitted_packets"]


# The command


def test_the_command_on_a_folder_and_on_a_capture(lasthop, busy):
    lasthop("run", busy, "-o", "out", "--pcap", "busy.pcapng")
    done = lasthop("analyze", "out")
    assert "busy · 1 connection · over the run, 10 s" in done.stdout
    assert "rtt_ms min/mean/max" in done.stdout
    document = json.loads(lasthop("analyze", "busy.pcapng", "--json", "--over", "connections").stdout)
    assert document["over"] == "connections"
    assert document["connections"][0]["period_s"] == pytest.approx(document["connections"][0]["end_s"], rel=0.01)
    done = lasthop("analyze", "out", "-o", "tables", "--format", "csv", "--plot")
    for name in ("connections.csv", "totals.csv", "rtts.csv", "dupack_runs.csv", "outstanding.csv", "manifest.json"):
        assert (lasthop.folder / "tables" / name).exists()
    for name in ("time-sequence", "outstanding", "rtt-samples", "goodput"):
        assert (lasthop.folder / "tables" / f"{name}.svg").stat().st_size > 1000
    assert "wrote tables/rtt-samples.{png,svg,pdf}" in done.stderr


def test_a_folder_with_several_runs_wants_a_seed(lasthop, busy):
    lasthop("run", busy, "-o", "out", "--seeds", "3", "-q")
    assert "choose one by its seed, from 1 to 3" in lasthop("analyze", "out", code=2).stderr
    assert "no run with seed 4" in lasthop("analyze", "out", "--seed", "4", code=2).stderr
    mine = json.loads(lasthop("analyze", "out", "--seed", "2", "--json").stdout)["connections"]
    (alone,) = lh.analyze(lh.run(busy, seed=2)).connections.rows()
    assert mine[0] == pytest.approx(alone)


def test_wrong_words(lasthop, busy):
    (lasthop.folder / "bare.toml").write_text(busy.read_text().split("[record]")[0])
    lasthop("run", "bare.toml", "-o", "bare")
    assert "record.packets = true" in lasthop("analyze", "bare", code=2).stderr
    assert "there is no nowhere" in lasthop("analyze", "nowhere", code=2).stderr
    assert "holds other files" in lasthop("analyze", "bare", "-o", ".", code=2).stderr


def test_the_wrong_over():
    with pytest.raises(ValueError, match="write 'run' or 'connections'"):
        analysis.analyze("x", over="all")
