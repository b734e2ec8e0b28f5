"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.readings import AS_TAKEN
from lasthop.studies.satellite.campaign import runs
from lasthop.studies.satellite.judgements import CLAIMS
from lasthop.studies.satellite.network import text
from lasthop.studies.satellite.readings import QUESTIONS

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench
    from lasthop.studies.grid import Numbers
    from lasthop.studies.readings import Reading

__all__ = ["STUDY"]


def perform(bench: Bench) -> Campaign:
    """Makes the runs."""
    from lasthop.studies import crossing, records
    from lasthop.studies.satellite import figures, seen, tables
    from lasthop.studies.satellite.campaign import grids, plan, source, wanted
    from lasthop.studies.satellite.data import Data, first

    extent = plan(bench.mode)
    numbers: dict[str, Numbers] = {}

    def measure(readings: Sequence[Reading]) -> dict[str, Data]:
        missing = [grid for name, grid in grids(readings, extent).items() if name not in numbers]
        if any(len(reading.chosen) > 1 for reading in readings):
            bench.expect(sum(grid.runs for grid in missing))
        numbers.update(bench.grids(missing))
        made = {}
        for reading in readings:
            seeds = extent.seeds_others if reading.chosen else extent.seeds
            of = {part.name: f"{source(reading, part).name}: {part.name}" for part in wanted(reading, extent)}
            made[reading.name] = Data(reading.name, {part: first(numbers[name], seeds) for part, name in of.items()})
        return made

    explored = crossing.explore(QUESTIONS, CLAIMS, measure, cross=bench.mode == "full")
    default = explored.measured[AS_TAKEN]
    patterns, trend, *sky = seen.pictures(seen.watch(bench))
    drawn = figures.pictures(default)
    # As they are numbered in the paper: its tenth figure is RLM's second one.
    of_paper = [one for one in drawn if one.id.removeprefix("figure-").isdigit()]
    beyond = [one for one in drawn if one not in of_paper]
    return Campaign(
        explored=explored,
        pictures=[patterns, *of_paper, trend, *sky, *beyond],
        tables=tables.tables(default, numbers),
        facts={
            "profile": "ns2 for TCP and RLM",
            "seeds": f"{extent.seeds} of each run in the default reading, the first {extent.seeds_others} of them in "
            "others. A seed decides when terminals and satellites look for one another, and the gaps between "
            "packets of layers",
            "processor time": records.costs_said(numbers),
        },
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
    questions=QUESTIONS,
    assumptions=[
        Assumption(
            "A layer that comes for the first time",
            "may pass until a layer of its session has been blocked, then waits",
            "the paper needs free growth at the start and a waiting empty layer afterwards",
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
            "ns-2's Iridium example, which the paper names; it lies between the paper's 40 and its 35 kB/s for five "
            "sessions",
        ),
        Assumption("Places", "Berkeley and Boston", "ns-2's example"),
        Assumption("Links between satellites", "25 Mbit/s, 50 packets", "ns-2's example"),
        Assumption(
            "Packets",
            "1000 B on the wire for all; a layer sends one in 160 ms",
            "the paper assumes equal sizes",
        ),
        Assumption(
            "Trees",
            "joins and leaves go hop by hop in messages of 40 B; a router goes on with a layer for 2 s after it was "
            "left. Runs with 0 and 9 s are of L14",
            "IGMPv2's two queries a second apart",
        ),
        Assumption(
            "Layers of a session",
            "its rate on the wire over 50 kbit/s; receivers' own count, where said so, has the empty layer in it",
            "the paper's figures do not say which is drawn",
        ),
        Assumption(
            "What the paper does not simulate",
            "500 s each, from 100 s on; scenarios and RLM 1500 s as in the paper",
            "nothing starts or stops in these runs",
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
