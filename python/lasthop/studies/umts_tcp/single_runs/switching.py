"""Figs. 5.1 and 5.2: the buffer through a download, and two terminals that share one dedicated channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.scenario import Scenario, load
from lasthop.studies.grid import Array
from lasthop.studies.series import Series

from ..scenario import text

if TYPE_CHECKING:
    from lasthop.results import Result


Flags = np.ndarray[Any, np.dtype[np.bool_]]

#: What serves a terminal, as the value `service` says it.
NOTHING, COMMON, DEDICATED = 0.0, 1.0, 2.0

#: The periods of a download, in the words of the thesis' Fig. 5.1.
PERIODS = ("on FACH", "switching", "sending on DCH", "idle on DCH")

#: The non-preemptive and the preemptive timer of the two terminals, in seconds.
KEEP, PREEMPTIBLE = 4.0, 12.0


@dataclass(frozen=True)
class Period:
    """A part of a download."""

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Download:
    """The RLC buffer of a terminal through the download of a file."""

    time_s: Array
    buffer_bytes: Array
    #: The threshold of the switch.
    threshold_bytes: float
    periods: Sequence[Period]

    @property
    def in_order(self) -> bool:
        """Whether the four periods come in their order, each once, before the terminal is on FACH again."""
        return tuple(one.name for one in self.periods) == (*PERIODS, PERIODS[0])


@dataclass(frozen=True)
class Hold:
    """A terminal has the dedicated channel."""

    terminal: int
    begin_s: float
    end_s: float
    #: From when on another could have taken it, to the end; `None` if never.
    preemptible_s: float | None


@dataclass(frozen=True)
class Sharing:
    """Two terminals and one dedicated channel."""

    time_s: Array
    #: Whether somebody's channel could be taken, at each time.
    preemptible: Flags
    holds: Sequence[Hold]
    #: When a terminal asked in vain, and which.
    refused: Sequence[tuple[float, int]]
    preemptions: int

    @property
    def refusals(self) -> list[float]:
        """The times of refusals."""
        return [time for time, _ in self.refused]

    def may_be_taken(self, time: float) -> bool:
        """Whether somebody's channel could be taken both at the sample of a time and at the one before."""
        place = int(np.searchsorted(self.time_s, time))
        return bool(self.preemptible[place] and self.preemptible[place - 1])


def _samples(scenario: Scenario, step_ms: int, duration: float, changes: dict[str, Any]) -> Scenario:
    return scenario.with_({"record": {"series": f"{step_ms} ms", **changes}}, duration=f"{duration:g} s")


def one_user() -> Scenario:
    """A download of 60 kB by a terminal alone, which begins after a second."""
    scenario = load(text("web")).with_(
        {
            "cell.cell.ues": 1,
            "cell.cell.attachment.rrc.keep": "5 s",
            "flow.web.source": {"file": {"size": "60 kB"}},
            "flow.web.start": "1 s",
            "flow.web.transport.tcp.segment": "1460 B",
        }
    )
    return _samples(scenario, 20, 25, {})


def two_users() -> Scenario:
    """Two terminals that read web pages, with room for one dedicated channel and hybrid timers."""
    scenario = load(text("web")).with_(
        {
            "cell.cell.ues": 2,
            "cell.cell.attachment.rrc.budget": "96 kbit/s",
            "cell.cell.attachment.rrc.setup": "500 ms",
            "cell.cell.attachment.rrc.keep": f"{KEEP:g} s",
            "cell.cell.attachment.rrc.preemptible": f"{PREEMPTIBLE:g} s",
        }
    )
    return _samples(scenario, 100, 2000, {"quantities": ["refusals", "preemptions", "preemptible"]})


def download(result: Result) -> Download:
    """What the run of :func:`one_user` shows."""
    series = Series(result.series)
    bearer = "cell.ue[0] down"
    time, waiting = series.of(bearer, "queue_bytes")
    _, unacknowledged = series.of(bearer, "unacknowledged_bytes")
    _, service = series.of(bearer, "service")
    buffer = waiting + unacknowledged
    threshold = 500.0
    return Download(time, buffer, threshold, _periods(time, buffer, service))


def _periods(time: Array, buffer: Array, service: Array) -> list[Period]:
    """What serves the terminal from when to when; the dedicated channel is idle after its buffer was last in use."""
    changes = [0, *(np.flatnonzero(np.diff(service)) + 1).tolist(), len(time) - 1]
    made = []
    for first, after in pairwise(changes):
        begin, end = float(time[first]), float(time[after])
        match service[first]:
            case 1.0:
                made.append(Period(PERIODS[0], begin, end))
            case 0.0:
                made.append(Period(PERIODS[1], begin, end))
            case _:
                busy = np.flatnonzero(buffer[first:after])
                last = float(time[first + busy[-1] + 1]) if len(busy) else begin
                made += [Period(PERIODS[2], begin, last), Period(PERIODS[3], last, end)]
    return made


def sharing(result: Result) -> Sharing:
    """What the run of :func:`two_users` shows."""
    series = Series(result.series)
    holds: list[Hold] = []
    refused: list[tuple[float, int]] = []
    preemptions = 0.0
    either = None
    for terminal in (0, 1):
        bearer = f"cell.ue[{terminal}] down"
        time, service = series.of(bearer, "service")
        preemptible = series.of(bearer, "preemptible")[1] > 0
        refusals = series.of(bearer, "refusals")[1]
        holds += _holds(terminal, time, service == DEDICATED, preemptible)
        refused += [(float(time[place + 1]), terminal) for place in np.flatnonzero(np.diff(refusals) > 0)]
        preemptions += series.at(bearer, "preemptions", result.simulated_s)
        either = preemptible if either is None else either | preemptible
    assert either is not None
    return Sharing(time, either, holds, sorted(refused), int(preemptions))


def _holds(terminal: int, time: Array, has: Any, preemptible: Any) -> list[Hold]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], has, [False]]).astype(int)))
    made = []
    for begin, end in edges.reshape(-1, 2):
        busy = np.flatnonzero(~preemptible[begin:end])
        first = begin + (busy[-1] + 1 if len(busy) else 0)
        since = float(time[first]) if first < end else None
        made.append(Hold(terminal, float(time[begin]), float(time[min(end, len(time) - 1)]), since))
    return made
