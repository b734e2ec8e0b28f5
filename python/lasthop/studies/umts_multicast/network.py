"""The paper's network (Table I): who is connected to whom, who listens to what, who sends.

Servers, a router and the GGSN; 3 SGSNs, 20 RNCs, 80 Node Bs, 500 terminals. Five servers of TFMCC, five of PGMCC and
fifty of TCP send in every experiment; what an experiment looks at is some of their flows, the *observed* ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: RNCs of each SGSN, Node Bs of each RNC, all Node Bs, and terminals (Table I).
RNCS, PER_RNC = (7, 7, 6), 4
NODE_BS, UES = sum(RNCS) * PER_RNC, 500

#: Servers of each kind, and terminals in a group of the background.
MULTICAST_SERVERS, TCP_SERVERS, GROUP = 5, 50, 10

#: Bytes on the wire of every data packet, headers included.
PACKET = 1000

#: Header bytes of a data packet of each protocol.
HEADERS = {"tcp": 40, "tfmcc": 48, "pgmcc": 64, "cbr": 28}

#: The schemes with their names in the paper. MOD: modified, LEG: legacy.
SCHEMES = {
    "mod_tfmcc": "MOD_TFMCC",
    "mod_pgmcc": "MOD_PGMCC",
    "leg_tfmcc": "LEG_TFMCC",
    "leg_pgmcc": "LEG_PGMCC",
    "tcp": "TCP",
    "cbr": "CBR",
}

#: The schemes of a kind; and a source of the bearer's rate that gives way to nothing.
MODIFIED, LEGACY, FREE_RATE = ("mod_tfmcc", "mod_pgmcc"), ("leg_tfmcc", "leg_pgmcc"), "cbr"

#: The first terminal that may belong to the background: those of a lower number are observed, or idle.
BACKGROUND = 100

#: Cells from here on belong to SGSNs 1 and 2. The background is there, so that a bottleneck toward SGSN 0, or below
#: it, is shared by observed flows only.
ELSEWHERE = RNCS[0] * PER_RNC


def node_b(ue: int) -> str:
    """The Node B of a terminal: terminals go round the cells."""
    return f"nb{ue % NODE_BS}"


def rnc(ue: int) -> int:
    """The number of a terminal's RNC."""
    return ue % NODE_BS // PER_RNC


def sgsn(of: int) -> int:
    """The number of an RNC's SGSN."""
    return next(n for n in range(len(RNCS)) if of < sum(RNCS[: n + 1]))


def terminal(ue: int) -> str:
    """The name of a terminal."""
    return f"{node_b(ue)}.ue[{ue // NODE_BS}]"


def bearer(ue: int, flow: int | None = 0) -> str:
    """The name of a terminal's bearer down for the flow of this number, or for all."""
    return f"{terminal(ue)} down" + ("" if flow is None else f" flow[{flow}]")


def payload(scheme: str) -> int:
    """Bytes of payload in a packet of a scheme."""
    return PACKET - HEADERS[_protocol(scheme)]


def _protocol(scheme: str) -> str:
    return scheme.rpartition("_")[2]


@dataclass(frozen=True)
class Flow:
    """A flow to a group of terminals; of TCP, to one of them."""

    scheme: str
    members: Sequence[int]
    start_s: float = 0.0
    name: str = ""
    #: The rate of its source, in kbit/s on the wire; of CBR always, else 0 for as much as the scheme allows.
    source_kbps: float = 0.0


@dataclass(frozen=True)
class Setting:
    """What an experiment sets."""

    observed: Sequence[Flow]
    duration_s: float
    #: Of every Node B, and of single ones by name.
    radio: Mapping[str, Any] = field(default_factory=dict)
    node_bs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Of links, by name.
    links: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    changes: Sequence[Mapping[str, Any]] = ()
    #: Whether the other servers send too.
    background: bool = True
    #: The rule of the packet-loss indication, if observed schemes are modified ones.
    indication: str = "edge"
    #: Whether Node Bs then ask for what they rejected.
    requests: bool = True
    #: Parameters of TCP that differ.
    tcp: Mapping[str, Any] = field(default_factory=dict)
    #: PGMCC's constant C.
    c: float = 0.75
    cut_again: str = "later_loss"
    #: The rate of an uncontrolled flow, in kbit/s on the wire.
    cbr_kbps: float = 384.0
    #: Of every group.
    group: Mapping[str, Any] = field(default_factory=dict)
    #: Cells with RLC instead of Node Bs of MBMS: their parameters.
    cell: Mapping[str, Any] | None = None
    record: Mapping[str, Any] = field(default_factory=dict)


def text(setting: Setting) -> str:
    """The scenario file."""
    made = data(setting)
    lines = []
    for key, value in made.items():
        if isinstance(value, list):
            lines += ["", f"{key} = [", *(f"  {_inline(one)}," for one in value), "]"]
        else:
            lines.append(f"{key} = {_inline(value)}")
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_inline(one) for one in value) + "]"
    return json.dumps(value)


def data(setting: Setting) -> dict[str, Any]:
    """The scenario as plain data."""
    flows = [*setting.observed, *(_background(setting) if setting.background else ())]
    served = range(UES) if setting.background else sorted({ue for flow in flows for ue in flow.members})
    servers = _servers(flows)
    groups, written = [], []
    for number, (flow, server) in enumerate(zip(flows, servers, strict=True)):
        name = flow.name or f"{flow.scheme}{number}"
        to = terminal(flow.members[0])
        if flow.scheme != "tcp":
            to = f"group{number}"
            groups.append({"name": to, "members": [terminal(ue) for ue in flow.members], **setting.group})
        sends = {"name": name, "from": server, "to": to, "transport": _transport(flow.scheme, setting)}
        kbps = flow.source_kbps or (setting.cbr_kbps if flow.scheme == "cbr" else 0.0)
        if kbps:
            size = payload(flow.scheme)
            sends["source"] = {"cbr": {"rate": f"{kbps * size / PACKET:g} kbit/s", "size": f"{size} B"}}
        if flow.start_s:
            sends["start"] = f"{flow.start_s:g} s"
        written.append(sends)
    return {
        "name": "umts-multicast",
        "duration": f"{setting.duration_s:g} s",
        "record": {"transfers": False, **setting.record},
        "link": list(_links(servers, served, setting)),
        **_node_bs(served, setting),
        **({"change": [dict(one) for one in setting.changes]} if setting.changes else {}),
        "group": groups,
        "flow": written,
    }


def _servers(flows: Sequence[Flow]) -> list[str]:
    """The server of each flow: each has its own, as long as there are any of its kind."""
    counts: dict[str, int] = {}
    made = []
    for flow in flows:
        kind = _protocol(flow.scheme)
        number = counts.get(kind, 0)
        counts[kind] = number + 1
        made.append(f"{kind}_server{number}")
    return made


def _background(setting: Setting) -> Iterable[Flow]:
    """What the servers send that no observed flow takes."""
    taken = {ue for flow in setting.observed for ue in flow.members}
    free = (ue for ue in range(BACKGROUND, UES) if ue % NODE_BS >= ELSEWHERE and ue not in taken)
    legacy = any(flow.scheme.startswith("leg") for flow in setting.observed)
    begun = 0
    for protocol in ("tfmcc", "pgmcc", "tcp"):
        observed = sum(_protocol(flow.scheme) == protocol for flow in setting.observed)
        servers = TCP_SERVERS if protocol == "tcp" else MULTICAST_SERVERS
        for _ in range(servers - observed):
            scheme = protocol if protocol == "tcp" else f"{'leg' if legacy else 'mod'}_{protocol}"
            members = [next(free) for _ in range(1 if protocol == "tcp" else GROUP)]
            yield Flow(scheme, members, start_s=0.02 * begun)
            begun += 1


def _links(servers: Sequence[str], served: Iterable[int], setting: Setting) -> Iterable[dict[str, Any]]:
    """All links but the Iub, each as the setting has it. Delays and queues are those of EURANE's examples."""
    rncs = sorted({rnc(ue) for ue in served})
    server = {"rate": "10 Mbit/s", "delay": "35 ms", "queue": {"droptail": {"limit": "1000 packets"}}}
    core = {"rate": "622 Mbit/s", "queue": {"droptail": {"limit": "1000 packets"}}}
    links = [(name, name, "router", server) for name in servers]
    # Every server's 10 Mbit/s, together more than EURANE's 10 Mbit/s for its only server.
    links.append(("internet", "router", "ggsn", {**core, "delay": "15 ms"}))
    links += [(f"gn{n}", "ggsn", f"sgsn{n}", {**core, "delay": "10 ms"}) for n in sorted({sgsn(n) for n in rncs})]
    links += [(f"iu{n}", f"sgsn{sgsn(n)}", f"rnc{n}", {**core, "delay": "0.4 ms"}) for n in rncs]
    for name, above, below, usual in links:
        yield {"name": name, "between": [above, below], **usual, **setting.links.get(name, {})}


def _node_bs(served: Iterable[int], setting: Setting) -> dict[str, list[dict[str, Any]]]:
    """The Node Bs with their terminals, or cells with RLC."""
    last: dict[int, int] = {}
    for ue in served:
        last[ue % NODE_BS] = max(last.get(ue % NODE_BS, 0), ue // NODE_BS)
    modified = any(flow.scheme.startswith("mod") for flow in setting.observed)
    indicating = {"loss_indication": _indication(setting.indication)} if modified and setting.indication else {}
    asking = {"retransmission": {"after": "100 ms"}} if modified and setting.requests else {}
    made = []
    for n in sorted(last):
        of = {"name": f"nb{n}", "rnc": f"rnc{n // PER_RNC}", "ues": last[n] + 1}
        own = setting.node_bs.get(f"nb{n}", {})
        made.append(
            {**of, **indicating, **setting.cell, **own}
            if setting.cell is not None
            else {**of, **indicating, **asking, **setting.radio, **own}
        )
    return {"cell" if setting.cell is not None else "mbms": made}


def _indication(rule: str) -> Any:
    """`edge`, `toggle` or `resend`; `edge 2` sets the bit in two packets."""
    name, _, hold = rule.partition(" ")
    return {name: {"hold": int(hold)}} if hold else name


def _transport(scheme: str, setting: Setting) -> Any:
    kind = _protocol(scheme)
    if kind == "cbr":
        return "udp"
    if kind == "tcp":
        return {"tcp": {**TCP, **setting.tcp}}
    blame = "all"
    if scheme.startswith("mod"):
        blame = "toggle" if setting.indication == "toggle" else "indication"
    more = {"c": setting.c, "cut_again": setting.cut_again} if kind == "pgmcc" else {}
    return {kind: {"segment": f"{payload(scheme)} B", "classifier": blame, **more}}


#: ns-2's TCP NewReno; no window of the receiver in the way, a minimum timeout of 0.2 s.
TCP: Mapping[str, Any] = {
    "profile": "ns2",
    "variant": "newreno",
    "segment": f"{PACKET - HEADERS['tcp']} B",
    "window": 1000,
    "rto": {"min": "0.2 s"},
}
