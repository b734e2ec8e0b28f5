"""Mean transfer rates, and whether users have enough (§IV-C)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from lasthop.stats import Estimate, bootstrap, estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, below, judged, within
from lasthop.studies.grid import Array

from ..data import MAIN, RR_FOR_SIR, Data, portion, title
from ..measures.percentiles import lowest
from ..scenario import LEAST_KBPS, PROTOCOLS, SCHEDULERS, SIZES, TITLES

#: From this size on SIR is expected to be faster: below, a file is a few round trips.
LONG = SIZES[3:]

#: The difference between the protocols that is small, in per cent.
SMALL_PCT = 15.0

#: How many users may have less than the least rate, in per cent (§IV-C).
SLOW_PCT = 5.0


def faster_with_sir(data: Data, ues: int) -> dict[str, Array]:
    """Mean transfer rates, SIR less RR, of all but the shortest files."""
    return {
        f"{name} at {number(size)} B: rate, SIR − RR": (
            data.rate(size, protocol=protocol, scheduler="max_sir", ues=ues)
            - data.rate(size, protocol=protocol, scheduler="round_robin", ues=ues)
        )
        for protocol, name in PROTOCOLS.items()
        for size in LONG
    }


class _Rates:
    """Sums over the finished transfers of each size and run, and the mean rates of a draw of runs."""

    def __init__(self, data: Data) -> None:
        self.runs = len(data.main.seeds)
        self._of = {
            (protocol, scheduler): tuple(
                np.array(
                    [data.main.at(f"{name}_{size}", protocol=protocol, scheduler=scheduler, ues=65) for size in SIZES]
                )
                for name in ("rate_kbps", "finished")
            )
            for protocol in PROTOCOLS
            for scheduler in SCHEDULERS
        }

    def mean(self, protocol: str, scheduler: str, drawn: Sequence[int]) -> Array:
        """By size."""
        sums, counts = (one[:, list(drawn)].sum(axis=1) for one in self._of[protocol, scheduler])
        with np.errstate(invalid="ignore", divide="ignore"):
            made: Array = sums / counts
        return made

    def protocols_apart(self, scheduler: str, drawn: Sequence[int]) -> float:
        """Mean over the sizes of what TFRC differs from TCP, without sign, in per cent."""
        tcp, tfrc = (self.mean(protocol, scheduler, drawn) for protocol in PROTOCOLS)
        return float(np.nanmean(100 * np.abs(tfrc / tcp - 1)))

    def schedulers_apart(self, drawn: Sequence[int]) -> float:
        """Mean over the sizes and protocols of what SIR has more than RR, in per cent."""
        apart = [self.mean(one, "max_sir", drawn) / self.mean(one, "round_robin", drawn) - 1 for one in PROTOCOLS]
        return float(np.nanmean(100 * np.array(apart)[:, SIZES.index(LONG[0]) :]))

    def contrast(self, scheduler: str, drawn: Sequence[int]) -> float:
        """How much farther the schedulers are apart than the protocols, in points of per cent."""
        return self.schedulers_apart(drawn) - self.protocols_apart(scheduler, drawn)


def _apart_by_size(data: Data) -> dict[tuple[str, int], Estimate]:
    """What TFRC differs from TCP, in per cent, by scheduler and size."""
    made = {}
    for scheduler in SCHEDULERS:
        for size in SIZES:
            tcp, tfrc = (data.rate(size, protocol=protocol, scheduler=scheduler, ues=65) for protocol in PROTOCOLS)
            made[scheduler, size] = estimate(100 * (tfrc - tcp) / np.mean(tcp))
    return made


def _orders(data: Data) -> list[Condition]:
    return [above(what, estimate(one), unit=" kbit/s") for what, one in faster_with_sir(data, 65).items()]


def _alike(data: Data) -> Judgement:
    rates = _Rates(data)
    between = bootstrap(rates.schedulers_apart, rates.runs)
    apart = {name: bootstrap(partial(rates.protocols_apart, name), rates.runs) for name in SCHEDULERS}
    conditions = [
        condition
        for name, one in apart.items()
        for condition in (
            below(f"{TITLES[name]}: protocols apart, mean over the sizes", one, SMALL_PCT, " %"),
            above(
                f"schedulers apart − protocols apart with {TITLES[name]}",
                bootstrap(partial(rates.contrast, name), rates.runs),
                unit=" %",
            ),
        )
    ]
    by_size = _apart_by_size(data)
    ours = (
        "protocols apart by " + ", ".join(f"{one} % with {TITLES[name]}" for name, one in apart.items())
        + f"; SIR has {between.mean:+.0f} % from {number(LONG[0])} B on"
    )  # fmt: skip
    values = {f"{TITLES[name]}_{size}_TFRC_pct": one for (name, size), one in by_size.items()}
    return judged(ours, *conditions, *_orders(data), **values)


def _alike_before(data: Data) -> Judgement:
    by_size = _apart_by_size(data)
    low, high = (pick(one.mean for one in by_size.values()) for pick in (min, max))
    return judged(
        f"TFRC has {low:+.0f} to {high:+.0f} % of TCP's rates",
        *(
            within(f"{TITLES[name]} at {number(size)} B", one, -SMALL_PCT, SMALL_PCT, " %")
            for (name, size), one in by_size.items()
        ),
        *_orders(data),
    )


def _gaps(data: Data) -> str:
    by_size = _apart_by_size(data)
    shown = []
    for scheduler in SCHEDULERS:
        means = {size: one.mean for (name, size), one in by_size.items() if name == scheduler}
        short, long = ([means[size] for size in sizes] for sizes in (SIZES[:6], SIZES[6:]))
        shown.append(
            f"{TITLES[scheduler]}: TFRC {min(short):+.0f} to {max(short):+.0f} % up to 184 150 B, "
            f"{min(long):+.0f} to {max(long):+.0f} % beyond"
        )
    return (
        "; ".join(shown)
        + ". Short files are as fast as the rate grows in the first round trips; long ones end sooner with TFRC, "
        "which sends nothing again and waits for no timeout"
    )


def _enough(data: Data) -> Judgement:
    conditions, shown = [], []
    for ues in data.main.axes["ues"]:
        for protocol in PROTOCOLS:
            for scheduler in SCHEDULERS:
                where = {"protocol": protocol, "scheduler": scheduler, "ues": ues}
                slow = portion(data.main.at("slow_users", **where), data.main.at("users", **where))
                conditions.append(below(f"{title(**where)}: users with 50 kbit/s or less", slow, SLOW_PCT, " %"))
                shown.append(f"{TITLES[protocol]}/{TITLES[scheduler]}/{ues} {slow}")
    return judged("users with 50 kbit/s or less: " + ", ".join(shown) + " %", *conditions)


def _enough_before(data: Data) -> Judgement:
    conditions = []
    for ues in data.main.axes["ues"]:
        for protocol in PROTOCOLS:
            for scheduler in SCHEDULERS:
                where = {"protocol": protocol, "scheduler": scheduler, "ues": ues}
                conditions.append(within(title(**where), lowest(data.rates(**where)), LEAST_KBPS, np.inf, " kbit/s"))
    return judged(", ".join(f"{one.what} {one.value}" for one in conditions) + " kbit/s", *conditions)


def _worst(data: Data) -> Data:
    return data.with_values(MAIN, {"slow_users": data.main.values["users_once_slow"]})


JUDGES: Judges[Data] = {
    "H11": Judge(_alike, null=RR_FOR_SIR, former=_alike_before, cause=_gaps),
    "H12": Judge(_enough, null=_worst, former=_enough_before),
}
