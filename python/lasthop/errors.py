"""What can go wrong, in the reader's words."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["RunError", "ScenarioError"]


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


class RunError(RuntimeError):
    """A run ended early. Its text says when and why."""
