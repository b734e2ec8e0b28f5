"""Transfer rates (§IV-C): means and fifth percentiles by size."""

from __future__ import annotations

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.hsdpa.data import Data, title
from lasthop.studies.hsdpa.percentiles import lowest, lowest_difference
from lasthop.studies.hsdpa.scenario import PROTOCOLS, SCHEDULERS, SIZES, SMALL, TITLES

__all__ = ["CLAIMS", "LEAST", "MORE", "faster_with_sir", "small_slower_with_sir"]

SIGN = "the order is claimed, no number"

#: What a circuit-switched bearer gives, in kbit/s: 95 % of the users should have more (§IV-C).
LEAST = 50.0

#: From this size on SIR is expected to be faster: below, a file is a few round trips.
LONG = SIZES[3:]

#: The round trip of the empty path: twice 75 ms and one slot. Five of them are what spoils the rate of 4350 B.
FLOOR_S = 0.152
FLOORS = 5


def faster_with_sir(data: Data, ues: int) -> dict[str, Estimate]:
    """Mean transfer rates, SIR less RR, of all but the shortest files."""
    return {
        f"{name} at {size} B: SIR − RR": estimate(
            data.rate(size, protocol=protocol, scheduler="max_sir", ues=ues)
            - data.rate(size, protocol=protocol, scheduler="round_robin", ues=ues)
        )
        for protocol, name in PROTOCOLS.items()
        for size in LONG
    }


def _below(data: Data, ues: int) -> dict[tuple[str, str, int], Estimate]:
    """Fifth percentiles below what is asked for, by protocol, scheduler and size."""
    found = {}
    for protocol in PROTOCOLS:
        for scheduler in SCHEDULERS:
            for size in SIZES:
                one = lowest(data.rates(size, protocol=protocol, scheduler=scheduler, ues=ues))
                if one.mean < LEAST:
                    found[protocol, scheduler, size] = one
    return found


def small_slower_with_sir(data: Data, ues: int) -> dict[str, Estimate]:
    """Fifth percentiles of the small sizes that do not reach what is asked for, RR less SIR."""
    below = sorted({(protocol, size) for protocol, _, size in _below(data, ues) if size in SMALL})
    return {
        f"{PROTOCOLS[protocol]} at {size} B: RR − SIR": lowest_difference(
            data.rates(size, protocol=protocol, scheduler="round_robin", ues=ues),
            data.rates(size, protocol=protocol, scheduler="max_sir", ues=ues),
        )
        for protocol, size in below
    }


def _alike(data: Data) -> Judgement:
    outside, apart = [], {}
    for scheduler in SCHEDULERS:
        for size in SIZES:
            tcp, tfrc = (data.rate(size, protocol=protocol, scheduler=scheduler, ues=65) for protocol in PROTOCOLS)
            one = estimate(100 * (tfrc / tcp - 1))
            apart[f"{TITLES[scheduler]}_{size}_pct"] = one
            if not abs(one.mean) < 15:
                outside.append(f"{TITLES[scheduler]} at {number(size)} B: TFRC {one.mean:+.0f} %")
    low, high = (pick(one.mean for one in apart.values()) for pick in (min, max))
    gains = [
        estimate(
            100 * (data.rate(size, protocol=protocol, scheduler="max_sir", ues=65)
                   / data.rate(size, protocol=protocol, scheduler="round_robin", ues=65) - 1)
        ).mean
        for protocol in PROTOCOLS
        for size in LONG
    ]  # fmt: skip
    ours = (
        f"TFRC has {low:+.0f} to {high:+.0f} % of TCP's rates; "
        f"SIR has {min(gains):+.0f} to {max(gains):+.0f} % from {number(LONG[0])} B on"
    )
    return order(ours, faster_with_sir(data, 65), outside, **apart)


def _enough(data: Data) -> Judgement:
    values, outside = {}, []
    for ues in data.main.axes["ues"]:
        for protocol in PROTOCOLS:
            for scheduler in SCHEDULERS:
                where = {"protocol": protocol, "scheduler": scheduler, "ues": ues}
                one = lowest(data.rates(**where))
                values[f"{TITLES[protocol]}_{TITLES[scheduler]}_{ues}_kbps"] = one
                if not one.mean >= LEAST:
                    outside.append(f"{title(**where)}: {one} kbit/s")
    ours = ", ".join(f"{name.removesuffix('_kbps').replace('_', '/')} {one}" for name, one in values.items())
    return verdict(outside, ours + " kbit/s", values)


def _small_below(data: Data) -> Judgement:
    below = _below(data, 65)
    outside = [
        f"{title(protocol=protocol, scheduler=scheduler)} at {number(size)} B: {one} kbit/s"
        for (protocol, scheduler, size), one in below.items()
        if size not in SMALL
    ]
    if not any(size in SMALL for _, _, size in below):
        outside.append("no size falls below 50 kbit/s")
    shown = [
        f"{title(protocol=protocol, scheduler=scheduler)}: "
        + (", ".join(f"{number(size)} B" for p, s, size in below if (p, s) == (protocol, scheduler)) or "none")
        for protocol in PROTOCOLS
        for scheduler in SCHEDULERS
    ]
    return order("below 50 kbit/s: " + "; ".join(shown), small_slower_with_sir(data, 65), outside)


def _round_trips(data: Data) -> Judgement:
    bound = 8e-3 * SIZES[0] / (FLOORS * FLOOR_S)
    values, outside, shown = {}, [], []
    for protocol in PROTOCOLS:
        for scheduler in SCHEDULERS:
            where = {"protocol": protocol, "scheduler": scheduler, "ues": 65}
            rate = estimate(data.rate(SIZES[0], **where))
            least = lowest(data.rates(SIZES[0], **where))
            values[f"{TITLES[protocol]}_{TITLES[scheduler]}_kbps"] = rate
            shown.append(f"{title(**where)} {rate}, fifth percentile {least}")
            if not 0.7 * bound <= rate.mean <= 1.3 * bound:
                outside.append(f"{title(**where)} has {100 * (rate.mean / bound - 1):+.0f} %")
    return verdict(outside, "; ".join(shown) + f" kbit/s; {number(bound, 1)} in five round trips", values)


CLAIMS: list[Claim[Data]] = [
    Claim(
        "H11", "IV-C, Fig. 5", "The difference between the protocols is small, that between the schedulers is big",
        "TCP ≈ TFRC; SIR > RR", "mean rates of TFRC within 15 % of TCP's at every size; SIR faster at each size from "
        "44 950 B on, in pairs", "\"small\"; shorter files last a few round trips with either scheduler", _alike,
        see="figure-5",
    ),
    Claim(
        "H12", "IV-C", "95 % of the users have more than 50 kbit/s, with both protocols", "> 50 kbit/s",
        "fifth percentile of all transfers at least 50 kbit/s in every scenario", "a transfer stands for a user",
        _enough, see="table-scenarios",
    ),
    Claim(
        "H13", "IV-C, Figs. 6, 7", "Only small files do not reach 50 kbit/s, and of these RR's are faster",
        "small sizes; RR > SIR", "fifth percentiles below 50 kbit/s only among the six smallest sizes, there larger "
        "with RR, by draws of runs in pairs", SIGN, _small_below, see="figure-6",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "H21", "IV-C", "Small files are slow because of round trips, not of scheduling", "4350 B below 50 kbit/s",
        "mean rates of 4350 B within 30 % of the size over five round trips of the empty path, in all four scenarios",
        "three segments need two round trips at least; 50 kbit/s are 0.7 s, not quite five", _round_trips,
        see="figure-6",
    ),
]  # fmt: skip
