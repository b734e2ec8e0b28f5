"""Timeouts (§IV-A): how many, how many of them spurious, and what else shows congestion."""

from __future__ import annotations

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.hsdpa.data import Array, Data
from lasthop.studies.hsdpa.scenario import LARGE, MEDIUM, PROTOCOLS, SCHEDULERS, TITLES

__all__ = ["CLAIMS", "MORE", "more_timeouts", "spurious_share"]

SIGN = "the order is claimed, no number"


def more_timeouts(data: Data, ues: int) -> dict[str, Estimate]:
    """Timeouts of TCP for each transfer, SIR less RR, of the sizes that leave slow start."""
    return {
        f"SIR − RR at {size} B": estimate(
            data.mean_of("timeouts", size, protocol="tcp", scheduler="max_sir", ues=ues)
            - data.mean_of("timeouts", size, protocol="tcp", scheduler="round_robin", ues=ues)
        )
        for size in (MEDIUM, *LARGE)
    }


def spurious_share(data: Data, scheduler: str, *, ues: int = 65) -> Array:
    """The share of TCP's timeouts that a longer timer would have saved, of each seed."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return data.main.ratio("spurious", "timeouts", protocol="tcp", scheduler=scheduler, ues=ues)


def _more(data: Data) -> Judgement:
    shown = []
    for size in (MEDIUM, *LARGE):
        means = [
            estimate(data.mean_of("timeouts", size, protocol="tcp", scheduler=scheduler, ues=65))
            for scheduler in SCHEDULERS
        ]
        shown.append(f"{number(size)} B: RR {means[0]}, SIR {means[1]}")
    return order("; ".join(shown) + " timeouts per transfer", more_timeouts(data, 65), [])


def _spurious(data: Data) -> Judgement:
    share = estimate(100 * spurious_share(data, "max_sir"))
    outside = [] if 50 <= share.mean <= 85 else [f"{share} %, outside 50–85 %"]
    count = data.main.mean("timeouts", protocol="tcp", scheduler="max_sir", ues=65)
    return verdict(outside, f"{share} % of {count} timeouts in a run", {"spurious_pct": share, "timeouts": count})


def _nofeedback(data: Data) -> Judgement:
    grid = data.main
    rr = grid.mean("nofeedback", protocol="tfrc", scheduler="round_robin", ues=65)
    sir = grid.mean("nofeedback", protocol="tfrc", scheduler="max_sir", ues=65)
    tcp = grid.mean("timeouts", protocol="tcp", scheduler="max_sir", ues=65)
    outside = [] if rr.mean == 0 else [f"{rr} with RR in a run"]
    if not sir.mean < tcp.mean / 4:
        outside.append(f"with SIR {sir}, not below a quarter of TCP's {tcp}")
    ours = f"no-feedback timeouts in a run: RR {rr}, SIR {sir}; TCP with SIR has {tcp} timeouts"
    return verdict(outside, ours, {"RR_nofeedback": rr, "SIR_nofeedback": sir, "TCP_SIR_timeouts": tcp})


def _events(data: Data) -> Judgement:
    def of(size: int, protocol: str, scheduler: str) -> Array:
        return data.mean_of("events", size, protocol=protocol, scheduler=scheduler, ues=65)

    differences, shown, values = {}, [], {}
    for size, more, less in ((LARGE[1], "tfrc", "tcp"), (LARGE[0], "tcp", "tfrc")):
        for scheduler in SCHEDULERS:
            name = f"{number(size)} B with {TITLES[scheduler]}"
            differences[f"{name}: {TITLES[more]} − {TITLES[less]}"] = estimate(
                of(size, more, scheduler) - of(size, less, scheduler)
            )
            means = {protocol: estimate(of(size, protocol, scheduler)) for protocol in PROTOCOLS}
            shown.append(f"{name}: TCP {means['tcp']}, TFRC {means['tfrc']}")
    for protocol in PROTOCOLS:
        for size in LARGE:
            values[f"{protocol}_{size}_SIR_minus_RR"] = estimate(
                of(size, protocol, "max_sir") - of(size, protocol, "round_robin")
            )
    judged = order("; ".join(shown) + " events per transfer", differences, [], **values)
    said = 'the paper says both "for the two largest file sizes" and "reversed for the 740950 byte files"'
    return Judgement(judged.verdict, judged.ours, judged.values, "; ".join(filter(None, [judged.reason, said])))


def _share(data: Data) -> Judgement:
    shares = {scheduler: spurious_share(data, scheduler) for scheduler in SCHEDULERS}
    ours = ", ".join(f"{TITLES[name]} {estimate(100 * one)} %" for name, one in shares.items()) + " of TCP's timeouts"
    difference = estimate(100 * (shares["max_sir"] - shares["round_robin"]))
    return order(ours, {"SIR − RR": difference}, [])


CLAIMS: list[Claim[Data]] = [
    Claim(
        "H5", "IV-A, Fig. 1", "SIR scheduling gives more timeouts of TCP than RR", "SIR > RR",
        "more timeouts per transfer, in pairs, at each size from 369 750 B on", SIGN + "; smaller files hardly "
        "have timeouts", _more, see="figure-1",
    ),
    Claim(
        "H6", "IV-A", "Of the timeouts of TCP with SIR close to 70 % are spurious", "70 %", "50–85 %",
        "\"close to\", of a share that depends on the timer's least value", _spurious, see="table-spurious",
    ),
    Claim(
        "H7", "IV-A, Fig. 1", "TFRC has no no-feedback timeouts with RR, and with SIR considerably fewer than TCP "
        "has timeouts", "0; few", "0; less than a quarter of TCP's", "\"considerably fewer\"", _nofeedback,
        see="figure-1",
    ),
    Claim(
        "H8", "IV-A, Fig. 2", "TFRC sees more congestion events than TCP at the largest size, TCP more at 740 950 B",
        "the text contradicts itself on 740 950 B", "the order at either size, in pairs, with both schedulers",
        "the second of the two sentences is the more particular one", _events, see="figure-2",
    ),
]  # fmt: skip

MORE: list[Claim[Data]] = [
    Claim(
        "H22", "IV-A", "Spurious timeouts come from SIR scheduling", "many with SIR, few with RR",
        "a larger share of the timeouts with SIR than with RR, in pairs", SIGN, _share, see="table-spurious",
    ),
]  # fmt: skip
