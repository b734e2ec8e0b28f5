"""The paper's experiments, and those that its text claims the results of, as scenarios.

Each is made of a point and of the setting that the reading at hand begins with.
"""

from __future__ import annotations

from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies.grid import Point

from . import network
from .network import EMPTY_LAYER, LAYERS, QUEUE_PHASE, Setting, line

#: When multicast sessions and TCP flows start (§IV-A to C).
BEGINNINGS = {
    1: ((0.0, 0.0), (0.0, 0.0, 0.0)),
    2: ((0.0, 0.0), (0.0, 500.0, 1000.0)),
    3: ((500.0, 1000.0), (0.0, 0.0, 0.0)),
}

#: Simulated seconds of what the paper claims and does not simulate.
BEYOND_S = 500.0

#: Packets lost on the up-link after they were sent, in per cent.
LOSSES_PCT = (0.0, 0.1, 1.0, 3.0)

#: The hop of a geostationary satellite, one way; and how long routers go on with a layer that was left.
GEO_MS, LEAVES_S = 250.0, (0.0, 2.0, 9.0)

#: Up-links of sessions without TCP, in kbit/s: one holds all thirty layers, one 24.
ALONE_KBPS = (1500, 1200)

#: What brings the base round-trip time, about 80 to 100 ms, to 200 ms, one way.
LONGER_MS = 55.0

#: A small window of receivers, in packets.
HELD_BACK = 4

#: Connections of the pair of hosts.
CONNECTIONS = 20

#: The three adaptations (§II-B.6), as switched off.
ADAPTATIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "slowing down": {"slow_down": 1.0},
    "backing off": {"back_off": 1.0},
    "blocking late": {"block": 0.0},
    "all": {"slow_down": 1.0, "back_off": 1.0, "block": 0.0},
}

#: Where they are looked at.
SCENARIO_1, ENDING = "scenario 1", "the run in which TCP ends"

#: A first threshold with which five packets still are phase 1.
FEW = 0.1

#: What TCP sends there: about 500 s at a fifth of 1.2 Mbit/s.
ENDS_BYTES = 15_000_000

#: Multicast sessions, and as many TCP flows, where state and operations are counted.
SESSIONS = (1, 10, 100, 1000)

#: A queue that is looked at and never acted on: multicast would have to have a million times TCP's rate, and TCP counts
#: as there for the whole run.
UNCONTROLLED = {"block": 1e6, "rate_window": "1500 s"}


def with_rlm(taken: Setting) -> Setting:
    """The same with RLM in the place of queue-phase control."""
    return taken.but(scheme="RLM")


def scenario(point: Point, taken: Setting) -> Scenario:
    """One of the three scenarios."""
    multicast, tcp = BEGINNINGS[point["scenario"]]
    return line(taken.but(multicast=multicast, tcp=tcp))


def uncontrolled(point: Point, taken: Setting) -> Scenario:
    """The same with sessions of all layers, whatever the queue."""
    return scenario(point, taken.but(queue=UNCONTROLLED))


def rlm(point: Point, taken: Setting) -> Scenario:
    """Scenario 1 with RLM."""
    del point
    return line(with_rlm(taken))


def round_trip(point: Point, taken: Setting) -> Scenario:
    """Scenario 1 with a longer wire, so that the base round-trip time is about 200 ms."""
    return line(taken.but(delay_ms=point["delay_ms"]))


def errors(point: Point, taken: Setting) -> Scenario:
    """Scenario 1, with packets lost behind the controlled queue."""
    share = point["loss_pct"] / 100
    up = {"up": {"loss": {"bernoulli": {"p": share}}}} if share else {}
    return line(taken.but(sky=up))


def slow(point: Point, taken: Setting) -> Scenario:
    """Scenario 1 over a longer way, with routers that are slow to leave."""
    return line(taken.but(delay_ms=taken.delay_ms + point["delay_ms"], leave_s=point["leave_s"]))


def misbehaving(point: Point, taken: Setting) -> Scenario:
    """Scenario 1 with a second receiver of session 1, which takes all layers, or behaves."""
    most = LAYERS if taken.scheme == "queue phase" else len(network.RLM_KBPS)
    return line(taken.but(second=most if point["second"] == "misbehaves" else 0))


def held(point: Point, taken: Setting) -> Scenario:
    """Scenario 1 with TCP flows that may have a few packets under way."""
    return line(taken.but(transport={"window": point["window"]}))


def pair(point: Point, taken: Setting) -> Scenario:
    """Two multicast sessions and a pair of hosts with many connections; what counts as a session varies."""
    tcp = (0.0,) * CONNECTIONS
    return line(taken.but(tcp=tcp, one_pair=True, queue={"sessions": point["sessions"]}))


def alone(point: Point, taken: Setting) -> Scenario:
    """Two multicast sessions without TCP, over an up-link of some kbit/s."""
    queue = {"first_threshold": point["first_threshold"]}
    return line(taken.but(tcp=(), queue=queue, sky={"up": {"rate": f"{point['rate_kbps']} kbit/s"}}))


def adaptations(point: Point, taken: Setting) -> Scenario:
    """Scenario 1 without some of the adaptations; or with TCP flows that end, so that multicast has to rise.

    Over an up-link for 24 of the 30 layers, so that it rises too far in the end.
    """
    without = taken.but(queue=ADAPTATIONS[point["without"]])
    if point["where"] == SCENARIO_1:
        return line(without)
    return line(without.but(tcp_bytes=ENDS_BYTES, sky={"up": {"rate": f"{ALONE_KBPS[-1]} kbit/s"}}))


def waiting(point: Point, taken: Setting) -> Scenario:
    """Sessions that start while TCP fills the queue, with every packet recorded."""
    del point
    record = {"packets": True, "variables": True}
    return line(taken.but(multicast=(60.0, 120.0), record=record, duration_s=300.0))


def overflowing(point: Point, taken: Setting) -> Scenario:
    """Scenario 1, looked at as often as the scheme looks, with every packet recorded."""
    del point
    record = {"packets": True, "series": "20 ms", "state": False}
    return line(taken.but(record=record, duration_s=250.0))


def never_blocking(point: Point, taken: Setting) -> Scenario:
    """The same with sessions of all layers, whatever the queue."""
    return overflowing(point, taken.but(queue=UNCONTROLLED))


def tree(point: Point, taken: Setting) -> Scenario:
    """Twelve receivers of each session behind three bottlenecks."""
    return network.tree(taken, misbehaves=point["misbehaves"])


def state(point: Point, taken: Setting) -> Scenario:
    """Many multicast sessions and as many TCP flows over one controlled wire, between two routers."""
    del taken
    count = point["sessions"]
    fast = {"rate": "10 Gbit/s", "delay": "5 ms", "queue": {"droptail": {"limit": f"{100 * count} packets"}}}
    return load(
        {
            "duration": "20 s",
            "record": {"state": True},
            "link": [
                {"name": "access", "between": ["sources", "a"], **fast},
                {
                    "name": "bottleneck",
                    "between": ["a", "b"],
                    "rate": f"{600 * count} kbit/s",
                    "delay": "20 ms",
                    "queue": {"queue_phase": {**QUEUE_PHASE, "limit": f"{50 * count} packets"}},
                    "reverse": {"queue": "droptail"},
                },
                {"name": "sink", "between": ["b", "sinks"], **fast},
            ],
            "group": [{"name": f"session{n}", "members": ["sinks"]} for n in range(count)],
            "flow": [
                *(
                    {
                        "name": f"multicast {n}",
                        "from": "sources",
                        "to": f"session{n}",
                        "transport": {"layered": EMPTY_LAYER},
                    }
                    for n in range(count)
                ),
                *(
                    {"name": f"TCP {n}", "from": "sources", "to": "sinks", "transport": {"tcp": {"segment": "960 B"}}}
                    for n in range(count)
                ),
            ],
        }
    )
