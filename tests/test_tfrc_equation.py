"""TFRC with independent losses sends as fast as a Monte Carlo of its loss-interval estimator says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[1] / "docs" / "tfrc_equation.py"
SPEC = importlib.util.spec_from_file_location("tfrc_equation", PATH)
monte_carlo = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(monte_carlo)


@pytest.mark.parametrize("rtt", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("loss", [0.00105, 0.003, 0.01, 0.03, 0.1, 0.12])
def test_rate_is_that_of_the_estimator(loss, rtt):
    predicted, events = monte_carlo.predicted(loss, rtt)
    assert 0.0009 < events < 0.11
    assert monte_carlo.measured(loss, rtt) == pytest.approx(predicted, rel=0.05)


def test_the_estimator_by_hand():
    # Eight intervals of 100 and an open one of 300: §5.5 discounts the closed ones to 2/3.
    estimator = monte_carlo.Estimator(100)
    for n in range(1, 8):
        estimator.event(100 * n, 100 * n)
    assert estimator.rate(700 + 9) == pytest.approx(0.01)
    assert estimator.rate(700 + 299) == pytest.approx((1 + 5 * 2 / 3) / (300 + 500 * 2 / 3))
