"""The spaces of what a learner observes and decides."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from lasthop import _core

__all__ = ["DEFAULT", "action_space", "observation_space"]

#: The features that a learner observes, unless it chooses some of them.
DEFAULT: tuple[str, ...] = tuple(_core.Environments.feature_names())


def observation_space(history: int, features: int) -> spaces.Box:
    """The features of some steps, the last one at the end."""
    return spaces.Box(-np.inf, np.inf, (history, features), np.float32)


def action_space(action: str) -> spaces.Space[Any]:
    """The space of this name."""
    if action == "rate-multiplier":
        return spaces.Box(-1.0, 1.0, (1,), np.float32)
    if action == "window-steps":
        return spaces.Discrete(5)
    if action == "window-and-rate":
        return spaces.Box(0.0, 1.0, (2,), np.float32)
    raise ValueError(f"action = {action!r}: choose rate-multiplier, window-steps, window-and-rate")
