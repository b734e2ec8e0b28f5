"""The program of a host in a live run from Python: it runs commands for the process that began the run.

It is asked over a Unix socket. A connection is one command. The request is a line of JSON with the descriptors of the
command's standard streams; the answers are lines of JSON: the process number here, then the exit code. When the
connection ends, so does the command. When the process that began the run ends, so does this one, and with the last
program the run.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

#: The longest request: arguments and environment (Linux's own limit is 2 MB by default).
LONGEST = 1 << 22


def main(path: str, alive: int) -> None:
    """Serves until it is killed, or the other end of the pipe `alive` is closed."""
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_serve, args=(connection,), daemon=True).start()


def _end_with(alive: int) -> None:
    os.read(alive, 1)
    os._exit(0)


def _serve(connection: socket.socket) -> None:
    with connection, connection.makefile("w") as answers:

        def say(**answer: object) -> None:
            with suppress(OSError):
                answers.write(json.dumps(answer) + "\n")
                answers.flush()

        text, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        while not text.endswith(b"\n") and len(text) < LONGEST and (more := connection.recv(1 << 16)):
            text += more
        if not text.endswith(b"\n"):
            # It only asked whether this program is up, or has ended meanwhile.
            for stream in streams:
                os.close(stream)
            return
        asked = json.loads(text)
        try:
            # A session of its own, so that the command ends with all that it started.
            process = subprocess.Popen(
                asked["command"],
                cwd=asked["folder"],
                env={**os.environ, **asked["environment"]},
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                start_new_session=True,
            )
        except OSError as error:
            say(error=error.errno, about=error.strerror, file=error.filename)
            return
        except (IndexError, TypeError, ValueError) as error:
            # No words, or a word or a variable that no program can have.
            say(wrong=str(error))
            return
        finally:
            for stream in streams:
                os.close(stream)
        say(process=process.pid)
        threading.Thread(target=_obey, args=(connection, process), daemon=True).start()
        say(code=process.wait())


def _obey(connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """Sends the signals that are asked for; at the end of the connection the last one."""
    with suppress(OSError):
        while number := connection.recv(1):
            _signal(process, number[0])
    _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
