"""Why claims are not reproduced, as far as the runs show it."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CAUSES"]

#: By claim; said where the default reading does not reproduce it.
CAUSES: Mapping[str, str] = {
    "L10": "the three TCP flows compete among themselves, and over 10 s their rates vary by a fifth with either "
    "scheme; RLM's sessions mostly stay at two or three layers and leave TCP alone",
    "L13": "at 3 % the errors take a tenth of TCP's rate, and the scheme gives it to multicast, as §III-A says; "
    "nothing is blocked for an error",
    "L15": "at this bottleneck layers change every three seconds (L7), and with each change a receiver joins one or "
    "leaves one; RLM's receivers try a layer about once a minute",
    "L17": "a layer comes for 2 s after it was left, and after a block a session has two empty ones for a while; with "
    "routers that leave at once it is 107 kbit/s",
    "L20": "twenty connections keep the queue near its end, where the scheme may block and does not release",
    "L21": "with F_QuThresh1 = 0 packets of several layers that meet keep some looks from finding the queue empty, so "
    "it is never in phase 1 for a second and T_observe decides nothing; with 0.1 it does",
    "L22": "the queue in front of the link takes most of either time, and what is released waits there as well",
}
