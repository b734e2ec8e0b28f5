"""What can go wrong, in the reader's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

__all__ = ["ControllerError", "RecordWarning", "RunError", "ScenarioError", "controller_error"]


class ScenarioError(ValueError):
    """A scenario is wrong. Its text shows each place and says what was expected there."""

    def __init__(
        self,
        rendered: str,
        message: str = "",
        origin: str = "",
        line: int | None = None,
        column: int | None = None,
        path: str = "",
        ansi: str = "",
        also: Sequence[ScenarioError] = (),
    ) -> None:
        super().__init__(rendered)
        #: One sentence.
        self.message = message or rendered
        #: The file, or what stands for it.
        self.origin = origin
        #: The line, from 1, if the scenario came from text.
        self.line = line
        #: The column, from 1.
        self.column = column
        #: The place within the scenario, such as ``flow[2].transport``.
        self.path = path
        #: The text in colours, for a terminal.
        self.ansi = ansi or rendered
        #: Other errors of the same scenario, in the order of its text; at most 9.
        self.also = tuple(also)

    def add_hint(self, hint: str) -> None:
        """Adds a line that says what to write instead."""
        self.args = (f"{self}\n = {hint}",)
        self.ansi = f"{self.ansi}\n = {hint}"

    def call(self, origin: str) -> None:
        """Names its scenario otherwise."""
        if self.origin:
            place = re.compile(rf"(--> (?:\x1b\[[\d;]*m)*){re.escape(self.origin)}")
            text, self.ansi = (place.sub(lambda found: found[1] + origin, one) for one in (str(self), self.ansi))
            self.args, self.origin = (text,), origin
        for error in self.also:
            error.call(origin)

    def to_dict(self) -> dict[str, object]:
        """The error as plain data."""
        return {
            "message": self.message,
            "origin": self.origin,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            **({"also": [error.to_dict() for error in self.also]} if self.also else {}),
        }


class RecordWarning(UserWarning):
    """A scenario asks for a quantity that nothing in it has, or for samples of which none are taken."""


class RunError(RuntimeError):
    """A run ended early. Its text says when and why."""


class ControllerError(RunError):
    """A controller in Python raised an error, which is its cause, or answered with what is no window or rate."""

    def __init__(self, message: str, *, flow: str = "", hook: str = "", time_s: float = 0.0, told: str = "") -> None:
        super().__init__(message)
        #: The flow.
        self.flow = flow
        #: The method that was called.
        self.hook = hook
        #: When, in simulated seconds.
        self.time_s = time_s
        #: The values of `m`.
        self.told = told


def controller_error(cause: BaseException, flow: str, hook: str, time_s: float, told: object) -> ControllerError:
    """The error of a call at an instant, with its cause."""
    import traceback

    place = traceback.extract_tb(cause.__traceback__)
    where = f" ({Path(place[-1].filename).name}, line {place[-1].lineno})" if place else ""
    text = f"{hook} of flow {flow} at {time_s:.6g} s: {type(cause).__name__}: {cause}{where}\n{told}"
    made = ControllerError(text, flow=flow, hook=hook, time_s=time_s, told=str(told))
    made.__cause__ = cause
    return made
