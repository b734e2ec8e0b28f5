"""The scenarios of the thesis' chapters, and the assumptions that the study varies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies.grid import Point

__all__ = [
    "DEFAULT",
    "PARTS",
    "TCP",
    "Assumed",
    "ftp",
    "hybrid",
    "inactivity",
    "text",
]

#: The versions of TCP, with their names in the thesis.
TCP = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "Newreno", "vegas": "Vegas", "sack": "Sack", "fack": "Fack"}

#: Where chapter 6 is divided, in seconds: the second user starts, and the end.
PARTS = (1500.0, 7500.0)


@dataclass(frozen=True)
class Assumed:
    """What the thesis leaves open, as taken."""

    name: str
    #: What differs in every scenario.
    changes: Mapping[str, Any] = field(default_factory=dict)
    #: What differs in those of web pages.
    web: Mapping[str, Any] = field(default_factory=dict)
    #: What differs in the TCP of endless downloads.
    ftp_tcp: Mapping[str, Any] = field(default_factory=dict)
    #: How RLC works: as EURANE's, or as the standard's acknowledged mode.
    rlc: str = "eurane"


#: The reading of the thesis that gives the verdicts.
DEFAULT = Assumed("thesis' load")


@cache
def text(name: str) -> str:
    """A scenario file: `web`, or `ftp`."""
    return (resources.files(__package__) / f"{name}.toml").read_text(encoding="utf-8")


@cache
def _base(name: str, flows: int = 0) -> Scenario:
    """A scenario file, or with its first flows only."""
    base = load(text(name))
    return base.with_({"flow": base["flow"][:flows]}) if flows else base


def _changed(base: Scenario, duration: float, *changes: Mapping[str, Any]) -> Scenario:
    together = {key: value for some in changes for key, value in some.items()}
    return base.with_(together, duration=f"{duration:g} s")


def ftp(point: Point, *, assumed: Assumed = DEFAULT, parts: tuple[float, float] = PARTS) -> Scenario:
    """Chapter 6: a user alone, or with `users` = 2 a second one after the first part."""
    users = point.get("users", 1)
    changes: dict[str, Any] = {
        "cell.cell.loss": {"bernoulli": {"p": point["bler"]}},
        "cell.cell.rlc": _rlc(assumed, point.get("max_dat", 9000)),
    }
    for place in range(users):
        changes[f"flow.{place}.transport.tcp.variant"] = point["tcp"]
        changes[f"flow.{place}.transport.tcp.window"] = point.get("window", 20)
        changes |= {f"flow.{place}.transport.tcp.{key}": value for key, value in assumed.ftp_tcp.items()}
    if users == 2:
        changes["flow.second.start"] = f"{parts[0]:g} s"
    return _changed(_base("ftp", users), parts[users - 1], changes, assumed.changes)


def inactivity(point: Point, *, assumed: Assumed = DEFAULT, duration: float = 4000.0) -> Scenario:
    """Chapter 7: an idle dedicated channel is kept for `timer` seconds."""
    changes = {
        **_web(point),
        "cell.cell.rlc": _rlc(assumed, point["max_dat"]),
        "cell.cell.attachment.rrc.setup": "900 ms",
        "cell.cell.attachment.rrc.keep": f"{point['timer']} s",
        "cell.cell.attachment.rrc.preemptible": "0 s",
    }
    return _changed(_base("web"), duration, changes, assumed.changes, assumed.web)


def hybrid(point: Point, *, assumed: Assumed = DEFAULT, duration: float = 4000.0) -> Scenario:
    """Chapter 8: it is kept for `np` seconds, and for `p` more if nobody else asks for it."""
    changes = {
        **_web(point),
        "cell.cell.rlc": _rlc(assumed, 10),
        "cell.cell.attachment.rrc.setup": "500 ms",
        "cell.cell.attachment.rrc.setup_after_release": "1 s",
        "cell.cell.attachment.rrc.keep": f"{point['np']} s",
        "cell.cell.attachment.rrc.preemptible": f"{point['p']} s",
    }
    return _changed(_base("web"), duration, changes, assumed.changes, assumed.web)


def _rlc(assumed: Assumed, max_dat: int) -> dict[str, Any]:
    """Acknowledged mode with so many transmissions of a PDU at most, and what the thesis says of it."""
    return {assumed.rlc: {"pdu": "40 B", "poll_timer": "170 ms", "buffer": "100 kB", "max_dat": max_dat}}


def _web(point: Point) -> dict[str, Any]:
    changes = {
        "flow.web.transport.tcp.variant": point["tcp"],
        "cell.cell.attachment.rrc.threshold": f"{point['threshold']} B",
    }
    if "initial_window" in point:
        changes["flow.web.transport.tcp.initial_window"] = point["initial_window"]
    return changes
