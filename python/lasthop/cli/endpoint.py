"""`lasthop endpoint`."""

from __future__ import annotations

import signal

import click


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def endpoint(words: tuple[str, ...]) -> int:
    """Run one end of TFRC, TFMCC, PGMCC or layered multicast over UDP.

    \b
    lasthop endpoint tfrc send --to 127.0.0.1:7000 --file original
    """
    from lasthop import _core

    # Once a session runs the core hears signals itself, and ends in order. Before, while it computes the checksum of a
    # file, Ctrl-C ends it as it ends any program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.endpoint(list(words or ("--help",)))
