"""The report of a study."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import files
from lasthop.report import page
from lasthop.studies.claims import (
    FITTED,
    NOT_COMPARABLE,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    REPRODUCED_OTHERWISE,
    count,
)
from lasthop.studies.conditions import FAILS, HOLDS, OPEN
from lasthop.studies.readings import AS_TAKEN
from lasthop.studies.records import RUNS

if TYPE_CHECKING:
    from lasthop.studies import Campaign, Outcome, Picture

__all__ = ["write_report"]

#: Symbols for the states of a claim, where there is no room for words.
MARKS = {HOLDS: "●", FAILS: "○", OPEN: "◐", NOT_RUN: ""}

#: The most claims that the answer names.
NAMED = 3


def write_report(outcome: Outcome, campaign: Campaign, started: datetime) -> Path:
    """Writes the report of a study into its folder."""
    made, study = files.provenance(), outcome.study
    assert outcome.report is not None
    text = page.render(
        "report/study.html.j2",
        study.symbols,
        study=study,
        answer=[*answer(outcome)],
        said=campaign.answer,
        counts=count(outcome.judged),
        judged=outcome.judged,
        deciders={one.claim.id: outcome.decider(one) for one in outcome.judged},
        together=outcome.together,
        crossed=[reading.name for reading in outcome.explored.readings if len(reading.chosen) > 1],
        as_taken=AS_TAKEN,
        marks=MARKS,
        pictures=[_picture(outcome, picture) for picture in campaign.pictures],
        tables=[
            page.table(
                name, about, shown, names=[path.name for path in outcome.tables[name]], opened=name.startswith("table-")
            )
            for name, (about, shown) in campaign.tables.items()
            if not name.startswith(RUNS)
        ],
        runs=[
            (about.rpartition("of each run: ")[2].rstrip("."), [path.name for path in outcome.tables[name]])
            for name, (about, _) in campaign.tables.items()
            if name.startswith(RUNS)
        ],
        scenario=study.scenario(),
        command=f"{study.command} --{outcome.mode}",
        made={
            "Started": started.strftime("%Y-%m-%d %H:%M UTC"),
            "Took": f"{outcome.wall_s:.1f} s",
            "lasthop": made["lasthop"] + (f", commit {made['commit']}" if "commit" in made else ""),
            "Python": made["python"],
            "Platform": made["platform"],
            **{name[:1].upper() + name[1:]: fact for name, fact in campaign.facts.items()},
        },
    )
    return page.write(text, outcome.report)


def answer(outcome: Outcome) -> Iterator[str]:
    """The outcome in three sentences."""
    judged = [
        one for one in outcome.judged if one.verdict in (REPRODUCED, REPRODUCED_OTHERWISE, FITTED, NOT_REPRODUCED)
    ]
    if not judged:
        return
    counts = count(judged)
    said = {
        REPRODUCED: "reproduced",
        FITTED: "fitted, by a parameter that was chosen by looking at them",
        REPRODUCED_OTHERWISE: f"reproduced if what {outcome.study.behind} leaves open is answered otherwise",
        NOT_REPRODUCED: "not reproduced",
    }
    parts = [f"{counts[verdict]} {words}" for verdict, words in said.items() if counts.get(verdict)]
    parts[0] = parts[0].replace(" ", " is " if parts[0].startswith("1 ") else " are ", 1)
    others = count(outcome.judged).get(NOT_COMPARABLE, 0)
    yield (
        f"Of {len(judged)} claims that runs can decide, {_listed(parts)}"
        + (f"; {others} more cannot be decided by any run." if others else ".")
    )
    lost = [one.claim.statement for one in judged if one.verdict == NOT_REPRODUCED]
    more = f"; and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    yield f"Not reproduced: {'; '.join(lost[:NAMED])}{more}." if lost else "No claim is contradicted by these runs."
    best = next(iter(outcome.together), None)
    if best:
        loses = f", {len(best.lost)} fewer" if best.lost else ""
        yield f"Most claims hold together with “{best.reading}”: {len(best.gained)} more than by default{loses}."
    elif outcome.study.questions:
        yield f"No other answer to what {outcome.study.behind} leaves open makes more of them hold together."


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _picture(outcome: Outcome, picture: Picture) -> dict[str, Any]:
    paths = outcome.figures[picture.id]
    svg = next(path for path in paths if path.suffix == ".svg")
    with files.named(svg):
        drawn = svg.read_bytes()
    names = [path.name for path in paths]
    return page.figure(picture.id, picture.figure, drawn, caption=picture.caption, alt=picture.alt, names=names)
