"""What the runs gave, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lasthop.stats import number
from lasthop.studies import records
from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Numbers
from lasthop.studies.records import Named, Row, said

from . import data as grids
from . import scenario as scenarios
from .data import Data
from .judges.scenarios import ideal, present
from .measures import STAGES
from .network import LAYER_KBPS, MULTICAST, TCP, Setting, Tree
from .paper import PRINTED, TABLE_1


def tables(data: Data, numbers: Mapping[str, Numbers]) -> dict[str, Named]:
    """All tables."""
    made = records.tables(
        data,
        {
            "table-1": ("Table I: the scheme's parameters, the paper's and the run's.", _parameters),
            "table-shares": (
                "Rates of sessions in kB/s on the wire, from 100 s after each change: the paper's, the ideal interval "
                "if multicast has 1 to 1.2 times what TCP has, and ours with 95 % intervals.",
                _shares,
            ),
            "table-control": ("What the controller did: scenarios, a longer way, and without adaptations.", _control),
            "table-rlm": ("RLM against queue-phase control in scenario 1, from 100 s on.", _rlm),
            "table-robust": (
                "What the text claims beyond the scenarios: layers that pass the bottleneck, of a session on average, "
                "rates in kB/s, and what is wasted before the gateway.",
                _robust,
            ),
            "table-tree": ("Layers in the tree, with and without a receiver that takes all layers.", _tree),
            "table-state": ("State and work at the controlled link; other places have none.", _state),
        },
    )
    return {**made, "costs": records.costs(numbers), **records.runs(numbers)}


def _parameters(_data: Data) -> list[Row]:
    queue = scenarios.state({"sessions": 1}, Setting()).to_dict()["link"][1]["queue"]["queue_phase"]
    return [
        {"paper": paper, "meaning": meaning, "here": here, "paper's value": value, "run": str(queue[here])}
        for paper, meaning, here, value in TABLE_1
    ]


def _shares(data: Data) -> list[Row]:
    rows = []
    for scenario in scenarios.BEGINNINGS:
        for stage, (begin, end) in enumerate(STAGES):
            flows = present(scenario, stage)
            bands = ideal(scenario, stage)

            def of(quantity: str, scenario: int = scenario, stage: int = stage) -> str:
                return said(data.at(grids.SCENARIOS, f"{quantity}_{stage}", scenario=scenario))

            row: Row = {
                "scenario": scenario,
                "from–to (s)": f"{begin:g}–{end:g}",
                "sessions": f"{len(flows[MULTICAST])} multicast, {len(flows[TCP])} TCP",
                "paper": str(PRINTED[scenario][stage]),
            }
            for kind, name in ((MULTICAST, "multicast"), (TCP, "TCP")):
                there = bool(flows[kind])
                low, high = bands[kind]
                row[f"{name}, ideal"] = f"{number(low, 1)}–{number(high, 1)}" if there else "–"
                row[f"{name}"] = of(f"kbytes {kind}") if there else "–"
            row["layers of each session"] = (
                ", ".join(number(data.mean(grids.SCENARIOS, f"layers {one}_{stage}", scenario=scenario).mean, 1)
                          for one in flows[MULTICAST]) or "–"
            )  # fmt: skip
            row["Jain's index"] = of("jain")
            row["utilisation"] = of("utilisation")
            rows.append(row)
    return rows


def _control(data: Data) -> list[Row]:
    cases: list[tuple[str, str, dict[str, Any]]] = [
        *((f"scenario {n}", grids.SCENARIOS, {"scenario": n}) for n in scenarios.BEGINNINGS),
        ("scenario 1, round-trip time 200 ms", grids.ROUND_TRIP, {}),
        *(
            (
                f"no TCP, {rate} kbit/s, F_QuThresh1 = {few:g}",
                grids.ALONE,
                {"rate_kbps": rate, "first_threshold": few},
            )
            for rate in scenarios.ALONE_KBPS
            for few in (0.0, scenarios.FEW)
        ),
        *(
            (f"{place} without {name}" if name != "none" else place, grid, {"without": name})
            for place, grid in ((scenarios.SCENARIO_1, grids.ADAPTATIONS), (scenarios.ENDING, grids.ENDING))
            for name in scenarios.ADAPTATIONS
        ),
    ]
    rows = []
    for name, grid, where in cases:
        if grid not in data.grids or not data.grid(grid).has(**where):
            continue

        def of(
            quantity: str,
            scale: float = 1.0,
            places: int | None = None,
            grid: str = grid,
            where: dict[str, Any] = where,
        ) -> str:
            return said(scale * data.at(grid, quantity, **where), places)

        rows.append(
            {
                "run": name,
                "releases an hour": of("releases_per_h"),
                "blocks an hour": of("blocks_per_h"),
                "phase 1 (%)": of("phase_1", 100, 2),
                "phase 2 (%)": of("phase_2", 100, 1),
                "phase 3 (%)": of("phase_3", 100, 1),
                "longest in 1 (s)": of("longest_phase_1_s", 1, 2),
                "longest in 3 (s)": of("longest_phase_3_s", 1, 1),
                "median in 3 (ms)": of("phase_3_ms_p50", 1, 0),
                "median with an overflow (ms)": of("overflowed_phase_3_ms_p50", 1, 0),
                "changes of a session's layers": of("changes_per_session_h", 1, 0),
                "σ of layers": of("subscribed_sd", 1, 2),
                "utilisation": of("utilisation", 1, 3),
                "handoffs": of("handoffs", 1, 1),
            }
        )
    return rows


def _rlm(data: Data) -> list[Row]:
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("queue phase", grids.SCENARIOS, {"scenario": 1}),
        ("RLM", grids.RLM, {}),
    ]
    quantities = {
        "session 1 (kB/s)": [f"kbytes {MULTICAST} 1"],
        "session 2 (kB/s)": [f"kbytes {MULTICAST} 2"],
        "TCP (kB/s)": [f"kbytes {TCP}"],
        "Jain's index": ["jain"],
        "utilisation": ["utilisation"],
        "minutes far below TCP (%)": ["much_lower"],
        "minutes far above (%)": ["much_higher"],
        "variation of multicast, 60 s": [f"long cov {MULTICAST}"],
        "variation of TCP, 60 s": [f"long cov {TCP}"],
        # As the claims have it, of both sessions.
        "variation of layers": [f"subscribed_cov {MULTICAST} 1", f"subscribed_cov {MULTICAST} 2"],
        "changes of a session's layers an hour": ["changes_per_session_h"],
        "joins and leaves an hour": ["joins_and_leaves_per_h"],
        "grafts and prunes an hour": ["grafts_and_prunes_per_h"],
        "drops an hour": ["overflow_per_h"],
    }
    return [
        {
            "scheme": title,
            **{
                name: said(
                    (100 if name.endswith("(%)") else 1) * np.mean([data.at(grid, one, **where) for one in of], axis=0)
                )
                for name, of in quantities.items()
            },
        }
        for title, grid, where in cases
    ]


def _robust(data: Data) -> list[Row]:
    cases: list[tuple[str, str, dict[str, Any]]] = []
    for grid in (
        grids.ERRORS, grids.RLM_ERRORS, grids.SLOW, grids.RLM_SLOW, grids.MISBEHAVING, grids.RLM_MISBEHAVING,
        grids.HELD, grids.PAIR, grids.ALONE, grids.UNCONTROLLED,
    ):  # fmt: skip
        if grid in data.grids:
            cases += [(_named(grid, point), grid, dict(point)) for point in data.grid(grid).points()]
    rows = []
    for name, grid, where in cases:

        def of(quantity: str, grid: str = grid, where: dict[str, Any] = where) -> str:
            try:
                return said(data.at(grid, quantity, **where))
            except NotRun:
                return "–"

        rows.append(
            {
                "experiment": grid,
                "run": name,
                "layers of session 1": of(f"layers {MULTICAST} 1"),
                "layers of session 2": of(f"layers {MULTICAST} 2"),
                "multicast (kB/s)": of(f"kbytes {MULTICAST}"),
                "TCP (kB/s)": of(f"kbytes {TCP}"),
                "utilisation": of("utilisation"),
                "drops an hour": of("overflow_per_h"),
                "wasted (kbit/s)": of("waste_kbps"),
                "wasted, of the bound": of("waste_of_bound"),
            }
        )
    if grids.WAITING in data.grids:
        for name, quantity in (
            ("from a release to its first packet (ms)", "release_ms"),
            ("from a join (ms)", "join_ms"),
            ("from a release to its first packet at the gateway (ms)", "release_ms_at_gateway"),
            ("from a join, at the gateway (ms)", "join_ms_at_gateway"),
        ):
            rows.append({"experiment": grids.WAITING, "run": f"{name}: {said(data.at(grids.WAITING, quantity))}"})
    return [{key: row.get(key, "–") for key in rows[0]} for row in rows]


def _named(grid: str, point: Mapping[str, Any]) -> str:
    units = {"loss_pct": " % lost", "delay_ms": " ms more", "leave_s": " s to leave"}
    if grid == grids.UNCONTROLLED:
        return f"scenario {point['scenario']}"
    if grid == grids.ALONE:
        return f"{point['rate_kbps']} kbit/s, F_QuThresh1 = {point['first_threshold']:g}"
    words = [f"{value:g}{units[name]}" if name in units else str(value) for name, value in point.items()]
    return f"window of {point['window']} packets" if grid == grids.HELD else ", ".join(words)


def _tree(data: Data) -> list[Row]:
    rows = []
    for branch in Tree.BRANCHES:
        for session in range(1, Tree.SESSIONS + 1):

            def of(member: str, misbehaves: bool, session: int = session) -> Any:
                return data.at(grids.TREE, f"layers {session} {member}", misbehaves=misbehaves)

            others = [one for one in branch.members if one != Tree.MISBEHAVES]
            rows.append(
                {
                    "bottleneck": f"{branch.name}, {branch.rate_kbps:g} kbit/s, {branch.tcp} TCP",
                    "session": session,
                    "fair share": number(branch.rate_kbps / (Tree.SESSIONS + branch.tcp) / LAYER_KBPS, 1),
                    "layers, all behave": said(np.mean([of(one, misbehaves=False) for one in others], axis=0)),
                    "layers, one misbehaves": said(np.mean([of(one, misbehaves=True) for one in others], axis=0)),
                    "of the one": said(of(Tree.MISBEHAVES, misbehaves=True)) if Tree.MISBEHAVES in branch.members
                    and session == 1 else "–",
                    "receivers differ (% of the time)": said(
                        100 * data.at(grids.TREE, f"apart {session} {branch.name}", misbehaves=True)
                    ),
                    "longest (s)": said(
                        data.at(grids.TREE, f"longest_apart_s {session} {branch.name}", misbehaves=True)
                    ),
                }
            )  # fmt: skip
    return rows


def _state(data: Data) -> list[Row]:
    numbers = data.grid(grids.STATE)
    rows = []
    for count in numbers.axes["sessions"]:
        one = {name: float(values[0]) for name, values in
               ((name, numbers.at(name, sessions=count)) for name in numbers.values)}  # fmt: skip
        rows.append(
            {
                "multicast sessions": count,
                "TCP flows": count,
                "sessions known": number(one["sessions"], 0),
                "state (B)": number(one["state_bytes"], 0),
                "state for each (B)": number(one["state_bytes"] / one["sessions"], 1),
                "additions a packet": number(one["additions_in"], 2),
                "packets": number(one["packets"], 0),
                "other places with state": number(one["other_places"], 0),
            }
        )
    return rows
