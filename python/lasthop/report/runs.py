"""The report of stored runs or of a sweep."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import files
from lasthop.comparison import Stored, compare
from lasthop.report import page
from lasthop.results import Result
from lasthop.stats import number
from lasthop.sweeps.outcome import MADE_BY, Sweep
from lasthop.sweeps.vary import in_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_runs"]

#: Tables that are shown, in this order, as far as they were made. The others can be long, and are in the files.
SHOWN = ("flows", "real_flows", "hosts", "transfers", "links", "cells", "bearers", "drops")


def write_runs(folders: Sequence[str | Path], path: str | Path) -> Path:
    """Writes a report of what ``lasthop run -o`` or ``lasthop sweep`` left in folders: one sweep, or some runs."""
    stored = [Stored.load(folder) for folder in folders]
    swept = [one for one in stored if one.manifest.get("made_by") == MADE_BY]
    if swept and len(stored) > 1:
        raise ValueError(f"{swept[0].folder} holds a sweep, which has a report of its own")
    said = _sweep(Sweep.load(swept[0].folder)) if swept else _runs(stored)
    first = stored[0].manifest
    made = {
        "Folders": ", ".join(str(one.folder) for one in stored),
        "lasthop": first["lasthop"] + (f", commit {first['commit']}" if "commit" in first else ""),
        "Python": first["python"],
        "Platform": first["platform"],
    }
    return page.write(page.render("report/runs.html.j2", made=made, **said), Path(path))


def _runs(stored: Sequence[Stored]) -> dict[str, Any]:
    from lasthop import plot

    runs = _named(stored)
    kept = {label: one.manifest["tables"] for label, one in zip(runs, stored, strict=True)}
    drawn = {name: run for name, run in runs.items() if "series" in run.tables}
    pictures = plot.pictures(drawn if len(runs) > 1 else next(iter(runs.values()))) if len(drawn) == len(runs) else {}
    lone = len(runs) == 1
    first = next(iter(runs.values()))
    seeds = [seed for one in stored for seed in one.seeds]
    lasting = " and ".join(dict.fromkeys(f"{number(run.simulated_s)} s" for run in runs.values()))
    first_alone = "; pictures are of the first seed" if len(seeds) > len(stored) else ""
    return {
        "title": " and ".join(runs) if not lone else first.name,
        "lead": f"{lasting} simulated"
        + (f", seed {seeds[0]}" if lone and len(seeds) == 1 else f", {len(seeds)} runs{first_alone}")
        + (f", {first.changes_text()}" if lone and first.session_changes else ""),
        "names": [*runs],
        "differences": compare(stored[0].folder, stored[1].folder).scenario if len(stored) == 2 else None,
        "pictures": [_picture(name, draw) for name, draw in pictures.items()],
        "tables": [
            page.table(
                f"{name}-{place}",
                name if lone else f"{name} of {label}",
                stored[place].table(name),
                opened=name in ("flows", "real_flows"),
            )
            for place, label in enumerate(runs)
            for name in SHOWN
            if name in kept[label]
        ],
        "scenarios": {label: _scenario(label, run.scenario_text) for label, run in runs.items()},
        "changes": {label: _changes(run) for label, run in runs.items() if run.session_changes},
    }


def _named(stored: Sequence[Stored]) -> Mapping[str, Result]:
    """The first run of each folder, by what the folder is called."""
    places = [one.folder.resolve() for one in stored]
    if twice := [str(one.folder) for one in stored if places.count(one.folder.resolve()) > 1]:
        raise ValueError(f"{twice[0]} is named twice")
    names = files.names_of([one.folder for one in stored])
    return {name: Result.load(one.folder, one.seeds[0]) for name, one in zip(names, stored, strict=True)}


def _sweep(sweep: Sweep) -> dict[str, Any]:
    from lasthop import plot

    return {
        "title": sweep.name,
        "lead": sweep.heading(),
        "names": [],
        "differences": None,
        "pictures": [_picture(name, draw) for name, draw in plot.sweep_pictures(sweep).items()],
        "tables": [page.table(name, f"{name}, each run", sweep.tables[name]) for name in SHOWN if name in sweep.tables],
        "scenarios": {sweep.name: _scenario(sweep.name, sweep.scenario_text)},
        "changes": {},
    }


def _scenario(name: str, text: str) -> str:
    """A scenario for readers."""
    from lasthop.scenario import of_result

    return of_result(text, origin=name).to_toml()


def _changes(run: Result) -> str:
    """What a session changed, as a scenario would say it."""
    changes = (
        [f"{key} = {in_line(value)}" for key, value in change.items() if value is not None]
        for change in run.session_changes
    )
    return "\n\n".join("\n".join(["[[change]]", *change]) for change in changes)


def _picture(name: str, draw: Any) -> dict[str, Any]:
    from lasthop import plot

    drawn, axes = plot.figure(plot.TWO_COLUMNS)
    draw(axes)
    out = io.BytesIO()
    with plot.in_look():
        drawn.savefig(out, format="svg", metadata={"Date": None})
    made = page.figure(name, drawn, out.getvalue(), caption="", alt=_alt(axes), names=[])
    return {**made, "name": axes.get_ylabel().partition(" (")[0].capitalize()}


def _alt(axes: Axes) -> str:
    from lasthop.plot.style import UNSEEN

    labels = [str(line.get_label()) for line in axes.lines]
    names = [label.removeprefix(UNSEEN) for label in labels if not label.startswith("_")]
    said = axes.get_ylabel().replace("\n", ", ")
    return f"{said} over {axes.get_xlabel()}: {', '.join(names)}"
