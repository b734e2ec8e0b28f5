"""Replays: one HTML file with packets on their way, queues, and what senders did, on a time line."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.report import page
from lasthop.results import INTERVAL_RATES
from lasthop.scenario import of_result
from lasthop.view.legs import Legs, legs

if TYPE_CHECKING:
    import numpy as np

    from lasthop.results import Result
    from lasthop.scenario import Scenario

__all__ = ["end_of_part", "recording", "write_view"]

#: The most hops that a page holds.
MOST = 200_000

#: Instants at which the positions of satellites are given; the page interpolates between them.
POSITIONS = 120

#: What is drawn below the map, as far as it was recorded.
CURVES = {
    "cwnd_packets": "congestion window (packets)",
    "queue_packets": "queue (packets)",
    "arrival_kbps": "throughput (kbit/s)",
}

#: The most lines of one of these.
LINES = 8


def recording(scenario: Scenario) -> Scenario:
    """The scenario with everything recorded that a replay shows."""
    from lasthop import plot

    asked = {"record.hops": True}
    if scenario.to_dict().get("hsdpa") or scenario.to_dict().get("cell"):
        asked["record.slots"] = True
    return plot.recording(scenario.with_(asked))


def write_view(result: Result, path: str | Path, *, begin: float = 0.0, end: float | None = None) -> Path:
    """Writes the replay of a run into one file. Its scenario has to record hops (:func:`recording`).

    Of more than 200,000 hops the first are taken, and the page says so; ``begin`` and ``end`` choose a part, in s.
    """
    if "packets" not in result.tables or "forwarded" not in set(result.packets["event"].tolist()):
        if "packets" in result.tables and not len(result.packets):
            raise ValueError("no packet was sent in this run")
        raise ValueError(
            "the run has no hops of packets: record them (record.hops = true), or `lasthop view` the scenario"
        )
    end = end_of_part(result.simulated_s, begin, end)
    scenario = of_result(result.scenario_text, origin=result.name)
    links = _links(scenario.to_dict())
    flows = result.flows["flow"].tolist()
    way = legs(result.packets, links, begin, end, MOST, result.tables.get("series"), flows)
    cut = len(way.left) == MOST
    if cut:
        end = float(way.left[-1] if way.left[-1] > begin else way.came.max())
    told = {
        "begin": begin,
        "end": end,
        "nodes": list(way.nodes),
        "hops": [list(hop) for hop in way.hops],
        "flows": [name or "signalling" for name in way.flows],
        "legs": _packed(way, begin),
        "curves": _curves(result, begin, end),
        "places": _places(scenario, result, way.nodes, begin, end),
        "served": _served(result, way.nodes, begin, end),
        "events": _events(scenario.to_dict(), result.session_changes, begin, end),
    }
    text = page.render("view/view.html.j2", told=told, name=result.name, seed=result.seed, cut=cut, count=len(way.left))
    return page.write(text, Path(path))


def end_of_part(simulated_s: float, begin: float, end: float | None) -> float:
    """Where a part of a run of this length ends. Raises ValueError if there is nothing in it."""
    end = simulated_s if end is None else min(end, simulated_s)
    if not 0 <= begin < end:
        raise ValueError(f"nothing to show from {begin:g} s to {end:g} s; the run has {simulated_s:g} s")
    return end


def _links(scenario: dict[str, Any]) -> list[tuple[str, str]]:
    """Neighbours that the scenario names."""
    return [tuple(link["between"]) for link in scenario.get("link", [])]


def _packed(way: Legs, begin: float) -> dict[str, str]:
    """Columns of numbers as text."""
    floats = {"left": way.left - begin, "came": way.came - begin, "flight": way.flight}
    return {
        **{name: _text(values, "<f4") for name, values in floats.items()},
        **{name: _text(values, "<u2") for name, values in {"hop": way.hop, "flow": way.flow}.items()},
        "kind": _text(way.dropped.astype(int) * 2 + way.data.astype(int), "<u1"),
    }


def _text(values: np.ndarray[Any, Any], kind: str) -> str:
    """A column of numbers as text."""
    return base64.b64encode(values.astype(kind).tobytes()).decode()


def _curves(result: Result, begin: float, end: float) -> list[dict[str, Any]]:
    """What was sampled: of each quantity the lines with the highest values."""
    if "series" not in result.tables:
        return []
    made = []
    for quantity, label in CURVES.items():
        series = result.series.where(quantity=quantity)
        names, times, values = series["name"], series["time_s"], series["value"]
        there = (times >= begin) & (times <= end)
        if quantity in INTERVAL_RATES and (times > end).any():
            # The end lies within the interval of the next sample.
            there |= times == times[times > end].min()
        highest: dict[str, float] = {}
        for name, value in zip(names[there].tolist(), values[there].tolist(), strict=True):
            highest[name] = max(value, highest.get(name, value))
        known = sorted(highest, key=lambda name: -highest[name])
        telling = [name for name in known if highest[name] > (1 if quantity == "queue_packets" else 0)]
        lines = [
            {
                "name": name,
                "x": [round(float(at) - begin, 4) for at in times[there & (names == name)]],
                "y": [float(f"{value:.5g}") for value in values[there & (names == name)]],
            }
            for name in telling[:LINES]
        ]
        if lines:
            made.append(
                {"label": label, "of": len(telling), "lines": lines, "step": -1 if quantity in INTERVAL_RATES else 1}
            )
    return made


def _places(
    scenario: Scenario, result: Result, nodes: Sequence[str], begin: float, end: float
) -> dict[str, Any] | None:
    """Where nodes are: on the globe over time, or on a map in metres; nothing if the scenario does not say."""
    import numpy as np

    if scenario.to_dict().get("constellation"):
        times = np.linspace(begin, end, POSITIONS)
        table = scenario.positions(*times.tolist())
        found: dict[str, Any] = {}
        columns = ("node", "kind", "longitude_deg", "latitude_deg")
        for node, kind, longitude, latitude in zip(*(table[name].tolist() for name in columns), strict=True):
            mine = found.setdefault(node, {"kind": kind, "at": []})
            mine["at"].append([round(longitude, 3), round(latitude, 3)])
        return {"globe": found}
    if "bearers" in result.tables and "x_m" in result.bearers.columns:
        rows = result.bearers.rows()
        at = {row["bearer"].rpartition(" ")[0]: [row["x_m"], row["y_m"]] for row in rows if row["x_m"] is not None}
        return {"map": {node: place for node, place in at.items() if node in nodes}} if at else None
    return None


def _served(result: Result, nodes: Sequence[str], begin: float, end: float) -> dict[str, Any] | None:
    """The terminals served in each slot."""
    if "slots" not in result.tables:
        return None
    import numpy as np

    place = {node: n for n, node in enumerate(nodes)}
    slots = result.slots
    node = np.array([place.get(bearer.rpartition(" ")[0], -1) for bearer in slots["bearer"].tolist()], int)
    there = (slots["time_s"] >= begin) & (slots["time_s"] <= end) & (node >= 0)
    if not there.any():
        return None
    return {
        "time": _text(slots["time_s"][there] - begin, "<f4"),
        "node": _text(node[there], "<u2"),
        "received": _text(slots["received"][there], "<u1"),
    }


def _events(
    scenario: dict[str, Any], session: Sequence[Mapping[str, Any]], begin: float, end: float
) -> list[dict[str, Any]]:
    """The changes of the scenario and of a session, by their times: one that repeats stands before those between.

    At one instant those of the session come first, as they did in the run.
    """
    from lasthop.view.times import seconds

    made = []
    for by, changes in (("changed by the caller: ", session), ("", scenario.get("change", []))):
        for change in changes:
            at = seconds(change["at"])
            if begin <= at <= end:
                said = {key: value for key, value in change.items() if key != "at" and value is not None}
                made.append({"at": at - begin, "said": by + ", ".join(f"{key} {value}" for key, value in said.items())})
    return sorted(made, key=lambda event: event["at"])
