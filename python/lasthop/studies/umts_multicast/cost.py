"""What the bit costs a terminal, and how many terminals report (§4.1, §6)."""

from __future__ import annotations

import math

from lasthop.stats import number
from lasthop.studies.claims import Claim, Judgement, NotRun, verdict
from lasthop.studies.umts_multicast.data import REPORTS, Data, outside
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
MOST = {"comparisons_in": 1.0, "state_bytes": 1.0}


def _cheap(data: Data) -> Judgement:
    if REPORTS not in data.grids:
        raise NotRun("groups with equal losses were not run")
    wrong, said, values = [], [], {}
    # The memory of the receive rate grows with the rate, so schemes are compared where all losses are before the tree.
    ues = 11
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        each = []
        for counter, word in COUNTERS.items():
            mine, other = (data.estimate(REPORTS, counter, scheme=scheme, ues=ues) for scheme in (modified, legacy))
            if math.isnan(mine.mean):
                continue
            more = mine.mean - other.mean
            values[f"{SCHEMES[modified]}_{counter}"] = mine
            each.append(f"{number(mine.mean)} ({number(other.mean)}) {word}")
            if counter in MOST and more > MOST[counter] + 1e-9:
                wrong.append(f"{SCHEMES[modified]} needs {number(more)} {word} more")
        said.append(f"{SCHEMES[modified]} (legacy): {', '.join(each)}")
    for others, reports in GROUPS.items():
        one = data.estimate(REPORTS, "reports_per_round", scheme="mod_tfmcc", ues=others + 1)
        values[f"reports_{others}"] = one
        said.append(f"{one} reports in a round of {others}")
        wrong += outside(f"reports of {others}", one, (1 - WITHIN) * reports, (1 + WITHIN) * reports)
    return verdict(wrong, "; ".join(said), values)


CLAIMS: list[Claim[Data]] = [
    Claim(
        "M22",
        "4, 6",
        "The modification costs a terminal little, and the schemes stay scalable.",
        "no demanding operations",
        "at most one comparison for each packet and one byte of state more than legacy; 1, 4.2 and 4.8 reports in a "
        "round of 1, 10 and 100 equal receivers beside the CLR, ± 15 %",
        "RFC 4654's timers; the paper counts nothing",
        _cheap,
        see="table-cost",
    ),
]
