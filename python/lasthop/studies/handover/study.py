"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.handover.judgements import CLAIMS
from lasthop.studies.handover.scenario import DELAYS, SEED, SENSITIVITY, Variant, text

if TYPE_CHECKING:
    from lasthop.results import Table
    from lasthop.scenario import Scenario
    from lasthop.studies.bench import Bench
    from lasthop.studies.handover.crowd import Crowd
    from lasthop.studies.handover.measured import Measured
    from lasthop.studies.handover.overprovision import Growth
    from lasthop.studies.handover.scalability import Counters

__all__ = ["STUDY"]

#: The delays at which claims are judged.
DEFAULT = "70/140 ms"
#: Start times at each set of parameters.
STARTS = 20
#: Start times at which over-provisioning is tried; and of its row in Table I, which has links many times as fast.
GROWTH_STARTS, GROWTH_ROW = 3, 5

T = TypeVar("T")


def variants(mode: str) -> Sequence[Variant]:
    """The sets of parameters of a mode."""
    return [*DELAYS, *SENSITIVITY] if mode == "full" else DELAYS


def _keys() -> tuple[Sequence[str], Sequence[str]]:
    """The mechanisms of the paper's setting, and of the crowd."""
    from lasthop.studies.handover.mechanisms import CROWD, SINGLE

    return SINGLE, CROWD


def runs(mode: str) -> int:
    """How many runs a mode takes, but for the search."""
    from lasthop.studies.handover.scalability import FLOWS

    single, crowds = _keys()
    return len(variants(mode)) * STARTS * (len(single) + len(crowds)) + len(crowds) * len(FLOWS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies.handover.figures import pictures

    counted = _counters(bench)
    measured = {variant.name: _measured(bench, variant, counted) for variant in variants(bench.mode)}
    default = measured[DEFAULT]
    growth, grown = _growth(bench, default.variant)
    return Campaign(
        variants=measured,
        default=DEFAULT,
        across=[variant.name for variant in DELAYS],
        across_what="pair of delays",
        pictures=pictures(default),
        tables=_tables(measured, growth, grown),
        facts={
            "seed": f"{SEED}; in the crowd one for each start time, from {SEED} on",
            "start times": f"{STARTS} in [0, 1) s, one drawn from each equal part",
        },
    )


def _starts(count: int = STARTS) -> Sequence[tuple[float, int]]:
    """Start times in whole microseconds, and the seeds of crowds that start then."""
    from lasthop.studies.handover.scenario import start_times

    return [(round(start, 6), SEED + i) for i, start in enumerate(start_times(STARTS))][:count]


def _measured(bench: Bench, variant: Variant, counted: Mapping[str, Counters]) -> Measured:
    """All runs at one set of parameters."""
    from lasthop.studies.handover.measured import Measured
    from lasthop.studies.handover.measures import trace
    from lasthop.studies.handover.mechanisms import ALL, ALONE, crowd, single

    single_keys, crowd_keys = _keys()
    traces = []
    for asks in (None, ALONE):
        keys = [key for key in single_keys if ALL[key].reserves == (asks is not None)]
        work = [(single(variant, key, start), SEED) for key in keys for start, _ in _starts()]
        traces += bench.run(work, partial(trace, asks=asks))
    crowds = _crowds(bench, [(crowd(variant, key, start), seed) for key in crowd_keys for start, seed in _starts()])
    elastic_first = sorted(single_keys, key=lambda key: ALL[key].reserves)
    return Measured(variant, _parted(elastic_first, traces), _parted(crowd_keys, crowds), counted)


def _crowds(bench: Bench, work: Sequence[tuple[Scenario, int]], *, counts: bool = True) -> list[Crowd]:
    from lasthop.studies.handover.crowd import reduced
    from lasthop.studies.handover.frames import frames

    for start, seed in _starts():
        frames(start, seed)
    return bench.run(work, reduced, counts=counts)


def _parted(keys: Sequence[str], made: Sequence[T]) -> dict[str, Sequence[T]]:
    return {key: made[i * STARTS : (i + 1) * STARTS] for i, key in enumerate(keys)}


def _counters(bench: Bench) -> dict[str, Counters]:
    """What each mechanism of Table I puts where."""
    from lasthop.studies.handover.mechanisms import ALL
    from lasthop.studies.handover.scalability import FLOWS, PLAIN, counters, path, reduced

    _, keys = _keys()
    made = bench.run([(path(key, flows), SEED) for key in keys for flows in FLOWS], reduced)
    by_key = {key: made[i * len(FLOWS) : (i + 1) * len(FLOWS)] for i, key in enumerate(keys)}
    return {key: counters(runs, by_key[PLAIN[ALL[key].reserves]]) for key, runs in by_key.items()}


def _growth(bench: Bench, variant: Variant) -> tuple[Growth, Sequence[Crowd]]:
    """Over-provisioning: the factor, and runs of the crowd with it."""
    from lasthop.studies.handover.crowd import longest_delay
    from lasthop.studies.handover.mechanisms import crowd
    from lasthop.studies.handover.overprovision import SETTLED, delay_bound_s, search, still

    def longest(factor: float) -> float:
        work = [(still(variant, start, factor), seed) for start, seed in _starts(GROWTH_STARTS)]
        return max(bench.run(work, lambda result: longest_delay(result, SETTLED), counts=False))

    growth = search(delay_bound_s(variant), longest)
    work = [(crowd(variant, "none", start, growth.factor), seed) for start, seed in _starts(GROWTH_ROW)]
    return growth, _crowds(bench, work, counts=False)


# Tables


def _tables(measured: Mapping[str, Measured], growth: Growth, grown: Sequence[Crowd]) -> dict[str, tuple[str, Table]]:
    from lasthop.studies.handover import tables

    default = measured[DEFAULT]
    return {
        "table-1": (
            "Table I: our grades beside the paper's. Setting (a) is the paper's single flow, (b) voice and video among "
            "four greedy TCP flows; reservation schemes take their grades from (b).",
            tables.grades(default, growth, grown),
        ),
        "table-1-measures": (
            "The measures behind the grades: medians over the runs, of the worse of voice and video in (b).",
            tables.measures(default, growth, grown),
        ),
        "counters": ("What each mechanism puts where, and what it costs there.", tables.counters(default)),
        "over-provisioning": (
            "The search for the factor by which a best-effort link must grow: the longest delay of a voice frame at "
            "each factor tried.",
            tables.growth(growth),
        ),
        "frames": ("What voice and video experience in the crowd, at each mechanism.", tables.frames(default)),
        "runs": ("Each run: packets received and dropped, and its intervals.", tables.runs(measured)),
    }


STUDY = Study(
    name="handover",
    title="WLAN to UMTS and back: which congestion control adapts, and how evenly",
    source="F. Abrantes, M. Ricardo: On Congestion Control for Interactive Real-time Applications in Dynamic "
    "Heterogeneous 4G Networks (2005)",
    seed_document="001_de5361d7d9d3ec21.txt",
    question="A mobile moves from WLAN to UMTS and back: the rate falls to a tenth and the delay doubles. "
    "Which congestion control adapts quickly, and which delivers packets evenly enough for interactive media?",
    setting=lambda mode: f"WLAN to UMTS at 10 s and back at 20 s · {STARTS} start times · {mode}",
    claims=CLAIMS,
    assumptions=[
        Assumption(
            "Rates", "WLAN 3.84 Mbit/s, UMTS 384 kbit/s",
            "the paper: 90 packets are 720 kbit, “almost 2 seconds of the UMTS channel”; a tenth of the rate",
        ),
        Assumption(
            "End-to-end one-way delay", "70 ms on WLAN, 140 ms on UMTS; fitted to A1 and A2",
            "the paper gives none; in a scan with ns-2.35 XCP loses nothing there and TFRC about 90 packets",
            "every claim is also judged at 20/40, 50/100 and 90/180 ms",
        ),
        Assumption(
            "Packets in flight at a handover", "they move, in order, ahead of the new link's queue; the queue's limit "
            "does not apply to them, but they count for later arrivals",
            "the paper: an ideal handover, “packets that were sent on the old link are duplicated in the new link”",
            "with --full also: they finish on the old link",
        ),
        Assumption(
            "Packets queued at a handover", "kept", "the paper does not say", "with --full also: dropped",
        ),
        Assumption(
            "Queue", "64 kB in front of the radio link, DropTail, counted in bytes", "the paper: “queues of 64 kbytes”",
        ),
        Assumption(
            "TCP's window", "2000 packets, so that it does not limit", "ns-2's 20 packets could never fill 64 kB",
        ),
        Assumption("Packet size", "1000 B on the wire for every protocol, ACKs 40 B", "the paper: “1 kbytes”"),
        Assumption("Minimum RTO", "0.2 s", "ns-2's default of late 2004", "with --full also: 1 s"),
        Assumption(
            "Profile", "ns2: TCP, TFRC and XCP as ns-2.35 has them", "the paper used ns-2",
            "with --full also: profile rfc, as today's standards have them",
        ),
        Assumption(
            "TFRC", "ns-2's, with one heavy round, and loss after one later packet",
            "ns-2's defaults until 2007; the paper is of 2005", "RFC 5348 beside it, with and without notice of "
            "the handover",
        ),
        Assumption(
            "What XCP's routers know of the link", "its rate, at once", "the paper's results imply it",
            "one second late, never, or measured (A20)",
        ),
        Assumption(
            "EWA", "as Kalampoukas, Varma and Ramakrishnan describe it, over TCP Reno; it forgets at a handover",
            "the paper could not simulate it; α, thresholds and periods are parameters of the queue `ewa`",
        ),
        Assumption(
            "Reservation schemes in the paper's setting", "a flow of 40 % of UMTS, which asks for that",
            "a greedy source has nothing to ask for",
        ),
        Assumption(
            "The crowd", "voice (AMR 12.2), video (65 kbit/s) and a flow of 96 kbit/s, all asking for service "
            "where there is any, among four greedy TCP flows; all as the standards have it; 20 seeds",
            "the paper has none; on an empty path a reservation does nothing. The three fit into 60 % of UMTS, the "
            "smallest share that a scheme gives away",
        ),
        Assumption(
            "Time to adapt",
            "from the handover until the receive rate over the last max(5 R, 0.2 s) stays within 20 % of the new "
            "capacity for 10 R, with R the round trip of the empty new path. In the crowd: of what voice and video "
            "made, or a frame more or less",
            "the paper gives no measure; a sender that adapts at once would read 4 to 5 R",
        ),
        Assumption(
            "Media friendliness", "median jitter over median interval, and P95 over P5 of the intervals, on each "
            "link; jitter is the difference of consecutive intervals. In the crowd intervals are between frames, the "
            "source's own taken off",
            "the paper's definition of jitter; it gives no measure for its grades",
        ),
        Assumption(
            "Grades", "thresholds on the measures, fixed before the first run; the grade is the worse of both "
            "links, or of both "
            "handovers, and that of the median run", "the paper's grades are judgements",
        ),
        Assumption(
            "Scalability", "four steps, one off if hosts need more than TCP or UDP, if the router at the "
            "bottleneck changes, if others do, and if routers keep state for each flow; read off the values that "
            "parts show in a run",
            "the paper: “the cost of deploying the new solution at a large scale”",
        ),
    ],
    scenario=text,
    runs=runs,
    perform=perform,
)  # fmt: skip
