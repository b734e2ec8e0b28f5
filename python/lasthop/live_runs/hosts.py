"""Scenarios of live runs: their hosts and programs as the command line names them, links by traces, recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lasthop import files, traces
from lasthop.errors import ScenarioError
from lasthop.scenario import Scenario, from_text, load

__all__ = ["TRACED", "apart", "recorded", "traced", "with_hosts"]

#: The host whose link follows a trace, and the one at its other end.
TRACED = "phone"
OTHER = "server"


def with_hosts(
    scenario: Scenario,
    *,
    hosts: Sequence[tuple[str, str]] = (),
    runs: Sequence[tuple[str, str]] = (),
    groups: Sequence[tuple[str, str]] = (),
    late: str | None = None,
    memory: str | None = None,
    offload: bool = False,
    seed: int | None = None,
) -> Scenario:
    """The scenario with more hosts (nodes, perhaps with addresses), programs (of sh, by nodes), addresses of groups."""
    live: dict[str, Any] = scenario.to_dict().get("live", {})
    listed: list[dict[str, Any]] = live.setdefault("host", [])

    def host(node: str) -> dict[str, Any]:
        for one in listed:
            if one["node"] == node:
                return one
        listed.append({"node": node})
        return listed[-1]

    for node, address in hosts:
        host(node).update({"address": address} if address else {})
    for node, command in runs:
        if host(node).get("run"):
            raise ScenarioError(f"host {node!r} has a program already: join them with & in one command", path="live")
        host(node)["run"] = ["sh", "-c", command]
    said = {"late": late, "memory": memory, "offload": offload or None}
    live.update({name: value for name, value in said.items() if value is not None})
    if groups:
        live["group"] = {**live.get("group", {}), **dict(groups)}
    # A recording has no file from whose name the scenario could have its own.
    changes: dict[str, Any] = {"name": scenario.name, "live": live}
    if seed is not None:
        changes["seed"] = seed
    return scenario.with_(changes)


def traced(down: Path, up: Path, delay: str, queue: Any) -> Scenario:
    """A link that follows two traces, as mm-delay and mm-link make one."""
    texts = {"down": traces.text_of(down), "up": traces.text_of(up)}
    link = {"name": "link", "between": [OTHER, TRACED], "trace": texts, "delay": delay, "queue": queue}
    hosts = [{"node": OTHER}, {"node": TRACED}]
    return load({"name": down.stem, "link": [link], "live": {"host": hosts}})


def recorded(folder: Path) -> Scenario:
    """The scenario of a recording, as long as it lasted."""
    with files.named(folder / "live.json"):
        about = json.loads((folder / "live.json").read_text(encoding="utf-8"))
    scenario = about["scenario"]
    if about["end_ns"]:
        scenario["duration"] = f"{1e-9 * about['end_ns']:.9f} s"
    return from_text(json.dumps(scenario), origin=str(folder / "live.json"))


def apart(
    scenario: Scenario, hosts: Sequence[str] | None = None
) -> tuple[Scenario, list[str], list[tuple[str, list[str]]]]:
    """The scenario without its programs; its hosts, those that are named or else its own; and its programs by hosts."""
    data = scenario.to_dict()
    radios = _radios(data)
    live = data.get("live", {})
    programs, single = [], []
    for host in live.get("host", []):
        words = host.pop("run", [])
        for node in _called(host["node"], radios):
            single.append({**host, "node": node})
            programs += [(node, words)] if words else []
    if single:
        live["host"] = single
    if hosts is None:
        named = [host["node"] for host in single] or _ends(data, radios)
    else:
        named = [node for name in hosts for node in _called(name, radios)] + [node for node, _ in programs]
    # A scenario without a file has its name from here.
    changes = {"name": scenario.name, **({"live": live} if single else {})}
    return scenario.with_(changes), list(dict.fromkeys(named)), programs


def _radios(data: dict[str, Any]) -> dict[str, int]:
    """Cells with the number of their terminals."""
    return {one["name"]: one["ues"] for kind in ("cell", "hsdpa", "mbms") for one in data.get(kind, [])}


def _ends(data: dict[str, Any], radios: dict[str, int]) -> list[str]:
    """The ends of flows."""
    groups = {group["name"] for group in data.get("group", [])}
    ends = [flow[end] for flow in data.get("flow", []) for end in ("from", "to")]
    return list(dict.fromkeys(end for end in ends if end not in groups and _called(end, radios) == [end]))


def _called(name: str, radios: dict[str, int]) -> list[str]:
    """The nodes that a name stands for: ``NAME.ue[*]`` and ``NAME.ue[A:B]`` are terminals of a radio."""
    found = re.fullmatch(r"(.*)\.ue\[(?:\*|(\d*):(\d*))\]", name)
    if not found or found[1] not in radios:
        return [name]
    radio, first, end = found.groups()
    return [f"{radio}.ue[{n}]" for n in range(int(first or 0), int(end or radios[radio]))]
