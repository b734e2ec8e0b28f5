"""Figures of the sky and of the way through it."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop import plot
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.pictures import FAINT, picture, whole

from ..network import text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.results import Result
    from lasthop.scenario import Scenario
    from lasthop.studies.grid import Array


#: A turn of a satellite and a day, in seconds, and how often a packet goes.
ORBIT_S, DAY_S, PROBE_S = 6027.0, 86_400.0, 20.0

#: More than a day of samples of every way between satellites.
MOST_ROWS = 10_000_000


@dataclass(frozen=True)
class Way:
    """The way between the terminals, probed."""

    times: Array
    #: One way, in ms.
    delays: Array
    #: Links between satellites on the way.
    hops: Array
    #: The satellites at each time, from the gateway's to the remote one's.
    paths: Sequence[Sequence[str]]


def probing() -> Scenario:
    """The two terminals for a day, a small packet now and then."""
    from lasthop.scenario import load

    data = tomllib.loads(text())
    [sky] = data["constellation"]
    for terminal in sky["terminal"]:
        terminal.pop("queue", None)
    gateway, remote = (terminal["node"] for terminal in sky["terminal"])
    return load(
        {
            "name": "way",
            "duration": f"{DAY_S:g} s",
            "record": {
                "packets": True,
                "series": f"{PROBE_S:g} s",
                "quantities": ["packets"],
                "most_rows": MOST_ROWS,
            },
            "constellation": [sky],
            "flow": [
                {
                    "name": "there",
                    "from": gateway,
                    "to": remote,
                    "start": f"{0.2 * PROBE_S:g} s",
                    "source": {"cbr": {"size": "72 B", "interval": f"{PROBE_S:g} s"}},
                    "transport": "udp",
                }
            ],
        }
    )


def way(result: Result) -> Way:
    """What the probes found."""
    packets = result.packets
    mine = packets["flow"] == "there"
    sent, received = (
        dict(zip(packets["seq"][here].tolist(), packets["time_s"][here].tolist(), strict=True))
        for here in (mine & (packets["event"] == event) for event in ("sent", "received"))
    )
    both = sorted(set(sent) & set(received))
    times = np.array([sent[seq] for seq in both])
    delays = np.array([1e3 * (received[seq] - sent[seq]) for seq in both])
    used = _used(result)
    paths = [_path(used[int(np.ceil(time / PROBE_S))]) for time in times]
    return Way(times, delays, np.array([len(path) - 1.0 for path in paths]), paths)


def _used(result: Result) -> dict[int, list[str]]:
    """The links that brought something, by the number of the interval's last sample."""
    series = result.series
    here = (series["quantity"] == "packets") & (series["kind"] == "link")
    made: dict[int, list[str]] = {}
    last: dict[str, float] = {}
    columns = (series[name][here].tolist() for name in ("time_s", "name", "value"))
    for time, name, value in zip(*columns, strict=True):
        # What was never used has no row yet.
        if value > last.get(name, 0.0):
            made.setdefault(round(time / PROBE_S), []).append(name)
        last[name] = value
    return made


def _path(links: Sequence[str]) -> list[str]:
    """The satellites between the terminals, in their order."""
    onward = dict(name.split(">") for name in links if ">" in name and " " not in name)
    if not onward:
        return [name.removesuffix(" down") for name in links if ".sat[" in name]
    [first] = onward.keys() - set(onward.values())
    path = [first]
    while path[-1] in onward:
        path.append(onward[path[-1]])
    return path


def pictures(way: Way, sky: Scenario) -> list[Picture]:
    """The figures."""
    return [_sky(way, sky), _orbit(way)]


def _sky(way: Way, sky: Scenario) -> Picture:
    shown = {"shortest": int(way.delays.argmin()), "longest": int(way.delays.argmax())}
    figure, panels = plot.figure(plot.TWO_COLUMNS, 74.0, columns=2, sharey=True)
    rows: list[dict[str, Any]] = []
    said = []
    for axes, (name, place) in zip(panels, shown.items(), strict=True):
        time = float(way.times[place])
        path, delay = way.paths[place], float(way.delays[place])
        positions = sky.positions(time)
        where = {
            node: (east, north)
            for node, east, north in zip(
                *(positions[column].tolist() for column in ("node", "longitude_deg", "latitude_deg")), strict=True
            )
        }
        kinds = dict(zip(positions["node"].tolist(), positions["kind"].tolist(), strict=True))
        ends = ["gateway", *path, "remote"]
        _globe(axes)
        each = [where[node] for node, kind in kinds.items() if kind == "satellite"]
        axes.plot(
            *zip(*each, strict=True), marker="o", markersize=2.5, color="#767676", linestyle="none", label="satellites"
        )
        _great_ways(axes, [where[node] for node in ends])
        axes.plot(
            *zip(*(where[node] for node in path), strict=True), marker="o", markersize=4, color="#D55E00",
            linestyle="none", label="on the way",
        )  # fmt: skip
        terminals = [where[node] for node, kind in kinds.items() if kind == "terminal"]
        axes.plot(
            *zip(*terminals, strict=True), marker="^", markersize=5, color="#0072B2", linestyle="none",
            label="terminals",
        )  # fmt: skip
        title = f"{number(time, 0)} s: {number(delay, 1)} ms over {len(path)} satellites"
        axes.set_title(title, loc="left", fontsize=8, pad=2)
        said.append(f"the {name} way, at {number(time, 0)} s, takes {number(delay, 1)} ms over {len(path)} satellites")
        rows += [
            {
                "way": name, "time_s": time, "node": node, "kind": kinds[node], "longitude_deg": where[node][0],
                "latitude_deg": where[node][1], "on_the_way": node in ends,
            }
            for node in where
        ]  # fmt: skip
    panels[0].set_ylabel("latitude (°)")
    for axes in panels:
        axes.set_xlabel("longitude (°)")
    return picture(
        "figure-sky",
        figure,
        rows,
        caption="The 66 satellites over the ground, and the way from Berkeley to Boston (triangles) when it takes "
        "the least and the most time of an orbit.",
        alt="Two maps. " + "; ".join(said) + ".",
    )


def _globe(axes: Axes) -> None:
    """A map in degrees, with its lines."""
    axes.set_xlim(-180, 180)
    axes.set_ylim(-90, 90)
    axes.set_xticks(range(-180, 181, 60))
    axes.set_yticks(range(-90, 91, 30))
    axes.grid(color=FAINT, linewidth=0.3)
    axes.set_aspect("equal")


def _great_ways(axes: Axes, places: Sequence[tuple[float, float]]) -> None:
    """Great circles from place to place; they leave the map on one side and come in on the other."""
    for one, other in itertools.pairwise(places):
        a, b = (_vector(place) for place in (one, other))
        share = np.linspace(0, 1, 60)[:, None]
        points = a * (1 - share) + b * share
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        north = np.degrees(np.arcsin(points[:, 2]))
        east = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
        cut = np.flatnonzero(np.abs(np.diff(east)) > 180) + 1
        for x, y in zip(np.split(east, cut), np.split(north, cut), strict=True):
            axes.plot(x, y, color="#D55E00", linewidth=1.0)


def _vector(place: tuple[float, float]) -> Array:
    east, north = np.radians(place)
    return np.array([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])


def _orbit(way: Way) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 74.0, rows=2, columns=2, sharex="col", height_ratios=(3, 2))
    spans = (("time (min)", 60.0, ORBIT_S), ("time (h)", 3600.0, DAY_S))
    for (upper, lower), (label, unit, end) in zip(panels.T, spans, strict=True):
        here = way.times <= end
        upper.plot(way.times[here] / unit, 2 * way.delays[here], color="#000000", linewidth=0.7)
        lower.step(way.times[here] / unit, way.hops[here], where="post", color="#0072B2", linewidth=0.7)
        upper.set_ylim(0, 1.05 * 2 * way.delays.max())
        lower.set_ylim(0, way.hops.max() + 0.5)
        whole(lower.yaxis)
        lower.set_xlabel(label)
        lower.set_xlim(0, end / unit)
    panels[0, 0].set_ylabel("round trip (ms)")
    panels[1, 0].set_ylabel("links between\nsatellites")
    least, median, most = (number(2 * float(f(way.delays)), 0) for f in (np.min, np.median, np.max))
    few, many = (number(float(f(way.hops)), 0) for f in (np.min, np.max))
    return picture(
        "figure-orbit",
        figure,
        {"time_s": way.times.tolist(), "one_way_ms": way.delays.tolist(), "hops": way.hops.tolist()},
        caption="Round-trip time without queues between Berkeley and Boston, and links between satellites on the "
        "way, over "
        f"one orbit (left) and a day: twice the way there of a packet of 100 B every {PROBE_S:g} s. For a part of "
        f"the day the seam "
        "of the constellation lies between them.",
        alt=f"Over a day the round trip takes {least} to {most} ms, median {median} ms, over {few} to {many} links "
        "between satellites.",
    )
