"""The controllers: the transport that carries a video flow, and the queue in front of the bottleneck if it marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .cases import MAX_KBPS, MIN_KBPS

__all__ = ["ANCHORED", "BESIDE", "CONTROLLERS", "MARKED", "MEDIA", "NAMES", "Controller"]


@dataclass(frozen=True)
class Controller:
    """How a video flow is carried."""

    name: str
    #: The transport of a flow of this weight.
    transport: Callable[[float], Mapping[str, Any]]
    #: The queue that marks, without its limit; empty where losses and delays are all that a queue says.
    queue: Mapping[str, Any] = field(default_factory=dict)
    #: The same controller without marks.
    without: str = ""
    #: Whether it knows weights of flows.
    weighs: bool = False


def _whatever(transport: Mapping[str, Any]) -> Callable[[float], Mapping[str, Any]]:
    """The same transport for any weight."""
    return lambda _: transport


def _media(congestion: Any, **more: Any) -> Callable[[float], Mapping[str, Any]]:
    rates = {"min_rate": f"{MIN_KBPS:g} kbit/s", "max_rate": f"{MAX_KBPS:g} kbit/s"}
    return lambda weight: {
        "media": {"congestion": congestion(weight) if callable(congestion) else congestion, **rates, **more}
    }


def _nada(weight: float) -> Any:
    return {"nada": {"prio": weight}}


def _tcp(congestion: str, **more: Any) -> Callable[[float], Mapping[str, Any]]:
    return _whatever({"tcp": {"congestion": congestion, **more}})


#: For classic ECN, and for L4S.
_CODEL: Mapping[str, Any] = {"codel": {"ecn": True}}
_DUALPI2: Mapping[str, Any] = {"dualpi2": {}}

#: The marker of the outside runs marks a share that rises from 0 at 5 ms to all at 15 ms, added up without chance, by
#: what waits when a packet comes. DualPI2 has this ramp, by how long a packet has waited when it leaves, and not for
#: the last one; and there is a step at the middle.
_RAMP: Mapping[str, Any] = {"dualpi2": {"min_th": "5 ms", "range": "10 ms", "alpha": 0.0, "beta": 0.0}}
_STEP: Mapping[str, Any] = {"threshold": {"delay": "10 ms"}}

CONTROLLERS: dict[str, Controller] = {
    one.name: one
    for one in (
        Controller("nada", _media(_nada), weighs=True),
        Controller("scream", _media("scream")),
        Controller("gcc", _media("gcc")),
        Controller("tfrc", _whatever({"tfrc": {}})),
        Controller("bbr", _tcp("bbr")),
        Controller("cubic", _tcp("cubic")),
        Controller("nada-ecn", _media(_nada, ecn=True), _CODEL, "nada", weighs=True),
        Controller("scream-ecn", _media("scream", ecn=True), _CODEL, "scream"),
        Controller("scream-l4s", _media({"scream": {"l4s": True}}), _DUALPI2, "scream"),
        Controller("prague-l4s", _media("prague"), _DUALPI2),
        Controller("tfrc-ecn", _whatever({"tfrc": {"ecn": True}}), _CODEL, "tfrc"),
        Controller("cubic-ecn", _tcp("cubic", ecn=True), _CODEL, "cubic"),
        Controller("scream-ramp", _media({"scream": {"l4s": True}}), _RAMP, "scream"),
        Controller("scream-step", _media({"scream": {"l4s": True}}), _STEP, "scream"),
    )
}

#: Those made for media, and those beside them.
MEDIA = ("nada", "scream", "gcc")
BESIDE = ("tfrc", "bbr", "cubic")

#: Those that answer marks.
MARKED = tuple(name for name in CONTROLLERS if name.endswith(("-ecn", "-l4s")))

#: Those that others have run over case 5.1.
ANCHORED = (*MEDIA, "scream-ramp", "scream-step")

#: As they are written.
NAMES = {
    "nada": "NADA",
    "scream": "SCReAM",
    "gcc": "GCC",
    "tfrc": "TFRC",
    "bbr": "BBR",
    "cubic": "CUBIC",
    "nada-ecn": "NADA, CoDel marks",
    "scream-ecn": "SCReAM, CoDel marks",
    "scream-l4s": "SCReAM L4S, DualPI2",
    "prague-l4s": "UDP Prague, DualPI2",
    "tfrc-ecn": "TFRC, CoDel marks",
    "cubic-ecn": "CUBIC, CoDel marks",
    "scream-ramp": "SCReAM L4S, marks from 5 to 15 ms",
    "scream-step": "SCReAM L4S, marks above 10 ms",
}
