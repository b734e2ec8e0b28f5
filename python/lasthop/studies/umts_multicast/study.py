"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.umts_multicast.judgements import CLAIMS
from lasthop.studies.umts_multicast.readings import DEFAULT, LONGER, READINGS

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of the pictures of single runs."""
    from lasthop.studies.umts_multicast.campaign import grids, plan

    return sum(grid.runs for grid in grids(plan(mode)))


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.grid import by_reading
    from lasthop.studies.umts_multicast import figures, seen, tables
    from lasthop.studies.umts_multicast.campaign import grids, plan
    from lasthop.studies.umts_multicast.data import Data

    wanted = plan(bench.mode)
    numbers = bench.grids(grids(wanted))
    measured = {reading: Data(reading, mine) for reading, mine in by_reading(numbers).items()}
    single = seen.pictures(seen.watch(bench))
    return Campaign(
        variants=measured,
        default=DEFAULT.name,
        pictures=[single[0], *figures.pictures(measured[DEFAULT.name], measured.get(LONGER)), *single[1:]],
        tables=tables.tables(measured, numbers),
        facts={
            "profile": "ns2 for TCP (NewReno, minimum timeout 0.2 s); of TFMCC and PGMCC all profiles are the same",
            "readings": "; ".join(f"{one.name}: {one.about}" for one in READINGS if one.name in measured),
            "seeds": f"{wanted.seeds} for 5.3, {wanted.seeds_fairness} for 5.1, {wanted.seeds_alone} for 5.2 and 5.4, "
            f"{wanted.seeds_readings} for each further reading",
            "processor time": records.costs_said(numbers),
        },
        across=list(measured),
        across_what="reading",
    )


def _text() -> str:
    from lasthop.studies.umts_multicast.experiments import example

    return example()


STUDY = Study(
    name="umts-multicast",
    title="Multicast congestion control over UMTS and its radio losses",
    source="A. Alexiou, C. Bouras, A. Papazois: A study of multicast congestion control for UMTS, "
    "International Journal of Communication Systems 22 (2009)",
    seed_document="000_207f3ec0e8640f96.txt",
    question="TFMCC and PGMCC take losses of the radio for congestion, and a group slows down to its worst radio. "
    "Does one bit, by which the Node B says what it never had or had to reject, keep their rate up where the radio is "
    "bad for a while, and still bring it down where it is bad for good?",
    setting=lambda mode: f"500 terminals of 80 Node Bs, 10 groups, 50 TCP flows; 22 claims · {mode}",
    claims=CLAIMS,
    assumptions=[
        Assumption(
            "Radio bearer",
            "one for each terminal and flow, at most two attempts for a packet (A = 2)",
            "the smallest model in which a bad radio both loses packets (5.3) and fills the Node B's buffer (5.4)",
            "varied: one attempt, a shared bearer, RLC UM, RLC AM",
        ),
        Assumption(
            "The bit",
            "set in the first packet that is admitted after a gap, and in copies that the Node B asked for (reading A)",
            "the paper's two sentences, as far as both can hold: a lost packet carries nothing",
            "varied: the bit changes with each gap (B); is set only in such copies (C); is set in two packets",
        ),
        Assumption(
            "Losses of the radio in what receivers measure",
            "they stay in the lengths of TFMCC's loss intervals; to PGMCC's filter and bitmap they are received "
            "packets",
            "formats do not change, and three missing bits would halve PGMCC's window",
        ),
        Assumption(
            "Requests of the Node B",
            "each rejected packet once, after 0.1 s, in modified networks",
            "§3.3 demands a request; unlimited ones would make the overflow worse",
            "varied: none",
        ),
        Assumption(
            "Links",
            "servers 10 Mbit/s, 35 ms; to the GGSN 622 Mbit/s, 15 ms; Gn 622 Mbit/s, 10 ms; Iu 0.4 ms; Iub 15 ms",
            "EURANE's examples, but for the link to the GGSN: their 10 Mbit/s serve one server, and fifty TCP flows "
            "would make it the bottleneck of every experiment",
        ),
        Assumption(
            "Bearers",
            "384 kbit/s down, 64 kbit/s up, 20 ms each; 50 packets at the Node B",
            "EURANE's fastest bearer; with less the radio would not be the bottleneck of 5.3",
            "varied: 192 kbit/s, 25 packets",
        ),
        Assumption(
            "Packets", "1000 B on the wire for every protocol", "rates are compared on the wire, headers included"
        ),
        Assumption(
            "TCP",
            "NewReno of profile ns2, minimum timeout 0.2 s, no window of the receiver in the way",
            "ns-2's, whose default window of 20 packets could not fill the path",
            "varied: SACK; 1 s; profile rfc",
        ),
        Assumption(
            "Background",
            "in 5.1 and 5.3 all 60 servers send: the groups that are not observed to ten terminals each, TCP to one "
            "each, behind SGSNs 1 and 2",
            "Table I is no decoration, and UE_x is the only one behind its Iu",
            "varied: the observed flows alone, as 5.2 and 5.4, which are sampled every tenth of a second",
        ),
        Assumption(
            "Bottleneck of 5.1",
            "600 kbit/s with a queue of 30 packets",
            "the paper gives none; less than two bearers' rate",
        ),
        Assumption(
            "Stages of 5.2",
            "1, 5, 2.5 % for 50 s each, on an Iu of 10 Mbit/s; then with 1 % a delay of 0, 50, 100 ms more; bearers "
            "of 2 Mbit/s",
            "the paper gives 150 s and three rates; wired losses must decide, not the bearer",
        ),
        Assumption(
            "Temporary degradation",
            "20 s without loss, then 20 s in which each terminal's share of lost packets is drawn anew every 5 s from "
            "0–5 %; packets are lost one by one",
            '"stable in a period of 20 s" contradicts "each 5 s"; the '
            "model that the paper cites has no parameters there",
            "varied: bursts",
        ),
        Assumption(
            "Throughput of 5.3",
            "the mean of what the members receive; that of TCP, of ten flows to the first ten of them, as many as the "
            "group has",
            "the worst member alone would say nothing of the others",
        ),
        Assumption(
            "Permanent degradation",
            "20 % stay lost after two attempts from 50 s on; the group is UE_x alone, or ten of which three are "
            "degraded",
            '"a loss rate of 20 %" is what reaches the terminal',
        ),
        Assumption(
            "Adaptation",
            "until what the server sends in a second stays within 20 % of the mean of the stage's second half for 1 s",
            "§5.2 speaks of the sending rate; what a degraded terminal receives falls at once, whatever the sender "
            "does",
            "what the terminal receives stands beside it",
        ),
    ],
    scenario=_text,
    runs=runs,
    perform=perform,
)
