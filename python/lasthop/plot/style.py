"""The project's look.

Figures can be put into a paper as they are: 88 or 180 mm wide, 8-point text, no title inside,
axes with quantity and unit. A protocol keeps its colour everywhere; line styles say it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lasthop import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = [
    "COLOURS",
    "FEW",
    "FORMATS",
    "GREY",
    "MANY",
    "MARKERS",
    "ONE_COLUMN",
    "PROTOCOLS",
    "STYLES",
    "TWO_COLUMNS",
    "figure",
    "format_of",
    "in_look",
    "label_lines",
    "legend_label",
    "look",
    "name_lines",
    "protocol",
    "save",
    "save_all",
    "unlike",
]

#: A label: where the line ends, the text, the line's colour.
Label = tuple[float, float, str, str]

#: Widths of figures, in millimetres.
ONE_COLUMN, TWO_COLUMNS = 88.0, 180.0

#: Points an inch of figures in a notebook, where 88 mm are to be read from further away than on paper.
SCREEN_DPI = 160

#: The height of a figure unless another is asked for, in millimetres.
HEIGHT_MM = 55.0

#: The formats that figures are written in.
FORMATS = ("png", "svg", "pdf")

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _ORANGE, _GREEN, _RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
_PURPLE, _SKY, _BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#767676"

#: The colour of lines without a name, behind the others.
BEHIND = "#C8C8C8"

#: Colour and line style of each protocol, found by the first of these words in a flow's transport: what sets the window
#: first, then how losses are repaired.
PROTOCOLS: dict[str, tuple[str, str]] = {
    "fack": (_PURPLE, "--"),
    "vegas": (_GREEN, "-."),
    "cubic": (_ORANGE, "-"),
    "bbr": (_BLACK, "-"),
    "dctcp": (_RED, ":"),
    "prague": (_RED, "-."),
    "copa": (_SKY, "-."),
    "ledbat_pp": (_GREEN, ":"),
    "ledbat": (_GREEN, "--"),
    "sack": (_PURPLE, "-"),
    "newreno": (_SKY, "--"),
    "reno": (_BLUE, "-"),
    "tahoe": (GREY, "-."),
    "tfrc": (_RED, "-"),
    "ccid2": (_BLUE, "--"),
    "ccid3": (_RED, "--"),
    "xcp": (_GREEN, "-"),
    "ewa": (_ORANGE, "--"),
    "intserv": (_BLACK, "-."),
    "diffserv": (_PURPLE, ":"),
    "swan": (GREY, "--"),
    "pgmcc": (_SKY, "-"),
    "nada": (_GREEN, "--"),
    "gcc": (_ORANGE, "-."),
    "scream": (_BLUE, "-."),
    "udp": (_BLACK, ":"),
}
#: The colours of lines that have none of their own.
COLOURS = [_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _SKY, _BLACK, GREY]
STYLES = ["-", "--", "-.", ":"]

#: The most lines that carry their names at their ends, and the most that a legend tells apart.
FEW, MANY = 4, 8

#: The longest name that is written at a line's end, in characters.
_SHORT = 16
#: The fewest characters to which a name in a legend is shortened.
SHORTEST = 8

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
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "legend.borderpad": 0.2,
    "lines.linewidth": 1.0,
    "lines.markersize": 2.5,
    "pdf.fonttype": 42,
    # Same figure, same bytes.
    "svg.hashsalt": "lasthop",
}


def look(transport: str, place: int = 0) -> dict[str, Any]:
    """Colour and line style for a protocol, or for the line number ``place`` if it is not known."""
    known = protocol(transport)
    if known:
        colour, style = PROTOCOLS[known]
        return {"color": colour, "linestyle": style, "linewidth": 1.0}
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": STYLES[place % len(STYLES)],
        "linewidth": 1.0,
    }


def protocol(transport: str) -> str | None:
    """The protocol whose look a transport has: what sets the window, where that is named behind a +."""
    words = transport.lower().rpartition("+")[2]
    return next((name for name in PROTOCOLS if name in words), None)


def unlike(style: dict[str, Any], used: set[str]) -> dict[str, Any]:
    """The style with the first line style in which it is not used yet; lines of one protocol keep its colour."""
    first = STYLES.index(style["linestyle"])
    ways = ({**style, "linestyle": STYLES[(first + more) % len(STYLES)]} for more in range(len(STYLES)))
    style = next((way for way in ways if f"{way}" not in used), style)
    used.add(f"{style}")
    return style


def in_look() -> AbstractContextManager[None]:
    """The project's fonts and lines for whatever is drawn inside."""
    from cycler import cycler
    from matplotlib import rc_context

    return rc_context({**_RC, "axes.prop_cycle": cycler(color=COLOURS)})


#: Figures without a height of their own.
_FREE: WeakKeyDictionary[Figure, None] = WeakKeyDictionary()


def figure(
    width_mm: float = ONE_COLUMN, height_mm: float | None = None, *, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure in the project's look, and its axes as ``matplotlib.pyplot.subplots`` gives them.

    Without ``height_mm`` each row is 55 mm high, and a single one higher where its lines have a long legend.
    """
    from matplotlib.figure import Figure

    size = (width_mm / 25.4, (height_mm or HEIGHT_MM * rows) / 25.4)
    if _in_notebook():
        from matplotlib import pyplot

        # One that pyplot knows of is shown below the cell. Its first one sets parameters that are to stay.
        made = pyplot.figure(figsize=size, layout="constrained", dpi=SCREEN_DPI)
    else:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        made = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(made)
    if height_mm is None and rows == columns == 1:
        _FREE[made] = None
    with in_look():
        return made, made.subplots(rows, columns, **subplots)


def _in_notebook() -> bool:
    """Whether this runs in a notebook's kernel."""
    import sys

    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def save(drawn: Figure, stem: str | Path) -> list[Path]:
    """Writes a figure as PNG (200 dpi), SVG and PDF; the paths written."""
    stem, paths = Path(stem), []
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with in_look():
        for suffix in FORMATS:
            path = stem.with_name(f"{stem.name}.{suffix}")
            with files.whole(path) as out:
                drawn.savefig(out, dpi=200, format=suffix, metadata=undated[suffix])
            paths.append(path)
    return paths


def format_of(path: Path) -> str:
    """The format that the end of a picture's name says. Raises ValueError if figures are not written in it."""
    named = path.suffix.removeprefix(".").lower()
    if named not in FORMATS:
        *others, last = (f".{known}" for known in FORMATS)
        raise ValueError(f"{path}: expected the name of a picture, which ends with {', '.join(others)} or {last}")
    return named


def save_all(pictures: Mapping[str, Callable[[Axes], Axes]], folder: str | Path) -> list[Path]:
    """Draws pictures, each by what draws it into axes, and writes them into ``folder``; the paths written."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in pictures.items():
        drawn, axes = figure()
        draw(axes)
        paths += save(drawn, folder / name)
    return paths


#: Stands unseen in front of a label that begins with an underscore, since matplotlib leaves such out of legends.
UNSEEN = "\u200b"


def legend_label(name: str) -> str:
    """A name as the label of a line, which a legend has whatever it begins with."""
    return f"{UNSEEN}{name}" if name.startswith("_") else name


def name_lines(
    axes: Axes, labels: Sequence[Label], *, legend: bool = False, alone: bool = False, plain: bool = False
) -> None:
    """Names the lines of ``axes``: a few short names at the lines' ends, others in a legend above.

    A single line needs no name, unless ``alone`` says so. With ``legend`` there is one in any case. A name in the
    legend that is wider than the axes loses its middle. With ``plain`` a $ is a $, and begins no formula.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    longest = max((len(text) for _, _, text, _ in labels), default=0)
    fewest = 1 if alone else 2
    if not legend and fewest <= len(labels) <= FEW and longest <= _SHORT:
        label_lines(axes, labels, plain=plain)
    elif legend or len(labels) >= fewest:
        room = axes.get_window_extent().width
        with in_look(), rc_context({"text.parse_math": not plain}):
            for columns in range(min(len(labels) + legend, FEW), 0, -1):
                made = axes.legend(ncols=columns, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
                over = made.get_window_extent().width - room
                if over <= 0:
                    break
            if over > 0:
                _narrow(made.get_texts(), over)
            if isinstance(axes.figure, Figure) and axes.figure in _FREE:
                lines = -(-len(made.get_texts()) // columns)
                height = made.get_window_extent().height / axes.figure.dpi
                axes.figure.set_figheight(HEIGHT_MM / 25.4 + max(0.0, height * (1 - 2 / lines)))


def _narrow(texts: Sequence[Text], over: float) -> None:
    """Takes the middles out of texts, so that the widest is narrower by ``over`` pixels."""
    room = max(text.get_window_extent().width for text in texts) - over
    for text in texts:
        name = text.get_text()
        kept = len(name)
        while text.get_window_extent().width > room and kept > SHORTEST:
            # As many as would fit if all were equally wide, but one fewer than before in any case.
            kept = max(SHORTEST, min(kept - 1, int(kept * room / text.get_window_extent().width)))
            text.set_text(f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}")


def label_lines(axes: Axes, labels: Sequence[Label], *, plain: bool = False) -> None:
    """Writes labels (x, y, text, colour) to the right of lines' ends, apart from each other and beside the axes.

    With ``plain`` a $ in a text is a $, and begins no formula.
    """
    import numpy as np

    if not labels:
        return
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    step = (high - low) * 8 * 1.25 / height
    ordered = sorted(labels, key=lambda label: label[1])
    steps = step * np.arange(len(ordered))
    # Up until none touches the one below it, then down until the highest is beside the axes.
    places = np.maximum.accumulate(np.array([label[1] for label in ordered]) - steps) + steps
    places = np.minimum(places, high - steps[::-1])
    for (x, _, text, colour), place in zip(ordered, places, strict=True):
        axes.annotate(
            text, (x, place), xytext=(3, 0), textcoords="offset points", color=_ink(colour), va="center",
            annotation_clip=False, fontsize=8, parse_math=not plain,
        )  # fmt: skip


def _ink(colour: str) -> tuple[float, ...]:
    """A colour for text: as dark as needed to be read on white (contrast 4.5, WCAG 2.2, 1.4.3)."""
    from matplotlib.colors import to_rgb

    ink: tuple[float, ...] = to_rgb(colour)
    while _luminance(ink) > 1.05 / 4.5 - 0.05:
        ink = tuple(0.95 * part for part in ink)
    return ink


def _luminance(colour: Sequence[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
