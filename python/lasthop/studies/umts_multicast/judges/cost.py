"""What the bit costs a terminal, and how many terminals report (§4.1, §6)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, judged, within

from ..data import REPORTS, Data, asking
from ..network import LEGACY, MODIFIED, SCHEMES

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


JUDGES: Judges[Data] = {
    "M22": Judge(asking(_cheap), null=_everybody),
}
