"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from .judges import CLAIMS
from .readings import QUESTIONS

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of crossed readings and of the pictures of single runs."""
    from . import experiments

    return experiments.runs(mode)


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.crossing import explore
    from lasthop.studies.readings import AS_TAKEN
    from . import experiments
    from . import figures
    from . import single_runs
    from . import tables

    wanted = experiments.plan(bench.mode)
    explorer = experiments.Explorer(bench, wanted)
    explored = explore(QUESTIONS, CLAIMS, explorer.measure, cross=bench.mode == "full")
    single = single_runs.pictures(single_runs.watch(bench))
    data = explored.measured[AS_TAKEN]
    return Campaign(
        explored=explored,
        pictures=[single[0], *figures.pictures(data, explored.measured), *single[1:]],
        tables=tables.tables(explored.measured, explorer.numbers),
        facts={
            "profile": "ns2 for TCP (NewReno, minimum timeout 0.2 s); of TFMCC and PGMCC all profiles are the same",
            "seeds": f"{wanted.default}; with one answer otherwise {wanted.single}; with two {wanted.crossed}",
            "processor time": records.costs_said(explorer.numbers),
        },
    )


def _text() -> str:
    from .scenario import example

    return example()


STUDY = Study(
    name="umts-multicast",
    title="Multicast congestion control over UMTS and its radio losses",
    source="A. Alexiou, C. Bouras, A. Papazois: A study of multicast congestion control for UMTS, International "
    "Journal of Communication Systems 22 (2009)",
    seed_document="000_207f3ec0e8640f96.txt",
    question="TFMCC and PGMCC take losses of the radio for congestion, and a group slows down to its worst radio. Does "
    "one bit, by which the Node B says what it never had or had to reject, keep their rate up where the radio is bad "
    "for a while, and still bring it down where it is bad for good?",
    setting=lambda mode: f"500 terminals of 80 Node Bs, 10 groups, 50 TCP flows; 22 claims · {mode}",
    claims=CLAIMS,
    questions=QUESTIONS,
    assumptions=[
        Assumption(
            "Losses of the radio in what receivers measure",
            "they stay in the lengths of TFMCC's loss intervals; to PGMCC's filter and bitmap they are received "
            "packets",
            "formats do not change, and three missing bits would halve PGMCC's window",
        ),
        Assumption(
            "Links",
            "servers 10 Mbit/s, 35 ms; to the GGSN 622 Mbit/s, 15 ms; Gn 622 Mbit/s, 10 ms; Iu 0.4 ms; Iub 15 ms",
            "EURANE's examples, but for the link to the GGSN: their 10 Mbit/s serve one server, and fifty TCP flows "
            "would make it the bottleneck of every experiment",
        ),
        Assumption(
            "Packets", "1000 B on the wire for every protocol", "rates are compared on the wire, headers included"
        ),
        Assumption(
            "Where the background is",
            "in 5.1 and 5.3: the groups that are not observed have ten terminals each, TCP one each, behind SGSNs 1 "
            "and 2",
            "UE_x is then the only one behind its Iu. 5.2 and 5.4, which are sampled every tenth of a second, go "
            "without it",
        ),
        Assumption(
            "Bottleneck of 5.1",
            "600 kbit/s with a queue of 30 packets",
            "the paper gives none; less than two bearers' rate",
        ),
        Assumption(
            "Stages of 5.2",
            "1, 5, 2.5 % for 50 s each, on an Iu of 10 Mbit/s; then with 1 % a delay of 0, 50, 100 ms more; bearers of "
            "2 Mbit/s",
            "the paper gives 150 s and three rates; wired losses must decide, not the bearer",
        ),
        Assumption(
            "Throughput of 5.3",
            "the mean of what the members receive; that of TCP, of ten flows to the first ten of them, as many as the "
            "group has",
            "the worst member alone would say nothing of the others",
        ),
        Assumption(
            "Permanent degradation",
            "the group is UE_x alone, or ten of which three are degraded",
            "“the radio link connecting the UEx with the Node By”; “In case multiple radio channels are degraded”",
        ),
        Assumption(
            "Adaptation",
            "until what the server sends in a second stays within 20 % of the mean of the stage's second half for 1 s",
            "§5.2 speaks of the sending rate; what a degraded terminal receives falls at once, whatever the sender "
            "does",
        ),
    ],
    scenario=_text,
    runs=runs,
    perform=perform,
)
