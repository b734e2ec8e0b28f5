"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.hsdpa.judgements import CLAIMS
from lasthop.studies.hsdpa.scenario import ASSUMED, DEFAULT, text

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of the pictures of the cell."""
    from lasthop.studies.hsdpa.campaign import grids, plan

    return sum(grid.runs for grid in grids(plan(mode)))


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.grid import by_reading
    from lasthop.studies.hsdpa import cell, figures, tables
    from lasthop.studies.hsdpa.campaign import grids, plan
    from lasthop.studies.hsdpa.data import Data

    wanted = plan(bench.mode)
    numbers = bench.grids(grids(wanted))
    measured = {reading: Data(reading, mine) for reading, mine in by_reading(numbers).items()}
    seen = cell.watch(bench)
    return Campaign(
        variants=measured,
        default=DEFAULT.name,
        pictures=[*figures.pictures(measured[DEFAULT.name]), *cell.pictures(seen)],
        tables=tables.tables(measured, numbers),
        facts={
            "profile": "ns2 for TCP, rfc for TFRC (RFC 3448); with profile rfc for TCP too, as one of the assumptions",
            "assumptions": "; ".join(f"{one.name}: {one.about}" for one in ASSUMED if one.name in measured),
            "seeds": f"{wanted.seeds}; {wanted.seeds_assumed} where an assumption is varied",
            "processor time": records.costs_said(numbers),
        },
        across=list(measured),
        across_what="assumption",
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
    assumptions=[
        Assumption(
            "Profile", "TCP of profile ns2; TFRC by RFC 3448; the radio has one profile", "the paper used "
            "ns-2.27's TCP, which takes data on the SYN, an initial window of 2 and a minimum RTO of 1 s, and changed "
            "TFRC to follow RFC 3448",
            "TCP of profile rfc is one of the readings",
        ),
        Assumption(
            "Serving cell", "the one with the strongest signal", "mobiles choose cells so", "varied: the "
            "hexagon in which it stands",
        ),
        Assumption(
            "Shadowing toward several sites", "correlated by 0.5", "3GPP's usual assumption", "varied: independent",
        ),
        Assumption(
            "Other power of a cell", "1 W beside the 10 W of the shared channel", "above 1.95 W the fourth rate "
            "of Table II could "
            "never occur", "varied: 0 W, 1.9 W",
        ),
        Assumption(
            "Neighbour cells", "interfere always", "\"limited by distance\" is all that the paper says",
            "varied: in the slots in which they send; all seven cells have mobiles, traffic and schedulers",
        ),
        Assumption(
            "Codes of a slot", "by need, in the scheduler's order, for at most 3 users", "Table I: \"max 3 users\"",
            "varied: in equal parts; one user",
        ),
        Assumption(
            "Cells", "hexagons with corners at 500 m, without wrap-around", "\"500 m radius\"",
        ),
        Assumption(
            "Lost blocks", "sent again in the next slot, with the same codes and rate, before all others, until "
            "they come", "Table I: "
            "\"no ARQ, immediately retransmitted\"",
        ),
        Assumption(
            "Sizes of files", "3 to 1023 segments", "equation 3 as printed ends at 740 950 B, the text has 1 483 350 B",
        ),
        Assumption(
            "Pause", "0.5 s and an exponential time of mean 1.5 s", "mean and minimum as stated",
        ),
        Assumption(
            "First file", "within 2 s of the start, at a uniformly distributed time", "the paper draws starting "
            "times, and does not say how",
        ),
        Assumption(
            "Receiver's window", "1000 packets", "not limiting; 90 packets wait at the base station and some 90 "
            "are under way",
        ),
        Assumption(
            "End of a transfer with TFRC", "its last packet, received or lost", "TFRC sends nothing again",
        ),
        Assumption(
            "Transfers counted", "begun after the first 5 s, of mobiles served by the centre cell; rates are of "
            "those that ended",
            "the paper leaves out the first 5 s of data",
        ),
        Assumption(
            "Loss rate of a transfer", "its packets that were dropped, of those sent", "ground truth",
        ),
        Assumption(
            "Congestion events of Fig. 2", "TCP's fast retransmits; TFRC's loss events", "\"detected through "
            "later packets\"",
        ),
    ],
    scenario=text,
    runs=runs,
    perform=perform,
)  # fmt: skip
