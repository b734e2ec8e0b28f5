"""What the paper leaves open (`paper/questions.toml`), and what a reading takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lasthop.studies import words
from lasthop.studies.readings import Reading

QUESTIONS = words.questions(__name__)

#: Packets of 1000 B per second on WLAN and on UMTS.
FAST, SLOW = 480.0, 48.0


@dataclass(frozen=True)
class Taken:
    """The parameters that answers change."""

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
    def alone(self) -> Taken:
        """What of it matters to the paper's setting."""
        return replace(self, other_kbps=Taken.other_kbps)

    @property
    def among(self) -> Taken:
        """What of it matters to the crowd, which is as the standards have it whatever the profile."""
        return replace(self, profile=Taken.profile, min_rto=Taken.min_rto)

    def delay_s(self, *, fast: bool) -> float:
        """The one-way delay of a packet of 1000 B on the empty path."""
        return self.delays_ms[0 if fast else 1] / 1e3 + 1 / (FAST if fast else SLOW)

    def rtt_s(self, *, fast: bool) -> float:
        """The round trip of such a packet."""
        return self.delay_s(fast=fast) + self.delays_ms[0 if fast else 1] / 1e3


def taken(reading: Reading) -> Taken:
    """What a reading takes."""
    changes: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in reading.changes.items()
    }
    return Taken(**changes)
