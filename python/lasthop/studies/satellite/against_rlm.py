"""Against RLM (§IV-D): stability, shares, use of the bottleneck, control traffic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, judged
from lasthop.studies.satellite.data import RLM, SCENARIOS, Array, Data, at_least, at_most, in_place
from lasthop.studies.satellite.network import MULTICAST, TCP
from lasthop.studies.satellite.reductions import MUCH_HIGHER, MUCH_LOWER

__all__ = ["CLAIMS", "OVERHEAD"]

SESSIONS = (f"{MULTICAST} 1", f"{MULTICAST} 2")

#: For claims that queue-phase control does better than RLM.
RLM_ITSELF: Null[Data] = Null(
    "RLM in the place of queue-phase control: RLM is no better than itself", in_place((SCENARIOS, RLM))
)

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


CLAIMS: list[Claim[Data]] = [
    Claim(
        "L10", "IV-D",
        "By comparing Fig. 11 and Fig. 12 with Fig. 5 and Fig. 6, respectively, we can find that the proposed scheme "
        "achieves much higher stability in both number of layers for multicast sessions and throughput for all "
        "sessions. … With RLM, the throughput of the two multicast sessions changes severely in the simulation period.",
        "Layers and all rates are much steadier than with RLM.", "much higher stability",
        "RLM's coefficients of variation against ours in scenario 1, from 100 s on: of layers by the second, of rates "
        "over 60 s",
        "above twice ours of layers and of multicast's rate; above ours of TCP's",
        "much is taken as twice where the schemes act; TCP's rates vary with either, by their own ups and downs, so "
        "that its sign is judged; a minute holds twenty of those",
        _unstable, RLM_ITSELF,
        Former("at least twice of each, over 10 "
               "s", "twice was ours for TCP, and in 10 s TCP's own ups and downs are most",
               _unstable_before),
        see="figure-11",
    ),
    Claim(
        "L11", "IV-D",
        "Furthermore, the throughput of the two multicast sessions is either much lower or much higher than the "
        "throughput of the three TCP sessions.",
        "With RLM a session gets much less or much more than TCP.", "either much lower or much higher",
        "the rate of each session over the mean of TCP's in the same minute, from 100 s on",
        "below 0.7 or above 1.4 for more than half of the minutes, and each for more than a tenth",
        "a step of RLM's layers doubles a rate, so an even share lies by √2 between two of them; what is seen in a "
        "figure of 1500 s lasts 150 s",
        _apart,
        Null("queue-phase control in RLM's place, with which sessions get about what TCP "
             "gets", in_place((RLM, SCENARIOS))),
        Former("each session's mean outside 0.7 to 1.4 of "
               "TCP's", "the sentence says both, lower and higher", _apart_before),
        see="figure-11",
    ),
    Claim(
        "L12", "IV-D",
        "So our scheme uses the bandwidth of the bottleneck more efficiently than RLM.",
        "Queue-phase control uses the bottleneck more efficiently than RLM.", "more efficiently",
        "the bottleneck's utilisation in scenario 1 from 100 s on, in pairs", "a hundredth more than with RLM",
        "the text gives an order and no number; less than a hundredth is nothing to use", _worse, RLM_ITSELF,
        Former("the order, in pairs", "where TCP fills the link with either scheme, millionths decided", _worse_before),
        see="table-rlm",
    ),
]  # fmt: skip

#: The control traffic, in its place among the claims of §III.
OVERHEAD: Claim[Data] = Claim(
    "L15", "III-B",
    "Third, our scheme only has very limited control traffic overhead. In existing schemes, either poor coordination "
    "among receivers or the design of the scheme itself results in frequent grafting and pruning.",
    "There is very little control traffic, less than existing schemes have.", "very limited",
    "messages of receivers and routers in scenario 1 (joins, leaves, grafts, prunes, what RLM's receivers tell) "
    "against RLM's. The existing schemes are [1] to [6] of the paper; of the others, RLC and FLID-DL among them, there "
    "are no runs, so that of these nothing is said",
    "up to half of RLM's", "very limited beside frequent has to be visible: half", _less, RLM_ITSELF, see="table-rlm",
)  # fmt: skip
