"""The command `lasthop`, and ``python -m lasthop``: Ctrl-C ends it quietly from here on, within imports too."""

from __future__ import annotations

import _thread
import io
import os
import signal
import sys
import time

__all__ = ["main"]

#: What a shell says of a command that Ctrl-C ended.
INTERRUPTED = 130


def main() -> None:
    """Runs the command. Exit 0: done. 1: failed while running, as on a full disk. 2: bad input. 130: interrupted."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files may have bytes that are no text. Python does so on stderr by itself.
        sys.stdout.reconfigure(errors="backslashreplace")
    heard, main_thread = False, _thread.get_ident()

    def interrupt(*_: object) -> None:
        nonlocal heard
        heard = True
        raise KeyboardInterrupt

    def dropped(what: sys.UnraisableHookArgs) -> None:
        # Python drops exceptions of callbacks, this one too: an interrupt that fell into one comes again, later.
        if isinstance(what.exc_value, KeyboardInterrupt):
            _thread.start_new_thread(again, ())
        else:
            sys.__unraisablehook__(what)

    def again() -> None:
        time.sleep(0.01)
        if hasattr(signal, "pthread_kill"):
            # This also wakes it from a wait.
            signal.pthread_kill(main_thread, signal.SIGINT)
        else:
            _thread.interrupt_main()

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        sys.unraisablehook = dropped
        signal.signal(signal.SIGINT, interrupt)
    try:
        from lasthop.cli import cli

        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
        # The work is complete.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BaseException as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Whatever an interrupt looks like where it fell: some libraries make other errors of it.
        if heard or isinstance(error, KeyboardInterrupt):
            if files := sys.modules.get("lasthop.files"):
                files.abandon()
            os.write(2, b"\ninterrupted\n")
            # Worker threads of an interrupted run have nothing left to do.
            os._exit(INTERRUPTED)
        from lasthop.cli import complain

        code = complain(error)
    sys.exit(code if isinstance(code, int) else 0)


def _open_closed_streams() -> None:
    """Streams that are closed, as by ``>&-`` in a shell, are empty and swallow what is written.

    Python has `None` for them, and the next file that is opened would take the number of theirs.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


if __name__ == "__main__":
    main()
