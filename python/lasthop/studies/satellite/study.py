"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.satellite.judgements import CLAIMS
from lasthop.studies.satellite.network import text
from lasthop.studies.satellite.readings import DEFAULT, READINGS

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

__all__ = ["STUDY"]


def runs(mode: str) -> int:
    """How many runs a mode takes, but for those of the pictures of single runs."""
    from lasthop.studies.satellite.campaign import grids, plan

    return sum(grid.runs for grid in grids(plan(mode)))


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import records
    from lasthop.studies.grid import by_reading
    from lasthop.studies.satellite import figures, seen, tables
    from lasthop.studies.satellite.campaign import grids, plan
    from lasthop.studies.satellite.data import Data

    wanted = plan(bench.mode)
    numbers = bench.grids(grids(wanted))
    measured = {reading: Data(reading, mine) for reading, mine in by_reading(numbers).items()}
    patterns, trend, *sky = seen.pictures(seen.watch(bench))
    drawn = figures.pictures(measured[DEFAULT.name])
    # As they are numbered in the paper: its tenth figure is RLM's second one.
    of_paper = [one for one in drawn if one.id.removeprefix("figure-").isdigit()]
    beyond = [one for one in drawn if one not in of_paper]
    return Campaign(
        variants=measured,
        default=DEFAULT.name,
        pictures=[patterns, *of_paper, trend, *sky, *beyond],
        tables=tables.tables(measured, numbers),
        facts={
            "profile": "ns2 for TCP (NewReno, minimum timeout 1 s); rfc for RLM, as McCanne describes it",
            "readings": "; ".join(f"{one.name}: {one.about}" for one in READINGS if one.name in measured),
            "seeds": f"{wanted.seeds} for the scenarios, RLM and the adaptations, {wanted.seeds_more} for the other "
            f"experiments, "
            f"{wanted.seeds_readings} for each further reading. A seed decides when terminals and satellites look "
            f"for one another",
            "processor time": records.costs_said(numbers),
        },
        across=list(measured),
        across_what="reading",
    )


STUDY = Study(
    name="satellite",
    title="Layered multicast over low-orbit satellites",
    source="J. Peng, B. Sikdar: Multi-layer multicast congestion control in satellite environments, "
    "Rensselaer Polytechnic Institute (2003)",
    seed_document="002_bf07ac353f159157.txt",
    question="Receivers that drop layers when packets are lost react late and to the wrong losses where links are "
    "long and in error. If the router in front of a satellite's link blocks and releases layers by the length of its "
    "queue, do sessions and TCP share it evenly, and does neither error, delay nor a greedy receiver matter?",
    setting=lambda mode: f"2 sessions of 15 layers, 3 TCP flows, 66 satellites, 1500 s; 24 claims · {mode}",
    claims=CLAIMS,
    assumptions=[
        Assumption(
            "Rates of the scheme",
            "packets sent in the last 2 s; a layer open for less counts as the mean of its session's older ones",
            "they have to cover TCP's ups and downs, 2 to 3 s here; so a change shows at once, and the scheme does "
            "not make it again and again",
            "varied: 0.5 s, 5 s; plain counts with a rest of 2 s after each change",
        ),
        Assumption(
            "Releases in phase 2",
            "none within 2 s of the last change",
            "as Algorithm 1 is printed, a layer would be released at every look, fifty a second",
            "varied: as printed; not for T_observe",
        ),
        Assumption(
            "A layer that comes for the first time",
            "may pass until a layer of its session has been blocked, then waits",
            "the paper needs free growth at the start and a waiting empty layer afterwards",
        ),
        Assumption(
            "T_observe",
            "begins anew at 1 s when sessions come or go, when the link changes, and after 60 s without a block; at "
            "most 60 s",
            "if it never did, the fourteenth release would come after ten minutes",
        ),
        Assumption(
            "Phase 1",
            "the queue is empty at each look (F_QuThresh1 = 0)",
            "Table I",
            "varied: three looks may find a packet or two",
        ),
        Assumption(
            "Receivers",
            "add a layer 2 s after the one before; a layer is empty after 1 s without a packet; they look four "
            "times a second",
            "the paper has no times; six packets of a layer come in a second",
        ),
        Assumption(
            "Bottleneck",
            "1.5 Mbit/s, 50 packets",
            "ns-2's Iridium example, which the paper names; it gives its 60, 45 and both its 40 and 35 kB/s",
        ),
        Assumption("Places", "Berkeley and Boston", "ns-2's example"),
        Assumption("Links between satellites", "25 Mbit/s, 50 packets", "ns-2's example"),
        Assumption(
            "Packets",
            "1000 B on the wire for all; a layer sends one in 160 ms, gaps vary by a half, layers begin one after "
            "the other",
            "the paper assumes equal sizes; ns-2's sources of RLM have such gaps, and both schemes are to have the "
            "same sources. With equal gaps sessions meet a full queue in the same order each time (phase effects; "
            "Floyd and Jacobson 1991), and the second one of two has 1.3 layers less",
            "varied: equal gaps; layers at once",
        ),
        Assumption(
            "TCP",
            "NewReno of profile ns2, minimum timeout 1 s, window of 1000 packets",
            "ns-2 of 2003; a window of 20, its default, would hold TCP back",
            "varied: 0.2 s; a window of 20; profile rfc",
        ),
        Assumption(
            "RLM",
            "as McCanne, Jacobson and Vetterli describe it, with ns-2's constants",
            "ns-2's code cannot join again once it dropped its last layer, and tries no more once it had all",
            "with ns-2's defects: table-rlm",
        ),
        Assumption(
            "Trees",
            "joins and leaves go hop by hop in messages of 40 B; a router goes on with a layer for 2 s after it was "
            "left",
            "IGMPv2's two queries a second apart",
            "varied: 0 and 9 s",
        ),
        Assumption(
            "Layers of a session",
            "its rate on the wire over 50 kbit/s; receivers' own count, where said so, has the empty layer in it",
            "the paper's figures do not say which is drawn",
        ),
        Assumption(
            "Round-trip time of 200 ms",
            "55 ms more on the wire, each way",
            "the way over the satellites takes 40 ms one way at the median",
        ),
        Assumption(
            "The tree",
            "up-links of 10 Mbit/s, down-links of 1.5 Mbit/s to Boston and Tokyo with a controller in each satellite, "
            "a wire of 1 Mbit/s; 3, 1 and 2 TCP flows; four receivers of each session behind each",
            "the paper claims it for any tree and draws a line; bottlenecks differ so that each has another share",
        ),
    ],
    scenario=text,
    runs=runs,
    perform=perform,
)
