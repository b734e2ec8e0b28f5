"""What the bit tells (§4): which losses a terminal puts down to their cause."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Judgement, judged, within

from ..data import INDICATION, Data, asking
from ..readings import TELLS
from ..scenario import RADIO_LOSSES

#: Misclassified shares in per cent, by rule and loss of the radio: of losses by congestion, of those by the radio
#: (computed apart, from 2·10⁶ packets with 1 % lost in front of the Node B).
EXPECTED: Mapping[tuple[str, float], tuple[float, float]] = {
    ("edge", 0.05): (5.0, 1.0),
    ("edge", 0.2): (20.5, 1.0),
    ("edge 2", 0.05): (0.3, 2.0),
    ("toggle", 0.05): (0.15, 2.1),
    ("toggle", 0.2): (0.4, 2.5),
}

#: Per cent of losses that are put down to their cause, at least.
CORRECTLY = 90.0


def told(data: Data, rule: str, radio: float) -> tuple[Estimate, Estimate]:
    """Per cent of the losses by congestion, and of those by the radio, that a terminal puts down to their cause."""
    grid = data.grid(INDICATION)
    if not grid.has(rule=rule, radio=radio):
        raise NotRun(f"the rule {rule} was not run")
    congestion, air = (
        estimate(100 * (1 - grid.ratio(what, f"{of}_losses", rule=rule, radio=radio)))
        for what, of in (("missed", "congestion"), ("blamed", "radio"))
    )
    return congestion, air


def _told(data: Data) -> Judgement:
    found = [
        within(f"{name}, {100 * radio:g} % lost by the radio", one, CORRECTLY, math.inf, " %")
        for radio in RADIO_LOSSES
        for name, one in zip(
            ("congestion recognised", "radio recognised"), told(data, data.taken.indication, radio), strict=True
        )
    ]
    return judged("; ".join(f"{one.what}: {one.value} %" for one in found), *found)


def _as_computed(data: Data) -> Judgement:
    grid = data.grid(INDICATION)
    found = []
    for (rule, radio), expected in EXPECTED.items():
        if rule == "edge" and grid.has(rule=rule, radio=radio):
            for what, of, share in zip(("missed", "blamed"), ("congestion", "radio"), expected, strict=True):
                one = estimate(100 * grid.ratio(what, f"{of}_losses", rule=rule, radio=radio))
                found.append(within(f"{what} at {100 * radio:g} %", one, 0.8 * share, 1.2 * share, " %"))
    return judged("; ".join(f"{one.what}: {one.value} %" for one in found), *found)


def _guessing(data: Data) -> Data:
    """A terminal that blames congestion for as many losses as before, but for any of them."""
    grid = data.grid(INDICATION)
    of = grid.values
    congestion, air = of["congestion_losses"], of["radio_losses"]
    blamed = (congestion - of["missed"] + of["blamed"]) / (congestion + air)
    return data.with_values(INDICATION, {"missed": congestion * (1 - blamed), "blamed": air * blamed})


def _why_marker_lost(data: Data) -> str:
    each = ", ".join(
        f"{told(data, data.taken.indication, radio)[0]} % of the losses by congestion with {100 * radio:g} % "
        "on the radio"
        for radio in RADIO_LOSSES
    )
    return f"the packet with the bit crosses the radio too and is lost there like any other: recognised are {each}"


JUDGES: Judges[Data] = {
    "M17": Judge(asking(_told, TELLS), null=_guessing, former=_as_computed, cause=_why_marker_lost),
}
