"""The mechanisms: what carries the video, and the queues that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .paths import Path

__all__ = [
    "DELAYS",
    "HINTS",
    "MECHANISMS",
    "NAMES",
    "OFF",
    "RESERVED",
    "RESTART",
    "ROUTERS",
    "TODAY",
    "Mechanism",
]

#: What a terminal's word of a change makes void: nothing, what was learnt of delays, everything.
HINTS = OFF, DELAYS, RESTART = "off", "delays", "restart"


@dataclass(frozen=True)
class Mechanism:
    """How a video is carried."""

    name: str
    #: Its name in figures and tables.
    title: str
    #: The transport, by the path and by what a hint makes void.
    transport: Callable[[Path, str], Mapping[str, Any]]
    #: The queue of the bottleneck with its parameters but for the limit, if it is not DropTail.
    radio: Mapping[str, Any] = field(default_factory=dict)
    #: The queue of the wire, likewise, with its limit.
    wire: Mapping[str, Any] | None = None
    #: What the flow asks of the network.
    asks: Callable[[Path], Mapping[str, Any]] | None = None
    #: Whether the encoder keeps to the rate that is reserved.
    reserves: bool = False


def _tcp(variant: str, **more: Any) -> Callable[[Path, str], Mapping[str, Any]]:
    return lambda _, hint: {"tcp": {"variant": variant, "path_hint": hint, **more}}


def _media(congestion: Any) -> Callable[[Path, str], Mapping[str, Any]]:
    def transport(path: Path, hint: str) -> Mapping[str, Any]:
        rates = {"min_rate": f"{path.min_kbps:g} kbit/s", "max_rate": f"{path.max_kbps:g} kbit/s"}
        return {"media": {"congestion": congestion, **rates, "path_hint": hint}}

    return transport


def _tfrc(_: Path, hint: str) -> Mapping[str, Any]:
    return {"tfrc": {"handover": "restart" if hint == RESTART else "off"}}


def _steady(path: Path, _: str) -> Mapping[str, Any]:
    """A rate that does not change: the reserved one. GCC's sender does not pace: a frame leaves at once, as by UDP."""
    rate = f"{reserved_kbps(path):g} kbit/s"
    return {"media": {"congestion": "gcc", "min_rate": rate, "max_rate": rate}}


def reserved_kbps(path: Path) -> float:
    """What a video with a reservation sends: 40 % of the slow link, as in the study `handover`."""
    return 0.4 * path.slow_kbps


#: Of the rate: what RTP, UDP and IP add and frames vary by; and the bytes that a frame has at most, by the RFC 8593
#: model's burst.
_MORE, _FRAMES = 1.25, 4.0


def _bucket(path: Path) -> tuple[str, str, str]:
    rate = _MORE * reserved_kbps(path)
    return f"{rate:g} kbit/s", f"{round(_FRAMES * rate * 125 / 30)} B", "1240 B"


def _intserv(path: Path) -> Mapping[str, Any]:
    rate, bucket, packet = _bucket(path)
    return {"intserv": {"rate": rate, "bucket": bucket, "max_packet": packet}}


def _diffserv(path: Path) -> Mapping[str, Any]:
    rate, bucket, _ = _bucket(path)
    return {"diffserv": {"class": "ef", "rate": rate, "burst": bucket, "broker": "server"}}


def _swan(path: Path) -> Mapping[str, Any]:
    rate, bucket, _ = _bucket(path)
    return {"swan": {"rate": rate, "bucket": bucket}}


_DUALPI2: Mapping[str, Any] = {"dualpi2": {}}
_LIMIT = {"limit": "10 MB"}
#: The shares of the study `handover`.
_CLASSES: Mapping[str, Any] = {"ef": 0.6, "af": [0.05] * 4}

_ALL = (
    # The paper's, in the order of its Table I.
    Mechanism("intserv", "IntServ", _steady, {"wfq": {}}, {"wfq": _LIMIT}, _intserv, reserves=True),
    Mechanism(
        "diffserv", "DiffServ", _steady, {"diffserv": {"edge": True, **_CLASSES}},
        {"diffserv": {"edge": False, **_CLASSES, **_LIMIT}}, _diffserv, reserves=True,
    ),
    Mechanism("swan", "SWAN", _steady, {"swan": {}}, {"swan": _LIMIT}, _swan, reserves=True),
    Mechanism(
        "xcp", "XCP", lambda _, __: {"tcp": {"variant": "xcp"}}, {"xcp": {"capacity": "oracle"}}, {"xcp": _LIMIT}
    ),
    Mechanism("ewa", "EWA", lambda _, __: {"tcp": {"variant": "reno"}}, {"ewa": {"segment": "1500 B"}}),
    Mechanism("tfrc", "TFRC", _tfrc),
    Mechanism("reno", "TCP Reno", _tcp("reno")),
    # Today's.
    Mechanism("cubic", "CUBIC", _tcp("cubic")),
    Mechanism("bbr", "BBRv3", _tcp("bbr")),
    Mechanism("copa", "Copa", _tcp("copa")),
    Mechanism("prague", "Prague", _tcp("prague")),
    Mechanism("prague-l4s", "Prague, DualPI2", _tcp("prague"), _DUALPI2),
    Mechanism("scream", "SCReAM", _media("scream")),
    Mechanism("scream-l4s", "SCReAM L4S, DualPI2", _media({"scream": {"l4s": True}}), _DUALPI2),
    Mechanism("nada", "NADA", _media("nada")),
    Mechanism("gcc", "GCC", _media("gcc")),
)  # fmt: skip

MECHANISMS: dict[str, Mechanism] = {one.name: one for one in _ALL}
NAMES = {one.name: one.title for one in _ALL}

#: Those of routers, of them the reservations; and those of hosts that take a hint.
ROUTERS = ("xcp", "ewa", "intserv", "diffserv", "swan")
RESERVED = ("intserv", "diffserv", "swan")
TODAY = ("reno", "cubic", "bbr", "copa", "prague", "prague-l4s", "scream", "scream-l4s", "nada", "gcc")
