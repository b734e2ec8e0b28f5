"""What the study leaves open (`paper/questions.toml`), and what a reading takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lasthop.studies import words
from lasthop.studies.readings import Reading

QUESTIONS = words.questions(__name__)


@dataclass(frozen=True)
class Setting:
    """What answers change."""

    #: What of the encoder differs from the model of RFC 8593.
    encoder: Mapping[str, Any] = field(default_factory=dict)
    #: What becomes of packets at a handover of a link, if they are not carried over.
    lossy: Mapping[str, Any] = field(default_factory=dict)


def taken(reading: Reading) -> Setting:
    """The setting of a reading."""
    return Setting(**reading.changes)
