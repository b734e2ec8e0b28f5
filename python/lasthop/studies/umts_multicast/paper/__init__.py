"""What the paper prints: its ratios, its Table II, its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..scenario import SIZES

#: Table II: throughput over TCP's by size of the group.
TABLE_II: Mapping[str, Sequence[float]] = {
    "mod_tfmcc": (1.14, 1.08, 1.10, 1.07, 1.12, 1.08, 1.05, 1.06, 1.07, 1.05),
    "mod_pgmcc": (1.02, 1.05, 1.03, 1.00, 1.04, 1.01, 1.04, 1.03, 1.01, 1.00),
    "leg_tfmcc": (0.96, 0.70, 0.585, 0.587, 0.562, 0.502, 0.484, 0.462, 0.456, 0.452),
    "leg_pgmcc": (0.94, 0.76, 0.705, 0.637, 0.63, 0.602, 0.557, 0.538, 0.528, 0.522),
}

#: §5.1: TFMCC1 over TFMCC2; TFMCC and PGMCC over TCP.
RATIOS = {"pair": 0.986, "tfmcc": 0.89, "pgmcc": 0.94}

#: §5.2: times of adaptation, from and to.
ADAPTATION_S = {"tcp": (1.0, 1.5), "pgmcc": (1.2, 2.0), "tfmcc": (1.5, 2.5)}

#: §5.4: the same; of TCP it is less than this.
PERMANENT_S = {"tfmcc": 6.0, "pgmcc": 5.0, "tcp": 2.0}

assert all(len(row) == len(SIZES) for row in TABLE_II.values())
