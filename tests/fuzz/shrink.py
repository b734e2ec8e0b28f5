"""Makes an input that fails smaller, as long as it fails in the same way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from .subjects import Subject

#: How long it may take.
SECONDS = 60.0


def shrunk(subject: Subject, payload: bytes, found: str, fails: Callable[[bytes], str]) -> bytes:
    """The smallest input that is found by leaving something out of ``payload`` again and again."""
    until = time.monotonic() + SECONDS
    wanted = kind(found)
    smaller = True
    while smaller:
        smaller = False
        for candidate in subject.smaller(payload):
            if time.monotonic() > until:
                return payload
            if len(candidate) < len(payload) and kind(fails(candidate)) == wanted:
                payload, smaller = candidate, True
                break
    return payload


def kind(found: str) -> str:
    """A failure without what differs from input to input: a panic's place, or else the words of the message."""
    place = re.search(r"panicked at (\S+?:\d+)", found)
    return place[1] if place else re.sub(r"['\"].*['\"]|0x[0-9a-f]+|\d+", "…", found)
