"""The project's look, and the four pictures that everyone wants first.

Figures can be put into a paper as they are: 88 or 180 mm wide, 8-point text, no title inside,
axes with quantity and unit. A protocol keeps its colour everywhere; line styles say it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import files

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.results import Result
    from lasthop.scenario import Scenario
    from lasthop.sweeps import Sweep

Line = tuple[str, dict[str, Any], "np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]

__all__ = [
    "ONE_COLUMN",
    "TWO_COLUMNS",
    "across",
    "figure",
    "look",
    "queue",
    "recording",
    "rtt",
    "save",
    "standard",
    "throughput",
    "window",
]

#: Widths of figures, in millimetres.
ONE_COLUMN, TWO_COLUMNS = 88.0, 180.0

#: The formats that figures are written in.
FORMATS = ("png", "svg", "pdf")

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_PURPLE, _SKY, _BLACK, _GREY = "#CC79A7", "#56B4E9", "#000000", "#767676"

#: Colour and line style of each protocol, found by the words in a flow's transport.
PROTOCOLS: dict[str, tuple[str, str]] = {
    "newreno": (_SKY, "--"),
    "reno": (_BLUE, "-"),
    "tahoe": (_GREY, "-."),
    "fack": (_PURPLE, "--"),
    "vegas": (_GREEN, "-."),
    "cubic": (_ORANGE, "-"),
    "sack": (_PURPLE, "-"),
    "tfrc": (_RED, "-"),
    "ccid2": (_BLUE, "--"),
    "ccid3": (_RED, "--"),
    "xcp": (_GREEN, "-"),
    "ewa": (_ORANGE, "--"),
    "intserv": (_BLACK, "-."),
    "diffserv": (_PURPLE, ":"),
    "swan": (_GREY, "--"),
    "udp": (_BLACK, ":"),
}
_OTHERS = [_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _SKY, _BLACK, _GREY]
_STYLES = ["-", "--", "-.", ":"]
_MARKERS = ["o", "s", "^", "D", "v"]

_RC: Any = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 2.5,
    "pdf.fonttype": 42,
    # Same figure, same bytes.
    "svg.hashsalt": "lasthop",
}


def look(transport: str, place: int = 0) -> dict[str, Any]:
    """Colour and line style for a protocol, or for the line number ``place`` if it is not known."""
    words = transport.lower()
    for name, (colour, style) in PROTOCOLS.items():
        if name in words:
            return {"color": colour, "linestyle": style, "linewidth": 1.0}
    return {
        "color": _OTHERS[place % len(_OTHERS)],
        "linestyle": _STYLES[place % len(_STYLES)],
        "linewidth": 1.0,
    }


def figure(
    width_mm: float = ONE_COLUMN, height_mm: float = 55.0, *, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure in the project's look, and its axes as ``matplotlib.pyplot.subplots`` gives them."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_RC):
        made = Figure(figsize=(width_mm / 25.4, height_mm / 25.4), layout="constrained")
        FigureCanvasAgg(made)
        return made, made.subplots(rows, columns, **subplots)


def save(drawn: Figure, stem: Path) -> list[Path]:
    """Writes a figure as PNG (200 dpi), SVG and PDF; the paths written."""
    from matplotlib import rc_context

    paths = []
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with rc_context(_RC):
        for suffix in FORMATS:
            path = stem.with_name(f"{stem.name}.{suffix}")
            with files.whole(path) as out:
                drawn.savefig(out, dpi=200, format=suffix, metadata=undated[suffix])
            paths.append(path)
    return paths


def label_lines(axes: Axes, labels: Sequence[tuple[float, float, str, str]]) -> None:
    """Writes labels (x, y, text, colour) to the right of lines' ends, pushed apart where they would touch."""
    if not labels:
        return
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    step = (high - low) * 8 * 1.25 / height
    place = -float("inf")
    for x, y, text, colour in sorted(labels, key=lambda label: label[1]):
        place = max(y, place + step)
        axes.annotate(
            text, (x, place), xytext=(3, 0), textcoords="offset points", color=colour, va="center",
            annotation_clip=False, fontsize=8,
        )  # fmt: skip


# The four standard pictures


def recording(scenario: Scenario) -> Scenario:
    """The scenario with series recorded, 300 samples of them if it does not say how many."""
    if scenario["record"].get("series"):
        return scenario
    return scenario.with_({"record.series": f"{max(1, round(scenario.duration_s / 300 * 1e6))} us"})


def throughput(result: Result, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Goodput of flows over time."""
    return _flows(result, "goodput_kbps", "goodput (kbit/s)", flow, axes)


def window(result: Result, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Congestion windows over time."""
    return _flows(result, "cwnd_packets", "congestion window (packets)", flow, axes)


def rtt(result: Result, *, flow: str | None = None, axes: Axes | None = None) -> Axes:
    """Smoothed round-trip times over time."""
    return _flows(result, "srtt_ms", "smoothed round-trip time (ms)", flow, axes)


def queue(result: Result, *, link: str | None = None, axes: Axes | None = None) -> Axes:
    """Queues of links over time: of those that were ever more than a packet long."""
    import numpy as np

    series = result.series
    here = (series["kind"] == "link") & (series["quantity"] == "queue_packets")
    names = list(dict.fromkeys(series["name"][here].tolist()))
    lines: list[Line] = []
    for name in names:
        mine = here & (series["name"] == name)
        values = series["value"][mine]
        if (link is None and np.max(values, initial=0.0) > 1) or (link is not None and name.split(" ")[0] == link):
            lines.append((name, look("", len(lines)), series["time_s"][mine], values))
    return _draw(lines, "queue (packets)", axes)


def _flows(result: Result, quantity: str, label: str, flow: str | None, axes: Axes | None) -> Axes:
    series = result.series
    transports = dict(zip(result.flows["flow"].tolist(), result.flows["transport"].tolist(), strict=True))
    if flow is not None and flow not in transports:
        raise ValueError(f"no flow {flow!r}; known: {', '.join(transports)}")
    here = (series["kind"] == "flow") & (series["quantity"] == quantity)
    used: set[str] = set()
    lines = []
    for name, transport in transports.items():
        if flow not in (None, name):
            continue
        mine = here & (series["name"] == name)
        if mine.any():
            style = _unlike(look(transport), used)
            lines.append((name, style, series["time_s"][mine], series["value"][mine]))
    return _draw(lines, label, axes)


def _draw(lines: Sequence[Line], label: str, axes: Axes | None) -> Axes:
    if axes is None:
        _, axes = figure()
    assert axes is not None
    for name, style, times, values in lines:
        axes.plot(times, values, label=name, **style)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    if lines:
        axes.set_xlim(0, max(float(times[-1]) for _, _, times, _ in lines))
    if 1 < len(lines) <= 4:
        ends = [(float(times[-1]), float(values[-1]), name, style["color"]) for name, style, times, values in lines]
        label_lines(axes, ends)
    elif len(lines) > 4:
        axes.legend(ncols=2, loc="upper left", bbox_to_anchor=(0, 1.3))
    return axes


#: The standard pictures by name.
STANDARD: dict[str, Callable[..., Axes]] = {
    "throughput": throughput,
    "window": window,
    "rtt": rtt,
    "queue": queue,
}


def standard(result: Result, folder: Path) -> list[Path]:
    """Writes the four standard pictures into ``folder``; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in STANDARD.items():
        drawn, axes = figure()
        if draw(result, axes=axes).lines:
            paths += save(drawn, folder / name)
    return paths


# Sweeps

#: What `lasthop plot` draws of a sweep: metrics of flows by the names of the pictures.
SWEEP = {"goodput": "goodput_kbps", "loss": "loss_pct", "rtt": "rtt_ms_p50"}

#: The units that end a metric's name, and what a quantile at its end is called.
_UNITS = {"kbps": "kbit/s", "bps": "bit/s", "ms": "ms", "s": "s", "pct": "%", "bytes": "B", "packets": "packets"}
_QUANTILES = {"p50": "median ", "p95": "95th percentile of "}


def across(
    sweep: Sweep, metric: str, *, key: str | None = None, table: str = "flows", axes: Axes | None = None
) -> Axes:
    """A metric over the values of a varied key: means over the seeds with their 95 % intervals.

    Without ``key`` it is the first one whose values are numbers, or the first. A line for each flow (or
    link) and for each combination of the other keys' values.
    """
    import numpy as np

    from lasthop.sweeps.vary import Vary, label

    vary = Vary(sweep.vary)
    key = (
        vary.known(key) if key else next((one for one in vary.keys if _numbers(vary.keys[one])), next(iter(vary.keys)))
    )
    values = vary.keys[key]
    axis = _numbers(values)
    grid = sweep.grid(table, sweep.by(table))
    mean, half, _ = grid.means(grid.known(metric))
    transports = grid.words().get("transport") if grid.things != [{}] else None
    if axes is None:
        _, axes = figure()
    assert axes is not None
    x = axis[0] if axis else [float(place) for place in range(len(values))]
    order = sorted(range(len(x)), key=lambda place: x[place])
    used: set[str] = set()
    ends: list[tuple[float, float, str, str]] = []
    for start in dict.fromkeys(vary.moved(point, {key: values[0]}) for point in range(vary.points)):
        points = [vary.moved(start, {key: values[place]}) for place in order]
        others = [label(value) for other, value in sweep.points[start].items() if other != key]
        for place, thing in enumerate(grid.things):
            y, error = mean[points, place], half[points, place]
            if _missing(y):
                continue
            style = _unlike(look("" if transports is None else str(transports[start, place]), len(ends)), used)
            name = ", ".join([*([next(iter(thing.values()))] if len(grid.things) > 1 else []), *others])
            # Words have no distance that a line could cross; what stands at the same one stands side by side.
            across = [x[one] if axis else x[one] + 0.06 * len(ends) for one in order]
            style = style if axis else {**style, "linestyle": "none"}
            bars = None if _missing(error) else error
            axes.errorbar(
                across,
                y,
                yerr=bars,
                label=name,
                marker=_MARKERS[len(ends) % len(_MARKERS)],
                markersize=3,
                capsize=2,
                elinewidth=0.8,
                **style,
            )
            ends.append((across[-1], float(y[-1]), name, style["color"]))
    axes.set_xlabel(f"{key} ({axis[1]})" if axis and axis[1] else key)
    axes.set_ylabel(_quantity(metric))
    if not axis:
        axes.set_xticks([place + 0.03 * (len(ends) - 1) for place in x], [label(value) for value in values])
        axes.margins(x=0.2)
    lowest = float(np.nanmin(mean - np.nan_to_num(half), initial=0.0))
    axes.set_ylim(bottom=axes.get_ylim()[0] if lowest < 0 else 0.0)
    if 1 < len(ends) <= 4:
        label_lines(axes, ends)
    elif len(ends) > 4:
        axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return axes


def swept(sweep: Sweep, folder: Path) -> list[Path]:
    """Writes the pictures of a sweep into ``folder``; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, metric in SWEEP.items():
        drawn, axes = figure()
        if across(sweep, metric, axes=axes).containers:
            paths += save(drawn, folder / name)
    return paths


def _unlike(style: dict[str, Any], used: set[str]) -> dict[str, Any]:
    """The style with the first line style in which it is not used yet; lines of one protocol keep its colour."""
    while f"{style}" in used and len(used) < len(_STYLES):
        style = {**style, "linestyle": _STYLES[(_STYLES.index(style["linestyle"]) + 1) % len(_STYLES)]}
    used.add(f"{style}")
    return style


def _missing(values: Any) -> bool:
    import numpy as np

    return not np.isfinite(values).any()


def _numbers(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Values as numbers with their common unit, if they are such."""
    parts = [re.fullmatch(r"([-+.\d]+(?:e[-+]?\d+)?)\s*(\D*)", str(value).strip()) for value in values]
    if any(isinstance(value, bool) for value in values) or not all(parts):
        return None
    units = {part[2] for part in parts if part}
    try:
        return ([float(part[1]) for part in parts if part], units.pop()) if len(units) == 1 else None
    except ValueError:
        return None


def _quantity(metric: str) -> str:
    """A metric's name as a quantity with its unit."""
    words = metric.split("_")
    quantile = _QUANTILES.get(words[-1], "")
    words = words[:-1] if quantile else words
    unit = _UNITS.get(words[-1]) if len(words) > 1 else None
    name = " ".join(words[:-1] if unit else words).replace("rtt", "round-trip time")
    return f"{quantile}{name} ({unit})" if unit else f"{quantile}{name}"
