"""What single environments and vectors share: the core's environments, their arrays and their scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from gymnasium.error import ResetNeeded

from lasthop import _core
from lasthop.errors import ScenarioError, controller_error
from lasthop.gym.spaces import action_space, observation_space
from lasthop.runs import as_seed
from lasthop.scenario import Scenario, load

__all__ = ["VALUES", "Environments", "Reward", "Source"]

#: A scenario, or what draws one for each episode.
Source: TypeAlias = str | Path | Mapping[str, Any] | Scenario | Callable[[np.random.Generator], Any]
#: The name of a reward, or what computes one from the values of a step.
Reward: TypeAlias = str | Callable[[dict[str, Any]], float]

#: The values of a step, which `info` holds.
VALUES: tuple[str, ...] = tuple(_core.Environments.value_names())

#: Fields of a link that an option may name alone.
_OF_LINK = ("rate", "delay", "queue", "loss")


class Environments:
    """The environments of the core, with the arrays in which actions and observations lie."""

    def __init__(
        self,
        scenario: Source,
        flow: str,
        *,
        count: int,
        threads: int,
        step: str,
        action: str,
        observation: Sequence[str],
        history: int,
        reward: Reward,
        episode: float | str,
    ) -> None:
        for name, number in {"history": history, "threads": threads, "num_envs": count}.items():
            if not (isinstance(number, Integral) and number >= 1):
                raise ValueError(f"{name} is {number!r}: it must be a whole number, at least 1")
        history, threads, count = int(history), int(threads), int(count)
        if not isinstance(step, str):
            raise ValueError(f"step is {step!r}: it must be text such as 'rtt/2' or '10 ms'")
        try:
            episode_s = _core.seconds(episode) if isinstance(episode, str) else float(episode)
        except (TypeError, ValueError):
            episode_s = math.nan
        if not episode_s > 0:
            raise ValueError(f"episode is {episode!r}: it must be a time such as '60 s'")
        if isinstance(observation, str):
            observation = (observation,)
        if not observation:
            raise ValueError("observation is empty: choose some of lasthop.gym.DEFAULT")
        self._source = scenario
        self.flow = flow
        self.own_reward = reward if callable(reward) else None
        self.single_action_space = action_space(action)
        self.single_observation_space = observation_space(history, len(observation))
        #: The shape of an action of all, as the caller writes it.
        self.shape: tuple[int, ...] = (count, *(self.single_action_space.shape or ()))
        width = int(np.prod(self.shape)) // count
        self._actions = np.zeros((count, width))
        self.observations = np.zeros((count, history, len(observation)), np.float32)
        self.rewards = np.zeros(count)
        self.ends = np.zeros(count, np.uint8)
        self.values = np.zeros((count, len(VALUES)))
        #: Whether the scenario of each is another one than at first.
        self._changed = [False] * count
        first = load(self._drawn(np.random.default_rng(0)))
        self._fixed = None if callable(scenario) else first
        self.core = _core.Environments(
            first.core,
            flow=flow,
            step=step,
            action=action,
            observation=list(observation),
            history=history,
            reward=None if callable(reward) else reward,
            episode_s=episode_s,
            count=count,
            threads=threads,
            # Arrays have buffers in each version of Python, and say so to type checkers from 3.12 on.
            arrays=(self._actions, self.observations, self.rewards, self.ends, self.values),  # type: ignore[arg-type,unused-ignore]
        )

    def reset(self, number: int, seed: int | None, options: Mapping[str, Any] | None, rng: np.random.Generator) -> None:
        """Begins an episode of environment ``number``, which the arrays do not show yet; without a seed it is drawn."""
        seed = int(rng.integers(2**53)) if seed is None else as_seed(int(seed))
        scenario = self._fixed or load(self._drawn(rng))
        changed = bool(options) or self._fixed is None
        if options:
            scenario = scenario.with_({_spelled_out(key, scenario): value for key, value in options.items()})
        other = scenario.core if changed or self._changed[number] else None
        self._changed[number] = changed
        self.core.reset(number, seed, other)

    def decide(self, actions: Any, shape: tuple[int, ...]) -> None:
        """Takes the actions of the next step."""
        try:
            if np.shape(actions) != shape:
                raise ValueError(f"an action of shape {np.shape(actions)}: it must be {shape}")
            self._actions.reshape(shape)[...] = actions
        except (TypeError, ValueError) as error:
            time_s = float(self.values[0, 0])
            raise controller_error(error, self.flow, "action", time_s, f"action={actions!r}") from error

    def info(self, number: int) -> dict[str, Any]:
        """What environment ``number`` knows after its step; ``None`` where nothing is known."""
        return dict(zip(VALUES, self.core.known(number), strict=True))

    def _drawn(self, rng: np.random.Generator) -> Any:
        return self._source(rng) if callable(self._source) else self._source


def _spelled_out(key: str, scenario: Scenario) -> str:
    """The name of an option in the scenario: a field of the only link, or of the link ``radio``, may stand alone."""
    if key not in _OF_LINK:
        return key
    names = [link["name"] for link in scenario.to_dict().get("link", ())]
    names = [f'"{name}"' if "." in name else name for name in names]
    if not names:
        raise ScenarioError(f"options: {key} of which link? The scenario has none; write the whole key", path="options")
    if len(names) == 1 or "radio" in names:
        return f"link.{'radio' if 'radio' in names else names[0]}.{key}"
    raise ScenarioError(
        f"options: {key} of which link? Write link.NAME.{key}; known: {', '.join(names)}", path="options"
    )


def reset_needed() -> ResetNeeded:
    """The error of a step without an episode."""
    return ResetNeeded("reset() comes first: no episode is under way")
