"""Figures of single runs: patterns of the queue (Fig. 3), its phases (Fig. 13), the sky and the way through it."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.satellite.experiments import GEO_MS
from lasthop.studies.satellite.figures import FAINT
from lasthop.studies.satellite.network import CONTROLLED, Setting, line, text
from lasthop.studies.series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.results import Result
    from lasthop.scenario import Scenario
    from lasthop.studies.bench import Bench

    Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["pictures", "watch"]

SEED = 1

#: From when to when the queue is looked at closely, and how long the runs are, in seconds.
CLOSE_S, WATCHED_S = (100.0, 120.0), 120.0

#: The four patterns of Fig. 3, each from a run: what has to differ from scenario 1.
PATTERNS: Mapping[str, tuple[str, Setting]] = {
    "stays in phase 2": ("windows of 6 packets", Setting(transport={"window": 6})),
    "visits 3 and 1": ("a geostationary hop", Setting(delay_ms=2.0 + GEO_MS)),
    "visits 3": ("one TCP flow", Setting(tcp=(0.0,))),
    "visits 1": ("such windows over that hop", Setting(transport={"window": 6}, delay_ms=2.0 + GEO_MS)),
}

#: Colours of the phases.
PHASES = {1: "#56B4E9", 2: "#DDDDDD", 3: "#D55E00"}

#: The queue and where phase 3 begins, in packets.
LIMIT, THIRD = 50, 40

#: A turn of a satellite and a day, in seconds, and how often a packet goes.
ORBIT_S, DAY_S, PROBE_S = 6027.0, 86_400.0, 20.0


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


@dataclass(frozen=True)
class Seen:
    """What single runs showed."""

    #: By pattern: times, and packets in the queue.
    queues: Mapping[str, tuple[Array, Array]]
    #: Scenario 1: packets in the queue and its phase, closely; and the phase by the second.
    close: tuple[Array, Array, Array]
    long: tuple[Array, Array]
    way: Way
    sky: Scenario


def watch(bench: Bench) -> Seen:
    """Makes the runs."""
    closely = {"series": "20 ms", "state": False}
    settings = [setting for _, setting in PATTERNS.values()]
    scenarios = [line(_for(setting, closely)) for setting in [*settings, Setting()]]
    *patterns, close = bench.run([(one, SEED) for one in scenarios], _queue, counts=False)
    [long] = bench.run([(line(Setting()), SEED)], _phase, counts=False)
    sky = _probing()
    [way] = bench.run([(sky, SEED)], _way, counts=False)
    queues = {name: (times, queue) for name, (times, queue, _) in zip(PATTERNS, patterns, strict=True)}
    return Seen(queues, close, long, way, sky)


def _for(setting: Setting, record: Mapping[str, Any]) -> Setting:
    from dataclasses import replace

    return replace(setting, record=record, duration_s=WATCHED_S)


def _queue(result: Result) -> tuple[Array, Array, Array]:
    """Times, packets in the controlled queue, and its phase, where it is looked at closely."""
    series = Series(result.series)
    times, queue = series.of(CONTROLLED, "queue_packets")
    here = (times >= CLOSE_S[0]) & (times <= CLOSE_S[1])
    return times[here], queue[here], series.on(CONTROLLED, "phase", times[here])


def _phase(result: Result) -> tuple[Array, Array]:
    return Series(result.series).of(CONTROLLED, "phase")


# The way through the sky


def _probing() -> Scenario:
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
            "record": {"packets": True, "series": f"{PROBE_S:g} s", "quantities": ["packets"]},
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


def _way(result: Result) -> Way:
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


def pictures(seen: Seen) -> list[Picture]:
    """The figures."""
    return [_patterns(seen), _trend(seen), _sky(seen), _orbit(seen)]


# The queue


def _patterns(seen: Seen) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 84.0, rows=2, columns=2, sharex=True, sharey=True)
    columns: dict[str, list[Any]] = {"pattern": [], "time_s": [], "packets": []}
    said = []
    for axes, (name, (times, queue)) in zip(panels.flat, seen.queues.items(), strict=True):
        since = times - CLOSE_S[0]
        _thresholds(axes)
        axes.plot(since, queue, color="#000000", linewidth=0.6)
        axes.annotate(
            f"{name}: {PATTERNS[name][0]}", (0.0, 1.02), xycoords="axes fraction", fontsize=8, va="bottom"
        )  # fmt: skip
        columns["pattern"] += [name] * len(times)
        columns["time_s"] += times.tolist()
        columns["packets"] += queue.tolist()
        shares = [100 * float(mark.mean()) for mark in (queue <= 0, (queue > 0) & (queue < THIRD), queue >= THIRD)]
        said.append(f"{name}: {', '.join(f'{number(share, 0)} % in phase {n}' for n, share in enumerate(shares, 1))}")
    for axes in panels[:, 0]:
        axes.set_ylabel("queue (packets)")
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
    panels[0, 0].set_xlim(0, CLOSE_S[1] - CLOSE_S[0])
    panels[0, 0].set_ylim(0, LIMIT + 2)
    return Picture(
        id="figure-3",
        caption="The four patterns of the queue in balance, each from a run of scenario 1 with what the panel says. "
        "Above "
        f"{THIRD} packets (orange) is phase 3; phase 1 is an empty queue (blue). Twenty seconds after "
        f"{CLOSE_S[0]:g} s, "
        "sampled every 20 ms, seed 1.",
        alt="Packets in the queue over 20 s. " + "; ".join(said) + ".",
        figure=figure,
        data=Table(pa.table(columns)),
    )


def _thresholds(axes: Axes) -> None:
    """The phases, as bands."""
    axes.axhspan(THIRD, LIMIT + 2, color=PHASES[3], alpha=0.15, linewidth=0)
    axes.axhline(0.15, color=PHASES[1], linewidth=2.0, zorder=0)


def _trend(seen: Seen) -> Picture:
    figure, (upper, strip, lower) = plot.figure(plot.TWO_COLUMNS, 92.0, rows=3, height_ratios=(3, 1, 5))
    times, phase = seen.long
    upper.step(times, phase, where="post", color="#000000", linewidth=0.4)
    upper.set_xlim(0, 1500)
    _phase_axis(upper)
    near, queue, closely = seen.close
    image = np.array([phase_colour(value) for value in closely])[None, :, :]
    strip.imshow(image, aspect="auto", extent=(near[0], near[-1], 0, 1), interpolation="nearest")
    strip.set_yticks([])
    strip.set_ylabel("phase", rotation=0, ha="right", va="center")
    for spine in strip.spines.values():
        spine.set_visible(False)
    strip.tick_params(labelbottom=False, bottom=False)
    _thresholds(lower)
    lower.plot(near, queue, color="#000000", linewidth=0.6)
    lower.set_xlim(near[0], near[-1])
    strip.set_xlim(near[0], near[-1])
    lower.set_ylim(0, LIMIT + 2)
    lower.set_xlabel("time (s)")
    lower.set_ylabel("queue (packets)")
    for n, colour in PHASES.items():
        strip.plot([], [], color=colour, linewidth=5, label=f"phase {n}")
    strip.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.95), columnspacing=1.0, borderaxespad=0.2)
    shares = [float((closely == n).mean()) for n in (1, 2, 3)]
    columns = {"time_s": near.tolist(), "packets": queue.tolist(), "phase": closely.tolist()}
    return Picture(
        id="figure-13",
        caption="Phases of the queue in scenario 1: by the second (top), and twenty seconds of them closely, with "
        "the packets in the queue. Seed 1.",
        alt="The phase over 1500 s; below, phase and queue over 20 s: "
        + ", ".join(f"{number(100 * share, 0)} % in phase {n}" for n, share in enumerate(shares, 1))
        + ".",
        figure=figure,
        data=Table(pa.table(columns)),
    )


def phase_colour(phase: float) -> tuple[float, float, float]:
    """The colour of a phase."""
    from matplotlib.colors import to_rgb

    return to_rgb(PHASES.get(int(phase) if phase == phase else 2, "#FFFFFF"))


def _phase_axis(axes: Axes) -> None:
    axes.set_ylim(0.7, 3.3)
    axes.set_yticks([1, 2, 3])
    axes.set_ylabel("phase")


# The sky


def _sky(seen: Seen) -> Picture:
    shown = {"shortest": int(seen.way.delays.argmin()), "longest": int(seen.way.delays.argmax())}
    figure, panels = plot.figure(plot.TWO_COLUMNS, 74.0, columns=2, sharey=True)
    rows: list[dict[str, Any]] = []
    said = []
    for axes, (name, place) in zip(panels, shown.items(), strict=True):
        time = float(seen.way.times[place])
        path, delay = seen.way.paths[place], float(seen.way.delays[place])
        positions = seen.sky.positions(time)
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
        axes.plot(*zip(*each, strict=True), marker="o", markersize=2.5, color="#767676", linestyle="none")
        _great_ways(axes, [where[node] for node in ends])
        axes.plot(
            *zip(*(where[node] for node in path), strict=True), marker="o", markersize=4, color="#D55E00",
            linestyle="none",
        )  # fmt: skip
        for node, kind in kinds.items():
            if kind == "terminal":
                axes.plot(*where[node], marker="^", markersize=5, color="#0072B2", linestyle="none")
        axes.annotate(
            f"{number(time, 0)} s: {number(delay, 1)} ms over {len(path)} satellites",
            (0.0, 1.02), xycoords="axes fraction", fontsize=8, va="bottom",
        )  # fmt: skip
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
    return Picture(
        id="figure-sky",
        caption="The 66 satellites over the ground, and the way from Berkeley to Boston (triangles) when it takes "
        "the least and the most time of an orbit.",
        alt="Two maps. " + "; ".join(said) + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
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


def _orbit(seen: Seen) -> Picture:
    way = seen.way
    figure, panels = plot.figure(plot.TWO_COLUMNS, 74.0, rows=2, columns=2, sharex="col", height_ratios=(3, 2))
    spans = (("time (min)", 60.0, ORBIT_S), ("time (h)", 3600.0, DAY_S))
    for (upper, lower), (label, unit, end) in zip(panels.T, spans, strict=True):
        here = way.times <= end
        upper.plot(way.times[here] / unit, 2 * way.delays[here], color="#000000", linewidth=0.7)
        lower.step(way.times[here] / unit, way.hops[here], where="post", color="#0072B2", linewidth=0.7)
        upper.set_ylim(0, 1.05 * 2 * way.delays.max())
        lower.set_ylim(0, way.hops.max() + 0.5)
        lower.set_xlabel(label)
        lower.set_xlim(0, end / unit)
    panels[0, 0].set_ylabel("round trip (ms)")
    panels[1, 0].set_ylabel("links between\nsatellites")
    columns = {"time_s": way.times.tolist(), "one_way_ms": way.delays.tolist(), "hops": way.hops.tolist()}
    least, median, most = (number(2 * float(f(way.delays)), 0) for f in (np.min, np.median, np.max))
    few, many = (number(float(f(way.hops)), 0) for f in (np.min, np.max))
    return Picture(
        id="figure-orbit",
        caption="Round-trip time without queues between Berkeley and Boston, and links between satellites on the "
        "way, over "
        f"one orbit (left) and a day: twice the way there of a packet of 100 B every {PROBE_S:g} s. For a part of "
        f"the day the seam "
        "of the constellation lies between them.",
        alt=f"Over a day the round trip takes {least} to {most} ms, median {median} ms, over {few} to {many} links "
        "between satellites.",
        figure=figure,
        data=Table(pa.table(columns)),
    )
