"""What the compiler looks at when a wheel is built with `maturin build --pgo`: which branches are taken in common work.

    python benches/train.py

The examples and the studies, each as it is, and the networks of `benches/peers` in small. It prints nothing and
measures nothing.
"""

from __future__ import annotations

from pathlib import Path

import lasthop as lh
from lasthop.studies import STUDIES, study

ROOT = Path(__file__).resolve().parents[1]
DEEP = {"droptail": {"limit": "100000 packets"}}


def greedy(sender: str, receiver: str, start: float) -> lh.Flow:
    """A flow that always has something to send."""
    tcp = {"variant": "sack", "segment": "1000 B", "handshake": "none", "initial_window": 10, "window": 1_000_000}
    return lh.Flow(name=sender, from_=sender, to=receiver, start=f"{start} s", transport={"tcp": tcp})


def dumbbell(flows: int, seconds: int) -> lh.Scenario:
    """Flows over one bottleneck."""
    queue = {"droptail": {"limit": "625 packets"}}
    links = [lh.Link(name="bottleneck", between=["a", "b"], rate="100 Mbit/s", delay="20 ms", queue=queue)]
    for n in range(flows):
        access = {"rate": "1 Gbit/s", "delay": f"{1 + n % 5} ms", "queue": DEEP}
        links += [lh.Link(name=f"up{n}", between=[f"s{n}", "a"], **access)]
        links += [lh.Link(name=f"down{n}", between=["b", f"r{n}"], **access)]
    return lh.load(
        duration=f"{seconds} s", link=links, flow=[greedy(f"s{n}", f"r{n}", n / flows) for n in range(flows)]
    )


def main() -> None:
    for file in sorted((ROOT / "examples").glob("*.toml")):
        lh.run(lh.load(file))
    for name in STUDIES:
        lh.run(lh.load(study(name).scenario()))
    for flows in (1, 10, 100, 1000):
        lh.run(dumbbell(flows, 10))


if __name__ == "__main__":
    main()
