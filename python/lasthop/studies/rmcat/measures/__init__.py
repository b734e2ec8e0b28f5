"""From a run's packet log to the figures of a case (RFC 8868 §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..network.cases import MARGIN_S, Case, Segment
from ..network.path import VIDEO
from .log import BIN_S, SAMPLED_S, Flow, Log, binned, read
from .rates import WINDOWS_S, between, converged, largest_ratio, swings

if TYPE_CHECKING:
    from lasthop.results import Result, Table
    from lasthop.studies.grid import Array

__all__ = ["FIRST_SEED", "line", "over_time", "reduced"]

#: The first seed of every grid.
FIRST_SEED = 1


def line(result: Result) -> Mapping[str, float]:
    """The figures of a run."""
    log = read(result)
    return {**reduced(log), **_frames(result, log.case)}


def reduced(log: Log) -> dict[str, float]:
    """The figures of a log."""
    case = log.case
    end = case.seconds - MARGIN_S
    sent = [binned(one.sent_s, one.sent_bytes, case.seconds) for one in log.videos]
    audio = [binned(one.sent_s, one.sent_bytes, case.seconds) for one in log.audios]
    received = [binned(one.received_s, one.received_bytes, case.seconds) for one in log.videos]
    media = [binned(one.received_s, one.media_bytes, case.seconds) for one in log.videos]
    made: dict[str, float] = {}
    times: list[float | None] = []
    uses, turns, watched = [], 0, 0.0
    for number, segment in enumerate(case.segments):
        found = _segment(log, segment, sent, audio, received, media)
        made |= {f"{name}_{number}": value for name, value in found.items()}
        uses.append(found["utilisation"])
        each = [converged(between(received[n], segment.begin_s, segment.end_s)) for n in segment.flows]
        times += each
        made[f"convergence_s_{number}"] = max((one for one in each if one is not None), default=float("nan"))
        for n in segment.flows:
            turns += swings(between(sent[n], segment.begin_s, segment.end_s), segment.share_kbps)
            watched += segment.end_s - segment.begin_s
    if case.chain:
        made["second_utilisation"] = _second(log, [one + two for one, two in zip(sent, audio, strict=True)])
        uses.append(made["second_utilisation"])
    last = case.segments[-1]
    settled = [between(received[n], *last.settled) for n in last.flows]
    known = [one for one in times if one is not None]
    forward = [n for n, flow in enumerate(case.media) if flow.forward]
    active = [between(media[n], case.media[n].start_s, end) for n in forward]
    return {
        **made,
        "rate_kbps": float(np.mean([one.mean() for one in active])),
        "least_kbps": float(min(one.mean() for one in active)),
        "utilisation": min(uses),
        **_queue(log, 0.0, end),
        **_delay([log.videos[n] for n in forward]),
        "loss_pct": _lost([log.videos[n] for n in forward]),
        "convergence_s": max(known, default=float("nan")),
        "unconverged": float(len(times) - len(known)),
        "turns_per_min": 60 * turns / watched,
        **{f"ratio_{window:g}s": largest_ratio(settled, window) for window in WINDOWS_S},
        "feedback_kbps": 8e-3
        * sum(log.videos[n].feedback_bytes for n in forward)
        / sum(len(one) * BIN_S for one in active),
        **_special(log, media, settled),
    }


def _segment(
    log: Log, segment: Segment, sent: list[Array], audio: list[Array], received: list[Array], media: list[Array]
) -> dict[str, float]:
    """The figures of the settled part of a segment."""
    begin, end = segment.settled
    both = sum(between(sent[n] + audio[n], begin, end).mean() for n in segment.flows)
    return {
        "utilisation": float(both) / segment.usable_kbps,
        "wire_kbps": float(np.mean([between(received[n], begin, end).mean() for n in segment.flows])),
        "media_kbps": float(np.mean([between(media[n], begin, end).mean() for n in segment.flows])),
        **_queue(log, begin, end),
    }


def _queue(log: Log, begin: float, end: float) -> dict[str, float]:
    """The queue in a time."""
    waits = log.queue_ms[round(begin / SAMPLED_S) : round(end / SAMPLED_S)]
    if not len(waits):
        return dict.fromkeys(("queue_ms", "queue_p95_ms", "queue_largest_ms"), float("nan"))
    return {
        "queue_ms": float(waits.mean()),
        "queue_p95_ms": float(np.percentile(waits, 95)),
        "queue_largest_ms": float(waits.max()),
    }


def _second(log: Log, sent: list[Array]) -> float:
    """The utilisation of the last link of a chain, settled."""
    case = log.case
    (a, b), mbps = list(case.chain.items())[-1]
    over = [n for n, flow in enumerate(case.media) if flow.way[0] <= a and flow.way[1] >= b]
    return float(sum(between(sent[n], *case.segments[-1].settled).mean() for n in over)) / (1e3 * mbps)


def _delay(flows: list[Flow]) -> dict[str, float]:
    delays = np.concatenate([one.delay_ms for one in flows])
    if not len(delays):
        return {"delay_ms": float("nan"), "delay_p95_ms": float("nan")}
    return {"delay_ms": float(delays.mean()), "delay_p95_ms": float(np.percentile(delays, 95))}


def _lost(flows: list[Flow]) -> float:
    sent = sum(len(one.sent_s) for one in flows)
    return 100 * sum(one.dropped for one in flows) / sent if sent else float("nan")


def _special(log: Log, media: list[Array], settled: list[Array]) -> dict[str, float]:
    """What single cases ask for beside."""
    case, made = log.case, {}
    end = case.seconds - MARGIN_S
    if log.others:
        tcp = [binned(one.received_s, one.media_bytes, case.seconds) for one in log.others]
        made["tcp_kbps"] = float(between(np.sum(tcp, axis=0), case.media[0].start_s, end).mean())
        made["tcp_loss_pct"] = _lost(list(log.others))
    if any(flow.pause_s for flow in case.media):
        pause = case.segments[1]
        made["others_kbps"] = float(min(between(media[n], *pause.last_third).mean() for n in pause.flows))
    if len(settled) > 1:
        rates = [float(one.mean()) for one in settled]
        made["first_to_others"] = rates[0] / max(float(np.mean(rates[1:])), 1e-3)
        made["largest_kbps"] = max(rates)
    return made


def _frames(result: Result, case: Case) -> dict[str, float]:
    """What the users of forward flows see."""
    if "media" not in result.tables:
        return {}
    forward = [f"{VIDEO} {n}" for n, flow in enumerate(case.media) if flow.forward]
    rows = np.isin(result.media["flow"].astype(str), forward)
    late, delay, frozen = (result.media[name][rows] for name in ("late_or_lost_pct", "frame_delay_ms_p95", "frozen_s"))
    return {
        "late_pct": float(np.nanmean(late)),
        "frame_delay_p95_ms": float(np.nanmean(delay)),
        "frozen_s": float(np.nanmean(frozen)),
    }


def over_time(result: Result) -> Table:
    """Rate and one-way delay by the second, of each video flow; of the first seed alone, which is drawn."""
    import pyarrow as pa

    from lasthop.results import Table

    videos: tuple[Flow, ...] = ()
    count = 0
    if result.seed == FIRST_SEED:
        log = read(result)
        videos, count = log.videos, round(log.case.seconds)
    columns: dict[str, list[Array]] = {name: [np.zeros(0)] for name in ("time_s", "flow", "kbps", "delay_ms")}
    for number, flow in enumerate(videos):
        place = np.minimum(flow.received_s.astype(int), count - 1)
        with np.errstate(invalid="ignore"):
            delay = np.bincount(place, weights=flow.delay_ms, minlength=count) / np.bincount(place, minlength=count)
        rate = binned(flow.received_s, flow.received_bytes, count, 1.0)
        for name, values in zip(
            columns, (np.arange(1.0, count + 1), np.full(count, float(number)), rate, delay), strict=True
        ):
            columns[name].append(values)
    return Table(pa.table({name: np.concatenate(values) for name, values in columns.items()}))
