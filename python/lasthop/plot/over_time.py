"""Pictures of runs over time: throughput, windows, round-trip times, queues, and whatever else was recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lasthop.plot.lines import (
    Labelled,
    Line,
    Of,
    Runs,
    chosen,
    is_one_of_several,
    labelled,
    merged,
    named,
    of_run,
    styles,
    together,
)
from lasthop.plot.names import quantity_label
from lasthop.plot.style import BEHIND, Label, figure, legend_label, name_lines, save_all
from lasthop.results import INTERVAL_RATES

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from lasthop.scenario import Scenario

    Array = np.ndarray[Any, Any]

__all__ = ["in_order", "over_time", "pictures", "queue", "recording", "rtt", "standard", "throughput", "window"]

#: Samples of a picture, if the scenario does not say how many.
SAMPLES = 300
#: The most intervals over which rates are drawn.
RATES = 100


def recording(scenario: Scenario) -> Scenario:
    """The scenario with series recorded, 300 samples of them if it does not say how many."""
    if scenario["record"].get("series"):
        return scenario
    return scenario.with_({"record.series": f"{max(1, round(scenario.duration_s / SAMPLES * 1e6))} us"})


def throughput(runs: Runs, *, flow: Of = None, axes: Axes | None = None) -> Axes:
    """Payload of flows as it arrives, in order or not: never above what the last link carries."""
    return over_time(runs, "arrival_kbps", of=flow, axes=axes)


def in_order(runs: Runs, *, flow: Of = None, axes: Axes | None = None) -> Axes:
    """Payload of flows that was received in order, summed: flat while a packet is missing, a step when it has come."""
    return _draw(_Picture("goodput_kbps", flow, summed=True), runs, axes)


def window(runs: Runs, *, flow: Of = None, axes: Axes | None = None) -> Axes:
    """Congestion windows of flows."""
    return over_time(runs, "cwnd_packets", of=flow, axes=axes)


def rtt(runs: Runs, *, flow: Of = None, axes: Axes | None = None) -> Axes:
    """Smoothed round-trip times of flows."""
    return over_time(runs, "srtt_ms", of=flow, axes=axes)


def queue(runs: Runs, *, of: Of = None, axes: Axes | None = None) -> Axes:
    """Queues of links and of terminals in a cell: of those ever longer than a packet, unless ``of`` names them."""
    return _draw(_Picture("queue_packets", of, above=1.0), runs, axes)


def over_time(runs: Runs, quantity: str, *, of: Of = None, axes: Axes | None = None) -> Axes:
    """A quantity of the table ``series`` over time, by its name: ``"sir_db"``, ``"layers"``.

    ``runs`` is a result, or several: a list, or a dictionary with their labels. Runs that are drawn into
    the same axes one after the other get labels too. ``of`` names one or several flows, links or
    terminals. Up to eight lines have names; of more, the highest, the median and the lowest mean of
    each kind are named, and the others stand behind them in grey.
    """
    return _draw(_Picture(quantity, of), runs, axes)


@dataclass(frozen=True)
class _Picture:
    """What a picture shows."""

    quantity: str
    #: Names of flows, links, terminals; all if none are given.
    of: Of = None
    #: Of a rate: the megabytes up to each time.
    summed: bool = False
    #: Lines that never pass it are left out, unless that is all of them.
    above: float | None = None
    #: Lines that never change are left out.
    changing: bool = False

    @property
    def label(self) -> str:
        """What stands at the vertical axis."""
        if self.summed:
            return _SUMMED
        return _LABELS.get(self.quantity) or quantity_label(self.quantity)

    @property
    def is_rate(self) -> bool:
        """Whether it is a mean over the interval before its time."""
        return self.quantity in INTERVAL_RATES

    @property
    def drawstyle(self) -> str:
        """What was sampled stays until the next sample."""
        return "default" if self.summed else "steps-pre" if self.is_rate else "steps-post"

    def lines(self, runs: Sequence[Labelled]) -> list[Line]:
        """The lines of these runs."""
        lines = [self._scaled(line) for label, result in runs for line in of_run(label, result, self.quantity)]
        if self.of is not None:
            wanted = [self.of] if isinstance(self.of, str) else self.of
            for name in wanted:
                if not any(line.is_called(name) for line in lines):
                    known = ", ".join(dict.fromkeys(line.name for line in lines)) or "nothing"
                    raise ValueError(f"there is no {self.quantity} of {name!r}; known: {known}")
            return [line for line in lines if any(line.is_called(name) for name in wanted)]
        if self.changing:
            return merged([line for line in lines if line.value.min() < line.value.max()])
        if self.above is not None:
            return [line for line in lines if line.value.max() > self.above] or lines
        return lines

    def _scaled(self, line: Line) -> Line:
        import numpy as np

        value = line.value * _SCALES.get(self.quantity, 1.0)
        time = line.time
        if line.begin is not None:
            # The sum up to each time, in kbit. An interval of a few packets says little of the rate.
            came = np.cumsum(value * np.diff(time, prepend=line.begin))
            if self.summed:
                return replace(line, value=came / 8e3)
            every = -(-len(time) // RATES)
            kept = np.arange(len(time))[::-every][::-1]
            time, value = time[kept], np.diff(came[kept], prepend=0) / np.diff(time[kept], prepend=line.begin)
        if line.end is not None:
            # The first sample after the end is of an interval in which the last packets came, or the last state.
            mine = slice(max(2, int(np.searchsorted(time, line.end)) + 1))
            time, value = time[mine], value[mine]
        return replace(line, time=time, value=value)

    def points(self, line: Line) -> tuple[Array, Array]:
        """The times and values that are drawn of a line: a rate from the beginning of its first interval on."""
        import numpy as np

        if line.begin is None:
            return line.time, line.value
        first = 0.0 if self.summed else line.value[0]
        return np.append(line.begin, line.time), np.append(first, line.value)


#: Labels that say more than the name of the quantity, and quantities that are drawn in another unit.
_LABELS = {
    "arrival_kbps": "throughput (kbit/s)",
    "cwnd_packets": "congestion window (packets)",
    "srtt_ms": "smoothed round-trip time (ms)",
    "rate_bps": "rate (kbit/s)",
    "delay_s": "delay of the link (ms)",
    "dedicated": "dedicated channels in use",
    "layers": "layers subscribed",
}
#: The label of goodput that is summed.
_SUMMED = "received in order (MB)"
_SCALES = {"rate_bps": 1e-3, "delay_s": 1e3}

#: The standard pictures by name; links and cells only where they change.
STANDARD: dict[str, _Picture] = {
    "throughput": _Picture("arrival_kbps"),
    "in-order": _Picture("goodput_kbps", summed=True),
    "window": _Picture("cwnd_packets"),
    "rtt": _Picture("srtt_ms"),
    "queue": _Picture("queue_packets", above=1.0),
    "rate": _Picture("rate_bps", changing=True),
    "delay": _Picture("delay_s", changing=True),
    "dedicated": _Picture("dedicated", changing=True),
}


def pictures(runs: Runs) -> dict[str, Callable[[Axes], Axes]]:
    """The pictures of runs that show something, by name: each draws itself into axes.

    These are the standard ones, and whatever the scenario asks to be recorded beyond (``record.quantities``).
    """
    from lasthop.scenario import of_result

    them = labelled(runs)
    asked: dict[str, None] = {}
    for _, result in them:
        asked |= dict.fromkeys(of_result(result.scenario_text, origin=result.name)["record"].get("quantities", []))
    more = {one.replace("_", "-"): _Picture(one, changing=True) for one in asked}
    shown: dict[str, Callable[[Axes], Axes]] = {}
    for name, picture in {**STANDARD, **more}.items():
        lines = picture.lines(them)
        # What may stay the same shows something unless it is 0 all the time.
        if any(line.value.max() > (line.value.min() if picture.changing else picture.above or 0.0) for line in lines):
            shown[name] = partial(_draw, picture, runs)
    return shown


def standard(runs: Runs, folder: str | Path) -> list[Path]:
    """Writes the pictures of runs that show something into ``folder``; the paths written."""
    return save_all(pictures(runs), folder)


@dataclass(frozen=True)
class _Drawn:
    """What was drawn into axes."""

    picture: _Picture
    runs: Sequence[Labelled]
    artists: Sequence[Artist]


#: What was drawn into which axes: a further run changes the names and looks of the lines before.
_DRAWN: WeakKeyDictionary[Axes, _Drawn] = WeakKeyDictionary()


def _draw(picture: _Picture, runs: Runs, axes: Axes | None) -> Axes:
    if axes is None:
        _, axes = figure()
    assert axes is not None
    before = _DRAWN.get(axes)
    again = before is not None and before.picture == picture
    drawn = together(before.runs if before and again else [], labelled(runs))
    lines = picture.lines(drawn)
    if not lines:
        recorded = dict.fromkeys(one for _, result in drawn for one in result.series["quantity"].tolist())
        raise ValueError(f"nothing has {picture.quantity}; recorded are {', '.join(recorded)}")
    if before and again:
        for artist in before.artists:
            artist.remove()
    there = {*axes.get_children()}
    _fill(axes, picture, lines, alone=picture.of is None and is_one_of_several(lines[0], drawn))
    _DRAWN[axes] = _Drawn(picture, drawn, [one for one in axes.get_children() if one not in there])
    return axes


def _fill(axes: Axes, picture: _Picture, lines: Sequence[Line], *, alone: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    front = chosen(lines)
    there = [line for line, _ in front]
    behind = [line for line in lines if line not in there]
    ends: list[Label] = []
    drawn = picture.drawstyle
    for line, name, style in zip(there, named(front), styles(there), strict=True):
        axes.plot(*picture.points(line), label=legend_label(name), drawstyle=drawn, **style)
        ends.append((float(line.time[-1]), float(line.value[-1]), name, str(style["color"])))
    for place, line in enumerate(behind):
        label = f"{len(behind)} others" if place == 0 else None
        axes.plot(*picture.points(line), color=BEHIND, linewidth=0.4, zorder=1, label=label, drawstyle=drawn)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(picture.label)
    axes.set_xlim(0, max(float(line.time[-1]) for line in lines))
    if all(line.value.min() >= 0 for line in lines):
        axes.set_ylim(bottom=0)
    if all((line.value == line.value.round()).all() and line.value.max() < 10 for line in lines):
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    early = len(there) > 1 and min(x for x, *_ in ends) < max(x for x, *_ in ends)
    noted = any(line.note for line in there)
    name_lines(axes, ends, legend=bool(behind) or early or noted, alone=alone, plain=True)
