"""Pictures of TCP connections: what they sent and when, what was outstanding, round-trip times, goodput."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.plot.style import MANY, MARKERS, figure, legend_label, look, name_lines, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.analysis import Analysis
    from lasthop.analysis.measures import Measured

__all__ = ["analyzed", "goodput", "outstanding", "rtts", "time_sequence"]


def time_sequence(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Payload over time, by its first byte: what was sent, what was sent again (crosses), what was acknowledged.

    The connections of a flow stand one on top of the other.
    """
    import numpy as np

    picture = _Picture(analysis, flow, axes)
    for name, colour, marker, several in picture.flows():
        base = 0
        for one in several:
            again = one.resent[one.data] > 0
            time, first = one.sent.time[one.data], (base + one.sent.first[one.data]) / 1e3
            picture.axes.plot(time[~again], first[~again], marker, color=colour, **_points(len(time)))
            picture.axes.plot(time[again], first[again], "x", markersize=3, markeredgewidth=0.6, color="black")
            acks = np.maximum.accumulate(one.heard.ack[one.acks])
            picture.axes.step(one.heard.time[one.acks], (base + acks) / 1e3, where="post", color=colour, linewidth=0.5)
            base += int(one.sent.last.max(initial=0))
        picture.name(name, base / 1e3, colour)
    return picture.finished("sequence number (kB)")


def outstanding(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Bytes that were sent and not acknowledged, over time."""
    import numpy as np

    picture = _Picture(analysis, flow, axes)
    for name, colour, _, several in picture.flows():
        time = np.concatenate([one.outstanding.time for one in several])
        value = np.concatenate([one.outstanding.value for one in several]) / 1e3
        picture.axes.step(time, value, where="post", color=colour, linewidth=0.8)
        picture.name(name, float(value.max()), colour)
    return picture.finished("outstanding (kB)")


def rtts(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Round-trip times, each where its acknowledgement came."""
    import numpy as np

    picture = _Picture(analysis, flow, axes)
    for name, colour, marker, several in picture.flows():
        time, rtt = (np.concatenate([one.rtts[place] for one in several]) for place in (0, 1))
        if len(time):
            picture.axes.plot(time, rtt * 1e3, marker, color=colour, **_points(len(time)))
            picture.name(name, float(rtt[-1] * 1e3), colour)
    return picture.finished("round-trip time (ms)")


def goodput(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Payload acknowledged in each hundredth of the time that is shown."""
    import numpy as np

    picture = _Picture(analysis, flow, axes)
    edges = np.linspace(*picture.window, 101)
    for name, colour, _, several in picture.flows():
        total = np.zeros(100)
        for one in several:
            # Up to the last byte of payload: a FIN is none, and neither is the SYN before the first.
            acks = np.maximum.accumulate(np.clip(one.heard.ack[one.acks], 1, max(1, one.sent.last.max(initial=1))))
            total += np.histogram(one.heard.time[one.acks], edges, weights=np.diff(acks, prepend=1))[0]
        rate = total * 8e-3 / (edges[1] - edges[0])
        picture.axes.step(edges, np.append(rate, rate[-1]), where="post", color=colour, linewidth=0.8)
        picture.name(name, float(rate.max()), colour)
    return picture.finished("goodput (kbit/s)")


#: The pictures by name.
PICTURES: dict[str, Callable[..., Axes]] = {
    "time-sequence": time_sequence,
    "outstanding": outstanding,
    "rtt-samples": rtts,
    "goodput": goodput,
}


def analyzed(analysis: Analysis, folder: Path) -> list[Path]:
    """Writes the pictures of an analysis into ``folder``; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in PICTURES.items():
        drawn, axes = figure()
        draw(analysis, axes=axes)
        paths += save(drawn, folder / name)
    return paths


#: More points than these are an image in SVG and PDF too: as drawings they take 100 B each.
DRAWN = 20_000


def _points(count: int) -> dict[str, Any]:
    """How points are drawn."""
    return {"markersize": 1.5, "rasterized": count > DRAWN}


#: How much time is shown of connections that have but one packet, in seconds.
INSTANT = 1e-3


class _Picture:
    """Axes over the time in which the chosen flows had connections."""

    def __init__(self, analysis: Analysis, flow: str | None, axes: Axes | None) -> None:
        flows: dict[str, list[Measured]] = {}
        for one in analysis.measured:
            flows.setdefault(one.trace.flow, []).append(one)
        if flow is not None and flow not in flows:
            raise ValueError(f"there is no flow {flow!r}; known: {', '.join(flows)}")
        self._chosen = {name: several for name, several in flows.items() if flow in (None, name)}
        if len(self._chosen) > MANY:
            raise ValueError(f"{len(self._chosen)} flows are too many for one picture: choose some, at most {MANY}")
        drawn = [one for several in self._chosen.values() for one in several]
        #: The first and the last time that is shown.
        begin, end = min(one.start_s for one in drawn), max(one.end_s for one in drawn)
        self.window = begin, end if end > begin else begin + INSTANT
        self.axes: Axes = figure()[1] if axes is None else axes
        self._names: list[tuple[str, float, str]] = []

    def flows(self) -> Iterator[tuple[str, str, str, list[Measured]]]:
        """Each flow with its colour, its marker and its connections."""
        for place, (name, several) in enumerate(self._chosen.items()):
            yield name, str(look("", place)["color"]), MARKERS[place % len(MARKERS)], several

    def name(self, name: str, height: float, colour: str) -> None:
        """Writes a flow's name at this height, once all are drawn."""
        self._names.append((name, height, colour))

    def finished(self, label: str) -> Axes:
        """The axes with their labels, and the names of the flows."""
        axes, end = self.axes, self.window[1]
        axes.set_xlabel("time (s)")
        axes.set_ylabel(label)
        axes.set_xlim(*self.window)
        axes.set_ylim(bottom=0)
        for place, (name, _, colour) in enumerate(self._names):
            axes.plot([], [], marker=MARKERS[place % len(MARKERS)], color=colour, label=legend_label(name))
        name_lines(axes, [(end, height, name, colour) for name, height, colour in self._names], plain=True)
        return axes
