"""What the bit costs a terminal, and how many terminals report (§4.1, §6)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Claim, Null
from lasthop.studies.conditions import Judgement, judged, within
from lasthop.studies.umts_multicast.data import REPORTS, Data, asking
from lasthop.studies.umts_multicast.network import SCHEMES
from lasthop.studies.umts_multicast.temporary import LEGACY, MODIFIED

__all__ = ["CLAIMS", "GROUPS"]

#: Reports in a round of so many equal receivers beside the CLR, within 15 %.
GROUPS = {1: 1.0, 10: 4.2, 100: 4.8}
WITHIN = 0.15

COUNTERS = {
    "additions_in": "additions",
    "multiplications_in": "multiplications",
    "comparisons_in": "comparisons",
    "state_bytes": "B of state",
}

#: What the bit may cost more: a comparison for each packet, and a byte.
MOST = {"additions_in": 1e-9, "multiplications_in": 1e-9, "comparisons_in": 1.0 + 1e-9, "state_bytes": 1.0}

#: The group in which operations are compared. TFMCC's memory of the receive rate grows with the rate, so all losses are
#: before the tree.
COUNTED = 11


def _cheap(data: Data) -> Judgement:
    grid = data.grid(REPORTS)
    found, said, values = [], [], {}
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        each = []
        for counter, word in COUNTERS.items():
            mine, other = (grid.at(counter, scheme=scheme, ues=COUNTED) for scheme in (modified, legacy))
            if np.isnan(mine).all():
                continue
            values[f"{SCHEMES[modified]}_{counter}"] = estimate(mine)
            each.append(f"{number(float(np.nanmean(mine)))} ({number(float(np.nanmean(other)))}) {word}")
            more = estimate(mine - other)
            found.append(within(f"{SCHEMES[modified]}, {word} more than legacy", more, -math.inf, MOST[counter]))
        said.append(f"{SCHEMES[modified]} (legacy): {', '.join(each)}")
    for others, reports in GROUPS.items():
        one = data.estimate(REPORTS, "reports_per_round", scheme="mod_tfmcc", ues=others + 1)
        found.append(within(f"reports in a round of {others}", one, (1 - WITHIN) * reports, (1 + WITHIN) * reports))
        said.append(f"{one} reports in a round of {others}")
    return judged("; ".join(said), *found, **values)


def _everybody(data: Data) -> Data:
    """No suppression: each of the equal receivers reports in each round."""
    grid = data.grid(REPORTS)
    reports = np.zeros_like(grid.values["reports_per_round"])
    for place, ues in enumerate(grid.axes["ues"]):
        reports[:, place] = ues - 1
    return data.with_grids({REPORTS: replace(grid, values={**grid.values, "reports_per_round": reports})})


CLAIMS: list[Claim[Data]] = [
    Claim(
        id="M22",
        section="6",
        sentence="The proposed schemes respect the limited computing power of the UEs and no demanding operations are "
        "introduced in those network nodes. … Furthermore, it has to be mentioned that an additional benefit of the "
        "legacy schemes that is also preserved is scalability.",
        statement="The modification costs a terminal little, and the schemes stay scalable.",
        paper="no demanding operations",
        measure="operations of a receiver for a packet and bytes of state, modified less legacy, with the same losses; "
        "reports in a round of TFMCC",
        band="at most one comparison for each packet and one byte of state more than legacy, no addition and no "
        "multiplication; 1, 4.2 and 4.8 reports in a round of 1, 10 and 100 equal receivers beside the CLR, ± 15 %",
        why="to look at a bit is a comparison; the reports are those of RFC 4654's timers, computed apart; the paper "
        "counts nothing",
        judge=asking(_cheap),
        null=Null("no suppression: each receiver reports in each round, as many as there are", _everybody),
        see="table-cost",
    ),
]
