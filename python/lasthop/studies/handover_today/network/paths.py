"""The four paths: what changes when, and the links, cells and satellites of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..readings import Setting
    from .mechanisms import Mechanism

__all__ = ["FLOW", "HOST", "LINKED", "PATHS", "SERVER", "Path"]

#: The two ends, and the flow between them.
SERVER, HOST, FLOW = "server", "mobile", "video"

#: Of what a link carries, this share is a frame's: RTP packets of 1200 B with 28 B of UDP and IP, segments of 1460 B
#: with 40 B.
PAYLOAD = 0.97


@dataclass(frozen=True)
class Path:
    """A path that becomes worse and then better again."""

    name: str
    title: str
    #: What its two states are called.
    fast: str
    slow: str
    #: What a link carries in each, in kbit/s; what others leave of a cell is not known.
    fast_kbps: float
    slow_kbps: float
    #: The round trip of a small packet on the empty path, in milliseconds.
    fast_rtt_ms: float
    slow_rtt_ms: float
    #: The rates of the encoder, in kbit/s.
    min_kbps: float
    max_kbps: float
    #: When the flow begins, when the path becomes worse, when it becomes better, when the run ends; in seconds.
    start_s: float
    down_s: float
    up_s: float
    end_s: float
    #: The direction of a link, or the bearer, whose queue is looked at.
    bottleneck: str
    #: What the queue in front of it holds at most.
    limit: str
    #: Links, cells, satellites and changes, with the mechanism's queues.
    sections: Callable[[Path, Mechanism, Setting], Mapping[str, Any]]
    #: Flows beside the video.
    others: Callable[[], list[dict[str, Any]]] = list

    @property
    def due_kbps(self) -> tuple[float, float]:
        """What a video can have of the fast path and of the slow one."""
        return min(self.max_kbps, PAYLOAD * self.fast_kbps), min(self.max_kbps, PAYLOAD * self.slow_kbps)

    def seconds(self, since_s: float) -> float:
        """Seconds from the change for the worse to an instant of the run."""
        return since_s - self.down_s


def _queue(path: Path, mechanism: Mechanism) -> dict[str, Any]:
    """The queue of the bottleneck."""
    if not mechanism.radio:
        return {"droptail": {"limit": path.limit}}
    [(kind, config)] = mechanism.radio.items()
    return {kind: {"limit": path.limit, **config}}


def _two_links(path: Path, mechanism: Mechanism, setting: Setting) -> Mapping[str, Any]:
    """A wire and a radio link that changes, as in the study `handover`."""
    wire = {
        "name": "wire", "between": [SERVER, "router"], "rate": "100 Mbit/s", "delay": "1 ms",
        "queue": mechanism.wire or {"droptail": {"limit": "10 MB"}},
    }  # fmt: skip
    radio = {
        "name": "radio", "between": ["router", HOST], "rate": f"{path.fast_kbps:g} kbit/s",
        "delay": f"{path.fast_rtt_ms / 2 - 1:g} ms", "queue": _queue(path, mechanism),
    }  # fmt: skip
    change = {"link": "radio", **(setting.lossy or CARRIED_OVER[path.name])}
    changes = [
        {"at": f"{at:g} s", "rate": f"{kbps:g} kbit/s", "delay": f"{rtt / 2 - 1:g} ms", **change}
        for at, kbps, rtt in (
            (path.down_s, path.slow_kbps, path.slow_rtt_ms),
            (path.up_s, path.fast_kbps, path.fast_rtt_ms),
        )
    ]
    return {"link": [wire, radio], "change": changes}


#: What becomes of packets at a handover. WLAN to UMTS as in the paper: they go to the new link, in order. LTE: break
#: before make, 50 ms
#: (Helenius 2011: below that in 95 % of handovers in a network), packets are forwarded and none is lost (3GPP TS
#: 36.300 §10.1.2.3).
CARRIED_OVER: Mapping[str, Mapping[str, str]] = {
    "wlan-umts": {"in_flight": "move", "queue": "keep"},
    "lte": {"in_flight": "forward", "queue": "forward", "interruption": "50 ms"},
}


def _told(path: Path) -> list[dict[str, Any]]:
    """The modem's word to the host that the path is another one: a microsecond more or less on the link between them.

    A host behind a modem sees no change of its own link; and cells change the air of a terminal, and satellites are
    handed over, without a notice to the terminal's machines.
    """
    return [
        {"at": f"{path.down_s:g} s", "link": "host", "delay": "1001 us"},
        {"at": f"{path.up_s:g} s", "link": "host", "delay": "1 ms"},
    ]


def _host(modem: str) -> dict[str, Any]:
    return {"name": "host", "between": [modem, HOST], "rate": "100 Mbit/s", "delay": "1 ms"}


#: The other terminals of the cell, each of which downloads files as in the study `hsdpa`; how much weaker than the
#: video's terminal they
#: hear the cell at first, and how much weaker that one hears it in the shade.
OTHERS, OTHERS_DB, SHADE_DB = 6, -3, -8


def _cell(path: Path, mechanism: Mechanism, _: Setting) -> Mapping[str, Any]:
    """An HSDPA cell whose scheduler serves the best signal first."""
    cell = {
        "name": "cell", "node": "node_b", "ues": OTHERS + 1, "rings": 0, "radius": "166.666 m", "scheduler": "max_sir",
        "queue": _queue(path, mechanism), "uplink_delay": "20 ms", "air": {"shadowing": {"deviation": "0 dB"}},
    }  # fmt: skip
    wire = {"name": "wire", "between": [SERVER, "node_b"], "rate": "100 Mbit/s", "delay": "30 ms"}
    air = [{"at": "0 s", "link": f"cell.ue[{n + 1}]", "quality": f"{OTHERS_DB} dB"} for n in range(OTHERS)]
    air += [
        {"at": f"{path.down_s:g} s", "link": "cell.ue[0]", "quality": f"{SHADE_DB} dB"},
        {"at": f"{path.up_s:g} s", "link": "cell.ue[0]", "quality": "0 dB"},
    ]
    return {"link": [wire, _host("cell.ue[0]")], "hsdpa": [cell], "change": [*air, *_told(path)]}


def _downloads() -> list[dict[str, Any]]:
    """Files for the other terminals of the cell."""
    return [
        {"name": f"files {n}", "from": SERVER, "to": f"cell.ue[{n + 1}]", "source": "files",
         "transport": {"tcp": {"variant": "cubic"}}}
        for n in range(OTHERS)
    ]  # fmt: skip


def _sky(path: Path, mechanism: Mechanism, _: Setting) -> Mapping[str, Any]:
    """The constellation of the template `satellite`.

    Terminals look at even times, so that all runs are handed over at the same instants.
    """
    sky = {
        "name": "sky",
        "handoff": {"interval": "10 s", "jitter": "0 s", "queued": "reroute"},
        "terminal": [
            {"node": "gateway", **GATEWAY, "queue": _queue(path, mechanism)},
            {"node": "dish", **DISH},
        ],
    }
    wire = {"name": "wire", "between": [SERVER, "gateway"], "rate": "5 Mbit/s", "delay": "2 ms"}
    return {"constellation": [sky], "link": [wire, _host("dish")], "change": _told(path)}


#: London and Berlin: after 100 s the dish is handed over to a satellite that is 11 ms further away, and after 130 s
#: to one that is 16 ms nearer.
GATEWAY = {"latitude": "51.5 deg", "longitude": "-0.1 deg"}
DISH = {"latitude": "52.5 deg", "longitude": "13.4 deg"}

PATHS: dict[str, Path] = {
    one.name: one
    for one in (
        # Rates and delays of the study `handover`; an encoder of RFC 8867 §4.3.
        Path(
            "wlan-umts", "WLAN and UMTS", "WLAN", "UMTS", 3840, 384, 140, 280, 150, 1500,
            0, 40, 70, 100, "radio router>mobile", "64 kB", _two_links,
        ),
        # A queue of 300 ms (RFC 8867 §4.1) at the lower rate, and a video that the lower rate cannot carry.
        Path(
            "lte", "Two LTE cells", "first cell", "second cell", 20_000, 5000, 30, 60, 500, 8000,
            0, 40, 70, 100, "radio router>mobile", "187500 B", _two_links,
        ),
        # 7.2 Mbit/s at 8.5 dB, and 2.88 Mbit/s less what the others take at 0.5 dB.
        Path(
            "hsdpa", "HSDPA cell", "in the open", "in the shade", 7200, 2880, 84, 84, 150, 1500,
            0, 40, 70, 100, "cell.ue[0] down", "90 packets", _cell, _downloads,
        ),
        Path(
            "leo", "Satellites", "shorter way", "longer way", 1500, 1500, 41, 63, 150, 1500,
            60, 100, 130, 160, "gateway up", "50 packets", _sky,
        ),
    )
}  # fmt: skip

#: Those whose bottleneck is a link with a rate, which routers can divide and reserve.
LINKED = ("wlan-umts", "lte")
