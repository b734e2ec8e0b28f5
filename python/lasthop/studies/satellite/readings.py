"""What the paper leaves open, as taken, and otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lasthop.studies.satellite.network import Setting

__all__ = ["DEFAULT", "READINGS", "Reading", "by"]


@dataclass(frozen=True)
class Reading:
    """A reading of the paper: what differs from the default one."""

    name: str
    #: What it means, in a line.
    about: str
    #: What differs in the queue-phase control, in sessions, and in TCP.
    queue: Mapping[str, Any] = field(default_factory=dict)
    sessions: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)


#: The reading that gives the verdicts.
DEFAULT = Reading(
    "as taken",
    "rates over 2 s, a rest of 2 s after a release in phase 2, layers counted as they are now; Berkeley to Boston at "
    "1.5 Mbit/s",
)

#: All readings: the default first.
READINGS = (
    DEFAULT,
    Reading("rates over 0.5 s", "rates are counted over 0.5 s", queue={"rate_window": "0.5 s"}),
    Reading("rates over 5 s", "rates are counted over 5 s", queue={"rate_window": "5 s"}),
    Reading("as printed", "in phase 2 a layer may be released at every check", queue={"hold": "none"}),
    Reading("rest of T_observe", "after a change none is released in phase 2 for T_observe", queue={"hold": "observe"}),
    Reading(
        "plain counts",
        "rates are what was counted, and the controller rests for 2 s after each change",
        queue={"counting": "plain"},
    ),
    Reading(
        "a packet or two in phase 1",
        "three checks that find a packet or two do not end phase 1",
        queue={"misses": 3},
    ),
    Reading("equal gaps", "the packets of a layer come at equal gaps", sessions={"jitter": 0.0}),
    Reading("layers at once", "and all layers at the same instants", sessions={"jitter": 0.0, "stagger": False}),
    Reading(
        "minimum timeout 0.2 s",
        "TCP's timeout is at least 0.2 s, as in ns-2.35",
        transport={"rto": {"min": "0.2 s"}},
    ),
    Reading("window of 20", "TCP's window is at most 20 packets, ns-2's default", transport={"window": 20}),
    Reading(
        "TCP of profile rfc",
        "TCP NewReno as the standards have it",
        transport={"profile": "rfc", "rto": {"min": "1 s"}},
    ),
)


def by(reading: Reading, setting: Setting) -> Setting:
    """The setting, read so."""
    return replace(
        setting,
        queue={**setting.queue, **reading.queue},
        sessions={**setting.sessions, **reading.sessions},
        transport={**setting.transport, **reading.transport},
    )
