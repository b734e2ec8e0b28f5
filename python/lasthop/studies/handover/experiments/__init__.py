"""Which runs a mode takes: what each reading needs, made once for all readings that share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ..data import Data
from ..measures.crowd import Crowd, longest_delay, reduced
from ..measures.frames import frames
from ..measures.scalability import FLOWS, PLAIN, Counters, counters, path
from ..measures.scalability import reduced as counted
from ..measures.trace import Trace, trace
from ..network import ALL, ALONE, CROWD, JUDGED, JUDGED_CROWD, SINGLE, crowd, single
from ..readings import Taken, taken
from ..scenario import SEED, start_times
from .overprovision import SETTLED, Growth, delay_bound_s, search, still

if TYPE_CHECKING:
    from lasthop.scenario import Scenario
    from lasthop.studies.bench import Bench
    from lasthop.studies.readings import Reading


#: Start times of the default reading.
STARTS = 20
#: Start times of the other readings, by mode.
STARTS_OTHERS = {"quick": 10, "full": 20}
#: Start times at which over-provisioning is tried; and of its row in Table I, which has links many times as fast.
GROWTH_STARTS, GROWTH_ROW = 3, 5

T = TypeVar("T")


def starts_of(reading: Reading, mode: str) -> int:
    """How many start times a reading has."""
    return STARTS_OTHERS[mode] if reading.chosen else STARTS


def begins(count: int) -> Sequence[tuple[float, int]]:
    """Start times in whole microseconds, spread evenly, and the seeds of crowds that start then."""
    every = [(round(start, 6), SEED + i) for i, start in enumerate(start_times(STARTS))]
    return every[:: STARTS // count][:count]


def planned(readings: Sequence[Reading], mode: str) -> int:
    """How many runs these readings take, what is shared made once."""
    alone = {taken(reading).alone: starts_of(reading, mode) for reading in reversed(readings)}
    among = {taken(reading).among: starts_of(reading, mode) for reading in reversed(readings)}
    made = 0
    for several, all_of_them, judged in ((alone, SINGLE, JUDGED), (among, CROWD, JUDGED_CROWD)):
        for one, starts in several.items():
            made += starts * len(all_of_them if one == Taken() else judged)
    return made


class Campaigner:
    """Makes the runs of readings, each set of them once."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._alone: dict[Taken, Mapping[str, Sequence[Trace]]] = {}
        self._among: dict[Taken, Mapping[str, Sequence[Crowd]]] = {}
        self._counters = self._count()

    def measure(self, readings: Sequence[Reading]) -> dict[str, Data]:
        """The runs of each reading, by name."""
        if all(len(reading.chosen) > 1 for reading in readings):
            self._bench.expect(self._crossed(readings))
        return {reading.name: self._data(reading) for reading in readings}

    def _crossed(self, readings: Sequence[Reading]) -> int:
        alone = {taken(reading).alone for reading in readings} - self._alone.keys()
        among = {taken(reading).among for reading in readings} - self._among.keys()
        return STARTS_OTHERS[self._bench.mode] * (len(alone) * len(JUDGED) + len(among) * len(JUDGED_CROWD))

    def _data(self, reading: Reading) -> Data:
        mine, begun = taken(reading), begins(starts_of(reading, self._bench.mode))
        alone, among = mine.alone, mine.among
        if alone not in self._alone:
            self._alone[alone] = self._singles(alone, SINGLE if alone == Taken() else JUDGED, begun)
        if among not in self._among:
            keys = CROWD if among == Taken() else JUDGED_CROWD
            work = [(crowd(among, key, start), seed) for key in keys for start, seed in begun]
            self._among[among] = _parted(keys, self.crowds(work))
        return Data(mine, self._alone[alone], self._among[among], self._counters)

    def _singles(
        self, taken: Taken, keys: Sequence[str], starts: Sequence[tuple[float, int]]
    ) -> dict[str, Sequence[Trace]]:
        made: dict[str, Sequence[Trace]] = {}
        for asks in (None, ALONE):
            asking = [key for key in keys if ALL[key].reserves == (asks is not None)]
            work = [(single(taken, key, start), SEED) for key in asking for start, _ in starts]
            if work:
                made |= _parted(asking, self._bench.run(work, partial(trace, asks=asks)))
        return made

    def crowds(self, work: Sequence[tuple[Scenario, int]], *, counts: bool = True) -> list[Crowd]:
        """Runs of the crowd."""
        for start, seed in begins(STARTS):
            frames(start, seed)
        return self._bench.run(work, reduced, counts=counts)

    def _count(self) -> dict[str, Counters]:
        """What each mechanism of Table I puts where."""
        made = self._bench.run([(path(key, flows), SEED) for key in CROWD for flows in FLOWS], counted)
        by_key = {key: made[i * len(FLOWS) : (i + 1) * len(FLOWS)] for i, key in enumerate(CROWD)}
        return {key: counters(runs, by_key[PLAIN[ALL[key].reserves]]) for key, runs in by_key.items()}

    def growth(self) -> tuple[Growth, Sequence[Crowd]]:
        """Over-provisioning: the factor, and runs of the crowd with it."""
        default = Taken()

        def longest(factor: float) -> float:
            work = [(still(default, start, factor), seed) for start, seed in begins(STARTS)[:GROWTH_STARTS]]
            return max(self._bench.run(work, lambda result: longest_delay(result, SETTLED), counts=False))

        found = search(delay_bound_s(default), longest)
        work = [(crowd(default, "none", start, found.factor), seed) for start, seed in begins(STARTS)[:GROWTH_ROW]]
        return found, self.crowds(work, counts=False)


def _parted(keys: Sequence[str], made: Sequence[T]) -> dict[str, Sequence[T]]:
    starts = len(made) // len(keys)
    return {key: made[i * starts : (i + 1) * starts] for i, key in enumerate(keys)}
