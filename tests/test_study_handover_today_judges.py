"""The claims of the study `handover-today` on made-up numbers: what each accepts, and what it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from conftest import keeps_its_bands
from lasthop.studies.conditions import FAILS, HOLDS
from lasthop.studies.grid import Numbers
from lasthop.studies.handover_today.data import HINTED, RATED, ROUTED, Data
from lasthop.studies.handover_today.judges import CLAIMS, Run, placed
from lasthop.studies.handover_today.network.mechanisms import DELAYS, HINTS, OFF, RESERVED, RESTART, ROUTERS, TODAY
from lasthop.studies.handover_today.network.paths import LINKED, PATHS
from lasthop.studies.readings import AS_TAKEN

SEEDS = (1, 2, 3, 4)
CLAIM = {claim.id: claim for claim in CLAIMS}
W = "wlan-umts"

#: Numbers of a world in which all hypotheses hold: of all runs, and of some by path, mechanism and hint; `None`
#: stands for any.
USUAL = {
    "kbps_slow_rest": 330.0, "up_s": 3.0, "down_s": 2.0, "missed_pct": 2.0, "missed_pct_slow_first": 5.0,
    "missed_pct_slow_rest": 1.0,
    "missed_pct_fast_rest": 0.5,
    "delay_p95_ms_slow": 300.0, "delay_p95_ms_slow_rest": 200.0, "share": 0.8, "share_slow_rest": 0.8,
    "share_slow_first": 0.8,
    "share_fast_first": 0.8,
}  # fmt: skip

Pattern = tuple[str | None, str | None, str | None]

SO: dict[Pattern, dict[str, float]] = {
    # NADA and SCReAM are held by a longer path, and only over WLAN and UMTS.
    (W, "nada", OFF): {"kbps_slow_rest": 165.0, "share_slow_rest": 0.45},
    (W, "scream", OFF): {
        "kbps_slow_rest": 155.0, "share_slow_rest": 0.42, "up_s": 15.0, "share_slow_first": 0.5, "share": 0.5,
        "missed_pct": 12.0,
    },
    (W, "bbr", OFF): {"down_s": 8.0, "share_slow_first": 0.5},
    (W, "copa", OFF): {"missed_pct_slow_first": 40.0},
    (None, "prague", OFF): {"delay_p95_ms_slow": 1200.0},
    ("lte", "scream-l4s", OFF): {"delay_p95_ms_slow_rest": 90.0, "kbps_slow_rest": 280.0},
    (W, "gcc", OFF): {"up_s": 17.0},
    (W, "gcc", DELAYS): {"up_s": 16.0},
    (W, "cubic", None): {"missed_pct_slow_rest": 90.0},
    (None, "cubic", None): {"missed_pct": 40.0},
    (None, "tfrc", None): {"missed_pct": 30.0},
    **{(None, name, None): {"missed_pct": 0.0} for name in RESERVED},
    **{(W, name, RESTART): {"share_fast_first": 0.4} for name in ("scream", "nada", "gcc")},
}  # fmt: skip


def made(spoilt: Mapping[Pattern, Mapping[str, float]] | None = None) -> Data:
    """That world, with some numbers spoilt."""
    grids = {}
    for name, paths, mechanisms, hints in (
        (HINTED, tuple(PATHS), TODAY, HINTS),
        (RATED, tuple(PATHS), ("tfrc",), (OFF, RESTART)),
        (ROUTED, LINKED, ROUTERS, (OFF,)),
    ):
        axes = {"path": tuple(paths), "mechanism": tuple(mechanisms), "hint": tuple(hints)}
        shape = tuple(len(values) for values in axes.values())
        values = {quantity: np.full((*shape, len(SEEDS)), value) for quantity, value in USUAL.items()}
        for patterns in (SO, spoilt or {}):
            for pattern, numbers in patterns.items():
                for place in np.ndindex(shape):
                    run = [known[at] for known, at in zip(axes.values(), place, strict=True)]
                    if all(wanted in (None, here) for wanted, here in zip(pattern, run, strict=True)):
                        for quantity, value in numbers.items():
                            values[quantity][place] = value
        spread = np.linspace(0.999, 1.001, len(SEEDS))
        grids[name] = Numbers(axes, SEEDS, {quantity: value * spread for quantity, value in values.items()})
    return Data(AS_TAKEN, grids)


#: What spoils each claim: each of its conditions by itself.
SPOILT: dict[str, list[dict[Pattern, dict[str, float]]]] = {
    "T1": [{(W, "nada", OFF): {"kbps_slow_rest": 210.0}}, {(W, "nada", DELAYS): {"kbps_slow_rest": 230.0}}],
    "T2": [{(W, "scream", OFF): {"kbps_slow_rest": 210.0}}, {(W, "scream", DELAYS): {"kbps_slow_rest": 230.0}}],
    "T3": [{(W, "scream", OFF): {"up_s": 7.5}}],
    "T4": [
        {(W, "bbr", OFF): {"down_s": 2.8}, (W, "bbr", DELAYS): {"down_s": 0.5}},
        {(W, "bbr", DELAYS): {"down_s": 7.3}},
    ],
    "T5": [{(W, "copa", OFF): {"missed_pct_slow_first": 4.0}}],
    "T6": [{(path, "prague-l4s", OFF): {"delay_p95_ms_slow": 700.0}} for path in LINKED],
    "T7": [
        {("lte", "scream-l4s", OFF): {"delay_p95_ms_slow_rest": 210.0}},
        {("lte", "scream-l4s", OFF): {"kbps_slow_rest": 190.0}},
    ],
    "T8": [{("lte", name, OFF): {"share_slow_rest": share}} for name in ("nada", "scream") for share in (0.68, 0.92)],
    "T9": [{(W, "gcc", OFF): {"share_slow_rest": share}} for share in (0.68, 0.92)],
    "T10": [{(W, "gcc", hint): {"up_s": 9.0}} for hint in (OFF, DELAYS)],
    "T11": [{(W, "cubic", hint): {"missed_pct_slow_rest": 45.0}} for hint in HINTS],
    "T12": [{(path, "nada", DELAYS): {"missed_pct": 33.0}} for path in PATHS],
    "T13": [{(path, name, OFF): {"missed_pct": 1.2}} for path in LINKED for name in RESERVED],
    "T14": [{("hsdpa", name, OFF): {quantity: value}} for name in ("nada", "scream", "gcc") for quantity, value in
            (("share", 0.68), ("share", 0.92), ("missed_pct", 8.0))],
    "T15": [{("leo", name, OFF): {"share_slow_first": share}} for name in ("scream", "gcc", "bbr")
            for share in (0.68, 0.92)],
    "T16": [{(W, name, RESTART): {"share_fast_first": 0.85}} for name in ("scream", "nada", "gcc")],
}  # fmt: skip


def test_every_claim_is_tried() -> None:
    assert list(SPOILT) == list(CLAIM)


@pytest.mark.parametrize("claim", CLAIM)
def test_a_claim_holds_where_its_numbers_are_met(claim: str) -> None:
    judgement = CLAIM[claim].judge(made())
    assert judgement.state() == HOLDS
    keeps_its_bands("handover-today", claim, judgement)


@pytest.mark.parametrize("claim", CLAIM)
def test_a_claim_fails_with_each_of_its_conditions(claim: str) -> None:
    for spoilt in SPOILT[claim]:
        judgement = CLAIM[claim].judge(made(spoilt))
        assert judgement.state() == FAILS, spoilt
        assert len([one for one in judgement.conditions if one.state() != HOLDS]) == 1, spoilt


@pytest.mark.parametrize("claim", CLAIM)
def test_no_null_model_passes(claim: str) -> None:
    of = CLAIM[claim]
    assert of.judge(of.null.of(made())).state() != HOLDS


def test_other_runs_come_from_the_next_seed() -> None:
    one: Run = (W, "nada", DELAYS)
    other: Run = ("lte", "tfrc", OFF)
    data = made()
    of: Callable[[Data], Data] = placed([(one, other)])
    assert (of(data).of("missed_pct", *one) == np.roll(data.of("missed_pct", *other), 1)).all()
    # All others stay.
    assert (of(data).of("missed_pct", W, "nada", OFF) == data.of("missed_pct", W, "nada", OFF)).all()
