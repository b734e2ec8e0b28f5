"""What the thesis leaves for later (§9.2): Vegas and FACK with web pages, whole files, larger initial windows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lasthop.studies import Campaign, Study

from .readings import DEFAULT, Taken
from .scenario import TCP, hybrid, inactivity, text

if TYPE_CHECKING:
    from lasthop.scenario import Scenario
    from lasthop.studies import Picture
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Grid, Numbers, Point


#: Timers that the thesis recommends: of chapter 7, and of chapter 8 at 750 B.
SINGLE: Mapping[str, Any] = {"max_dat": 6, "threshold": 500, "timer": 8}
HYBRID: Mapping[str, Any] = {"threshold": 750, "np": 2, "p": 8}

#: Files instead of pages.
FILES = Taken(source="ftp")

#: What is compared, with its unit.
MEASURES = {
    "goodput_kbps": "goodput (kbit/s)",
    "page_s": "time of a page (s)",
    "retransmissions": "retransmissions / connection",
    "allocations": "allocations / connection",
}


def _switching(point: Point, *, duration: float, taken: Taken = DEFAULT) -> Scenario:
    """The recommended timers of either chapter."""
    if point["timers"] == "one":
        return inactivity({**SINGLE, **point}, duration=duration, taken=taken)
    return hybrid({**HYBRID, **point}, duration=duration, taken=taken)


def _grids(mode: str) -> list[Grid]:
    from lasthop.studies.grid import Grid

    from . import measures

    full = mode == "full"
    seeds = range(1, 21 if full else 4)
    duration = 4000.0 if full else 1000.0
    pages = partial(_switching, duration=duration)
    files = partial(_switching, duration=2 * duration, taken=FILES)
    timers = ("one", "hybrid")
    windows = tuple(range(1, 11)) if full else (1, 2, 4, 10)
    versions = ("tahoe", "reno", "newreno", "sack")
    return [
        Grid("versions", {"tcp": tuple(TCP), "timers": timers}, seeds, pages, measures.pages),
        Grid("files", {"tcp": tuple(TCP), "timers": timers}, seeds[: 10 if full else 1], files, measures.pages),
        Grid("initial windows", {"tcp": versions, "timers": timers, "initial_window": windows}, seeds, pages,
             measures.pages),
    ]  # fmt: skip


def _perform(bench: Bench) -> Campaign:
    from lasthop.studies import records
    from lasthop.studies.crossing import Explored
    from lasthop.studies.readings import AS_TAKEN, as_taken

    from .tables import costs_said

    numbers = bench.grids(_grids(bench.mode))
    fewer = ("goodput_kbps", "page_s", "retransmissions")
    return Campaign(
        explored=Explored([as_taken()], {AS_TAKEN: None}),
        pictures=[
            *(_over_versions(numbers["versions"], "pages", name) for name in MEASURES),
            *(_over_versions(numbers["files"], "files", name) for name in fewer),
            *(_over_windows(numbers["initial windows"], name) for name in fewer),
        ],
        tables=records.runs(numbers),
        facts={"processor time": costs_said(numbers)},
    )


def _over_versions(grid: Numbers, what: str, name: str) -> Picture:
    from lasthop.studies.curves import Line, curves, ordered

    titles = {"one": "one timer, 8 s", "hybrid": "hybrid, 2 + 8 s"}
    versions = grid.axes["tcp"]
    measure = grid.within if name == "goodput_kbps" else grid.mean
    lines = [
        Line(titles[timers], [measure(name, tcp=tcp, timers=timers) for tcp in versions],
             {**ordered(1 + 2 * place), "linestyle": "none"})
        for place, timers in enumerate(grid.axes["timers"])
    ]  # fmt: skip
    label = MEASURES[name].replace("page", what.removesuffix("s"))
    return curves(
        f"figure-{what}-{name.rpartition('_')[0] or name}", lines, x=[TCP[tcp] for tcp in versions],
        x_label="version of TCP", y_label=label, column="version", even=True,
        caption=f"{label.partition(' (')[0].capitalize()} of six versions with {what}, at the timers that the thesis "
        "recommends: maxDAT 6, 500 B and one timer of 8 s; 750 B and hybrid timers of 2 and 8 s. " + _bars(grid, name),
    )  # fmt: skip


def _over_windows(grid: Numbers, name: str) -> Picture:
    from lasthop.studies.curves import Line

    from .figures.lines import look, over

    measure = grid.within if name == "goodput_kbps" else grid.mean
    windows = grid.axes["initial_window"]
    lines = [
        Line(TCP[tcp], [measure(name, tcp=tcp, initial_window=window, timers="one") for window in windows], look(tcp))
        for tcp in grid.axes["tcp"]
    ]
    label = MEASURES[name]
    return over(
        f"figure-initial-window-{name.rpartition('_')[0] or name}", grid, "initial_window", lines, label,
        caption=f"{label.partition(' (')[0].capitalize()} over the initial window, with one timer of 8 s, maxDAT 6 "
        "and 500 B. " + _bars(grid, name),
    )  # fmt: skip


def _bars(grid: Numbers, name: str) -> str:
    from .figures.lines import compared, runs_said

    return compared(grid) if name == "goodput_kbps" else runs_said(grid)


def _runs(mode: str) -> int:
    return sum(grid.runs for grid in _grids(mode))


APPENDIX = Study(
    name="umts-tcp-appendix",
    title="What the thesis leaves for later: Vegas and FACK, whole files, larger initial windows",
    source="X. Dubois: Performance of Different TCP Versions over UMTS Common/Dedicated Channels, master's thesis, "
    "University of Namur (2005), §9.2",
    seed_document="003_e7dcbc1103245abf.txt",
    question="The thesis could not run Vegas and FACK with web pages, and leaves whole files and larger initial "
    "windows for later. Would they have changed its conclusions?",
    setting=lambda mode: f"30 users of pages or files with FACH and DCH · {mode}",
    claims=(),
    questions=(),
    assumptions=(),
    scenario=partial(text, "web"),
    runs=_runs,
    perform=_perform,
)
