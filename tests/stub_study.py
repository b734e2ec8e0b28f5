"""A study of four short runs, with a grid, a figure and a table, in place of a long one."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from lasthop import plot, studies
from lasthop.results import Table
from lasthop.scenario import load
from lasthop.studies.crossing import Explored
from lasthop.studies.grid import Grid
from lasthop.studies.readings import as_taken

SCENARIO = """
duration = "1 s"

[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "1 Mbit/s"
delay = "20 ms"
loss.bernoulli.p = 0.02

[[flow]]
from = "server"
to = "mobile"
"""

RATES = (1, 2)


def perform(bench):
    """The numbers of both rates."""
    link = load(SCENARIO)
    grid = Grid(
        "rates",
        {"rate": RATES},
        (1, 2),
        lambda point: link.with_({"link.radio.rate": f"{point['rate']} Mbit/s"}),
        lambda result: {"bytes": float(result.flows["received_bytes"][0])},
    )
    numbers = bench.grids([grid])["rates"]
    received = Table(
        pa.table({"rate": RATES, "bytes": [float(numbers.at("bytes", rate=rate).mean()) for rate in RATES]})
    )
    drawn, axes = plot.figure()
    axes.plot(received["rate"], received["bytes"])
    reading = as_taken()
    return studies.Campaign(
        Explored([reading], {reading.name: numbers}),
        [studies.Picture("figure-1", "Bytes over the rate.", "A line.", drawn, received)],
        {"table-1": ("Bytes by rate.", received)},
        {},
    )


STUDY = studies.Study(
    name="stub",
    title="a stub",
    source="none",
    seed_document="none",
    question="Does it go on?",
    setting=lambda mode: mode,
    claims=[],
    questions=[],
    assumptions=[],
    scenario=lambda: SCENARIO,
    runs=lambda _: 2 * len(RATES),
    perform=perform,
)


def install() -> None:
    """Makes it one of the studies, in this process, which has drawn before: fonts take a second to find."""
    plot.style.FORMATS = ("svg",)
    with TemporaryDirectory() as folder:
        plot.save(plot.figure()[0], Path(folder) / "first")
    studies.STUDIES = (*studies.STUDIES, "stub")
    known = studies.study
    studies.study = lambda name: STUDY if name == "stub" else known(name)
