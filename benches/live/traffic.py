"""The programs at the two hosts of a measurement: python traffic.py ROLE SECONDS. Receivers print one line of JSON."""

from __future__ import annotations

import json
import socket
import struct
import sys
import time

SERVER = ("10.77.0.1", 5001)
TIMESTAMPNS = 35  # SO_TIMESTAMPNS of asm-generic/socket.h
EACH_S = 1000
BYTES = 1500 - 28


def bulk_send(seconds: float) -> None:
    listening = socket.create_server(SERVER)
    connection, _ = listening.accept()
    block, until = bytes(1 << 18), time.monotonic() + seconds
    while time.monotonic() < until:
        connection.sendall(block)
    connection.close()


def bulk_receive(_: float) -> None:
    connection = connected()
    block, received, began, joined = bytearray(1 << 20), 0, 0.0, time.monotonic()
    while count := connection.recv_into(block):
        # The first half second is slow start.
        if not began and time.monotonic() > joined + 0.5:
            began, received = time.monotonic(), 0
        received += count
    print(json.dumps({"mbps": received * 8e-6 / (time.monotonic() - began)}))


def connected() -> socket.socket:
    while True:
        try:
            connection = socket.create_connection(SERVER, timeout=5)
            connection.settimeout(None)
            return connection
        except OSError:
            time.sleep(0.05)


def stamps_send(seconds: float) -> None:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    began = time.monotonic() + 0.5
    for n in range(int(seconds * EACH_S)):
        time.sleep(max(0.0, began + n / EACH_S - time.monotonic()))
        s.sendto(struct.pack("!QQ", n, time.clock_gettime_ns(time.CLOCK_REALTIME)).ljust(BYTES), ("10.77.0.2", 7000))
    time.sleep(3)


def stamps_receive(seconds: float) -> None:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", 7000))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    s.setsockopt(socket.SOL_SOCKET, TIMESTAMPNS, 1)
    s.settimeout(2)
    delays = []
    for _ in range(int(seconds * EACH_S)):
        data, options, _, _ = s.recvmsg(2000, 100)
        whole, nanos = struct.unpack("qq", options[0][2])
        delays.append(whole * 10**9 + nanos - struct.unpack("!QQ", data[:16])[1])
    delays.sort()
    at = {name: delays[int(q * (len(delays) - 1))] / 1e3 for name, q in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))}
    print(json.dumps(at))


if __name__ == "__main__":
    {role.__name__: role for role in (bulk_send, bulk_receive, stamps_send, stamps_receive)}[sys.argv[1]](
        float(sys.argv[2])
    )
