"""Which runs a mode takes: the grids of each reading of the thesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Point
from lasthop.studies.readings import Reading

from . import measures, scenario
from .paper import OPTIMAL, VERSIONS
from .readings import ANY_OBJECT, OF_FACH, Taken
from .scenario import PARTS

Axes = Mapping[str, Sequence[object]]
Of = Callable[[Point], Scenario]

#: The first seed of every grid.
SEED = 1


@dataclass(frozen=True)
class Extent:
    """How much of the campaign is run with a reading."""

    #: Values of the parameters of chapters 7 and 8.
    chapter7: Axes
    chapter8: Axes
    seeds: int
    seeds6: int
    #: Simulated seconds of chapters 7 and 8, and the two parts of chapter 6.
    duration: float = 4000.0
    parts: tuple[float, float] = PARTS
    #: Error rates of chapter 6: of Reno and Vegas, and those at maxDAT 2; and its values of maxDAT.
    errors: Sequence[float] = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    errors_limited: Sequence[float] = (0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
    max_dat: Sequence[int] = (2, 3, 4, 5, 6, 8, 9000)


#: All of the thesis' own values.
ALL7 = {"tcp": VERSIONS, "max_dat": (2, 3, 4, 5, 6), "threshold": (500, 1000, 1500), "timer": (2, 4, 6, 8, 10)}
ALL8 = {"tcp": VERSIONS, "threshold": (500, 750, 1000, 1250, 1500), "np": (0, 2, 4, 6, 8), "p": (4, 8, 12, 16)}
#: Their ends and middles.
SOME7 = {"tcp": VERSIONS, "max_dat": (2, 3, 6), "threshold": (500, 1000, 1500), "timer": (2, 8, 10)}
SOME8 = {"tcp": VERSIONS, "threshold": (750, 1000, 1500), "np": (0, 2, 8), "p": (4, 8, 16)}
#: Their ends.
FEW7 = {"tcp": VERSIONS, "max_dat": (2, 6), "threshold": (500, 1500), "timer": (2, 8)}
FEW8 = {"tcp": VERSIONS, "threshold": (750, 1500), "np": (0, 8), "p": (4, 16)}

#: How many times the seeds the runs of maxDAT 2 have: they are short, and their goodput varies most.
OFTEN = 4

_FULL = Extent(ALL7, ALL8, seeds=14, seeds6=20)
_FULL_SINGLE = Extent(SOME7, SOME8, seeds=8, seeds6=8, duration=2000.0)
_FULL_PAIR = replace(_FULL_SINGLE, chapter7=FEW7, chapter8=FEW8, errors=(0.01, 0.2, 0.4, 0.6, 0.8))
_QUICK = Extent(
    SOME7, SOME8, seeds=3, seeds6=3, duration=600.0, parts=(300.0, 900.0), errors=(0.01, 0.1, 0.4, 0.7),
    errors_limited=(0.01, 0.05, 0.1, 0.3), max_dat=(2, 3, 4, 6, 9000),
)  # fmt: skip
_QUICK_SINGLE = replace(
    _QUICK, chapter7=FEW7, chapter8=FEW8, duration=200.0, parts=(200.0, 600.0), errors=(0.01, 0.4),
    errors_limited=(0.01, 0.1, 0.3), max_dat=(2, 4, 9000),
)  # fmt: skip


def extent(reading: Reading, mode: str) -> Extent:
    """How much of the campaign a mode runs with a reading."""
    if not reading.chosen:
        return _FULL if mode == "full" else _QUICK
    if mode != "full":
        return _QUICK_SINGLE
    if reading.name == ANY_OBJECT:
        return replace(_FULL_SINGLE, chapter7=ALL7, chapter8=ALL8)
    return _FULL_SINGLE if len(reading.chosen) == 1 else _FULL_PAIR


def grids(reading: Reading, mode: str) -> dict[str, Grid]:
    """The grids of a reading by their own names; their full ones begin with the reading's."""
    wanted, taken = extent(reading, mode), Taken(**reading.changes)
    seeds = range(SEED, SEED + wanted.seeds)

    def browsing(name: str, axes: Axes, of: Of) -> Grid:
        return Grid(f"{reading.name}: {name}", axes, seeds, of, measures.pages)

    single = partial(scenario.inactivity, taken=taken, duration=wanted.duration)
    hybrid = partial(scenario.hybrid, taken=taken, duration=wanted.duration)
    made = [browsing("chapter 7", wanted.chapter7, single), browsing("chapter 8", wanted.chapter8, hybrid)]
    # An answer that changes nothing in chapter 6 has no runs of it: its claims are not judged twice.
    if all(answer.changes.keys() <= OF_FACH for answer in reading.chosen.values()):
        made += _chapter_6(reading, wanted, taken)
    if not reading.chosen:
        first = {"tcp": VERSIONS, "initial_window": (2, 4, 10)}
        made.append(browsing("initial window", first, partial(_fixed, single, OPTIMAL)))
        watched = partial(_fixed, partial(_watched, single), OPTIMAL)
        made.append(Grid(f"{reading.name}: windows", {"tcp": VERSIONS}, seeds[:3], watched, measures.in_flight))
    return {grid.name.removeprefix(f"{reading.name}: "): grid for grid in made}


def _chapter_6(reading: Reading, wanted: Extent, taken: Taken) -> list[Grid]:
    ftp = partial(scenario.ftp, taken=taken, parts=wanted.parts)
    versions = tuple(scenario.TCP)
    two = {"tcp": ("reno", "vegas", "sack"), "max_dat": (2, 5, 8)}

    def downloads(name: str, axes: Axes, times: int = 1, **fixed: object) -> Grid:
        seeds = range(SEED, SEED + times * wanted.seeds6)
        return Grid(f"{reading.name}: {name}", axes, seeds, partial(_fixed, ftp, fixed), measures.parts)

    return [
        downloads("versions", {"tcp": versions}, bler=0.01, users=2),
        downloads("errors", {"tcp": ("reno", "vegas"), "bler": wanted.errors}, users=2),
        downloads("maxDAT 2", {"tcp": versions, "bler": wanted.errors_limited}, OFTEN, max_dat=2),
        downloads("maxDAT", {"tcp": versions, "max_dat": wanted.max_dat}, bler=0.05),
        downloads("two users, small maxDAT", two, bler=0.01, users=2),
        downloads("window", {"window": (4, 20)}, tcp="reno", bler=0.01),
    ]


def _fixed(of: Of, fixed: Point, point: Point) -> Scenario:
    """The scenario of a point with some parameters fixed."""
    return of({**fixed, **point})


def _watched(of: Of, point: Point) -> Scenario:
    """The scenario with samples of windows."""
    return of(point).with_({"record.series": "2 s"})
