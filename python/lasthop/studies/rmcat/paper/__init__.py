"""The RFCs' words, and the numbers of outside controllers in case 5.1."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ANCHORS", "Anchor"]


@dataclass(frozen=True)
class Anchor:
    """The settled part of a segment: mean rate, mean and largest queue."""

    kbps: float
    queue_ms: float
    largest_ms: float


#: SCReAM v2 as L4S, whichever marker stands for that of the outside run.
_L4S = (Anchor(888, 9, 10), Anchor(1380, 3, 4), Anchor(541, 13, 16), Anchor(883, 8, 10))

#: Case 5.1 with one video, no jitter and no audio, by controllers of others: SCReAM v2 (EricssonResearch/scream
#: c8f84c3d), NADA (cisco/ns3-rmcat adb3f8e5), GCC (aiortc 1.16.0), each in a harness of its own. By segment.
ANCHORS: dict[str, tuple[Anchor, ...]] = {
    "scream": (Anchor(970, 19, 54), Anchor(1517, 4, 4), Anchor(569, 22, 90), Anchor(956, 15, 48)),
    "scream-ramp": _L4S,
    "scream-step": _L4S,
    "nada": (Anchor(1000, 38, 96), Anchor(1500, 0, 0), Anchor(461, 10, 13), Anchor(950, 96, 298)),
    "gcc": (Anchor(690, 14, 36), Anchor(1399, 13, 14), Anchor(547, 16, 26), Anchor(822, 18, 26)),
}
