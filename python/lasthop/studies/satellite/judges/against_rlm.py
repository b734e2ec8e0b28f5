"""Against RLM (§IV-D): stability, shares, use of the bottleneck, control traffic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, at_least, at_most, judged
from lasthop.studies.grid import Array
from lasthop.studies.nulls import in_place

from ..data import RLM, SCENARIOS, Data
from ..measures import MUCH_HIGHER, MUCH_LOWER
from ..network import MULTICAST, TCP

SESSIONS = (f"{MULTICAST} 1", f"{MULTICAST} 2")

#: For claims that queue-phase control does better than RLM.
RLM_ITSELF = in_place((SCENARIOS, RLM))

#: What of the bottleneck's rate is to be seen.
VISIBLE = 0.01

#: How long a share of a figure has to be, to be seen in it.
SEEN = 0.1


def _rlm(data: Data, quantity: str) -> Array:
    return data.at(RLM, quantity, scenario=1)


def _ours(data: Data, quantity: str) -> Array:
    return data.at(SCENARIOS, quantity, scenario=1)


#: What varies, by name: layers by the second, rates over a minute.
LEVELS = [f"subscribed_cov {one}" for one in SESSIONS]
VARIATIONS = {"layers": LEVELS, "multicast's rate": [f"long cov {MULTICAST}"], "TCP's rate": [f"long cov {TCP}"]}


def _variations(data: Data, measures: Mapping[str, list[str]]) -> tuple[dict[str, tuple[Array, Array]], str]:
    """RLM's coefficients of variation and ours, also in words."""
    both = {}
    said = []
    for name, quantities in measures.items():
        theirs, ours = (np.mean([of(data, one) for one in quantities], axis=0) for of in (_rlm, _ours))
        both[name] = theirs, ours
        said.append(f"{name} {number(float(theirs.mean()), 2)} against {number(float(ours.mean()), 2)}")
    return both, "coefficient of variation: " + ", ".join(said)


def _unstable(data: Data) -> Judgement:
    both, said = _variations(data, VARIATIONS)
    twice = {name: 1.0 if name.startswith("TCP") else 2.0 for name in both}
    return judged(
        said,
        *(
            above(f"variation of {name}, RLM's − {twice[name]:g} times ours", estimate(theirs - twice[name] * ours))
            for name, (theirs, ours) in both.items()
        ),
    )


def _unstable_before(data: Data) -> Judgement:
    measures = {"multicast's rate": [f"cov {MULTICAST}"], "layers": LEVELS, "TCP's rate": [f"cov {TCP}"]}
    both, said = _variations(data, measures)
    return judged(
        said, *(at_least(f"variation of {name}", estimate(theirs / ours), 2.0) for name, (theirs, ours) in both.items())
    )


def _apart(data: Data) -> Judgement:
    lower, higher = (_rlm(data, name) for name in ("much_lower", "much_higher"))
    return judged(
        f"below {MUCH_LOWER:g} of TCP's rate for {number(100 * float(lower.mean()), 0)} % of the minutes, above "
        f"{MUCH_HIGHER:g} for {number(100 * float(higher.mean()), 0)} %",
        above("share of minutes with either", estimate(lower + higher), 0.5),
        above("share of minutes with much less", estimate(lower), SEEN),
        above("share of minutes with much more", estimate(higher), SEEN),
    )


def _apart_before(data: Data) -> Judgement:
    ratios = {name: estimate(_rlm(data, f"kbytes {name}") / _rlm(data, f"kbytes {TCP}")) for name in SESSIONS}
    return judged(
        "sessions get " + ", ".join(f"{one}" for one in ratios.values()) + " of TCP's rate",
        *(
            above(
                f"{name}, beyond 0.7 to 1.4", Estimate(max(MUCH_LOWER - one.mean, one.mean - MUCH_HIGHER), 0.0, one.n)
            )
            for name, one in ratios.items()
        ),
    )


def _worse(data: Data) -> Judgement:
    theirs, ours = _rlm(data, "utilisation"), _ours(data, "utilisation")
    return judged(
        f"utilisation {number(float(theirs.mean()), 3)} with RLM, {number(float(ours.mean()), 3)} here",
        above("utilisation, here − RLM", estimate(ours - theirs), VISIBLE),
    )


def _worse_before(data: Data) -> Judgement:
    return judged(
        "the order", above("utilisation, here − RLM", estimate(_ours(data, "utilisation") - _rlm(data, "utilisation")))
    )


def _less(data: Data) -> Judgement:
    share = estimate(_ours(data, "messages_per_h") / _rlm(data, "messages_per_h"))
    grafts = estimate(_ours(data, "grafts_and_prunes_per_h") / _rlm(data, "grafts_and_prunes_per_h"))
    means = [number(float(of(data, "messages_per_h").mean()), 0) for of in (_ours, _rlm)]
    return judged(
        f"{means[0]} messages an hour, {means[1]} with RLM: {share} of that; grafts and prunes {grafts}",
        at_most("messages, of RLM's", share, 0.5),
        grafts=grafts,
    )


#: The control traffic, in its place among the claims of §III.


def _why_low(data: Data) -> str:
    levels = [data.mean(RLM, f"subscribed {MULTICAST} {n}").mean for n in (1, 2)]
    return (
        f"RLM's sessions have {number(levels[0], 1)} and {number(levels[1], 1)} layers on average: the fourth, of 256 "
        "kbit/s, does not hold beside three greedy TCP flows. So sessions get less than TCP nearly all the time"
    )


def _why_filled(data: Data) -> str:
    theirs, ours = data.mean(RLM, "utilisation").mean, data.mean(SCENARIOS, "utilisation", scenario=1).mean
    return (
        f"three greedy TCP flows take what RLM leaves: the link is used to {number(100 * theirs, 1)} % with RLM and to "
        f"{number(100 * ours, 1)} % here"
    )


def _why_messages(data: Data) -> str:
    often = data.mean(SCENARIOS, "changes_per_h", scenario=1).mean
    messages = data.mean(SCENARIOS, "messages_per_h", scenario=1).mean
    return (
        f"with each of {number(often, 0)} changes an hour a receiver joins a layer or leaves one, and each router on "
        f"the way grafts or prunes: {number(messages, 0)} messages"
    )


JUDGES: Judges[Data] = {
    "L10": Judge(_unstable, null=RLM_ITSELF, former=_unstable_before),
    "L11": Judge(_apart, null=in_place((RLM, SCENARIOS)), former=_apart_before, cause=_why_low),
    "L12": Judge(_worse, null=RLM_ITSELF, former=_worse_before, cause=_why_filled),
    "L15": Judge(_less, null=RLM_ITSELF, cause=_why_messages),
}
