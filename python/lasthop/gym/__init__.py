"""Environments of Gymnasium in which a learner sets the window and the rate of a flow.

>>> import gymnasium
>>> import lasthop.gym
>>> environment = gymnasium.make("lasthop/Handover-v0")
>>> observation, info = environment.reset(seed=1)
>>> observation.shape
(10, 12)
"""

from __future__ import annotations

try:
    import gymnasium  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "lasthop.gym needs gymnasium, which is not installed: python -m pip install 'lasthop[rl]'", name="gymnasium"
    ) from error

from lasthop.gym.env import Env
from lasthop.gym.registration import register
from lasthop.gym.spaces import DEFAULT
from lasthop.gym.vector import VectorEnv

__all__ = ["DEFAULT", "Env", "VectorEnv"]

register()
