"""The scenario of a point: what of `scenario.toml` varies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words
from lasthop.studies.grid import Point

#: The loss rates; the payload of a packet in bits; the round-trip time in seconds.
LOSS_RATES = (0.001, 0.003, 0.01)
SEGMENT_BITS, RTT_S = 8000, 0.1

text = partial(words.scenario, __name__)


def scenario(point: Point, *, changes: Mapping[str, Any], seconds: float) -> Scenario:
    """The file over the path with the point's `loss` rate, and a reading's changes."""
    lossy = {"link.path.loss.bernoulli.p": point["loss"], "duration": f"{seconds:g} s"}
    return load(text()).with_({**lossy, **changes})
