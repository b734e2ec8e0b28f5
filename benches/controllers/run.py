"""What a controller in Python costs: CPU time of a run for each packet, beside built-in controllers, in one call.

    make bench-controllers

The work: one flow over a link with a round trip of 40 ms and a buffer of one bandwidth-delay product. Each round
measures each row once; medians count. A controller is compared with a built-in one that does the same work: Reno
without pacing, Copa with it. It fails if a ratio is above its limit.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import lasthop as lh

ROUNDS = 9
#: Rows: the controller, the row that it is compared with, and the most that it may cost of that.
ROWS: dict[str, tuple[Any, str | None, float | None]] = {
    "Reno": ("reno", None, None),
    "Copa (paced)": ("copa", None, None),
    "Python, each acknowledgement": ({"python": "mine:NewReno"}, "Reno", 5.0),
    "Python, each quarter round trip": ({"python": "mine:PerQuarter"}, "Reno", None),
    "Python, each quarter round trip, paced": ({"python": "mine:Paced"}, "Copa (paced)", 1.1),
}
#: Rates, and how long a run is.
WORK = {"10 Mbit/s": "60 s", "100 Mbit/s": "12 s"}


def scenario(controller: Any, rate: str, duration: str) -> lh.Scenario:
    product = float(rate.split()[0]) * 1e6 * 0.040 / 8
    queue = {"droptail": {"limit": f"{product:.0f} B"}}
    link = lh.Link(name="l", between=["a", "b"], rate=rate, delay="20 ms", queue=queue)
    tcp = {"recovery": "newreno", "congestion": controller}
    return lh.load(duration=duration, link=[link], flow=[lh.Flow(name="f", from_="a", to="b", transport={"tcp": tcp})])


def measured(made: lh.Scenario) -> float:
    """Nanoseconds of CPU for a packet that came."""
    began = time.process_time()
    result = lh.run(made)
    taken = time.process_time() - began
    return 1e9 * taken / result.flows.rows()[0]["received_packets"]


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    missed = []
    for rate, duration in WORK.items():
        made = {name: scenario(controller, rate, duration) for name, (controller, _, _) in ROWS.items()}
        rounds = [{name: measured(one) for name, one in made.items()} for _ in range(ROUNDS)]
        print(f"{rate:<40}{'ns/packet':>10}{'of':>16}{'ratio':>8}{'limit':>8}")
        for name, (_, beside, limit) in ROWS.items():
            line = f"{name:<40}{median(one[name] for one in rounds):>10.0f}"
            if beside:
                ratio = median(one[name] / one[beside] for one in rounds)
                line += f"{beside:>16}{ratio:>8.2f}{limit or '':>8}"
                missed += [f"{rate}, {name}"] if limit and ratio > limit else []
            print(line)
    print(*(f"above its limit: {name}" for name in missed), sep="\n", end="\n" if missed else "")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
