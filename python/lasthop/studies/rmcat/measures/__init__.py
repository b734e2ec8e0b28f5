"""From a run's packet log to the figures of a case (RFC 8868 §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..network.cases import MARGIN_S, Case, Segment
from ..network.path import VIDEO
from .log import BIN_S, Flow, Log, binned, read
from .over_time import WINDOWS_S, between, converged, largest_ratio, swings

if TYPE_CHECKING:
    from lasthop.results import Result, Table
    from lasthop.studies.grid import Array

__all__ = ["line", "over_time", "reduced"]


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
        **_queue(log.queue_s, log.queue_ms, 0.0, end),
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
        **_queue(log.queue_s, log.queue_ms, begin, end),
        "queue_largest_ms": float(log.queue_ms[(log.queue_s > begin) & (log.queue_s <= end)].max(initial=0.0)),
    }


def _queue(times: Array, queue: Array, begin: float, end: float) -> dict[str, float]:
    here = queue[(times > begin) & (times <= end)]
    if not len(here):
        return {"queue_ms": float("nan"), "queue_p95_ms": float("nan")}
    return {"queue_ms": float(here.mean()), "queue_p95_ms": float(np.percentile(here, 95))}


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
        made["tcp_kbps"] = float(between(sum(tcp), case.media[0].start_s, end).mean())
        made["tcp_loss_pct"] = _lost(list(log.others))
    if any(flow.pause_s for flow in case.media):
        pause = case.segments[1]
        made["others_kbps"] = float(min(between(media[n], *pause.last_third).mean() for n in pause.flows))
    if len(settled) > 1:
        rates = [float(one.mean()) for one in settled]
        made["first_to_others"] = rates[0] / max(float(np.mean(rates[1:])), 1e-3)
        made["largest_kbps"] = max(rates)
    if case.chain:
        for (a, b), mbps in case.chain.items():
            carried = log.carried[f"{a}-{b}"]
            made[f"carried_{a}{b}"] = float(carried[len(carried) // 3 :].mean()) / (1e3 * mbps)
    return made


def _frames(result: Result, case: Case) -> dict[str, float]:
    """What the users of forward flows see."""
    forward = [f"{VIDEO} {n}" for n, flow in enumerate(case.media) if flow.forward]
    rows = np.isin(result.media["flow"].astype(str), forward)
    late, delay, frozen = (result.media[name][rows] for name in ("late_or_lost_pct", "frame_delay_ms_p95", "frozen_s"))
    return {
        "late_pct": float(np.nanmean(late)),
        "frame_delay_p95_ms": float(np.nanmean(delay)),
        "frozen_s": float(np.nanmean(frozen)),
    }


def over_time(result: Result) -> Table:
    """Rate, one-way delay and queue by the second, of each video flow."""
    import pyarrow as pa

    from lasthop.results import Table

    log = read(result)
    count = round(log.case.seconds)
    second = np.arange(1, count + 1, dtype=float)
    which = np.minimum(np.ceil(log.queue_s).astype(int), count) - 1
    held = log.queue_s > 0
    total = np.bincount(which[held], weights=log.queue_ms[held], minlength=count)
    queue = total / np.maximum(np.bincount(which[held], minlength=count), 1)
    tables = []
    for number, flow in enumerate(log.videos):
        rate = binned(flow.received_s, flow.received_bytes, log.case.seconds, 1.0)
        place = np.minimum(flow.received_s.astype(int), count - 1)
        arrived = np.bincount(place, minlength=count)
        with np.errstate(invalid="ignore"):
            delay = np.bincount(place, weights=flow.delay_ms, minlength=count) / arrived
        tables.append(
            pa.table(
                {"time_s": second, "flow": np.full(count, number), "kbps": rate, "delay_ms": delay, "queue_ms": queue}
            )
        )
    return Table(pa.concat_tables(tables))
