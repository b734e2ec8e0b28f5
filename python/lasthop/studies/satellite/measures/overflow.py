"""How long the queue stays in phase 3 once it has overflowed (L9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lasthop.studies.series import Series

from ..network import CONTROLLED, TCP
from . import SETTLED_S

if TYPE_CHECKING:
    from lasthop.results import Result


def stays(result: Result) -> Mapping[str, float]:
    """The median time in ms from the first drop of a stay in phase 3 to its end, and TCP's median round-trip time.

    The queue is looked at as often as the scheme looks.
    """
    times, phase = Series(result.series).of(CONTROLLED, "phase")
    packets = result.packets
    over = (packets["place"] == CONTROLLED) & (packets["cause"] == "overflow")
    drops = np.sort(packets["time_s"][over])
    left = times[phase != 3]
    # When each drop's stay ends; of those with the same end the first drop counts.
    ends = np.searchsorted(left, drops)
    known = (drops >= SETTLED_S) & (ends < len(left))
    _, firsts = np.unique(ends[known], return_index=True)
    lengths = left[ends[known][firsts]] - drops[known][firsts]
    tcp = np.char.startswith(result.flows["flow"].astype(str), TCP)
    return {
        "after_overflow_ms": 1e3 * float(np.median(lengths)) if len(lengths) else float("nan"),
        "overflows": float(len(lengths)),
        "tcp_rtt_ms": float(np.mean(result.flows["rtt_ms_p50"][tcp])),
    }
