"""The study's answer, in ten sentences whose figures come from the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lasthop.stats import number
from lasthop.studies.handover.measures.grades import GRADES

from ..data import Data
from ..measures.table_1 import Graded
from ..network.mechanisms import DELAYS, HINTS, NAMES, OFF, RESERVED, RESTART, TODAY
from ..network.paths import LINKED, PATHS
from ..styles import HINT_NAMES

__all__ = ["answer", "ranked"]

W = "wlan-umts"

#: One frame of twenty: more than that, second by second, and a video stutters. And the paths that become other ones;
#: in the HSDPA cell the path stays.
MOST_MISSED, CHANGING = 5.0, ("wlan-umts", "lte", "leo")

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

    def first(ways: Sequence[Way]) -> str:
        return f"{_way(ways[0])} ({number(_over_paths(data, ways[0]), 2)})" if ways else "none"

    def back(mechanism: str) -> str:
        seconds, most = mean("up_s", W, mechanism, RESTART), PATHS[W].end_s - PATHS[W].up_s
        return f"not within {most:g} s" if seconds > 0.95 * most else f"after {number(seconds, 0)} s"

    every, unaided = ranked(data, HINTS), ranked(data, (OFF,))
    best, clean = every[0], _seen(data, every)
    best_unaided, clean_unaided = unaided[0], _seen(data, unaided)
    dynamic = {(one.mechanism, one.hint): one.measures.dynamic for one in graded}
    media = {one.mechanism: one.measures.media for one in graded}
    reserved = max(mean("missed_pct", path, name) for path in LINKED for name in RESERVED)
    cell = [mean("missed_pct", "hsdpa", name, hint) for name, hint in every]
    marked = [number(mean("delay_p95_ms_slow", "lte", name), 0) for name in ("prague", "prague-l4s")]
    today = [key for key in TODAY if key != "reno"]
    quick = sorted(NAMES[key] for key in today if dynamic.get((key, OFF)) in ("high", "very high"))
    raised, lowered = ({hint: _moved(dynamic, today, hint, way) for hint in (DELAYS, RESTART)} for way in (1, -1))
    even = sum(grade in ("high", "very high") for key, grade in media.items() if key in today)
    return [
        # 1
        f"By the rate that comes in frames in time, as a share of what the video could have, {_way(best)} serves best "
        f"over the four paths together ({number(_over_paths(data, best), 2)} on average), but misses "
        f"{missed(W, *best)} of the frames over WLAN and UMTS; of the {len(clean)} of {len(every)} ways to carry it "
        f"that miss at most {MOST_MISSED:g} % wherever the path changes, {first(clean)} is first.",
        # 2
        f"If no terminal says anything, {_way(best_unaided)} has the most in time "
        f"({number(_over_paths(data, best_unaided), 2)}, with {missed(W, *best_unaided)} missed over WLAN and UMTS), "
        f"and of those that miss at most {MOST_MISSED:g} % wherever the path changes {first(clean_unaided)} is first.",
        # 3
        f"Of the paper's seven, reservations miss {number(reserved, 1)} % of their frames at most, at the 40 % of "
        "the slower link that they reserve; TFRC misses "
        f"{missed(W, 'tfrc')} over WLAN and UMTS, XCP {missed(W, 'xcp')}, EWA {missed(W, 'ewa')} and TCP Reno "
        f"{missed(W, 'reno')}.",
        # 4
        "A hint by which delays alone are void changes the missed frames over WLAN and UMTS from "
        f"{missed(W, 'bbr')} to {missed(W, 'bbr', DELAYS)} for BBR and from "
        f"{missed(W, 'copa')} to {missed(W, 'copa', DELAYS)} for Copa, whose models are of the path.",
        # 5
        f"For controllers that keep their rate it changes them from {missed(W, 'nada')} to "
        f"{missed(W, 'nada', DELAYS)} for NADA, and over LTE from "
        f"{missed('lte', 'gcc')} to {missed('lte', 'gcc', DELAYS)} for GCC: NADA measures its next base delay "
        "behind the queue that the old rate fills, and GCC misses that this queue has grown.",
        # 6
        "So the rate is what a hint has to reset on the way to a slower link: begun anew, over WLAN and UMTS "
        f"SCReAM misses {missed(W, 'scream', RESTART)} in the place of "
        f"{missed(W, 'scream')}, NADA {missed(W, 'nada', RESTART)} in the place of {missed(W, 'nada')}, GCC "
        f"{missed(W, 'gcc', RESTART)} in the place of "
        f"{missed(W, 'gcc')}.",
        # 7
        f"It costs what the start costs: back on WLAN the rate of SCReAM is there again {back('scream')}, that of NADA "
        f"{back('nada')}, and that of GCC {back('gcc')}.",
        # 8
        "A queue that marks needs no terminal: in the second LTE cell DualPI2 takes Prague's 95th percentile of "
        f"the frame delay from {marked[0]} to {marked[1]} ms, and on UMTS "
        f"SCReAM with L4S misses {missed(W, 'scream-l4s')}, with {share(W, 'scream-l4s', quantity='share_slow')} "
        "of the rate that it could have.",
        # 9
        "Where the change is no change of path, as in the shade of the HSDPA cell, all miss between "
        f"{number(min(cell), 0)} and {number(max(cell), 0)} % of the frames, hint "
        "or not; and satellites whose ways differ by 11 ms cost most mechanisms little, but NADA has "
        f"{share('leo', 'nada', quantity='share_slow')} of the rate on the longer way without a hint and "
        f"{share('leo', 'nada', DELAYS, 'share_slow')} with one of delays.",
        # 10
        f"In the terms of the paper's Table I, {even} of today's {len(today)} are media-friendly (high or very "
        "high) with a greedy source, and "
        f"{_listed(quick) if quick else 'none'} adapt well (high or very high). By these grades hints help little: one "
        f"of delays raises {raised[DELAYS]} and lowers {lowered[DELAYS]}, and beginning anew raises "
        f"{raised[RESTART]} and lowers {lowered[RESTART]}, since it costs what the start costs. What a terminal that "
        "says so when its link changes is worth shows in the frames that come in time.",
    ]  # fmt: skip


def _moved(dynamic: Mapping[Way, str], mechanisms: Sequence[str], hint: str, way: int) -> int:
    """How many mechanisms have a higher grade with a hint than without, or with a `way` of -1 a lower one."""
    both = [(dynamic[key, OFF], dynamic[key, hint]) for key in mechanisms if (key, hint) in dynamic]
    return sum(way * (GRADES.index(hinted) - GRADES.index(bare)) > 0 for bare, hinted in both)


def ranked(data: Data, hints: Sequence[str]) -> list[Way]:
    """Mechanisms with these hints that were run on all paths, the largest share in time first."""
    ways = [(name, hint) for name in NAMES for hint in hints if all(data.has(path, name, hint) for path in PATHS)]
    return sorted(ways, key=lambda way: -_over_paths(data, way))


def _seen(data: Data, ways: Sequence[Way]) -> list[Way]:
    """Those of them that miss few frames on each path that becomes another one."""
    return [
        way for way in ways if all(np.nanmean(data.of("missed_pct", path, *way)) <= MOST_MISSED for path in CHANGING)
    ]


def _over_paths(data: Data, way: Way) -> float:
    return float(np.mean([np.nanmean(data.of("in_time_share", path, *way)) for path in PATHS]))


def _way(way: Way) -> str:
    name, hint = way
    return NAMES[name] if hint == OFF else f"{NAMES[name]} ({HINT_NAMES[hint]})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
