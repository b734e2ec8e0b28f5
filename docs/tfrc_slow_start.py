"""TFRC's slow start on an empty path, as measured and as the RFCs' rules give it.

A report comes once in a round trip, and tells what was sent in the one before the last. So the rule X ≤ 2 X_recv makes
X_k = 2 X_{k−2}: a doubling every second round trip. By the reading of Landström, Larzon and Bodin (2004, §II-C) it is
every round trip.

`python docs/tfrc_slow_start.py` measures and draws `docs/images/tfrc-slow-start.png`.
"""

from __future__ import annotations

from pathlib import Path

PACKET_BITS, PAYLOAD_BITS = 8 * 1500, 8 * 1460

#: Version and reading, first packets in a round trip, round trips to a doubling, and what it is called.
READINGS = (
    ('version = "rfc3448"', 1.0, 2, "rfc3448"),
    ('version = "rfc5348"', 3.0, 2, "rfc5348"),
    ('version = "rfc3448"\nslow_start_limit = "matched"', 1.0, 1, "rfc3448, matched"),
)

#: Paths that are shown: one-way delay in ms, rate in Mbit/s.
PATHS = ((20, 20), (75, 20), (150, 1000))


def round_trip(delay_ms: float, mbps: float) -> float:
    """Of the empty path, in seconds."""
    return 2e-3 * delay_ms + PACKET_BITS / (1e6 * mbps)


def measured(reading: str, delay_ms: float, mbps: float) -> tuple[list[float], list[float]]:
    """Round trips since the first report, and the packets that are allowed in one then; until the first loss."""
    import lasthop as lh

    rtt = round_trip(delay_ms, mbps)
    result = lh.run(
        f"""
        duration = "{60 * rtt} s"
        record.series = "{100 * rtt} ms"
        record.quantities = ["loss_event_rate"]
        [[link]]
        name = "path"
        between = ["a", "b"]
        rate = "{mbps} Mbit/s"
        delay = "{delay_ms} ms"
        [[flow]]
        from = "a"
        to = "b"
        [flow.transport.tfrc]
        {reading}
        """
    )
    rows = [row for row in result.series.rows() if row["kind"] == "flow"]
    rates = [(row["time_s"], row["value"]) for row in rows if row["quantity"] == "rate_bps"]
    losses = [row["time_s"] for row in rows if row["quantity"] == "loss_event_rate" and row["value"] > 0]
    end = min(losses, default=float("inf"))
    kept = [((at - rtt) / rtt, rate * rtt / PAYLOAD_BITS) for at, rate in rates if rtt < at < end]
    return [x for x, _ in kept], [y for _, y in kept]


def draw(path: Path) -> None:
    """A panel for each path."""
    from lasthop import plot

    made, panels = plot.figure(plot.TWO_COLUMNS, 62.0, columns=len(PATHS), sharey=True)
    for axes, (delay_ms, mbps) in zip(panels, PATHS, strict=True):
        rtt = round_trip(delay_ms, mbps)
        full = 1e6 * mbps * rtt / PACKET_BITS
        axes.axhline(full, color="#8a8a8a", linewidth=0.8)
        axes.annotate("the path is full", (30, full), (0, -9), textcoords="offset points", ha="right", fontsize=7,
                      color="#595959")  # fmt: skip
        for n, (reading, first, doubling, name) in enumerate(READINGS):
            colour = plot.look("", n)["color"]
            rounds = [k for k in range(0, 32, 2) if first * 2 ** (k / doubling) <= full]
            axes.plot(rounds, [first * 2 ** (k // doubling) for k in rounds], color=colour, linestyle="", marker="o",
                      markersize=3, fillstyle="none")  # fmt: skip
            axes.plot(*measured(reading, delay_ms, mbps), color=colour, linewidth=1.2, label=name)
        axes.set(yscale="log", xlim=(0, 30), ylim=(0.7, 6e4), xlabel="round trips since the first report")
        axes.annotate(
            f"{2 * delay_ms} ms, {mbps} Mbit/s", (0.5, 1.03), xycoords="axes fraction", ha="center", fontsize=8
        )
    panels[0].set_ylabel("packets allowed in a round trip")
    panels[-1].legend(loc="lower right", fontsize=7, frameon=False)
    made.savefig(path, dpi=200)


if __name__ == "__main__":
    draw(Path(__file__).parent / "images" / "tfrc-slow-start.png")
