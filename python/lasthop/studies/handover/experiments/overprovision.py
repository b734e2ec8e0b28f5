"""Over-provisioning: by what factor must a best-effort link grow to meet the delay bound of a reservation?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from lasthop.scenario import Scenario

from ..network import ASKS, crowd
from ..readings import SLOW, Taken

#: The bisection ends when the two factors are this near.
PRECISION = 1.03

#: The largest factor that is tried.
MOST = 128.0

#: Frames made from here on count; the TCP flows have filled the queue by then.
SETTLED, LENGTH = 4.0, 12.0


@dataclass(frozen=True)
class Growth:
    """What the search found."""

    #: The bound of voice's one-way delay in seconds, on UMTS with a reservation.
    bound_s: float
    #: The smallest factor found with which no frame takes longer.
    factor: float
    #: The factors tried, with the longest delay of a frame at each.
    tried: Sequence[tuple[float, float]]


def delay_bound_s(taken: Taken) -> float:
    """RFC 2212 §2.2: one-way delay of voice on UMTS at most, for a peak rate without limit.

    (b − M)/R + (M + C_tot)/R + D_tot, and the empty path. Each of the two hops with weighted fair
    queueing adds M to C_tot and the longest packet's transmission to D_tot.
    """
    rate, bucket, packet = ASKS["voice"]
    bytes_per_s, b, m = float(rate.split()[0]) * 125, float(bucket.split()[0]), float(packet.split()[0])
    longest = 1 / SLOW + 8000 / 100e6
    empty = taken.delays_ms[1] / 1e3 + m / (SLOW * 1000) + m * 8 / 100e6
    return (b - m) / bytes_per_s + (m + 2 * m) / bytes_per_s + longest + empty


def still(taken: Taken, start_s: float, factor: float) -> Scenario:
    """The crowd without service on a UMTS link that is ``factor`` times as fast, without handovers."""
    one = crowd(taken, "none", start_s)
    rate = f"{round(384e3 * factor)} bit/s"
    faster = {"link.radio.rate": rate, "link.radio.delay": f"{taken.delays_ms[1] - 1} ms"}
    if 384e3 * factor > 100e6 / 2:
        faster["link.wire.rate"] = f"{round(384e3 * factor * 2)} bit/s"
    return one.with_({**faster, "change": [], "duration": f"{LENGTH} s", "record.state": False})


def search(bound_s: float, longest: Callable[[float], float]) -> Growth:
    """Bisects for the factor at which the longest delay of a frame falls to the bound."""
    tried: list[tuple[float, float]] = []

    def meets(factor: float) -> bool:
        tried.append((factor, longest(factor)))
        return tried[-1][1] <= bound_s

    low, high = 1.0, 2.0
    if meets(low):
        return Growth(bound_s, low, tried)
    while not meets(high):
        low, high = high, 2 * high
        if high > MOST:
            return Growth(bound_s, float("inf"), tried)
    while high / low > PRECISION:
        middle = sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return Growth(bound_s, high, tried)
