"""Small files, which do not reach 50 kbit/s (§IV-C)."""

from __future__ import annotations

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, below, judged, within
from lasthop.studies.grid import Array

from ..data import RR_FOR_SIR, Data, title
from ..measures.percentiles import lowest, lowest_difference
from ..scenario import LARGE, LEAST_KBPS, MEDIUM, PROTOCOLS, SCHEDULERS, SIZES, SMALL, TITLES

#: The round trip of the empty path, and how many of them were taken to spoil the rate of 4350 B.
FLOOR_S = 0.152
FLOORS = 5


def smaller_with_rr(data: Data, size: int, protocol: str, ues: int = 65) -> Estimate:
    """Fifth percentiles of the transfer rates of a size, RR less SIR."""
    rr, sir = (data.rates(size, protocol=protocol, scheduler=scheduler, ues=ues) for scheduler in SCHEDULERS)
    return lowest_difference(rr, sir)


def _below(data: Data) -> dict[tuple[str, str, int], float]:
    """Fifth percentiles below what is asked for, by protocol, scheduler and size."""
    found = {}
    for protocol in PROTOCOLS:
        for scheduler in SCHEDULERS:
            for size in SIZES:
                one = data.rates(size, protocol=protocol, scheduler=scheduler, ues=65).quantile()
                if one < LEAST_KBPS:
                    found[protocol, scheduler, size] = one
    return found


def _only_small(data: Data) -> Judgement:
    found = _below(data)
    conditions = [
        above(
            f"{title(protocol=protocol, scheduler=scheduler)} at {number(size)} B: fifth percentile",
            lowest(data.rates(size, protocol=protocol, scheduler=scheduler, ues=65)),
            LEAST_KBPS,
            " kbit/s",
        )
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
        for size in (MEDIUM, *LARGE)
    ]
    for protocol, name in PROTOCOLS.items():
        slowest = min(
            (
                data.rates(size, protocol=protocol, scheduler=scheduler, ues=65)
                for scheduler in SCHEDULERS
                for size in SMALL
            ),
            key=lambda one: one.quantile(),
        )
        conditions.append(
            below(f"{name}: least fifth percentile of the small sizes", lowest(slowest), LEAST_KBPS, " kbit/s")
        )
        conditions += [
            above(
                f"{name} at {number(size)} B: fifth percentile, RR − SIR",
                smaller_with_rr(data, size, protocol),
                0,
                " kbit/s",
            )
            for size in sorted({size for one, _, size in found if one == protocol and size in SMALL})
        ]
    shown = [
        f"{title(protocol=protocol, scheduler=scheduler)}: "
        + (", ".join(f"{number(size)} B" for p, s, size in found if (p, s) == (protocol, scheduler)) or "none")
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    ]
    return judged("below 50 kbit/s: " + "; ".join(shown), *conditions)


def _asked(data: Data, protocol: str) -> Array:
    """Transfers that were begun, SIR less RR."""
    sir, rr = (
        data.main.at("transfers", protocol=protocol, scheduler=one, ues=65) for one in ("max_sir", "round_robin")
    )
    made: Array = sir - rr
    return made


def _smallest(data: Data) -> Judgement:
    conditions, shown = [], []
    for protocol, name in PROTOCOLS.items():
        faster, asked = smaller_with_rr(data, SIZES[0], protocol), estimate(_asked(data, protocol))
        conditions += [
            above(f"{name} at {number(SIZES[0])} B: fifth percentile, RR − SIR", faster, unit=" kbit/s"),
            above(f"{name}: transfers in a run, SIR − RR", asked),
        ]
        least = [lowest(data.rates(SIZES[0], protocol=protocol, scheduler=one, ues=65)) for one in SCHEDULERS]
        shown.append(f"{name}: RR {least[0]}, SIR {least[1]} kbit/s; SIR has {asked} transfers more in a run")
    return judged("; ".join(shown), *conditions)


def _round_trips(data: Data) -> Judgement:
    bound = 8e-3 * SIZES[0] / (FLOORS * FLOOR_S)
    rates = {
        f"{TITLES[protocol]} with {TITLES[scheduler]}": estimate(
            data.rate(SIZES[0], protocol=protocol, scheduler=scheduler, ues=65)
        )
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    }
    return judged(
        "; ".join(f"{name} {one}" for name, one in rates.items()) + f" kbit/s; {number(bound, 1)} in five round trips",
        *(within(name, one, 0.7 * bound, 1.3 * bound, " kbit/s") for name, one in rates.items()),
    )


JUDGES: Judges[Data] = {
    "H13": Judge(_only_small, null=RR_FOR_SIR),
    "H21": Judge(_smallest, null=RR_FOR_SIR, former=_round_trips),
}
