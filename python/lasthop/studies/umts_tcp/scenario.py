"""The scenarios of the thesis' chapters, and what the study varies of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies.grid import Point

__all__ = [
    "DEFAULT",
    "OF_FACH",
    "PARTS",
    "TCP",
    "Taken",
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
class Taken:
    """What the thesis leaves open, as taken; the defaults are those of the questions (``readings``)."""

    #: What a connection loads, as a preset of the source `web`.
    load: str = "thesis-load-main"
    #: What a terminal does that asks for dedicated channels in vain.
    refused: str = "asks_again"
    #: Whether the common channels serve a terminal while its dedicated ones are set up.
    serve_during_switch: bool = False
    min_rto: str = "1 s"
    #: How many transmissions of a PDU there may be beyond maxDAT.
    more_transmissions: int = 0
    #: Of each of the two links between server and GGSN; none: as EURANE's examples have them.
    server_delay: str | None = None
    iub: str = "15 ms"
    spacing: str = "20 us"
    profile: str = "ns2"
    #: A source in the place of web pages.
    source: Any = None

    @property
    def everywhere(self) -> dict[str, Any]:
        """What it makes of every scenario."""
        wire = ("internet", "access") if self.server_delay else ()
        return {
            "profile": self.profile,
            "cell.cell.iub.delay": self.iub,
            "cell.cell.spacing": self.spacing,
            **{f"link.{link}.delay": self.server_delay for link in wire},
        }

    @property
    def pages(self) -> dict[str, Any]:
        """What it makes of those of web pages."""
        return {
            "flow.web.source": self.source or {"web": {"load": self.load}},
            "flow.web.transport.tcp.rto.min": self.min_rto,
            "cell.cell.attachment.rrc.refused": self.refused,
            "cell.cell.attachment.rrc.serve_during_switch": self.serve_during_switch,
        }

    def rlc(self, max_dat: int) -> dict[str, Any]:
        """Acknowledged mode with this maxDAT, and what the thesis says of it."""
        mode = "eurane" if self.profile == "ns2" else "am"
        most = max_dat + self.more_transmissions
        return {mode: {"pdu": "40 B", "poll_timer": "170 ms", "buffer": "100 kB", "max_dat": most}}


#: All defaults.
DEFAULT = Taken()

#: The names of what matters to chapter 6, where there are no pages and no dedicated channels.
OF_FACH = {"min_rto", "more_transmissions", "server_delay", "iub", "spacing", "profile"}


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
