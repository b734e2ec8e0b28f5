"""TFRC over a link with independent losses: the throughput equation, a prediction, and measurements.

The equation is TCP's at the loss probability of a packet. TFRC does not know that probability; it
estimates it from the last eight intervals between loss events, and the mean of a rate that follows
an estimate is not the rate at the mean. The prediction therefore plays the estimator of RFC 5348
§5 packet by packet, without any of the simulator's code.

`python docs/tfrc_equation.py` measures and draws `docs/images/tfrc-equation.png`.
"""

from __future__ import annotations

import random
from collections import deque
from math import ceil, inf, log, log1p, sqrt
from pathlib import Path

PAYLOAD = 1460
WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2)
THRESHOLD = 0.25  # how far §5.5 discounts old intervals
LATER = 3  # packets that must come after a lost one (§5.1)

ROUND_TRIPS = (0.02, 0.1, 0.5)
LOSSES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.13)


def equation(p: float, rtt: float) -> float:
    """Bytes per second at a loss event rate (RFC 5348 §3.1, b = 1, t_RTO = 4 R)."""
    return PAYLOAD / (rtt * (sqrt(2 * p / 3) + 12 * sqrt(3 * p / 8) * p * (1 + 32 * p * p)))


class Estimator:
    """The loss event rate from intervals, newest first, with history discounting (§5.4, §5.5)."""

    def __init__(self, first: float) -> None:
        self.closed = deque([first], maxlen=8)
        self.discounts = deque([1.0], maxlen=8)
        self.start = 0

    def _total(self, lengths: list[float], discounts: list[float]) -> float:
        weights = [w * d for w, d in zip(WEIGHTS, discounts, strict=False)]
        return sum(w * x for w, x in zip(weights, lengths, strict=False)) / sum(weights[: len(lengths)])

    def _discount(self, interval: float) -> float:
        mean = self._total(list(self.closed), list(self.discounts))
        return max(THRESHOLD, 2 * mean / interval) if interval > 2 * mean else 1.0

    def rate(self, seq: int) -> float:
        """The loss event rate when `seq` is the highest number received."""
        interval = seq - self.start + 1
        factor = self._discount(interval)
        mean = self._total(list(self.closed), list(self.discounts))
        with_open = self._total([interval, *self.closed], [1.0, *(d * factor for d in self.discounts)])
        return 1 / max(mean, with_open)

    def event(self, lost: int, highest: int) -> None:
        """A loss event begins with the packet `lost`; the discount so far is kept (§5.5)."""
        factor = self._discount(highest - self.start + 1)
        self.discounts = deque((d * factor for d in self.discounts), maxlen=8)
        self.closed.appendleft(lost - self.start)
        self.discounts.appendleft(1.0)
        self.start = lost


def predicted(loss: float, rtt: float, events: int = 10_000, seed: int = 1) -> tuple[float, float]:
    """Mean rate in bytes per second, and the loss event rate, over so many loss events."""
    draw = random.Random(seed)

    def gap() -> int:
        return max(1, ceil(log(1 - draw.random()) / log1p(-loss)))

    estimator = Estimator(1 / loss)
    rate = equation(loss, rtt)
    changes: deque[tuple[float, float]] = deque()  # reports under way: when they come, and what they say
    holes: deque[list[float]] = deque()  # lost packets: number, when sent, and how many came later
    now, seq, next_loss = 0.0, 0, gap()
    report_at, event_at = 0.0, -inf
    seen, began = -100, (0.0, 0)
    while seen < events:
        report = False
        if seq == next_loss:
            next_loss += gap()
            holes.append([seq, now, 0])
        else:
            for hole in holes:
                hole[2] += 1
            while holes and holes[0][2] >= LATER:
                lost, at, _ = holes.popleft()
                if at > event_at + rtt:
                    estimator.event(int(lost), seq - 1)
                    event_at, report = at, True
                    seen += 1
                    if seen == 0:
                        began = (now, seq)
            report |= now >= report_at
        if report:
            changes.append((now + rtt, equation(estimator.rate(seq), rtt)))
            report_at = now + rtt
        # Many packets in a row in which nothing happens are one step.
        until = min(changes[0][0] if changes else inf, report_at)
        quiet = 1 if holes else max(1, min(next_loss - seq, int((until - now) * rate / PAYLOAD)))
        seq += quiet
        due = now + quiet * PAYLOAD / rate
        while changes and changes[0][0] < due:
            at, rate = changes.popleft()
            due = max(at, now + quiet * PAYLOAD / rate)
        now = due
    return (seq - began[1]) * PAYLOAD / (now - began[0]), events / (seq - began[1])


def measured(loss: float, rtt: float, events: int = 10_000, seed: int = 1) -> float:
    """Bytes per second that TFRC sends in the simulator, over about so many loss events."""
    import lasthop as lh

    interval = PAYLOAD / loss / equation(loss, rtt)
    begin, end = max(60.0, 50 * interval), max(60.0, 50 * interval) + events * interval

    def received(until: float) -> float:
        scenario = {
            "duration": f"{until:.0f} s",
            "link": [
                {
                    "name": "radio",
                    "between": ["a", "b"],
                    "rate": "10 Gbit/s",
                    "delay": f"{500 * rtt} ms",
                    "loss": {"bernoulli": {"p": loss}},
                }
            ],
            "flow": [{"from": "a", "to": "b", "transport": "tfrc"}],
        }
        return lh.run(scenario, seed=seed).flows["received_bytes"][0]

    return (received(end) - received(begin)) / (round(end) - round(begin)) / (1 - loss)


def draw(path: Path) -> None:
    """Measures every point and draws them beside equation and prediction."""
    from concurrent.futures import ThreadPoolExecutor

    from lasthop import plot

    points = [(loss, rtt) for rtt in ROUND_TRIPS for loss in LOSSES]
    with ThreadPoolExecutor() as threads:
        rates = dict(zip(points, threads.map(lambda point: measured(*point), points), strict=True))
    made, (above, below) = plot.figure(
        plot.ONE_COLUMN, 95.0, rows=2, sharex=True, gridspec_kw={"height_ratios": [3, 2]}
    )
    for n, rtt in enumerate(ROUND_TRIPS):
        colour, marker = plot.look("", n)["color"], plot.MARKERS[n]
        known = [equation(loss, rtt) for loss in LOSSES]
        expected = [predicted(loss, rtt)[0] for loss in LOSSES]
        got = [rates[loss, rtt] for loss in LOSSES]
        for axes, scale in ((above, [0.008] * len(LOSSES)), (below, [1 / x for x in known])):
            for label, values, style in (
                ("equation at the packet loss", known, {"linestyle": ":"}),
                ("prediction", expected, {"linestyle": "-"}),
                ("measured", got, {"linestyle": "", "marker": marker, "markersize": 4, "fillstyle": "none"}),
            ):
                scaled = [a * b for a, b in zip(values, scale, strict=True)]
                axes.plot(LOSSES, scaled, color=colour, label=label if n == 0 else None, **style)
        place, label = (LOSSES[0], 0.008 * known[0]), f"R = {1000 * rtt:.0f} ms"
        above.annotate(label, place, (0, -14), textcoords="offset points", color=colour, fontsize=8)
    above.set(xscale="log", yscale="log", ylabel="rate, kbit/s")
    below.set(xlabel="probability that a packet is lost", ylabel="rate / equation", ylim=(0.95, 1.3))
    below.legend(loc="upper left", fontsize=8, frameon=False)
    made.savefig(path, dpi=200)


if __name__ == "__main__":
    draw(Path(__file__).parent / "images" / "tfrc-equation.png")
