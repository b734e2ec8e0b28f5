"""What the RFCs leave open (`paper/questions.toml`), and what a reading takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from lasthop.studies import words
from lasthop.studies.readings import Reading

QUESTIONS = words.questions(__name__)


#: Frames without a burst and at equal intervals, whose sizes vary by the ±5 % of RFC 8867 §4.3.
REGULAR = {"size_deviation": 0.05, "interval_deviation": 0.0, "burst": 1.0, "reaction": "100 ms"}


@dataclass(frozen=True)
class Setting:
    """What answers change."""

    #: How the capacity changes: `link`, or `cbr` on 4 Mbit/s.
    capacity: str = "link"
    #: The jitter of each access link; `None` for none.
    jitter: dict[str, Any] | None = field(default_factory=dict)
    #: What of the encoder differs from its defaults.
    encoder: dict[str, Any] = field(default_factory=lambda: dict(REGULAR))
    #: Whether each video has an audio flow beside it.
    audio: bool = True
    #: Controllers whose packets are spaced at their target, without an encoder.
    paced: tuple[str, ...] = ()

    def but(self, **other: Any) -> Self:
        """The same but for some."""
        return replace(self, **other)


#: As the outside runs of case 5.1: no jitter, no audio, 25 frames a second of the size that the rate asks for, rates
#: that are taken at once; NADA's packets evenly spaced.
BARE = Setting(
    jitter=None, audio=False, paced=("nada",),
    encoder={"size_deviation": 0.0, "interval_deviation": 0.0, "burst": 1.0, "reaction": "0 s", "fps": 25},
)  # fmt: skip


def taken(reading: Reading) -> Setting:
    """The setting of a reading."""
    changes = dict(reading.changes)
    if changes.get("jitter") == "none":
        changes["jitter"] = None
    if "encoder" in changes:
        changes["encoder"] = {"reaction": "100 ms", **changes["encoder"]}
    return Setting(**changes)
