"""What the sending end of a TCP connection sent and received, be it from a table of packets or from a capture.

Numbers count bytes as on the wire: the SYN is number 0, the first byte of payload is number 1, and a FIN takes
a number, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

__all__ = ["Segments", "Trace"]


@dataclass(frozen=True)
class Segments:
    """Segments of one direction or of both, a value for each in every array."""

    #: When, in seconds.
    time: Array
    #: The first number that it takes, and the one after its last. Alike for a bare acknowledgement.
    start: Array
    end: Array
    #: Its bytes of payload. They begin with the first number, or behind a SYN.
    payload: Array
    #: Whether it has a SYN.
    syn: Array
    #: Whether it has a FIN.
    fin: Array
    #: The number that its sender expects next; -1 where it acknowledges nothing.
    ack: Array

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, which: Any) -> Segments:
        return Segments(*(getattr(self, name)[which] for name in Segments.__dataclass_fields__))

    @property
    def first(self) -> Array:
        """The first number of the payload."""
        return self.start + self.syn

    @property
    def last(self) -> Array:
        """The number after the last of the payload."""
        return self.first + self.payload


@dataclass(frozen=True)
class Trace:
    """One connection."""

    flow: str
    #: Its number among the flow's connections, from 0.
    connection: int
    #: The nodes at its ends, or their addresses.
    sender: str
    receiver: str
    #: What the sending end sent and received, in the order in which it did.
    segments: Segments
    #: Whether it sent them.
    out: Array
    #: Packets that reached the receiving end, if they were captured there.
    received: Segments | None
    #: How often the retransmission timer expired, where that is known.
    timeouts: int | None = None
