"""The paper's figures 5 to 12, drawn from our runs: rates and layers over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop import plot
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.pictures import FAINT, Columns, drawn, legend, picture, whole

from ..data import RLM, SCENARIOS, Data
from ..measures import BIN_S, wire_kbytes
from ..network import MULTICAST, TCP
from ..paper import PRINTED
from ..styles import COLOURS, STYLES
from .beyond import BEYOND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.studies.grid import Array

#: Over how long layers are drawn: their mean, and the least and the most.
LAYERS_S = 50

#: The scenarios' figures: multicast's and TCP's.
SCENARIO_FIGURES = {1: (5, 6), 2: (7, 8), 3: (9, 10)}

WHAT = {
    1: "all sessions from 0 to 1500 s",
    2: "the second TCP flow from 500 s, the third from 1000 s on",
    3: "TCP from 0 s, the multicast sessions from 500 s and from 1000 s on",
}


def pictures(data: Data) -> list[Picture]:
    """All figures whose runs there are."""
    return drawn([*(partial(_scenario, scenario=n) for n in SCENARIO_FIGURES), _against_rlm, *BEYOND], data)


class _Rows:
    """What is kept over time of the first run of a point."""

    def __init__(self, data: Data, grid: str, **where: Any) -> None:
        numbers = data.grid(grid)
        columns = ("name", "quantity", "time_s", "value")
        kept = numbers.kept_rows(*columns, seed=numbers.seeds[0], **where)
        self._columns = dict(zip(columns, kept, strict=True))

    def of(self, name: str, quantity: str) -> tuple[Array, Array]:
        """Times and values."""
        here = (self._columns["name"] == name) & (self._columns["quantity"] == quantity)
        return self._columns["time_s"][here], self._columns["value"][here]

    def names(self, kind: str, quantity: str) -> list[str]:
        """The names of a kind that have the quantity, sorted."""
        here = self._columns["quantity"] == quantity
        return sorted({str(name) for name in self._columns["name"][here] if str(name).startswith(kind)})


def _scenario(data: Data, scenario: int) -> list[Picture]:
    rows = _Rows(data, SCENARIOS, scenario=scenario)
    of_multicast, of_tcp = SCENARIO_FIGURES[scenario]
    what = f"Scenario {scenario}, {WHAT[scenario]}"
    return [
        _sessions(
            f"figure-{of_multicast}", rows, 100.0, 4, scenario,
            f"{what}: throughput of the multicast sessions over {BIN_S} s on the wire, in grey that of a session in "
            "the paper; below, the layers to which their receivers subscribe, the empty one included: means over "
            f"{LAYERS_S} s, and bands from the least to the most in them. The run of seed 1.",
        ),
        _flows(
            f"figure-{of_tcp}", rows, 100.0, 3, scenario,
            f"{what}: throughput of the TCP flows over {BIN_S} s on the wire, the mean of those that send, and in grey "
            "that of a flow in the paper. The run of seed 1.",
        ),
    ]  # fmt: skip


def _against_rlm(data: Data) -> list[Picture]:
    rows = _Rows(data, RLM)
    sessions = _sessions(
        "figure-11", rows, 140.0, 2, None,
        f"RLM in scenario 1: throughput of the multicast sessions over {BIN_S} s on the wire; below, the layers of "
        f"their receivers, of 32, 64, 128, 256 and 1024 kbit/s: means over {LAYERS_S} s, and bands from the least to "
        "the most in them. The run of seed 1.",
    )  # fmt: skip
    layers = sessions.figure.axes[1]
    layers.set_ylim(0, 5.3)
    layers.set_yticks(range(6))
    flows = _flows(
        "figure-12", rows, 140.0, 4, None,
        f"RLM in scenario 1: throughput of the TCP flows over {BIN_S} s on the wire, and their mean. The run of seed "
        "1.",
    )  # fmt: skip
    return [sessions, flows]


def _sessions(id: str, rows: _Rows, top: float, columns: int, scenario: int | None, caption: str) -> Picture:
    """Rates of the multicast sessions, with what the paper shows of a scenario; their layers below."""
    figure, (upper, lower) = plot.figure(plot.ONE_COLUMN, 78.0, rows=2, sharex=True, height_ratios=(3, 2))
    made = Columns("name", "quantity", "time_s", "value")
    _printed(upper, rows, MULTICAST, scenario, made)
    said = _rates(upper, rows, MULTICAST, made)
    _finish(upper, top)
    legend(upper, columns)
    _layers(lower, rows, made)
    lower.set_xlabel("time (s)")
    return picture(id, figure, made, caption=caption, alt=f"Throughput and layers over 1500 s. {said}.")


def _flows(id: str, rows: _Rows, top: float, columns: int, scenario: int | None, caption: str) -> Picture:
    """Rates of the TCP flows, with their mean, and what the paper shows of a scenario."""
    figure, axes = plot.figure(plot.ONE_COLUMN, 60.0)
    made = Columns("name", "quantity", "time_s", "value")
    _printed(axes, rows, TCP, scenario, made)
    said = _rates(axes, rows, TCP, made)
    _mean_of(axes, rows, TCP, made)
    _finish(axes, top)
    axes.set_xlabel("time (s)")
    legend(axes, columns)
    return picture(id, figure, made, caption=caption, alt=f"Throughput over 1500 s. {said}.")


def _printed(axes: Axes, rows: _Rows, kind: str, scenario: int | None, columns: Columns) -> None:
    """What the paper shows of each third of a scenario in which sessions of a kind send."""
    label: str | None = "paper"
    for third, value in enumerate(PRINTED[scenario] if scenario else ()):
        if not any(_sends(*rows.of(name, "goodput_kbps"), third) for name in rows.names(kind, "goodput_kbps")):
            continue
        axes.plot(
            [500 * third, 500 * (third + 1)], [value, value], color=FAINT, linewidth=3.0, zorder=0,
            label=label, solid_capstyle="butt",
        )  # fmt: skip
        label = None
        columns.add("paper", "kB/s", 500.0 * (third + 1), float(value))


def _sends(times: Array, values: Array, third: int) -> bool:
    """Whether a session sends for most of a third."""
    here = (times > 500 * third) & (times <= 500 * (third + 1))
    return bool(here.any() and np.median(values[here]) > 0)


def _rates(axes: Axes, rows: _Rows, kind: str, columns: Columns) -> str:
    """The rates of all sessions of a kind; their means in words."""
    said = []
    for n, name in enumerate(rows.names(kind, "goodput_kbps")):
        times, values = _binned(*rows.of(name, "goodput_kbps"), BIN_S)
        rate = wire_kbytes(name, values)
        axes.plot(times, rate, color=COLOURS[kind][n], linestyle=STYLES[n], linewidth=0.9, alpha=1.0, label=name)
        columns.add(name, "kB/s", times, rate)
        mean = float(rate[rate > 0].mean()) if (rate > 0).any() else 0.0
        said.append(f"{name} {number(mean, 0)} kB/s on average")
    return ", ".join(said)


def _binned(times: Array, values: Array, seconds: int) -> tuple[Array, Array]:
    """Means over bins; a bin's time is its end."""
    times, values = times[times > 0], values[times > 0]
    whole = len(values) // seconds * seconds
    return times[:whole].reshape(-1, seconds)[:, -1], values[:whole].reshape(-1, seconds).mean(axis=1)


def _mean_of(axes: Axes, rows: _Rows, kind: str, columns: Columns) -> None:
    """The mean of the sessions of a kind that send."""
    each = [_binned(*rows.of(name, "goodput_kbps"), BIN_S) for name in rows.names(kind, "goodput_kbps")]
    if not each:
        return
    times = max((one[0] for one in each), key=len)
    rates = np.full((len(each), len(times)), np.nan)
    for row, (mine, values) in zip(rates, each, strict=True):
        row[np.searchsorted(times, mine)] = np.where(values > 0, wire_kbytes(kind, values), np.nan)
    there = ~np.isnan(rates)
    mean = np.where(there, rates, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    axes.plot(times, mean, color="#000000", linewidth=1.2, label="mean")
    columns.add("mean", "kB/s", times, mean)


def _layers(axes: Axes, rows: _Rows, columns: Columns) -> None:
    """The layers of all sessions: means over some time, and from the least to the most."""
    for n, name in enumerate(rows.names(MULTICAST, "layers")):
        times, layers = rows.of(name, "layers")
        times, layers = times[times > 0], layers[times > 0]
        parts = len(layers) // LAYERS_S
        ends = times[: parts * LAYERS_S].reshape(parts, LAYERS_S)[:, -1]
        each = layers[: parts * LAYERS_S].reshape(parts, LAYERS_S)
        edges = np.append(ends - LAYERS_S, ends[-1:])
        mean, least, most = each.mean(axis=1), each.min(axis=1), each.max(axis=1)
        for quantity, values in (("layers", mean), ("least", least), ("most", most)):
            columns.add(name, quantity, ends, values)
        colour = COLOURS[MULTICAST][n]
        axes.stairs(mean, edges, baseline=None, color=colour, linestyle=STYLES[n], linewidth=1.1)
        axes.stairs(most, edges, baseline=least, fill=True, color=colour, alpha=0.2, linewidth=0)
    axes.set_ylim(bottom=0)
    whole(axes.yaxis)
    axes.set_ylabel("layers")


def _finish(axes: Axes, top: float) -> None:
    axes.set_xlim(0, 1500)
    axes.set_ylim(0, top)
    axes.set_ylabel("throughput (kB/s)")
