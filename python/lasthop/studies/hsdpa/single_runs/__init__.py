"""Pictures of one run: the cells with their mobiles, and who is served when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop import plot
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.pictures import picture

from ..measures.transfers import CENTRE
from ..scenario import SCHEDULERS, TITLES, scenario
from .air import hexagon, sir_db, sites

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.results import Result
    from lasthop.studies.bench import Bench

    Array = np.ndarray[Any, Any]


#: The part of the run that is shown, in seconds.
BEGIN, END = 10.0, 13.0

#: The seed of the run that is shown.
SEED = 1

#: The SIR from which each rate is used (Table II).
STEPS_DB = (-3.5, 0.0, 3.5, 7.5)


@dataclass(frozen=True)
class Seen:
    """A run with one of the schedulers."""

    #: Of each mobile: its name, its cell, its place, its SIR.
    names: Sequence[str]
    cells: Array
    places_m: Array
    sir_db: Array
    #: Blocks of the centre cell in the part shown: when, to which mobile, in how many codes, whether it was received.
    time_s: Array
    mobile: Array
    codes: Array
    received: Array


def watch(bench: Bench) -> Mapping[str, Seen]:
    """A short run with each scheduler, every slot of which is recorded."""
    work = [
        (
            scenario({"protocol": "tcp", "scheduler": scheduler, "ues": 65}, duration=END).with_(
                {"record.slots": True}
            ),
            SEED,
        )
        for scheduler in SCHEDULERS
    ]
    return dict(zip(SCHEDULERS, bench.run(work, _seen, counts=False), strict=True))


def _seen(result: Result) -> Seen:
    of, slots = result.bearers, result.slots
    names = [str(name) for name in of["bearer"]]
    here = (slots["cell"] == CENTRE) & (slots["time_s"] >= BEGIN)
    place = {name: n for n, name in enumerate(names)}
    return Seen(
        names,
        of["cell"].astype(int),
        np.stack([of["x_m"], of["y_m"]], axis=1).astype(float),
        of["sir_db"].astype(float),
        slots["time_s"][here],
        np.array([place[name] for name in slots["bearer"][here]]),
        slots["codes"][here],
        slots["received"][here].astype(bool),
    )


def pictures(seen: Mapping[str, Seen]) -> list[Picture]:
    """The cells, and the slots."""
    return [_cells(seen["round_robin"]), _served(seen)]


def _cells(seen: Seen) -> Picture:
    from matplotlib.colors import BoundaryNorm

    figure, axes = plot.figure(plot.ONE_COLUMN, 66.0)
    edge = np.linspace(-1400, 1400, 281)
    grid = sir_db(np.stack(np.meshgrid(edge, edge), axis=-1))
    norm = BoundaryNorm([-10, *STEPS_DB, 10], 256)
    drawn = axes.pcolormesh(edge, edge, grid, norm=norm, cmap="cividis", rasterized=True, alpha=0.75, linewidth=0)
    for site in sites():
        corners = hexagon(site)
        axes.plot(corners[:, 0], corners[:, 1], color="#ffffff", linewidth=0.8)
    axes.plot(sites()[:, 0], sites()[:, 1], linestyle="none", marker="^", markersize=5, color="#000000")
    inside = seen.cells == CENTRE
    for mask, rim, size in ((~inside, "#ffffff", 12), (inside, "#D55E00", 22)):
        axes.scatter(seen.places_m[mask, 0], seen.places_m[mask, 1], c=seen.sir_db[mask], norm=norm, cmap="cividis",
                     s=size, edgecolors=rim, linewidths=0.9, zorder=3)  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xticks((-1000, 0, 1000), labels=("−1", "0", "1"))
    axes.set_yticks((-1000, 0, 1000), labels=("−1", "0", "1"))
    axes.set_xlabel("east (km)")
    axes.set_ylabel("north (km)")
    bar = figure.colorbar(drawn, ax=axes, ticks=STEPS_DB, shrink=0.95)
    bar.set_label("SIR (dB)")
    shares = [np.mean(seen.sir_db[inside] >= step) for step in STEPS_DB]
    return picture(
        "figure-cell",
        figure,
        {
            "mobile": list(seen.names),
            "cell": seen.cells,
            "x_m": seen.places_m[:, 0],
            "y_m": seen.places_m[:, 1],
            "sir_db": seen.sir_db,
        },
        caption="Seven cells and 65 mobiles of seed 1. The map shows the SIR without shadowing, in the steps of "
        "Table II; a mobile's colour is its own SIR, with shadowing. Triangles are sites, and a red rim marks the "
        "mobiles that the centre cell serves: not all of them stand in its hexagon.",
        alt=f"Map of seven hexagons. {inside.sum()} of {len(inside)} mobiles belong to the centre cell; of these "
        + ", ".join(
            f"{100 * share:.0f} % have at least {step:g} dB" for share, step in zip(shares, STEPS_DB, strict=True)
        )
        + ".",
    )


def _served(seen: Mapping[str, Seen]) -> Picture:
    figure, axes = plot.figure(plot.TWO_COLUMNS, 84.0, rows=2, sharex=True)
    shares = []
    for one, (scheduler, run) in zip(axes, seen.items(), strict=True):
        shares.append(f"{TITLES[scheduler]}: {_strip(one, run, TITLES[scheduler])}")
    axes[-1].set_xlabel("time (s)")
    every = list(seen.values())
    return picture(
        "figure-served",
        figure,
        {
            "scheduler": np.repeat([TITLES[name] for name in seen], [len(run.time_s) for run in every]),
            "time_s": np.concatenate([run.time_s for run in every]),
            "mobile": [run.names[n] for run in every for n in run.mobile],
            "codes": np.concatenate([run.codes for run in every]),
            "received": np.concatenate([run.received for run in every]),
        },
        caption="Who is served when, of the centre cell's mobiles in three seconds of seed 1 with TCP: a mark "
        "for each block of a slot, blue if it was received, red if not. Mobiles are in the order of their SIR, the "
        "best on top. SIR serves the best mobile that has data; those below wait until it has none.",
        alt="Two strips of marks over time, one row for each mobile. Share of the slots in which the best "
        "mobile that is "
        "served at all in this time gets something: " + "; ".join(shares) + ".",
    )


def _strip(axes: Axes, run: Seen, name: str) -> str:
    """Draws the rows of a run. The share of the slots in which its first row is served, in words."""
    inside = np.flatnonzero(run.cells == CENTRE)
    order = inside[np.argsort(-run.sir_db[inside], kind="stable")]
    row = {mobile: place for place, mobile in enumerate(order)}
    rows = np.array([row[mobile] for mobile in run.mobile])
    for mask, colour in ((run.received, "#0072B2"), (~run.received, "#D55E00")):
        axes.vlines(run.time_s[mask], rows[mask] - 0.4, rows[mask] + 0.4, color=colour, linewidth=0.25, rasterized=True)
    axes.set_yticks(range(len(order)), [f"{number(run.sir_db[mobile], 1)} dB".replace("-", "−") for mobile in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlim(BEGIN, END)
    axes.set_ylabel(f"scheduler {name}\nSIR of the mobile")
    slots = len(np.unique(run.time_s))
    best = len(np.unique(run.time_s[rows == rows.min()])) if slots else 0
    return f"{100 * best / slots:.0f} % of {slots} used slots" if slots else "no slot is used"
