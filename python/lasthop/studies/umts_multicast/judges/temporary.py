"""Temporary degradation (§5.3): Table II, and how often the representative changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged, within
from lasthop.studies.nulls import another
from lasthop.studies.trends import falls

from ..data import TEMPORARY, Data, asking, over
from ..network import FREE_RATE, LEGACY, MODIFIED, SCHEMES
from ..paper import TABLE_II
from ..readings import MULTICAST, UNICAST
from ..scenario import SIZES

#: The levels that are accepted: of modified schemes, of legacy ones with one member and with a hundred.
LEVEL, FIRST, LAST = (0.8, 1.4), (0.75, 1.1), (0.35, 0.75)

#: By how much a size may differ from the mean over sizes; to what a hundred members must have fallen, of what one has.
FLAT, FALLEN = 0.15, 0.75

#: Sizes each about three times the one before: between them a fall can be told from chance.
THREEFOLD = (1, 3, 10, 30, 100)

#: From this size on the modified scheme must be above the legacy one, and the representative of the legacy one must
#: change so many times as often.
SEVERAL, MANY, TIMES = 3, 10, 3.0


def _said(data: Data, schemes: Sequence[str]) -> str:
    rows = (
        f"{SCHEMES[scheme]} " + ", ".join(number(data.ratio(scheme, ues).mean, 2) for ues in data.sizes)
        for scheme in schemes
    )
    return f"{'; '.join(rows)} for {', '.join(map(str, data.sizes))} members"


def _values(data: Data, schemes: Sequence[str]) -> dict[str, Estimate]:
    return {f"{SCHEMES[scheme]}_{ues}": data.ratio(scheme, ues) for scheme in schemes for ues in data.sizes}


def _levels(data: Data) -> list[Condition]:
    return [
        within(f"{SCHEMES[scheme]}/TCP with {ues}", data.ratio(scheme, ues), *LEVEL)
        for scheme in MODIFIED
        for ues in data.sizes
    ]


def _near_tcp(data: Data) -> Judgement:
    order = [
        above(
            f"MOD_TFMCC − MOD_PGMCC, over TCP, with {ues}",
            estimate(data.ratios(MODIFIED[0], ues) - data.ratios(MODIFIED[1], ues)),
        )
        for ues in data.sizes
    ]
    return judged(_said(data, MODIFIED), *_levels(data), *order, **_values(data, MODIFIED))


def _flat(data: Data) -> Judgement:
    found, said = [], []
    for scheme in MODIFIED:
        each = {ues: data.ratios(scheme, ues) for ues in data.sizes}
        mean = np.mean(list(each.values()), axis=0)
        apart = {ues: estimate((of - mean) / mean.mean()) for ues, of in each.items()}
        found += [
            alike(f"{SCHEMES[scheme]} with {ues}, from the mean over sizes", one, FLAT) for ues, one in apart.items()
        ]
        low, high = min(one.mean for one in apart.values()), max(one.mean for one in apart.values())
        said.append(f"{SCHEMES[scheme]} {number(100 * low, 0)} to {number(100 * high, 0)} %")
    return judged(f"from the mean over sizes: {', '.join(said)}", *found, **_values(data, MODIFIED))


def _ends(data: Data) -> tuple[int, int]:
    first, last = SIZES[0], SIZES[-1]
    if first not in data.sizes or last not in data.sizes:
        raise NotRun(f"groups of {first} and {last} were not both run")
    return first, last


def _over(data: Data, scheme: str, last: int, first: int) -> Estimate:
    """Throughput with so many members over that with fewer."""
    grid = data.grid(TEMPORARY)
    return estimate(over(*(grid.at("kbps", scheme=scheme, ues=ues) for ues in (last, first))))


def _above_legacy(data: Data, scheme: str) -> list[Condition]:
    grid = data.grid(TEMPORARY)
    modified = scheme.replace("leg", "mod")
    return [
        above(
            f"{SCHEMES[modified]} − {SCHEMES[scheme]} with {ues}",
            grid.difference("kbps", {"scheme": modified}, {"scheme": scheme}, ues=ues),
            unit=" kbit/s",
        )
        for ues in data.sizes
        if ues >= SEVERAL
    ]


def _falling(data: Data) -> Judgement:
    first, last = _ends(data)
    apart = [ues for ues in data.sizes if ues in THREEFOLD]
    found: list[Condition] = []
    for scheme in LEGACY:
        found.append(below(f"{SCHEMES[scheme]}: {last} over {first} members", _over(data, scheme, last, first), FALLEN))
        found += falls(SCHEMES[scheme], data.grid(TEMPORARY).over("kbps", "ues", scheme=scheme), apart, unit=" kbit/s")
        found += _above_legacy(data, scheme)
    return judged(_said(data, LEGACY), *found, **_values(data, LEGACY))


def _no_step_up(data: Data) -> Judgement:
    first, last = _ends(data)
    kbps = data.grid(TEMPORARY).over
    found: list[Condition] = []
    for scheme in LEGACY:
        of = kbps("kbps", "ues", scheme=scheme)
        found.append(within(f"{SCHEMES[scheme]}: {last} over {first}", _over(data, scheme, last, first), 0.0, FALLEN))
        steps = [estimate(of(large) - of(small)) for small, large in zip(data.sizes, data.sizes[1:], strict=False)]
        # No step up that is more than chance: its interval must reach down to 0.
        found += [
            below(f"{SCHEMES[scheme]}: lower end of step {n + 1}", replace(one, mean=one.low, half=0.0))
            for n, one in enumerate(steps)
        ]
        found += _above_legacy(data, scheme)
    return judged(_said(data, LEGACY), *found)


def _legacy_level(data: Data) -> Judgement:
    ends = list(zip(_ends(data), (FIRST, LAST), strict=True))
    found = [
        within(f"{SCHEMES[scheme]}/TCP with {ues}", data.ratio(scheme, ues), *band)
        for scheme in LEGACY
        for ues, band in ends
    ]
    return judged("; ".join(f"{one.what} {one.value}" for one in found), *found, **_values(data, LEGACY))


def _many(data: Data) -> list[int]:
    sizes = [ues for ues in data.sizes if ues >= MANY]
    if not sizes:
        raise NotRun(f"no group of {MANY} or more was run")
    return sizes


def _fluctuates(data: Data) -> Judgement:
    grid = data.grid(TEMPORARY)
    sizes = _many(data)
    found, said = [], []
    values: dict[str, Estimate] = {}
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        each = []
        for ues in sizes:
            mine, other = (grid.at("changes_per_minute", scheme=scheme, ues=ues) for scheme in (modified, legacy))
            values |= {f"{SCHEMES[modified]}_{ues}": estimate(mine), f"{SCHEMES[legacy]}_{ues}": estimate(other)}
            each.append(f"{number(other.mean())} : {number(mine.mean())} with {ues}")
            what = f"{SCHEMES[legacy]} − {TIMES:g} × {SCHEMES[modified]} with {ues}"
            found.append(above(what, estimate(other - TIMES * mine), unit=" a minute"))
        said.append(f"{SCHEMES[legacy]} : {SCHEMES[modified]} {', '.join(each)}")
    return judged(f"changes a minute: {'; '.join(said)}", *found, **values)


def _more_on_average(data: Data) -> Judgement:
    grid = data.grid(TEMPORARY)
    found = []
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        for ues in _many(data):
            mine, other = (grid.mean("changes_per_minute", scheme=scheme, ues=ues) for scheme in (modified, legacy))
            more = Estimate(other.mean - TIMES * mine.mean, 0.0, other.n)
            found.append(
                within(f"{SCHEMES[legacy]} − 3 × {SCHEMES[modified]} with {ues}, means", more, 0.0, float("inf"))
            )
    return judged("; ".join(f"{one.what} {number(one.value.mean)}" for one in found), *found)


# Null models


def _shaped(data: Data) -> Data:
    """Modified schemes that fall with the size as Table II has the legacy ones fall."""
    grid = data.grid(TEMPORARY)
    kbps = grid.values["kbps"].copy()
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        place = list(grid.axes["scheme"]).index(modified)
        for n, ues in enumerate(grid.axes["ues"]):
            kbps[place, n] *= TABLE_II[legacy][SIZES.index(ues)] / TABLE_II[legacy][0]
    return data.with_values(TEMPORARY, {"kbps": kbps})


AS_MODIFIED = another(TEMPORARY, "scheme", dict(zip(LEGACY, MODIFIED, strict=True)))


def _why_above_tfmcc(data: Data) -> str:
    grid = data.grid(TEMPORARY)
    shares = {}
    for scheme in MODIFIED:
        each = [float(np.mean(grid.at("kbps", scheme=scheme, ues=ues))) for ues in data.sizes]
        free = [float(np.mean(grid.at("kbps", scheme=FREE_RATE, ues=ues))) for ues in data.sizes]
        shares[scheme] = 100 * sum(each) / sum(free)
    tfmcc, pgmcc = (number(shares[scheme], 0) for scheme in MODIFIED)
    return (
        "where losses of the radio are ignored the bearer is the only limit. PGMCC, which sends when it is "
        "acknowledged, "
        f"gets {pgmcc} % of what a source of the bearer's rate gets; TFMCC, which slows down for the round trips that "
        f"the filled FIFO makes, {tfmcc} %"
    )


def _why_levels(data: Data) -> str:
    first, last = data.sizes[0], data.sizes[-1]
    tfmcc, pgmcc = (
        f"{data.ratio(one, first)} of TCP with {first} and {data.ratio(one, last)} with {last}" for one in LEGACY
    )
    return (
        f"legacy PGMCC has {pgmcc}: it sends nothing again and waits for no timeout of a repair, so the same losses "
        "cost it "
        f"less than TCP. Legacy TFMCC has {tfmcc}: of many estimates that scatter the worst is below what any member "
        "deserves"
    )


JUDGES: Judges[Data] = {
    "M12": Judge(
        asking(_near_tcp, MULTICAST, UNICAST),
        null=another(TEMPORARY, "scheme", dict.fromkeys(MODIFIED, FREE_RATE)),
        former=lambda data: judged(_said(data, MODIFIED), *_levels(data)),
        cause=_why_above_tfmcc,
    ),
    "M13": Judge(asking(_flat, MULTICAST, UNICAST), null=_shaped),
    "M14": Judge(asking(_falling, MULTICAST), null=AS_MODIFIED, former=_no_step_up),
    "M15": Judge(asking(_legacy_level, MULTICAST, UNICAST), null=AS_MODIFIED, cause=_why_levels),
    "M16": Judge(asking(_fluctuates, MULTICAST), null=AS_MODIFIED, former=_more_on_average),
}
