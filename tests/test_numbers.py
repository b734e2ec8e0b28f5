"""How numbers are written for readers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lasthop.stats import bootstrap, estimate, number, waited, welch, with_half
from scipy import stats


@pytest.mark.parametrize(
    ("mean", "half", "said"),
    [
        (1.28, 3e-4, "1.28000 ±0.00030"),
        (12_345.678, 0.5, "12 345.68 ±0.50"),
        (5.0, 0.0, "5 ±0"),
        (5.0, float("nan"), "5"),
        (float("nan"), 1.0, "–"),
        # Nothing is written as a row of zeros that is not zero.
        (1.279936, 3e-7, "1.279936 ±3.0e-7"),
        (3.1e-9, 2e-9, "3.1e-9 ±2.0e-9"),
        (0.0, 2e-7, "0 ±2.0e-7"),
    ],
)
def test_a_mean_is_written_to_the_second_digit_of_its_interval(mean, half, said):
    assert with_half(mean, half).replace("\u202f", " ") == said


@given(st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-12))
def test_a_number_is_read_as_what_it_is(value):
    """To 5 % of it; digits that were cut are read back."""
    said = number(value).replace("\u202f", "").replace(" ", "").replace(",", "")
    assert float(said) == pytest.approx(value, rel=0.05)


def test_a_wait_is_never_nothing():
    assert [waited(seconds) for seconds in (3e-4, 0.0312, 0.5, 61.0)] == ["0.3 ms", "31.2 ms", "0.50 s", "61.00 s"]


def test_a_difference_of_means_leaves_out_what_is_missing():
    one, other = [1.0, 2.0, 4.0, 8.0], [3.0, 9.0, 27.0]
    ours, theirs = welch(one, other), stats.ttest_ind(other, one, equal_var=False).confidence_interval(0.95)
    assert (ours.mean - ours.half, ours.mean + ours.half) == pytest.approx((theirs.low, theirs.high))
    assert welch([*one, None, float("nan")], [float("nan"), *other]) == ours
    nothing = welch([float("nan")], other)
    assert nothing.n == 0 and str(nothing) == "–"


@pytest.mark.parametrize("value", [0.7, 0.1, 1 / 3, 1776.9517, 1e-9])
@pytest.mark.parametrize("n", [2, 3, 6, 7, 20])
def test_the_mean_of_equal_values_is_that_value(value, n):
    mean = estimate([value] * n)
    assert (mean.mean, mean.half) == (value, 0)
    difference = welch([value] * n, [value] * (n + 3))
    assert (difference.mean, difference.half) == (0, 0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_a_mean_is_the_mean(values):
    said = estimate([None, *values, None])
    scale = max(map(abs, values)) + 1e-300
    assert said.mean == pytest.approx(sum(values) / len(values), abs=1e-12 * scale)
    assert said.half == pytest.approx(
        stats.t.ppf(0.975, len(values) - 1) * stats.sem(values), rel=1e-6, abs=1e-12 * scale
    )


def test_infinite_values_are_written():
    assert [number(value) for value in (float("inf"), -float("inf"))] == ["∞", "−∞"]
    assert str(estimate([float("inf"), 1.0])) == "∞"
    assert str(estimate([1.0, float("inf")])) == "∞"
    assert str(bootstrap(lambda drawn: float("inf") if 0 in drawn else 1.0, 3)) == "∞"
