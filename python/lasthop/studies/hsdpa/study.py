"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.hsdpa.judgements import CLAIMS
from lasthop.studies.hsdpa.readings import QUESTIONS
from lasthop.studies.hsdpa.scenario import text
from lasthop.studies.readings import AS_TAKEN, as_taken, singles

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for crossed readings and those of the pictures of the cell."""
    from lasthop.studies.hsdpa.campaign import beyond, parts, plan

    wanted = plan(mode)
    readings = [as_taken(), *singles(QUESTIONS)]
    return sum(grid.runs for grid in [*parts(readings, wanted), *beyond(wanted)])


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.crossing import explore
    from lasthop.studies.hsdpa import cell, figures, tables
    from lasthop.studies.hsdpa.campaign import Campaigner, plan

    wanted = plan(bench.mode)
    campaigner = Campaigner(bench, wanted)
    explored = explore(QUESTIONS, CLAIMS, campaigner.measure, cross=bench.mode == "full")
    alone = [reading.name for reading in explored.readings if len(reading.chosen) < 2]
    seen = cell.watch(bench)
    return Campaign(
        explored=explored,
        pictures=[*figures.pictures(explored.measured[AS_TAKEN]), *cell.pictures(seen)],
        tables=tables.tables(explored.measured, campaigner.numbers, alone),
        facts={
            "profile": "ns2 for TCP, rfc for TFRC; others as readings",
            "seeds": f"{wanted.seeds} of {wanted.duration:g} s; {wanted.seeds_single} where one question is answered "
            f"otherwise, "
            f"{wanted.seeds_crossed} where two are",
            "processor time": records.costs_said(campaigner.numbers),
        },
    )


STUDY = Study(
    name="hsdpa",
    title="Congestion control over HSDPA and its schedulers",
    source="S. Landström, L.-Å. Larzon, U. Bodin: Congestion Control in a High Speed Radio Environment, "
    "Luleå University of Technology, Uppsala University (2004)",
    seed_document="004_8c4f86ecade45938.txt",
    question="A cell gives its shared high-speed channel to one mobile after another every 2 ms, by turns (RR) "
    "or to the best one (SIR). What do TCP SACK and TFRC get out of either, and do the schedulers' delays disturb "
    "their timers?",
    setting=lambda mode: f"files to 50 or 65 mobiles in seven cells; TCP and TFRC, RR and SIR · {mode}",
    claims=CLAIMS,
    questions=QUESTIONS,
    assumptions=[
        Assumption("Cells", "hexagons with corners at 500 m, without wrap-around", "“500 m radius”"),
        Assumption(
            "Lost blocks",
            "sent again in the next slot, with the same codes and rate, before all others, until they come",
            "Table I: “No, immediately retransmitted”",
        ),
        Assumption(
            "Sizes of files",
            "3 to 1023 segments",
            "equation 3 as printed ends at 740 950 B, the text has 1 483 350 B",
        ),
        Assumption(
            "First file",
            "within 2 s of the start, at a uniformly distributed time",
            "the paper draws starting times, and does not say how",
        ),
        Assumption(
            "Receiver's window",
            "1000 packets",
            "not limiting; 90 packets wait at the base station and some 90 are under way",
        ),
        Assumption(
            "End of a transfer with TFRC",
            "its last packet, received or lost",
            "TFRC sends nothing again",
        ),
        Assumption(
            "Transfers counted",
            "begun after the first 5 s, of mobiles served by the centre cell; rates are of those that ended",
            "the paper leaves out the first 5 s of data",
        ),
        Assumption("Loss rate of a transfer", "its packets that were dropped, of those sent", "ground truth"),
        Assumption(
            "Congestion events of Fig. 2",
            "TCP's fast retransmits; TFRC's loss events",
            "“detected through later sent packets”",
        ),
    ],
    scenario=text,
    runs=runs,
    perform=perform,
)
