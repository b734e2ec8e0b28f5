"""Made-up numbers for the claims of `umts-tcp`, and what every judge is held to.

A case has numbers at which a claim holds, and numbers at which it fails: each of its conditions at least once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from conftest import keeps_its_bands
from lasthop.studies.claims import Judged
from lasthop.studies.conditions import FAILS, HOLDS
from lasthop.studies.grid import Numbers
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.judges import CLAIMS
from lasthop.studies.umts_tcp.paper import VERSIONS

CLAIM = {claim.id: claim for claim in CLAIMS}
NOISE = np.array([-1.0, 0.0, 1.0, 0.5, -0.5])

SEVEN = {"tcp": VERSIONS, "max_dat": (2, 3, 4, 6), "threshold": (500, 1000, 1500), "timer": (2, 6, 8, 10)}
EIGHT = {"tcp": VERSIONS, "threshold": (500, 750, 1000, 1500), "np": (0, 2, 4, 8), "p": (4, 8, 16)}

Of = Callable[..., float]


def made(axes: Mapping[str, Any], **quantities: Of) -> Numbers:
    """A grid on which each quantity is a function of the point; seeds add noise that all points share."""
    shape = [len(values) for values in axes.values()]
    points = list(Numbers(axes, (0,), {}).points())
    values = {}
    for name, of in quantities.items():
        plain = np.array([of(**point) for point in points], dtype=float).reshape(*shape, 1)
        values[name] = plain * (1 + 0.0005 * NOISE)
    return Numbers(axes, tuple(range(len(NOISE))), values)


def data(**grids: Numbers) -> Data:
    """A reading of these grids; `_` stands for a blank."""
    return Data("made up", {name.replace("_", " "): grid for name, grid in grids.items()})


def changed(grid: Numbers, **quantities: Of) -> Numbers:
    """A grid with other quantities."""
    return replace(grid, values={**grid.values, **made(grid.axes, **quantities).values})


@dataclass(frozen=True)
class Case:
    """Numbers for a claim."""

    good: Data
    bad: tuple[Data, ...]


def holds_and_fails(id: str, case: Case) -> None:
    """That a claim holds, that each of its conditions can fail, and that its null model does not pass."""
    claim = CLAIM[id]
    good = claim.judge(case.good)
    assert good.state() == HOLDS, good.reason
    keeps_its_bands("umts-tcp", id, good)
    failed = set()
    for bad in case.bad:
        judgement = claim.judge(bad)
        assert judgement.state() == FAILS, judgement.ours
        assert judgement.reason
        failed |= {one.what for one in judgement.conditions if one.state() == FAILS}
    assert {one.what for one in good.conditions} <= failed, {one.what for one in good.conditions} - failed
    null = claim.judge(claim.null.of(case.good))
    assert null.state() != HOLDS, null.ours
    if claim.former:
        assert claim.former.judge(case.good).conditions
        assert claim.former.band and claim.former.why
    cause = claim.cause if isinstance(claim.cause, str) else claim.cause(case.good)
    assert bool(cause) == bool(claim.cause)
    assert Judged(claim).verdict == "not comparable"


def test_noise_that_all_points_share_falls_out_of_pairs() -> None:
    grid = made({"tcp": ("reno", "sack")}, rate=lambda tcp: 2.0 if tcp == "sack" else 1.0)
    assert grid.gain_pct("rate", {"tcp": "sack"}, {"tcp": "reno"}).half < 1e-9
    assert grid.mean("rate", tcp="reno").half > 1e-4
