"""A learner: REINFORCE (Williams 1992) with a linear policy, which finds the rate of a geostationary satellite.

``python examples/gym/learner.py`` needs ``lasthop[rl]`` and prints what it and a random policy get in a step.
Of the seeds 0 to 15 all but one learn it; that one sinks to low rates, where Aurora's reward hardly changes.
"""

import gymnasium
import lasthop.gym  # noqa: F401  (makes the environments known)
import numpy as np

ID, COUNT, LENGTH = "lasthop/Geo-v0", 8, 50  # environments side by side, and their steps between two updates
DISCOUNT, RATE, SPREAD = 0.95, 0.1, 0.5  # of later rewards; of each update; of actions around the policy's


def environments(**changes):
    arguments = {"history": 1, **changes}
    return gymnasium.make_vec(ID, COUNT, vectorization_mode="vector_entry_point", **arguments)


def inputs(observation):
    """The features of the last step, at most 1, and a constant."""
    return np.column_stack([np.tanh(observation[:, -1]), np.ones(len(observation))])


def learn(seed, steps=20_000, sign=1.0):
    """The weights of the policy after so many steps of all environments together."""
    rng, envs = np.random.default_rng(seed), environments()
    observation, _ = envs.reset(seed=seed)
    weights = np.zeros(inputs(observation).shape[1])
    for _ in range(steps // (COUNT * LENGTH)):
        seen, noise, rewards, alive = [], [], [], []
        for _ in range(LENGTH):
            seen.append(inputs(observation))
            noise.append(rng.normal(size=COUNT))
            # The policy is clipped before noise is added: where it saturates, half of the noise has an effect.
            action = np.clip(np.clip(seen[-1] @ weights, -1, 1) + SPREAD * noise[-1], -1, 1).astype(np.float32)
            observation, reward, terminated, truncated, _ = envs.step(action[:, None])
            rewards.append(sign * reward)
            alive.append(~(terminated | truncated))
        gain = np.zeros((LENGTH + 1, COUNT))  # what follows each step, up to the end of its episode
        for t in reversed(range(LENGTH)):
            gain[t] = rewards[t] + DISCOUNT * gain[t + 1] * alive[t]
        x, gain = np.concatenate(seen), gain[:-1].ravel()
        advantage = gain - x @ np.linalg.lstsq(x, gain, rcond=None)[0]  # over a linear guess of what follows
        gradient = (advantage * np.concatenate(noise)) @ x
        weights += RATE * gradient / (np.linalg.norm(gradient) + 1e-9)
    return weights


def score(policy, seed, steps=500):
    """The mean reward of a step of all environments."""
    envs, total = environments(), 0.0
    observation, _ = envs.reset(seed=seed)
    for _ in range(steps):
        observation, reward, *_ = envs.step(policy(inputs(observation)).astype(np.float32)[:, None])
        total += reward.mean()
    return total / steps


if __name__ == "__main__":
    weights, rng = learn(seed=1), np.random.default_rng(2)
    print(f"learnt: {score(lambda x: np.clip(x @ weights, -1, 1), seed=1000):8.1f} a step")
    print(f"random: {score(lambda x: rng.uniform(-1, 1, len(x)), seed=1000):8.1f} a step")
