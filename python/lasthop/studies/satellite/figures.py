"""The paper's figures 3 and 5 to 13, drawn from our runs, and those of what it does not simulate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.curves import Line, curves
from lasthop.studies.satellite.data import ERRORS, RLM, SCENARIOS, TREE, Data
from lasthop.studies.satellite.model import CAPACITY, STARTS, model
from lasthop.studies.satellite.network import MULTICAST, TCP, Tree
from lasthop.studies.satellite.reductions import BIN_S, wire_kbytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["COLOURS", "FAINT", "SOFT", "pictures"]

#: A thin line beside the others, and grey words.
FAINT, SOFT = "#BBBBBB", "#555555"

#: Sessions of either kind, by number.
COLOURS = {MULTICAST: ("#D55E00", "#E69F00"), TCP: ("#0072B2", "#56B4E9", "#009E73")}
STYLES = ("-", "--", "-.")

#: The scenarios' figures: multicast's, TCP's, and what the paper shows of each third.
SCENARIO_FIGURES = {1: (5, 6), 2: (7, 8), 3: (9, 10)}
PRINTED = {1: (40, 40, 40), 2: (60, 45, 35), 3: (60, 45, 35)}


def pictures(data: Data) -> list[Picture]:
    """All figures whose runs there are."""
    makers: list[Callable[[], list[Picture]]] = [
        *(lambda n=n: _scenario(data, n) for n in SCENARIO_FIGURES),
        lambda: _against_rlm(data),
        lambda: [_errors(data)],
        lambda: [_tree(data)],
        lambda: [_model()],
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


def _steps(axes: Axes, rows: _Rows, columns: dict[str, list[Any]]) -> None:
    """The layers of all sessions."""
    for n, name in enumerate(rows.names(MULTICAST, "layers")):
        times, layers = rows.of(name, "layers")
        axes.plot(
            times, layers, color=COLOURS[MULTICAST][n], linestyle=STYLES[n], linewidth=0.5, drawstyle="steps-post",
            label=name.split(" at ")[0],
        )  # fmt: skip
        columns["name"] += [name] * len(times)
        columns["quantity"] += ["layers"] * len(times)
        columns["time_s"] += times.tolist()
        columns["value"] += layers.tolist()
    axes.set_ylim(bottom=0)
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


def _legend(axes: Axes, columns: int = 4) -> None:
    axes.legend(
        ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.0, handlelength=1.8,
        borderaxespad=0.2,
    )  # fmt: skip


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
    _legend(upper)
    _steps(lower, rows, columns)
    lower.set_xlabel("time (s)")
    said = ", ".join(f"{name} {number(one, 0)} kB/s on average" for name, one in means.items())
    pictures = [
        Picture(
            id=f"figure-{of_multicast}",
            caption=f"Scenario {scenario}, {WHAT[scenario]}: throughput of the multicast sessions over {BIN_S} s on "
            f"the wire, and the "
            "layers to which their receivers subscribe, the empty one included. The run of seed 1.",
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
    _legend(axes, 3)
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
    _legend(upper, 2)
    _steps(lower, rows, columns)
    lower.set_ylim(0, 5.3)
    lower.set_xlabel("time (s)")
    said = ", ".join(f"{name} {number(one, 0)} kB/s on average" for name, one in means.items())
    pictures = [
        Picture(
            id="figure-11",
            caption=f"RLM in scenario 1: throughput of the multicast sessions over {BIN_S} s on the wire, and the "
            f"layers of their "
            "receivers, of 32, 64, 128, 256 and 1024 kbit/s. The run of seed 1.",
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
    _legend(axes, 4)
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


def _errors(data: Data) -> Picture:
    rates = data.grid(ERRORS).axes["loss_pct"]
    looks = {
        ("queue phase", MULTICAST): {"color": COLOURS[MULTICAST][0], "marker": "o", "linestyle": "-"},
        ("queue phase", TCP): {"color": COLOURS[TCP][0], "marker": "s", "linestyle": "-"},
        ("RLM", MULTICAST): {"color": COLOURS[MULTICAST][0], "marker": "o", "linestyle": "--"},
        ("RLM", TCP): {"color": COLOURS[TCP][0], "marker": "s", "linestyle": "--"},
    }
    lines = [
        Line(
            f"{kind}, {'RLM' if scheme == 'RLM' else 'queue phase'}",
            [data.mean(ERRORS, f"kbytes {kind}", scheme=scheme, loss_pct=pct) for pct in rates],
            look,
        )
        for (scheme, kind), look in looks.items()
    ]
    return curves(
        "figure-errors", lines, x=list(rates), x_label="packets lost behind the queue (%)", y_label="throughput (kB/s)",
        caption="Throughput of a session on average in scenario 1, with packets lost at random on the up-link after "
            "they were sent. "
        f"Bars are 95 % intervals over {len(data.grid(ERRORS).seeds)} runs.",
        column="loss_pct", zero=True,
    )  # fmt: skip


def _tree(data: Data) -> Picture:
    figure, axes = plot.figure(plot.TWO_COLUMNS, 62.0)
    rows: list[dict[str, Any]] = []
    place = 0
    ticks: list[tuple[float, str]] = []
    said = []
    for branch in Tree.BRANCHES:
        begin = place
        fair = branch.fair_layers(Tree.SESSIONS)
        for member in branch.members:
            for session in range(1, Tree.SESSIONS + 1):
                one = estimate(data.at(TREE, f"layers {session} {member}", misbehaves=True))
                wrong = session == 1 and member == Tree.MISBEHAVES
                axes.errorbar(
                    place + 0.24 * (session - 1.5), one.mean, yerr=one.half, capsize=1.5, elinewidth=0.7,
                    marker="X" if wrong else "os"[session - 1], markersize=5 if wrong else 3.5, linestyle="none",
                    color="#000000" if wrong else COLOURS[MULTICAST][session - 1],
                    label={0: f"session {session}", 1: "misbehaves"}.get(int(wrong)) if wrong or place == 1 else None,
                )  # fmt: skip
                rows.append(
                    {"bottleneck": branch.name, "receiver": member, "session": session, "misbehaves": wrong,
                     "layers": one.mean, "low": one.low, "high": one.high, "fair": fair}
                )  # fmt: skip
            place += 1
        axes.fill_between([begin - 0.5, place - 0.5], fair - 1, fair + 1, color=FAINT, alpha=0.4, linewidth=0,
                          label="fair share ± 1" if begin == 0 else None)  # fmt: skip
        axes.plot([begin - 0.5, place - 0.5], [fair, fair], color=SOFT, linewidth=0.7)
        ticks.append(((begin + place - 1) / 2, f"{branch.name}\n{branch.rate_kbps / 1000:g} Mbit/s, {branch.tcp} TCP"))
        mine = [row["layers"] for row in rows if row["bottleneck"] == branch.name]
        said.append(f"{branch.name}: {number(min(mine), 1)} to {number(max(mine), 1)}, fair {number(fair, 1)}")
    axes.set_xticks([at for at, _ in ticks], [words for _, words in ticks])
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 14)
    axes.set_ylabel("layers that come")
    _legend(axes, 4)
    return Picture(
        id="figure-tree",
        caption="Twelve receivers of two sessions behind three bottlenecks: the down-links to Boston and to Tokyo, "
        "and a wire. One receiver takes all layers of session 1. Means over the run; bars are 95 % intervals over "
        f"{len(data.grid(TREE).seeds)} runs.",
        alt="Layers of each receiver. " + "; ".join(said) + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
    )


def _model() -> Picture:
    figure, (left, right) = plot.figure(plot.TWO_COLUMNS, 66.0, columns=2)
    rows: list[dict[str, Any]] = []
    said = []
    for start, colour, style in zip(STARTS, ("#D55E00", "#0072B2"), ("-", "--"), strict=True):
        course = model(start, 600)
        name = f"from ({start[0]:g}, {start[1]:g})"
        left.plot(course.rates[:, 0], course.rates[:, 1], color=colour, linestyle=style, linewidth=0.7, label=name)
        left.plot(*start, marker="o", color=colour, markersize=4, linestyle="none")
        steps = np.arange(len(course.rates))
        right.plot(steps, course.fairness, color=colour, linestyle=style, linewidth=0.7, label=name)
        limit = model(start).limit()
        said.append(f"{name} the mean of the index tends to {number(limit, 3)}")
        rows += [
            {"start": name, "step": int(step), "multicast": float(one[0]), "tcp": float(one[1]), "jain": float(index)}
            for step, one, index in zip(steps, course.rates, course.fairness, strict=True)
        ]
    left.plot([0, CAPACITY], [CAPACITY, 0], color=FAINT, linewidth=0.8)
    left.plot([0, CAPACITY], [0, CAPACITY], color=FAINT, linewidth=0.8, linestyle=":")
    left.annotate("all equal", (88, 88), color=SOFT, fontsize=7, ha="right", va="bottom", rotation=0)
    left.annotate("capacity", (97, 6), color=SOFT, fontsize=7, ha="right", va="bottom")
    left.set_xlim(0, CAPACITY)
    left.set_ylim(0, CAPACITY)
    left.set_xlabel("multicast (% of the capacity)")
    left.set_ylabel("TCP (% of the capacity)")
    right.axhline(model(STARTS[0]).limit(), color=FAINT, linewidth=0.8)
    right.set_xlim(0, 600)
    right.set_ylim(0.5, 1.01)
    right.set_xlabel("steps")
    right.set_ylabel("Jain's index")
    _legend(left, 2)
    return Picture(
        id="figure-model",
        caption="The paper's model of fairness (equations 1 to 9), computed from two beginnings: capacity 100, "
        "layers of 5, α = 1, β = 1/2. Right: Jain's index, and its mean in the limit (grey). Multicast ends at TCP's "
        "peak, above its mean.",
        alt="Left: rates of TCP over those of multicast; right: Jain's index over steps. " + "; ".join(said) + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
    )
