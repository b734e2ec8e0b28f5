"""Congestion controllers written in Python: the class to derive from, and how a scenario's names become classes."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import CellType, FunctionType, MemberDescriptorType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary, ref

if TYPE_CHECKING:
    from lasthop._core import Measurement, MediaMeasurement
    from lasthop.scenario import Scenario

__all__ = ["Controller", "MediaController", "MediaSetting", "Setting"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Setting:
    """What a controller knows of its connection when it begins."""

    #: Payload bytes of a full segment.
    segment: int
    #: The initial window, in bytes.
    initial_window: int
    #: The seed of the run.
    seed: int
    #: The name of the flow.
    flow: str


def _acts(hook: F) -> F:
    """Marks a method of the base class that does something."""
    hook.acts = True  # type: ignore[attr-defined]
    return hook


def _refuse_what_is_never_called(kind: type[Any]) -> None:
    """Refuses a class with a method that looks like one that is called and is not: misspelt, or of the other base."""
    hooks = {base: [name for name in vars(base) if name.startswith("on_")] for base in (Controller, MediaController)}
    base = next(base for base in hooks if issubclass(kind, base))
    wrong = next((name for name in sorted(dir(kind)) if name.startswith("on_") and name not in hooks[base]), None)
    if wrong is None:
        return
    other = next((other.__name__ for other in hooks if wrong in hooks[other]), None)
    near = difflib.get_close_matches(wrong, hooks[base], n=1) or hooks[base]
    meant = f"lasthop.{other} does" if other else f"did you mean {' or '.join(near)}?"
    raise TypeError(f"{kind.__qualname__} has {wrong}, which lasthop.{base.__name__} never calls: {meant}")


class Controller:
    """A congestion control: derive from it, and set ``self.window`` (bytes) and ``self.pacing_rate`` (bit/s or None).

    >>> import lasthop as lh
    >>> class Constant(lh.Controller):
    ...     def start(self, setting):
    ...         self.window = 20 * setting.segment
    ...     def on_loss(self, m):
    ...         pass

    Both are read after each call; a call may return the window instead, or the window and the rate. Between calls they
    hold: nothing grows by itself. ``m`` is one object that is used again: copy what is to last.
    """

    #: How often `on_ack` is called: ``"ack"``, ``"8 acks"``, ``"10 ms"``, ``"rtt"`` or ``"rtt/4"``.
    every = "rtt/4"
    #: The congestion window, in bytes. A window below one segment, also a negative one, counts as one.
    window: float
    #: How fast segments may leave, in bit/s, above 0; ``None`` as fast as the window allows.
    pacing_rate: float | None = None
    #: Whether packets are ECT(1) and the receiver counts marks, as L4S asks (RFC 9331). `on_ecn` is then not called:
    #: see ``m.ce``.
    l4s = False
    #: Random numbers that depend on the run's seed, the flow's name and the number of the connection alone.
    random: Random

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        _refuse_what_is_never_called(cls)

    def start(self, setting: Setting) -> Any:
        """A connection begins. The window is the initial one."""

    def on_ack(self, m: Measurement) -> Any:
        """Acknowledgements came; amounts and rates in ``m`` are since the last call."""

    @_acts
    def on_loss(self, m: Measurement) -> Any:
        """A loss was found: once in a round trip. By default the window is halved, as by RFC 5681."""
        self.window = max(m.flight // 2, 2 * m.segment)

    @_acts
    def on_timeout(self, m: Measurement) -> Any:
        """The retransmission timer expired. By default the window is one segment."""
        self.window = m.segment

    @_acts
    def on_ecn(self, m: Measurement) -> Any:
        """Marks came back: at most once in a round trip. By default as `on_loss`."""
        return self.on_loss(m)

    def on_idle(self, m: Measurement) -> Any:
        """The first packet after an empty flight left."""

    def on_limit(self, m: Measurement) -> Any:
        """A standard asks the window to be at most ``m.flight``: after idle time, and as a recovery of NewReno ends."""

    def on_undo(self, m: Measurement) -> Any:
        """A timeout proved spurious; this object is as it was before. ``m.flight`` was in flight then."""


@dataclass(frozen=True)
class MediaSetting:
    """What a controller of media knows of its flow when it begins. Rates in bit/s."""

    #: The bounds of the encoder's rate.
    min_rate: float
    max_rate: float
    #: The rate at the start.
    start_rate: float
    #: The most bytes of a packet, RTP's header included.
    packet: int
    #: The seed of the run.
    seed: int
    #: The name of the flow.
    flow: str


class MediaController:
    """A congestion control for media: derive from it, and set ``self.target_bitrate`` when a report arrives.

    >>> import lasthop as lh
    >>> class Careful(lh.MediaController):
    ...     def on_feedback(self, m):
    ...         return self.target_bitrate * (0.9 if m.lost or m.ce else 1.01)

    ``target_bitrate`` is what the encoder is to produce, in bit/s; ``pacing_rate`` how fast packets may leave, and
    ``window`` how many bytes may be in flight, each ``None`` for no limit. All are read after each call; a call may
    return the target instead.
    """

    #: The rate that the encoder is to produce, in bit/s; the bounds of the flow hold in any case.
    target_bitrate: float
    #: How fast packets may leave, in bit/s, above 0; ``None`` as fast as frames are written and the window allows.
    pacing_rate: float | None = None
    #: How many bytes may be in flight; ``None`` for no limit. One packet may be whatever the window.
    window: float | None = None
    #: Whether packets are ECT(1), as L4S asks (RFC 9331).
    l4s = False
    #: Random numbers that depend on the run's seed and the flow alone.
    random: Random

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        _refuse_what_is_never_called(cls)

    def start(self, setting: MediaSetting) -> Any:
        """A flow begins. The target is the rate at the start."""

    def on_feedback(self, m: MediaMeasurement) -> Any:
        """A report told something new; ``m.packets`` are those of which nothing was known before."""


#: Classes that were named by a program rather than by a file, the last one of a name at the end. Its scenarios
#: hold them.
_GIVEN: dict[str, list[ref[type[Controller | MediaController]]]] = {}
#: Their names, and of each ``module:Class`` the names of all that there were, by their traits.
_NAMED: WeakKeyDictionary[type[Controller | MediaController], str] = WeakKeyDictionary()
_NAMES: dict[str, dict[Hashable, str]] = {}
#: What each class has anew, whatever it does.
_OF_EACH_CLASS = {"__annotations__", "__dict__", "__weakref__"}
#: Modules read from files beside scenarios, with what their text was.
_READ: dict[Path, tuple[str, ModuleType]] = {}


def given(kind: type[Controller | MediaController]) -> str:
    """The name by which a scenario holds a class that a program puts into it.

    Another class of the same name, as a function makes them, is called ``module:Class#2``.
    """
    if kind not in _NAMED:
        whole = f"{kind.__module__}:{kind.__qualname__}"
        names = _NAMES.setdefault(whole, {})
        name = names.setdefault(_traits(kind), f"{whole}#{len(names) + 1}" if names else whole)
        _NAMED[kind] = name
        _GIVEN[name] = [*(one for one in _GIVEN.get(name, ()) if one()), ref(kind)]
    return _NAMED[kind]


def held(text: str) -> tuple[type[Controller | MediaController], ...]:
    """The classes of a program that a scenario's text, or a part of it as JSON, names."""
    return tuple(kind for name in list(_GIVEN) if (kind := _last(name)) and json.dumps(name) in text)


def _last(name: str) -> type[Controller | MediaController] | None:
    """Of the classes of this name, which are the same, the one that was given last and is still there."""
    return next((kind for one in reversed(_GIVEN.get(name, ())) if (kind := one())), None)


def _traits(kind: type[Any]) -> Hashable:
    """What tells a class from others of its name: the code of its methods, and the values that it and they hold.

    One that is only defined again, as by a cell of a notebook, is the same; one of a module is whatever the module has.
    """
    module = sys.modules.get(kind.__module__)
    if kind.__module__ != "__main__" and getattr(module, kind.__qualname__, None) is kind:
        return None

    def of(value: Any) -> Any:
        if isinstance(value, (str, bytes, int, float, NoneType)):
            return type(value), value
        if isinstance(value, tuple):
            return tuple, *map(of, value)
        return "itself" if value is kind else id(value)

    def of_cell(cell: CellType) -> Any:
        try:
            return of(cell.cell_contents)
        except ValueError:  # of a name that has no value yet
            return None

    def of_member(value: Any) -> Any:
        if isinstance(value, (staticmethod, classmethod)):
            return type(value), of_member(value.__func__)
        if isinstance(value, property):
            return property, *map(of_member, (value.fget, value.fset, value.fdel))
        if isinstance(value, MemberDescriptorType):  # of a slot
            return value.__name__
        if not isinstance(value, FunctionType):
            return of(value)
        # A text that is executed may have globals of its own.
        own = None if value.__globals__ is getattr(module, "__dict__", None) else id(value.__globals__)
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        return value.__code__, own, *map(of_cell, value.__closure__ or ()), *map(of, defaults)

    members = {name: of_member(value) for name, value in vars(kind).items() if name not in _OF_EACH_CLASS}
    return *map(id, kind.__bases__), *members.items()


def resolve(name: str, origin: str, base: str | None = None) -> type[Any]:
    """The class of a name such as ``mycc:Mine``: of a file beside the scenario, or of a module that is installed.

    It is derived from the class of this module called ``base``, or from either of them.
    """
    bases = {kind.__name__: kind for kind in (Controller, MediaController)}
    wanted = (bases[base],) if base else tuple(bases.values())
    names = " or ".join(f"lasthop.{kind.__name__}" for kind in wanted)
    if kind := _last(name):
        if issubclass(kind, wanted):
            return kind
        raise ValueError(f"{name} is no class derived from {names}")
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise ValueError(f'{name!r} names no class: write "module:Class"')
    found: Any = _module(module, Path(origin).parent)
    for part in path.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{module} has no {path}")
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, wanted)):
        raise ValueError(f"{name} is no class derived from {names}")
    return found


def is_importable(name: str) -> bool:
    """Whether another process finds the class of a name: not if a program put it into its scenario itself."""
    return _last(name) is None


def _module(name: str, folder: Path) -> ModuleType:
    path = (folder / f"{name.replace('.', '/')}.py").resolve()
    try:
        if not path.is_file():
            return importlib.import_module(name)
        text = path.read_text(encoding="utf-8")
        known = _READ.get(path)
        if known and known[0] == text:
            return known[1]
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no module")
        module = importlib.util.module_from_spec(spec)
        # A class says where it is from by this name; an installed module of the same name stays what it is.
        sys.modules.setdefault(name, module)
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"the module {name} cannot be imported: {type(error).__name__}: {error}") from error
    _READ[path] = (text, module)
    return module


def make(
    kind: type[Controller],
    options: Mapping[str, Any],
    segment: int,
    initial_window: int,
    seed: int,
    flow: str,
    stream: str,
) -> Controller:
    """A controller of a new connection; ``stream`` names its random numbers."""
    made = kind(**options)
    made.random = Random(f"{stream}/controller")
    made.window = initial_window
    # What it returns counts as what other calls return.
    answer = made.start(Setting(segment, initial_window, seed, flow))
    if isinstance(answer, tuple) and len(answer) == 2:
        made.window, made.pacing_rate = answer
    elif answer is not None:
        made.window = answer
    return made


def make_media(
    kind: type[MediaController],
    options: Mapping[str, Any],
    min_rate: float,
    max_rate: float,
    start_rate: float,
    packet: int,
    seed: int,
    flow: str,
    stream: str,
) -> MediaController:
    """A controller of a new flow of media; ``stream`` names its random numbers."""
    made = kind(**options)
    made.random = Random(f"{stream}/controller")
    made.target_bitrate = start_rate
    answer = made.start(MediaSetting(min_rate, max_rate, start_rate, packet, seed, flow))
    if answer is not None:
        made.target_bitrate = answer
    return made


def values(m: Measurement | MediaMeasurement) -> str:
    """The values of a measurement, for reading."""
    told = {name: getattr(m, name) for name in dir(m) if not name.startswith("_")}
    if "packets" in told:
        told["packets"] = len(told["packets"])
    return ", ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}" for name, value in told.items()
    )


#: What makes two runs with one seed differ.
_UNSTEADY = {"random", "secrets", "time", "uuid"}


def doubts(scenario: Scenario) -> list[str]:
    """Imports of a scenario's controllers by which runs with one seed could differ."""
    import ast

    found = []
    for name, text in _texts(scenario.to_dict(), scenario.origin).items():
        for node in ast.walk(ast.parse(text)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [
                f"{name}: line {getattr(node, 'lineno', 0)} imports {one}; "
                "self.random and m.now are the same in each run of a seed"
                for one in names
                if one.partition(".")[0] in _UNSTEADY
            ]
    return found


def sources(scenario: Mapping[str, Any], origin: str) -> dict[str, str]:
    """The classes that a scenario names, with a digest of the text of their modules."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in _texts(scenario, origin).items()}


def _texts(scenario: Mapping[str, Any], origin: str) -> dict[str, str]:
    """The classes that a scenario names, with the texts of their modules, or of the classes alone."""
    import inspect

    texts = {}
    for flow in scenario.get("flow", ()):
        transport = flow["transport"]
        chosen = (transport.get("tcp") or transport.get("media")) if isinstance(transport, dict) else None
        congestion = chosen.get("congestion") if chosen else None
        if isinstance(congestion, dict) and (named := congestion.get("python")):
            kind = resolve(named["class"], origin)
            module = sys.modules.get(kind.__module__)
            known = [text for text, read in _READ.values() if getattr(read, kind.__name__, None) is kind]
            try:
                text = (
                    known[0] if known else inspect.getsource(module if module and hasattr(module, "__file__") else kind)
                )
            except (OSError, TypeError):
                text = ""
            texts[named["class"]] = text
    return texts
