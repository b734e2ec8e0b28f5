"""What each mechanism puts on hosts and routers: the scenarios differ in nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lasthop.scenario import Scenario

from .readings import SLOW, Taken
from .scenario import base, changes

#: Flows of the crowd that are looked at, and those that ask for service.
OBSERVED = ("voice", "video")
ASKING = (*OBSERVED, "other")

#: What a flow asks for: the rate of its tokens and its bucket. Voice sends 72 B every 20 ms, video
#: 90 kbit/s in frames of up to 2320 B; a flow alone asks for what it sends. The other flow's is in `_asks`.
ASKS = {
    "voice": ("30 kbit/s", "144 B", "72 B"),
    "video": ("100 kbit/s", "6000 B", "290 B"),
    "flow": ("155 kbit/s", "2000 B", "1000 B"),
}

#: The flow of a reservation scheme in the paper's setting: 40 % of UMTS, in packets of 1000 B on the wire per second.
ALONE = 0.4 * SLOW

LIMIT = "64 kB"


@dataclass(frozen=True)
class Mechanism:
    """A mechanism, or a variety of one."""

    #: The queue of the radio link, if it is not DropTail.
    radio: Mapping[str, Any] | None = None
    #: The queue of the wire, likewise.
    wire: Mapping[str, Any] | None = None
    #: The queue of a slow link that is not at an edge of the network, if it is another than there.
    core: Mapping[str, Any] | None = None
    #: The variant of TCP that carries data, if TCP does.
    tcp: str = ""
    #: The parameters of TFRC, if that does.
    tfrc: Mapping[str, Any] | None = None
    #: Another transport that carries data, if neither does.
    transport: Mapping[str, Any] | None = None
    #: What a flow says that asks for service: from a rate, a bucket and a largest packet.
    asks: Callable[[str, str, str], Mapping[str, Any]] | None = None
    #: How many hops of radio there are; the last one changes.
    hops: int = 1
    #: Acknowledgements take another way back.
    asymmetric: bool = False

    @property
    def reserves(self) -> bool:
        """Whether flows ask the network for service, and are carried as they are."""
        return not self.tcp and self.tfrc is None and self.transport is None


def _xcp(capacity: Any) -> Mechanism:
    queue = {"xcp": {"limit": LIMIT, "capacity": capacity}}
    return Mechanism(radio=queue, wire={"xcp": {"limit": "10 MB"}}, tcp="xcp")


_WFQ = {"wfq": {"limit": LIMIT}}


def _diffserv(*, edge: bool) -> Mapping[str, Any]:
    """Expedited forwarding has the share of SWAN's real time; assured forwarding, which nobody uses, little."""
    return {"diffserv": {"edge": edge, "limit": LIMIT, "ef": 0.6, "af": [0.05] * 4}}


_SWAN = {"swan": {"limit": LIMIT}}


def _reserves(rate: str, bucket: str, packet: str) -> Mapping[str, Any]:
    return {"intserv": {"rate": rate, "bucket": bucket, "max_packet": packet}}


def _reserves_more(rate: str, bucket: str, packet: str) -> Mapping[str, Any]:
    """Half as much again."""
    more = f"{1.5 * float(rate.split()[0])} kbit/s"
    return {"intserv": {**_reserves(rate, bucket, packet)["intserv"], "reserve": more}}


def _profiled(rate: str, bucket: str, _packet: str) -> Mapping[str, Any]:
    # The broker sits a millisecond behind the edge, on the other end of the wire.
    return {"diffserv": {"class": "ef", "rate": rate, "burst": bucket, "broker": "server"}}


def _probes(rate: str, bucket: str, _packet: str) -> Mapping[str, Any]:
    return {"swan": {"rate": rate, "bucket": bucket}}


_EWA = {"ewa": {"limit": LIMIT, "segment": "1000 B"}}

ALL: dict[str, Mechanism] = {
    "reno": Mechanism(tcp="reno"),
    "newreno": Mechanism(tcp="newreno"),
    "tfrc": Mechanism(tfrc={}),
    "xcp": _xcp("oracle"),
    "ewa": Mechanism(radio=_EWA, tcp="reno"),
    "intserv": Mechanism(radio=_WFQ, wire=_WFQ, asks=_reserves),
    # With more reserved than the mean needs, as far as nine tenths of UMTS go (RFC 2212 §2.2: R above r).
    "intserv-more": Mechanism(radio=_WFQ, wire=_WFQ, asks=_reserves_more),
    "diffserv": Mechanism(
        radio=_diffserv(edge=True), wire=_diffserv(edge=False), core=_diffserv(edge=False), asks=_profiled
    ),
    "swan": Mechanism(radio=_SWAN, wire=_SWAN, asks=_probes),
    "swan-3-hops": Mechanism(radio=_SWAN, wire=_SWAN, asks=_probes, hops=3),
    # Best effort: real-time flows as they are among the others.
    "none": Mechanism(),
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

#: Those of the crowd, and those of the paper's setting.
CROWD = ("intserv", "intserv-more", "diffserv", "swan", "swan-3-hops", "xcp", "ewa", "tfrc", "reno", "none")
SINGLE = tuple(key for key in ALL if key not in ("intserv-more", "swan-3-hops", "none"))

#: Those of either setting that claims are judged on; the others are for tables and figures.
JUDGED_CROWD = ("intserv", "diffserv", "swan", "none")
JUDGED = tuple(key for key in SINGLE if key not in JUDGED_CROWD and key != "tfrc-hint")


def _transport(taken: Taken, mechanism: Mechanism) -> dict[str, Any]:
    """The transport of a flow of 1000 B on the wire, in the paper's setting."""
    if mechanism.reserves:
        return {"udp": {"header": "28 B"}}
    if mechanism.transport is not None:
        return dict(mechanism.transport)
    if mechanism.tfrc is not None:
        if mechanism.tfrc.get("profile", taken.profile) == "ns2":
            return {"tfrc": {"segment": "1000 B", "header": "0 B", "heavy_rounds": 1, **mechanism.tfrc}}
        return {"tfrc": {"segment": "960 B", **mechanism.tfrc}}
    tcp = {
        "variant": mechanism.tcp,
        "segment": "1000 B",
        "header": "0 B",
        "window": 2000,
        "rto": {"min": taken.min_rto},
    }
    return {"tcp": tcp}


def single(taken: Taken, key: str, start_s: float) -> Scenario:
    """A run of the paper's setting: one flow."""
    # What the sender's state was when a packet left is asked of the paper's TCP only.
    return alone(taken, ALL[key], start_s, variables=key == "reno")


def alone(taken: Taken, mechanism: Mechanism, start_s: float, *, variables: bool = False) -> Scenario:
    """A run of the paper's setting with any mechanism, of these or of others."""
    made = {
        **changes(taken),
        "flow.flow.transport": _transport(taken, mechanism),
        "flow.flow.start": f"{round(start_s * 1e9)} ns",
        "record.variables": variables,
    }
    if mechanism.radio:
        made["link.radio.queue"] = mechanism.radio
    if mechanism.wire:
        made["link.wire.queue"] = mechanism.wire
    if mechanism.reserves:
        made["flow.flow.source"] = {"cbr": {"interval": f"{round(1e9 / ALONE)} ns", "size": "972 B"}}
        if mechanism.asks:
            made["flow.flow.qos"] = mechanism.asks(*ASKS["flow"])
    scenario = base()
    if mechanism.asymmetric:
        wlan = taken.delays_ms[0]
        # Of two ways the shorter is taken, in each direction: data over the radio link, acknowledgements not.
        back = {"name": "back", "between": ["mobile", "server"], "rate": "3.84 Mbit/s", "delay": f"{wlan} ms",
                "queue": {"droptail": {"limit": LIMIT}}, "reverse": {"delay": "10 s"}}  # fmt: skip
        made["link"] = [*scenario["link"], back]
        made["link.radio.reverse.delay"] = "10 s"
    return scenario.with_(made)


def _crowd_transport(mechanism: Mechanism) -> dict[str, Any]:
    """The transport of a real-time flow of the crowd, as the standards have it."""
    if mechanism.reserves:
        return {"udp": {"header": "28 B"}}
    if mechanism.tfrc is not None:
        return {"tfrc": {}}
    return {"tcp": {"variant": mechanism.tcp, "segment": "960 B"}}


def _asks(flow: str, taken: Taken) -> tuple[str, str, str]:
    """What a flow of the crowd asks for; the other one for a little more than it sends."""
    return (f"{taken.other_kbps + 1} kbit/s", "2000 B", "1000 B") if flow == "other" else ASKS[flow]


def crowd(taken: Taken, key: str, start_s: float, factor: float = 1.0) -> Scenario:
    """A run of voice, video and a third flow among four greedy TCP flows, with links ``factor`` times as fast."""
    mechanism = ALL[key]
    # Whatever the profile of the paper's setting, the crowd is as the standards have it.
    made: dict[str, Any] = {**changes(taken), "profile": "rfc"}
    if mechanism.radio:
        made["link.radio.queue"] = _shared(mechanism.radio)
    if mechanism.wire:
        made["link.wire.queue"] = _shared(mechanism.wire)
    for flow in ASKING:
        made[f"flow.{flow}.transport"] = _crowd_transport(mechanism)
        made[f"flow.{flow}.start"] = f"{round(start_s * 1e9)} ns"
        if mechanism.asks:
            made[f"flow.{flow}.qos"] = mechanism.asks(*_asks(flow, taken))
    made["flow.other.source"] = {"cbr": {"rate": f"{972 * taken.other_kbps} bit/s", "size": "972 B"}}
    if mechanism.hops > 1:
        made["link"], delays = _chain(taken, mechanism)
        made["nodes"] = sorted({node for link in made["link"] for node in link["between"]})
        for i, delay in enumerate(delays):
            made[f"change.{i}.delay"] = delay
    if factor != 1.0:
        made["link.wire.rate"] = f"{round(100e6 * factor)} bit/s"
        made["link.radio.rate"] = made["change.1.rate"] = f"{round(3.84e6 * factor)} bit/s"
        made["change.0.rate"] = f"{round(384e3 * factor)} bit/s"
    return base("crowd").with_(made)


def _chain(taken: Taken, mechanism: Mechanism) -> tuple[list[dict[str, Any]], tuple[str, str]]:
    """Links of several radio hops that together have the delays of one; and the last one's delays on UMTS and WLAN."""
    wire, radio = base("crowd")["link"]
    wlan, umts = taken.delays_ms
    each = (wlan - 1) * 1000 // mechanism.hops
    nodes = [radio["between"][0], *(f"hop{i}" for i in range(1, mechanism.hops)), radio["between"][1]]
    last = len(nodes) - 2
    links = [{**wire, "queue": mechanism.wire}]
    for i, between in enumerate(pairwise(nodes)):
        name = radio["name"] if i == last else f"{radio['name']}{i + 1}"
        links.append({**radio, "name": name, "between": list(between), "delay": f"{each} us", "queue": mechanism.radio})
    return links, (f"{(umts - 1) * 1000 - last * each} us", f"{each} us")


def _shared(queue: Mapping[str, Any]) -> Mapping[str, Any]:
    """XCP's routers keep what is not XCP's apart."""
    return {"xcp": {**queue["xcp"], "share": True}} if "xcp" in queue else queue
