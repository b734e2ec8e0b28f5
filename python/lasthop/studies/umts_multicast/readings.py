"""What the paper leaves open, as taken, and what else it may mean: the readings that the study compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ALONE", "DEFAULT", "LONGER", "READINGS", "Reading", "losing"]

#: Bytes of a packet in each PDU of RLC: 40 B with a header of 2 B in AM, 1 B in UM, so 27 or 26 PDUs for 1000 B.
PDUS = {"am": 27, "um": 26}


@dataclass(frozen=True)
class Reading:
    """What is taken of the radio, the indication, TCP and the background."""

    name: str
    #: What it means, in a line.
    about: str
    #: Of every Node B.
    radio: Mapping[str, Any] = field(default_factory=dict)
    #: `am` or `um`: RLC in the place of the Node B's attempts.
    rlc: str = ""
    indication: str = "edge"
    requests: bool = True
    tcp: Mapping[str, Any] = field(default_factory=dict)
    background: bool = True
    #: Losses of the radio come in bursts of so many packets on average; 0: one by one.
    burst: float = 0.0
    #: How long the degradation of §5.3 lasts. If longer than the paper's 20 s, its first third is left out.
    lasts_s: float = 20.0

    @property
    def attempts(self) -> int:
        """How often a packet is sent at most."""
        return int(self.radio.get("attempts", 2))

    @property
    def rate_kbps(self) -> float:
        """The rate of a bearer."""
        return float(str(self.radio.get("rate", "384 kbit/s")).split()[0])

    @property
    def cell(self) -> Mapping[str, Any] | None:
        """A cell of UMTS with RLC instead of a Node B of MBMS."""
        if not self.rlc:
            return None
        # RLC's buffer holds what the Node B's FIFO does: 50 packets.
        rlc: dict[str, Any] = {"buffer": "50 kB"}
        if self.rlc == "am":
            rlc["max_dat"] = 2
        return {
            "attachment": "dedicated",
            "rlc": {self.rlc: rlc},
            "dch": {"down": {"rate": "384 kbit/s", "tti": "10 ms"}, "up": {"rate": "64 kbit/s", "tti": "10 ms"}},
        }

    @property
    def residual_attempts(self) -> int:
        """Of how many attempts a share of lost packets, or PDUs, is what remains."""
        return 2 if self.rlc == "am" else 1 if self.rlc == "um" or "ptm_threshold" in self.radio else self.attempts


def losing(share: float, reading: Reading) -> float:
    """With which probability what the radio sends stays lost, if so many packets of 1000 B are to stay lost."""
    return 1 - (1 - share) ** (1 / PDUS[reading.rlc]) if reading.rlc else share


#: What gives the verdicts.
DEFAULT = Reading(
    "as taken",
    "a bearer for each terminal and flow with at most two attempts, the indication after a gap (reading A), all of "
    "Table I sends",
)

#: The reading in which the temporary degradation lasts.
LONGER = "two minutes"

#: The same without the background.
ALONE = Reading("observed flows alone", "the other servers are silent", background=False)


def _alone(name: str, about: str, **differs: Any) -> Reading:
    return Reading(name, about, background=False, **differs)


#: All readings: the default first. What the background changes is seen between the first two; the others go without.
READINGS = (
    DEFAULT,
    ALONE,
    _alone("reading B", "the bit changes with each gap (toggle)", indication="toggle"),
    _alone("reading C", "the bit is set only in copies that the Node B asked for (resend)", indication="resend"),
    _alone("bit held twice", "reading A, the bit in two packets after a gap", indication="edge 2"),
    _alone("no requests", "Node Bs do not ask for what they rejected", requests=False),
    _alone("one attempt", "A = 1: a bearer of unacknowledged mode without segments", radio={"attempts": 1}),
    _alone(
        "shared bearer",
        "point to multipoint: one bearer for all of a cell that listen, one attempt (of TCP too)",
        radio={"ptm_threshold": 1, "attempts": 1},
    ),
    _alone("RLC UM", "cells with RLC in unacknowledged mode", rlc="um"),
    _alone("RLC AM", "cells with RLC in acknowledged mode, PDUs sent at most twice", rlc="am"),
    _alone("bursts", "losses of the radio in bursts of 4 attempts (Gilbert), with 2.5 % on average", burst=4.0),
    _alone(LONGER, "the temporary degradation lasts 120 s, of which the first 40 s are left out", lasts_s=120.0),
    _alone(
        "varying bearer",
        "each terminal's rate and delay are drawn anew every 5 s, from 192 to 384 kbit/s and from 20 to 120 ms",
        radio={"varying": {"slowest": "192 kbit/s", "longest": "120 ms", "period": "5 s"}},
    ),
    _alone("25 packets", "half the buffer at the Node B", radio={"queue": "25 packets"}),
    _alone("192 kbit/s", "bearers of half the rate", radio={"rate": "192 kbit/s"}),
    _alone("TCP SACK", "TCP with SACK", tcp={"variant": "sack"}),
    _alone("TCP 1 s", "TCP with a minimum timeout of 1 s", tcp={"rto": {"min": "1 s"}}),
    _alone("TCP of profile rfc", "NewReno as the standards have it", tcp={"profile": "rfc"}),
)
