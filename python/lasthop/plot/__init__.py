"""Pictures in the project's look: of runs over time, of sweeps over what was varied, of TCP connections.

Figures can be put into a paper as they are: 88 or 180 mm wide, 8-point text, no title inside,
axes with quantity and unit. A protocol keeps its colour everywhere; line styles say it again.
"""

from lasthop.plot.base import (
    GREY,
    MARKERS,
    ONE_COLUMN,
    PROTOCOLS,
    STANDARD,
    TWO_COLUMNS,
    figure,
    in_look,
    label_lines,
    look,
    queue,
    recording,
    rtt,
    save,
    standard,
    throughput,
    unlike,
    window,
)
from lasthop.plot.connections import analyzed, goodput, outstanding, rtts, time_sequence
from lasthop.plot.sweeps import across, swept

__all__ = [
    "GREY",
    "MARKERS",
    "ONE_COLUMN",
    "PROTOCOLS",
    "STANDARD",
    "TWO_COLUMNS",
    "across",
    "analyzed",
    "figure",
    "goodput",
    "in_look",
    "label_lines",
    "look",
    "outstanding",
    "queue",
    "recording",
    "rtt",
    "rtts",
    "save",
    "standard",
    "swept",
    "throughput",
    "time_sequence",
    "unlike",
    "window",
]
