"""A capture at the sender, as tshark and tcptrace read it, against our own counters."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from conftest import BUSY

needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
needs_tcptrace = pytest.mark.skipif(not shutil.which("tcptrace"), reason="tcptrace is not installed")


def test_a_capture_is_not_overwritten_and_takes_one_run(lasthop, busy):
    lasthop("run", busy, "--pcap", "one.pcapng")
    assert (lasthop.folder / "one.pcapng").read_bytes()[:4] == b"\n\r\r\n"
    assert "one.pcapng exists" in lasthop("run", busy, "--pcap", "one.pcapng", code=2).stderr
    assert "--seeds" in lasthop("run", busy, "--pcap", "two.pcapng", "--seeds", "2", code=2).stderr
    assert not (lasthop.folder / "two.pcapng").exists()


@pytest.fixture(params=["reno", "newreno", "sack", "cubic"])
def captured(request, tmp_path):
    import lasthop as lh

    scenario = lh.load(BUSY).with_({"flow.file.transport.tcp.variant": request.param})
    path = tmp_path / "busy.pcapng"
    result = lh.run(scenario, pcap=path)
    mine = result.packets.where(flow="file", event="sent", place="server").to_pandas()
    return path, mine[mine.payload_bytes > 0]


@needs_tshark
def test_tshark_agrees(captured):
    path, sent = captured
    fields = ["tcp.len", "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission"]
    fields += ["tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order"]
    said = subprocess.run(
        ["tshark", "-r", path, "-Y", "tcp.len > 0", "-T", "fields", *(w for f in fields for w in ("-e", f))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    assert len(rows) == len(sent)
    assert sum(int(row[0]) for row in rows) == sent.payload_bytes.sum()
    assert sum(any(row[1:]) for row in rows) == sent.seq.duplicated().sum()


@needs_tcptrace
def test_tcptrace_agrees(captured):
    path, sent = captured
    said = subprocess.run(["tcptrace", "-l", "-n", path], capture_output=True, text=True, check=True).stdout
    # The first of two columns is the sender's.
    first = {key: int(value) for key, value in re.findall(r"^ +([a-z ]+):\s+(\d+)\s", said, re.MULTILINE)}
    again = sent.seq.duplicated()
    assert first["actual data pkts"] == len(sent)
    assert first["actual data bytes"] == sent.payload_bytes.sum()
    assert first["rexmt data pkts"] == again.sum()
    assert first["rexmt data bytes"] == sent.payload_bytes[again].sum()
