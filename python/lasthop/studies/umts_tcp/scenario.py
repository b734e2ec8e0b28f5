"""The scenarios of the thesis' chapters at a point."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words
from lasthop.studies.grid import Point

from .readings import DEFAULT, Taken

#: The versions of TCP, with their names in the thesis.
TCP = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "Newreno", "vegas": "Vegas", "sack": "Sack", "fack": "Fack"}

#: Where chapter 6 is divided, in seconds: the second user starts, and the end.
PARTS = (1500.0, 7500.0)


#: A scenario file: `web`, or `ftp`.
text = partial(words.scenario, __name__)


@cache
def _base(name: str, flows: int = 0) -> Scenario:
    """A scenario file, or with its first flows only."""
    base = load(text(name))
    return base.with_({"flow": base["flow"][:flows]}) if flows else base


def _changed(base: Scenario, duration: float, *changes: Mapping[str, Any]) -> Scenario:
    together = {key: value for some in changes for key, value in some.items()}
    return base.with_(together, duration=f"{duration:g} s")


def ftp(point: Point, *, taken: Taken = DEFAULT, parts: tuple[float, float] = PARTS) -> Scenario:
    """Chapter 6: a user alone, or with `users` = 2 a second one after the first part."""
    users = point.get("users", 1)
    changes: dict[str, Any] = {
        "cell.cell.loss": {"bernoulli": {"p": point["bler"]}},
        "cell.cell.rlc": taken.rlc(point.get("max_dat", 9000)),
    }
    for place in range(users):
        changes[f"flow.{place}.transport.tcp.variant"] = point["tcp"]
        changes[f"flow.{place}.transport.tcp.window"] = point.get("window", 20)
        changes[f"flow.{place}.transport.tcp.rto.min"] = taken.min_rto
    if users == 2:
        changes["flow.second.start"] = f"{parts[0]:g} s"
    return _changed(_base("ftp", users), parts[users - 1], changes, taken.everywhere)


def inactivity(point: Point, *, taken: Taken = DEFAULT, duration: float = 4000.0) -> Scenario:
    """Chapter 7: an idle dedicated channel is kept for `timer` seconds."""
    changes = {
        **_web(point),
        "cell.cell.rlc": taken.rlc(point["max_dat"]),
        "cell.cell.attachment.rrc.setup": "900 ms",
        "cell.cell.attachment.rrc.keep": f"{point['timer']} s",
        "cell.cell.attachment.rrc.preemptible": "0 s",
    }
    return _changed(_base("web"), duration, changes, taken.everywhere, taken.pages)


def hybrid(point: Point, *, taken: Taken = DEFAULT, duration: float = 4000.0) -> Scenario:
    """Chapter 8: it is kept for `np` seconds, and for `p` more if nobody else asks for it."""
    changes = {
        **_web(point),
        "cell.cell.rlc": taken.rlc(10),
        "cell.cell.attachment.rrc.setup": "500 ms",
        "cell.cell.attachment.rrc.setup_after_release": "1 s",
        "cell.cell.attachment.rrc.keep": f"{point['np']} s",
        "cell.cell.attachment.rrc.preemptible": f"{point['p']} s",
    }
    return _changed(_base("web"), duration, changes, taken.everywhere, taken.pages)


def _web(point: Point) -> dict[str, Any]:
    changes = {
        "flow.web.transport.tcp.variant": point["tcp"],
        "cell.cell.attachment.rrc.threshold": f"{point['threshold']} B",
    }
    if "initial_window" in point:
        changes["flow.web.transport.tcp.initial_window"] = point["initial_window"]
    return changes
