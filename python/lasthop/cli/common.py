"""What the commands share: options, progress, printing."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from lasthop import files

if TYPE_CHECKING:
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
    from lasthop.scenario import from_text, load

    return from_text(sys.stdin.read(), origin="<stdin>") if str(file) == "-" else load(file)


#: Write even where something else stands.
force = click.option("--force", is_flag=True, help="Write even where something else stands.")

#: Say nothing on stderr but errors.
quiet = click.option("-q", "--quiet", is_flag=True, help="No progress, no notes.")


def colour(stream: IO[str]) -> bool:
    """Whether to use colours on this stream: as ``NO_COLOR`` and ``FORCE_COLOR`` say, or on a terminal."""
    if "NO_COLOR" not in os.environ and os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


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

    A terminal gets a line with a bar that is overwritten; anything else a line every ten seconds. The
    time left is judged by the work done since the first call: a part may have been there before.
    """

    def __init__(self, what: str, total: float, unit: str, *, quiet: bool = False) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._first: tuple[float, float] | None = None
        self._terminal = sys.stderr.isatty()
        self._next = math.inf if quiet else time.monotonic() + 2.0
        self._shown = False

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        began, already = self._first = self._first or (now, share)
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 10.0)
        text = f"{self._what}: {share * self._total:.0f} of {self._total:.0f} {self._unit}"
        if share > already:
            text += f", {clock((now - began) * (1 - share) / (share - already))} left"
        self._shown = True
        if self._terminal:
            done = min(BAR, int(share * BAR))
            sys.stderr.write(f"\r{'█' * done}{'░' * (BAR - done)} {text}\x1b[K")
            sys.stderr.flush()
        else:
            click.echo(text, err=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def clock(seconds: float) -> str:
    """A time for reading."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
