"""Scenarios: read from files, text or plain data, looked into, changed, never in place."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.errors import ScenarioError

__all__ = ["Scenario", "load"]


class Scenario:
    """A scenario that has been read and checked. It does not change.

    ``scenario["link"][0]["rate"]`` looks into it by the names that the file uses;
    :meth:`with_` makes another one.
    """

    __slots__ = ("_data", "_text", "core", "origin")

    def __init__(self, core: _core.Scenario, *, text: str, origin: str) -> None:
        #: The scenario as the core holds it.
        self.core = core
        #: The file that it was read from, or what stands for it.
        self.origin = origin
        self._text = text
        self._data: dict[str, Any] = json.loads(core.json())

    @property
    def text(self) -> str:
        """The text that it was read from."""
        return self._text

    @property
    def name(self) -> str:
        """Its name: the one it states, or its file's."""
        return str(self._data.get("name") or Path(self.origin).stem or "scenario")

    @property
    def seed(self) -> int:
        """The seed that it states."""
        return int(self._data["seed"])

    @property
    def duration_s(self) -> float:
        """Its simulated time, in seconds."""
        return self.core.duration_s

    def expand(self) -> str:
        """The scenario as TOML, every name and default filled in."""
        return self.core.toml()

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain data, with every default filled in."""
        return copy.deepcopy(self._data)

    def __getitem__(self, key: str) -> Any:
        return copy.deepcopy(self._data[key])

    def with_(self, changes: Mapping[str, Any] | None = None, /, **fields: Any) -> Scenario:
        """A scenario that differs in some fields.

        Fields of the scenario itself are keyword arguments. Deeper ones are keys with dots, in
        which a part of a list is addressed by its name or its number:

        >>> faster = scenario.with_({"link.radio.rate": "2 Mbit/s"}, duration="5 s")  # doctest: +SKIP
        """
        data = self.to_dict()
        for path, value in {**(changes or {}), **fields}.items():
            _assign(data, path, value)
        return _from_data(data, origin=self.origin)

    def __repr__(self) -> str:
        return f"<Scenario {self.summary()}>"

    def summary(self) -> str:
        """One line: its name and what it holds."""
        counts = []
        for key in ("link", "flow"):
            n = len(self._data.get(key, []))
            counts.append(f"{n} {key}{'' if n == 1 else 's'}")
        return f"{self.name}: {self._data['duration']}, {', '.join(counts)}, profile {self._data['profile']}"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(flow.get('name') or flow['from'] + '>' + flow['to'])}</td>"
            f"<td>{escape(flow['from'])}</td><td>{escape(flow['to'])}</td></tr>"
            for flow in self._data.get("flow", [])
        )
        return f"<p>{escape(self.summary())}</p><table><tr><th>flow</th><th>from</th><th>to</th></tr>{rows}</table>"


def load(source: str | Path | Mapping[str, Any] | Scenario) -> Scenario:
    """Reads and checks a scenario: a TOML or JSON file, TOML text, or plain data."""
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return _from_data(source, origin=str(source.get("name") or "<data>"))
    if isinstance(source, str) and "\n" in source:
        return Scenario(_core.read(source, "<text>", "toml"), text=source, origin="<text>")
    return _from_file(Path(source))


def _from_data(data: Mapping[str, Any], *, origin: str) -> Scenario:
    text = json.dumps(data, indent=1)
    return Scenario(_core.read(text, origin, "json"), text=text, origin=origin)


def _from_file(path: Path) -> Scenario:
    core = _core.read_file(str(path))
    return Scenario(core, text=path.read_text(encoding="utf-8"), origin=str(path))


def _assign(data: dict[str, Any], path: str, value: Any) -> None:
    """Puts ``value`` at ``path``, such as ``link.radio.rate`` or ``flow.0.to``."""
    here: Any = data
    keys = path.split(".")
    for i, key in enumerate(keys[:-1]):
        if isinstance(here, list):
            here = _part(here, key, path)
            continue
        if isinstance(here.get(key), str):
            # A choice by its name alone: `queue = "red"` is `queue.red = {}`.
            here[key] = {here[key]: {}}
        here = here.setdefault(key, {})
        if not isinstance(here, (dict, list)):
            raise ScenarioError(f"{path}: {'.'.join(keys[: i + 1])} has no parts", path=path)
    last = keys[-1]
    if isinstance(here, list):
        here[here.index(_part(here, last, path))] = value
    else:
        here[last] = value


def _part(parts: list[Any], key: str, path: str) -> Any:
    """The part of a list with the name or number ``key``."""
    if key.isdigit() and int(key) < len(parts):
        return parts[int(key)]
    for part in parts:
        if isinstance(part, dict) and part.get("name") == key:
            return part
    names = ", ".join(str(part.get("name", i)) for i, part in enumerate(parts) if isinstance(part, dict))
    raise ScenarioError(f"{path}: nothing is called {key!r} there; known: {names}", path=path)
