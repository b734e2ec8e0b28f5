"""Why claims are not reproduced, as far as the runs at hand show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.umts_multicast.data import FAIRNESS, PERMANENT, STEPS, TEMPORARY, Data
from lasthop.studies.umts_multicast.experiments import STEPS_S
from lasthop.studies.umts_multicast.fairness import MIXED, PAIRS
from lasthop.studies.umts_multicast.network import SCHEMES
from lasthop.studies.umts_multicast.permanent import waited
from lasthop.studies.umts_multicast.responsiveness import NAMES, adaptation
from lasthop.studies.umts_multicast.telling import RADIO_LOSSES, told
from lasthop.studies.umts_multicast.temporary import FREE_RATE, LEGACY, MODIFIED

__all__ = ["CAUSES"]


def _meets_slowly(data: Data) -> str:
    shares = data.grid(FAIRNESS).at("least_of_most", flows=PAIRS[0], where="iu")
    return (
        "a flow of TFMCC has a few loss events in a minute at this rate, so that chance decides for long which of the "
        "two is "
        f"ahead: the lower one has from {number(float(shares.min()), 2)} to {number(float(shares.max()), 2)} of the "
        "other"
    )


def _beside_tcp(data: Data, where: str = "iu") -> str:
    grid = data.grid(FAIRNESS)
    means = [float(np.mean(grid.at(f"kbps_{n}", flows=MIXED, where=where))) for n in range(3)]
    said = ", ".join(f"{name} {number(one, 0)}" for name, one in zip(("TFMCC", "PGMCC", "TCP"), means, strict=True))
    return (
        "PGMCC sends nothing again and waits for no timeout, which TCP has to do with the small windows that are left "
        "to it "
        f"beside it: {said} kbit/s"
    )


def _slow_to_meet(data: Data) -> str:
    shares = data.grid(FAIRNESS).at("least_of_most", flows=PAIRS[0], where="bearer")
    return (
        "the FIFO of the shared bearer makes round trips of a second, in which two flows of TFMCC meet slowly: the "
        "lower one "
        f"has from {number(float(shares.min()), 2)} to {number(float(shares.max()), 2)} of the other. "
        f"{_beside_tcp(data, 'bearer')}"
    )


def _mean_curve(data: Data) -> str:
    n = len(data.sent["loss", "tcp"][1])
    each = ", ".join(f"{NAMES[one]} {adaptation(data, 'loss', one)} s" for one in NAMES)
    return f"even the mean of {n} runs swings by what single losses do to it: {each}"


def _small_steps(data: Data) -> str:
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


def _forgets(data: Data) -> str:
    return (
        "TFMCC's mean over its last loss intervals forgets the former loss rate only as these go by: "
        f"{adaptation(data, 'loss', 'tfmcc')} s, {adaptation(data, 'loss', 'tfmcc', 'pgmcc')} s more than PGMCC"
    )


def _above_tfmcc(data: Data) -> str:
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


def _levels(data: Data) -> str:
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


def _marker_lost(data: Data) -> str:
    each = ", ".join(
        f"{told(data, data.taken.indication, radio)[0]} % of the losses by congestion with {100 * radio:g} % "
        "on the radio"
        for radio in RADIO_LOSSES
    )
    return f"the packet with the bit crosses the radio too and is lost there like any other: recognised are {each}"


def _slow_start(data: Data) -> str:
    got = estimate(100 * data.grid(PERMANENT).at("before_kbps", scheme=MODIFIED[0]) / data.taken.rate_kbps)
    return (
        "alone on a bearer TFMCC's slow start ends at twice its rate; what overflows then takes the rate "
        "down, and it climbs "
        f"back slowly: {got} % of the bearer's rate until the degradation begins"
    )


def _round_trips(data: Data) -> str:
    early = {scheme: int(np.sum(waited(data, scheme) < 0)) for scheme in MODIFIED}
    runs = len(data.grid(PERMANENT).seeds)
    each = ", ".join(f"{SCHEMES[scheme]} in {n} of {runs} runs" for scheme, n in early.items())
    return (
        "the FIFO that fills makes round trips longer, and TFMCC's equation has the round-trip time in it: "
        "the rate falls "
        f"before anything is rejected ({each})"
    )


def _clocked(data: Data) -> str:
    grid = data.grid(PERMANENT)
    slower = estimate(grid.at("slower_s", scheme=MODIFIED[1]))
    rejected = estimate(grid.at("first_rejection_s", scheme=MODIFIED[1]))
    return (
        "PGMCC sends when it is acknowledged, and a bearer that carries less acknowledges less: it sends a fifth less "
        f"{slower} s after the change, so its FIFO overflows only after {rejected} s, as the window goes on opening"
    )


#: By claim; said where the default reading does not reproduce it.
CAUSES: Mapping[str, str | Callable[[Data], str]] = {
    "M1": _meets_slowly,
    "M4": _beside_tcp,
    "M5": _slow_to_meet,
    "M7": _mean_curve,
    "M8": _mean_curve,
    "M9": _forgets,
    "M11": _small_steps,
    "M12": _above_tfmcc,
    "M15": _levels,
    "M17": _marker_lost,
    "M18": _slow_start,
    "M19": _round_trips,
    "M20": _clocked,
}
