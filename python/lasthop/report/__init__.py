"""The report of a study: one HTML file that holds everything and asks for nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import files
from lasthop.stats import number
from lasthop.studies.claims import NOT_RUN
from lasthop.studies.conditions import FAILS, HOLDS, OPEN
from lasthop.studies.readings import AS_TAKEN

if TYPE_CHECKING:
    from lasthop.results import Table
    from lasthop.studies import Campaign, Outcome, Picture

__all__ = ["write_report"]

#: Symbols for the states of a claim, where there is no room for words.
MARKS = {HOLDS: "●", FAILS: "○", OPEN: "◐", NOT_RUN: ""}

#: Longer tables are shown by their beginning; the files hold them whole.
MOST_ROWS = 40


def write_report(outcome: Outcome, campaign: Campaign, started: datetime) -> Path:
    """Writes the report of a study into its folder."""
    import jinja2

    template = (resources.files(__package__) / "template.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = number
    made = files.provenance()
    page = environment.from_string(template).render(
        study=outcome.study,
        mode=outcome.mode,
        counts=_counts(outcome),
        judged=outcome.judged,
        deciders={one.claim.id: outcome.decider(one) for one in outcome.judged},
        together=outcome.together,
        crossed=[reading.name for reading in outcome.explored.readings if len(reading.chosen) > 1],
        as_taken=AS_TAKEN,
        marks=MARKS,
        pictures=[_picture(outcome, picture) for picture in campaign.pictures],
        tables=[_table(outcome, name, about, table) for name, (about, table) in campaign.tables.items()],
        scenario=outcome.study.scenario(),
        command=f"{outcome.study.command} --{outcome.mode}",
        facts={
            "Started": started.strftime("%Y-%m-%d %H:%M UTC"),
            "Took": f"{outcome.wall_s:.1f} s",
            "lasthop": made["lasthop"] + (f", commit {made['commit']}" if "commit" in made else ""),
            "Python": made["python"],
            "Platform": made["platform"],
            **{name[:1].upper() + name[1:]: fact for name, fact in campaign.facts.items()},
        },
    )
    assert outcome.report is not None
    with files.whole(outcome.report) as out:
        out.write_text(page, encoding="utf-8")
    return outcome.report


def _counts(outcome: Outcome) -> Mapping[str, int]:
    from lasthop.studies.claims import count

    return count(outcome.judged)


def _picture(outcome: Outcome, picture: Picture) -> dict[str, Any]:
    paths = outcome.figures[picture.id]
    svg = next(path for path in paths if path.suffix == ".svg")
    with files.named(svg):
        drawn = svg.read_bytes()
    return {
        "id": picture.id,
        "name": picture.id.replace("figure-", "Figure "),
        "caption": picture.caption,
        "alt": picture.alt,
        "image": "data:image/svg+xml;base64," + base64.b64encode(drawn).decode(),
        "files": [path.name for path in paths],
        "width_mm": round(picture.figure.get_size_inches()[0] * 25.4),
    }


def _table(outcome: Outcome, name: str, about: str, table: Table) -> dict[str, Any]:
    rows = table.rows()
    return {
        "name": name,
        "about": about,
        "open": name.startswith("table-"),
        "columns": table.columns,
        "rows": [list(row.values()) for row in rows[:MOST_ROWS]],
        "more": max(0, len(rows) - MOST_ROWS),
        "files": [path.name for path in outcome.tables[name]],
    }
