"""Responsiveness (§5.2): how fast senders follow steps of the loss rate and of the round-trip time.

The times are those of the mean curve over the runs, as a paper shows curves: at these loss rates a second of a single
run of TCP is often a fifth off its mean where nothing changes at all. Their intervals are over draws of whole runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from lasthop.stats import Estimate, bootstrap, estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, alike, judged, within
from lasthop.studies.grid import Array

from .. import measures
from ..data import STEPS, Data, asking
from ..paper import ADAPTATION_S
from ..readings import STEP
from ..scenario import STEPS_S

NAMES = {"tcp": "TCP", "pgmcc": "PGMCC", "tfmcc": "TFMCC"}

#: By how much PGMCC's time may differ from TCP's: by what the paper's own intervals do at most, 2.0 − 1.0 s.
CLOSE_S = 1.0

#: A stage mean over TCP's.
CLOSELY = (0.6, 1.4)

#: How much later the sender of the null model hears of a change.
LATE_S = 10.0


def adaptations(data: Data, protocol: str, step: str, *, at_ue: bool = False) -> Array:
    """The time that a protocol needs after a step in each run: the mean of both steps, of those that have one."""
    grid = data.grid(STEPS)
    name = "adaptation_at_ue" if at_ue else "adaptation"
    both = np.array([grid.at(f"{name}_{protocol}_{stage}", step=step) for stage in (1, 2)])
    there = ~np.isnan(both)
    with np.errstate(invalid="ignore"):
        made: Array = np.where(there, both, 0).sum(axis=0) / there.sum(axis=0)
    return made


def adaptation(data: Data, step: str, slow: str, fast: str = "") -> Estimate:
    """The time that the mean curve of a protocol needs, as a mean of two steps; or by how much more than another's."""
    key = step, slow, fast
    if key not in data.adapted:

        def more(drawn: Sequence[int]) -> float:
            return _time(*data.sent[step, slow], drawn) - (_time(*data.sent[step, fast], drawn) if fast else 0.0)

        data.adapted[key] = bootstrap(more, len(data.grid(STEPS).seeds))
    made: Estimate = data.adapted[key]
    return made


def _time(times: Array, curves: Array, drawn: Sequence[int]) -> float:
    mean = curves[np.asarray(drawn)].mean(axis=0)
    both = [measures.adaptation(times, mean, begin, end) for begin, end in pairwise(STEPS_S)]
    # A curve that never settles takes the whole stage.
    return float(np.mean(np.nan_to_num(both, nan=STEPS_S[1] - STEPS_S[0])))


def _times(data: Data, step: str, protocols: Sequence[str]) -> list[Condition]:
    return [
        within(f"{NAMES[one]}, step of the {step}", adaptation(data, step, one), 0.4 * ADAPTATION_S[one][0],
               2.5 * ADAPTATION_S[one][1], " s")
        for one in protocols
    ]  # fmt: skip


def _means(data: Data, step: str, band: tuple[float, float] = CLOSELY) -> list[Condition]:
    grid = data.grid(STEPS)
    return [
        within(
            f"{NAMES[protocol]}/TCP in stage {stage + 1}, step of the {step}",
            estimate(grid.at(f"kbps_{protocol}_{stage}", step=step) / grid.at(f"kbps_tcp_{stage}", step=step)),
            *band,
        )
        for protocol in ("tfmcc", "pgmcc")
        for stage in range(len(STEPS_S))
    ]


def _said(found: Sequence[Condition]) -> str:
    return ", ".join(f"{one.what.partition(', step')[0]} {one.value}{one.unit}" for one in found)


def _order(data: Data) -> Judgement:
    close, slower = adaptation(data, "loss", "pgmcc", "tcp"), adaptation(data, "loss", "tfmcc", "pgmcc")
    each = ", ".join(f"{NAMES[one]} {adaptation(data, 'loss', one)} s" for one in NAMES)
    return judged(
        f"{each}; PGMCC − TCP {close} s, TFMCC − PGMCC {slower} s",
        alike("PGMCC − TCP", close, CLOSE_S, " s"),
        above("TFMCC − PGMCC", slower, unit=" s"),
    )


def _timely(*protocols: str) -> Callable[[Data], Judgement]:
    def judge(data: Data) -> Judgement:
        found = _times(data, "loss", protocols)
        return judged(_said(found), *found)

    return judge


def _follow(data: Data, band: tuple[float, float] = CLOSELY) -> Judgement:
    found = _means(data, "loss", band)
    return judged(_said(found), *found)


def _delays(data: Data) -> Judgement:
    times, means = _times(data, "delay", tuple(NAMES)), _means(data, "delay")
    return judged(f"{_said(times)}; {_said(means)}", *times, *means)


# Null models


def _as_pgmcc(data: Data) -> Data:
    """PGMCC in the place of TFMCC, from the next seed."""
    grid = data.grid(STEPS)
    made = replace(data)
    sent = {**data.sent}
    for step in grid.axes["step"]:
        times, curves = sent[step, "pgmcc"]
        sent[step, "tfmcc"] = times, np.roll(curves, 1, axis=0)
    made.__dict__["sent"] = sent
    return made


def _late(data: Data) -> Data:
    """All senders hear of a change some seconds later."""
    made = replace(data)

    def moved(times: Array, curves: Array) -> tuple[Array, Array]:
        by = int(np.searchsorted(times, times[0] + LATE_S - 1e-9))
        return times, np.concatenate([np.repeat(curves[:, :1], by, axis=1), curves[:, :-by]], axis=1)

    made.__dict__["sent"] = {of: moved(*one) for of, one in data.sent.items()}
    return made


def _constant(data: Data) -> Data:
    """Schemes that send at their mean rate over the stages, whatever is lost."""
    grid = data.grid(STEPS)
    values = dict(grid.values)
    for protocol in ("tfmcc", "pgmcc"):
        names = [f"kbps_{protocol}_{stage}" for stage in range(len(STEPS_S))]
        mean = np.mean([grid.values[name] for name in names], axis=0)
        for name in names:
            values[name] = mean
    return data.with_grids({STEPS: replace(grid, values=values)})


LATE = _late

# What was judged before


def _each_run(data: Data, step: str, *protocols: str) -> list[Condition]:
    return [
        within(NAMES[one], estimate(adaptations(data, one, step)), 0.4 * ADAPTATION_S[one][0],
               2.5 * ADAPTATION_S[one][1], " s")
        for one in protocols
    ]  # fmt: skip


def _each_run_of(*protocols: str) -> Callable[[Data], Sequence[Condition]]:
    return lambda data: _each_run(data, "loss", *protocols)


def _each_order(data: Data, step: str) -> list[Condition]:
    of = {protocol: adaptations(data, protocol, step) for protocol in NAMES}
    return [
        above(f"{NAMES[slow]} − {NAMES[fast]}", estimate(of[slow] - of[fast]), unit=" s")
        for fast, slow in (("tcp", "pgmcc"), ("pgmcc", "tfmcc"))
    ]


def _before(*made: Callable[[Data], Sequence[Condition]]) -> Callable[[Data], Judgement]:
    def judge(data: Data) -> Judgement:
        found = [one for make in made for one in make(data)]
        return judged(_said(found), *found)

    return judge


#: Why single runs say little.
CHANCE = (
    "the same measure, begun where nothing changes, gave as long times (*without a step* in table-adaptation): it took "
    "chance. The "
    "paper shows curves and says nothing of single seconds"
)


def _why_mean_curve(data: Data) -> str:
    n = len(data.sent["loss", "tcp"][1])
    each = ", ".join(f"{NAMES[one]} {adaptation(data, 'loss', one)} s" for one in NAMES)
    return f"even the mean of {n} runs swings by what single losses do to it: {each}"


def _why_forgets(data: Data) -> str:
    return (
        "TFMCC's mean over its last loss intervals forgets the former loss rate only as these go by: "
        f"{adaptation(data, 'loss', 'tfmcc')} s, {adaptation(data, 'loss', 'tfmcc', 'pgmcc')} s more than PGMCC"
    )


def _why_small_steps(data: Data) -> str:
    grid = data.grid(STEPS)
    each = []
    for protocol, name in NAMES.items():
        means = [float(np.mean(grid.at(f"kbps_{protocol}_{stage}", step="delay"))) for stage in range(len(STEPS_S))]
        shares = " and ".join(f"{number(100 * after / before, 0)} %" for before, after in pairwise(means))
        each.append(f"{name} {shares}")
    return (
        "a longer way changes the rate by little more than the fifth by which a settled rate may differ, so it takes "
        f"chance when it counts as settled. After the two steps there is left of the rate before: {'; '.join(each)}"
    )


JUDGES: Judges[Data] = {
    "M7": Judge(
        asking(_order, STEP), null=_as_pgmcc, former=_before(partial(_each_order, step="loss")), cause=_why_mean_curve
    ),
    "M8": Judge(
        asking(_timely("pgmcc", "tcp"), STEP),
        null=LATE,
        former=_before(_each_run_of("pgmcc", "tcp")),
        cause=_why_mean_curve,
    ),
    "M9": Judge(asking(_timely("tfmcc"), STEP), null=LATE, former=_before(_each_run_of("tfmcc")), cause=_why_forgets),
    "M10": Judge(asking(_follow, STEP), null=_constant, former=partial(_follow, band=(0.5, 2.0))),
    "M11": Judge(
        asking(_delays, STEP),
        null=LATE,
        former=_before(
            partial(_each_order, step="delay"),
            lambda data: _each_run(data, "delay", *NAMES),
            partial(_means, step="delay", band=(0.5, 2.0)),
        ),
        cause=_why_small_steps,
    ),
}
