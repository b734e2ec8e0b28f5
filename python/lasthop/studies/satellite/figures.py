"""The paper's figures 5 to 12, drawn from our runs: rates and layers over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.satellite.beyond import BEYOND
from lasthop.studies.satellite.data import RLM, SCENARIOS, Data
from lasthop.studies.satellite.looks import COLOURS, FAINT, STYLES, legend, whole
from lasthop.studies.satellite.network import MULTICAST, TCP
from lasthop.studies.satellite.reductions import BIN_S, wire_kbytes
from lasthop.studies.satellite.scenarios import PRINTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["pictures"]

#: Over how long layers are drawn: their mean, and the least and the most.
LAYERS_S = 50

#: The scenarios' figures: multicast's and TCP's.
SCENARIO_FIGURES = {1: (5, 6), 2: (7, 8), 3: (9, 10)}


def pictures(data: Data) -> list[Picture]:
    """All figures whose runs there are."""
    makers: list[Callable[[], list[Picture]]] = [
        *(lambda n=n: _scenario(data, n) for n in SCENARIO_FIGURES),
        lambda: _against_rlm(data),
        *(lambda make=make: [make(data)] for make in BEYOND),
    ]
    made: list[Picture] = []
    for make in makers:
        try:
            made += make()
        except NotRun:
            continue
    return made


class _Rows:
    """What is kept over time of the first run of a point."""

    def __init__(self, data: Data, grid: str, **where: Any) -> None:
        numbers = data.grid(grid)
        if numbers.rows is None:
            raise NotRun(f"{grid} was run without rows")
        here = numbers.rows["seed"] == numbers.seeds[0]
        for name, value in where.items():
            here &= numbers.rows[name] == value
        self._columns = {name: numbers.rows[name][here] for name in ("name", "quantity", "time_s", "value")}

    def of(self, name: str, quantity: str) -> tuple[Array, Array]:
        """Times and values."""
        here = (self._columns["name"] == name) & (self._columns["quantity"] == quantity)
        return self._columns["time_s"][here], self._columns["value"][here]

    def names(self, kind: str, quantity: str) -> list[str]:
        """The names of a kind that have the quantity, sorted."""
        here = self._columns["quantity"] == quantity
        return sorted({str(name) for name in self._columns["name"][here] if str(name).startswith(kind)})


def _binned(times: Array, values: Array, seconds: int) -> tuple[Array, Array]:
    """Means over bins; a bin's time is its end."""
    times, values = times[times > 0], values[times > 0]
    whole = len(values) // seconds * seconds
    return times[:whole].reshape(-1, seconds)[:, -1], values[:whole].reshape(-1, seconds).mean(axis=1)


def _columns() -> dict[str, list[Any]]:
    return {"name": [], "quantity": [], "time_s": [], "value": []}


def _draw(
    axes: Axes, rows: _Rows, kind: str, columns: dict[str, list[Any]], *, alpha: float = 1.0, labels: bool = True
) -> dict[str, float]:
    """The rates of all sessions of a kind; their means."""
    means = {}
    for n, name in enumerate(rows.names(kind, "goodput_kbps")):
        times, values = _binned(*rows.of(name, "goodput_kbps"), BIN_S)
        rate = wire_kbytes(name, values)
        axes.plot(
            times, rate, color=COLOURS[kind][n], linestyle=STYLES[n], linewidth=0.9, alpha=alpha,
            label=name if labels else None,
        )  # fmt: skip
        columns["name"] += [name] * len(times)
        columns["quantity"] += ["kB/s"] * len(times)
        columns["time_s"] += times.tolist()
        columns["value"] += rate.tolist()
        means[name] = float(rate[rate > 0].mean()) if (rate > 0).any() else 0.0
    return means


def _layers(axes: Axes, rows: _Rows, columns: dict[str, list[Any]]) -> None:
    """The layers of all sessions: means over some time, and from the least to the most."""
    for n, name in enumerate(rows.names(MULTICAST, "layers")):
        times, layers = rows.of(name, "layers")
        times, layers = times[times > 0], layers[times > 0]
        parts = len(layers) // LAYERS_S
        ends = times[: parts * LAYERS_S].reshape(parts, LAYERS_S)[:, -1]
        each = layers[: parts * LAYERS_S].reshape(parts, LAYERS_S)
        edges = np.append(ends - LAYERS_S, ends[-1:])
        colour = COLOURS[MULTICAST][n]
        for quantity, values in (
            ("layers", each.mean(axis=1)),
            ("least", each.min(axis=1)),
            ("most", each.max(axis=1)),
        ):
            columns["name"] += [name] * parts
            columns["quantity"] += [quantity] * parts
            columns["time_s"] += ends.tolist()
            columns["value"] += values.tolist()
        axes.stairs(each.mean(axis=1), edges, baseline=None, color=colour, linestyle=STYLES[n], linewidth=1.1)
        axes.stairs(each.max(axis=1), edges, baseline=each.min(axis=1), fill=True, color=colour, alpha=0.2, linewidth=0)
    axes.set_ylim(bottom=0)
    whole(axes.yaxis)
    axes.set_ylabel("layers")


def _printed(axes: Axes, scenario: int, columns: dict[str, list[Any]]) -> None:
    """What the paper shows of each third."""
    for third, value in enumerate(PRINTED[scenario]):
        axes.plot(
            [500 * third, 500 * (third + 1)], [value, value], color=FAINT, linewidth=3.0, zorder=0,
            label="paper" if third == 0 else None, solid_capstyle="butt",
        )  # fmt: skip
        columns["name"].append("paper")
        columns["quantity"].append("kB/s")
        columns["time_s"].append(500.0 * (third + 1))
        columns["value"].append(float(value))


def _finish(axes: Axes, top: float, *, label: bool = True) -> None:
    axes.set_xlim(0, 1500)
    axes.set_ylim(0, top)
    axes.set_ylabel("throughput (kB/s)")
    if label:
        axes.set_xlabel("time (s)")


WHAT = {
    1: "all sessions from 0 to 1500 s",
    2: "the second TCP flow from 500 s, the third from 1000 s on",
    3: "TCP from 0 s, the multicast sessions from 500 s and from 1000 s on",
}


def _scenario(data: Data, scenario: int) -> list[Picture]:
    rows = _Rows(data, SCENARIOS, scenario=scenario)
    of_multicast, of_tcp = SCENARIO_FIGURES[scenario]
    figure, (upper, lower) = plot.figure(plot.ONE_COLUMN, 78.0, rows=2, sharex=True, height_ratios=(3, 2))
    columns = _columns()
    _printed(upper, scenario, columns)
    means = _draw(upper, rows, MULTICAST, columns)
    _finish(upper, 100.0, label=False)
    legend(upper)
    _layers(lower, rows, columns)
    lower.set_xlabel("time (s)")
    said = ", ".join(f"{name} {number(one, 0)} kB/s on average" for name, one in means.items())
    pictures = [
        Picture(
            id=f"figure-{of_multicast}",
            caption=f"Scenario {scenario}, {WHAT[scenario]}: throughput of the multicast sessions over {BIN_S} s on "
            f"the wire; below, the layers to which their receivers subscribe, the empty one included: means over "
            f"{LAYERS_S} s, and bands from the least to the most in them. The run of seed 1.",
            alt=f"Throughput and layers over 1500 s. {said}.",
            figure=figure,
            data=Table(pa.table(columns)),
        )
    ]
    figure, axes = plot.figure(plot.ONE_COLUMN, 60.0)
    columns = _columns()
    _printed(axes, scenario, columns)
    means = _draw(axes, rows, TCP, columns)
    _mean_of(axes, rows, TCP, columns)
    _finish(axes, 100.0)
    legend(axes, 3)
    said = ", ".join(f"{name} {number(one, 0)} kB/s on average" for name, one in means.items())
    pictures.append(
        Picture(
            id=f"figure-{of_tcp}",
            caption=f"Scenario {scenario}, {WHAT[scenario]}: throughput of the TCP flows over {BIN_S} s on the "
            f"wire, and the mean of those "
            "that send. The run of seed 1.",
            alt=f"Throughput over 1500 s. {said}.",
            figure=figure,
            data=Table(pa.table(columns)),
        )
    )
    return pictures


def _mean_of(axes: Axes, rows: _Rows, kind: str, columns: dict[str, list[Any]]) -> None:
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
    columns["name"] += ["mean"] * len(times)
    columns["quantity"] += ["kB/s"] * len(times)
    columns["time_s"] += times.tolist()
    columns["value"] += mean.tolist()


def _against_rlm(data: Data) -> list[Picture]:
    rows = _Rows(data, RLM)
    figure, (upper, lower) = plot.figure(plot.ONE_COLUMN, 78.0, rows=2, sharex=True, height_ratios=(3, 2))
    columns = _columns()
    means = _draw(upper, rows, MULTICAST, columns)
    _finish(upper, 140.0, label=False)
    legend(upper, 2)
    _layers(lower, rows, columns)
    lower.set_ylim(0, 5.3)
    lower.set_yticks(range(6))
    lower.set_xlabel("time (s)")
    said = ", ".join(f"{name} {number(one, 0)} kB/s on average" for name, one in means.items())
    pictures = [
        Picture(
            id="figure-11",
            caption=f"RLM in scenario 1: throughput of the multicast sessions over {BIN_S} s on the wire; below, the "
            f"layers of their receivers, of 32, 64, 128, 256 and 1024 kbit/s: means over {LAYERS_S} s, and "
            "bands from the least to the most in them. The run of seed 1.",
            alt=f"Throughput and layers over 1500 s. {said}.",
            figure=figure,
            data=Table(pa.table(columns)),
        )
    ]
    figure, axes = plot.figure(plot.ONE_COLUMN, 60.0)
    columns = _columns()
    means = _draw(axes, rows, TCP, columns)
    _mean_of(axes, rows, TCP, columns)
    _finish(axes, 140.0)
    legend(axes, 4)
    said = ", ".join(f"{name} {number(one, 0)} kB/s on average" for name, one in means.items())
    pictures.append(
        Picture(
            id="figure-12",
            caption=f"RLM in scenario 1: throughput of the TCP flows over {BIN_S} s on the wire, and their mean. "
            f"The run of seed 1.",
            alt=f"Throughput over 1500 s. {said}.",
            figure=figure,
            data=Table(pa.table(columns)),
        )
    )
    return pictures
