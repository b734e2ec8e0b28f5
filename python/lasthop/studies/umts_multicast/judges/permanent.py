"""Permanent degradation (§5.4): a terminal whose radio gets bad for good, and stays."""

from __future__ import annotations

import math

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, below, fact, judged, within
from lasthop.studies.grid import Array, Numbers
from lasthop.studies.nulls import another, instead

from ..data import PERMANENT, SCALING, SEVERAL, Data, asking
from ..measures import SETTLED_S
from ..network import GROUP, LEGACY, MODIFIED, SCHEMES
from ..readings import MANY_WORSE, TCP, WORSE
from ..scenario import DEGRADED, PERMANENT_S

#: How long the degradation lasts: what has not happened by then counts as that late.
NEVER_S = PERMANENT_S[1] - PERMANENT_S[0]

#: TCP cuts its rate by then; the modified schemes do in this span; a degraded terminal represents the group for this
#: share. “Soon after” the overflow is within the longer of the two times in which the paper has its schemes fully
#: adapted.
AT_ONCE_S, SECONDS_S, SHARE, SOON_S = 2.0, (2.0, 10.0), 95.0, 6.0


def _before(data: Data) -> Judgement:
    found = [
        within(
            f"{SCHEMES[scheme]}, of the bearer's rate",
            estimate(100 * data.grid(PERMANENT).at("before_kbps", scheme=scheme) / data.taken.rate_kbps),
            95.0,
            100.5,
            " %",
        )
        for scheme in MODIFIED
    ]
    return judged("; ".join(f"{one.what} {one.value} %" for one in found), *found)


def _at(grid: Numbers, what: str, scheme: str) -> Array:
    """When something first happens in each run, or the end."""
    made: Array = np.nan_to_num(grid.at(f"first_{what}_s", scheme=scheme), nan=NEVER_S)
    return made


def waited(data: Data, scheme: str) -> Array:
    """How long after the first rejection a scheme cuts its rate, in each run."""
    grid = data.grid(PERMANENT)
    made: Array = _at(grid, "cut", scheme) - _at(grid, "rejection", scheme)
    return made


def _tcp_cuts(data: Data) -> Condition:
    return below("TCP cuts after", estimate(_at(data.grid(PERMANENT), "cut", "tcp")), AT_ONCE_S, " s")


def _order(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    found, said = [], []
    for scheme in MODIFIED:
        rejected, cut = (estimate(_at(grid, what, scheme)) for what in ("rejection", "cut"))
        early = int(np.sum(waited(data, scheme) < 0))
        later = estimate(waited(data, scheme))
        found.append(Condition(f"{SCHEMES[scheme]}: cut − first rejection", later, 0.0, SOON_S, " s", strict=True))
        said.append(
            f"{SCHEMES[scheme]}: rejection after {rejected} s, cut after {cut} s, before a rejection in {early} of "
            f"{len(grid.seeds)} runs"
        )
    tcp = _tcp_cuts(data)
    return judged(f"{'; '.join(said)}; TCP: cut after {tcp.value} s", *found, tcp)


def _no_early_cut(data: Data) -> Judgement:
    if np.isnan([data.grid(PERMANENT).at("first_rejection_s", scheme=scheme) for scheme in MODIFIED]).all():
        raise NotRun("rejections are not seen at this radio")
    early = {scheme: int(np.sum(waited(data, scheme) < 0)) for scheme in MODIFIED}
    said = ", ".join(f"{SCHEMES[scheme]} {n}" for scheme, n in early.items())
    found = [fact(f"{SCHEMES[scheme]} never cuts before the first rejection", not n) for scheme, n in early.items()]
    return judged(f"early cuts: {said}", *found, _tcp_cuts(data))


def _cuts(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    cut = {scheme: _at(grid, "cut", scheme) for scheme in (*MODIFIED, "tcp")}
    found = [within(f"{SCHEMES[scheme]} cuts after", estimate(cut[scheme]), *SECONDS_S, " s") for scheme in MODIFIED]
    found.append(_tcp_cuts(data))
    found += [above(f"{SCHEMES[scheme]} − TCP", estimate(cut[scheme] - cut["tcp"]), unit=" s") for scheme in MODIFIED]
    values: dict[str, Estimate] = {}
    said = [f"{one.what} {one.value} s" for one in found[:3]]
    if SCALING in data.grids:
        scaled = data.grid(SCALING)
        for scheme in MODIFIED:
            for axis, fixed, (low, high) in (("queue", {"rate": 384}, (25, 50)), ("rate", {"queue": 50}, (384, 192))):
                of = [
                    np.nan_to_num(scaled.at("first_cut_s", scheme=scheme, **{axis: one}, **fixed), nan=NEVER_S)
                    for one in (low, high)
                ]
                name = f"{SCHEMES[scheme]}, {'packets' if axis == 'queue' else 'kbit/s'} {high} − {low}"
                values[name] = estimate(of[1] - of[0])
                said.append(f"{name}: {values[name]} s")
    return judged(", ".join(said), *found, **values)


def _settles(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    times: dict[str, Array] = {scheme: grid.at("adaptation_s", scheme=scheme) for scheme in (*MODIFIED, "tcp")}
    found = [within(f"{SCHEMES[scheme]}", estimate(times[scheme]), *SECONDS_S, " s") for scheme in MODIFIED]
    found += [
        above(f"{SCHEMES[scheme]} − TCP", estimate(times[scheme] - times["tcp"]), unit=" s") for scheme in MODIFIED
    ]
    if SCALING in data.grids:
        scaled = data.grid(SCALING)
        for scheme in MODIFIED:
            for one, other in (
                ({"queue": 50, "rate": 384}, {"queue": 25, "rate": 384}),
                ({"queue": 50, "rate": 192}, {"queue": 50, "rate": 384}),
            ):
                names = [f"{of['queue']} packets, {of['rate']} kbit/s" for of in (one, other)]
                name = f"{SCHEMES[scheme]}, {' − '.join(names)}"
                found.append(above(name, scaled.difference("adaptation_s", one, other, scheme=scheme), unit=" s"))
    return judged(", ".join(f"{one.what} {one.value} s" for one in found), *found)


def _several(data: Data) -> Judgement:
    found = [
        within(
            f"{SCHEMES[scheme]}, share of the time",
            estimate(100 * data.grid(SEVERAL).at("degraded_share", scheme=scheme)),
            SHARE,
            math.inf,
            " %",
        )
        for scheme in MODIFIED
    ]
    return judged(", ".join(f"{one.what} {one.value} %" for one in found), *found)


def _always(data: Data) -> Judgement:
    grid = data.grid(SEVERAL)
    found = [
        fact(
            f"{SCHEMES[scheme]} always, from 10 s on", bool(np.all(grid.at("degraded_share_later", scheme=scheme) >= 1))
        )
        for scheme in MODIFIED
    ]
    return judged("; ".join(f"{one.what}: {'yes' if one.value.mean else 'no'}" for one in found), *found)


# Null models


def _anybody(data: Data) -> Data:
    """A representative drawn at random, once a second."""
    grid = data.grid(SEVERAL)
    shape = grid.values["degraded_share"].shape
    seconds = int(NEVER_S - SETTLED_S)
    share = np.asarray(np.random.default_rng(0).binomial(seconds, len(DEGRADED) / GROUP, shape)) / seconds
    return data.with_values(SEVERAL, {"degraded_share": share})


LEGACY_INSTEAD = another(PERMANENT, "scheme", dict(zip(MODIFIED, LEGACY, strict=True)))


def _why_slow_start(data: Data) -> str:
    got = estimate(100 * data.grid(PERMANENT).at("before_kbps", scheme=MODIFIED[0]) / data.taken.rate_kbps)
    return (
        "alone on a bearer TFMCC's slow start ends at twice its rate; what overflows then takes the rate "
        "down, and it climbs "
        f"back slowly: {got} % of the bearer's rate until the degradation begins"
    )


def _why_round_trips(data: Data) -> str:
    early = {scheme: int(np.sum(waited(data, scheme) < 0)) for scheme in MODIFIED}
    runs = len(data.grid(PERMANENT).seeds)
    each = ", ".join(f"{SCHEMES[scheme]} in {n} of {runs} runs" for scheme, n in early.items())
    return (
        "the FIFO that fills makes round trips longer, and TFMCC's equation has the round-trip time in it: "
        "the rate falls "
        f"before anything is rejected ({each})"
    )


def _why_clocked(data: Data) -> str:
    grid = data.grid(PERMANENT)
    slower = estimate(grid.at("slower_s", scheme=MODIFIED[1]))
    rejected = estimate(grid.at("first_rejection_s", scheme=MODIFIED[1]))
    return (
        "PGMCC sends when it is acknowledged, and a bearer that carries less acknowledges less: it sends a fifth less "
        f"{slower} s after the change, so its FIFO overflows only after {rejected} s, as the window goes on opening"
    )


JUDGES: Judges[Data] = {
    "M18": Judge(
        asking(_before, WORSE), null=instead(PERMANENT, {"before_kbps": "after_kbps"}, shift=1), cause=_why_slow_start
    ),
    "M19": Judge(asking(_order, WORSE, TCP), null=LEGACY_INSTEAD, former=_no_early_cut, cause=_why_round_trips),
    "M20": Judge(asking(_cuts, WORSE, TCP), null=LEGACY_INSTEAD, former=_settles, cause=_why_clocked),
    "M21": Judge(asking(_several, MANY_WORSE), null=_anybody, former=_always),
}
