"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.handover.judgements import CLAIMS
from lasthop.studies.handover.readings import QUESTIONS
from lasthop.studies.handover.scenario import SEED, text
from lasthop.studies.readings import AS_TAKEN, as_taken, singles

if TYPE_CHECKING:
    from lasthop.results import Table
    from lasthop.studies.bench import Bench
    from lasthop.studies.handover.crowd import Crowd
    from lasthop.studies.handover.measured import Measured
    from lasthop.studies.handover.overprovision import Growth

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for crossed readings and the search."""
    from lasthop.studies.handover.campaign import planned
    from lasthop.studies.handover.mechanisms import CROWD
    from lasthop.studies.handover.scalability import FLOWS

    return planned([as_taken(), *singles(QUESTIONS)], mode) + len(CROWD) * len(FLOWS)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies.crossing import explore
    from lasthop.studies.handover.campaign import STARTS, STARTS_OTHERS, Campaigner
    from lasthop.studies.handover.figures import pictures

    campaigner = Campaigner(bench)
    explored = explore(QUESTIONS, CLAIMS, campaigner.measure, cross=bench.mode == "full")
    growth, grown = campaigner.growth()
    return Campaign(
        explored=explored,
        pictures=pictures(explored.measured[AS_TAKEN]),
        tables=_tables(explored.measured, growth, grown),
        facts={
            "seed": f"{SEED}; in the crowd one for each start time, from {SEED} on",
            "start times": f"{STARTS} in [0, 1) s, one drawn from each equal part; {STARTS_OTHERS[bench.mode]} of them "
            "in readings other than the default",
        },
    )


# Tables


def _tables(measured: Mapping[str, Measured], growth: Growth, grown: Sequence[Crowd]) -> dict[str, tuple[str, Table]]:
    from lasthop.studies.handover import tables

    default = measured[AS_TAKEN]
    return {
        "table-1": (
            "Table I: our grades beside the paper's. Setting (a) is the paper's single flow, (b) voice and video "
            "among four greedy TCP flows; reservation schemes take their grades from (b).",
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
    question="A mobile moves from WLAN to UMTS and back: the rate falls to a tenth and the delay doubles. Which "
    "congestion control adapts quickly, and which delivers packets evenly enough for interactive media?",
    setting=lambda mode: f"WLAN to UMTS at 10 s and back at 20 s · 20 start times · {mode}",
    claims=CLAIMS,
    questions=QUESTIONS,
    assumptions=[
        Assumption(
            "Rates",
            "WLAN 3.84 Mbit/s, UMTS 384 kbit/s",
            "the paper: 90 packets are 720 kbit, “almost 2 seconds of the UMTS channel”; a tenth of the rate",
        ),
        Assumption(
            "Queue",
            "64 kB in front of the radio link, DropTail, counted in bytes",
            "the paper: “queues of 64 kbytes”",
        ),
        Assumption(
            "TCP's window",
            "2000 packets, so that it does not limit",
            "ns-2's 20 packets could never fill 64 kB",
        ),
        Assumption("Packet size", "1000 B on the wire for every protocol, ACKs 40 B", "the paper: “1 kbytes”"),
        Assumption(
            "TFRC",
            "ns-2's, with one heavy round, and loss after one later packet; for A16 that of RFC 5348, with and "
            "without notice of the handover",
            "ns-2's defaults until 2007; the paper is of 2005. Only today's standard says what a reset would be of",
        ),
        Assumption(
            "What XCP's routers know of the link",
            "its rate, at once; for A20 also one second late, never, or measured",
            "the paper: “an XCP router needs to know the capacity of its outgoing links”",
        ),
        Assumption(
            "EWA",
            "as Kalampoukas, Varma and Ramakrishnan describe it, over TCP Reno; it forgets at a handover",
            "the paper could not simulate it; α, thresholds and periods are parameters of the queue `ewa`",
        ),
        Assumption(
            "Reservation schemes in the paper's setting",
            "a flow of 40 % of UMTS, which asks for that",
            "a greedy source has nothing to ask for",
        ),
        Assumption(
            "The crowd",
            "voice (AMR 12.2), video (65 kbit/s) and a third flow, all asking for service where there is any, among "
            "four greedy TCP flows; all as the standards have it; 20 seeds",
            "the paper has none; on an empty path a reservation does nothing",
        ),
        Assumption(
            "Time to adapt",
            "from the handover until the receive rate over the last max(5 R, 0.2 s) stays within 20 % of the new "
            "capacity for 10 R, with R the round trip of the empty new path. In the crowd: of what voice and video "
            "made, or a frame more or less. For A6 the window is taken off",
            "the paper gives no measure; a sender that adapts at once would read 4 to 5 R",
        ),
        Assumption(
            "Media friendliness",
            "median jitter over median interval, and P99 of the ratio of consecutive intervals, on each link; "
            "jitter is the difference of consecutive intervals. In the crowd intervals are between frames, the "
            "source's own taken off",
            "the paper's definition of jitter, and its “consecutive interval values may vary in a range of 5”; it "
            "gives no measure for its grades",
        ),
        Assumption(
            "Grades",
            "thresholds on the measures, fixed before the first run; the grade is the worse of both links, or of "
            "both handovers, and that of the median run",
            "the paper's grades are judgements",
        ),
        Assumption(
            "Scalability",
            "four steps, one off if hosts need more than TCP or UDP, if the router at the bottleneck changes, if "
            "others do, and if routers keep state for each flow; read off the values that parts show in a run",
            "the paper: “the cost of deploying the new solution at a large scale”",
        ),
    ],
    scenario=text,
    runs=runs,
    perform=perform,
)
