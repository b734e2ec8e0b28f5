"""The command `lasthop`: a file for each of its commands, imported when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from lasthop import __version__

__all__ = ["cli", "complain"]

#: The commands with their one-line helps, so that `lasthop --help` imports none of them.
COMMANDS = {
    "run": "Run a scenario and show its results.",
    "live": "Run a scenario by the wall clock, with real programs at its nodes.",
    "endpoint": "Run one end of TFRC, TFMCC, PGMCC or layered multicast over UDP.",
    "check": "Say whether scenario files are right.",
    "sweep": "Run a scenario at many points; resumes after an interruption.",
    "compare": "Say what differs between two stored runs or sweeps.",
    "analyze": "Say what each TCP connection did.",
    "new": "Write a commented scenario to start from.",
    "plot": "Draw what runs show over time.",
    "report": "Make one page of stored results.",
    "view": "Make a page that replays a run, packet by packet.",
    "trace": "Look at traces of links, or make one.",
    "schema": "Print what a scenario can say.",
    "studies": "List the studies and how their claims fared.",
    "reproduce": "Re-run a paper's study and judge its claims.",
}


class Commands(click.Group):
    """The group of commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(import_module(f"lasthop.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"unknown command {name!r}{did_you_mean(name, COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="lasthop %(version)s")
def cli() -> None:
    """Simulate congestion control over a radio last hop, packet by packet.

    \b
    lasthop new two-flows -o mine.toml
    lasthop run mine.toml
    """


def did_you_mean(name: str, known: object) -> str:
    """`; did you mean …?`, or which names there are."""
    from difflib import get_close_matches

    names = [str(n) for n in known]  # type: ignore[attr-defined]
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"


def complain(error: BaseException) -> int:
    """Says what went wrong; the exit code."""
    from lasthop.cli.common import colour
    from lasthop.errors import RunError, ScenarioError
    from lasthop.files import OutputRefused

    match error:
        case click.ClickException():
            error.show()
            return 2
        case ScenarioError():
            coloured = colour(sys.stderr)
            text = error.ansi if coloured else str(error)
            click.echo(text if text.startswith(("error", "\x1b")) else f"error: {text}", err=True, color=coloured)
            return 2
        case click.Abort():
            return 130
        case OutputRefused():
            click.echo(f"error: {error.command}", err=True)
            return 2
        case BrokenPipeError():
            # The reader of our output has closed it.
            _silence()
            return 0
        case OSError():
            about = error.strerror or str(error)
            if error.filename is not None:
                about = f"{os.fsdecode(error.filename)}: {about}"
            click.echo(f"error: {about}", err=True)
            try:
                sys.stdout.flush()
            except OSError:
                # It was the output itself.
                _silence()
            return 1
        case RunError() | ImportError():
            click.echo(f"error: {error}", err=True)
            return 1
    if type(error).__name__ == "PanicException":
        # A broken invariant of the core: pyo3 raises it beside the ordinary exceptions.
        click.echo(f"error: a defect of lasthop, please report it: {error}", err=True)
        return 1
    raise error


def _silence() -> None:
    """Discards the rest of the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
