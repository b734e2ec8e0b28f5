"""Timeouts (§IV-A): how many, and how many of them spurious."""

from __future__ import annotations

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, below, judged, within
from lasthop.studies.grid import Array

from ..data import MAIN, RR_FOR_SIR, Data, instead
from ..scenario import LARGE, MEDIUM, SCHEDULERS, SIZES, TITLES

#: The sizes at which timeouts are looked at: smaller files hardly have any of TCP's.
LONG = (MEDIUM, *LARGE)


def more_timeouts(data: Data, ues: int) -> dict[str, Array]:
    """Timeouts of TCP for each transfer, SIR less RR, of the sizes that leave slow start."""
    return {
        f"{number(size)} B: timeouts of TCP, SIR − RR": (
            data.mean_of("timeouts", size, protocol="tcp", scheduler="max_sir", ues=ues)
            - data.mean_of("timeouts", size, protocol="tcp", scheduler="round_robin", ues=ues)
        )
        for size in LONG
    }


def spurious_share(data: Data, scheduler: str, *, ues: int = 65) -> Array:
    """The share of all of TCP's timeouts that a longer timer would have saved."""
    return data.per("spurious", "timeouts", protocol="tcp", scheduler=scheduler, ues=ues)


def _more(data: Data) -> Judgement:
    shown = []
    for size in LONG:
        means = [
            estimate(data.mean_of("timeouts", size, protocol="tcp", scheduler=scheduler, ues=65))
            for scheduler in SCHEDULERS
        ]
        shown.append(f"{number(size)} B: RR {means[0]}, SIR {means[1]}")
    return judged(
        "; ".join(shown) + " timeouts per transfer",
        *(above(what, estimate(one)) for what, one in more_timeouts(data, 65).items()),
    )


def _spurious(data: Data) -> Judgement:
    share = estimate(100 * spurious_share(data, "max_sir"))
    count = data.main.mean("timeouts", protocol="tcp", scheduler="max_sir", ues=65)
    return judged(
        f"{share} % of {count} timeouts in a run",
        within("TCP with SIR: timeouts that are spurious", share, 50, 85, " %"),
    )


def _spurious_before(data: Data) -> Judgement:
    grid, where = data.main, {"protocol": "tcp", "scheduler": "max_sir", "ues": 65}
    with np.errstate(invalid="ignore", divide="ignore"):
        share = estimate(100 * grid.ratio("spurious", "timeouts", **where))
    return judged(f"{share} %", within("mean of the runs' shares", share, 50, 85, " %"))


def _swapped(data: Data) -> Data:
    grid = data.main
    names = ["", *(f"_{size}" for size in SIZES)]
    other = {f"spurious{name}": grid.values[f"timeouts{name}"] - grid.values[f"spurious{name}"] for name in names}
    return data.with_values(MAIN, other)


def _of_transfer(data: Data, quantity: str, size: int, protocol: str, scheduler: str) -> Array:
    return data.mean_of(quantity, size, protocol=protocol, scheduler=scheduler, ues=65)


def _nofeedback(data: Data) -> Judgement:
    none = data.main.mean("nofeedback", protocol="tfrc", scheduler="round_robin", ues=65)
    conditions = [within("TFRC with RR: no-feedback timeouts in a run", none, 0, 0)]
    shown = [f"no-feedback timeouts of TFRC with RR in a run: {none}"]
    for size in LONG:
        tfrc = _of_transfer(data, "nofeedback", size, "tfrc", "max_sir")
        tcp = _of_transfer(data, "timeouts", size, "tcp", "max_sir")
        shown.append(f"with SIR at {number(size)} B {estimate(tfrc)} per transfer, TCP {estimate(tcp)}")
        conditions.append(below(f"{number(size)} B with SIR: TFRC − a quarter of TCP", estimate(tfrc - tcp / 4)))
    return judged("; ".join(shown), *conditions)


def _nofeedback_before(data: Data) -> Judgement:
    grid = data.main
    rr, sir, tcp = (
        grid.at(name, protocol=protocol, scheduler=scheduler, ues=65)
        for name, protocol, scheduler in (
            ("nofeedback", "tfrc", "round_robin"), ("nofeedback", "tfrc", "max_sir"), ("timeouts", "tcp", "max_sir"),
        )
    )  # fmt: skip
    return judged(
        f"in a run: TFRC with RR {estimate(rr)}, with SIR {estimate(sir)}; TCP with SIR {estimate(tcp)}",
        within("with RR", estimate(rr), 0, 0),
        below("with SIR: TFRC − a quarter of TCP", estimate(sir - tcp / 4)),
    )


def _as_tcp(data: Data) -> Data:
    """TFRC's timer expires as often as TCP's."""
    made = instead("protocol", {"tfrc": "tcp"})(data)
    grid = made.main
    names = ["", *(f"_{size}" for size in SIZES)]
    return made.with_values(MAIN, {f"nofeedback{name}": grid.values[f"timeouts{name}"] for name in names})


def _introduced(data: Data) -> Judgement:
    shares = {name: spurious_share(data, name) for name in SCHEDULERS}
    each = {name: data.per("spurious", "transfers", protocol="tcp", scheduler=name, ues=65) for name in SCHEDULERS}
    ours = "; ".join(
        f"{TITLES[name]}: {estimate(100 * shares[name])} % of the timeouts, {estimate(1000 * each[name])} in a "
        f"thousand transfers"
        for name in SCHEDULERS
    )
    return judged(
        ours,
        above(
            "share of TCP's timeouts that are spurious, SIR − RR",
            estimate(100 * (shares["max_sir"] - shares["round_robin"])),
            unit=" %",
        ),
        above(
            "spurious timeouts in a thousand transfers, half of SIR's − RR's",
            estimate(1000 * (each["max_sir"] / 2 - each["round_robin"])),
        ),
    )


def _introduced_before(data: Data) -> Judgement:
    shares = {name: estimate(100 * spurious_share(data, name)) for name in SCHEDULERS}
    apart = estimate(100 * (spurious_share(data, "max_sir") - spurious_share(data, "round_robin")))
    ours = ", ".join(f"{TITLES[name]} {one} %" for name, one in shares.items())
    return judged(ours, above("SIR − RR", apart, unit=" %"))


def _at_random(data: Data) -> Data:
    """As many spurious timeouts in all, but of random ones: the scheduler has no say in which."""
    grid = data.main
    timeouts, spurious = grid.values["timeouts"], grid.values["spurious"]
    share = float(spurious.sum()) / max(1.0, float(timeouts.sum()))
    drawn = np.random.default_rng(0).binomial(timeouts.astype(int), share).astype(float)
    return data.with_values(MAIN, {"spurious": drawn})


def _waits(data: Data) -> str:
    rr = data.main.mean("nofeedback", protocol="tfrc", scheduler="round_robin", ues=65)
    ratios: list[Estimate] = [
        estimate(
            100
            * _of_transfer(data, "nofeedback", size, "tfrc", "max_sir")
            / max(1e-9, float(np.mean(_of_transfer(data, "timeouts", size, "tcp", "max_sir"))))
        )
        for size in LONG
    ]
    least, most = (number(pick(one.mean for one in ratios), 0) for pick in (min, max))
    return (
        f"with RR the timer expires {rr} times in a run, and with SIR for {least} to {most} % as often as TCP's. Four "
        f"round trips of the empty path "
        "are 0.6 s, less than TCP's least timeout of 1 s, and with SIR a mobile often waits longer than that for a slot"
    )


JUDGES: Judges[Data] = {
    "H5": Judge(_more, null=RR_FOR_SIR),
    "H6": Judge(_spurious, null=_swapped, former=_spurious_before),
    "H7": Judge(_nofeedback, null=_as_tcp, former=_nofeedback_before, cause=_waits),
    "H22": Judge(_introduced, null=_at_random, former=_introduced_before),
}
