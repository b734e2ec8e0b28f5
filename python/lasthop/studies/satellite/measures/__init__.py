"""What is kept of a run: rates and layers in each stage of the scenarios, what the controller did, what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop.results import Table
from lasthop.studies.series import Series, jain

from ..network import CONTROLLED, HEADERS, JITTER, LAYER_KBPS, MULTICAST, PACKET, TCP, Tree

if TYPE_CHECKING:
    from lasthop.results import Result
    from lasthop.studies.grid import Array


#: The stages of the scenarios, from 100 s after each change on.
STAGES = ((100.0, 500.0), (600.0, 1000.0), (1100.0, 1500.0))

#: From when on a run counts as settled where nothing changes.
SETTLED_S = 100.0

#: When sessions that started together are to be balanced (L6), and over how long that is looked at.
BALANCED_S = (55.0, 65.0)

#: Over how long rates are averaged before their variation is taken: some periods of TCP's sawtooth, which last 2 to 3 s
#: here; and twenty of them, which is as long as a timer of either scheme gets.
BIN_S, LONG_BIN_S = 10, 60

#: What is much lower and much higher than TCP's rate (L11): a step of RLM's layers doubles a rate, so that neighbours
#: stand by √2 on either side of an even share.
MUCH_LOWER, MUCH_HIGHER = 0.7, 1.4

#: How long after a change receivers of the tree may differ: a layer is added after 2 s, looked at every 0.25 s, and
#: takes up to 1 s to be called empty.
CHANGING_S = 5

#: Receivers of the tree that stand for those of a bottleneck and are each behind another one.
MIXED = "mixed"

#: How fast an empty layer's packets can come by chance, above their rate: a packet more in a bin.
SLACK_KBPS = 8 * PACKET / 1000 / BIN_S

#: Packets of a layer in a bin, and their standard deviation: gaps are uniform around their mean.
LAYER_PACKETS = LAYER_KBPS * 1000 / 8 / PACKET * BIN_S
LAYER_SD = JITTER / math.sqrt(3) * math.sqrt(LAYER_PACKETS)

#: In so many standard deviations one bin of a thousand is more than its layers send on average.
CHANCE = 3.09


def _kind(flow: str) -> str:
    return MULTICAST if flow.startswith(MULTICAST) else TCP


def wire_kbytes(flow: str, goodput_kbps: Any) -> Any:
    """A goodput in kbit/s of payload as kB/s on the wire."""
    return goodput_kbps / 8 * PACKET / (PACKET - HEADERS[_kind(flow)])


def _flows(result: Result) -> list[str]:
    return list(dict.fromkeys(result.flows["flow"].tolist()))


def _state(result: Result) -> dict[tuple[str, str, str], float]:
    """The values of the table `state`, by name, node and quantity."""
    state = result.state
    columns = (state[name].tolist() for name in ("name", "node", "quantity", "value"))
    return {(name, node, quantity): value for name, node, quantity, value in zip(*columns, strict=True)}


def line(result: Result) -> Mapping[str, float]:
    """A run of the paper's network."""
    series, state, flows = Series(result.series), _state(result), _flows(result)
    starts = dict(zip(result.flows["flow"].tolist(), result.flows["start_s"].tolist(), strict=True))
    end = float(series.of(CONTROLLED, "throughput_kbps")[0][-1])
    kept: dict[str, float] = {}
    receivers = _receivers(result)
    for stage, (begin, until) in enumerate(STAGES):
        if until <= end:
            kept |= _stage(series, starts, receivers, begin, until, f"_{stage}")
    kept |= _stage(series, starts, receivers, SETTLED_S, end, "")
    kept |= _balance(series, flows, end)
    kept |= _against_tcp(series, flows, end)
    kept |= _control(result, state, end)
    kept |= _changes(series, starts, receivers, end)
    kept |= _waste(series, flows)
    kept |= _waste_of_sent(series, starts, end)
    for flow, node, goodput in zip(
        *(result.flows[name].tolist() for name in ("flow", "to", "goodput_kbps")), strict=True
    ):
        if _kind(flow) == MULTICAST:
            kept[f"received {flow} at {node}"] = wire_kbytes(flow, goodput) * 8 / LAYER_KBPS
    tcp = [_kind(flow) == TCP for flow in result.flows["flow"].tolist()]
    for name, column in (("tcp_rtt_ms", "rtt_ms_p50"), ("tcp_loss_pct", "loss_pct"), ("tcp_timeouts", "timeouts")):
        kept[name] = float(np.mean(result.flows[column][tcp])) if any(tcp) else float("nan")
    return kept


def _receivers(result: Result) -> dict[str, list[str]]:
    """By session: the names of its receivers in the series."""
    made: dict[str, list[str]] = {}
    for flow, node in zip(result.flows["flow"].tolist(), result.flows["to"].tolist(), strict=True):
        if _kind(flow) == MULTICAST:
            made.setdefault(flow, []).append(f"{flow} at {node}")
    return made


def _stage(
    series: Series,
    starts: Mapping[str, float],
    receivers: Mapping[str, list[str]],
    begin: float,
    until: float,
    suffix: str,
) -> dict[str, float]:
    """Rates in kB/s on the wire, layers, how even and how steady they are; not a number of flows that start later."""
    kept: dict[str, float] = {}
    there = [flow for flow, start in starts.items() if start <= begin]
    rates = {flow: wire_kbytes(flow, series.mean(flow, "goodput_kbps", begin, until)) for flow in there}
    kept |= {f"kbytes {flow}{suffix}": rates.get(flow, float("nan")) for flow in starts}
    for kind in (MULTICAST, TCP):
        mine = [flow for flow in there if _kind(flow) == kind]
        kept[f"kbytes {kind}{suffix}"] = _mean([rates[flow] for flow in mine])
        kept[f"cov {kind}{suffix}"] = _mean([_variation(series, flow, begin, until, BIN_S) for flow in mine])
        kept[f"long cov {kind}{suffix}"] = _mean([_variation(series, flow, begin, until, LONG_BIN_S) for flow in mine])
    kept[f"jain{suffix}"] = jain(np.array(list(rates.values())))
    sent, capacity = (series.mean(CONTROLLED, name, begin, until) for name in ("throughput_kbps", "rate_bps"))
    kept[f"utilisation{suffix}"] = 1000 * sent / capacity
    spreads = []
    for flow, names in receivers.items():
        times, layers = series.of(names[0], "layers")
        here = layers[(times > begin) & (times <= until)] if flow in there else np.full(1, np.nan)
        spreads.append(float(here.std()))
        kept[f"layers {flow}{suffix}"] = rates.get(flow, float("nan")) * 8 / LAYER_KBPS
        kept[f"subscribed {flow}{suffix}"] = float(here.mean())
        kept[f"subscribed_sd {flow}{suffix}"] = spreads[-1]
        kept[f"subscribed_cov {flow}{suffix}"] = spreads[-1] / float(here.mean()) if here.any() else float("nan")
    kept[f"subscribed_sd{suffix}"] = _mean([one for one in spreads if not np.isnan(one)])
    return kept


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _binned(series: Series, flow: str, begin: float, until: float, seconds: int) -> Array:
    """Means of a flow's goodput over bins."""
    times, values = series.of(flow, "goodput_kbps")
    here = values[(times > begin) & (times <= until)]
    whole = len(here) // seconds * seconds
    made: Array = here[:whole].reshape(-1, seconds).mean(axis=1)
    return made


def _variation(series: Series, flow: str, begin: float, until: float, seconds: int) -> float:
    """The coefficient of variation of a flow's goodput."""
    binned = _binned(series, flow, begin, until, seconds)
    return float(binned.std() / binned.mean()) if len(binned) and binned.mean() else float("nan")


def _balance(series: Series, flows: list[str], end: float) -> dict[str, float]:
    """How far sessions are from their final mean soon after the start, in layers; and phase 2 from then on."""
    early, late = BALANCED_S
    apart = []
    for flow in flows:
        if _kind(flow) == MULTICAST:
            soon, final = (
                wire_kbytes(flow, series.mean(flow, "goodput_kbps", begin, until)) * 8 / LAYER_KBPS
                for begin, until in ((early, late), (SETTLED_S, end))
            )
            apart.append(abs(soon - final))
    times, phase = series.of(CONTROLLED, "phase")
    after = phase[times > late]
    balanced = float((after == 2).mean()) if len(after) else float("nan")
    return {"unbalanced_layers": max(apart, default=float("nan")), "balanced": balanced}


def _against_tcp(series: Series, flows: list[str], end: float) -> dict[str, float]:
    """For which share of bins a session has much less, or much more, than TCP flows have on average."""
    rates = {
        kind: [
            wire_kbytes(flow, _binned(series, flow, SETTLED_S, end, LONG_BIN_S))
            for flow in flows
            if _kind(flow) == kind
        ]
        for kind in (MULTICAST, TCP)
    }
    if not all(rates.values()):
        return dict.fromkeys(("much_lower", "much_higher"), float("nan"))
    ratio = np.array(rates[MULTICAST]) / np.maximum(np.mean(rates[TCP], axis=0), 1e-9)
    return {"much_lower": float((ratio < MUCH_LOWER).mean()), "much_higher": float((ratio > MUCH_HIGHER).mean())}


def _changes(
    series: Series, starts: Mapping[str, float], receivers: Mapping[str, list[str]], end: float
) -> dict[str, float]:
    """How often the layers of a session change in an hour, in the stages; by receivers if there is no controller."""
    changes = hours = 0.0
    for begin, until, there in _stages(starts, end):
        hours += len(there) * (until - begin) / 3600
        for flow in there:
            times, layers = series.of(receivers[flow][0], "layers")
            here = layers[(times >= begin) & (times <= until)]
            changes += 0.0 if _controlled(series) else float((np.diff(here) != 0).sum())
        changes += sum(series.grown(CONTROLLED, name, begin, until) for name in ("releases", "blocks") if there)
    return {"changes_per_session_h": changes / hours if hours else float("nan")}


def _controlled(series: Series) -> bool:
    return len(series.of(CONTROLLED, "phase")[0]) > 0


def _stages(starts: Mapping[str, float], end: float) -> list[tuple[float, float, list[str]]]:
    """The stages that end within the run, with the sessions that are there."""
    sessions = {flow: start for flow, start in starts.items() if _kind(flow) == MULTICAST}
    return [
        (begin, until, [flow for flow, start in sessions.items() if start <= begin])
        for begin, until in STAGES
        if until <= end
    ]


def _control(result: Result, state: Mapping[tuple[str, str, str], float], end: float) -> dict[str, float]:
    """What the controller did, and the messages of receivers and routers, in an hour."""
    hours = end / 3600
    kept: dict[str, float] = {}

    def of_link(quantity: str) -> float:
        return state.get((CONTROLLED, "", quantity), float("nan"))

    kept["changes_per_h"] = (of_link("releases") + of_link("blocks")) / hours
    kept["releases_per_h"], kept["blocks_per_h"] = of_link("releases") / hours, of_link("blocks") / hours
    phases = [of_link(f"phase_{n}_s") for n in (1, 2, 3)]
    for n, seconds in enumerate(phases, 1):
        kept[f"phase_{n}"] = seconds / sum(phases)
        kept[f"longest_phase_{n}_s"] = of_link(f"longest_phase_{n}_s")
    kept["phase_3_ms_p50"] = of_link("phase_3_ms_p50")
    kept["overflowed_phase_3_ms_p50"] = of_link("overflowed_phase_3_ms_p50")
    kept["blocked_packets"] = of_link("blocked_packets")
    names = ("joins_sent", "leaves_sent", "grafts_sent", "prunes_sent")
    sums = {name: sum(value for (_, _, quantity), value in state.items() if quantity == name) for name in names}
    kept["grafts_and_prunes_per_h"] = (sums["grafts_sent"] + sums["prunes_sent"]) / hours
    kept["joins_and_leaves_per_h"] = (sums["joins_sent"] + sums["leaves_sent"]) / hours
    told = sum(value for (_, _, quantity), value in state.items() if quantity == "messages_sent")
    kept["told_per_h"] = told / hours
    kept["messages_per_h"] = sum(sums.values()) / hours + kept["told_per_h"]
    kept["handoffs"] = state.get(("gateway down", "", "handoffs"), 0.0) + state.get(
        ("remote down", "", "handoffs"), 0.0
    )
    failed = [value for (_, _, quantity), value in state.items() if quantity == "failed_experiments"]
    kept["failed_per_h"] = sum(failed) / hours
    drops = result.drops
    over = (drops["place"] == CONTROLLED) & (drops["cause"] == "overflow")
    kept["overflow_per_h"] = float(drops["packets"][over].sum()) / hours
    return kept


def _waste(series: Series, flows: list[str]) -> dict[str, float]:
    """What comes to the gateway of multicast sessions and is not sent up.

    On average, and in which share of bins it is more than an empty layer for each session.
    """
    sessions = [flow for flow in flows if _kind(flow) == MULTICAST]
    times, blocked = series.of(CONTROLLED, "blocked_packets")
    if not len(times):
        # Nothing is ever blocked without the controller.
        return dict.fromkeys(("waste_kbps", "waste_over", "waste_most_kbps"), float("nan"))
    settled = times >= SETTLED_S
    kbps = np.diff(blocked[settled]) * 8 * PACKET / 1000 / np.diff(times[settled])
    whole = len(kbps) // BIN_S * BIN_S
    binned = kbps[:whole].reshape(-1, BIN_S).mean(axis=1)
    most = len(sessions) * LAYER_KBPS + SLACK_KBPS * len(sessions)
    return {
        "waste_kbps": float(kbps.mean()),
        "waste_over": float((binned > most).mean()),
        "waste_most_kbps": float(binned.max()),
    }


def _waste_of_sent(series: Series, starts: Mapping[str, float], end: float) -> dict[str, float]:
    """What is wasted of what the sources send in a layer for each session that is there.

    On average, and in which share of bins it is more than they send but once in a thousand by chance.
    """
    wasted = bound = 0.0
    beyond: list[bool] = []
    for begin, until, there in _stages(starts, end):
        times, blocked = series.of(CONTROLLED, "blocked_packets")
        here = blocked[(times >= begin) & (times <= until)]
        if not there or not len(here):
            continue
        binned = np.diff(here[::BIN_S])
        wasted += float(here[-1] - here[0])
        bound += len(there) * LAYER_PACKETS * (until - begin) / BIN_S
        most = len(there) * LAYER_PACKETS + CHANCE * math.sqrt(len(there)) * LAYER_SD
        beyond += (binned > most).tolist()
    if not beyond:
        return dict.fromkeys(("waste_of_bound", "waste_beyond"), float("nan"))
    return {"waste_of_bound": wasted / bound, "waste_beyond": float(np.mean(beyond))}


def over_time(result: Result) -> Table:
    """Layers, rates and the queue by the second."""
    series = Series(result.series)
    receivers = _receivers(result)
    wanted = [(flow, "goodput_kbps") for flow in _flows(result)]
    wanted += [(names[0], "layers") for names in receivers.values()]
    wanted += [(CONTROLLED, "queue_packets"), (CONTROLLED, "phase")]
    columns: dict[str, list[Any]] = {"name": [], "quantity": [], "time_s": [], "value": []}
    for name, quantity in wanted:
        times, values = series.of(name, quantity)
        columns["name"] += [name] * len(times)
        columns["quantity"] += [quantity] * len(times)
        columns["time_s"] += times.tolist()
        columns["value"] += values.tolist()
    return Table(pa.table(columns))


def branches(result: Result) -> Mapping[str, float]:
    """A run of the tree: layers of each receiver, and for how long receivers of a branch held different ones."""
    series = Series(result.series)
    kept: dict[str, float] = {}
    groups = {branch.name: branch.members for branch in Tree.BRANCHES}
    groups[MIXED] = [branch.members[-1] for branch in Tree.BRANCHES]
    for session in range(1, Tree.SESSIONS + 1):
        flow = f"{MULTICAST} {session}"
        for member in (member for branch in Tree.BRANCHES for member in branch.members):
            goodput = result.flows["goodput_kbps"][(result.flows["flow"] == flow) & (result.flows["to"] == member)]
            kept[f"layers {session} {member}"] = float(wire_kbytes(flow, goodput[0])) * 8 / LAYER_KBPS
        for name, members in groups.items():
            kept |= {f"{what} {session} {name}": value for what, value in _differ(series, flow, members).items()}
    for flow, goodput in zip(*(result.flows[name].tolist() for name in ("flow", "goodput_kbps")), strict=True):
        if _kind(flow) == TCP:
            kept[f"kbytes {flow}"] = float(wire_kbytes(flow, goodput))
    return kept


def _differ(series: Series, flow: str, members: Sequence[str]) -> dict[str, float]:
    """For how long receivers that behave hold different layers: at all, at most, and without a recent change."""
    behaved = [member for member in members if member != Tree.MISBEHAVES]
    times = series.of(f"{flow} at {behaved[0]}", "layers")[0]
    layers = np.array([series.of(f"{flow} at {member}", "layers")[1] for member in behaved])
    settled = times > SETTLED_S
    apart = (layers != layers[0]).any(axis=0)
    stale = apart & ~_recent(layers)
    return {
        "apart": float(apart[settled].mean()),
        "longest_apart_s": float(_longest(apart[settled])),
        "stale": float(stale[settled].mean()),
    }


def _recent(layers: Array) -> Any:
    """At which seconds one of the receivers changed its layers a little before."""
    changed = np.concatenate(([False], (np.diff(layers, axis=1) != 0).any(axis=0)))
    return np.convolve(changed, np.ones(CHANGING_S + 1), "full")[: len(changed)] > 0


def _longest(marks: Any) -> int:
    """The longest stretch of marks."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], marks.astype(int), [0]))))
    return int(np.max(edges[1::2] - edges[::2], initial=0))


def counters(result: Result) -> Mapping[str, float]:
    """State and operations at the controlled link, and how many other places have any."""
    state = _state(result)
    here = {quantity: value for (name, _, quantity), value in state.items() if name.startswith("bottleneck a>")}
    others = {
        name for (name, _, quantity), value in state.items() if quantity in ("state_bytes", "additions_in") and value
    }
    return {
        "state_bytes": here["state_bytes"],
        "additions_in": here["additions_in"],
        "sessions": here["multicast_sessions"] + here["tcp_sessions"],
        "other_places": float(len([name for name in others if not name.startswith("bottleneck a>")])),
        "packets": here["packets"],
    }
