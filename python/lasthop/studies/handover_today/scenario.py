"""The scenario of a path, a mechanism and a hint: the file `scenario.toml` is SCReAM over WLAN and UMTS without one."""

from __future__ import annotations

from functools import partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words
from lasthop.studies.grid import Point

from .network.mechanisms import MECHANISMS, reserved_kbps
from .network.paths import FLOW, HOST, PATHS, SERVER
from .readings import Setting

#: The first seed of every grid.
SEED = 1

#: Links, flows and frames are looked at after each such time, in which a video has one frame or two.
SAMPLED_S = 0.05

#: What is seen of frames beside rates and queues.
FRAMES = (
    "frames", "frames_received", "frames_late", "frames_lost", "frames_skipped", "frame_delay_ms_mean",
    "frame_delay_ms_samples",
)  # fmt: skip

text = partial(words.scenario, __name__)


def scenario(point: Point, setting: Setting) -> Scenario:
    """The scenario of a point."""
    return of(point["path"], point["mechanism"], point["hint"], setting)


def of(path: str, mechanism: str, hint: str, setting: Setting) -> Scenario:
    """A video over a path."""
    where, carried = PATHS[path], MECHANISMS[mechanism]
    least, most = where.min_kbps, where.max_kbps
    if carried.reserves:
        least = most = reserved_kbps(where)
    rates = {"min_rate": f"{least:g} kbit/s", "max_rate": f"{most:g} kbit/s"}
    flow: dict[str, Any] = {
        "name": FLOW,
        "from": SERVER,
        "to": HOST,
        "start": f"{where.start_s:g} s",
        "transport": carried.transport(where, hint),
        "source": {"encoder": {**rates, **setting.encoder}},
    }
    if carried.asks:
        flow["qos"] = carried.asks(where)
    made = {
        "name": f"{path} {mechanism} {hint}",
        "profile": "rfc",
        "duration": f"{where.end_s:g} s",
        **where.sections(where, carried, setting),
        "flow": [flow, *where.others()],
        "record": {"series": f"{SAMPLED_S:g} s", "quantities": list(FRAMES)},
    }
    return load(made)
