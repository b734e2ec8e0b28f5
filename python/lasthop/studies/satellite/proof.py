"""The paper's proof of fairness (§III-A.2)."""

from __future__ import annotations

from dataclasses import replace

from lasthop.stats import exact, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, fact, judged, within
from lasthop.studies.satellite.data import Data
from lasthop.studies.satellite.model import LAYER, STARTS, inelastic, model

__all__ = ["CLAIM"]


def _name(start: tuple[float, float]) -> str:
    return f"from {start[0]:g} and {start[1]:g}"


def _equal(data: Data) -> Judgement:
    conditions, said = [], []
    for start in STARTS:
        course = model(start, rule=data.rule)
        multicast, tcp = course.means()
        conditions += [
            within(f"difference of the mean rates in the end, {_name(start)}", exact(multicast - tcp), -LAYER, LAYER),
            fact(f"Jain's index rises with each cycle, {_name(start)}", course.rising() == 1.0),
        ]
        said.append(
            f"{_name(start)}: multicast {number(multicast, 1)}, TCP {number(tcp, 1)} in the end; the index rises in "
            f"{number(100 * course.rising(), 0)} % of cycles, to {number(course.limit(), 3)} on average"
        )
    return judged("; ".join(said), *conditions)


def _equal_before(data: Data) -> Judgement:
    conditions = []
    for start in STARTS:
        course = model(start, rule=data.rule)
        index = course.at_decreases()
        conditions.append(within(f"limit {_name(start)}", exact(course.limit()), 0.959, 0.979))
        if start[0] > start[1]:
            conditions.append(fact("the index rises over the first five cycles", bool((index[1:6] > index[:5]).all())))
    return judged("limits of the index", *conditions)


CLAIM: Claim[Data] = Claim(
    "L24", "III-A.2",
    "An intuitive interpretation of fairness is that irrespective of the initial window values of the flows (i.e. "
    "their transmission rates) all flows sharing the bottleneck link must eventually end with identical window sizes "
    "or transmission rates when the flows reach steady state. … This proves the fairness of the proposed multicast "
    "congestion control scheme.",
    "A multicast session and a TCP flow converge to equal rates.", "proof by equations 1 to 9",
    "equations 2 to 5, computed with a capacity of 100 and layers of 5 from two beginnings: mean rates over the last "
    "hundred cycles, and Jain's index from decrease to decrease",
    "mean rates within a layer; the index rises with each cycle",
    "identical is taken as within the step of the slower one; that each step goes towards fairness is what the proof "
    "says",
    _equal, Null("a session that neither takes nor gives", lambda data: replace(data, rule=inelastic)),
    Former("the index rises over the first five cycles, and its limit is 0.969 ± 0.01",
           "0.969 is what the model gives, not what the paper claims; of equal rates it is 1", _equal_before),
    see="figure-model",
)  # fmt: skip
