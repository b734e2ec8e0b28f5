"""Temporary degradation (§5.3): Table II, and how often the representative changes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, NotRun, verdict
from lasthop.studies.umts_multicast.data import TEMPORARY, Data, outside
from lasthop.studies.umts_multicast.experiments import SIZES
from lasthop.studies.umts_multicast.network import SCHEMES

__all__ = ["CLAIMS", "LEGACY", "MODIFIED"]

MODIFIED, LEGACY = ("mod_tfmcc", "mod_pgmcc"), ("leg_tfmcc", "leg_pgmcc")


def _ratios(data: Data, schemes: tuple[str, ...]) -> dict[str, dict[int, Estimate]]:
    return {scheme: {ues: data.ratio(scheme, ues) for ues in data.sizes} for scheme in schemes}


def _said(ratios: dict[str, dict[int, Estimate]]) -> str:
    return (
        "; ".join(
            f"{SCHEMES[scheme]} " + ", ".join(f"{number(one.mean, 2)}" for one in row.values())
            for scheme, row in ratios.items()
        )
        + f" for {', '.join(str(ues) for ues in next(iter(ratios.values())))} members"
    )


def _values(ratios: dict[str, dict[int, Estimate]]) -> dict[str, Estimate]:
    return {f"{SCHEMES[scheme]}_{ues}": one for scheme, row in ratios.items() for ues, one in row.items()}


def _level(data: Data) -> Judgement:
    ratios = _ratios(data, MODIFIED)
    wrong = [
        text
        for scheme, row in ratios.items()
        for ues, one in row.items()
        for text in outside(f"{SCHEMES[scheme]} with {ues}", one, 0.8, 1.4)
    ]
    return verdict(wrong, _said(ratios), _values(ratios))


def _flat(data: Data) -> Judgement:
    ratios = _ratios(data, MODIFIED)
    wrong, said = [], []
    for scheme, row in ratios.items():
        mean = float(np.mean([one.mean for one in row.values()]))
        apart = {ues: one.mean / mean - 1 for ues, one in row.items()}
        wrong += [
            f"{SCHEMES[scheme]} with {ues} is {number(100 * by, 0)} % off its mean"
            for ues, by in apart.items()
            if not abs(by) <= 0.15
        ]
        said.append(
            f"{SCHEMES[scheme]} {number(100 * min(apart.values()), 0)} to {number(100 * max(apart.values()), 0)} %"
        )
    return verdict(wrong, f"from the mean over sizes: {', '.join(said)}", _values(ratios))


def _ends(data: Data) -> tuple[int, int]:
    first, last = SIZES[0], SIZES[-1]
    if first not in data.sizes or last not in data.sizes:
        raise NotRun(f"groups of {first} and {last} were not both run")
    return first, last


def _falling(data: Data) -> Judgement:
    first, last = _ends(data)
    ratios = _ratios(data, LEGACY)
    modified = _ratios(data, MODIFIED)
    wrong, values = [], _values(ratios)
    for scheme, row in ratios.items():
        fall = Estimate(row[last].mean / row[first].mean, math.nan, row[last].n)
        values[f"{SCHEMES[scheme]}_{last}_over_{first}"] = fall
        wrong += outside(f"{SCHEMES[scheme]}: {last} over {first} members", fall, 0.0, 0.75)
        sizes = list(row)
        kbps = data.grid(TEMPORARY)
        for small, large in pairwise(sizes):
            step = estimate(kbps.at("kbps", scheme=scheme, ues=large) - kbps.at("kbps", scheme=scheme, ues=small))
            if step.excludes(0) and step.mean > 0:
                wrong.append(f"{SCHEMES[scheme]} rises by {step} kbit/s from {small} to {large}")
        other = scheme.replace("leg", "mod")
        wrong += [
            f"{SCHEMES[other]} is not above {SCHEMES[scheme]} with {ues}"
            for ues, one in row.items()
            if ues >= 3 and not modified[other][ues].mean > one.mean
        ]
    return verdict(wrong, _said(ratios), values)


def _legacy_level(data: Data) -> Judgement:
    first, last = _ends(data)
    ratios = _ratios(data, LEGACY)
    wrong = [
        text
        for scheme, row in ratios.items()
        for ues, low, high in ((first, 0.75, 1.1), (last, 0.35, 0.75))
        for text in outside(f"{SCHEMES[scheme]} with {ues}", row[ues], low, high)
    ]
    ours = "; ".join(
        f"{SCHEMES[scheme]} {row[first]} with {first}, {row[last]} with {last}" for scheme, row in ratios.items()
    )
    return verdict(wrong, ours, _values(ratios))


def _fluctuates(data: Data) -> Judgement:
    wrong, said = [], []
    values: dict[str, Estimate] = {}
    for modified, legacy in zip(MODIFIED, LEGACY, strict=True):
        each = []
        for ues in (size for size in data.sizes if size >= 10):
            mine, other = (
                data.estimate(TEMPORARY, "changes_per_minute", scheme=s, ues=ues) for s in (modified, legacy)
            )
            values |= {f"{SCHEMES[modified]}_{ues}": mine, f"{SCHEMES[legacy]}_{ues}": other}
            each.append(f"{number(other.mean)} : {number(mine.mean)} with {ues}")
            if not (other.mean >= 3 * mine.mean and other.mean > 0):
                wrong.append(f"{SCHEMES[legacy]} {other}, {SCHEMES[modified]} {mine} a minute with {ues}")
        said.append(f"{SCHEMES[legacy]} : {SCHEMES[modified]} {', '.join(each)}")
    if not values:
        raise NotRun("no group of 10 or more was run")
    return verdict(wrong, "; ".join(said), values)


CLAIMS: list[Claim[Data]] = [
    Claim(
        "M12",
        "5.3",
        "The modified schemes keep TCP's throughput.",
        "1.05–1.14 (TFMCC), 1.00–1.05 (PGMCC)",
        "0.8–1.4 at every size",
        "with losses of up to 5 % on a bearer of 384 kbit/s a model of TCP's rate gives 1.09 to 1.26",
        _level,
        see="figure-5",
    ),
    Claim(
        "M13",
        "5.3",
        "Their throughput does not depend on the size of the group.",
        "flat",
        "each size within 15 % of the mean over sizes",
        "the paper's own values differ by 9 %",
        _flat,
        see="figure-5",
    ),
    Claim(
        "M14",
        "5.3",
        "That of the legacy schemes falls with the size.",
        "0.96 to 0.45 (TFMCC), 0.94 to 0.52 (PGMCC)",
        "100 members have at most 0.75 of what one has; no step up that is more than chance; modified above legacy "
        "from 3 on",
        "the worst of n terminals decides: the model gives 0.57 to 0.65",
        _falling,
        see="figure-5",
    ),
    Claim(
        "M15",
        "5.3",
        "The legacy schemes reach TCP with one member and half of it with a hundred.",
        "0.96, 0.94; 0.452, 0.522",
        "0.75–1.1 with one, 0.35–0.75 with a hundred",
        "the model gives 1.0 and 0.57 to 0.66",
        _legacy_level,
        see="table-2",
    ),
    Claim(
        "M16",
        "3.3, 5.3",
        "The representative of a legacy scheme keeps changing, that of a modified one does not.",
        "fluctuation",
        "from 10 members on at least 3 times as many changes in a minute",
        "a change of the order of magnitude, not a nuance",
        _fluctuates,
        see="figure-representative",
    ),
]
