"""What the commands share: options, progress, printing."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from lasthop import files

if TYPE_CHECKING:
    from rich.progress import Progress as BarOfRich

    from lasthop.scenario import Scenario

__all__ = [
    "Progress",
    "clock",
    "colour",
    "force",
    "note",
    "output",
    "print_json",
    "quiet",
    "refuse_beside",
    "scenario",
    "written",
]

#: Characters of a progress bar.
BAR = 20

F = TypeVar("F", bound=Callable[..., Any])


def output(help: str) -> Callable[[F], F]:
    """The option for the output folder."""
    return click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help=help)


def scenario(file: Path) -> Scenario:
    """The scenario of a file; of standard input if that is ``-``."""
    from lasthop.scenario import from_stream, load

    return from_stream(sys.stdin.buffer, origin="<stdin>") if str(file) == "-" else load(file)


#: Write even where something else stands.
force = click.option("--force", is_flag=True, help="Write even where something else stands.")

#: Which run is meant.
seed = click.option(
    "--seed", type=int, metavar="N", help="Which run of a folder; of a scenario another seed than its own."
)

#: Say nothing on stderr but errors.
quiet = click.option("-q", "--quiet", is_flag=True, help="No progress, no notes.")


def colour(stream: IO[str]) -> bool:
    """Whether to use colours on this stream: as ``NO_COLOR`` and ``FORCE_COLOR`` say, or on a terminal."""
    if "NO_COLOR" not in os.environ and os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def refuse_beside(option: str, why: str, heeded: Collection[str]) -> None:
    """Refuses what is given on the command line beside an option but has no meaning there."""
    context = click.get_current_context()
    for one in context.command.params:
        given = context.get_parameter_source(one.name or "") is click.core.ParameterSource.COMMANDLINE
        if given and one.name not in heeded:
            name = one.opts[-1] if isinstance(one, click.Option) else one.human_readable_name
            raise click.UsageError(f"{option} {why}: leave out {name}")


def note(text: str, *, quiet: bool = False) -> None:
    """A remark that is not data."""
    if not quiet:
        click.echo(text, err=True)


def print_json(document: object) -> None:
    """Data for machines, on stdout."""
    click.echo(files.json_text(document))


def written(paths: Sequence[Path], *, quiet: bool) -> None:
    """Says what was written."""
    for path in files.braces(paths):
        note(f"wrote {path}", quiet=quiet)


class Progress:
    """Shows how far work has come, on stderr, once it has taken two seconds.

    A terminal gets a bar that is overwritten; anything else a line every ten seconds. The time left is judged by the
    work done since the first call: a part may have been there before.
    """

    def __init__(self, what: str, total: float, unit: str, *, quiet: bool = False) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._first: tuple[float, float] | None = None
        self._terminal = sys.stderr.isatty()
        self._next = math.inf if quiet else time.monotonic() + 2.0
        self._bar: BarOfRich | None = None

    def __call__(self, share: float) -> None:
        """This share of the total is done."""
        self.at(share * self._total, self._total)

    def at(self, done: float, total: float) -> None:
        """This much is done, of a total that may grow."""
        now = time.monotonic()
        began, already = self._first = self._first or (now, done)
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 10.0)
        text = f"{self._what}: {done:.0f} of {total:.0f} {self._unit}"
        if done > already:
            text += f", {clock((now - began) * (total - done) / (done - already))} left"
        if self._terminal:
            self._draw(text, done / total if total else 1.0)
        else:
            click.echo(text, err=True)

    def _draw(self, text: str, share: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (BarColumn(bar_width=BAR), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._bar.add_task("", total=1.0)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=share, description=text, refresh=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def clock(seconds: float) -> str:
    """A time for reading."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
