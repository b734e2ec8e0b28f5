"""What is measured of a run: what a viewer and a queue see, over time and around the two changes.

The functions take plain arrays of samples, so that they can be held against made-up data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lasthop.studies.handover.measures import held

from ..network.paths import FLOW, PATHS, Path
from ..scenario import SAMPLED_S
from .samples import Samples

if TYPE_CHECKING:
    from lasthop.results import Result, Table
    from lasthop.studies.grid import Array

__all__ = ["BIN_S", "Watched", "line", "over_time", "read", "reduced"]

#: Frames are well again when of those of the last second at least this share comes in time, and when this goes on for
#: so long; a rate is back when
#: over the last second it is at least this share of what is due, and likewise. 80 % is the paper's study's 20 %.
SERVED, WINDOW_S, STAY_S = 0.8, 1.0, 5.0

#: What is called "after the change" where a claim speaks of the first time.
FIRST_S = 10.0

#: Figures over time have means of so long.
BIN_S = 0.5


@dataclass(frozen=True)
class Watched:
    """A run, sample by sample: what came since the sample before."""

    path: Path
    at: Array
    #: Payload that came for the first time, in kbit/s.
    kbps: Array
    #: Frames captured, come in time, come late, lost, and left out by the encoder.
    captured: Array
    in_time: Array
    late: Array
    lost: Array
    skipped: Array
    #: Frames that came, and their mean delay in milliseconds.
    arrived: Array
    delay_ms: Array
    #: The queue of the bottleneck, in milliseconds at its rate; not a number where it has none.
    queue_ms: Array

    def between(self, begin_s: float, end_s: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """The samples of a time."""
        return (self.at > begin_s + 1e-9) & (self.at <= end_s + 1e-9)

    @property
    def due_kbps(self) -> Array:
        """What the video can have at each instant."""
        fast, slow = self.path.due_kbps
        return np.where(self.between(self.path.down_s, self.path.up_s), slow, fast)


def read(result: Result) -> Watched:
    """Takes a run apart."""
    path = PATHS[result.name.partition(" ")[0]]
    samples = Samples(result.series, SAMPLED_S, path.end_s)
    so_far = {
        name: samples.so_far(FLOW, name)
        for name in ("frames", "frames_received", "frames_late", "frames_lost", "frames_skipped")
    }
    since = {name: np.diff(total, prepend=0.0) for name, total in so_far.items()}
    arrived, delay = (
        samples.of(FLOW, f"frame_delay_ms_{name}", none) for name, none in (("samples", 0.0), ("mean", np.nan))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        waiting, rate = (samples.of(path.bottleneck, name) for name in ("queue_bytes", "rate_bps"))
        queue = 8e3 * waiting / rate
    return Watched(
        path, samples.at, samples.of(FLOW, "arrival_kbps", 0.0), since["frames"],
        since["frames_received"] - since["frames_late"], since["frames_late"], since["frames_lost"],
        since["frames_skipped"], arrived, delay, queue,
    )  # fmt: skip


def line(result: Result) -> Mapping[str, float]:
    """The figures of a run."""
    of_flow = result.flows["flow"].tolist().index(FLOW)
    frozen = result.media["frozen_s"][result.media["flow"].tolist().index(FLOW)]
    return {**reduced(read(result)), "loss_pct": float(result.flows["loss_pct"][of_flow]), "frozen_s": float(frozen)}


def reduced(run: Watched) -> dict[str, float]:
    """The figures of samples."""
    path = run.path
    down, up, end = path.down_s, path.up_s, path.end_s
    parts = {
        "": (down, end),
        "_before": (down - FIRST_S, down),
        "_slow": (down, up),
        "_fast": (up, end),
        "_slow_first": (down, down + FIRST_S),
        "_slow_rest": ((down + up) / 2, up),
        "_fast_first": (up, up + FIRST_S),
        "_fast_rest": ((up + end) / 2, end),
    }
    made: dict[str, float] = {}
    for suffix, (begin_s, end_s) in parts.items():
        here = run.between(begin_s, end_s)
        made |= {f"{name}{suffix}": value for name, value in _in_a_time(run, here).items()}
    made["down_s"] = until_served(run, down, up)
    made["up_s"] = until_back(run, up, end)
    return made


def _in_a_time(run: Watched, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> dict[str, float]:
    captured, late, lost, skipped = (float(of[here].sum()) for of in (run.captured, run.late, run.lost, run.skipped))
    ended = late + lost + float(run.in_time[here].sum())
    known = here & (run.arrived > 0)
    due = run.due_kbps[here]
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "kbps": float(run.kbps[here].mean()),
            "share": float(run.kbps[here].sum() / due.sum()),
            "missed_pct": 100 * (late + lost + skipped) / captured if captured else float("nan"),
            "late_pct": 100 * (late + lost) / ended if ended else float("nan"),
            "delay_p95_ms": weighted_percentile(run.delay_ms[known], run.arrived[known], 95),
            "delay_ms": weighted_percentile(run.delay_ms[known], run.arrived[known], 50),
            "queue_ms": float(run.queue_ms[here].mean()),
            "in_time_share": _in_time_share(run, here),
        }


def _in_time_share(run: Watched, here: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """What came in frames in time, as a share of what is due.

    By the second, it is the rate times the share of the captured frames that are shown.
    """
    each = round(WINDOW_S / SAMPLED_S)
    count = int(here.sum()) // each
    if not count:
        return float("nan")
    sums = [of[here][: count * each].reshape(count, each).sum(axis=1) for of in
            (np.minimum(run.kbps, 10 * run.due_kbps), run.due_kbps, run.in_time, run.captured)]  # fmt: skip
    kbps, due, in_time, captured = sums
    shown = np.where(captured > 0, np.minimum(in_time / np.maximum(captured, 1), 1.0), 0.0)
    return float((np.minimum(kbps, due) * shown).sum() / due.sum())


def weighted_percentile(values: Array, weights: Array, percent: float) -> float:
    """The least value up to which lies this share of the weights."""
    if not len(values):
        return float("nan")
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, percent / 100 * total[-1])])


def until_served(run: Watched, begin_s: float, end_s: float) -> float:
    """Seconds from a change until frames come in time and go on doing so; the whole time if they never do."""
    window = round(WINDOW_S / SAMPLED_S)
    due, came = (_sums(of, window) for of in (run.captured, run.in_time))
    return _until(run, came >= SERVED * np.maximum(due, 1), begin_s, end_s)


def until_back(run: Watched, begin_s: float, end_s: float) -> float:
    """Seconds from a change until the rate is back and stays; the whole time if it never is."""
    window = round(WINDOW_S / SAMPLED_S)
    return _until(run, _sums(run.kbps, window) >= SERVED * _sums(run.due_kbps, window), begin_s, end_s)


def _until(run: Watched, good: np.ndarray[tuple[int], np.dtype[np.bool_]], begin_s: float, end_s: float) -> float:
    here = run.between(begin_s, end_s)
    found = held(good[here], round(STAY_S / SAMPLED_S))
    return end_s - begin_s if found is None else float(run.at[here][found] - begin_s)


def _sums(values: Array, width: int) -> Array:
    """Of each place, the sum of so many values up to it."""
    total = np.concatenate([np.zeros(width), np.cumsum(values)])
    made: Array = total[width:] - total[:-width]
    return made


def over_time(result: Result) -> Table:
    """Rate and frame delay of a run, means over equal times."""
    import pyarrow as pa

    from lasthop.results import Table

    run = read(result)
    each = round(BIN_S / SAMPLED_S)
    count = (len(run.at) - 1) // each
    here = slice(1, count * each + 1)

    def binned(values: Array) -> Array:
        made: Array = values[here].reshape(count, each).sum(axis=1)
        return made

    arrived = binned(run.arrived)
    with np.errstate(invalid="ignore", divide="ignore"):
        delay = np.where(arrived > 0, binned(np.nan_to_num(run.delay_ms) * run.arrived) / arrived, np.nan)
    columns = {
        "time_s": run.at[here][each - 1 :: each] - run.path.down_s,
        "kbps": binned(run.kbps) / each,
        "delay_ms": delay,
        "queue_ms": binned(run.queue_ms) / each,
    }
    keep = columns["time_s"] > -FIRST_S
    return Table(pa.table({name: values[keep] for name, values in columns.items()}))
