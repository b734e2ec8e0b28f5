"""A case over time: the rate of each flow with the capacity behind, and the one-way delay; panels by controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from lasthop import plot
from lasthop.stats import number
from lasthop.studies import Picture
from lasthop.studies.claims import NotRun
from lasthop.studies.pictures import FAINT, Columns, picture

from ..data import OF_CASES, Data
from ..network.cases import Case
from ..network.controllers import BESIDE, MEDIA, NAMES
from ..styles import colour, laid_out

__all__ = ["over_time"]

#: Lines of the flows of one controller, which share its colour.
_STYLES = ("-", "--", ":", "-.", (0, (9, 2)), (0, (5, 1, 1, 1, 1, 1)))

#: The height of a panel.
PANEL_MM = 33.0

#: Delays above are cut: the scale is that of conversations.
MOST_MS = 1000.0


def over_time(data: Data, case: Case) -> Picture:
    """A panel of rates and one of delays for each controller; the run of the first seed."""
    names = [name for name in (*MEDIA, *BESIDE) if data.has(case.id, name)]
    if not names:
        raise NotRun(case.id)
    across = min(3, len(names))
    down = 2 * -(-len(names) // across)
    figure, panels = plot.figure(
        plot.TWO_COLUMNS, PANEL_MM * down + 8, rows=down, columns=across, sharex=True, sharey="row", squeeze=False
    )  # fmt: skip
    columns = Columns("controller", "flow", "time_s", "kbps", "delay_ms")
    said = []
    for n, name in enumerate(names):
        rates, delays = panels[2 * (n // across)][n % across], panels[2 * (n // across) + 1][n % across]
        time, flow, kbps, delay = _rows(data, case, name)
        _share(rates, case)
        for number_of in range(len(case.media)):
            here = flow == number_of
            style = {"color": colour(name), "linestyle": _STYLES[number_of % len(_STYLES)], "linewidth": 0.9}
            rates.plot(time[here], kbps[here] / 1e3, **style)
            delays.plot(time[here], delay[here], **style)
            columns.add(name, number_of, time[here], kbps[here], delay[here])
        rates.set_title(NAMES[name], loc="left", fontsize=8, pad=2, color=colour(name))
        said.append(
            f"{NAMES[name]} {number(float(np.nanmean(kbps)), 0)} kbit/s and {number(float(np.nanmean(delay)), 0)} ms"
        )
    for row, line in enumerate(panels):
        line[0].set_ylabel("rate (Mbit/s)" if row % 2 == 0 else "delay (ms)")
        for axes in line:
            axes.set_ylim(bottom=0)
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
        axes.set_xlim(0, case.seconds)
    for axes in panels[1::2].flat:
        axes.set_ylim(0, min(axes.get_ylim()[1], MOST_MS))
    several = len(case.media) > 1
    which = "flows are told apart by their line styles; " if several else ""
    grey = "" if case.users else f"grey is the capacity{', divided by the flows that are on' if several else ''}. "
    return picture(
        f"figure-{_file(case.id)}",
        laid_out(figure),
        columns,
        caption=f"Case {case.id}, {case.title}: rate of video packets received, means over 1 s, and their one-way "
        "delay; "
        f"{which}{grey}Delays above 1 s are cut. One run each, seed 1."
        + (f" {case.label[0].upper()}{case.label[1:]}." if case.label else ""),
        alt=f"Rates and delays over {case.seconds:g} s. Means: {'; '.join(said)}.",
    )


def _rows(data: Data, case: Case, controller: str) -> list[Any]:
    for name in OF_CASES:
        if name in data.grids and data.grids[name].has(case=case.id, controller=controller):
            return data.grids[name].kept_rows(
                "time_s", "flow", "kbps", "delay_ms", case=case.id, controller=controller, seed=1
            )
    raise NotRun(case.id)


def _share(axes: Any, case: Case) -> None:
    """The capacity forth, by the video flows that share it."""
    if case.users:
        return
    segments = case.segments
    times = [*(one.begin_s for one in segments), case.seconds]
    shares = [one.capacity_mbps / len(one.flows) for one in segments]
    axes.stairs(shares, times, fill=True, color="#EEEEEE", zorder=0)
    axes.stairs(shares, times, color=FAINT, linewidth=0.7, zorder=1, baseline=None)


def _file(case: str) -> str:
    return case.replace(", ", "-").replace(" ", "-")
