"""Figures of single runs: patterns of the queue (Fig. 3) and its phases (Fig. 13), and what the sky looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop import plot
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.pictures import Columns, picture, whole
from lasthop.studies.series import Series

from ..network import CONTROLLED, DURATION_S, Setting, line
from ..scenario import GEO_MS
from ..styles import PHASES
from . import sky

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.results import Result
    from lasthop.scenario import Scenario
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Array


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

#: The queue and where phase 3 begins, in packets.
LIMIT, THIRD = 50, 40

#: Over how long the shares of the phases are drawn.
SHARES_S = 50


@dataclass(frozen=True)
class Seen:
    """What single runs showed."""

    #: By pattern: times, and packets in the queue.
    queues: Mapping[str, tuple[Array, Array]]
    #: Scenario 1: packets in the queue and its phase, closely; and the phase by the second.
    close: tuple[Array, Array, Array]
    long: tuple[Array, Array]
    way: sky.Way
    probed: Scenario


def watch(bench: Bench) -> Seen:
    """Makes the runs."""
    closely = {"series": "20 ms", "state": False}
    settings = [setting for _, setting in PATTERNS.values()]
    scenarios = [line(_for(setting, closely)) for setting in [*settings, Setting()]]
    *patterns, close = bench.run([(one, SEED) for one in scenarios], _queue, counts=False)
    [long] = bench.run([(line(Setting()), SEED)], _phase, counts=False)
    probed = sky.probing()
    [way] = bench.run([(probed, SEED)], sky.way, counts=False)
    queues = {name: (times, queue) for name, (times, queue, _) in zip(PATTERNS, patterns, strict=True)}
    return Seen(queues, close, long, way, probed)


def _for(setting: Setting, record: Mapping[str, Any]) -> Setting:
    return replace(setting, record=record, duration_s=WATCHED_S)


def _queue(result: Result) -> tuple[Array, Array, Array]:
    """Times, packets in the controlled queue, and its phase, where it is looked at closely."""
    series = Series(result.series)
    times, queue = series.of(CONTROLLED, "queue_packets")
    here = (times >= CLOSE_S[0]) & (times <= CLOSE_S[1])
    return times[here], queue[here], series.on(CONTROLLED, "phase", times[here])


def _phase(result: Result) -> tuple[Array, Array]:
    return Series(result.series).of(CONTROLLED, "phase")


def pictures(seen: Seen) -> list[Picture]:
    """The figures."""
    return [_patterns(seen), _trend(seen), *sky.pictures(seen.way, seen.probed)]


# The queue


def _patterns(seen: Seen) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 84.0, rows=2, columns=2, sharex=True, sharey=True)
    columns = Columns("pattern", "time_s", "packets")
    said = []
    for axes, (name, (times, queue)) in zip(panels.flat, seen.queues.items(), strict=True):
        since = times - CLOSE_S[0]
        _thresholds(axes)
        axes.plot(since, queue, color="#000000", linewidth=0.6)
        axes.set_title(f"{name}: {PATTERNS[name][0]}", loc="left", fontsize=8, pad=2)
        columns.add(name, times, queue)
        shares = [100 * float(mark.mean()) for mark in (queue <= 0, (queue > 0) & (queue < THIRD), queue >= THIRD)]
        said.append(f"{name}: {', '.join(f'{number(share, 0)} % in phase {n}' for n, share in enumerate(shares, 1))}")
    for axes in panels[:, 0]:
        axes.set_ylabel("queue (packets)")
    for axes in panels[-1]:
        whole(axes.xaxis)
        axes.set_xlabel("time (s)")
    panels[0, 0].set_xlim(0, CLOSE_S[1] - CLOSE_S[0])
    panels[0, 0].set_ylim(0, LIMIT + 2)
    return picture(
        "figure-3",
        figure,
        columns,
        caption="The four patterns of the queue in balance, each from a run of scenario 1 with what the panel says. "
        "Above "
        f"{THIRD} packets (orange) is phase 3; phase 1 is an empty queue (blue). Twenty seconds after "
        f"{CLOSE_S[0]:g} s, "
        "sampled every 20 ms, seed 1.",
        alt="Packets in the queue over 20 s. " + "; ".join(said) + ".",
    )


def _thresholds(axes: Axes) -> None:
    """The phases, as bands."""
    axes.axhspan(THIRD, LIMIT + 2, color=PHASES[3], alpha=0.15, linewidth=0)
    axes.axhline(0.15, color=PHASES[1], linewidth=2.0, zorder=0)


def _trend(seen: Seen) -> Picture:
    figure, (upper, strip, lower) = plot.figure(plot.TWO_COLUMNS, 98.0, rows=3, height_ratios=(4, 1, 5))
    ends, shares = _shares(*seen.long)
    edges = np.append(ends - SHARES_S, ends[-1])
    below = np.zeros(len(ends))
    for n, share in shares.items():
        upper.stairs(below + share, edges, baseline=below, fill=True, color=PHASES[n], label=f"phase {n}")
        below = below + share
    upper.set_xlim(0, DURATION_S)
    upper.set_ylim(0, 100)
    upper.set_ylabel("time (%)")
    upper.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0), columnspacing=1.0, borderaxespad=0.2)
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
    whole(lower.xaxis)
    lower.set_xlabel("time (s)")
    lower.set_ylabel("queue (packets)")
    said = ", ".join(f"{number(float(share.mean()), 0)} % in phase {n}" for n, share in shares.items())
    return picture(
        "figure-13",
        figure,
        {"time_s": near.tolist(), "packets": queue.tolist(), "phase": closely.tolist()},
        caption=f"Phases of the queue in scenario 1: their shares of each {SHARES_S} s, looked at once a second (top), "
        f"and {CLOSE_S[1] - CLOSE_S[0]:g} seconds closely, with the packets in the queue; phase 3 begins at "
        f"{THIRD}. Seed 1.",
        alt=f"Shares of the phases over {DURATION_S:g} s: {said}. Below, phase and queue over 20 s.",
    )


def _shares(times: Array, phase: Array) -> tuple[Array, dict[int, Array]]:
    """The phases' shares of stretches of the run, in per cent, and when each ends."""
    times, phase = times[times > 0], phase[times > 0]
    parts = len(phase) // SHARES_S
    each = phase[: parts * SHARES_S].reshape(parts, SHARES_S)
    ends: Array = times[: parts * SHARES_S].reshape(parts, SHARES_S)[:, -1]
    return ends, {n: 100 * (each == n).mean(axis=1) for n in PHASES}


def phase_colour(phase: float) -> tuple[float, float, float]:
    """The colour of a phase."""
    from matplotlib.colors import to_rgb

    return to_rgb(PHASES.get(int(phase) if phase == phase else 2, "#FFFFFF"))
