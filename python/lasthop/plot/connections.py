"""Pictures of TCP connections: what they sent and when, what was outstanding, round-trip times, goodput."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.plot.base import figure, label_lines, look, save, unlike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.analysis import Analysis
    from lasthop.analysis.measures import Measured

__all__ = ["analyzed", "goodput", "outstanding", "rtts", "time_sequence"]

#: The most flows of which one picture can tell the lines apart.
MANY = 8


def time_sequence(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Payload over time, by its first byte: what was sent, what was sent again (crosses), what was acknowledged.

    The connections of a flow stand one on top of the other.
    """
    import numpy as np

    axes = _axes(axes)
    ends = []
    for name, style, several in _flows(analysis, flow):
        base = 0
        for one in several:
            again = one.data & (one.resent > 0)
            fresh = one.data & ~again
            axes.plot(one.sent.time[fresh], (base + one.sent.first[fresh]) / 1e3, ".", ms=1.5, color=style["color"])
            axes.plot(one.sent.time[again], (base + one.sent.first[again]) / 1e3, "x", ms=3, mew=0.6, color="black")
            heard = one.heard.ack >= 0
            edge = np.maximum.accumulate(one.heard.ack[heard])
            axes.step(one.heard.time[heard], (base + edge) / 1e3, where="post", color=style["color"], linewidth=0.5)
            base += int(one.sent.last.max(initial=0))
        ends.append((several[-1].end_s, base / 1e3, name, style["color"]))
    return _finished(axes, analysis, "sequence number (kB)", ends)


def outstanding(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Bytes that were sent and not acknowledged, over time."""
    import numpy as np

    axes = _axes(axes)
    ends = []
    for name, style, several in _flows(analysis, flow):
        time = np.concatenate([one.outstanding.time for one in several])
        value = np.concatenate([one.outstanding.value for one in several]) / 1e3
        axes.step(time, value, where="post", **style)
        ends.append((float(time[-1]), float(value[-1]), name, style["color"]))
    return _finished(axes, analysis, "outstanding (kB)", ends)


def rtts(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Round-trip times, each where its acknowledgement came."""
    import numpy as np

    axes = _axes(axes)
    ends = []
    for name, style, several in _flows(analysis, flow):
        time, rtt = (np.concatenate([one.rtts[place] for one in several]) for place in (0, 1))
        if len(time):
            axes.plot(time, rtt * 1e3, ".", ms=1.5, color=style["color"])
            ends.append((float(time[-1]), float(rtt[-1] * 1e3), name, style["color"]))
    return _finished(axes, analysis, "round-trip time (ms)", ends)


def goodput(analysis: Analysis, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Payload acknowledged in each hundredth of the run."""
    import numpy as np

    axes = _axes(axes)
    edges = np.linspace(0, analysis.end_s, 101)
    ends = []
    for name, style, several in _flows(analysis, flow):
        total = np.zeros(100)
        for one in several:
            heard = one.heard.ack >= 0
            edge = np.maximum.accumulate(np.minimum(one.heard.ack[heard], one.sent.last.max(initial=0)))
            total += np.histogram(
                one.heard.time[heard], edges, weights=np.diff(edge, prepend=min(edge[:1], default=0))
            )[0]
        rate = total * 8e-3 / (edges[1] - edges[0])
        axes.step(edges, np.append(rate, rate[-1]), where="post", **style)
        ends.append((float(edges[-1]), float(rate[-1]), name, style["color"]))
    return _finished(axes, analysis, "goodput (kbit/s)", ends)


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


def _flows(analysis: Analysis, flow: str | None) -> Iterator[tuple[str, dict[str, Any], list[Measured]]]:
    """Each flow with its style and its connections."""
    flows: dict[str, list[Measured]] = {}
    for one in analysis.measured:
        flows.setdefault(one.trace.flow, []).append(one)
    if flow is not None and flow not in flows:
        raise ValueError(f"there is no flow {flow!r}; known: {', '.join(flows)}")
    chosen = {name: several for name, several in flows.items() if flow in (None, name)}
    if len(chosen) > MANY:
        raise ValueError(f"{len(chosen)} flows are too many for one picture: choose some, at most {MANY}")
    used: set[str] = set()
    for place, (name, several) in enumerate(chosen.items()):
        yield name, unlike(look("", place), used), several


def _axes(axes: Axes | None) -> Axes:
    if axes is None:
        _, axes = figure()
    assert axes is not None
    return axes


def _finished(axes: Axes, analysis: Analysis, label: str, ends: list[tuple[float, float, str, str]]) -> Axes:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_xlim(0, analysis.end_s)
    axes.set_ylim(bottom=0)
    if 1 < len(ends) <= 4:
        label_lines(axes, [(analysis.end_s, y, name, colour) for _, y, name, colour in ends])
    elif len(ends) > 4:
        for _, _, name, colour in ends:
            axes.plot([], [], color=colour, label=name)
        axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return axes
