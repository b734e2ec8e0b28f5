"""Many environments whose steps are taken in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from lasthop.errors import ControllerError
from lasthop.gym.environments import VALUES, Environments, Reward, Source, reset_needed
from lasthop.gym.spaces import DEFAULT

__all__ = ["VectorEnv"]


class VectorEnv(gymnasium.vector.VectorEnv[np.ndarray, Any, np.ndarray]):
    """``num_envs`` environments such as :class:`lasthop.gym.Env`, with ``threads`` that share their steps.

    ``gymnasium.make_vec("lasthop/Handover-v0", num_envs=8, vectorization_mode="vector_entry_point")`` makes one.
    Environment ``i`` does what a single one does that is reset with the seed ``seed + i``, whatever the number of
    threads. An episode that has ended is followed by another one in the next step (``AutoresetMode.NEXT_STEP``).
    ``infos`` has an array for each value, NaN where nothing is known.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        *,
        scenario: Source,
        flow: str,
        step: str = "rtt/2",
        action: str = "rate-multiplier",
        observation: Sequence[str] = DEFAULT,
        history: int = 10,
        reward: Reward = "aurora",
        episode: float | str = "60 s",
        threads: int = 1,
    ) -> None:
        self._all = Environments(
            scenario,
            flow,
            count=num_envs,
            threads=threads,
            step=step,
            action=action,
            observation=observation,
            history=history,
            reward=reward,
            episode=episode,
        )
        self.num_envs = num_envs = int(num_envs)
        self.single_action_space = self._all.single_action_space
        self.single_observation_space = self._all.single_observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._randoms: list[np.random.Generator] = []
        self._under_way = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode of each: with the seeds ``seed``, ``seed + 1``, …, or those of a list."""
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        self._under_way = False
        if not self._randoms:
            self._randoms = [seeding.np_random()[0] for _ in seeds]
        for number, one in enumerate(seeds):
            if one is not None:
                self._randoms[number] = seeding.np_random(one)[0]
            self._all.reset(number, one, options, self._randoms[number])
        self._all.core.show()
        self._under_way = True
        return self._all.observations.copy(), self._infos()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """A step of each; of one whose episode has ended, the beginning of the next."""
        if not self._under_way:
            raise reset_needed()
        everything = self._all
        everything.decide(actions, everything.shape)
        ended: list[int] = []
        if everything.ends.any():
            ended = np.flatnonzero(everything.ends).tolist()
            everything.core.check(ended)
        try:
            for number in ended:
                everything.reset(number, None, None, self._randoms[number])
            everything.core.step(ended)
        except ControllerError:  # No step was taken.
            raise
        except BaseException:  # Some have gone on, others have not.
            self._under_way = False
            raise
        rewards = everything.rewards.copy()
        if everything.own_reward is not None:
            for number in set(range(self.num_envs)).difference(ended):
                rewards[number] = float(everything.own_reward(everything.info(number)))
        ends = everything.ends
        return everything.observations.copy(), rewards, ends == 1, ends == 2, self._infos()

    def _infos(self) -> dict[str, Any]:
        return dict(zip(VALUES, self._all.values.T.copy(), strict=True))
