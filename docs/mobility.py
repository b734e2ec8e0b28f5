"""One TCP flow through a soft, a softer, a hard and an intersystem handover and a relocation.

`python docs/mobility.py` runs `examples/mobility.toml` and draws `docs/images/mobility.png`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "examples" / "mobility.toml"
BEARER = "umts.ue[0] down"

#: When something happens to the terminal, by the geometry of the scenario, and what.
EVENTS = (
    (19.9, 27.7, "soft"),
    (48.5, 53.3, "softer"),
    (80.6, 80.7, "hard"),
    (85.7, 85.8, "relocation"),
    (137.3, 167.8, "WLAN"),
)


def packets(result: Any) -> tuple[list[tuple[float, float]], dict[str, list[float]]]:
    """When data packets came and how many ms they took; when packets were dropped, by cause."""
    sent: dict[int, float] = {}
    came: list[tuple[float, float]] = []
    dropped: dict[str, list[float]] = {}
    table = result.tables["packets"].to_arrow().to_pydict()
    rows = zip(*(table[name] for name in ("time_s", "event", "kind", "number", "cause")), strict=True)
    for time, event, kind, number, cause in rows:
        if event == "dropped":
            dropped.setdefault(cause, []).append(time)
        elif event == "sent" and kind == "data":
            sent[number] = time
        elif event == "received" and kind == "data":
            came.append((time, 1000 * (time - sent[number])))
    return came, dropped


def series(result: Any, kind: str, name: str, quantity: str) -> tuple[list[float], list[float]]:
    """The samples of a quantity."""
    table = result.series.where(kind=kind, name=name, quantity=quantity)
    return list(table["time_s"]), list(table["value"])


def draw(path: Path) -> None:
    """Runs the scenario and draws window, delay, losses, and what serves the terminal."""
    import lasthop as lh
    from lasthop import plot

    result = lh.run(lh.load(SCENARIO).with_({"record.packets": True}))
    came, dropped = packets(result)
    made, (window, delay, air, cells) = plot.figure(
        plot.TWO_COLUMNS, 150.0, rows=4, sharex=True, gridspec_kw={"height_ratios": [3, 3, 3, 1.6]}
    )
    colour = [plot.look("", n)["color"] for n in range(4)]
    window.plot(*series(result, "flow", "download", "cwnd_packets"), color=colour[0])
    window.set(ylabel="cwnd, packets", yscale="log")
    delay.plot(*zip(*came, strict=True), linestyle="", marker=".", markersize=2, color=colour[0])
    delay.set(ylabel="delay, ms", yscale="log")
    time, bad = series(result, "bearer", BEARER, "bad_blocks")
    second = range(0, len(bad) - 10, 10)
    lost = [bad[n + 10] - bad[n] for n in second]
    air.bar([time[n] for n in second], lost, 1.0, align="edge", color=colour[1], label="blocks in a second")
    for n, (cause, times) in enumerate(sorted(dropped.items())):
        style = {"linestyle": "", "marker": plot.MARKERS[n], "markersize": 4, "fillstyle": "none"}
        air.plot(times, [max(lost) + 2 + n] * len(times), color=colour[2 + n], label=f"packets: {cause}", **style)
    air.set(ylabel="lost", ylim=(0, max(lost) + 5 + len(dropped)))
    air.legend(loc="upper center", ncols=3, fontsize=8, frameon=False)
    time, legs = series(result, "bearer", BEARER, "active_set")
    cells.step(time, legs, where="post", color=colour[0])
    time, rnc = series(result, "bearer", BEARER, "rnc")
    cells.step(time, [1 + n for n in rnc], where="post", color=colour[3], linestyle="--")
    cells.set(ylabel="cells, RNC", xlabel="time, s", ylim=(-0.3, 2.4), yticks=[0, 1, 2], xlim=(0, 200))
    for n, (begin, end, what) in enumerate(EVENTS):
        for axes in (window, delay, air, cells):
            axes.axvspan(begin, max(end, begin + 0.4), color=plot.GREY, alpha=0.22, linewidth=0)
        middle = (begin + end) / 2 if end - begin > 1 else begin
        place = (middle, 1.02 if n % 2 == 0 else 1.13)
        window.annotate(what, place, xycoords=("data", "axes fraction"), ha="center", fontsize=8)
    cells.annotate("cells of the active set", (100, 0.55), color=colour[0], fontsize=8)
    cells.annotate("RNC", (100, 1.6), color=colour[3], fontsize=8)
    made.savefig(path, dpi=200)


if __name__ == "__main__":
    draw(Path(__file__).parent / "images" / "mobility.png")
