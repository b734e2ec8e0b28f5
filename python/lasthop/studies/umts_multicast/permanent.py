"""Permanent degradation (§5.4): a terminal whose radio gets bad for good, and stays."""

from __future__ import annotations

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, NotRun, verdict
from lasthop.studies.umts_multicast.data import PERMANENT, SCALING, SEVERAL, Data, outside
from lasthop.studies.umts_multicast.network import SCHEMES
from lasthop.studies.umts_multicast.readings import READINGS
from lasthop.studies.umts_multicast.temporary import MODIFIED

__all__ = ["CLAIMS"]


def _rate(data: Data) -> float:
    return next((one.rate_kbps for one in READINGS if one.name == data.name), READINGS[0].rate_kbps)


def _before(data: Data) -> Judgement:
    values = {
        SCHEMES[scheme]: estimate(100 * data.grid(PERMANENT).at("before_kbps", scheme=scheme) / _rate(data))
        for scheme in MODIFIED
    }
    wrong = [text for name, one in values.items() for text in outside(name, one, 95.0, 100.5, " %")]
    return verdict(
        wrong, ", ".join(f"{name} {one} %" for name, one in values.items()) + " of the bearer's rate", values
    )


def _order(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    wrong, said = [], []
    values: dict[str, Estimate] = {}
    for scheme in MODIFIED:
        rejected, cut = (grid.at(f"first_{what}_s", scheme=scheme) for what in ("rejection", "cut"))
        if np.isnan(rejected).all():
            raise NotRun("rejections are not seen at this radio")
        early = int(np.sum(~(cut >= rejected)))
        values |= {f"{SCHEMES[scheme]}_rejection_s": estimate(rejected), f"{SCHEMES[scheme]}_cut_s": estimate(cut)}
        said.append(f"{SCHEMES[scheme]}: rejection after {estimate(rejected)} s, cut after {estimate(cut)} s")
        if early:
            wrong.append(f"{SCHEMES[scheme]} cuts before the first rejection, or never, in {early} of {len(cut)} runs")
    tcp = estimate(grid.at("first_cut_s", scheme="tcp"))
    said.append(f"TCP: cut after {tcp} s")
    wrong += outside("TCP cuts after", tcp, 0.0, 2.0, " s")
    return verdict(wrong, "; ".join(said), {**values, "TCP_cut_s": tcp})


def _adapts(data: Data) -> Judgement:
    values = {SCHEMES[scheme]: data.estimate(PERMANENT, "adaptation_s", scheme=scheme) for scheme in MODIFIED}
    wrong = [text for name, one in values.items() for text in outside(name, one, 2.0, 10.0, " s")]
    said = [f"{name} {one} s" for name, one in values.items()]
    tcp = data.estimate(PERMANENT, "adaptation_s", scheme="tcp")
    values["TCP"] = tcp
    said.append(f"TCP {tcp} s")
    wrong += [
        f"TCP {tcp} s is not below {name}" for name, one in values.items() if name != "TCP" and not tcp.mean < one.mean
    ]
    if SCALING not in data.grids:
        return verdict(wrong, ", ".join(said), values)
    grid = data.grid(SCALING)
    for scheme in MODIFIED:
        for axis, fixed, steps in (
            ("queue", {"rate": 384}, (25, 50)),
            ("rate", {"queue": 50}, (384, 192)),
        ):
            of = {step: grid.at("adaptation_s", scheme=scheme, **{axis: step}, **fixed) for step in steps}
            name = f"{SCHEMES[scheme]}, {'packets' if axis == 'queue' else 'kbit/s'} {steps[1]} − {steps[0]}"
            more = estimate(of[steps[1]] - of[steps[0]])
            values[name] = more
            said.append(f"{name}: {more} s")
            if not more.mean > 0:
                wrong.append(f"{name}: {more} s")
    return verdict(wrong, ", ".join(said), values)


def _several(data: Data) -> Judgement:
    values: dict[str, Estimate] = {
        SCHEMES[scheme]: estimate(100 * data.grid(SEVERAL).at("degraded_share", scheme=scheme)) for scheme in MODIFIED
    }
    wrong = [
        f"{name} has another representative {number(100 - one.mean, 2)} % of the time"
        for name, one in values.items()
        if not one.mean >= 100.0
    ]
    return verdict(wrong, ", ".join(f"{name} {one} % of the time" for name, one in values.items()), values)


CLAIMS: list[Claim[Data]] = [
    Claim(
        "M18",
        "5.4",
        "Before the degradation the throughput is the bearer's rate.",
        "matches the available bandwidth",
        "at least 95 % from 20 s to 50 s",
        "headers count; the first 20 s are for starting",
        _before,
        see="figure-6",
    ),
    Claim(
        "M19",
        "5.4",
        "The modified schemes do not cut their rate before the Node B's buffer overflows; TCP cuts it at once.",
        "do not immediately react; TCP below 2 s",
        "in every run no cut before the first rejection after 50 s; TCP's mean below 2 s",
        "a cut is a reduced window, or of TFMCC a rate below 80 % of that at 50 s; what ACK clocking does to the "
        "throughput is none",
        _order,
        see="table-permanent",
    ),
    Claim(
        "M20",
        "5.4",
        "They take seconds to adapt, the more the larger the buffer and the lower the bit rate.",
        "PGMCC 5 s, TFMCC 6 s, TCP below 2 s",
        "2–10 s each, TCP less; longer with 50 packets than with 25, with 192 kbit/s than with 384",
        "a FIFO of 50 packets fills in 3.4 s and its mark needs 1.5 s more",
        _adapts,
        see="figure-6",
    ),
    Claim(
        "M21",
        "5.4",
        "Of several degraded terminals one represents the group.",
        "among the ones being degraded",
        "always, from 10 s after the change on",
        "a round of feedback is over by then",
        _several,
        see="figure-representative",
    ),
]
