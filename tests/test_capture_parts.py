"""Parts of captures, captures of one node, and captures of profile `linux`, as `lasthop analyze` reads them."""

from __future__ import annotations

import re
import struct

import lasthop as lh
import numpy as np
import pytest
from test_analyze import WEB


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    path = tmp_path_factory.mktemp("web") / "web.pcapng"
    return lh.run(WEB, pcap=path), path


def blocks(data):
    """The blocks of a pcapng file: its head, and its packets."""
    place, head, bodies = 0, b"", []
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        block = data[place : place + length]
        place += length
        if kind == 6:
            bodies.append(block)
        else:
            head += block
    return head, bodies


def test_any_part_of_a_capture_says_what_was_in_it(web, tmp_path):
    """Of a part a connection may have begun where it is sent, and not yet, or no more, where it comes."""
    result, path = web
    head, bodies = blocks(path.read_bytes())
    (tmp_path / "part.pcapng").write_bytes(head)
    with pytest.raises(ValueError, match="no TCP connections"):
        lh.analyze(tmp_path / "part.pcapng")
    table = result.packets.to_pandas()
    data = table[(table.flow == "surf") & (table.payload_bytes > 0)]
    opened = table[(table.flow == "surf") & (table.event == "sent") & (table.kind == "syn") & (table.place == "server")]
    assert len(opened) > 5
    # The capture, until a moment after each connection has begun: its SYN is sent, and has not come.
    stamps = np.array([(high << 32 | low) / 1e9 for high, low in (struct.unpack_from("<II", b, 12) for b in bodies)])

    def write(those):
        chosen = [body for body, chosen in zip(bodies, those, strict=True) if chosen]
        (tmp_path / "part.pcapng").write_bytes(head + b"".join(chosen))

    for until in [*(opened.time_s.to_numpy()[2:] + 1e-3), 100.0]:
        write(stamps <= until)
        rows = lh.analyze(tmp_path / "part.pcapng").connections.where(**{"from": "server"}).rows()
        came = data[(data.event == "received") & (data.place == "mobile") & (data.time_s <= until)]
        for row in rows:
            first = came[came.connection == row["connection"]].drop_duplicates("seq")
            assert row["received_bytes"] == first.payload_bytes.sum(), (until, row["connection"])
    # And from any moment on: connections that begin later are whole.
    whole = {row["connection"]: row for row in lh.analyze(path).connections.where(**{"from": "server"}).rows()}
    for since in np.linspace(0.5, float(opened.time_s.iloc[-1]) - 1, 40):
        write(stamps >= since)
        rows = lh.analyze(tmp_path / "part.pcapng").connections.where(**{"from": "server"}).rows()
        begun = opened[opened.time_s >= since].connection.unique().tolist()
        for row, number in zip(rows[-len(begun) :], begun, strict=True):
            for column in ("sent_bytes", "received_bytes", "acked_bytes", "rtt_samples"):
                assert row[column] == whole[number][column], (since, number, column)


def test_a_flow_whose_sender_was_not_captured_is_left_out_unless_it_is_asked_for(web, tmp_path):
    """As in the capture of one node, which the page on results shows how to take."""
    head, bodies = blocks(web[1].read_bytes())
    names = re.findall(rb"\x02\0\x06\0(server|mobile)", head)
    at_server = [body for body in bodies if struct.unpack_from("<I", body, 8)[0] == names.index(b"server")]
    path = tmp_path / "server.pcapng"
    path.write_bytes(head + b"".join(at_server))
    (row,) = lh.analyze(path).totals.rows()
    (whole,) = [row for row in lh.analyze(web[1]).totals.rows() if row["flow"].startswith("server")]
    assert row["sent_bytes"] == whole["sent_bytes"] and row["received_bytes"] is None
    assert lh.analyze(path, flows=row["flow"]).totals.rows() == [row]
    with pytest.raises(ValueError, match="nothing was captured where the data of 10"):
        lh.analyze(path, flows=["10.0.0.0:40005>server:40005"])


def live(data):
    """The capture of a live run with the same packets: bare IP, and a place of the network without direction."""
    made, place = b"", 0

    def block(kind, body):
        length = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + length + body + length

    options = b"\x02\0\x05\0radio\0\0\0" + b"\x09\0\x01\0\x09\0\0\0" + bytes(4)
    interface = block(1, struct.pack("<HHI", 101, 0, 0) + options)
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        body = data[place + 8 : place + length - 4]
        place += length
        if kind == 1:
            body = struct.pack("<H", 101) + body[2:]
        if kind != 6:
            made += block(kind, body)
            continue
        number, high, low, stored, whole = struct.unpack_from("<5I", body)
        packet = body[20 + 14 : 20 + stored]
        packet += bytes(-len(packet) % 4)
        head = (high, low, stored - 14, whole - 14)
        made += block(6, struct.pack("<5I", number, *head) + packet + body[20 + stored + -stored % 4 :])
        if low % 7 == 0:
            # Some are dropped on their way, right where they are sent.
            made += interface + block(6, struct.pack("<5I", 2, *head) + packet)
            interface = b""
    return made


def test_the_capture_of_a_live_run_says_the_same(web, tmp_path):
    data = web[1].read_bytes()
    assert len(re.findall(rb"\x02\0\x06\0(server|mobile)", blocks(data)[0])) == 2
    folder = tmp_path / "phone"
    folder.mkdir()
    (folder / "packets.pcapng").write_bytes(live(data))
    assert b"radio" in live(data)
    ours = lh.analyze(web[1]).connections.rows()
    assert lh.analyze(folder / "packets.pcapng").connections.rows() == ours
    # Of the folder itself `live.json` says that a live run wrote it.
    (folder / "live.json").write_text("{}")
    made = lh.analyze(folder)
    assert made.name == "phone" and made.connections.rows() == ours
    # Packets of one interface some of which say nothing are refused still.
    head, bodies = blocks(data)
    bare = [body[:-16] for body in bodies[:300]]
    lengths = [struct.pack("<I", len(body) + 4) for body in bare]
    mute = [body[:4] + length + body[8:] + length for body, length in zip(bare, lengths, strict=True)]
    (tmp_path / "mute.pcapng").write_bytes(head + b"".join([*mute, *bodies[300:]]))
    with pytest.raises(ValueError, match="others at the same place do not"):
        lh.analyze(tmp_path / "mute.pcapng")


@pytest.mark.parametrize("size", ["3 kB", "200 kB"])
def test_of_linux_each_byte_is_sent_for_the_first_time_once(tmp_path, size):
    link = {
        "name": "l",
        "between": ["a", "b"],
        "rate": "1 Mbit/s",
        "delay": "60 ms",
        "loss": {"bernoulli": {"p": 0.02}},
    }
    flow = {
        "name": "f",
        "from": "a",
        "to": "b",
        "transport": {"tcp": {"variant": "cubic"}},
        "source": {"file": {"size": size}},
    }
    scenario = {"profile": "linux", "duration": "20 s", "link": [link], "flow": [flow], "record": {"packets": True}}
    result = lh.run(scenario, pcap=tmp_path / "linux.pcapng")
    first = [row["seq"] for row in result.packets.where(place="a", event="sent").rows()][:2]
    assert first == [0, 1], "the SYN, and the acknowledgement of the other's"
    for source in (result, tmp_path / "linux.pcapng"):
        (row,) = lh.analyze(source).connections.rows()
        assert row["sent_bytes"] == row["acked_bytes"] == int(size.split()[0]) * 1000
        assert row["retransmitted_packets"] == result.flows["retransmitted_packets"][0]


@pytest.mark.parametrize("variant", ["sack", "vegas"])
def test_of_ns2_each_connection_has_its_own_segments(tmp_path, variant):
    """3GPP TR 25.876: packets of a page have 1,500 B or 576 B, 40 B of which are headers. All packets are full in ns-2.

    Vegas has neither headers there (`vegas.cc`), so that a packet of the simulator is a segment, nor a SYN by which a
    capture could tell connections apart.
    """
    path = tmp_path / "web.pcapng"
    scenario = lh.load(WEB).with_({"flow.surf.transport.tcp.variant": variant}, profile="ns2", duration="120 s")
    result = lh.run(scenario, pcap=path)
    sent = result.packets.where(flow="surf", event="sent", place="server", kind="data").to_pandas()
    sizes = sent.groupby("connection").size_bytes.unique()
    assert {len(several) for several in sizes} == {1}
    segments = {number: several[0] - (0 if variant == "vegas" else 40) for number, several in sizes.items()}
    assert {*segments.values()} == {1460, 536}
    for source in (result, path)[: 1 if variant == "vegas" else 2]:
        rows = [row for row in lh.analyze(source).connections.rows() if row["from"] == "server"]
        assert len(rows) == len(segments)
        for row in rows:
            segment = segments[row["connection"]]
            assert row["sent_bytes"] == row["sent_packets"] * segment, row["connection"]
            assert row["retransmitted_bytes"] == row["retransmitted_packets"] * segment


#: 2026-11-27, as tcpdump stamps packets.
DATE = 1_795_737_600


def classic(data, link, node=b"server"):
    """What tcpdump would have captured at a node: pcap with dates, over Ethernet or in Linux's cooked frames."""
    head, bodies = blocks(data)
    names = re.findall(rb"\x02\0\x06\0(server|mobile)", head)
    made = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, link)
    for body in bodies:
        number, high, low, stored, whole = struct.unpack_from("<5I", body, 8)
        if number != names.index(node):
            continue
        seconds, nanos = divmod(high << 32 | low, 1_000_000_000)
        frame = body[28 : 28 + stored]
        (flags,) = re.findall(rb"\x02\0\x04\0(.)\0\0\0", body[28 + stored :])
        kind = {1: 0, 2: 4}[flags[0]]
        ip, ether = frame[14:], frame[12:14]
        if link == 113:
            frame = struct.pack(">HHH8s", kind, 1, 6, bytes(8)) + ether + ip
        elif link == 276:
            frame = ether + struct.pack(">HIHBB8s", 0, 3, 1, kind, 6, bytes(8)) + ip
        extra = len(frame) - stored
        made += struct.pack("<4I", DATE + seconds, nanos // 1000, len(frame), whole + extra) + frame
    return made


@pytest.mark.parametrize("link", [1, 113, 276])
def test_what_tcpdump_captures_at_the_sender_says_the_same(web, tmp_path, link):
    """Ethernet's frames do not say which were sent; cooked ones do."""
    path = tmp_path / "server.pcap"
    path.write_bytes(classic(web[1].read_bytes(), link))
    made = lh.analyze(path)
    assert made.tells_ends == (link != 1) == ("does not say which packets were sent" not in repr(made))
    # Times count from the first packet, and have microseconds.
    start = web[0].packets.where(place="server")["time_s"].min()
    # The server's data, and the mobile's where they cannot be told apart.
    rows = made.connections.rows()
    assert {row["from"] for row in rows} == ({"10.0.0.0", "10.0.0.1"} if link == 1 else {"10.0.0.1"})
    theirs = [row for row in rows if row["from"] == "10.0.0.1"]
    ours = [row for row in lh.analyze(web[1]).connections.rows() if row["from"] == "server"]
    assert len(theirs) == len(ours) > 5
    exact = ("connection", "sent_bytes", "acked_bytes", "sent_packets", "retransmitted_packets", "duplicate_acks")
    for mine, other in zip(ours, theirs, strict=True):
        assert [mine[name] for name in exact] == [other[name] for name in exact]
        assert (mine["outstanding_bytes_max"], mine["rtt_samples"]) == (
            other["outstanding_bytes_max"],
            other["rtt_samples"],
        )
        assert other["received_bytes"] is None
        assert other["start_s"] + start == pytest.approx(mine["start_s"], abs=2e-6)
        assert other["rtt_ms_mean"] == pytest.approx(mine["rtt_ms_mean"], abs=2e-3)


def test_packets_that_pass_two_interfaces_of_a_host_count_once(web, tmp_path):
    """As with a bridge and its port: a packet out passes the bridge first, a packet in the port."""
    once = classic(web[1].read_bytes(), 276)
    twice, place = once[:24], 24
    while place < len(once):
        end = place + 16 + struct.unpack_from("<I", once, place + 8)[0]
        packet, place = once[place:end], end
        both = [packet[:20] + struct.pack(">I", number) + packet[24:] for number in (7, 3)]
        twice += b"".join(both if packet[26] == 4 else both[::-1])
    (tmp_path / "once.pcap").write_bytes(once)
    (tmp_path / "twice.pcap").write_bytes(twice)
    mine, ours = (lh.analyze(tmp_path / f"{name}.pcap").connections.rows() for name in ("twice", "once"))
    assert mine == ours


def test_of_a_loopback_device_the_arrivals_are_taken_as_sent(web, tmp_path):
    """Linux captures what passes it as received, both ways."""
    data = classic(web[1].read_bytes(), 113)
    sent = struct.pack(">HHH", 4, 1, 6)
    (tmp_path / "lo.pcap").write_bytes(data.replace(sent, struct.pack(">HHH", 0, 1, 6)))
    (tmp_path / "eth.pcap").write_bytes(classic(web[1].read_bytes(), 1))
    cooked, bare = (lh.analyze(tmp_path / f"{name}.pcap") for name in ("lo", "eth"))
    assert cooked.connections.rows() == bare.connections.rows() and not cooked.tells_ends


def test_at_the_receiver_cooked_frames_tell_that_the_data_came(web, tmp_path):
    (tmp_path / "mobile.pcap").write_bytes(classic(web[1].read_bytes(), 276, b"mobile"))
    made = lh.analyze(tmp_path / "mobile.pcap")
    assert {row["from"] for row in made.connections.rows()} == {"10.0.0.0"}
    with pytest.raises(ValueError, match="only where they arrive"):
        lh.analyze(tmp_path / "mobile.pcap", flows=["10.0.0.1:40004>10.0.0.0:40004"])


def test_a_classic_capture_of_another_link_or_without_a_head_is_refused(web, tmp_path):
    data = classic(web[1].read_bytes(), 1)
    for wrong, said in [
        (data[:20] + struct.pack("<I", 105) + data[24:], "IEEE802_11, and only Ethernet"),
        (data[:11], "or it is damaged"),
    ]:
        (tmp_path / "wrong.pcap").write_bytes(wrong)
        with pytest.raises(ValueError, match=said):
            lh.analyze(tmp_path / "wrong.pcap")


@pytest.mark.parametrize("kind", ["pcapng", "pcap"])
def test_a_capture_that_was_cut_says_where_and_what_helps(web, tmp_path, kind):
    """As of a tcpdump that was killed, or still runs."""
    data = web[1].read_bytes()
    whole = len(blocks(data)[1])
    if kind == "pcap":
        data = classic(data, 1)
        place, whole = 24, 0
        while place < len(data):
            place += 16 + struct.unpack_from("<I", data, place + 8)[0]
            whole += 1
    for cut in (1, 25):
        path = tmp_path / f"cut.{kind}"
        path.write_bytes(data[:-cut])
        with pytest.raises(ValueError, match=rf"after {whole - 1} whole ones: it was cut.*`editcap"):
            lh.analyze(path)


def test_a_clock_that_was_set_back_is_told(web, tmp_path):
    """By two seconds, between two segments of a flight."""
    head, bodies = blocks(web[1].read_bytes())
    # Which interface, and how long the packet was.
    told = [(struct.unpack_from("<I", body, 8)[0], struct.unpack_from("<I", body, 24)[0] > 1000) for body in bodies]
    place = next(n for n in range(1, len(told)) if told[n - 1] == told[n] and told[n][1])

    def earlier(body):
        high, low = struct.unpack_from("<II", body, 12)
        stamp = (high << 32 | low) - 2_000_000_000
        return body[:12] + struct.pack("<II", stamp >> 32, stamp & 0xFFFFFFFF) + body[20:]

    path = tmp_path / "set.pcapng"
    path.write_bytes(head + b"".join(bodies[:place] + [earlier(body) for body in bodies[place:]]))
    made = lh.analyze(path)
    assert made.back_s == pytest.approx(2) and "by up to 2 s" in " ".join(repr(made).split())
    straight = lh.analyze(web[1])
    assert straight.back_s == 0 and "time goes back" not in repr(straight)
