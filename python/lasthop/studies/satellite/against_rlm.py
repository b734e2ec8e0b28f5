"""Against RLM (§IV-D): stability, shares, use of the bottleneck, control traffic."""

from __future__ import annotations

import numpy as np

from lasthop.stats import Estimate, estimate, number
from lasthop.studies.claims import Claim, Judgement, order, verdict
from lasthop.studies.satellite.data import RLM, SCENARIOS, Array, Data, outside
from lasthop.studies.satellite.network import MULTICAST, TCP

__all__ = ["CLAIMS"]

SESSIONS = (f"{MULTICAST} 1", f"{MULTICAST} 2")


def _rlm(data: Data, quantity: str) -> Array:
    return data.at(RLM, quantity, defects=False)


def _ours(data: Data, quantity: str) -> Array:
    return data.at(SCENARIOS, quantity, scenario=1)


def _unstable(data: Data) -> Judgement:
    measures = {
        "multicast's rate": [f"cov {MULTICAST}"],
        "layers": [f"subscribed_cov {one}" for one in SESSIONS],
        "TCP's rate": [f"cov {TCP}"],
    }
    values: dict[str, Estimate] = {}
    wrong, said = [], []
    for name, quantities in measures.items():
        theirs, ours = (np.mean([of(data, one) for one in quantities], axis=0) for of in (_rlm, _ours))
        values[name.replace(" ", "_").replace("'", "")] = ratio = estimate(theirs / ours)
        wrong += outside(name, ratio, 2.0, float("inf"), " times")
        said.append(f"{name} {number(float(theirs.mean()), 2)} against {number(float(ours.mean()), 2)}")
    return verdict(wrong, "coefficient of variation: " + ", ".join(said), values)


def _apart(data: Data) -> Judgement:
    values = {
        name.replace(" ", "_"): estimate(_rlm(data, f"kbytes {name}") / _rlm(data, f"kbytes {TCP}"))
        for name in SESSIONS
    }
    wrong = [f"{name} {one} of TCP" for name, one in values.items() if 0.7 <= one.mean <= 1.4]
    return verdict(wrong, "sessions get " + ", ".join(f"{one}" for one in values.values()) + " of TCP's rate", values)


def _worse(data: Data) -> Judgement:
    theirs, ours = _rlm(data, "utilisation"), _ours(data, "utilisation")
    said = f"utilisation {number(float(theirs.mean()), 3)} with RLM, {number(float(ours.mean()), 3)} here"
    return order(said, {"here − RLM": estimate(ours - theirs)}, [])


def _less(data: Data) -> Judgement:
    grafts = estimate(_ours(data, "grafts_and_prunes_per_h") / _rlm(data, "grafts_and_prunes_per_h"))
    both = estimate(_ours(data, "messages_per_h") / _rlm(data, "messages_per_h"))
    means = [number(float(of(data, "messages_per_h").mean()), 0) for of in (_ours, _rlm)]
    ours = f"{means[0]} messages an hour, {means[1]} with RLM: {both} of that; grafts and prunes {grafts}"
    return verdict(outside("messages", both, 0.0, 0.5, " of RLM's"), ours, {"messages": both, "grafts": grafts})


CLAIMS: list[Claim[Data]] = [
    Claim(
        "L10", "IV-D", "With RLM layers and rates change severely, and TCP's rates with them.", "severely",
        "coefficients of variation over 10 s at least twice those of queue-phase control, of multicast, layers and TCP",
        "10 s hold some periods of TCP's sawtooth, so that what remains is the control's", _unstable, see="figure-11",
    ),
    Claim(
        "L11", "IV-D", "With RLM a session gets much less or much more than TCP.", "much lower or much higher",
        "each session's mean outside 0.7–1.4 of TCP's", "a step of RLM's layers is a factor of about two", _apart,
        see="figure-11",
    ),
    Claim(
        "L12", "IV-D", "Queue-phase control uses the bottleneck more efficiently than RLM.", "more efficiently",
        "the order, in pairs", "the text gives no number", _worse, see="table-rlm",
    ),
]  # fmt: skip

#: The control traffic, in its place among the claims of §III.
OVERHEAD: Claim[Data] = Claim(
    "L15", "III-B", "There is very little control traffic, since layers seldom change at the bottleneck.", "very "
    "limited",
    "messages of receivers and routers: at most half of RLM's", "less than existing schemes' has to be visible",
    _less, see="table-rlm",
)  # fmt: skip
