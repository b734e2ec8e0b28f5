"""What mechanisms put where and how much it costs there, read off runs with more and more flows.

A path of three routers, the last of them in front of the slow link. Whatever shows values that
the same run with TCP, or without anything asked of the network, does not show, is the
mechanism's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lasthop.results import Result
from lasthop.scenario import Scenario, load

from ..network import ALL, LIMIT, Mechanism
from .grades import Parts

#: How many flows there are.
FLOWS = (1, 10, 100, 1000)

#: The routers; the last has the bottleneck.
ROUTERS = ("edge", "core", "gateway")
BOTTLENECK = "last gateway>mobile"

#: What carries data where nothing but hosts with TCP or UDP is needed.
PLAIN = {True: "none", False: "reno"}

#: Each flow sends 100 B on the wire ten times a second and asks for a little more.
RATE, SIZE, ASKED = 8000, 100, ("9 kbit/s", "500 B", "200 B")

#: What parts call their state of flows and of aggregates, and the packets of signalling that they send.
STATE = ("state_bytes", "diffserv_state_bytes", "ledger_bytes")
SIGNALLING = ("signalling_packets", "diffserv_setup_packets", "diffserv_handover_packets")

#: Arithmetic for each packet that comes, that goes, and that comes back over the link.
OPERATIONS = (
    "additions_in",
    "multiplications_in",
    "additions_out",
    "multiplications_out",
    "additions_back",
    "multiplications_back",
)

#: The same for XCP if packets had the header of its paper, which holds the window instead of rtt/cwnd.
WINDOW_HEADER = tuple(f"window_header_{name}" for name in OPERATIONS[:4])


def path(key: str, flows: int) -> Scenario:
    """A run of a mechanism of the study with so many flows."""
    return path_with(key, ALL[key], flows)


def path_with(key: str, mechanism: Mechanism, flows: int) -> Scenario:
    """A run of any mechanism, of these or of others, with so many flows."""
    every = mechanism.wire or {"droptail": {"limit": "10 MB"}}
    last = mechanism.core or mechanism.radio or {"droptail": {"limit": LIMIT}}
    # Where there is a difference between edge and core, flows enter the network at the first router.
    entry = mechanism.radio if mechanism.core else every
    queues = (every, entry, every, last)
    nodes = ["server", *ROUTERS, "mobile"]
    links = [
        {"name": name, "between": [a, b], "rate": "100 Mbit/s" if b != "mobile" else "20 Mbit/s", "delay": "5 ms",
         "queue": queue}
        for name, a, b, queue in zip(("first", "second", "third", "last"), nodes, nodes[1:], queues, strict=False)
    ]  # fmt: skip
    flow: dict[str, Any] = {
        "from": "server",
        "to": "mobile",
        "source": {"cbr": {"rate": f"{RATE} bit/s", "size": f"{SIZE} B"}},
    }
    if mechanism.reserves:
        flow["transport"] = {"udp": {"header": "0 B"}}
        if mechanism.asks:
            flow["qos"] = mechanism.asks(*ASKED)
    elif mechanism.transport is not None:
        flow["transport"] = dict(mechanism.transport)
    elif mechanism.tfrc is not None:
        flow["transport"] = {"tfrc": {}}
    else:
        flow["transport"] = {"tcp": {"variant": mechanism.tcp}}
    return load(
        {
            "name": f"path-{key}",
            "profile": "rfc",
            "duration": "3 s",
            "link": links,
            # Set-ups are spread over a second.
            "flow": [{**flow, "name": f"f{i}", "start": f"{1000 * i // flows} ms"} for i in range(flows)],
            "record": {"state": True},
        }
    )


@dataclass(frozen=True)
class Counted:
    """What a run shows of its parts."""

    #: The quantities that hosts, the bottleneck and other routers show, and what carries data.
    hosts: frozenset[str]
    bottleneck: frozenset[str]
    elsewhere: frozenset[str]
    #: Bytes of state in all routers, and in the one in the middle, which sees what comes from all edges.
    state_bytes: float
    core_bytes: float
    #: Arithmetic for each packet in front of the slow link, by the names of `OPERATIONS` and `WINDOW_HEADER`.
    operations: Mapping[str, float]
    #: Packets of signalling, sent by anybody.
    signalling: float


def reduced(result: Result) -> Counted:
    """Reduces a run."""
    hosts, bottleneck, elsewhere = set(), set(), set()
    state_bytes = core_bytes = signalling = 0.0
    last: dict[str, float] = {}
    for row in result.state.rows():
        where = row["node"] or str(row["name"]).partition(" ")[2].partition(">")[0]
        quantity = str(row["quantity"])
        if where not in ROUTERS:
            # A host's interface has the queue of its link; what hosts have to run themselves is at the ends of flows.
            if row["kind"] != "link":
                hosts.add(f"{row['kind']} {quantity}")
        elif row["name"] == BOTTLENECK:
            bottleneck.add(quantity)
            last[quantity] = row["value"]
        else:
            elsewhere.add(quantity)
        if where in ROUTERS and quantity in STATE:
            state_bytes += row["value"]
            core_bytes += row["value"] if where == "core" else 0.0
        if quantity in SIGNALLING:
            signalling += row["value"]
    hosts |= {str(label) for label in set(result.flows["transport"].tolist())}
    operations = {name: last.get(name, 0.0) / last.get(_counted(name), 1.0) for name in OPERATIONS + WINDOW_HEADER}
    return Counted(
        frozenset(hosts), frozenset(bottleneck), frozenset(elsewhere), state_bytes, core_bytes, operations, signalling
    )


def _counted(operations: str) -> str:
    """What counts the packets that a total of operations is of; where nothing does, it is a mean already."""
    return f"packets_{operations.rpartition('_')[2]}"


@dataclass(frozen=True)
class Counters:
    """What a mechanism puts where, and how much it costs."""

    flows: Sequence[int]
    #: Bytes of state in routers, by the number of flows; and of these in the core.
    state_bytes: Sequence[float]
    core_bytes: Sequence[float]
    parts: Parts
    #: Arithmetic for each packet in front of the slow link.
    operations: Mapping[str, float]
    #: Packets of signalling for each flow that is set up.
    signalling_per_flow: float
    #: Names of values that only this mechanism's parts show: hosts, bottleneck, elsewhere.
    shown: tuple[Sequence[str], Sequence[str], Sequence[str]]

    @property
    def slope(self) -> float:
        """Bytes of state in routers for each further flow."""
        return slope(self.flows, self.state_bytes)

    @property
    def core_slope(self) -> float:
        """The same in the core alone."""
        return slope(self.flows, self.core_bytes)


def slope(flows: Sequence[int], state: Sequence[float]) -> float:
    """Bytes for each further flow: a least-squares line."""
    return float(np.polyfit(flows, state, 1)[0])


def counters(runs: Sequence[Counted], plain: Sequence[Counted]) -> Counters:
    """From runs with 1, 10, 100, 1000 flows, and the same without the mechanism."""
    hosts = sorted(runs[0].hosts - plain[0].hosts)
    bottleneck = sorted(runs[0].bottleneck - plain[0].bottleneck)
    elsewhere = sorted(runs[0].elsewhere - plain[0].elsewhere)
    flows = FLOWS[: len(runs)]
    core = [run.core_bytes for run in runs]
    return Counters(
        flows=flows,
        state_bytes=[run.state_bytes for run in runs],
        core_bytes=core,
        # In the core, where the flows of all edges meet; an edge sees those of its own hosts. A byte is the least
        # that a flow's state could be.
        parts=Parts(bool(hosts), bool(bottleneck), bool(elsewhere), slope(flows, core) >= 1),
        operations=runs[-1].operations,
        signalling_per_flow=runs[-1].signalling / flows[-1],
        shown=(hosts, bottleneck, elsewhere),
    )
