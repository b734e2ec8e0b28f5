"""Which runs a mode takes: the grids of each reading of the thesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lasthop.scenario import Scenario
from lasthop.studies.grid import Grid, Point
from lasthop.studies.umts_tcp import reductions, scenario
from lasthop.studies.umts_tcp.chapter7 import OPTIMAL, VERSIONS
from lasthop.studies.umts_tcp.scenario import DEFAULT, PARTS, Assumed

__all__ = ["READINGS", "Reading", "grids", "readings"]

Axes = Mapping[str, Sequence[object]]
Of = Callable[[Point], Scenario]

#: The first seed of every grid.
SEED = 1


@dataclass(frozen=True)
class Reading:
    """What is taken of what the thesis leaves open, and how much of the campaign is run with it."""

    assumed: Assumed
    #: Why it is run, in a line.
    about: str
    #: Values of the parameters of chapters 7 and 8; none if they are not run.
    chapter7: Axes | None = None
    chapter8: Axes | None = None
    #: Whether all of chapter 6 is run, or its versions at the usual error rate, or nothing.
    chapter6: str = "none"
    seeds: int = 3
    seeds6: int = 3
    #: Simulated seconds of chapters 7 and 8, and the two parts of chapter 6.
    duration: float = 4000.0
    parts: tuple[float, float] = PARTS
    #: Error rates of chapter 6: of all, and those at maxDAT 2; and its values of maxDAT.
    errors: Sequence[float] = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    errors_limited: Sequence[float] = (0.01, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
    max_dat: Sequence[int] = (2, 3, 4, 5, 6, 8, 9000)


#: All of the thesis' own values.
ALL7 = {"tcp": VERSIONS, "max_dat": (2, 3, 4, 5, 6), "threshold": (500, 1000, 1500), "timer": (2, 4, 6, 8, 10)}
ALL8 = {"tcp": VERSIONS, "threshold": (500, 750, 1000, 1250, 1500), "np": (0, 2, 4, 6, 8), "p": (4, 8, 12, 16)}
#: The corners and middles of them.
SOME7 = {"tcp": VERSIONS, "max_dat": (2, 3, 6), "threshold": (500, 1000, 1500), "timer": (2, 8)}
SOME8 = {"tcp": VERSIONS, "threshold": (750, 1000, 1500), "np": (0, 4, 8), "p": (4, 16)}

READINGS: Sequence[Reading] = (
    Reading(DEFAULT, "gives the verdicts", ALL7, ALL8, "all", seeds=20, seeds6=10),
    Reading(
        Assumed("Table 5.1", web={"flow.web.source.web.load": "table-5.1"}),
        "pages as the thesis' Table 5.1 describes them, five times the load of its results", ALL7, ALL8,
    ),
    Reading(
        Assumed("Iub 5 ms", {"cell.cell.iub.delay": "5 ms"}),
        "an Iub as short as the goodput of two users suggests", chapter6="versions", seeds6=10,
    ),
    Reading(
        Assumed(
            "other minimum RTO",
            web={"flow.web.transport.tcp.rto.min": "200 ms"},
            ftp_tcp={"rto.min": "1 s"},
        ),
        "0.2 s in chapters 7 and 8, 1 s in chapter 6", SOME7, SOME8, "limited", seeds6=10,
    ),
    Reading(
        Assumed("served while switching", web={"cell.cell.attachment.rrc.serve_during_switch": True}),
        "the common channels serve a terminal while its dedicated one is set up", SOME7, SOME8,
    ),
    Reading(
        Assumed("profile 3gpp", {"profile": "3gpp"}, rlc="am"),
        "RLC, queues and TCP as the standards have them", SOME7, SOME8, "versions",
    ),
)  # fmt: skip


def readings(mode: str) -> Sequence[Reading]:
    """The readings of a mode."""
    if mode == "full":
        return READINGS
    first = replace(
        READINGS[0],
        chapter7={**SOME7, "timer": (2, 8, 10)},
        chapter8=SOME8,
        seeds=3,
        seeds6=3,
        duration=600.0,
        parts=(300.0, 900.0),
        errors=(0.01, 0.1, 0.4, 0.7),
        errors_limited=(0.01, 0.05, 0.1, 0.3),
        max_dat=(2, 3, 4, 6, 9000),
    )
    return (first,)


def grids(reading: Reading) -> list[Grid]:
    """The grids of a reading; their names begin with its own."""
    assumed = reading.assumed
    seeds, seeds6 = range(SEED, SEED + reading.seeds), range(SEED, SEED + reading.seeds6)
    ftp = partial(scenario.ftp, assumed=assumed, parts=reading.parts)
    single = partial(scenario.inactivity, assumed=assumed, duration=reading.duration)
    hybrid = partial(scenario.hybrid, assumed=assumed, duration=reading.duration)

    def downloads(name: str, axes: Axes, **fixed: object) -> Grid:
        return Grid(f"{assumed.name}: {name}", axes, seeds6, partial(_fixed, ftp, fixed), reductions.parts)

    def browsing(name: str, axes: Axes, of: Of) -> Grid:
        return Grid(f"{assumed.name}: {name}", axes, seeds, of, reductions.pages)

    made: list[Grid] = []
    versions = tuple(scenario.TCP)
    if reading.chapter6 in ("all", "versions"):
        made.append(downloads("versions", {"tcp": versions}, bler=0.01, users=2))
    if reading.chapter6 in ("all", "limited"):
        made.append(downloads("maxDAT 2", {"tcp": versions, "bler": reading.errors_limited}, max_dat=2))
    if reading.chapter6 == "all":
        few = {"tcp": ("reno", "vegas", "sack"), "max_dat": (2, 5, 8)}
        made += [
            downloads("errors", {"tcp": ("reno", "vegas"), "bler": reading.errors}, users=2),
            downloads("maxDAT", {"tcp": versions, "max_dat": reading.max_dat}, bler=0.05),
            downloads("two users, small maxDAT", few, bler=0.01, users=2),
            downloads("window", {"window": (4, 20)}, tcp="reno", bler=0.01),
        ]
    if reading.chapter7:
        made.append(browsing("chapter 7", reading.chapter7, single))
    if reading.chapter8:
        made.append(browsing("chapter 8", reading.chapter8, hybrid))
    if assumed is DEFAULT:
        first = {"tcp": VERSIONS, "initial_window": (2, 4, 10)}
        made.append(browsing("initial window", first, partial(_fixed, single, OPTIMAL)))
        watched = partial(_fixed, partial(_watched, single), OPTIMAL)
        made.append(Grid(f"{assumed.name}: windows", {"tcp": VERSIONS}, seeds[:3], watched, reductions.in_flight))
    return made


def _fixed(of: Of, fixed: Point, point: Point) -> Scenario:
    """The scenario of a point with some parameters fixed."""
    return of({**fixed, **point})


def _watched(of: Of, point: Point) -> Scenario:
    """The scenario with samples of windows."""
    return of(point).with_({"record.series": "2 s"})
