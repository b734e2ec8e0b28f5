"""The scenarios, and what a reading changes of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words

from .readings import Taken

#: When the mobile moves to UMTS, and back to WLAN, in seconds; and the end of the run.
HANDOVERS = (10.0, 20.0)
END = 30.0

#: The seed of the start times and of the runs.
SEED = 1


#: A scenario file: the paper's (`scenario`), or that with voice and video in a crowd (`crowd`).
text = partial(words.scenario, __name__)


@cache
def base(name: str = "scenario") -> Scenario:
    """The scenario of a file."""
    return load(text(name))


def changes(taken: Taken) -> dict[str, Any]:
    """What they change in either file."""
    # A millisecond of the way is the wire's.
    wlan, umts = (f"{delay - 1} ms" for delay in taken.delays_ms)
    made: dict[str, Any] = {"profile": taken.profile, "link.radio.delay": wlan}
    for i, delay in enumerate((umts, wlan)):
        made[f"change.{i}.delay"] = delay
        made[f"change.{i}.in_flight"] = taken.in_flight
        made[f"change.{i}.queue"] = taken.queue
    return made


def start_times(n: int) -> Sequence[float]:
    """Start times in [0, 1) s, one drawn from each of ``n`` equal parts."""
    draw = random.Random(SEED)
    return [(i + draw.random()) / n for i in range(n)]
