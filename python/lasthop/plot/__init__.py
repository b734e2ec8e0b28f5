"""Pictures in the project's look: of runs over time, of sweeps over what was varied, of TCP connections.

Figures can be put into a paper as they are: 88 or 180 mm wide, 8-point text, no title inside,
axes with quantity and unit. A protocol keeps its colour everywhere; line styles say it again.
"""

from lasthop.plot.connections import analyzed, goodput, outstanding, rtts, time_sequence
from lasthop.plot.over_time import (
    in_order,
    over_time,
    pictures,
    queue,
    recording,
    rtt,
    standard,
    throughput,
    window,
)
from lasthop.plot.style import (
    GREY,
    MARKERS,
    ONE_COLUMN,
    PROTOCOLS,
    TWO_COLUMNS,
    figure,
    in_look,
    label_lines,
    look,
    name_lines,
    save,
    unlike,
)
from lasthop.plot.sweeps import across, sweep_pictures, swept

__all__ = [
    "GREY",
    "MARKERS",
    "ONE_COLUMN",
    "PROTOCOLS",
    "TWO_COLUMNS",
    "across",
    "analyzed",
    "figure",
    "goodput",
    "in_look",
    "in_order",
    "label_lines",
    "look",
    "name_lines",
    "outstanding",
    "over_time",
    "pictures",
    "queue",
    "recording",
    "rtt",
    "rtts",
    "save",
    "standard",
    "sweep_pictures",
    "swept",
    "throughput",
    "time_sequence",
    "unlike",
    "window",
]
