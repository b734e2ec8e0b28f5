"""The scenario of a point: what of `scenario.toml` varies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words
from lasthop.studies.grid import Point

#: One-way delays of the path in milliseconds.
DELAYS_MS = (20, 40, 80, 160)

text = partial(words.scenario, __name__)


def scenario(point: Point, *, changes: Mapping[str, Any], seconds: float) -> Scenario:
    """The file over the path with the point's `delay_ms`, and a reading's changes."""
    path = {"link.path.delay": f"{point['delay_ms']} ms", "duration": f"{seconds:g} s"}
    return load(text()).with_({**path, **changes})
