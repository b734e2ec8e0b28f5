"""Scenarios: read from files, text or plain data, looked into, changed, never in place."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import accumulate
from keyword import iskeyword
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack, cast

from lasthop import _core
from lasthop.errors import ScenarioError
from lasthop.files import text_of

if TYPE_CHECKING:
    from lasthop.builders import ScenarioFields
    from lasthop.results import Table

__all__ = [
    "Scenario",
    "as_in_a_file",
    "as_json",
    "directions",
    "from_stream",
    "from_text",
    "held",
    "is_section",
    "load",
    "of_result",
]

#: The largest scenario that is read, as from a file.
MOST_BYTES = 16_000_000


class Scenario:
    """A scenario that has been read and checked. It does not change.

    ``scenario["link"][0]["rate"]`` looks into it by the names that the file uses;
    :meth:`with_` makes another one.
    """

    __slots__ = ("_kinds", "_known", "_parts_known", "_text", "core", "origin")

    def __init__(self, core: _core.Scenario, *, text: str, origin: str) -> None:
        #: The scenario as the core holds it.
        self.core = core
        #: The file that it was read from, or what stands for it.
        self.origin = origin
        # What it names beside it is part of it wherever it goes.
        self._text = core.whole or text
        self._known: dict[str, Any] | None = None
        self._parts_known: dict[str, Any] | None = None
        # Controllers of the program, which the text only names.
        self._kinds = held(self._text)

    @property
    def _data(self) -> dict[str, Any]:
        """What it says, every name and default filled in. Of a large scenario that is much: it is made when asked."""
        if self._known is None:
            self._known = json.loads(self.core.json())
        return self._known

    @property
    def _parts(self) -> dict[str, Any]:
        """What it says, with defaults, in the parts that were written: those that stand for several are one."""
        if self._parts_known is None:
            self._parts_known = _as_written(self._data, _plain(self._text), self.origin)
        return self._parts_known

    @property
    def text(self) -> str:
        """The text that it was read from; if it names files, as JSON with their texts."""
        return self._text

    @property
    def name(self) -> str:
        """Its name: the one it states, or its file's."""
        return self.core.name or Path(self.origin).stem or "scenario"

    @property
    def seed(self) -> int:
        """The seed that it states."""
        return self.core.seed

    @property
    def duration_s(self) -> float:
        """Its simulated time, in seconds."""
        return self.core.duration_s

    def expand(self) -> str:
        """The scenario as TOML, every name and default filled in."""
        return self.core.toml()

    def to_toml(self) -> str:
        """The scenario as TOML, with what it states and no more: the text that it was read from, if that was TOML.

        Of one that names files, with their texts in the places of the names.
        """
        if not _is_json(self._text):
            return self._text
        import tomli_w

        return tomli_w.dumps(_stated(_plain(self._text)))

    def positions(self, *seconds: float) -> Table:
        """Where the satellites and terminals of its constellations are over the ground at these times.

        Columns: ``time_s``, ``node``, ``kind`` (``satellite`` or ``terminal``), ``latitude_deg``, ``longitude_deg``,
        ``altitude_km``.
        """
        from lasthop.results import Table

        return Table(_core.positions(self.core, [float(second) for second in seconds]))

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain data, with every default filled in."""
        return copy.deepcopy(self._data)

    def __getitem__(self, key: str) -> Any:
        return copy.deepcopy(self._data[key])

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def with_(self, changes: Mapping[str, Any] | None = None, /, **fields: Any) -> Scenario:
        """A scenario that differs in some fields.

        Fields of the scenario itself are keyword arguments. Deeper ones are keys with dots, in
        which a part of a list is addressed by its name or its number, and all of them by ``*``. They are those that
        were written: a flow to ``cell.ue[*]`` is one. Where there is only one, that may be left out; so may the name of
        the choice (``cell.rlc.max_dat`` for ``cell.NAME.rlc.am.max_dat``):

        >>> faster = scenario.with_({"link.radio.rate": "2 Mbit/s"}, duration="5 s")  # doctest: +SKIP
        """
        return self.changed({**(changes or {}), **fields})

    def changed(self, changes: Mapping[str, Any], *, called: str | None = None) -> Scenario:
        """What :meth:`with_` makes, ``called`` by another name in errors.

        Files that it names lie beside this one's, whatever it is called.
        """
        # What was written, not what it expands to: a default that stands there would be a choice.
        data = _plain(self._text)
        try:
            for path, value in changes.items():
                _assign(data, path, value, self._parts)
            return _from_data(data, origin=self.origin)
        except ScenarioError as error:
            for path in changes:
                if hint := _elsewhere(path, error, self._parts):
                    error.add_hint(hint)
            if called is not None:
                error.call(called)
            raise

    def way(self, path: str) -> list[str]:
        """The keys of a path, as for :meth:`with_`, with those that may be left out."""
        return _spelled_out(path, self._parts)

    def stated(self, path: str, *, of: Scenario | None = None) -> Any:
        """What the text says at a path, as for :meth:`with_`; `None` where it says nothing, or not the same of all.

        With ``of``, what the text of that scenario says there, which differs from this one in values, perhaps in names.
        """
        return _said(_plain((of or self)._text), self._parts, self.way(path), path)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same, with every default filled in."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.core.json() == other.core.json()

    def __hash__(self) -> int:
        return hash(self.core.json())

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._text, self.origin, self.core.name)

    def __repr__(self) -> str:
        return f"<Scenario {self.summary()}>"

    def summary(self) -> str:
        """One line: its name and what it holds."""
        return f"{self.name}: {self.core.summary()}"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(flow.get('name') or flow['from'] + '>' + flow['to'])}</td>"
            f"<td>{escape(flow['from'])}</td><td>{escape(flow['to'])}</td></tr>"
            for flow in self._data.get("flow", [])
        )
        return f"<p>{escape(self.summary())}</p><table><tr><th>flow</th><th>from</th><th>to</th></tr>{rows}</table>"


def load(
    source: str | Path | Mapping[str, Any] | Scenario | None = None, /, **fields: Unpack[ScenarioFields]
) -> Scenario:
    """Reads and checks a scenario: a TOML or JSON file, TOML or JSON text, plain data, or its sections by name.

    >>> import lasthop as lh
    >>> radio = lh.Link(name="radio", between=["server", "mobile"], rate="2 Mbit/s", delay="40 ms")
    >>> download = lh.Flow(from_="server", to="mobile", transport={"tcp": {"variant": "reno"}})
    >>> lh.load(duration="10 s", link=[radio], flow=[download]).duration_s
    10.0

    ``lh.Link`` and the like are dictionaries whose fields editors and type checkers know. A field that is a keyword of
    Python, ``from``, has an underscore behind it.
    """
    if source is None:
        source = cast("Mapping[str, Any]", fields)
    elif fields:
        raise TypeError("load() takes a source, or the sections of a scenario by name, not both")
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return _from_data(source, origin=str(source.get("name") or "<data>"))
    if isinstance(source, str) and "\n" in source:
        return from_text(source, origin="<text>")
    return _from_file(Path(source))


def from_text(text: str, *, origin: str) -> Scenario:
    """Reads and checks a scenario from TOML or JSON; ``origin`` names the text in errors."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ScenarioError(f"{origin} is no text: {error}", path="") from None
    origin = text_of(origin)
    return Scenario(_core.read(text, origin, "json" if _is_json(text) else "toml"), text=text, origin=origin)


def from_stream(stream: IO[bytes], *, origin: str) -> Scenario:
    """Reads and checks a scenario from what can be read once, such as a pipe; ``origin`` names it in errors."""
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ScenarioError(f"{origin} is larger than {MOST_BYTES // 1_000_000} MB; is it a scenario?")
    text = data.decode(errors="surrogateescape")
    if not text.removeprefix("\ufeff").strip():
        raise ScenarioError(f"{origin} is empty; expected a scenario (`lasthop new` writes one to start from)")
    return from_text(text, origin=origin)


def of_result(text: str, *, origin: str) -> Scenario:
    """The scenario of a result, to be looked at and not run: controllers in Python that it names are not imported."""
    if "python" not in text:
        return from_text(text, origin=origin)
    # The core imports what it reads, so it reads built-in controllers in their places.
    data = _plain(text)
    named = {place: flow["transport"][kind]["congestion"] for place, kind, flow in _controllers(data)}
    for _, kind, flow in _controllers(data):
        flow["transport"][kind]["congestion"] = "reno" if kind == "tcp" else "scream"
    scenario = Scenario(_core.read(as_json(data), origin, "json"), text=text, origin=origin)
    for place, flow in enumerate(scenario._data["flow"]):
        if place in named:
            (kind,) = flow["transport"]
            flow["transport"][kind]["congestion"] = named[place]
    return scenario


def directions(text: str) -> dict[str, str]:
    """The links of a scenario by the names that tables give their directions, such as ``radio router>mobile``."""
    found: dict[str, str] = {}
    for link in _plain(text).get("link", []):
        one, other = link["between"]
        found |= {f"{link['name']} {way}": link["name"] for way in (f"{one}>{other}", f"{other}>{one}")}
    return found


def _controllers(data: dict[str, Any]) -> list[tuple[int, str, dict[str, Any]]]:
    """The flows of a scenario with a controller in Python: the place, the kind of its transport, the flow."""
    found = []
    for place, flow in enumerate(data.get("flow", [])):
        transport = flow.get("transport")
        for kind, its in transport.items() if isinstance(transport, dict) else ():
            congestion = its.get("congestion") if isinstance(its, dict) else None
            if isinstance(congestion, dict) and "python" in congestion:
                found.append((place, kind, flow))
    return found


def _again(text: str, origin: str, name: str) -> Scenario:
    """A scenario that was read before, in another process. Its name may be its file's."""
    scenario = from_text(text, origin=origin)
    return scenario if scenario.core.name == name else scenario.with_(name=name)


def _from_data(data: Mapping[str, Any], *, origin: str) -> Scenario:
    try:
        text = as_json(data)
    except ScenarioError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise ScenarioError(f"{origin} is no plain data: {error}", path="") from None
    # A name or a value may hold an invalid character; within the text it is escaped.
    origin = text_of(origin)
    return Scenario(_core.read(text, origin, "json"), text=text, origin=origin)


def held(text: str) -> tuple[type[Any], ...]:
    """The controllers of this program that a text names: they last as long as this is kept."""
    if "python" not in text:
        return ()
    from lasthop import controller

    return controller.held(text)


def as_json(data: Any) -> str:
    """Plain data as JSON, by the names of a file, with numbers of numpy."""
    data = as_in_a_file(data)
    try:
        return json.dumps(data, indent=1, default=_number, allow_nan=False)
    except ValueError:
        for place, value in _not_finite(data):
            raise ScenarioError(f"{place}: {value} is no number", path=place) from None
        raise


def _not_finite(data: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers that JSON has no words for, NaN and infinities, with their places, such as ``link[0].rate``."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _not_finite(value, f"{place}.{key}" if place else str(key))
    elif isinstance(data, list):
        for n, value in enumerate(data):
            yield from _not_finite(value, f"{place}[{n}]")
    elif not isinstance(data, str):
        value = data.item() if hasattr(data, "item") else data
        if isinstance(value, float) and not math.isfinite(value):
            yield place, value


def as_in_a_file(data: Any) -> Any:
    """Plain data as in a file: keys such as ``from_`` without the underscore, controllers in Python by their names."""
    if isinstance(data, type):
        from lasthop.controller import Controller, MediaController, given

        return {"python": given(data)} if issubclass(data, (Controller, MediaController)) else data
    if isinstance(data, Mapping):
        return {
            key[:-1] if isinstance(key, str) and key.endswith("_") and iskeyword(key[:-1]) else key: (
                as_in_a_file(value)
            )
            for key, value in data.items()
        }
    return [as_in_a_file(one) for one in data] if isinstance(data, (list, tuple)) else data


def _number(value: Any) -> Any:
    """A number of numpy's as Python's own."""
    if not hasattr(value, "item"):
        raise TypeError(f"a {type(value).__name__} is neither text, number, truth value, list nor table")
    return value.item()


def _from_file(path: Path) -> Scenario:
    if _is_stream(path):
        with path.open("rb") as stream:
            return from_stream(stream, origin=text_of(path))
    core = _core.read_file(path)
    return Scenario(core, text=path.read_text(encoding="utf-8"), origin=text_of(path))


def _is_stream(path: Path) -> bool:
    """Whether a path is neither a file nor a folder: a pipe, as of ``<(…)`` in a shell, or a device."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:
        # Such as of a name that is too long: the core says so.
        return False


def _is_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def _plain(text: str) -> dict[str, Any]:
    """The text of a scenario that was read before, as plain data."""
    text = text.removeprefix("\ufeff")
    data: dict[str, Any] = json.loads(text if _is_json(text) else _toml_as_json(text))
    return data


@lru_cache(maxsize=16)
def _toml_as_json(toml: str) -> str:
    """A TOML text as JSON, which takes a tenth of the time to read: a scenario may be changed a thousand times.

    By the core's reader: Python's may know an older TOML.
    """
    return _core.toml_as_json(toml)


def _as_written(expanded: dict[str, Any], written: dict[str, Any], origin: str) -> dict[str, Any]:
    """What a scenario expands to, with one flow and one change for each that was written, by its name."""
    flows, changes = (written.get(section, []) for section in ("flow", "change"))
    made = dict(expanded)
    if len(flows) != len(expanded.get("flow", [])):
        # A number for a name comes back as it is, or with `[0]`, `[1]` … behind it.
        numbered = {**written, "flow": [{**flow, "name": str(place)} for place, flow in enumerate(flows)]}
        again = json.loads(_core.read(as_json(numbered), text_of(origin), "json").json())["flow"]
        first = {int(flow["name"].partition("[")[0]): flow for flow in reversed(again)}
        made["flow"] = [
            {**first[place], "name": flow.get("name") or f"{flow['from']}>{flow['to']}"}
            for place, flow in enumerate(flows)
        ]
    if len(changes) != len(expanded.get("change", [])):
        # Each has its repetitions behind it.
        times = ((change.get("repeat") or {"times": 1})["times"] for change in changes)
        places = accumulate(times, initial=0)
        made["change"] = [expanded["change"][place] for place, _ in zip(places, changes, strict=False)]
    return made


def _stated(value: Any) -> Any:
    """Plain data without what is null, which TOML has no word for."""
    if isinstance(value, dict):
        return {key: _stated(one) for key, one in value.items() if one is not None}
    return [_stated(one) for one in value] if isinstance(value, list) else value


#: The key of all parts of a list.
EACH = "*"

#: The number of a part of a list. No list has parts for more digits.
_NUMBER = re.compile("[0-9]{1,9}")


def _assign(data: dict[str, Any], path: str, value: Any, expanded: Any) -> None:
    """Puts ``value`` at ``path``, such as ``link.radio.rate``, ``flow.0.to`` or ``flow.*.start``.

    In ``expanded`` the parts of lists have the names that they got by default.
    """
    _put(data, _spelled_out(path, expanded), 0, value, expanded, [], path)


def _put(
    here: Any, keys: Sequence[str], depth: int, value: Any, expanded: Any, section: Sequence[str], path: str
) -> None:
    """Puts ``value`` where ``keys`` lead from ``depth`` on, in a part ``here``, which is of a section of the schema."""
    key = keys[depth]
    last = depth == len(keys) - 1
    places: list[Any] = [key]
    if isinstance(here, list):
        places = list(range(len(here))) if key == EACH else [_place(here, expanded, key, path)]
    elif not last:
        section = [*section, key]
        if key not in here and _is_list(section):
            raise ScenarioError(f"{path}: there is no {'.'.join(section)} in the scenario", path=path)
        if isinstance(here.get(key), str):
            # A choice by its name alone: `queue = "red"` is `queue.red = {}`.
            here[key] = {here[key]: {}}
        here.setdefault(key, {})
    for place in places:
        if last:
            here[place] = copy.deepcopy(value)
        elif isinstance(here[place], (dict, list)):
            _put(here[place], keys, depth + 1, value, _part(expanded, place), section, path)
        else:
            raise ScenarioError(f"{path}: {'.'.join(keys[: depth + 1])} has no parts", path=path)


def _said(here: Any, expanded: Any, keys: Sequence[str], path: str) -> Any:
    """What a part says where ``keys`` lead from it; `None` where it says nothing, or several do not say the same."""
    if not keys:
        return here
    key, *rest = keys
    if isinstance(here, list) and key == EACH:
        several = [_said(one, _part(expanded, place), rest, path) for place, one in enumerate(here)]
        return several[0] if several and all(one == several[0] for one in several) else None
    try:
        place: Any = _place(here, expanded, key, path) if isinstance(here, list) else key
        return _said(here[place], _part(expanded, place), rest, path)
    except (KeyError, TypeError, ScenarioError):
        return None


def _part(expanded: Any, place: Any) -> Any:
    """A part of what a scenario expands to, if it has that."""
    if isinstance(expanded, list):
        return expanded[place] if isinstance(place, int) and place < len(expanded) else None
    return expanded.get(place) if isinstance(expanded, dict) else None


def _elsewhere(path: str, error: ScenarioError, data: Any) -> str:
    """Where the last key of a path stands, if it stands nowhere at that path."""
    keys = _keys(path) or [""]
    key, unknown = keys[-1], tuple(f'unknown field "{one}"' for one in keys)
    if not error.message.startswith((*unknown, f"{path}: nothing is called {key!r} there")):
        return ""
    if places := [place for place in _places(data) if place.endswith(f".{key}")]:
        return f"{key} is a field of this scenario at {', '.join(places[:3])}"
    return f"lasthop schema {key} shows the sections with this field" if f"\n| `{key}` |" in _core.reference() else ""


def _places(data: Any, here: str = "") -> Iterator[str]:
    """The paths of all fields."""
    if isinstance(data, dict):
        for key, value in data.items():
            path = f"{here}.{key}" if here else key
            yield path
            yield from _places(value, path)
    elif isinstance(data, list) and all(isinstance(part, dict) for part in data):
        for place, part in enumerate(data):
            name = str(part.get("name", place))
            yield from _places(part, f'{here}."{name}"' if "." in name else f"{here}.{name}")


def _spelled_out(path: str, expanded: Any) -> list[str]:
    """The keys of a path, with those that may be left out: the only part of a list, and the name of a choice."""
    keys: list[str] = []
    section: list[str] = []
    here = expanded
    for key in _keys(path):
        if isinstance(here, list):
            names = [part.get("name") if isinstance(part, dict) else None for part in here]
            if key in names or _NUMBER.fullmatch(key) or len(here) != 1 or key not in _fields(".".join(section)):
                keys.append(key)
                here = here[names.index(key)] if key in names else here[int(key)] if _counts(key, here) else None
                continue
            keys.append("0")
            here = here[0]
        elif isinstance(here, dict) and len(here) == 1 and key not in here:
            [chosen] = here
            if isinstance(here[chosen], dict) and key not in _choices(".".join(section), key):
                keys.append(chosen)
                section.append(chosen)
                here = here[chosen]
        keys.append(key)
        section.append(key)
        here = here.get(key) if isinstance(here, dict) else None
    return keys


def _keys(path: str) -> list[str]:
    """The keys of a path. One in double quotes may have dots in it: ``link."radio.down".rate``."""
    return [quoted or key for quoted, key in re.findall(r'(?:^|\.)(?:"([^"]+)"(?=\.|$)|([^.]*))', path)]


def _counts(key: str, parts: list[Any]) -> bool:
    return bool(_NUMBER.fullmatch(key)) and int(key) < len(parts)


def _fields(section: str) -> frozenset[str]:
    """The fields of a section of the schema; none if there is no such section."""
    return frozenset(_section(section).get("properties", ()))


def is_section(key: str) -> bool:
    """Whether a field of the scenario itself has fields: it is a table, or a list of tables."""
    return key in _schema()["properties"] and bool(_fields(key))


def _is_list(section: Sequence[str]) -> bool:
    """Whether a field of the schema is a list of tables."""
    field = _section(".".join(section[:-1])).get("properties", {}).get(section[-1], {})
    return bool(field.get("type") == "array")


def _choices(section: str, otherwise: str) -> frozenset[str]:
    """What can be chosen in a section of the schema. If nothing can, ``otherwise`` alone."""
    ways = _section(section).get("anyOf", ())
    if not any("enum" in way for way in ways):
        return frozenset((otherwise,))
    # Those that stand alone, and those with parameters.
    return frozenset(name for way in ways for name in (*way.get("enum", ()), *way.get("required", ())))


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(_core.schema())
    return schema


@cache
def _section(section: str) -> dict[str, Any]:
    try:
        schema: dict[str, Any] = json.loads(_core.schema(section))
    except ScenarioError:
        return {}
    return schema


def _place(parts: list[Any], expanded: Any, key: str, path: str) -> int:
    """Where in a list the part with the name or number ``key`` is. A name goes before a number."""
    named = expanded if isinstance(expanded, list) and len(expanded) == len(parts) else parts
    names = [str(part.get("name", i)) if isinstance(part, dict) else str(i) for i, part in enumerate(named)]
    if key in names:
        return names.index(key)
    if _counts(key, parts):
        return int(key)
    written = {name: f'"{name}"' if "." in name else name for name in names}
    near = get_close_matches(key, names, 1) or [name for name in names if name.startswith(f"{key}.")]
    hint = f"did you mean {written[near[0]]!r}? " if near else ""
    known = ", ".join(written.values())
    raise ScenarioError(f"{path}: nothing is called {key!r} there; {hint}known: {known}", path=path)
