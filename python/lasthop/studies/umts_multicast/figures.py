"""The paper's figures 3 to 6, drawn from our runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun

from .data import FAIRNESS, PERMANENT, STEPS, TEMPORARY, Data
from .network import LEGACY, MODIFIED, SCHEMES
from .paper import TABLE_II
from .scenario import CHANGES, MIXED, PAIRS, PERMANENT_S, SIZES, STEPS_S
from .styles import LOOKS, PROTOCOLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: A thin line beside the means.
FAINT, SOFT = "#BBBBBB", "#555555"


def pictures(data: Data, others: Mapping[str, Data]) -> list[Picture]:
    """Figures 3a to 6, of what was run; ``others`` has §5.3 in readings of its degradation, to stand beside."""
    made = []
    for draw in (_pair, _mixed, _steps, lambda data: _ratios(data, others), _permanent):
        try:
            made.append(draw(data))
        except NotRun:
            continue
    return made


def _lines(data: Data, grid: str, flow: str, **where: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Whole seconds, and the throughput of a flow in each: a row for each seed."""
    numbers = data.grid(grid)
    rows = numbers.rows
    if rows is None:
        raise NotRun(f"{grid} was run without rows")
    here = rows["flow"] == flow
    for name, value in where.items():
        here &= rows[name] == value
    if not here.any():
        raise NotRun(f"{grid}: no rows of {flow}")
    seeds, times, kbps = (rows[name][here] for name in ("seed", "time_s", "kbps"))
    seconds = np.ceil(times - 1e-9)
    grid_s = np.unique(seconds)
    places = np.searchsorted(list(numbers.seeds), seeds), np.searchsorted(grid_s, seconds)
    sums, counts = (np.zeros((len(numbers.seeds), len(grid_s))) for _ in range(2))
    np.add.at(sums, places, kbps)
    np.add.at(counts, places, 1)
    with np.errstate(invalid="ignore"):
        return grid_s, sums / np.where(counts, counts, np.nan)


def _over_time(
    axes: Axes, lines: Sequence[tuple[str, tuple[Any, Any], Any]], columns: dict[str, list[Any]], panel: str = ""
) -> list[str]:
    """Each flow in the first run, with the mean of all runs as a faint band around it. What it says in words."""
    said = []
    for name, (times, kbps), look in lines:
        style = {key: value for key, value in look.items() if key != "marker"}
        axes.plot(times, kbps[0], label=name, linewidth=1.0, **style)
        mean = np.nanmean(kbps, axis=0)
        if len(kbps) > 1:
            low, high = np.nanquantile(kbps, [0.1, 0.9], axis=0)
            axes.fill_between(times, low, high, color=style["color"], alpha=0.15, linewidth=0)
        columns["panel"] += [panel] * len(times)
        columns["flow"] += [name] * len(times)
        columns["time_s"] += times.tolist()
        columns["first_run_kbps"] += kbps[0].tolist()
        columns["mean_kbps"] += mean.tolist()
        said.append(f"{name} {number(float(np.nanmean(mean)), 0)} kbit/s on average")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("throughput (kbit/s)")
    return said


def _columns() -> dict[str, list[Any]]:
    return {"panel": [], "flow": [], "time_s": [], "first_run_kbps": [], "mean_kbps": []}


def _legend(axes: Axes, columns: int = 3) -> None:
    axes.legend(
        ncols=columns,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        columnspacing=1.0,
        handlelength=1.8,
        borderaxespad=0.2,
    )


def _runs(data: Data, grid: str) -> str:
    n = len(data.grid(grid).seeds)
    return "Lines are the run of seed 1" + (f", bands hold four fifths of {n} runs." if n > 1 else ".")


def _beside(data: Data) -> str:
    """Who else sends in §5.1."""
    return "with all of Table I sending" if data.crowded else "without the background of Table I"


def _pair(data: Data) -> Picture:
    figure, axes = plot.figure(plot.ONE_COLUMN, 60.0)
    columns = _columns()
    lines = [
        (f"TFMCC{n + 1}", _lines(data, FAIRNESS, f"observed{n}", where="iu", flows=PAIRS[0]), look)
        for n, look in enumerate((LOOKS["mod_tfmcc"], {"color": "#000000", "linestyle": "--"}))
    ]
    said = _over_time(axes, lines, columns)
    _legend(axes)
    return Picture(
        id="figure-3a",
        caption=f"Two flows of modified TFMCC at UE_x, through an Iu of 600 kbit/s, {_beside(data)}. "
        + _runs(data, FAIRNESS),
        alt="Throughput over 200 s. " + ", ".join(said) + ".",
        figure=figure,
        data=Table(pa.table(columns)),
    )


def _mixed(data: Data) -> Picture:
    figure, axes = plot.figure(plot.ONE_COLUMN, 60.0)
    columns = _columns()
    lines = [
        (name.upper(), _lines(data, FAIRNESS, f"observed{n}", where="iu", flows=MIXED), PROTOCOLS[name])
        for n, name in enumerate(("tfmcc", "pgmcc", "tcp"))
    ]
    said = _over_time(axes, lines, columns)
    _legend(axes)
    return Picture(
        id="figure-3b",
        caption="Modified TFMCC, modified PGMCC and TCP at UE_x, through an Iu of 600 kbit/s, "
        f"{_beside(data)}. " + _runs(data, FAIRNESS),
        alt="Throughput over 200 s. " + ", ".join(said) + ".",
        figure=figure,
        data=Table(pa.table(columns)),
    )


def _steps(data: Data) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 66.0, columns=2, sharey=True)
    columns = _columns()
    said = []
    titles = {
        "loss": [f"{100 * p:g} % lost" for p in CHANGES["loss"]],
        "delay": [f"+{ms:g} ms" for ms in CHANGES["delay"]],
    }
    for axes, step in zip(panels, ("loss", "delay"), strict=True):
        lines = [
            (name.upper(), _lines(data, STEPS, name, step=step), PROTOCOLS[name]) for name in ("tfmcc", "pgmcc", "tcp")
        ]
        said.append(f"Steps of the {step}: {', '.join(_over_time(axes, lines, columns, step))}")
        for begin, end, words in zip((0.0, *STEPS_S[:-1]), STEPS_S, titles[step], strict=True):
            if begin:
                axes.axvline(begin, color=SOFT, linewidth=0.6, linestyle=":")
            axes.annotate(
                words,
                ((begin + end) / 2, 0.99),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="top",
                fontsize=7,
                color=SOFT,
            )
        # Starts overshoot in other runs.
        axes.set_ylim(0, 1.15 * max(float(np.max(kbps[0])) for _, (_, kbps), _ in lines))
    panels[1].set_ylabel("")
    _legend(panels[0])
    return Picture(
        id="figure-4",
        caption="A flow of each protocol at UE_x while the Iu changes at 50 and 100 s: its loss rate (left, the "
        "paper's figure), its "
        "delay (right; the loss rate is 1 %). " + _runs(data, STEPS),
        alt=". ".join(said) + ".",
        figure=figure,
        data=Table(pa.table(columns)),
    )


#: The reading of §5.3 that is shown beside the default one, if there are so many runs of it; how far the axis goes at
#: least.
BESIDE, ENOUGH, HIGHEST = "clean start", 8, 1.7


def _ratios(data: Data, others: Mapping[str, Data]) -> Picture:
    shown = {"losses from the start": data}
    if BESIDE in others and len(others[BESIDE].grid(TEMPORARY).seeds) >= ENOUGH:
        shown[f"{BESIDE} of 20 s"] = others[BESIDE]
    figure, drawn = plot.figure(plot.TWO_COLUMNS, 80.0, columns=len(shown), sharey=True, squeeze=False)
    panels = drawn[0]
    rows: list[dict[str, Any]] = []
    said, highest = [], HIGHEST
    for axes, (title, of) in zip(panels, shown.items(), strict=True):
        for n, scheme in enumerate((*MODIFIED, *LEGACY)):
            row = [of.ratio(scheme, ues) for ues in of.sizes]
            look = LOOKS[scheme]
            # Side by side, so that bars do not hide one another.
            places = [ues * 1.04 ** (n - 1.5) for ues in of.sizes]
            axes.errorbar(
                places, [one.mean for one in row], yerr=[0.0 if np.isnan(one.half) else one.half for one in row],
                label=SCHEMES[scheme], capsize=1.5, elinewidth=0.7, markersize=3.0, linewidth=1.0, **look,
            )  # fmt: skip
            highest = max(highest, *(one.high for one in row if not np.isnan(one.half)))
            axes.plot(
                SIZES, TABLE_II[scheme], linestyle="none", marker=look["marker"], markersize=5, markerfacecolor="none",
                markeredgecolor=look["color"], markeredgewidth=0.8, alpha=0.6 if scheme.startswith("leg") else 1.0,
            )  # fmt: skip
            means = ", ".join(f"{number(one.mean, 2)} with {n}" for n, one in zip(of.sizes, row, strict=True))
            said.append(f"{title}, {SCHEMES[scheme]}: {means}")
            rows += [
                {
                    "degradation": title, "scheme": SCHEMES[scheme], "ues": ues, "ratio": one.mean, "low": one.low,
                    "high": one.high, "n": one.n, "paper": TABLE_II[scheme][SIZES.index(ues)],
                }
                for ues, one in zip(of.sizes, row, strict=True)
            ]  # fmt: skip
        axes.axhline(1.0, color=FAINT, linewidth=0.6, zorder=0)
        axes.set_xscale("log")
        ticks = (1, 3, 6, 10, 20, 50, 100)
        axes.set_xticks(ticks, [str(size) for size in ticks])
        axes.minorticks_off()
        axes.set_ylim(0, highest)
        axes.set_xlabel(f"terminals in the group ({title})" if len(shown) > 1 else "terminals in the group")
    panels[0].set_ylabel("throughput / TCP's")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    more = ""
    if len(shown) > 1:
        runs = len(others[BESIDE].grid(TEMPORARY).seeds)
        more = f" Right: with 20 s without loss before, as was taken at first; the observed flows alone, {runs} runs."
    return Picture(
        id="figure-5",
        caption="Throughput of each scheme over that of TCP while each terminal's radio loses up to 5 % of the "
        "packets, with all of Table I "
        "sending. Open marks are the paper's Table II; bars are 95 % intervals over "
        f"{len(data.grid(TEMPORARY).seeds)} runs.{more}",
        alt="Ratio over the size of the group. " + "; ".join(said) + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
    )


def _permanent(data: Data) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 72.0, columns=2)
    columns = _columns()
    begin, _ = PERMANENT_S
    shown = ("mod_tfmcc", "mod_pgmcc", "tcp")
    words = []
    draws: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
        ("carried", "over the radio (kbit/s)", lambda _: True),
        ("sent", "sent (kbit/s)", lambda time: begin - 5 <= time <= begin + 20),
    )
    for axes, (what, label, keep) in zip(panels, draws, strict=True):
        lines = []
        for scheme in shown:
            times, kbps = _lines(data, PERMANENT, what, scheme=scheme)
            mask = np.array([keep(float(time)) for time in times])
            lines.append((SCHEMES[scheme], (times[mask], kbps[:, mask]), LOOKS[scheme]))
        words.append(f"{what}: {', '.join(_over_time(axes, lines, columns, what))}")
        axes.axvline(begin, color=SOFT, linewidth=0.6, linestyle=":")
        axes.set_ylabel(label)
    _legend(panels[0])
    cuts = ", ".join(
        f"{SCHEMES[scheme]} {estimate(data.grid(PERMANENT).at('first_cut_s', scheme=scheme))} s" for scheme in shown
    )
    return Picture(
        id="figure-6",
        caption="A terminal that loses 20 % of its packets after two attempts from 50 s on: what its bearer delivers "
        "(left, the paper's figure), "
        f"and what is sent to it around the change (right). {_runs(data, PERMANENT)} Time from the change to the first "
        "cut, in the runs that have "
        f"one: {cuts}.",
        alt=". ".join(words) + ".",
        figure=figure,
        data=Table(pa.table(columns)),
    )
