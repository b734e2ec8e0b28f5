"""The scenario of the paper, and the assumptions that the study varies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies.grid import Point

__all__ = [
    "ASSUMED",
    "DEFAULT",
    "DURATION",
    "LARGE",
    "LOADS",
    "MEDIUM",
    "PROTOCOLS",
    "SCHEDULERS",
    "SIZES",
    "SMALL",
    "TITLES",
    "WARM_UP",
    "Assumed",
    "scenario",
    "text",
]

#: The sizes of the files, in bytes: 2ⁿ − 1 segments of 1450 B for n = 2 to 10 (equation 3). The paper's equation
#: begins with one segment, but its text has six sizes below 369 750 B and two above.
SIZES = tuple(1450 * (2**n - 1) for n in range(2, 11))

#: As the paper groups them (§IV-A).
SMALL, MEDIUM, LARGE = SIZES[:6], SIZES[6], SIZES[7:]

#: The protocols and the schedulers, with their names in the paper.
PROTOCOLS = {"tcp": "TCP", "tfrc": "TFRC"}
SCHEDULERS = {"round_robin": "RR", "max_sir": "SIR"}

#: All that are run, by their short names.
TITLES = {**PROTOCOLS, **SCHEDULERS, "proportional_fair": "PF"}

#: Mobiles in the seven cells. The paper's figures are of the second.
LOADS = (50, 65)

#: Simulated seconds of a run, and how many of them are left out at its beginning.
DURATION, WARM_UP = 300.0, 5.0

#: TFRC as the paper has it: ns-2's, changed to follow RFC 3448.
TFRC = {"profile": "rfc", "version": "rfc3448", "segment": "1450 B"}

#: What ns-2's TCP and the standards' have in common here.
TCP = {"variant": "sack", "segment": "1450 B", "handshake": "data_on_syn", "initial_window": 2, "window": 1000}


@dataclass(frozen=True)
class Assumed:
    """What the paper leaves open, as taken."""

    name: str
    #: What it means, in a line.
    about: str
    #: What differs in the scenario.
    changes: Mapping[str, Any] = field(default_factory=dict)
    #: What differs in TCP.
    tcp: Mapping[str, Any] = field(default_factory=dict)
    #: Another TFRC.
    tfrc: Mapping[str, Any] = field(default_factory=lambda: TFRC)


#: The reading of the paper that gives the verdicts.
DEFAULT = Assumed("as taken", "the strongest cell serves, sites correlate by a half, 1 W beside the shared channel, "
                  "neighbours always send, codes by need; TCP as in ns-2")  # fmt: skip

#: The paper's timer.
TIMER = {"min": "1 s", "granularity": "10 ms"}

#: TCP as ns-2 has it, and as the standards do.
NS2, STANDARD = {"profile": "ns2", "rto": TIMER}, {"profile": "rfc", "rto": TIMER}

#: All readings: the default first.
ASSUMED = (
    DEFAULT,
    Assumed("own hexagon", "a mobile is served by the hexagon that it stands in", {"hsdpa.hsdpa.serving": "hexagon"}),
    Assumed("sites apart", "the shadowing toward two sites is independent", {"hsdpa.hsdpa.air.shadowing.sites": 0.0}),
    Assumed("no other power", "the shared channel has the cell for itself", {"hsdpa.hsdpa.air.other_power": "0 W"}),
    Assumed("1.9 W other power", "just less than would make the fourth rate impossible",
            {"hsdpa.hsdpa.air.other_power": "1.9 W"}),
    Assumed("neighbours by slot", "other cells disturb in the slots in which they send",
            {"hsdpa.hsdpa.air.neighbours": "by_slot"}),
    Assumed("equal codes", "the users of a slot get the same number of codes", {"hsdpa.hsdpa.split": "equal"}),
    Assumed("one user a slot", "no code multiplexing", {"hsdpa.hsdpa.users": 1}),
    Assumed("TCP begins with one", "the SYN carries the only segment of the first round trip", tcp={
        **NS2, "initial_window": 1}),
    Assumed("TCP of profile rfc", "TCP as the standards have it: RFC 6675, RFC 6298, limited transmit", tcp=STANDARD),
    Assumed("TFRC of profile ns2", "TFRC as in ns-2.35, with a no-feedback timer of 2 round trips",
            tfrc={"profile": "ns2", "segment": "1450 B", "header": "40 B", "loss_trigger": 3}),
)  # fmt: skip


@cache
def text() -> str:
    """The scenario file."""
    return (resources.files(__package__) / "scenario.toml").read_text(encoding="utf-8")


@cache
def _base() -> Scenario:
    return load(text())


def scenario(point: Point, *, assumed: Assumed = DEFAULT, duration: float = DURATION) -> Scenario:
    """The scenario of a point: `protocol`, `scheduler`, `ues`, and `spurious` if TCP is to detect such timeouts."""
    changes = {
        "hsdpa.hsdpa.scheduler": point["scheduler"],
        "hsdpa.hsdpa.ues": point["ues"],
        **assumed.changes,
    }
    if point["protocol"] == "tfrc":
        changes["flow.download.transport"] = {"tfrc": assumed.tfrc}
    elif assumed.tcp or "spurious" in point:
        detects = {**STANDARD, "spurious": point["spurious"]} if "spurious" in point else {}
        changes["flow.download.transport"] = {"tcp": {**TCP, **assumed.tcp, **detects}}
    return _base().with_(changes, duration=f"{duration:g} s")
