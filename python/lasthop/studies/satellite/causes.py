"""Why claims are not reproduced, as far as the runs show it."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CAUSES"]

#: By claim; said where the default reading does not reproduce it.
CAUSES: Mapping[str, str] = {}
