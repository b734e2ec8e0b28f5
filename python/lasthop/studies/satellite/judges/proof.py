"""The paper's proof of fairness (§III-A.2)."""

from __future__ import annotations

from dataclasses import replace

from lasthop.stats import exact, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, fact, judged, within

from ..data import Data
from ..paper.model import LAYER, STARTS, inelastic, model


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


def _why_model(data: Data) -> str:
    multicast, tcp = model(STARTS[0], rule=data.rule).means()
    return (
        f"TCP halves its rate and multicast does not, so that multicast ends at TCP's peak, {number(multicast, 1)} of "
        f"100, and above its mean, {number(tcp, 1)}"
    )


JUDGES: Judges[Data] = {
    "L24": Judge(_equal, null=lambda data: replace(data, rule=inelastic), former=_equal_before, cause=_why_model),
}
