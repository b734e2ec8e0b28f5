"""Why claims are not reproduced, as far as the runs at hand show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lasthop.studies.umts_multicast.data import Data

__all__ = ["CAUSES"]

#: By claim; said where the default reading does not reproduce it.
CAUSES: Mapping[str, str | Callable[[Data], str]] = {}
