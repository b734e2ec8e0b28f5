"""What can go wrong, in the reader's words."""

from __future__ import annotations

__all__ = ["RunError", "ScenarioError"]


class ScenarioError(ValueError):
    """A scenario is wrong. Its text shows the place and says what was expected."""

    def __init__(
        self,
        rendered: str,
        message: str = "",
        origin: str = "",
        line: int | None = None,
        column: int | None = None,
        path: str = "",
        ansi: str = "",
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

    def to_dict(self) -> dict[str, object]:
        """The error as plain data."""
        return {
            "message": self.message,
            "origin": self.origin,
            "line": self.line,
            "column": self.column,
            "path": self.path,
        }


class RunError(RuntimeError):
    """A run ended early. Its text says when and why."""
