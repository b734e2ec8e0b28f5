"""The study's answer, in ten sentences whose figures come from the runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lasthop.stats import number

from ..data import Data
from ..measures.table_1 import Graded
from ..network.mechanisms import DELAYS, HINTS, NAMES, OFF, RESERVED, RESTART, TODAY
from ..network.paths import LINKED, PATHS
from ..styles import HINT_NAMES

__all__ = ["answer", "ranked"]

W = "wlan-umts"

#: How a mechanism is run.
Way = tuple[str, str]


def answer(data: Data, graded: Sequence[Graded]) -> list[str]:
    """Ten sentences."""

    def mean(quantity: str, path: str, mechanism: str, hint: str = OFF) -> float:
        return float(np.nanmean(data.of(quantity, path, mechanism, hint)))

    def missed(path: str, mechanism: str, hint: str = OFF) -> str:
        return f"{number(mean('missed_pct', path, mechanism, hint), 1)} %"

    def share(path: str, mechanism: str, hint: str = OFF, quantity: str = "in_time_share") -> str:
        return number(mean(quantity, path, mechanism, hint), 2)

    every = ranked(data, HINTS)
    unaided = ranked(data, (OFF,))
    best, worst = every[0], every[-1]
    dynamic = {(one.mechanism, one.hint): one.measures.dynamic for one in graded}
    media = {one.mechanism: one.measures.media for one in graded}
    reserved = max(mean("missed_pct", path, name) for path in LINKED for name in RESERVED)
    cell = [mean("missed_pct", "hsdpa", name, hint) for name, hint in every]
    marked = [number(mean("delay_p95_ms_slow", "lte", name), 0) for name in ("prague", "prague-l4s")]
    today = [key for key in TODAY if key != "reno"]
    quick = sorted(NAMES[key] for key in today if dynamic.get((key, OFF)) in ("high", "very high"))
    even = sum(grade in ("high", "very high") for key, grade in media.items() if key in today)
    return [
        # 1
        f"Measured by what comes in frames in time, as a share of what the video could have, {_way(best)} serves best over the four paths together "
        f"({number(_over_paths(data, best), 2)} on average; the last of {len(every)} ways is {_way(worst)} with {number(_over_paths(data, worst), 2)}).",
        # 2
        f"If no terminal says anything, the best is {NAMES[unaided[0][0]]} ({number(_over_paths(data, unaided[0]), 2)}), which misses "
        f"{missed(W, unaided[0][0])} of its frames over WLAN and UMTS, before {NAMES[unaided[1][0]]} ({number(_over_paths(data, unaided[1]), 2)}).",
        # 3
        f"Of the paper's seven, reservations miss {number(reserved, 1)} % of their frames at most, at the 40 % of the slower link that they reserve; TFRC misses "
        f"{missed(W, 'tfrc')} over WLAN and UMTS, XCP {missed(W, 'xcp')}, EWA {missed(W, 'ewa')} and TCP Reno {missed(W, 'reno')}.",
        # 4
        f"A hint by which delays alone are void changes the missed frames over WLAN and UMTS from {missed(W, 'bbr')} to {missed(W, 'bbr', DELAYS)} for BBR and from "
        f"{missed(W, 'copa')} to {missed(W, 'copa', DELAYS)} for Copa, whose models are of the path.",
        # 5
        f"For controllers that keep their rate it changes them from {missed(W, 'nada')} to {missed(W, 'nada', DELAYS)} for NADA, and over LTE from "
        f"{missed('lte', 'gcc')} to {missed('lte', 'gcc', DELAYS)} for GCC: the new base delay is then measured behind the queue that the old rate has filled.",
        # 6
        f"So the rate is what a hint has to reset on the way to a slower link: begun anew, over WLAN and UMTS SCReAM misses {missed(W, 'scream', RESTART)} in the place of "
        f"{missed(W, 'scream')}, NADA {missed(W, 'nada', RESTART)} in the place of {missed(W, 'nada')}, GCC {missed(W, 'gcc', RESTART)} in the place of "
        f"{missed(W, 'gcc')}.",
        # 7
        f"It costs what the start costs: back on WLAN the rate of SCReAM is there again after {number(mean('up_s', W, 'scream', RESTART), 0)} s, that of NADA after "
        f"{number(mean('up_s', W, 'nada', RESTART), 0)} s, and that of GCC after {number(mean('up_s', W, 'gcc', RESTART), 0)} s of the 30 s that are watched.",
        # 8
        f"A queue that marks needs no terminal: in the second LTE cell DualPI2 takes Prague's 95th percentile of the frame delay from {marked[0]} to {marked[1]} ms, and on UMTS "
        f"SCReAM with L4S misses {missed(W, 'scream-l4s')}, with {share(W, 'scream-l4s', quantity='share_slow')} of the rate that it could have.",
        # 9
        f"Where the change is no change of path, as in the shade of the HSDPA cell, all miss between {number(min(cell), 0)} and {number(max(cell), 0)} % of the frames, hint "
        f"or not; and satellites whose ways differ by 11 ms trouble only NADA, which has {share('leo', 'nada', quantity='share_slow')} of the rate on the longer way without a hint and "
        f"{share('leo', 'nada', DELAYS, 'share_slow')} with one of delays.",
        # 10
        f"In the terms of the paper's Table I, {even} of today's {len(today)} are media-friendly (high or very high) with a greedy source, and "
        f"{_listed(quick) if quick else 'none'} adapt well (high or very high): its question is answered not by one mechanism but by a "
        f"terminal that says so when its link changes, and a sender that then gives up its rate.",
    ]  # fmt: skip


def ranked(data: Data, hints: Sequence[str]) -> list[Way]:
    """Mechanisms with these hints that were run on all paths, the largest share in time first."""
    ways = [
        (name, hint) for name in NAMES for hint in hints if all(data.has(path, name, hint) for path in PATHS)
    ]
    return sorted(ways, key=lambda way: -_over_paths(data, way))


def _over_paths(data: Data, way: Way) -> float:
    return float(np.mean([np.nanmean(data.of("in_time_share", path, *way)) for path in PATHS]))


def _way(way: Way) -> str:
    name, hint = way
    return NAMES[name] if hint == OFF else f"{NAMES[name]} ({HINT_NAMES[hint]})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
