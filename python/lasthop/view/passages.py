"""How long links take for a packet: their delays and rates as they were sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from lasthop.results import Table

    Array = np.ndarray[Any, Any]

__all__ = ["Passage", "passages"]


@dataclass(frozen=True, eq=False)
class Passage:
    """A direction of a link: its delay, in s, and its rate, in bit/s, at the times of the samples."""

    time: Array
    delay: Array
    rate: Array

    def took(self, came: Array, size: Array) -> Array:
        """How long packets of ``size`` bytes that came then were sent and flew, from the samples before they began."""
        import numpy as np

        took = np.zeros_like(came)
        for _ in range(2):
            # At first as if they had begun when they came.
            sample = np.maximum(np.searchsorted(self.time, came - took, side="right") - 1, 0)
            rate = self.rate[sample]
            # While a link is down its rate is 0.
            took = self.delay[sample] + np.where(rate > 0, 8 * size / np.where(rate > 0, rate, 1.0), 0.0)
        return took


def passages(series: Table, hops: Sequence[tuple[str, str]]) -> dict[int, Passage]:
    """Those of the hops, by their places, that are one link; hops over parallel links or a radio are left out."""
    import numpy as np

    delays, rates = (series.where(kind="link", quantity=quantity) for quantity in ("delay_s", "rate_bps"))
    links = {*delays["name"].tolist()}
    found = {}
    for hop, (one, other) in enumerate(hops):
        between = [link for link in links if link.endswith(f" {one}>{other}")]
        if len(between) == 1:
            delay, rate = (table.where(name=between[0]) for table in (delays, rates))
            if np.array_equal(delay["time_s"], rate["time_s"]):
                found[hop] = Passage(delay["time_s"], delay["value"], rate["value"])
    return found
