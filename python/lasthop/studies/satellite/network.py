"""The paper's network (Fig. 4), and the tree that goes beyond it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from lasthop.scenario import Scenario, load
from lasthop.studies import words

#: Simulated seconds of a run.
DURATION_S = 1500.0

#: The bottleneck, and the name of its direction.
CAPACITY_KBPS = 1500.0
CONTROLLED = "gateway up"

#: Layers of a session under queue-phase control, and the rate of each; the layers of RLM (§IV-D).
LAYERS, LAYER_KBPS = 15, 50.0
RLM_KBPS = (32, 64, 128, 256, 1024)

#: Bytes of every data packet on the wire, and header bytes of each kind.
PACKET = 1000
HEADERS = {"multicast": 28, "TCP": 40}

#: How the names of flows begin.
MULTICAST, TCP = "multicast", "TCP"

#: By which share of itself a gap between packets of a layer varies: as with ns-2's sources of RLM, and for both
#: schemes. Sources in
#: lockstep meet a full queue in the same order each time, so that one of two equal sessions loses more.
JITTER = 0.5

#: As the paper's sessions of RLM run in ns-2, where layers begin together.
RLM = {"layers": [f"{rate} kbit/s" for rate in RLM_KBPS], "jitter": JITTER, "stagger": False}

#: Sessions under queue-phase control.
EMPTY_LAYER = {"control": "empty_layer", "jitter": JITTER}

#: What the paper leaves open of the control, said so that it does not hang on the simulator's defaults.
QUEUE_PHASE = {"rate_window": "2 s", "hold": "observe"}

#: Takes all layers whatever comes, and never leaves one.
GREEDY = {"fixed": {"layers": LAYERS}}


#: The scenario file: scenario 1.
text = partial(words.scenario, __name__)


@dataclass(frozen=True)
class Setting:
    """What an experiment on the paper's network sets."""

    #: When each multicast session and each TCP flow starts, in seconds.
    multicast: Sequence[float] = (0.0, 0.0)
    tcp: Sequence[float] = (0.0, 0.0, 0.0)
    #: `queue phase` or `RLM`.
    scheme: str = "queue phase"
    #: Parameters that differ: of the queue-phase control, of RLM, of sessions, of TCP, of the constellation.
    queue: Mapping[str, Any] = field(default_factory=dict)
    rlm: Mapping[str, Any] = field(default_factory=dict)
    sessions: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)
    sky: Mapping[str, Any] = field(default_factory=dict)
    #: One-way delay of the wire before the gateway, in ms.
    delay_ms: float = 2.0
    #: How long the last router goes on with a layer that was left.
    leave_s: float = 2.0
    #: A second receiver of session 1: the layers that it takes whatever comes, or 0 for one that behaves.
    second: int | None = None
    #: How many bytes each TCP flow has to send; as many as it can if not said.
    tcp_bytes: int | None = None
    #: Whether all TCP flows are between the same two hosts.
    one_pair: bool = False
    record: Mapping[str, Any] = field(default_factory=dict)
    duration_s: float = DURATION_S

    def but(self, **changes: Any) -> Self:
        """The same with these; what has parameters of its own keeps those that are not named."""
        for name, value in changes.items():
            mine = getattr(self, name)
            changes[name] = {**mine, **value} if isinstance(mine, Mapping) else value
        return replace(self, **changes)


def line(setting: Setting) -> Scenario:
    """The paper's network: all sessions over one up-link."""
    data = tomllib.loads(text())
    of_tcp = next(flow["transport"]["tcp"] for flow in data["flow"] if flow["name"].startswith(TCP))
    data["duration"] = f"{setting.duration_s:g} s"
    data["record"] |= setting.record
    [sky] = data["constellation"]
    sky |= setting.sky
    controlled = setting.scheme == "queue phase"
    droptail = {"droptail": {"limit": "50 packets"}}
    sky["terminal"][0]["queue"] = _controlled(setting) if controlled else droptail
    data["link"] = [{**data["link"][0], "delay": f"{setting.delay_ms:g} ms"}]
    data["group"], data["flow"] = [], []
    layered = EMPTY_LAYER if controlled else {**RLM, "control": {"rlm": {"defects": True, **setting.rlm}}}
    for n, start in enumerate(setting.multicast):
        members, more = [f"d{n}"], {}
        _hosts(data, str(n))
        if n == 0 and setting.second is not None:
            members.append("second")
            data["link"].append(_sink("second"))
            if setting.second:
                more = {"exceptions": [{"node": "second", "control": {"fixed": {"layers": setting.second}}}]}
        data["group"].append(
            {
                "name": f"session{n}",
                "leave_latency": f"{setting.leave_s:g} s",
                "join": [{"at": f"{start:g} s", "members": members}],
            }
        )
        data["flow"].append(
            {
                "name": f"{MULTICAST} {n + 1}",
                "from": f"s{n}",
                "to": f"session{n}",
                "start": f"{start:g} s",
                "transport": {"layered": {**layered, **setting.sessions, **more}},
            }
        )
    for n, start in enumerate(setting.tcp):
        host = len(setting.multicast) + (0 if setting.one_pair else n)
        if n == 0 or not setting.one_pair:
            _hosts(data, str(host))
        data["flow"].append(
            {
                "name": f"{TCP} {n + 1}",
                "from": f"s{host}",
                "to": f"d{host}",
                "start": f"{start:g} s",
                "transport": {"tcp": {**of_tcp, **setting.transport}},
                **({} if setting.tcp_bytes is None else {"source": {"file": {"size": f"{setting.tcp_bytes} B"}}}),
            }
        )
    return load(data)


def _controlled(setting: Setting) -> dict[str, Any]:
    """A queue under queue-phase control."""
    return {"queue_phase": {**QUEUE_PHASE, **setting.queue}}


def _hosts(data: dict[str, Any], name: str) -> None:
    """A source and a sink."""
    data["link"].append({"name": f"s{name}", "between": [f"s{name}", "router"], "rate": "5 Mbit/s", "delay": "2 ms"})
    data["link"].append(_sink(f"d{name}"))


def _sink(name: str) -> dict[str, Any]:
    return {"name": name, "between": ["remote", name], "rate": "100 Mbit/s", "delay": "0 s"}


@dataclass(frozen=True)
class Branch:
    """A bottleneck of the tree, and who is behind it."""

    name: str
    #: The direction that is the bottleneck; of a down-link, of whichever satellite serves the terminal.
    where: str
    rate_kbps: float
    #: TCP flows through it.
    tcp: int
    #: Receivers of each session.
    receivers: int = 4

    @property
    def members(self) -> list[str]:
        """The receivers' hosts."""
        return [f"{self.name}{n}" for n in range(self.receivers)]

    def fair_layers(self, sessions: int) -> float:
        """What each session gets of equal shares, in layers."""
        return self.rate_kbps / (sessions + self.tcp) / LAYER_KBPS


class Tree:
    """Twelve receivers of each session behind three bottlenecks: two down-links, and a wire."""

    SESSIONS = 2
    BRANCHES = (
        Branch("boston", "down", 1500.0, 3),
        Branch("tokyo", "down", 1500.0, 1),
        Branch("campus", "campus", 1000.0, 2),
    )
    #: The receiver of session 1 that takes all layers.
    MISBEHAVES = "boston0"
    #: How long after another a receiver joins.
    APART_S = 5.3


def tree(setting: Setting, *, misbehaves: bool) -> Scenario:
    """The tree, with a receiver that misbehaves or without, and the setting's parameters."""
    data = tomllib.loads(text())
    of_tcp = next(flow["transport"]["tcp"] for flow in data["flow"] if flow["name"].startswith(TCP))
    data["duration"] = f"{setting.duration_s:g} s"
    controlled = _controlled(setting)
    [sky] = data["constellation"]
    sky["up"] = {"rate": "10 Mbit/s"}
    sky["down"] = {"queue": controlled}
    sky["terminal"] = [
        {"node": "gateway", "latitude": "37.9 deg", "longitude": "-122.3 deg"},
        {"node": "boston", "latitude": "42.3 deg", "longitude": "-71.1 deg"},
        {"node": "tokyo", "latitude": "35.7 deg", "longitude": "139.7 deg"},
    ]
    fast = {"rate": "100 Mbit/s", "delay": "1 ms"}
    data["link"] = [
        {"name": "wire", "between": ["router", "gateway"], "rate": "10 Mbit/s", "delay": "2 ms"},
        {
            "name": "campus",
            "between": ["router", "campus"],
            "rate": "1 Mbit/s",
            "delay": "20 ms",
            "queue": controlled,
            "reverse": {"queue": "droptail"},
        },
    ]
    data["group"], data["flow"] = [], []
    hosts = [host for branch in Tree.BRANCHES for host in branch.members]
    data["link"] += [
        {"name": host, "between": [branch.name, host], **fast} for branch in Tree.BRANCHES for host in branch.members
    ]
    data["link"].append({"name": "source", "between": ["source", "router"], **fast})
    for n in range(Tree.SESSIONS):
        wrong = [{"node": Tree.MISBEHAVES, "control": GREEDY}] if misbehaves and n == 0 else []
        # One after the other, so that they do not look at the same instants.
        joins = [{"at": f"{Tree.APART_S * place:g} s", "members": [host]} for place, host in enumerate(hosts)]
        data["group"].append({"name": f"session{n}", "join": joins})
        data["flow"].append(
            {
                "name": f"{MULTICAST} {n + 1}",
                "from": "source",
                "to": f"session{n}",
                "transport": {
                    "layered": {**EMPTY_LAYER, **setting.sessions, **({"exceptions": wrong} if wrong else {})}
                },
            }
        )
    for branch in Tree.BRANCHES:
        for n in range(branch.tcp):
            data["flow"].append(
                {
                    "name": f"{TCP} {branch.name} {n + 1}",
                    "from": "source",
                    "to": branch.members[n],
                    "transport": {"tcp": {**of_tcp, **setting.transport}},
                }
            )
    return load(data)
