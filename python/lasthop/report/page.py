"""What all pages share: templates, what they hold beside their text, figures and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lasthop import files
from lasthop.report.chart import charts
from lasthop.stats import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lasthop.results import Table

__all__ = ["figure", "render", "table", "write"]

#: Longer tables are shown by their beginning; the files hold them whole.
MOST_ROWS = 40

#: What stays as it is in the address of a picture.
_PLAIN = " '/:;,.=()!*+-_~@&?|[]{}$^"

#: What a page holds beside its text.
ASSETS = (
    "report/page.css",
    "report/chart.js",
    "view/view.js",
    "live_runs/web.js",
    "vendor/uPlot.min.css",
    "vendor/uPlot.iife.min.js",
    "vendor/d3.min.js",
)


def render(template: str, symbols: Mapping[str, str] | None = None, **said: Any) -> str:
    """A page from its template."""
    import jinja2
    from markupsafe import Markup, escape

    def explained(text: str) -> Markup:
        """A text whose symbols say what they mean."""
        made = str(escape(text))
        for symbol, meaning in (symbols or {}).items():
            word = rf"(?<![\w&;]){re.escape(str(escape(symbol)))}(?!\w)"
            made = re.sub(word, lambda found, said=meaning: f'<abbr title="{escape(said)}">{found[0]}</abbr>', made)  # type: ignore[misc]
        return Markup(made)

    def quoted(text: str) -> Markup:
        """A sentence of a paper; what is in italics there stands between asterisks."""
        return Markup(re.sub(r"\*(\w[^*]*)\*", r"<em>\1</em>", str(escape(text))))

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(number=number, symbols=explained, quoted=quoted)
    assets = {name.rpartition("/")[2]: Markup(_read(name)) for name in ASSETS}
    return environment.get_template(template).render(assets=assets, **said)


def _read(name: str) -> str:
    return (resources.files("lasthop") / name).read_text(encoding="utf-8")


def write(page: str, path: Path) -> Path:
    """Writes a page."""
    with files.whole(path) as out:
        out.write_text(page, encoding="utf-8")
    return path


def figure(id: str, drawn: Figure, svg: bytes, *, caption: str, alt: str, names: Sequence[str]) -> dict[str, Any]:
    """A figure for a page: its picture, and its data where they can be drawn again."""
    made = charts(drawn)
    width, height = (float(one) for one in drawn.get_size_inches())
    columns = len({round(axes.get_position().x0, 1) for axes in drawn.axes})
    return {
        "id": id,
        "name": id.replace("figure-", "Figure "),
        "caption": caption,
        "alt": alt,
        "image": "data:image/svg+xml," + quote(_short(svg.decode()), safe=_PLAIN),
        "files": names,
        "width_mm": round(width * 25.4),
        "charts": made and {"charts": made, "columns": columns, "ratio": height / width},
    }


def _short(svg: str) -> str:
    """A drawing without blanks that say nothing."""
    return re.sub(r"\s+", " ", svg[svg.index("<svg") :]).replace("> <", "><").replace('"', "'")


def table(name: str, about: str, shown: Table, *, names: Sequence[str] = (), opened: bool = False) -> dict[str, Any]:
    """A table for a page."""
    rows = shown.rows()
    return {
        "id": name if name.startswith("table-") else f"table-{name}",
        "about": about,
        "open": opened,
        "columns": shown.columns,
        "rows": [list(row.values()) for row in rows[:MOST_ROWS]],
        "more": max(0, len(rows) - MOST_ROWS),
        "files": names,
    }
