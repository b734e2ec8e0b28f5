"""How the schemes look in the figures: a protocol keeps its colour, legacy schemes are dashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TFMCC, PGMCC, TCP, CBR = "#D55E00", "#56B4E9", "#0072B2", "#767676"

#: By scheme.
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "mod_tfmcc": {"color": TFMCC, "linestyle": "-", "marker": "o"},
    "mod_pgmcc": {"color": PGMCC, "linestyle": "-", "marker": "s"},
    "leg_tfmcc": {"color": TFMCC, "linestyle": "--", "marker": "o"},
    "leg_pgmcc": {"color": PGMCC, "linestyle": "--", "marker": "s"},
    "tcp": {"color": TCP, "linestyle": "-.", "marker": "^"},
    "cbr": {"color": CBR, "linestyle": ":", "marker": "v"},
}

#: By protocol.
PROTOCOLS = {"tfmcc": LOOKS["mod_tfmcc"], "pgmcc": LOOKS["mod_pgmcc"], "tcp": LOOKS["tcp"], "cbr": LOOKS["cbr"]}
