"""Temporary degradation (§5.3): Table II, and how often the representative changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Former, NotRun, Null
from lasthop.studies.conditions import Condition, Judgement, above, alike, below, judged, within
from lasthop.studies.trends import falls
from lasthop.studies.umts_multicast.data import TEMPORARY, Data, asking, over
from lasthop.studies.umts_multicast.experiments import SIZES
from lasthop.studies.umts_multicast.network import SCHEMES
from lasthop.studies.umts_multicast.paper import TABLE_II
from lasthop.studies.umts_multicast.readings import MULTICAST, UNICAST

__all__ = ["CLAIMS", "FREE_RATE", "LEGACY", "MODIFIED", "SHOWN"]

MODIFIED, LEGACY = ("mod_tfmcc", "mod_pgmcc"), ("leg_tfmcc", "leg_pgmcc")

#: A source of the bearer's rate that gives way to nothing, and all that is run.
FREE_RATE = "cbr"
SHOWN = (*MODIFIED, *LEGACY, FREE_RATE)

#: The levels that are accepted: of modified schemes, of legacy ones with one member and with a hundred.
LEVEL, FIRST, LAST = (0.8, 1.4), (0.75, 1.1), (0.35, 0.75)

#: By how much a size may differ from the mean over sizes; to what a hundred members must have fallen, of what one has.
FLAT, FALLEN = 0.15, 0.75

#: Sizes each about three times the one before: between them a fall can be told from chance.
THREEFOLD = (1, 3, 10, 30, 100)

#: From this size on the modified scheme must be above the legacy one, and the representative of the legacy one must
#: change
#: so many times as often.
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


def _in_place(instead: Mapping[str, str]) -> Null[Data]:
    one = {
        FREE_RATE: "a source of the bearer's rate that controls nothing, in the place of both modified schemes",
        MODIFIED[
            0
        ]: "the modified schemes in the place of the legacy ones: they do not take losses of the radio for congestion",
    }[next(iter(instead.values()))]
    return Null(one, lambda data: data.with_grids({TEMPORARY: data.grid(TEMPORARY).replaced("scheme", instead)}))


def _shaped(data: Data) -> Data:
    """Modified schemes that fall with the size as Table II has the legacy ones fall."""
    grid = data.grid(TEMPORARY)
    kbps = grid.values["kbps"].copy()
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        place = list(grid.axes["scheme"]).index(modified)
        for n, ues in enumerate(grid.axes["ues"]):
            kbps[place, n] *= TABLE_II[legacy][SIZES.index(ues)] / TABLE_II[legacy][0]
    return data.with_grids({TEMPORARY: replace(grid, values={**grid.values, "kbps": kbps})})


AS_MODIFIED = _in_place(dict(zip(LEGACY, MODIFIED, strict=True)))

CLAIMS: list[Claim[Data]] = [
    Claim(
        id="M12",
        section="5.3",
        sentence="The modified PGMCC scheme throughput closely approaches the mean throughput of the TCP protocol, "
        "whereas the TFMCC scheme has a slightly bigger (about 8%) throughput than the TCP.",
        statement="The modified schemes keep TCP's throughput, and TFMCC has more of it than PGMCC.",
        paper="1.05–1.14 (TFMCC), 1.00–1.05 (PGMCC); TFMCC above PGMCC at all ten sizes",
        measure="mean throughput over TCP's at each size, and TFMCC's less PGMCC's in pairs",
        band="0.8–1.4, and above 0, at every size",
        why="with losses of up to 5 % on a bearer of 384 kbit/s a model of TCP's rate gives 1.09 to 1.26; the order is "
        "that of Table II",
        judge=asking(_near_tcp, MULTICAST, UNICAST),
        null=_in_place(dict.fromkeys(MODIFIED, FREE_RATE)),
        former=Former(
            "0.8–1.4 at every size, without the order",
            "a source that controls nothing lies in that band too, since its bearer limits it",
            lambda data: judged(_said(data, MODIFIED), *_levels(data)),
        ),
        see="figure-5",
    ),
    Claim(
        id="M13",
        section="5.3",
        sentence="MOD_TFMCC 1.14 1.08 1.1 1.07 1.12 1.08 1.05 1.06 1.07 1.05 MOD_PGMCC 1.02 1.05 1.03 1 1.04 1.01 1.04 "
        "1.03 1.01 1",
        statement="Their throughput does not depend on the size of the group.",
        paper="flat",
        measure="throughput over TCP's at each size, less the mean over sizes, as a share of it",
        band="within 15 % of 0 at every size",
        why="the paper's own values differ by 9 %",
        judge=asking(_flat, MULTICAST, UNICAST),
        null=Null("modified schemes that fall with the size as Table II has the legacy ones fall", _shaped),
        see="figure-5",
    ),
    Claim(
        id="M14",
        section="5.3",
        sentence="On the other hand, significant multicast service degradation takes place when the legacy schemes are "
        "used for the congestion control. The service degradation is getting bigger when the number of the UEs "
        "participating in the multicast group increases.",
        statement="That of the legacy schemes falls with the size.",
        paper="0.96 to 0.45 (TFMCC), 0.94 to 0.52 (PGMCC)",
        measure="throughput of each legacy scheme: with a hundred members over that with one; from one to about three "
        "times as many; and the modified scheme's less it, in pairs",
        band="a hundred members have below 0.75 of what one has; from 1 to 3, 10, 30 and 100 members no step goes back "
        "by more than a tenth of the whole; modified − legacy above 0 from 3 members on",
        why="the worst of n terminals decides: a model of TCP's rate gives 0.57 to 0.65",
        judge=asking(_falling, MULTICAST),
        null=AS_MODIFIED,
        former=Former(
            "means: at most 0.75; no step up that is more than chance; modified above legacy from 3 on",
            "not to have found a step up is no evidence of a fall",
            _no_step_up,
        ),
        see="figure-5",
    ),
    Claim(
        id="M15",
        section="5.3",
        sentence="LEG_TFMCC 0.96 0.7 0.585 0.587 0.562 0.502 0.484 0.462 0.456 0.452 LEG_PGMCC 0.94 0.76 0.705 0.637 "
        "0.63 0.602 0.557 0.538 0.528 0.522",
        statement="The legacy schemes reach TCP with one member and half of it with a hundred (Table II).",
        paper="0.96, 0.94; 0.452, 0.522",
        measure="throughput of each legacy scheme over TCP's",
        band="0.75–1.1 with one, 0.35–0.75 with a hundred",
        why="a model of TCP's rate gives 1.0 and 0.57 to 0.66; the paper's exact levels do not go together with those "
        "of the modified schemes (see what does not follow)",
        judge=asking(_legacy_level, MULTICAST, UNICAST),
        null=AS_MODIFIED,
        see="table-2",
    ),
    Claim(
        id="M16",
        section="3.3",
        sentence="If a lot of UEs participate in the multicast group, there is a high probability that, at a given "
        "time, a UE suffers from fading. Soon, another UE suffering from channel degradation will be selected as "
        "representative and will cause reduction of the transmission rate.",
        statement="The representative of a legacy scheme keeps changing, that of a modified one does not.",
        paper="fluctuation",
        measure="changes of the representative a minute, legacy less three times modified, in pairs (a ratio as "
        "Fieller has it, for where there are none)",
        band="above 0 from 10 members on: at least 3 times as many",
        why="a change of the order of magnitude, not a nuance. The paper says so of legacy schemes; that modified ones "
        "are quieter is what they are for",
        judge=asking(_fluctuates, MULTICAST),
        null=AS_MODIFIED,
        former=Former("at least 3 times as many on average", "means without an interval", _more_on_average),
        see="figure-representative",
    ),
]
