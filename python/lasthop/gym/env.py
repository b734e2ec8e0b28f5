"""One environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from lasthop.errors import ControllerError
from lasthop.gym.environments import VALUES, Environments, Reward, Source, reset_needed
from lasthop.gym.spaces import DEFAULT

__all__ = ["Env"]


class Env(gymnasium.Env[np.ndarray, Any]):
    """A scenario in which the learner sets the window and the rate of one TCP flow.

    - ``scenario``: as :func:`lasthop.load` takes it; or a function of a ``numpy.random.Generator`` that draws one for
      each episode.
    - ``flow``: the name of the flow.
    - ``step``: the length of a step: ``"rtt/2"``, ``"10 ms"``, ``"8 acks"``.
    - ``action``: ``"rate-multiplier"``, ``"window-steps"`` or ``"window-and-rate"``.
    - ``observation``: the features of a step, of :data:`DEFAULT`; and of how many steps (``history``).
    - ``reward``: ``"aurora"``, ``"power"``, or a function of ``info``.
    - ``episode``: the time from the flow's start after which an episode is truncated, if the scenario is
      not over before.

    ``reset(seed=7, options={"rate": "5 Mbit/s"})`` runs with that seed, and changes the scenario for this episode.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Source,
        flow: str,
        *,
        step: str = "rtt/2",
        action: str = "rate-multiplier",
        observation: Sequence[str] = DEFAULT,
        history: int = 10,
        reward: Reward = "aurora",
        episode: float | str = "60 s",
    ) -> None:
        self._all = Environments(
            scenario,
            flow,
            count=1,
            threads=1,
            step=step,
            action=action,
            observation=observation,
            history=history,
            reward=reward,
            episode=episode,
        )
        self._step = self._all.core.step_one
        self._observation = self._all.observations[0]
        self._shape = self._all.shape[1:]
        self._under_way = False
        self.action_space = self._all.single_action_space
        self.observation_space = self._all.single_observation_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode: the seed is the run's, the options change fields of the scenario."""
        super().reset(seed=seed)
        self._under_way = False
        self._all.reset(0, seed, options, self.np_random)
        self._all.core.show()
        self._under_way = True
        return self._observation.copy(), self._all.info(0)

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Applies the action, goes on to the next decision, and observes."""
        if not self._under_way:
            raise reset_needed()
        self._all.decide(action, self._shape)
        try:
            reward, end, values = self._step()
        except ControllerError:  # No step was taken.
            raise
        except BaseException:
            self._under_way = False
            raise
        self._under_way = not end
        info = dict(zip(VALUES, values, strict=True))
        if self._all.own_reward is not None:
            reward = float(self._all.own_reward(info))
        return self._observation.copy(), reward, end == 1, end == 2, info
