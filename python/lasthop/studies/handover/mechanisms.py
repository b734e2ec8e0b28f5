"""What each mechanism puts on hosts and routers: the scenarios differ in nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lasthop.scenario import Scenario
from lasthop.studies.handover.scenario import Variant, base, changes

__all__ = ["ALL", "OBSERVED", "SINGLE", "Mechanism", "crowd", "single"]

#: Flows of the crowd that are looked at, and those that ask for service.
OBSERVED = ("voice", "video")
ASKING = (*OBSERVED, "other")

#: What a flow asks for: the rate of its tokens and its bucket. Voice sends 72 B every 20 ms, video
#: 90 kbit/s in frames of up to 2320 B, the other flow 96 kbit/s; a flow alone asks for what it sends.
ASKS = {
    "voice": ("30 kbit/s", "144 B", "72 B"),
    "video": ("100 kbit/s", "6000 B", "290 B"),
    "other": ("97 kbit/s", "2000 B", "1000 B"),
    "flow": ("155 kbit/s", "2000 B", "1000 B"),
}

#: The flow of a reservation scheme in the paper's setting: 40 % of UMTS in packets of 1000 B on the wire.
ALONE = {"cbr": {"rate": "149.3 kbit/s", "size": "972 B"}}

LIMIT = "64 kB"


@dataclass(frozen=True)
class Mechanism:
    """A mechanism, or a variety of one."""

    #: The queue of the radio link, if it is not DropTail.
    radio: Mapping[str, Any] | None = None
    #: The queue of the wire, likewise.
    wire: Mapping[str, Any] | None = None
    #: The variant of TCP that carries data, if TCP does.
    tcp: str = ""
    #: The parameters of TFRC, if that does.
    tfrc: Mapping[str, Any] | None = None
    #: What a flow that asks for these has in its place for quality of service: by flow.
    qos: Mapping[str, Any] = field(default_factory=dict)
    #: Acknowledgements take another way back.
    asymmetric: bool = False

    @property
    def reserves(self) -> bool:
        """Whether flows ask the network for service, and are carried as they are."""
        return not self.tcp and self.tfrc is None


def _xcp(capacity: Any) -> Mechanism:
    queue = {"xcp": {"limit": LIMIT, "capacity": capacity}}
    return Mechanism(radio=queue, wire={"xcp": {"limit": "10 MB"}}, tcp="xcp")


_EWA = {"ewa": {"limit": LIMIT}}

ALL: dict[str, Mechanism] = {
    "reno": Mechanism(tcp="reno"),
    "newreno": Mechanism(tcp="newreno"),
    "tfrc": Mechanism(tfrc={}),
    "xcp": _xcp("oracle"),
    "ewa": Mechanism(radio=_EWA, tcp="reno"),
    # Varieties, in the paper's setting only.
    "tfrc-rfc": Mechanism(tfrc={"profile": "rfc"}),
    "tfrc-notified": Mechanism(tfrc={"profile": "rfc", "handover": "restart"}),
    "tfrc-hint": Mechanism(tfrc={"profile": "rfc", "handover": "hint"}),
    "xcp-late": _xcp({"delayed": "1 s"}),
    "xcp-stale": _xcp("stale"),
    "xcp-measured": _xcp("measured"),
    "ewa-asymmetric": Mechanism(radio=_EWA, tcp="reno", asymmetric=True),
    "reno-asymmetric": Mechanism(tcp="reno", asymmetric=True),
}
