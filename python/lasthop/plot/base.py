"""The project's look, and the four pictures that everyone wants first.

Figures can be put into a paper as they are: 88 or 180 mm wide, 8-point text, no title inside,
axes with quantity and unit. A protocol keeps its colour everywhere; line styles say it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import files

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.results import Result
    from lasthop.scenario import Scenario

Line = tuple[str, dict[str, Any], "np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]

__all__ = [
    "MARKERS",
    "ONE_COLUMN",
    "TWO_COLUMNS",
    "figure",
    "in_look",
    "label_lines",
    "look",
    "queue",
    "recording",
    "rtt",
    "save",
    "standard",
    "throughput",
    "unlike",
    "window",
]

#: Widths of figures, in millimetres.
ONE_COLUMN, TWO_COLUMNS = 88.0, 180.0

#: The formats that figures are written in.
FORMATS = ("png", "svg", "pdf")

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_PURPLE, _SKY, _BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#767676"

#: Colour and line style of each protocol, found by the words in a flow's transport.
PROTOCOLS: dict[str, tuple[str, str]] = {
    "newreno": (_SKY, "--"),
    "reno": (_BLUE, "-"),
    "tahoe": (GREY, "-."),
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
    "swan": (GREY, "--"),
    "pgmcc": (_SKY, "-"),
    "udp": (_BLACK, ":"),
}
_OTHERS = [_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _SKY, _BLACK, GREY]
STYLES = ["-", "--", "-.", ":"]

#: What tells lines apart beside colour and style.
MARKERS = ["o", "s", "^", "D", "v"]

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
        "linestyle": STYLES[place % len(STYLES)],
        "linewidth": 1.0,
    }


def unlike(style: dict[str, Any], used: set[str]) -> dict[str, Any]:
    """The style with the first line style in which it is not used yet; lines of one protocol keep its colour."""
    while f"{style}" in used and len(used) < len(STYLES):
        style = {**style, "linestyle": STYLES[(STYLES.index(style["linestyle"]) + 1) % len(STYLES)]}
    used.add(f"{style}")
    return style


def in_look() -> AbstractContextManager[None]:
    """The project's fonts and lines for whatever is drawn inside."""
    from matplotlib import rc_context

    return rc_context(_RC)


def figure(
    width_mm: float = ONE_COLUMN, height_mm: float = 55.0, *, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure in the project's look, and its axes as ``matplotlib.pyplot.subplots`` gives them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with in_look():
        made = Figure(figsize=(width_mm / 25.4, height_mm / 25.4), layout="constrained")
        FigureCanvasAgg(made)
        return made, made.subplots(rows, columns, **subplots)


def save(drawn: Figure, stem: Path) -> list[Path]:
    """Writes a figure as PNG (200 dpi), SVG and PDF; the paths written."""
    paths = []
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with in_look():
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
            style = unlike(look(transport), used)
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
