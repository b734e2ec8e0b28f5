"""The verdicts and claims of the study `rmcat` on made-up numbers: what each accepts, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import keeps_its_bands
from lasthop.studies.conditions import FAILS, HOLDS
from lasthop.studies.grid import Numbers
from lasthop.studies.readings import AS_TAKEN
from lasthop.studies.rmcat import data
from lasthop.studies.rmcat.data import Data
from lasthop.studies.rmcat.judges import CLAIMS, verdicts
from lasthop.studies.rmcat.network.cases import ECN, NUMBERED, OTHERS, PRIORITY, VARIED
from lasthop.studies.rmcat.network.controllers import MARKED, MEDIA

SEEDS = (1, 2, 3, 4)
CLAIM = {claim.id: claim for claim in CLAIMS}

#: Numbers at which everything is met.
GOOD = {
    "rate_kbps": 900.0, "least_kbps": 800.0, "utilisation": 0.95, "queue_p95_ms": 30.0, "delay_p95_ms": 80.0,
    "loss_pct": 0.0, "late_pct": 0.5, "convergence_s": 5.0, "unconverged": 0.0, "ratio_20s": 1.2,
    "others_kbps": 1490.0, "first_to_others": 1.0, "largest_kbps": 1200.0,
}  # fmt: skip


def made(**spoilt: float) -> Data:
    """All as it should be but for some quantities: marks shorten delays by 20 ms, priorities give twice."""
    grids = {}
    for name, cases, controllers, other in (
        (data.VARIED, VARIED, MEDIA, {}),
        (data.SHARING, NUMBERED, MEDIA, {}),
        (data.OTHERS, OTHERS, MEDIA, {}),
        (data.PRIORITY, PRIORITY, MEDIA[:1], {"first_to_others": 2.0}),
        (data.MARKS, ECN, MARKED, {"delay_p95_ms": 60.0}),
    ):
        axes = {"case": tuple(one.id for one in cases), "controller": tuple(controllers)}
        shape = (len(cases), len(controllers), len(SEEDS))
        spread = np.linspace(0.999, 1.001, len(SEEDS))
        values = {**GOOD, **other, **spoilt}
        grids[name] = Numbers(
            axes, SEEDS, {key: np.broadcast_to(value * spread, shape) for key, value in values.items()}
        )
    return Data(AS_TAKEN, grids)


#: What spoils each claim: each of its conditions by itself.
SPOILT = {
    **{f"R{n}": [{"ratio_20s": 3.2}] for n in (1, 2, 3)},
    **{f"R{n}": [{"least_kbps": 148.0}] for n in (4, 5, 6, 7, 8, 9)},
    **{f"R{n}": [{"others_kbps": 1400.0}, {"ratio_20s": 3.2}] for n in (10, 11, 12)},
    "R13": [{"first_to_others": 1.5}, {"first_to_others": 2.6}],
    **{f"R{n}": [{"delay_p95_ms": 80.0}] for n in (14, 15, 16)},
}


@pytest.mark.parametrize("claim", CLAIM)
def test_a_claim_holds_where_its_numbers_are_met(claim):
    judgement = CLAIM[claim].judge(made())
    assert judgement.state() == HOLDS
    keeps_its_bands("rmcat", claim, judgement)


@pytest.mark.parametrize("claim", CLAIM)
def test_a_claim_fails_with_each_of_its_conditions(claim):
    for spoilt in SPOILT[claim]:
        # With marks as long a delay as without is no failure of a number, but it is not below.
        assert CLAIM[claim].judge(made(**spoilt)).state() != HOLDS, spoilt
        if "delay_p95_ms" not in spoilt:
            assert CLAIM[claim].judge(made(**spoilt)).state() == FAILS, spoilt


@pytest.mark.parametrize("claim", CLAIM)
def test_no_null_model_passes(claim):
    of = CLAIM[claim]
    assert of.judge(of.null.of(made())).state() != HOLDS


def test_longer_delays_with_marks_fail():
    worse = made()
    grid = worse.grid(data.MARKS)
    worse = worse.with_values(data.MARKS, {"delay_p95_ms": grid.values["delay_p95_ms"] + 30.0})
    assert CLAIM["R14"].judge(worse).state() == FAILS
    assert str(verdicts.rfc(worse, "6.2: 5.1", "nada-ecn")) == "missed"


def test_the_rfc_has_a_verdict_only_where_it_has_a_number():
    good = made()
    words = {case: verdicts.rfc(good, case, "nada").word for case in ("5.1", "5.2", "5.3", "5.5", "6.3")}
    assert set(words.values()) == {"no number in the RFC"}
    for case in ("5.4", "5.6, 300 ms", "5.7", "5.8", "6.1"):
        assert verdicts.rfc(good, case, "nada").word == "met", case
    assert verdicts.rfc(good, "6.2: 5.1", "prague-l4s").word == "no runs without marks"
    bad = made(ratio_20s=4.0, least_kbps=100.0, first_to_others=1.0)
    for case in ("5.4", "5.6, 300 ms", "5.7", "5.8", "6.1"):
        assert verdicts.rfc(bad, case, "nada").word == "missed", case


#: A value below each floor, a case in which it is asked for, and one in which it is not; and its words.
FLOORS = [
    ("utilisation", 0.65, "5.1", "5.6, 300 ms", "utilisation"),
    ("queue_p95_ms", 220.0, "5.1", "5.7", "queue"),
    ("loss_pct", 1.2, "5.5", "5.8", "loss"),
    ("convergence_s", 21.0, "5.2", "5.7", "convergence"),
    ("unconverged", 1.0, "5.2", "5.6, 300 ms", "not converged"),
    ("least_kbps", 140.0, "5.7", "5.1", "media rate"),
    ("ratio_20s", 3.3, "5.8", "5.2", "ratio"),
]


@pytest.mark.parametrize(("quantity", "value", "asked", "spared", "words"), FLOORS)
def test_each_floor_is_missed_by_itself(quantity, value, asked, spared, words):
    assert str(verdicts.sane(made(), asked, "nada")) == "met"
    spoilt = made(**{quantity: value})
    found = verdicts.sane(spoilt, asked, "nada")
    assert found.word == "missed" and list(found.why) in ([words], [])
    assert verdicts.sane(spoilt, spared, "nada").word == "met"


def test_a_value_on_both_sides_of_a_bound_is_open():
    good = made()
    grid = good.grid(data.VARIED)
    values = np.broadcast_to(np.array([0.60, 0.80, 0.65, 0.85]), grid.values["utilisation"].shape)
    found = verdicts.sane(good.with_values(data.VARIED, {"utilisation": values}), "5.1", "nada")
    assert str(found) == "open: utilisation"


def test_places_are_by_utilisation_delay_and_late_frames():
    good = made()
    grid = good.grid(data.VARIED)
    values = {name: grid.values[name].copy() for name in ("utilisation", "delay_p95_ms", "late_pct")}
    for place, (used, delay, late) in enumerate(((0.9, 70.0, 0.0), (1.0, 80.0, 1.0), (0.8, 90.0, 2.0))):
        for name, value in zip(values, (used, delay, late), strict=True):
            values[name][0, place] = value
    ranked = verdicts.rank(good.with_values(data.VARIED, values), "5.1", MEDIA)
    # Of the three lists NADA is second, first and first; SCReAM first, second and second; GCC last in all.
    assert ranked == {"nada": 1, "scream": 2, "gcc": 3}
    assert verdicts.rank(good, "5.1", MEDIA) == dict.fromkeys(MEDIA, 1)
