"""The environments that Gymnasium knows by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from lasthop.scenario import Scenario, load

__all__ = ["random_path", "register"]

FOLDER = Path(__file__).parent / "scenarios"


def random_path(rng: np.random.Generator) -> Scenario:
    """A path with a rate, a delay, a queue and a loss rate of its own.

    The ranges are those in which Aurora was trained (PCC-RL, ``network_sim.py``): 100 to 500 packets of 1500 bytes a
    second, 50 to 500 ms each way, a queue of 2 to 2981 packets with a uniform logarithm, and losses of up to 5 %.
    """
    packets_per_s = rng.uniform(100, 500)
    return load(FOLDER / "random.toml").with_(
        {
            "link.path.rate": f"{8 * 1500 * packets_per_s:.0f} bit/s",
            "link.path.delay": f"{rng.uniform(50, 500):.6f} ms",
            "link.path.queue.droptail.limit": f"{1 + int(np.exp(rng.uniform(0, 8)))} packets",
            "link.path.loss.bernoulli.p": rng.uniform(0, 0.05),
        }
    )


#: The names, with what makes each environment.
KNOWN: dict[str, dict[str, Any]] = {
    "Handover": {"scenario": str(FOLDER / "handover.toml")},
    "Geo": {"scenario": str(FOLDER / "geo.toml")},
    "Leo": {"scenario": str(FOLDER / "leo.toml")},
    "Hsdpa": {"scenario": str(FOLDER / "hsdpa.toml")},
    "Random": {"scenario": random_path},
}


def register() -> None:
    """Makes the names known to ``gymnasium.make`` and ``gymnasium.make_vec``."""
    for name, arguments in KNOWN.items():
        if (whole := f"lasthop/{name}-v0") not in gymnasium.registry:
            gymnasium.register(
                whole,
                entry_point="lasthop.gym:Env",
                vector_entry_point="lasthop.gym:VectorEnv",
                kwargs={**arguments, "flow": "learner"},
            )
