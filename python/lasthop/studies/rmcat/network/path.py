"""Links and flows of a case, as sections of a scenario.

Each sender has a link of its own with the jitter of RFC 8868 §4.5, in front of the bottleneck. Two links join A and B:
by their delays one is the way forth and the other the way back, so that the two capacities change by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .cases import AUDIO_KBPS, MAX_KBPS, MIN_KBPS, Case, Media, Steps

if TYPE_CHECKING:
    from ..readings import Setting
    from .controllers import Controller

__all__ = ["AUDIO", "CBR", "CELL", "FORTH", "HOP_MS", "LONG", "PHYSICAL_MBPS", "SHORT", "VIDEO", "flows", "links"]

#: The names of flows, with their number behind; and of links.
VIDEO, AUDIO, LONG, SHORT, CBR = "video", "audio", "long TCP", "short TCP", "CBR"
FORTH, BACK, CELL = "forth", "back", "cell"

#: The delay of a bottleneck, that of the way that is not taken, and the rate of the links in front.
HOP_MS, AROUND_MS, ACCESS = 5.0, 6.0, "100 Mbit/s"

#: With background traffic in the place of a changing link its rate stays (RFC 8867 §5.1).
PHYSICAL_MBPS = 4.0

#: A datagram of background traffic: 1500 B on the wire (RFC 8868 §5.3), and what of it is payload.
WIRE_BYTES, HEADER_BYTES = 1500, 28

#: Audio: a packet each 20 ms (20 kbit/s, RFC 8867 §4.3).
AUDIO_SOURCE = {"cbr": {"rate": f"{AUDIO_KBPS:g} kbit/s", "size": "50 B"}}

#: Short TCP: files of 30 to 50 kB, evenly, with 10 s between them on average (RFC 8868 §5.1).
FILES = {"sizes": [f"{size} kB" for size in range(30, 51)], "weights": [1.0] * 21, "pause": "10 s", "pause_min": "0 s"}

#: How many short TCP flows begin with a file; the others begin with an idle period (RFC 8867 §5.7).
BEGIN_ON = 2

#: RFC 5681's congestion control (RFC 8867 §5.6, §5.7).
LONG_TCP = {"tcp": {"variant": "newreno"}}


def links(case: Case, controller: Controller, setting: Setting) -> Mapping[str, Any]:
    """Links, cells and their changes."""
    if case.users:
        return _cell(case, controller)
    made: list[Any] = []
    changes: list[Any] = []
    if case.chain:
        for (a, b), mbps in case.chain.items():
            queue = _queue(case, controller, mbps)
            made.append(_link(f"{a}-{b}", [a, b], f"{mbps:g} Mbit/s", HOP_MS, queue=queue))
    else:
        made, changes = _bottlenecks(case, controller, setting)
    for n, flow in enumerate(case.media):
        hops = 1 if not case.chain else _hops(case, flow)
        access = _link(f"in{n}", [f"s{n}", flow.way[0]], ACCESS, flow.delay_ms - hops * HOP_MS)
        made.append(access | _jitter(setting))
    for name in _others(case):
        made.append(_link(f"in {name}", [name, "a"], ACCESS, 50.0 - HOP_MS) | _jitter(setting))
    return {"link": made, "change": changes}


def _bottlenecks(case: Case, controller: Controller, setting: Setting) -> tuple[list[Any], list[Any]]:
    made, changes = [], []
    for name, steps, ahead in ((FORTH, case.forward, True), (BACK, case.backward, False)):
        background = setting.capacity == "cbr" and len(steps) > 1
        first = PHYSICAL_MBPS if background else steps[0][1]
        # The limit is in bytes of the reference capacity, which is in force at the start or, in 5.2 and 5.3, later.
        queue = _queue(case, controller, first if background else _reference(case, steps))
        delays = (HOP_MS, AROUND_MS) if ahead else (AROUND_MS, HOP_MS)
        link = _link(name, ["a", "b"], f"{first:g} Mbit/s", delays[0], queue=queue)
        made.append(link | {"reverse": {"delay": f"{delays[1]:g} ms"}})
        if not background:
            changes += [{"at": f"{at:g} s", "link": name, "rate": f"{mbps:g} Mbit/s"} for at, mbps in steps[1:]]
    return made, changes


def _reference(case: Case, steps: Steps) -> float:
    """The reference capacity of a case: the ratio 1."""
    return {"5.2": 2.0, "5.3": 1.0}.get(case.id.removeprefix("6.2: ").partition(",")[0], steps[0][1])


def _queue(case: Case, controller: Controller, mbps: float) -> Mapping[str, Any]:
    """Tail drop of so many milliseconds at the capacity, or the queue that marks."""
    size = f"{round(case.queue_ms * mbps * 1e3 / 8)} B"
    if not controller.queue:
        return {"droptail": {"limit": size}}
    [(kind, config)] = controller.queue.items()
    return {kind: {**config, "limit": size}} if kind == "dualpi2" else {kind: config}


def _link(name: str, between: list[str], rate: str, delay_ms: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "between": between, "rate": rate, "delay": f"{delay_ms:g} ms", **more}


def _jitter(setting: Setting) -> dict[str, Any]:
    return {} if setting.jitter is None else {"jitter": setting.jitter}


def _hops(case: Case, flow: Media) -> int:
    nodes = sorted({node for pair in case.chain for node in pair})
    first, last = (nodes.index(node) for node in flow.way)
    return abs(last - first)


def _others(case: Case) -> list[str]:
    """The nodes of other senders."""
    tcp = [f"tcp{n}" for n in range(len(case.long_tcp) + case.short_tcp)]
    return [*tcp, *(["cbr"] if case.cbr else [])]


def _cell(case: Case, controller: Controller) -> Mapping[str, Any]:
    # RFC 8869 §2.1: the fixed side 10 ms one way at 10 Gbit/s, a radius of 166.666 m.
    queue = controller.queue or {"droptail": {"limit": "200 packets"}}
    wire = _link("wire", ["server", "node_b"], "10 Gbit/s", 10.0)
    cell = {
        "name": CELL, "node": "node_b", "ues": case.users, "rings": 0, "radius": "166.666 m",
        "scheduler": "proportional_fair", "queue": queue,
    }  # fmt: skip
    return {"link": [wire], "hsdpa": [cell]}


def flows(case: Case, controller: Controller, setting: Setting) -> list[dict[str, Any]]:
    """All flows of a case."""
    made = []
    for n, flow in enumerate(case.media):
        ends = {"from": "server", "to": f"{CELL}.ue[{n}]"} if case.users else {"from": f"s{n}", "to": flow.way[1]}
        ends |= {"start": f"{flow.start_s:g} s"}
        encoder = {
            "min_rate": f"{MIN_KBPS:g} kbit/s", "max_rate": f"{MAX_KBPS:g} kbit/s", **setting.encoder,
            **({"pauses": [[f"{at:g} s" for at in flow.pause_s]]} if flow.pause_s else {}),
        }  # fmt: skip
        source = "greedy" if controller.name in setting.paced else {"encoder": encoder}
        made.append({"name": f"{VIDEO} {n}", "transport": controller.transport(flow.weight), "source": source} | ends)
        if setting.audio:
            made.append({"name": f"{AUDIO} {n}", "transport": "udp", "source": AUDIO_SOURCE} | ends)
    tcp = iter(range(len(case.long_tcp) + case.short_tcp))
    for n, start in enumerate(case.long_tcp):
        made.append(_tcp(f"{LONG} {n}", next(tcp)) | {"start": f"{start:g} s"})
    for n in range(case.short_tcp):
        first = "0 s" if n < BEGIN_ON else "20 s"
        made.append(_tcp(f"{SHORT} {n}", next(tcp)) | {"source": {"files": {**FILES, "first": first}}})
    if case.cbr:
        begin, end, share = case.cbr
        made.append(_constant(CBR, "cbr", "b", begin, end, 1e3 * share * case.forward[0][1]))
    return [*made, *_background(case, setting)]


def _tcp(name: str, node: int) -> dict[str, Any]:
    return {"name": name, "from": f"tcp{node}", "to": "b", "transport": LONG_TCP}


def _background(case: Case, setting: Setting) -> list[dict[str, Any]]:
    """What takes 4 - Y·r of 4 Mbit/s (RFC 8867 §5.1)."""
    if setting.capacity != "cbr":
        return []
    made = []
    for name, steps, ends in (("forth", case.forward, ("a", "b")), ("back", case.backward, ("b", "a"))):
        if len(steps) > 1:
            until = [*(at for at, _ in steps[1:]), case.seconds]
            for (begin, mbps), end in zip(steps, until, strict=True):
                if mbps < PHYSICAL_MBPS:
                    made.append(_constant(f"{CBR} {name} {begin:g}", *ends, begin, end, 1e3 * (PHYSICAL_MBPS - mbps)))
    return made


def _constant(name: str, source: str, sink: str, begin: float, end: float, wire_kbps: float) -> dict[str, Any]:
    """A constant rate on the wire between two instants."""
    payload = WIRE_BYTES - HEADER_BYTES
    burst = {
        "rate": f"{wire_kbps * payload / WIRE_BYTES:g} kbit/s", "size": f"{payload} B", "distribution": "constant",
        "on": f"{end - begin:g} s", "off": "10000 s",
    }  # fmt: skip
    return {
        "name": name,
        "from": source,
        "to": sink,
        "transport": "udp",
        "source": {"onoff": burst},
        "start": f"{begin:g} s",
    }
