"""The paper's Table I once more, for today's mechanisms beside its seven: grades by the rules of the study `handover`.

A greedy source in the paper's setting, with packets of 1000 B on the wire; the paper's seven run as in that study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.studies.handover.data import crowd_row
from lasthop.studies.handover.measures.crowd import reduced as of_crowd
from lasthop.studies.handover.measures.grades import scalability
from lasthop.studies.handover.measures.scalability import PLAIN, counters, path_with
from lasthop.studies.handover.measures.scalability import reduced as counted
from lasthop.studies.handover.measures.table_1 import MECHANISMS as PAPER
from lasthop.studies.handover.measures.table_1 import RESERVED, Measures, rows, summary
from lasthop.studies.handover.measures.trace import trace
from lasthop.studies.handover.network import ALL, LIMIT, Mechanism, alone, crowd, single
from lasthop.studies.handover.readings import Taken

from ..network.mechanisms import HINTS, MECHANISMS, OFF, TODAY
from ..network.paths import PATHS
from ..scenario import SEED

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

__all__ = ["Graded", "grade", "runs"]

#: What a greedy media flow may send at most: the faster link.
MOST = "3840 kbit/s"

#: Flows over three routers, from which the cost of one more is read off.
FLOWS = (1, 10, 100)

#: TCP as hosts have it today: its variants are compared with it, where the paper's are compared with Reno.
PLAIN_TODAY = "cubic"


@dataclass(frozen=True)
class Graded:
    """A column of Table I: a mechanism, and how its terminal says that the path has changed."""

    mechanism: str
    hint: str
    measures: Measures
    scalability: str


def _greedy(key: str, hint: str) -> Mechanism:
    """One of today's mechanisms with a greedy source and packets of 1000 B."""
    of = MECHANISMS[key]
    [(kind, config)] = of.transport(PATHS["wlan-umts"], hint).items()
    transport: dict[str, Any] = dict(config)
    if kind == "media":
        transport |= {"max_rate": MOST, "packet": "972 B"}
    else:
        transport |= {"segment": "960 B"}
    queue = {name: {"limit": LIMIT, **more} for name, more in of.radio.items()} or None
    return Mechanism(radio=queue, transport={kind: transport})


#: Today's mechanisms are as the standards have them.
_RFC = Taken(profile="rfc")


def runs(starts: int) -> int:
    """How many runs this takes."""
    return starts * (len(PAPER) + (len(TODAY) - 1) * len(HINTS)) + len(FLOWS) * (len(PAPER) + len(TODAY))


def _scalability(bench: Bench) -> Mapping[str, str]:
    """The grades of what mechanisms put where."""
    today = [key for key in TODAY if key not in PAPER]
    mechanisms = {
        **{key: ALL[key] for key in (*PAPER, PLAIN[True])},
        **{key: _greedy(key, OFF) for key in today},
    }
    work = [(path_with(key, one, flows), SEED) for key, one in mechanisms.items() for flows in FLOWS]
    made = iter(bench.run(work, counted))
    of = {key: [next(made) for _ in FLOWS] for key in mechanisms}
    plain = {key: PLAIN_TODAY if key in today else PLAIN[ALL[key].reserves] for key in (*PAPER, *today)}
    return {key: scalability(counters(of[key], of[other]).parts) for key, other in plain.items()}


def grade(bench: Bench, starts: Sequence[tuple[float, int]]) -> list[Graded]:
    """Makes the runs, over these start times with their seeds."""
    places = _scalability(bench)
    made = []
    taken = Taken()
    for key in PAPER:
        if key in RESERVED:
            crowds = bench.run([(crowd(taken, key, start), seed) for start, seed in starts], of_crowd)
            measures = crowd_row(taken, crowds)
        else:
            traces = bench.run([(single(taken, key, start), seed) for start, seed in starts], trace)
            measures = summary(rows(taken, ([one] for one in traces)))
        made.append(Graded(key, OFF, measures, places[key]))
    for key in TODAY:
        if key in PAPER:
            continue
        for hint in HINTS:
            work = [(alone(_RFC, _greedy(key, hint), start), seed) for start, seed in starts]
            traces = bench.run(work, trace)
            made.append(Graded(key, hint, summary(rows(_RFC, ([one] for one in traces))), places[key]))
    return made
