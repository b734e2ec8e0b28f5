"""Whether both loads give the same (§IV)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lasthop.stats import bootstrap, estimate
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Judgement, above, fact, judged
from lasthop.studies.grid import Array

from ..data import Data, instead
from ..scenario import LOADS
from .availability import concentration, more_with_sir
from .rates import faster_with_sir
from .timeouts import more_timeouts

#: The differences behind the claims whose signs are compared.
SIGNS: Mapping[str, Callable[[Data, int], Mapping[str, Array]]] = {
    "H5": more_timeouts,
    "H9": concentration,
    "H10": more_with_sir,
    "H11": faster_with_sir,
}

#: Of the differences, so many in a hundred must have the same sign.
MOST_PCT = 75.0


def _both(data: Data) -> dict[str, tuple[Array, Array]]:
    """Each difference at both loads."""
    if not data.main.has(ues=LOADS):
        raise NotRun("only one load was run")
    few, many = (
        {f"{id}, {name}": one for id, of in SIGNS.items() for name, one in of(data, ues).items()} for ues in LOADS
    )
    return {name: (few[name], many[name]) for name in few}


def _alike(data: Data) -> Judgement:
    both = _both(data)
    few, many = (np.array([pair[place] for pair in both.values()]) for place in (0, 1))

    def same(drawn: Sequence[int]) -> float:
        one, other = (values[:, list(drawn)].mean(axis=1) for values in (few, many))
        return float(100 * np.mean(one * other > 0))

    share = bootstrap(same, few.shape[1])
    values = {
        f"{_plain(name)}_{ues}": estimate(one)
        for name, pair in both.items()
        for ues, one in zip(LOADS, pair, strict=True)
    }
    ours = f"{share} % of {len(both)} differences between the schedulers have the same sign at both loads"
    return judged(ours, above("differences with the same sign", share, MOST_PCT, " %"), **values)


def _alike_before(data: Data) -> Judgement:
    reversed_ = [
        name
        for name, pair in _both(data).items()
        if any(estimate(one).excludes(0) for one in pair) and pair[0].mean() * pair[1].mean() < 0
    ]
    return judged(
        f"reversed: {', '.join(reversed_) or 'none'}",
        fact("no difference that is more than chance at a load has the other sign at the other", not reversed_),
    )


def _exchanged(data: Data) -> Data:
    """At 50 mobiles what RR gave is taken for SIR's, and the other way round."""
    other = instead("scheduler", {"max_sir": "round_robin", "round_robin": "max_sir"})(data)
    grid = data.main
    here = np.array([ues == LOADS[0] for ues in grid.axes["ues"]])[:, None]
    assert list(grid.axes)[-1] == "ues"
    made = {name: np.where(here, other.main.values[name], values) for name, values in grid.values.items()}
    return data.with_grids({"main": type(grid)(grid.axes, grid.seeds, made, None)})


def _plain(name: str) -> str:
    return name.replace(" ", "_").replace("−", "minus")


JUDGES: Judges[Data] = {
    "H15": Judge(_alike, null=_exchanged, former=_alike_before),
}
