"""A server to try: GET /N gives N bytes. Its builds differ in the congestion control of its sockets."""

import argparse
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        length = int(self.path.strip("/"))
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(bytes(length))


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--port", type=int, default=8000)
parser.add_argument("--congestion", help="such as cubic, reno; the system's if it is left out")
asked = parser.parse_args()
server = ThreadingHTTPServer(("", asked.port), Handler)
if asked.congestion:
    server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, asked.congestion.encode())
server.serve_forever()
