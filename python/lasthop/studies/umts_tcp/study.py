"""The study: its runs, its tables, what the thesis leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.readings import AS_TAKEN, as_taken, singles
from lasthop.studies.umts_tcp.appendix import APPENDIX
from lasthop.studies.umts_tcp.judgements import CLAIMS
from lasthop.studies.umts_tcp.readings import QUESTIONS
from lasthop.studies.umts_tcp.scenario import text

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Numbers
    from lasthop.studies.readings import Reading

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of crossed readings and of Figs. 5.1, 5.2, 6.1 and 6.3."""
    from lasthop.studies.umts_tcp.campaign import grids

    return sum(grid.runs for reading in [as_taken(), *singles(QUESTIONS)] for grid in grids(reading, mode))


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import crossing
    from lasthop.studies.grid import by_reading
    from lasthop.studies.umts_tcp import switching, tables, watched
    from lasthop.studies.umts_tcp.campaign import SEED, extent, grids
    from lasthop.studies.umts_tcp.data import Data
    from lasthop.studies.umts_tcp.figures import pictures

    [download] = bench.run([(switching.one_user(), SEED)], switching.download, counts=False)
    [sharing] = bench.run([(switching.two_users(), SEED)], switching.sharing, counts=False)
    followed = watched.follow(bench, extent(as_taken(), bench.mode).parts, SEED)
    numbers: dict[str, Numbers] = {}

    def measure(readings: Sequence[Reading]) -> dict[str, Data]:
        wanted = [grid for reading in readings for grid in grids(reading, bench.mode)]
        if any(len(reading.chosen) > 1 for reading in readings):
            bench.expect(sum(grid.runs for grid in wanted))
        made = bench.grids(wanted)
        numbers.update(made)
        data = {name: Data(name, mine) for name, mine in by_reading(made).items()}
        if AS_TAKEN in data:
            data[AS_TAKEN] = replace(data[AS_TAKEN], download=download, sharing=sharing, followed=followed)
        return data

    explored = crossing.explore(QUESTIONS, CLAIMS, measure, cross=bench.mode == "full")
    first = extent(as_taken(), bench.mode)
    return Campaign(
        explored=explored,
        pictures=pictures(explored.measured[AS_TAKEN]),
        tables=tables.tables(explored.measured[AS_TAKEN], numbers),
        facts={
            "profile": "ns2: TCP as in ns-2, RLC and channels as in EURANE",
            "seeds": f"{first.seeds6} in chapter 6, {first.seeds} in chapters 7 and 8, of {first.duration:g} s; "
            "other readings have fewer",
            "processor time": tables.costs_said(numbers),
        },
    )


STUDY = Study(
    name="umts-tcp",
    title="TCP versions over UMTS common and dedicated channels",
    source="X. Dubois: Performance of Different TCP Versions over UMTS Common/Dedicated Channels, master's thesis, "
    "University of Namur (2005)",
    seed_document="003_e7dcbc1103245abf.txt",
    question="A user's data come over a common channel of 32 kbit/s, or over a dedicated one that takes half a second "
             "to "
    "set up and is kept while it may be needed. Which version of TCP gets most out of it, and how should the "
    "radio link control and the timers be set?",
    setting=lambda mode: f"two users on FACH; 30 users of web pages with FACH and DCH · {mode}",
    claims=CLAIMS,
    questions=QUESTIONS,
    assumptions=[
        Assumption("Goodput", "data sent for the first time, without headers", "§4.2 of the thesis; data acknowledged "
                   "stand beside it"),
        Assumption("Parts of chapter 6", "the first 100 s of each are left out; the windows of §6.3 are of the whole "
                   "part", "so that the start does not count as the rest does; the thesis' 19.97 packets include slow "
                   "start"),
        Assumption("Round-trip time", "chapter 6: the mean of samples, and for Table 6.2 the mean over time; chapters "
                   "7 and 8: the mean of samples", "§5.5.2: variables of ns-2 are traced when they change"),
        Assumption("Status prohibit timer, poll timer", "150 ms, 170 ms", "EURANE's; the thesis states the second"),
        Assumption("Queue in front of FACH and DCH", "9 and 25 PDUs", "EURANE's rule, which adds bytes to bits"),
        Assumption("Other timers of TCP", "initial RTO 6 s, maximum 64 s, granularity 10 ms", "ns-2's of 2005"),
        Assumption("Window", "20 packets", "§4.3.1: ns-2's default"),
        Assumption("Packets", "chapter 6: 1000 B of payload; chapters 7 and 8: 1500 B (76 %) or 576 B with headers",
                   "ns-2's default; §5.3"),
        Assumption("Asking for a dedicated channel", "more than the threshold of bytes wait in RLC at the RNC, or are "
                   "not acknowledged", "EURANE's measure of the buffer"),
        Assumption("Who is evicted", "the one that has been silent for longest; it is back on FACH at once",
                   "the least likely to return"),
        Assumption("Full cell", "no further dedicated channel fits, and none can be taken", "§7.2"),
        Assumption("Losses", "Table 7.1's two states; a step for each PDU sent to a terminal; none upwards",
                   "the thesis does not say"),
        Assumption("First page", "within 30 s of the start, at a uniformly distributed time", "as if the user had been "
                   "reading"),
        Assumption("Effects of one or two per cent", "judged by differences in pairs of equal seed, 95 % intervals",
                   "the thesis has three seeds and no intervals"),
    ],
    scenario=lambda: text("web"),
    runs=runs,
    perform=perform,
    appendix=APPENDIX,
)  # fmt: skip
