"""The scenarios, and the parameters that readings change."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from lasthop.scenario import Scenario, load

__all__ = [
    "END",
    "FAST",
    "HANDOVERS",
    "SLOW",
    "Variant",
    "base",
    "start_times",
    "text",
]

#: When the mobile moves to UMTS, and back to WLAN, in seconds; and the end of the run.
HANDOVERS = (10.0, 20.0)
END = 30.0

#: Packets of 1000 B per second on WLAN and on UMTS.
FAST, SLOW = 480.0, 48.0

#: The seed of the start times and of the runs.
SEED = 1


@dataclass(frozen=True)
class Variant:
    """The parameters that readings change."""

    #: End-to-end one-way delays on WLAN and on UMTS, in milliseconds.
    delays_ms: tuple[int, int] = (70, 140)
    #: The profile of everything in the paper's setting.
    profile: str = "ns2"
    min_rto: str = "200 ms"
    #: What becomes of packets in flight and waiting at a handover.
    in_flight: str = "move"
    queue: str = "keep"
    #: What the flow beside voice and video sends in the crowd, in kbit/s on the wire.
    other_kbps: int = 96

    @property
    def alone(self) -> Variant:
        """What of it matters to the paper's setting."""
        return replace(self, other_kbps=Variant.other_kbps)

    @property
    def among(self) -> Variant:
        """What of it matters to the crowd, which is as the standards have it whatever the profile."""
        return replace(self, profile=Variant.profile, min_rto=Variant.min_rto)

    def delay_s(self, *, fast: bool) -> float:
        """The one-way delay of a packet of 1000 B on the empty path."""
        return self.delays_ms[0 if fast else 1] / 1e3 + 1 / (FAST if fast else SLOW)

    def rtt_s(self, *, fast: bool) -> float:
        """The round trip of such a packet."""
        return self.delay_s(fast=fast) + self.delays_ms[0 if fast else 1] / 1e3


@cache
def text(name: str = "scenario") -> str:
    """A scenario file: the paper's (``scenario``), or that with voice and video in a crowd (``crowd``)."""
    return (resources.files(__package__) / f"{name}.toml").read_text(encoding="utf-8")


@cache
def base(name: str = "scenario") -> Scenario:
    """The scenario of a file."""
    return load(text(name))


def changes(variant: Variant) -> dict[str, Any]:
    """What they change in either file."""
    # A millisecond of the way is the wire's.
    wlan, umts = (f"{delay - 1} ms" for delay in variant.delays_ms)
    made: dict[str, Any] = {"profile": variant.profile, "link.radio.delay": wlan}
    for i, delay in enumerate((umts, wlan)):
        made[f"change.{i}.delay"] = delay
        made[f"change.{i}.in_flight"] = variant.in_flight
        made[f"change.{i}.queue"] = variant.queue
    return made


def start_times(n: int) -> Sequence[float]:
    """Start times in [0, 1) s, one drawn from each of ``n`` equal parts."""
    draw = random.Random(SEED)
    return [(i + draw.random()) / n for i in range(n)]
