"""What studies share: grids of runs, trends over them, campaigns that survive a kill."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from lasthop import studies
from lasthop.cli import cli
from lasthop.errors import RunError
from lasthop.results import Table
from lasthop.scenario import load
from lasthop.stats import Estimate
from lasthop.studies import trends
from lasthop.studies.bench import CPU, Bench, unfinished
from lasthop.studies.claims import NotRun
from lasthop.studies.conditions import FAILS, HOLDS, OPEN
from lasthop.studies.curves import Line, curves
from lasthop.studies.grid import Grid, Numbers
from stub_study import STUDY as STUB


def numbers(values, **axes):
    """A grid of one quantity; the last axis of the values are seeds."""
    values = np.asarray(values, dtype=float)
    assert values.shape[:-1] == tuple(len(axis) for axis in axes.values())
    return Numbers(axes, tuple(range(values.shape[-1])), {"rate": values})


#: Two versions at three sizes: a seed adds its own to all, the version adds 1, the size adds its number.
SEEDS = np.array([10.0, 20.0, 60.0])
PLAIN = numbers(
    [[[seed + version + size for seed in SEEDS] for size in (1, 2, 4)] for version in (0.0, 1.0)],
    tcp=("reno", "sack"),
    size=(1, 2, 4),
)


def test_a_quantity_is_averaged_over_what_is_not_named():
    assert PLAIN.at("rate", tcp="sack", size=4).tolist() == [15, 25, 65]
    assert PLAIN.at("rate", size=4).tolist() == [14.5, 24.5, 64.5]
    assert PLAIN.at("rate", size=(1, 2), tcp="reno").tolist() == [11.5, 21.5, 61.5]
    assert PLAIN.mean("rate", tcp="reno", size=1).mean == pytest.approx(31)
    assert [one.mean for one in PLAIN.along("rate", "size", tcp="reno")] == pytest.approx([31, 32, 34])
    assert PLAIN.over("rate", "size", tcp="reno")(4).tolist() == [14, 24, 64]


def test_values_that_are_missing_are_left_out():
    holes = numbers([[1.0, np.nan, 5.0], [3.0, np.nan, np.nan]], size=(1, 2))
    assert holes.at("rate")[[0, 2]].tolist() == [2.0, 5.0]
    assert np.isnan(holes.at("rate")[1])
    assert holes.mean("rate").n == 2


def test_pairs_take_out_what_seeds_have_in_common():
    # Between seeds rates differ by 50, between the versions by exactly 1.
    plain, paired = PLAIN.mean("rate", tcp="sack"), PLAIN.difference("rate", {"tcp": "sack"}, {"tcp": "reno"})
    assert plain.half > 50
    assert (paired.mean, paired.half) == pytest.approx((1, 0))
    within = PLAIN.within("rate", size=4)
    assert (within.mean, within.half) == pytest.approx((34.5, 0))
    gain = PLAIN.gain_pct("rate", {"tcp": "sack"}, {"tcp": "reno"}, size=1)
    assert gain.mean == pytest.approx(100 * np.mean(1 / (SEEDS + 1)))


def test_the_ratio_of_sums_is_not_the_mean_of_ratios():
    grid = Numbers({"size": (1, 2)}, (0,), {"timeouts": np.array([[1.0], [1.0]]), "sent": np.array([[1.0], [9.0]])})
    assert grid.ratio("timeouts", "sent").tolist() == [0.2]


def test_what_is_not_on_the_grid_was_not_run():
    with pytest.raises(NotRun, match="size 3"):
        PLAIN.at("rate", size=3)
    with pytest.raises(KeyError, match="known: tcp, size"):
        PLAIN.at("rate", sise=1)
    assert PLAIN.has(size=1, tcp="sack") and not PLAIN.has(size=(1, 3))


def test_the_best_point_and_the_table_of_runs():
    assert PLAIN.best("rate", "tcp", "size") == {"tcp": "sack", "size": 4}
    assert PLAIN.best("rate", "size", tcp="reno") == {"size": 4}
    rows = PLAIN.table().rows()
    assert len(rows) == 18
    assert rows[-1] == {"tcp": "sack", "size": 4, "seed": 2, "rate": 65.0}


# Trends


def test_a_trend_is_the_difference_of_its_ends():
    rising = trends.rises("rate", PLAIN.over("rate", "size"), (1, 2, 4))
    assert [one.value.mean for one in rising] == pytest.approx([3, 1 / 3, 2 / 3])
    assert all(one.state() == HOLDS for one in rising)
    falling = trends.falls("rate", PLAIN.over("rate", "size"), (1, 2, 4))
    assert falling[0].value.mean == pytest.approx(-3)
    assert all(one.state() == FAILS for one in falling)


def test_a_step_against_a_trend_counts_if_it_is_more_than_a_tenth_of_it():
    def steps(back, noise):
        def of(value):
            made = SEEDS + {1: 0.0, 2: -back, 4: 3.0}[value]
            return made + (np.array(noise) if value == 2 else 0.0)

        ends, first, _ = trends.rises("rate", of, (1, 2, 4))
        assert ends.state() == HOLDS
        return first.state()

    assert steps(0.2, [0.0, 0.01, -0.01]) == HOLDS
    assert steps(1.0, [0.0, 0.1, -0.1]) == FAILS
    # What is not known is not taken for a level step.
    assert steps(0.0, [0.0, 9.0, -9.0]) == OPEN


def test_bends_are_of_steps_for_each_unit():
    # Slopes 3 and 6.
    square = trends.bends("x", lambda value: SEEDS + value**2, (1, 2, 4), up=True)
    assert square.value.mean == pytest.approx(3) and square.state() == HOLDS
    root = trends.bends("x", lambda value: SEEDS + value**0.5, (1, 2, 4), up=False)
    assert root.state() == HOLDS
    assert trends.bends("x", lambda value: SEEDS + value, (1, 2, 4), up=True).state() == FAILS


def test_a_peak_is_above_both_ends():
    peak = trends.peaks("rate", lambda value: SEEDS - (value - 2) ** 2, (1, 2, 4), 2)
    assert [one.value.mean for one in peak] == pytest.approx([1, 4])
    rising = trends.peaks("rate", PLAIN.over("rate", "size"), (1, 2, 4), 2)
    assert [one.state() for one in rising] == [HOLDS, FAILS]


def test_a_spread_is_that_of_means_in_pairs():
    # A seed's own largest and least would be further apart: 60 over 50 at the first, 55 over 50 at the second.
    each = [np.array([50.0, 50.0]), np.array([60.0, 50.0]), np.array([50.0, 55.0])]
    assert trends.spread_pct(each) == pytest.approx([20, 0])
    assert trends.spread_pct([SEEDS, 1.1 * SEEDS]) == pytest.approx([10, 10, 10])


def test_a_figure_has_its_numbers():
    means = [Estimate(1.0, 0.5, 3), Estimate(2.0, 0.5, 3)]
    picture = curves("figure-1", [Line("a", means), Line("b", means)], x=[1, 9000], x_label="x", y_label="y (s)",
                     caption="", column="x", even=True)  # fmt: skip
    assert picture.data.rows()[-1] == {"x": 9000, "line": "b", "mean": 2.0, "low": 1.5, "high": 2.5, "n": 3}
    assert picture.alt == "y (s) over x. a: 1 at 1, 2 at 9000; b: 1 at 1, 2 at 9000."
    axes = picture.figure.axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "9000"]


# Campaigns

LINK = load(
    """
duration = "1 s"
link = [{ name = "radio", between = ["a", "b"], rate = "1 Mbit/s", loss.bernoulli.p = 0.05 }]
flow = [{ name = "file", from = "a", to = "b" }]
"""
)


def grid(built, rates=(1, 2, 3), seeds=(1, 2), wrong=()):
    def scenario(point):
        built.append(point["rate"])
        if point["rate"] in wrong:
            raise RunError("it broke")
        return LINK.with_({"link.radio.rate": f"{point['rate']} Mbit/s"})

    def reduce(result):
        return {"bytes": float(result.flows["received_bytes"][0])}

    return Grid("rates", {"rate": rates}, seeds, scenario, reduce)


def test_a_grid_is_run_with_all_seeds(tmp_path):
    told = []
    bench = Bench("quick", tmp_path, total=6, threads=2, progress=lambda *at: told.append(at))
    made = bench.grids([grid([])])["rates"]
    assert made.values["bytes"].shape == (3, 2)
    assert (made.values[CPU] > 0).all()
    for place, rate in enumerate((1, 2, 3)):
        alone = [_run(rate, seed) for seed in (1, 2)]
        assert made.at("bytes", rate=rate).tolist() == alone, place
    assert told[0] == (0, 6) and told[-1] == (6, 6) and told == sorted(told)
    bench.expect(4)
    bench.grids([grid([], (4, 5))])
    assert told[-1] == (10, 10) and (6, 10) in told and told == sorted(told)


def test_rows_are_kept_beside_the_numbers(tmp_path):
    def received(result):
        return Table(pa.table({"received": result.flows["received_bytes"]}))

    plan = replace(grid([]), rows=received)
    made = Bench("quick", tmp_path, total=6, threads=2).grids([plan])["rates"]
    assert made.rows.columns == ["rate", "seed", "received"]
    assert made.rows["rate"].tolist() == [1, 1, 2, 2, 3, 3] and made.rows["seed"].tolist() == 3 * [1, 2]
    assert made.rows["received"].tolist() == made.values["bytes"].ravel().tolist()


def _run(rate, seed):
    from lasthop.runs import run

    result = run(LINK.with_({"link.radio.rate": f"{rate} Mbit/s"}), seed=seed)
    return float(result.flows["received_bytes"][0])


def test_an_interrupted_campaign_goes_on_where_it_ended(tmp_path):
    rates = tuple(range(1, 9))
    order: list[int] = []
    whole = Bench("quick", tmp_path / "whole", total=16, threads=1).grids([grid(order, rates)])["rates"]
    # It breaks at one point, after others have been finished. The first is built once more, to tell one campaign from
    # another.
    wrong = next(rate for rate in order[5:] if rate != rates[0])
    bench = Bench("quick", tmp_path, total=16, threads=1)
    with pytest.raises(RunError, match="it broke"):
        bench.grids([grid([], rates, wrong=(wrong,))])
    assert len(unfinished(tmp_path)) == 1
    told, again = [], []
    bench = Bench("quick", tmp_path, total=16, threads=1, progress=lambda *at: told.append(at))
    made = bench.grids([grid(again, rates)])["rates"]
    finished = set(rates) - set(again[1:])
    assert wrong not in finished and set(order[1:5]) <= finished
    assert told[0] == (2 * len(finished), 16)
    assert (made.values["bytes"] == whole.values["bytes"]).all()
    bench.clear()
    assert not unfinished(tmp_path)


def test_damage_in_what_an_interrupted_study_left_is_told_and_mended(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "STUDIES", (*studies.STUDIES, "stub"))
    monkeypatch.setattr(studies, "study", lambda _: STUB)
    words = ["reproduce", "stub", "--json", "--threads", "1", "-o", str(tmp_path)]
    with monkeypatch.context() as interrupted:
        interrupted.setattr(Bench, "clear", lambda _: None)
        whole = CliRunner().invoke(cli, words)
    assert whole.exit_code == 0 and "damaged" not in whole.stderr
    table = (tmp_path / "table-1.csv").read_bytes()
    (journal,) = tmp_path.glob(".unfinished-*/runs/*.journal")
    data = bytearray(journal.read_bytes())
    data[len(data) // 4] ^= 1  # in the first of its two records
    journal.write_bytes(data)
    again = CliRunner().invoke(cli, words)
    assert again.exit_code == 0 and "note: what an interrupted call had left was damaged" in again.stderr
    assert (tmp_path / "table-1.csv").read_bytes() == table
    assert not unfinished(tmp_path)


def test_another_campaign_does_not_take_what_was_finished(tmp_path):
    Bench("quick", tmp_path, total=6).grids([grid([])])
    again: list[int] = []
    Bench("quick", tmp_path, total=6).grids([grid(again, seeds=(3, 4))])
    assert sorted(again[1:]) == [1, 2, 3]
