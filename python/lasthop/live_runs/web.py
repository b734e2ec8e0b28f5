"""A live run as a page: a server on the loopback interface with one page and a stream of snapshots."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lasthop.report import page

__all__ = ["listen", "served"]

#: Names the descriptor of the socket for the process in the namespaces, which cannot reach the loopback interface.
SOCKET = "LASTHOP_LIVE_WEB"

#: Seconds of the past that a page gets when it is opened.
PAST = 300

#: Seconds after which a silent stream says that it is there.
SILENCE = 15.0


def listen(port: int) -> str:
    """Opens the socket, also for processes that this one starts; the page's address."""
    opened = socket.create_server(("127.0.0.1", port))
    opened.set_inheritable(True)
    os.environ[SOCKET] = str(opened.detach())
    return f"http://127.0.0.1:{_port(int(os.environ[SOCKET]))}/"


def _port(descriptor: int) -> int:
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        port: int = copy.getsockname()[1]
        return port


class _Board:
    """The snapshots so far, for any number of streams."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.past: list[tuple[int, str]] = []
        self.over = False
        self._next = 0

    def add(self, snapshot: dict[str, Any]) -> None:
        with self.changed:
            self.past.append((self._next, json.dumps(snapshot, separators=(",", ":"))))
            self._next += 1
            del self.past[:-PAST]
            self.changed.notify_all()

    def end(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def after(self, last: int) -> tuple[list[tuple[int, str]], bool]:
        """Snapshots behind this one, as soon as there are any; whether there will be more."""
        with self.changed:
            self.changed.wait_for(lambda: self.over or bool(self.after_now(last)), SILENCE)
            return self.after_now(last), not self.over

    def after_now(self, last: int) -> list[tuple[int, str]]:
        """Snapshots behind this one that there are."""
        return [one for one in self.past if one[0] > last]


@contextmanager
def served(name: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Serves the page on the socket of :func:`listen`; what is yielded adds a snapshot."""
    board = _Board()
    text = page.render("live_runs/web.html.j2", name=name).encode()
    opened = socket.socket(fileno=int(os.environ.pop(SOCKET)))
    # Programs of the run are not to have it.
    opened.set_inheritable(False)
    port = opened.getsockname()[1]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            # A page elsewhere must not read it by a name that it points here.
            if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
                self.send_error(403)
            elif self.path == "/":
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            elif self.path == "/snapshots":
                self._stream()
            else:
                self.send_error(404)

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            last, more = -1, True
            try:
                while more:
                    news, more = board.after(last)
                    for number, snapshot in news:
                        self.wfile.write(f"data: {snapshot}\n\n".encode())
                        last = number
                    self.wfile.write(b": still there\n\n" if more else b"event: over\ndata: {}\n\n")
                    self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                pass
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler, bind_and_activate=False)
    server.daemon_threads = True
    server.socket.close()
    server.socket = opened
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield board.add
    finally:
        board.end()
        server.shutdown()
        server.server_close()
