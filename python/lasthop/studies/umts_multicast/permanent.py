"""Permanent degradation (§5.4): a terminal whose radio gets bad for good, and stays."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, NotRun, Null
from lasthop.studies.conditions import Condition, Judgement, above, below, fact, judged, within
from lasthop.studies.grid import Numbers
from lasthop.studies.umts_multicast.data import PERMANENT, SCALING, SEVERAL, Array, Data, asking, instead
from lasthop.studies.umts_multicast.experiments import DEGRADED, PERMANENT_S
from lasthop.studies.umts_multicast.network import GROUP, SCHEMES
from lasthop.studies.umts_multicast.readings import MANY_WORSE, TCP, WORSE
from lasthop.studies.umts_multicast.reductions import SETTLED_S
from lasthop.studies.umts_multicast.temporary import LEGACY, MODIFIED

__all__ = ["CLAIMS", "waited"]

#: How long the degradation lasts: what has not happened by then counts as that late.
NEVER_S = PERMANENT_S[1] - PERMANENT_S[0]

#: TCP cuts its rate by then; the modified schemes do in this span; a degraded terminal represents the group for this
#: share. “Soon after” the overflow is within the longer of the two times in which the paper has its schemes fully
#: adapted.
AT_ONCE_S, SECONDS_S, SHARE, SOON_S = 2.0, (2.0, 10.0), 95.0, 6.0


def _before(data: Data) -> Judgement:
    found = [
        within(
            f"{SCHEMES[scheme]}, of the bearer's rate",
            estimate(100 * data.grid(PERMANENT).at("before_kbps", scheme=scheme) / data.taken.rate_kbps),
            95.0,
            100.5,
            " %",
        )
        for scheme in MODIFIED
    ]
    return judged("; ".join(f"{one.what} {one.value} %" for one in found), *found)


def _at(grid: Numbers, what: str, scheme: str) -> Array:
    """When something first happens in each run, or the end."""
    made: Array = np.nan_to_num(grid.at(f"first_{what}_s", scheme=scheme), nan=NEVER_S)
    return made


def waited(data: Data, scheme: str) -> Array:
    """How long after the first rejection a scheme cuts its rate, in each run."""
    grid = data.grid(PERMANENT)
    made: Array = _at(grid, "cut", scheme) - _at(grid, "rejection", scheme)
    return made


def _tcp_cuts(data: Data) -> Condition:
    return below("TCP cuts after", estimate(_at(data.grid(PERMANENT), "cut", "tcp")), AT_ONCE_S, " s")


def _order(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    found, said = [], []
    for scheme in MODIFIED:
        rejected, cut = (estimate(_at(grid, what, scheme)) for what in ("rejection", "cut"))
        early = int(np.sum(waited(data, scheme) < 0))
        later = estimate(waited(data, scheme))
        found.append(Condition(f"{SCHEMES[scheme]}: cut − first rejection", later, 0.0, SOON_S, " s", strict=True))
        said.append(
            f"{SCHEMES[scheme]}: rejection after {rejected} s, cut after {cut} s, before a rejection in {early} of "
            f"{len(grid.seeds)} runs"
        )
    tcp = _tcp_cuts(data)
    return judged(f"{'; '.join(said)}; TCP: cut after {tcp.value} s", *found, tcp)


def _no_early_cut(data: Data) -> Judgement:
    if np.isnan([data.grid(PERMANENT).at("first_rejection_s", scheme=scheme) for scheme in MODIFIED]).all():
        raise NotRun("rejections are not seen at this radio")
    early = {scheme: int(np.sum(waited(data, scheme) < 0)) for scheme in MODIFIED}
    said = ", ".join(f"{SCHEMES[scheme]} {n}" for scheme, n in early.items())
    found = [fact(f"{SCHEMES[scheme]} never cuts before the first rejection", not n) for scheme, n in early.items()]
    return judged(f"early cuts: {said}", *found, _tcp_cuts(data))


def _cuts(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    cut = {scheme: _at(grid, "cut", scheme) for scheme in (*MODIFIED, "tcp")}
    found = [within(f"{SCHEMES[scheme]} cuts after", estimate(cut[scheme]), *SECONDS_S, " s") for scheme in MODIFIED]
    found.append(_tcp_cuts(data))
    found += [above(f"{SCHEMES[scheme]} − TCP", estimate(cut[scheme] - cut["tcp"]), unit=" s") for scheme in MODIFIED]
    values: dict[str, Estimate] = {}
    said = [f"{one.what} {one.value} s" for one in found[:3]]
    if SCALING in data.grids:
        scaled = data.grid(SCALING)
        for scheme in MODIFIED:
            for axis, fixed, (low, high) in (("queue", {"rate": 384}, (25, 50)), ("rate", {"queue": 50}, (384, 192))):
                of = [
                    np.nan_to_num(scaled.at("first_cut_s", scheme=scheme, **{axis: one}, **fixed), nan=NEVER_S)
                    for one in (low, high)
                ]
                name = f"{SCHEMES[scheme]}, {'packets' if axis == 'queue' else 'kbit/s'} {high} − {low}"
                values[name] = estimate(of[1] - of[0])
                said.append(f"{name}: {values[name]} s")
    return judged(", ".join(said), *found, **values)


def _settles(data: Data) -> Judgement:
    grid = data.grid(PERMANENT)
    times: dict[str, Array] = {scheme: grid.at("adaptation_s", scheme=scheme) for scheme in (*MODIFIED, "tcp")}
    found = [within(f"{SCHEMES[scheme]}", estimate(times[scheme]), *SECONDS_S, " s") for scheme in MODIFIED]
    found += [
        above(f"{SCHEMES[scheme]} − TCP", estimate(times[scheme] - times["tcp"]), unit=" s") for scheme in MODIFIED
    ]
    if SCALING in data.grids:
        scaled = data.grid(SCALING)
        for scheme in MODIFIED:
            for one, other in (
                ({"queue": 50, "rate": 384}, {"queue": 25, "rate": 384}),
                ({"queue": 50, "rate": 192}, {"queue": 50, "rate": 384}),
            ):
                names = [f"{of['queue']} packets, {of['rate']} kbit/s" for of in (one, other)]
                name = f"{SCHEMES[scheme]}, {' − '.join(names)}"
                found.append(above(name, scaled.difference("adaptation_s", one, other, scheme=scheme), unit=" s"))
    return judged(", ".join(f"{one.what} {one.value} s" for one in found), *found)


def _several(data: Data) -> Judgement:
    found = [
        within(
            f"{SCHEMES[scheme]}, share of the time",
            estimate(100 * data.grid(SEVERAL).at("degraded_share", scheme=scheme)),
            SHARE,
            math.inf,
            " %",
        )
        for scheme in MODIFIED
    ]
    return judged(", ".join(f"{one.what} {one.value} %" for one in found), *found)


def _always(data: Data) -> Judgement:
    grid = data.grid(SEVERAL)
    found = [
        fact(
            f"{SCHEMES[scheme]} always, from 10 s on", bool(np.all(grid.at("degraded_share_later", scheme=scheme) >= 1))
        )
        for scheme in MODIFIED
    ]
    return judged("; ".join(f"{one.what}: {'yes' if one.value.mean else 'no'}" for one in found), *found)


# Null models


def _worse(data: Data) -> Data:
    return data.with_grids({PERMANENT: instead(data.grid(PERMANENT), {"before_kbps": "after_kbps"})})


def _legacy(data: Data) -> Data:
    grid = data.grid(PERMANENT).replaced("scheme", dict(zip(MODIFIED, LEGACY, strict=True)))
    return data.with_grids({PERMANENT: grid})


def _anybody(data: Data) -> Data:
    """A representative drawn at random, once a second."""
    grid = data.grid(SEVERAL)
    shape = grid.values["degraded_share"].shape
    seconds = int(NEVER_S - SETTLED_S)
    share = np.asarray(np.random.default_rng(0).binomial(seconds, len(DEGRADED) / GROUP, shape)) / seconds
    return data.with_grids({SEVERAL: replace(grid, values={**grid.values, "degraded_share": share})})


LEGACY_INSTEAD = Null[Data](
    "the legacy schemes in the place of the modified ones: they cut for what the radio loses", _legacy
)

CLAIMS: list[Claim[Data]] = [
    Claim(
        id="M18",
        section="5.4",
        sentence="In the beginning of the simulation, where no congestion exists, the throughput matches the available "
        "bandwidth of the wireless link.",
        statement="Before the degradation the throughput is the bearer's rate.",
        paper="matches the available bandwidth",
        measure="what UE_x receives on the wire, from 20 to 50 s, over the bearer's rate",
        band="95–100.5 %",
        why="headers count; the first 20 s are for starting",
        judge=asking(_before, WORSE),
        null=Null("what the same runs get while 20 % are lost, in the place of what they get before", _worse),
        see="figure-6",
    ),
    Claim(
        id="M19",
        section="5.4",
        sentence="The modified schemes, unlike TCP, do not immediately react to this degradation because they consider "
        "it as temporary degradation. Soon after, the buffer of the Node B overflows and the modified congestion "
        "control schemes are able to distinguish the nature of the degradation.",
        statement="The modified schemes do not cut their rate before the Node B's buffer overflows; TCP cuts it at "
        "once.",
        paper="do not immediately react; TCP below 2 s",
        measure="time from the first rejection after 50 s to the first cut, in each run; a cut is a reduced window, or "
        "of TFMCC a rate below 80 % of that at 50 s; what has not happened by 150 s counts as then",
        band="above 0 and below 6 s for both schemes; TCP cuts below 2 s after the change",
        why="“soon after” the overflow is no later than the longer of the two times in which the paper has its schemes "
        "fully adapted; what ACK clocking does to the throughput is no cut",
        judge=asking(_order, WORSE, TCP),
        null=LEGACY_INSTEAD,
        former=Former(
            "no run in which a cut comes before the first rejection",
            "one run in twenty decided, and no interval stood beside it",
            _no_early_cut,
        ),
        see="table-permanent",
    ),
    Claim(
        id="M20",
        section="5.4",
        sentence="It takes about 5 s for PGMCC and 6 for TFMCC to fully adapt to the new network conditions. This time "
        "interval may differ according to the bit-rate of the transmission and the size of the buffer in Node B. The "
        "corresponding time interval for TCP is less than 2 s.",
        statement="They take seconds to react, longer than TCP.",
        paper="PGMCC 5 s, TFMCC 6 s, TCP below 2 s",
        measure="time from the change to the first cut, as in M19; what buffer and bit rate do to it is reported",
        band="2–10 s each; TCP below 2 s, and before either, in pairs",
        why="a FIFO of 50 packets fills in 3.4 s and its mark needs 1.5 s more; “may differ” states no direction",
        judge=asking(_cuts, WORSE, TCP),
        null=LEGACY_INSTEAD,
        former=Former(
            "time until a second stays within 20 % of the mean of the second half: 2–10 s each, TCP less; longer with "
            "50 packets than with 25, with 192 kbit/s than with 384",
            "at the few packets a second that TCP has left, a second is never that near to a mean; and the paper says "
            "that the time may differ, not how",
            _settles,
        ),
        see="table-scaling",
    ),
    Claim(
        id="M21",
        section="5.4",
        sentence="The representative is a UE among the ones being connected with permanently degraded radio links.",
        statement="Of several degraded terminals one represents the group.",
        paper="among the ones being degraded",
        measure="share of the time, from 6 s after the change on, in which the representative is one of three degraded "
        "terminals of ten",
        band="at least 95 %",
        why="the paper has its schemes fully adapted after 5 and 6 s; it gives no deadline, and it does not say always",
        judge=asking(_several, MANY_WORSE),
        null=Null("a representative drawn at random of the ten, each second", _anybody),
        former=Former(
            "always, from 10 s on",
            "the deadline of 10 s stands nowhere in the paper, and one sample of one run decided",
            _always,
        ),
        see="figure-representative",
    ),
]
