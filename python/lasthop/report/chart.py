"""A figure's lines as data, for a page that draws them again: to zoom into, to hide and show, to read values from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.plot.style import UNSEEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["charts"]

Chart = dict[str, Any]

#: Digits that values keep on the way to the page.
DIGITS = 5
#: Those of places on the x axis, which tell samples apart.
PLACES = 10

#: What dashes are called, and how long they are.
_DASHES: Mapping[str, Sequence[float]] = {"--": [6, 3], "-.": [6, 3, 1, 3], ":": [1.5, 3]}
#: How much longer others are than matplotlib has them, which counts in widths of the line.
_DASH = 1.5
#: What the pieces of an outline are called in SVG (matplotlib, `Path.MOVETO` and the others).
_STROKES = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
#: Where a step's value holds: before its time, or from then on.
_STEPS = {"steps": -1, "steps-pre": -1, "steps-post": 1}


def charts(figure: Figure) -> list[Chart] | None:
    """A chart for each axes of a figure; nothing if one holds more than lines, points, error bars, bands and words."""
    made = [_chart(axes) for axes in figure.axes]
    return [one for one in made if one] if made and all(made) else None


def _chart(axes: Axes) -> Chart | None:
    from matplotlib.collections import PolyCollection

    bars: list[Any] = [one for one in axes.containers if type(one).__name__ == "ErrorbarContainer"]
    parts = {id(part) for one in bars for part in _parts(one)}
    if len(bars) < len(axes.containers) or axes.images or axes.name != "rectilinear":
        return None
    # A drawing, whose words stand in it: of a network, say.
    if not axes.axison or any(_turns(line) for line in axes.lines):
        return None
    bands = [one for one in axes.collections if isinstance(one, PolyCollection)]
    if any(id(one) not in parts and one not in bands for one in axes.collections):
        return None
    spans = [_span(axes, patch) for patch in axes.patches]
    if None in spans:
        return None
    ends = {id(one.lines[0]): _ends(one) for one in bars if one.lines[0] is not None}
    drawn = [
        _series(axes, line, _name(line, bars), ends.get(id(line), {}))
        for line in axes.lines
        if id(line) in ends or id(line) not in parts
    ]
    series = [one for one in (*drawn, *(edge for band in bands for edge in _band(band))) if one and one["x"]]
    # At the end of a line its name may stand, which the list of names has.
    names = tuple(one["name"] for one in series if one["name"])
    words = [_word(text) for text in axes.texts if text.get_visible() and not text.get_text().startswith(names)]
    if not series or None in words:
        return None
    return {
        "x": _axis(axes.xaxis, axes.get_xscale(), axes.get_xlim()),
        "y": _axis(axes.yaxis, axes.get_yscale(), axes.get_ylim()),
        "title": axes.get_title() or axes.get_title("left"),
        "height": round(axes.get_position().height, 3),
        "spans": spans,
        "rules": [one for line in axes.lines if (one := _rule(axes, line))],
        "words": words,
        "series": series,
    }


def _turns(line: Any) -> bool:
    """Whether a curve goes to the right and back, so that it is no function of x."""
    import numpy as np

    steps = np.diff(np.atleast_1d(np.asarray(line.get_xdata(), float)))
    drawn = line.get_visible() and line.get_linestyle() not in ("None", "none", "", " ")
    return bool(drawn and (steps < 0).any() and (steps > 0).any())


def _axis(axis: Any, scale: str, limits: tuple[float, float]) -> dict[str, Any] | None:
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    formatter, places = axis.get_major_formatter(), axis.get_majorticklocs()
    words = isinstance(formatter, (FixedFormatter, FuncFormatter))
    names = formatter.format_ticks(places) if words else []
    return {
        "label": axis.get_label_text().replace("\n", ", "),
        "log": scale == "log",
        "limits": [*map(_short, sorted(limits))],
        # Whether the least value is at the right, or at the top.
        "reversed": bool(limits[0] > limits[1]),
        "ticks": [[_short(place), name] for place, name in zip(places, names, strict=False) if name],
        # Beside another panel with the same axis they may be left out.
        "named": bool(axis.get_tick_params().get("labelleft" if axis.axis_name == "y" else "labelbottom", True)),
    }


def _parts(container: Any) -> Iterator[Any]:
    line, caps, bars = container.lines
    yield from [*([line] if line is not None else []), *caps, *bars]


def _ends(container: Any) -> dict[str, list[float]]:
    """The ends of error bars: those across come before those up and down (matplotlib, `ErrorbarContainer`)."""
    _, _, bars = container.lines
    across, up = [("left", "right", 0)] * container.has_xerr, [("low", "high", 1)] * container.has_yerr
    found = {}
    for (first, last, axis), bar in zip(across + up, bars, strict=True):
        # A point without an interval has no bar.
        ends = [(one[0][axis], one[-1][axis]) if len(one) else (math.nan, math.nan) for one in bar.get_segments()]
        found[first], found[last] = [float(low) for low, _ in ends], [float(high) for _, high in ends]
    return found


def _name(line: Any, bars: Sequence[Any]) -> str:
    owner = next((one for one in bars if one.lines[0] is line), line)
    label = str(owner.get_label())
    return "" if label.startswith("_") else label.removeprefix(UNSEEN)


def _series(axes: Axes, line: Any, name: str, ends: Mapping[str, list[float]]) -> dict[str, Any] | None:
    import numpy as np
    from matplotlib.colors import to_hex

    if line.get_transform() != axes.transData and not line.get_transform().contains_branch(axes.transData):
        return None
    x, y = (np.atleast_1d(np.asarray(part, float)) for part in (line.get_xdata(), line.get_ydata()))
    if len(x) != len(y) or not line.get_visible():
        return None
    style = line.get_linestyle()
    made = {
        "name": name,
        "color": to_hex(line.get_color()),
        "width": 0 if style in ("None", "none", "", " ") else line.get_linewidth(),
        "dash": _dash(line),
        "step": _STEPS.get(line.get_drawstyle(), 0),
        "marker": _outline(line.get_marker()),
        "open": line.get_fillstyle() == "none" or line.get_markerfacecolor() in ("none", "white", "w"),
        "faint": (line.get_alpha() or 1.0) < 1.0 or line.get_zorder() < 2,
    }
    # A point without an x would lie at 0 on the page.
    order = [n for n in np.argsort(x, kind="stable") if math.isfinite(x[n])]
    columns = {"x": x, "y": y} | {end: values for end, values in ends.items() if len(values) == len(x)}
    digits = {"x": PLACES}
    return made | {key: [_short(part[n], digits.get(key, DIGITS)) for n in order] for key, part in columns.items()}


def _dash(line: Any) -> Sequence[float] | None:
    """The lengths of a line's dashes and gaps."""
    from matplotlib import rcParams

    style = line.get_linestyle()
    # Dashes that were given by their lengths are called "--" too; only the line itself knows these.
    _, own = getattr(line, "_unscaled_dash_pattern", (0, None))
    if style == "--" and own and [*own] != [*rcParams["lines.dashed_pattern"]]:
        return [_DASH * part for part in own]
    return _DASHES.get(style)


def _outline(marker: Any) -> str | None:
    """A marker as an SVG path around the origin, one unit wide and high; ``None`` without one."""
    from matplotlib.markers import MarkerStyle

    shape = MarkerStyle(marker)
    path = shape.get_path().transformed(shape.get_transform())
    drawn = ""
    for points, code in path.iter_segments(simplify=False):
        stroke = _STROKES[int(code)]
        # Upwards is downwards there, and where an outline closes no place is said.
        places: Any = [] if stroke == "Z" else (points.reshape(-1, 2) * (1, -1)).ravel()
        drawn += stroke + " ".join(f"{place:.3g}" for place in places)
    return drawn or None


def _band(band: Any) -> Iterator[dict[str, Any]]:
    """A band as its two edges."""
    import numpy as np
    from matplotlib.colors import to_hex

    color = to_hex(band.get_facecolor()[0])
    for path in band.get_paths():
        # The lower edge there, the upper edge back (matplotlib, `fill_between`).
        points = path.vertices
        x = np.unique(points[:, 0])
        edges = [
            [float(points[points[:, 0] == at, 1].min()) for at in x],
            [float(points[points[:, 0] == at, 1].max()) for at in x],
        ]
        yield {
            "name": "",
            "color": color,
            "width": 0,
            "dash": None,
            "step": 0,
            "marker": None,
            "open": False,
            "faint": True,
            "x": [*map(_short, x)],
            "y": [None] * len(x),
            "from": [*map(_short, edges[0])],
            "to": [*map(_short, edges[1])],
        }


def _span(axes: Axes, patch: Any) -> dict[str, Any] | None:
    """What `axvspan` shades; nothing if it is another patch."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import Rectangle

    across = axes.get_xaxis_transform(which="grid")
    if not isinstance(patch, Rectangle) or patch.get_data_transform() != across:
        return None
    if (patch.get_y(), patch.get_height()) != (0.0, 1.0):
        return None
    return {
        "x": [_short(patch.get_x()), _short(patch.get_x() + patch.get_width())],
        "color": to_hex(patch.get_facecolor()),
    }


def _rule(axes: Axes, line: Any) -> dict[str, Any] | None:
    """A line of `axvline` or `axhline`, at an x or at a y."""
    from matplotlib.colors import to_hex

    for key, across, ends in (
        ("x", axes.get_xaxis_transform(which="grid"), (line.get_xdata(), line.get_ydata())),
        ("y", axes.get_yaxis_transform(which="grid"), (line.get_ydata(), line.get_xdata())),
    ):
        at, whole = ends
        if line.get_transform() == across and [*whole] == [0, 1] and line.get_visible():
            look = {"color": to_hex(line.get_color()), "dash": _dash(line)}
            return {key: _short(float(at[0])), "width": line.get_linewidth(), **look}
    return None


#: What words in a picture are placed by.
_FRAMES = {"data": "data", "axes fraction": "axes"}


def _word(text: Any) -> dict[str, Any] | None:
    """Words beside a place of the data or of the panel; nothing if they are placed otherwise, or have an arrow."""
    from matplotlib.colors import to_hex

    if type(text).__name__ != "Annotation" or text.arrow_patch or text.get_rotation() not in (0, 90):
        return None
    frames = text.xycoords if isinstance(text.xycoords, tuple) else (text.xycoords,) * 2
    moved = text.anncoords == "offset points"
    if not all(frame in _FRAMES for frame in frames) or not (moved or text.anncoords == text.xycoords):
        return None
    shift = text.xyann if moved else (0, 0)
    return {
        "text": text.get_text(),
        "x": _short(text.xy[0] if moved else text.xyann[0]),
        "y": _short(text.xy[1] if moved else text.xyann[1]),
        "by": [_FRAMES[frame] for frame in frames],
        "shift": [_short(part) for part in shift],
        "align": [text.get_ha(), text.get_va()],
        "upright": text.get_rotation() == 90,
        "color": to_hex(text.get_color()),
    }


def _short(value: float, digits: int = DIGITS) -> float | None:
    """A number in as many digits as are read."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
