"""The scenario, and the parameters that the study varies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from lasthop.scenario import Scenario, load

__all__ = ["DELAYS", "FAST", "HANDOVERS", "SENSITIVITY", "SLOW", "Variant", "scenario", "start_times", "text"]

#: When the mobile moves to UMTS, and back to WLAN, in seconds; and the end of the run.
HANDOVERS = (10.0, 20.0)
END = 30.0

#: Packets of 1000 B per second on WLAN and on UMTS.
FAST, SLOW = 480.0, 48.0

#: The seed of the start times and of the runs.
SEED = 1


@dataclass(frozen=True)
class Variant:
    """A set of parameters."""

    name: str
    #: End-to-end one-way delays on WLAN and on UMTS, in milliseconds.
    delays_ms: tuple[int, int] = (70, 140)
    #: What else differs from the scenario file.
    changes: dict[str, Any] = field(default_factory=dict)

    def rtt_s(self, *, fast: bool) -> float:
        """The round trip of a packet on the empty path."""
        rate = FAST if fast else SLOW
        return 2 * self.delays_ms[0 if fast else 1] / 1e3 + 1 / rate


#: The paper gives no delays. All claims are judged at each of these.
DELAYS = [Variant(f"{wlan}/{umts} ms", (wlan, umts)) for wlan, umts in ((20, 40), (50, 100), (70, 140), (90, 180))]


def _handover(in_flight: str, queue: str) -> dict[str, Any]:
    return {f"change.{i}.{key}": value for i in (0, 1) for key, value in (("in_flight", in_flight), ("queue", queue))}


#: Other choices that the paper leaves open, and the standards' TCP.
SENSITIVITY = [
    Variant("in flight: finish", changes=_handover("finish", "keep")),
    Variant("queue: empty", changes=_handover("move", "empty")),
    Variant("in flight: finish, queue: empty", changes=_handover("finish", "empty")),
    Variant("minimum RTO 1 s", changes={"flow.tcp.transport.tcp.rto.min": "1 s"}),
    Variant("profile rfc", changes={"profile": "rfc", "flow.tcp.transport.tcp.rto.min": "1 s"}),
]


@cache
def text() -> str:
    """The scenario file."""
    return (resources.files(__package__) / "scenario.toml").read_text(encoding="utf-8")


@cache
def _base() -> Scenario:
    return load(text())


def scenario(variant: Variant, tcp: str, start_s: float) -> Scenario:
    """One run's scenario."""
    # A millisecond of the way is the wire's.
    wlan, umts = (f"{delay - 1} ms" for delay in variant.delays_ms)
    return _base().with_(
        {
            "link.radio.delay": wlan,
            "change.0.delay": umts,
            "change.1.delay": wlan,
            "flow.tcp.transport.tcp.variant": tcp,
            "flow.tcp.start": f"{round(start_s * 1e9)} ns",
            **variant.changes,
        }
    )


def start_times(n: int) -> Sequence[float]:
    """Start times in [0, 1) s, one drawn from each of ``n`` equal parts."""
    draw = random.Random(SEED)
    return [(i + draw.random()) / n for i in range(n)]
