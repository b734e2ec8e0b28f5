"""The study: its runs, its tables, what the thesis leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.umts_tcp.appendix import APPENDIX
from lasthop.studies.umts_tcp.judgements import CLAIMS
from lasthop.studies.umts_tcp.scenario import DEFAULT, text

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Numbers
    from lasthop.studies.umts_tcp.data import Data

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of Figs. 5.1, 5.2, 6.1 and 6.3."""
    from lasthop.studies.umts_tcp.campaign import grids, readings

    return sum(grid.runs for reading in readings(mode) for grid in grids(reading))


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies.umts_tcp import tables
    from lasthop.studies.umts_tcp.campaign import readings
    from lasthop.studies.umts_tcp.figures import pictures

    measured, numbers = _measured(bench)
    wanted = readings(bench.mode)
    return Campaign(
        variants=measured,
        default=DEFAULT.name,
        pictures=pictures(measured[DEFAULT.name]),
        tables=tables.tables(measured, numbers),
        facts={
            "profile": "ns2: TCP as in ns-2, RLC and channels as in EURANE",
            "readings": "; ".join(f"{one.assumed.name}: {one.about}" for one in wanted),
            "seeds": "; ".join(
                f"{one.assumed.name}: {one.seeds6} in chapter 6, {one.seeds} in chapters 7 and 8" for one in wanted
            ),
            "processor time": tables.costs_said(numbers),
        },
    )


def _measured(bench: Bench) -> tuple[dict[str, Data], dict[str, Numbers]]:
    """The data of each reading, and the numbers of all grids by their full names."""
    from lasthop.studies.umts_tcp import switching, watched
    from lasthop.studies.umts_tcp.campaign import SEED, grids, readings
    from lasthop.studies.umts_tcp.data import Data

    wanted = readings(bench.mode)
    numbers = bench.grids([grid for reading in wanted for grid in grids(reading)])
    [download] = bench.run([(switching.one_user(), SEED)], switching.download, counts=False)
    [sharing] = bench.run([(switching.two_users(), SEED)], switching.sharing, counts=False)
    followed = watched.follow(bench, wanted[0].parts, SEED)
    measured = {}
    for reading in wanted:
        name = reading.assumed.name
        mine = {full.removeprefix(f"{name}: "): one for full, one in numbers.items() if full.startswith(f"{name}: ")}
        special = (download, sharing, followed) if reading is wanted[0] else (None, None, None)
        measured[name] = Data(name, mine, *special)
    return measured, numbers


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
    assumptions=[
        Assumption(
            "Profile", "ns2: TCP as in ns-2, RLC and channels as in EURANE", "the thesis used both",
            "with --full also profile 3gpp: RLC, queues and TCP as the standards have them",
        ),
        Assumption(
            "Load of chapters 7 and 8", "one object for each connection, which any object of the pages of Table 5.1 "
            "is with equal "
            "chance: 8.6 kB", "the thesis' 63.1 kbit/s, 8 packets and 2.7 s for each connection fit no page of Table "
            "5.1, "
            "which has 57 kB", "with --full also Table 5.1 as it stands",
        ),
        Assumption(
            "Goodput", "data sent for the first time, without headers", "§4.2 of the thesis", "data acknowledged "
            "stand beside it",
        ),
        Assumption(
            "Parts of chapter 6", "the first 100 s of each are left out; windows and round-trip times of Table 6.2 "
            "are of the whole "
            "part", "so that the start does not count as the rest does; the thesis' 19.97 packets include slow start",
            "tables hold both",
        ),
        Assumption(
            "maxDAT", "transmissions of a PDU in total", "Table 6.2 fits no other reading",
        ),
        Assumption(
            "Status prohibit timer, poll timer", "150 ms, 170 ms", "EURANE's; the thesis states the second",
        ),
        Assumption(
            "Queue in front of FACH and DCH", "9 and 25 PDUs", "EURANE's rule, which adds bytes to bits",
            "profile 3gpp: what two intervals carry",
        ),
        Assumption(
            "Iub", "15 ms", "EURANE's examples", "with --full also 5 ms, fitted to C10",
        ),
        Assumption(
            "Minimum RTO", "1 s in chapters 7 and 8, 0.2 s in chapter 6",
            "ns-2's default became 0.2 s while the thesis was written; a paper of the same group states 1 s with the "
            "same traffic",
            "with --full also the other way round",
        ),
        Assumption(
            "Other timers of TCP", "initial RTO 6 s, maximum 64 s, granularity 10 ms", "ns-2's of 2005",
        ),
        Assumption(
            "Window", "20 packets", "§4.3.1: ns-2's default",
        ),
        Assumption(
            "Packets", "chapter 6: 1000 B of payload; chapters 7 and 8: 1500 B (76 %) or 576 B with headers",
            "ns-2's default; §5.3",
        ),
        Assumption(
            "Asking for a dedicated channel", "more than the threshold of bytes wait in RLC at the RNC, or are not "
            "acknowledged; "
            "who asks in vain waits for what becomes free, first come first served", "EURANE's measure of the buffer; "
            "§5.2",
        ),
        Assumption(
            "While a channel is set up", "nothing is sent", "§5.2", "with --full also: the common channels go on",
        ),
        Assumption(
            "Who is evicted", "the one that has been silent for longest; it is back on FACH at once", "the least "
            "likely to return",
        ),
        Assumption(
            "Full cell", "no further dedicated channel fits, and none can be taken", "§7.2",
        ),
        Assumption(
            "Losses", "Table 7.1's two states; a step for each PDU sent to a terminal; none upwards", "the thesis "
            "does not say",
        ),
        Assumption(
            "First page", "within 30 s of the start, at a uniformly distributed time", "as if the user had been "
            "reading",
        ),
        Assumption(
            "Effects of one or two per cent", "judged by differences in pairs of equal seed, 95 % intervals",
            "the thesis has three seeds and no intervals",
        ),
    ],
    scenario=lambda: text("web"),
    runs=runs,
    perform=perform,
    appendix=APPENDIX,
)  # fmt: skip
