"""What `lasthop reproduce` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.columns import aligned
from lasthop.files import braces
from lasthop.studies import claims

if TYPE_CHECKING:
    from lasthop.studies import Outcome

__all__ = ["counts", "outcome_text"]

_COLOURS = {
    claims.REPRODUCED: 32,
    claims.REPRODUCED_OTHERWISE: 36,
    claims.FITTED: 36,
    claims.NOT_REPRODUCED: 31,
    claims.NOT_COMPARABLE: 33,
}


#: The most characters of the columns.
WIDTHS = (8, 14, 40, 80, 140)

#: More figures are not listed one by one.
MOST_FIGURES = 12


def outcome_text(outcome: Outcome, *, colour: bool) -> str:
    """The claims, their counts, and where everything is."""
    study = outcome.study
    heading = f"{study.name} · {study.setting(outcome.mode)} · {outcome.wall_s:.1f} s"
    rows = []
    for one in outcome.judged:
        verdict = f"{one.verdict}: {one.reason}" if one.reason else one.verdict
        cells = [one.claim.id, one.claim.section, one.claim.paper, one.ours, verdict]
        rows.append([clipped(cell, most) for cell, most in zip(cells, WIDTHS, strict=True)])
    table = aligned(["claim", "section", "paper", "ours (95 %)", "verdict"], rows)
    if colour:
        table = _coloured(table)
    places = [("report", str(outcome.report))]
    figures = braces(_pictures(outcome))
    if len(figures) > MOST_FIGURES:
        figures = [f"{outcome.folder}/figure-*.{{png,svg,pdf}}"]
    places += [("figures" if not i else "", path) for i, path in enumerate(figures)]
    places.append(("data", f"{outcome.folder}/*.{{parquet,csv}}"))
    if outcome.mode == "quick":
        places.append(("again", f"{study.command} --full"))
    if study.appendix:
        places.append(("more", f"{study.command} --appendix"))
    return "\n".join(
        [
            heading,
            "",
            *([_shown(outcome), ""] if outcome.shown else []),
            *([table] if rows else []),
            *(["", counts(outcome), ""] if outcome.judged else []),
            *(f"{what:<8} {where}" for what, where in places),
        ]
    )


def _shown(outcome: Outcome) -> str:
    """The rows of figures."""
    return aligned(list(outcome.shown[0]), [list(row.values()) for row in outcome.shown])


def clipped(text: str, most: int) -> str:
    """So many characters of a text; the report has all of it."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def counts(outcome: Outcome) -> str:
    """`12 reproduced · 3 not reproduced`."""
    return " · ".join(f"{n} {verdict}" for verdict, n in claims.count(outcome.judged).items())


def _pictures(outcome: Outcome) -> list[Path]:
    return [p for paths in outcome.figures.values() for p in paths if p.suffix not in (".parquet", ".csv")]


def _coloured(table: str) -> str:
    lines = []
    for line in table.splitlines():
        # The longest verdict first: "reproduced" is part of "not reproduced".
        for verdict in sorted(_COLOURS, key=len, reverse=True):
            at = line.rfind(f"  {verdict}")
            if at >= 0:
                line = f"{line[: at + 2]}\x1b[{_COLOURS[verdict]}m{line[at + 2 :]}\x1b[0m"
                break
        lines.append(line)
    return "\n".join(lines)
