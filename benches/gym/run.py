"""Steps a second of `lasthop.gym`, in CPU time, beside Aurora's own simulator, in one call.

    make bench-gym [AURORA=a clone of https://github.com/PCCproject/PCC-RL]

The work: a link with a round trip of 30 ms, steps of half a round trip, the 12 features, no history. The actions keep
the link full; they are recorded first, so that what decides them takes no time. Each round measures each row once; the
least disturbed round counts. It fails if a row is below its target. Aurora's environment is measured as it is, with
random actions: it has no part in this repository.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import lasthop as lh
import lasthop.gym
import numpy as np

ROUNDS = 5
#: Environments of a vector.
COUNT = 8

#: Takes steps; says how many, how many packets were acknowledged in them, and in how much CPU time.
Measure = Callable[[], tuple[int, float, float]]


def scenario(rate: str) -> lh.Scenario:
    """A link whose queue holds a bandwidth-delay product."""
    packets = round(float(rate.split()[0]) * 1e6 * 0.030 / 12_000)
    queue = {"droptail": {"limit": f"{packets} packets"}}
    link = lh.Link(name="l", between=["a", "b"], rate=rate, delay="15 ms", queue=queue)
    return lh.load(duration="60 s", link=[link], flow=[lh.Flow(name="f", from_="a", to="b")])


def recorded(rate: str, count: int, steps: int) -> tuple[np.ndarray, float]:
    """Actions that raise the rate until a queue stands, and lower it then; and the packets acknowledged in a step."""
    vector = lasthop.gym.VectorEnv(count, scenario=scenario(rate), flow="f", history=1)
    observation, _ = vector.reset(seed=1)
    ratio = lasthop.gym.DEFAULT.index("latency_ratio")
    actions, packets = np.empty((steps, count, 1), np.float32), 0.0
    for action in actions:
        action[:] = np.where(observation[:, -1, ratio] < 0.1, 1, -1)[:, None]
        observation, _, _, _, infos = vector.step(action)
        packets += infos["packets_acked"].mean()
    return actions, packets / steps


def vector(rate: str, steps: int, count: int = COUNT, history: int = 1) -> Measure:
    actions, packets = recorded(rate, count, steps)
    made = lasthop.gym.VectorEnv(count, scenario=scenario(rate), flow="f", history=history)

    def measure() -> tuple[int, float, float]:
        made.reset(seed=1)
        began = time.process_time()
        for action in actions:
            made.step(action)
        return steps * count, packets, time.process_time() - began

    return measure


def single(rate: str, steps: int) -> Measure:
    actions, packets = recorded(rate, 1, steps)
    made = lasthop.gym.Env(scenario(rate), "f", history=1)

    def measure() -> tuple[int, float, float]:
        made.reset(seed=1)
        began = time.process_time()
        for action in actions[:, 0]:
            if made.step(action)[3]:
                made.reset()
        return steps, packets, time.process_time() - began

    return measure


def aurora(folder: Path, steps: int) -> Measure:
    """PCC-RL's `SimulatedNetworkEnv`, which was written for Gymnasium's predecessor `gym`."""
    sys.modules.setdefault("gym", gymnasium)
    for name in ("spaces", "utils", "utils.seeding", "envs", "envs.registration"):
        sys.modules.setdefault(f"gym.{name}", sys.modules[f"gymnasium.{name}"])
    sys.path.insert(0, str(folder / "src" / "gym"))
    sys.argv = sys.argv[:1]
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet):
        import network_sim

        made = network_sim.SimulatedNetworkEnv()
    actions = np.random.default_rng(1).uniform(-1, 1, (steps, 1))

    def measure() -> tuple[int, float, float]:
        packets = 0
        with contextlib.redirect_stdout(quiet):
            made.reset()
            began = time.process_time()
            for action in actions:
                done = made.step(action)[2]
                packets += made.senders[0].acked
                if done:
                    made.reset()
        return steps, packets / steps, time.process_time() - began

    return measure


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--aurora", type=Path, help="a clone of https://github.com/PCCproject/PCC-RL")
    folder = parser.parse_args().aurora
    rows: dict[str, tuple[Measure, int | None]] = {
        f"vector of {COUNT}, 10 Mbit/s": (vector("10 Mbit/s", 4_000), 100_000),
        "single, 10 Mbit/s": (single("10 Mbit/s", 20_000), 50_000),
        f"vector of {COUNT}, 50 Mbit/s": (vector("50 Mbit/s", 1_500), 30_000),
        "single, 50 Mbit/s": (single("50 Mbit/s", 8_000), None),
        f"vector of {COUNT}, 10 Mbit/s, history of 10": (vector("10 Mbit/s", 4_000, history=10), None),
        "vector of 64, 10 Mbit/s": (vector("10 Mbit/s", 500, count=64), None),
    }
    if folder is not None:
        rows["Aurora's SimulatedNetworkEnv"] = (aurora(folder, 2_000), None)
    best = dict.fromkeys(rows, 0.0)
    packets = dict.fromkeys(rows, 0.0)
    for _ in range(ROUNDS):
        for name, (measure, _target) in rows.items():
            steps, packets[name], seconds = measure()
            best[name] = max(best[name], steps / seconds)
    print(f"{'one thread':<44}{'steps/s':>10}{'target':>10}{'packets/step':>14}")
    for name, (_, target) in rows.items():
        print(f"{name:<44}{best[name]:>10,.0f}{target or '':>10}{packets[name]:>14.1f}")
    if folder is None:
        print("Aurora's SimulatedNetworkEnv: not measured; AURORA=FOLDER names a clone of github.com/PCCproject/PCC-RL")
    missed = [name for name, (_, target) in rows.items() if target and best[name] < target]
    print(*(f"below its target: {name}" for name in missed), sep="\n", end="\n" if missed else "")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
