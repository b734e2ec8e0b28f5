"""The study `hsdpa`: its reductions, its readings, and a small run of everything."""

from __future__ import annotations

import json
import math

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import small_campaign
from lasthop.results import Result, Table, coded, read_table
from lasthop.stats import bootstrap, estimate
from lasthop.studies import claims
from lasthop.studies.explorer import unique
from lasthop.studies.grid import Numbers
from lasthop.studies.hsdpa import data, experiments, measures, scenario, study
from lasthop.studies.hsdpa.data import of_all, portion
from lasthop.studies.hsdpa.judges import CLAIMS
from lasthop.studies.hsdpa.measures import percentiles, recorded, transfers
from lasthop.studies.hsdpa.readings import QUESTIONS
from lasthop.studies.hsdpa.scenario import LARGE, PROTOCOLS, SCHEDULERS, SIZES
from lasthop.studies.hsdpa.single_runs import air
from lasthop.studies.readings import AS_TAKEN, as_taken, pairs, singles
from lasthop.studies.series import Series

# Ratios of all runs


def test_a_ratio_of_all_runs_weighs_each_by_what_it_has():
    part, whole = np.array([1.0, 0.0, 4.0, 0.0]), np.array([10.0, 0.0, 10.0, 20.0])
    each = of_all(part, whole)
    assert each.mean() == pytest.approx(5 / 40)
    # Cochran 1977, (6.13): the variance of a ratio of totals, to first order.
    residuals = part - 5 / 40 * whole
    assert each.std(ddof=1) == pytest.approx(math.sqrt((residuals**2).sum() / 3) / whole.mean())
    assert np.isnan(of_all(part, np.zeros(4))).all()


def test_none_of_few_is_not_none():
    none = portion(np.zeros(3), np.array([10.0, 10.0, 10.0]))
    # Clopper and Pearson: 1 − 0.025 ** (1 / 30) = 11.57 %.
    assert (none.mean, none.high) == (0.0, pytest.approx(11.57, abs=0.01))


# Percentiles


def test_percentiles_are_of_all_runs_together():
    each = [np.arange(1.0, 51.0), np.arange(51.0, 102.0)]
    runs, less = percentiles.Pooled(each), percentiles.Pooled([run - 2 for run in each])
    assert percentiles.lowest(runs).mean == pytest.approx(6.0)
    assert percentiles.lowest_difference(runs, less).mean == pytest.approx(2.0)
    assert percentiles.lowest_difference(runs, less).half == pytest.approx(0.0, abs=1e-9)
    assert math.isnan(percentiles.lowest(percentiles.Pooled(each[:1])).half)
    assert math.isnan(percentiles.lowest(percentiles.Pooled([np.zeros(0), np.zeros(0)])).mean)


def test_a_percentile_of_drawn_runs_is_that_of_their_values():
    random = np.random.default_rng(3)
    each = [random.normal(size=count) for count in (7, 0, 40, 23)]
    pooled = percentiles.Pooled(each)
    for drawn in ([0, 1, 2, 3], [2, 2, 0, 1], [3, 3, 3, 3], [0, 0, 0, 0]):
        wanted = np.quantile(np.concatenate([each[run] for run in drawn]), 0.05)
        assert pooled.quantile(drawn) == pytest.approx(wanted)


def test_a_bootstrap_of_a_mean_has_students_interval():
    values = np.random.default_rng(5).normal(10.0, 2.0, 30)
    plain, drawn = estimate(values, 0.9), bootstrap(lambda runs: float(values[list(runs)].mean()), len(values), 0.9)
    assert drawn.mean == pytest.approx(plain.mean)
    # The standard deviation of 400 draws is within 3.5 % of its expectation twice out of three times.
    assert drawn.half == pytest.approx(plain.half, rel=0.11)
    assert (drawn.n, drawn.level) == (30, 0.9)


# Reductions, on tables made by hand


def table(**columns):
    return Table(pa.table(columns))


def result(**tables):
    return Result(tables, "made up", "", 1, 300.0, 0.0, 0)


FLOWS = table(flow=["d[0]", "d[1]", "d[2]"], to=["hsdpa.ue[0]", "hsdpa.ue[1]", "hsdpa.ue[2]"])
BEARERS = table(
    bearer=["hsdpa.ue[0] down", "hsdpa.ue[1] down", "hsdpa.ue[2] down"], cell=[0.0, 3.0, 0.0], sir_db=[2.0, 9.0, 5.0]
)


def test_transfers_of_the_centre_cell_after_the_first_seconds():
    made = result(
        flows=FLOWS,
        bearers=BEARERS,
        transfers=table(
            flow=["d[0]", "d[0]", "d[1]", "d[2]", "d[2]"],
            transfer=[0, 1, 0, 0, 1],
            bytes=[4350, 4350, 4350, LARGE[1], 4350],
            start_s=[1.0, 10.0, 10.0, 20.0, 290.0],
            sent_s=[1.0, 10.0, 10.0, 20.0, None],
            received_s=[2.0, 10.5, 11.0, 30.0, None],
        ),
        transfer_state=table(
            flow=["d[0]", "d[0]", "d[0]", "d[0]", *["d[2]"] * 6],
            transfer=[0, 1, 1, 1, *[0] * 6],
            quantity=[
                *("timeouts", "sent_packets", "dropped_packets", "timeouts", "sent_packets", "retransmitted_packets"),
                *("dropped_packets", "timeouts", "spurious_timeouts", "fast_retransmits"),
            ],
            value=[9.0, 4.0, 1.0, 1.0, 1023.0, 77.0, 165.0, 2.0, 1.0, 4.0],
        ),
    )
    of = transfers.centre(made)
    assert of["start_s"].tolist() == [10.0, 20.0, 290.0]
    assert of["mobile"].tolist() == [0, 2, 2]
    assert of["rate_kbps"][:2].tolist() == pytest.approx([69.6, 1186.68])
    assert np.isnan(of["rate_kbps"][2])
    assert of["loss"].tolist() == pytest.approx([0.25, 0.15, 0.0])
    sums = transfers.by_size(of)
    assert (sums["transfers_4350"], sums["finished_4350"], sums["rate_kbps_4350"]) == pytest.approx((2, 1, 69.6))
    assert (sums["lossy_4350"], sums["above_high_4350"], sums["timeouts_4350"]) == (1, 1, 1)
    name = LARGE[1]
    # 15 % is above a tenth and not above 15 %.
    assert (sums[f"above_mild_{name}"], sums[f"above_high_{name}"]) == (1, 0)
    assert (sums[f"spurious_{name}"], sums[f"events_{name}"], sums[f"nofeedback_{name}"]) == (1, 4, 0)
    assert transfers.rows(made)["bytes"].tolist() == [4350.0, LARGE[1], 4350.0]


def test_the_half_with_the_better_conditions():
    got = np.array([10.0, 20.0, 30.0, 40.0])
    assert measures.upper_half(np.array([1.0, 9.0, 3.0, 8.0]), got) == pytest.approx(0.6)
    # Of five, half of the one in the middle belongs to it.
    assert measures.upper_half(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.ones(5)) == pytest.approx(0.5)
    assert math.isnan(measures.upper_half(np.array([1.0]), np.zeros(1)))


def test_slots_are_counted_from_the_end_of_the_first_seconds():
    counts = {"slots": (2500, 150000), "used_slots": (1000, 119000), "bytes": (1e6, 119e6), "blocks": (10, 1010)}
    counts |= {"failed_blocks": (0, 100), "receivers_0": (1500, 31000), "receivers_2": (1000, 119000)}
    counts |= {f"receivers_{n}": (0, 0) for n in (1, *range(3, 15))} | {"receivers_15_or_more": (0, 0)}
    times = [5.0, 300.0]
    names = list(counts)
    series = table(
        time_s=np.repeat(times, len(names)),
        name=coded(np.zeros(2 * len(names), dtype=np.int32), ["hsdpa.cell[0]"]),
        quantity=coded(np.tile(np.arange(len(names), dtype=np.int32), 2), names),
        value=np.array([[counts[name][place] for name in names] for place in (0, 1)], dtype=float).ravel(),
    )
    kept = measures._cell(Series(series), 300.0)
    assert kept["receivers_0"] == pytest.approx(0.2) and kept["one_or_two"] == pytest.approx(0.8)
    assert kept["used_share"] == pytest.approx(0.8) and kept["five_or_more"] == 0
    assert kept["failed_share"] == pytest.approx(0.1)
    assert kept["radio_kbps"] == pytest.approx(8e-3 * 118e6 / 295)


def test_packets_of_a_transfer_and_which_were_lost():
    def row(time, event, flow, connection, number, payload=1450):
        return {
            "time_s": time, "event": event, "flow": flow, "connection": connection, "number": number,
            "payload_bytes": payload,
        }  # fmt: skip

    packets = Table(
        pa.Table.from_pylist(
            [
                row(0.1, "sent", "d[0]", 0, 1), row(0.2, "sent", "d[0]", 1, 1), row(0.3, "sent", "d[0]", 1, 2),
                row(0.35, "sent", "d[0]", 1, 3, payload=0), row(0.4, "dropped", "d[0]", 1, 2),
                row(0.5, "sent", "d[0]", 1, 4), row(0.6, "dropped", "d[0]", 1, 4), row(0.2, "sent", "d[2]", 1, 1),
                row(0.4, "dropped", "d[1]", 1, 1),
            ]
        )
    )  # fmt: skip
    made = recorded.packets_of(packets, {("d[0]", 1), ("d[2]", 1)})
    assert made["d[0]", 1][0].tolist() == [0.2, 0.3, 0.5] and made["d[0]", 1][1].tolist() == [False, True, True]
    assert not made["d[2]", 1][1].any()


def test_losses_within_a_round_trip_are_one_event():
    # RFC 3448 §5.2: a loss event takes all losses within a round trip of its first one.
    assert recorded.events(np.array([0.0, 0.1, 0.152, 0.153, 0.3, 0.31])) == 3
    assert recorded.events(np.zeros(0)) == 0
    times = np.arange(1000) * 1.0
    random = np.random.default_rng(1)
    # Packets farther apart than a round trip: each loss is an event. All in one round trip: one event.
    assert recorded.events_apart(times, 10, random) == 10
    assert recorded.events_apart(times / 1e4, 10, random) == 1


def test_users_and_their_rates():
    # Bytes over the time that they took: 100 kB in 1 s and 10 kB in 20 s are 42 kbit/s, with a slowest of 4 kbit/s.
    of = {
        "mobile": np.array([0, 0, 1, 2]),
        "bytes": np.array([100e3, 10e3, 50e3, 50e3]),
        "rate_kbps": np.array([800.0, 4.0, 400.0, np.nan]),
    }
    assert measures.users(of) == {"users": 3.0, "slow_users": 2.0, "users_once_slow": 2.0}


# The air


def test_the_map_of_the_sir():
    # At the antenna nothing but the own cell interferes: 1 / (0.1 + 0.4 · 1/10) is 8.54 dB.
    assert air.sir_db(np.zeros((1, 2)))[0] == pytest.approx(8.54, abs=0.005)
    # Where three cells meet, two equal neighbours leave at most 10 / (1.4 + 22).
    assert air.sir_db(np.array([[500.0, 0.0]]))[0] < 10 * math.log10(10 / 23.4)
    ring = air.sites()[1:]
    assert np.linalg.norm(ring, axis=1) == pytest.approx(np.full(6, 866.0254))
    # The corners of the centre's hexagon are as far from it as from the two nearest of the others.
    for corner in air.hexagon(np.zeros(2)):
        assert sorted(np.linalg.norm(air.sites() - corner, axis=1))[:3] == pytest.approx([500.0] * 3)


# Runs


def point(**changes):
    return {"protocol": "tcp", "scheduler": "round_robin", "ues": 65, **changes}


def test_answers_change_what_they_say():
    plain = {protocol: scenario.scenario(point(protocol=protocol)).to_dict() for protocol in PROTOCOLS}
    assert plain["tcp"]["hsdpa"][0]["ues"] == 65
    assert scenario.scenario(point()).to_dict()["flow"] == lh.load(scenario.text()).to_dict()["flow"]
    for reading in singles(QUESTIONS):
        owners = {key.partition(".")[0] for key in reading.changes}
        differs = [
            protocol
            for protocol, usual in plain.items()
            if scenario.scenario(point(protocol=protocol), changes=reading.changes).to_dict() != usual
        ]
        named = [protocol for protocol in PROTOCOLS if protocol in owners]
        assert differs == ([] if owners == {"text"} else named or list(PROTOCOLS)), reading.name
        for protocol in PROTOCOLS:
            assert (protocol in differs) == bool(experiments.part(reading, protocol).chosen), reading.name


def test_each_default_says_why_and_quotes_are_filled():
    for question in QUESTIONS:
        assert question.why
        assert all(answer.about for answer in question.answers)
    names = [answer.name for question in QUESTIONS for answer in question.answers]
    assert len(set(names)) == len(names)


def test_what_changes_one_protocol_is_not_run_again_for_the_other():
    wanted = experiments.plan("full")

    def grids(*readings):
        return unique(experiments.grids(reading, wanted) for reading in readings)

    first = grids(as_taken(), *singles(QUESTIONS))
    [two] = [reading for reading in singles(QUESTIONS) if reading.name == "TCP begins with two"]
    new = [name for name in grids(two) if two.name in name]
    assert new and all("TCP" in name for name in new) and len(new) < len(grids(two))
    # Two answers of which each concerns one protocol need no more runs than they had.
    both = [reading for reading in pairs(QUESTIONS, [question.name for question in QUESTIONS]) if len(
        {key.partition(".")[0] for key in reading.changes}) == 2 and all(
        key.partition(".")[0] in PROTOCOLS for key in reading.changes)]  # fmt: skip
    assert all(grids(reading).keys() <= first.keys() for reading in both)
    every = [*first.values(), *experiments.beyond(wanted).values()]
    assert study.runs("full") == sum(grid.runs for grid in every)


def test_grids_of_protocols_are_put_together_at_what_both_have():
    def of(protocol, seeds, loads):
        rows = [
            {"protocol": protocol, "ues": ues, "seed": seed, "bytes": 1.0} for ues in loads for seed in range(seeds)
        ]
        values = np.array([[[100.0 * ues + seed for seed in range(seeds)] for ues in loads]])
        axes = {"protocol": (protocol,), "ues": loads}
        return Numbers(axes, tuple(range(seeds)), {"x": values}, Table(pa.Table.from_pylist(rows)))

    made = data.joined("protocol", [of("tcp", 3, (50, 65)), of("tfrc", 2, (65,))])
    assert made.axes == {"protocol": ("tcp", "tfrc"), "ues": (65,)} and tuple(made.seeds) == (0, 1)
    assert made.at("x", protocol="tcp", ues=65).tolist() == [6500.0, 6501.0]
    assert len(made.rows) == 4


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_numbers_of_a_run_agree_with_each_other(protocol):
    made = lh.run(scenario.scenario(point(protocol=protocol, scheduler="max_sir"), duration=40.0), seed=2)
    kept = measures.kept(made)
    assert sum(kept[f"receivers_{n}"] for n in measures.RECEIVERS) == pytest.approx(1)
    assert kept["used_share"] == pytest.approx(1 - kept["receivers_0"], abs=0.05)
    assert 0 < kept["goodput_kbps"] < kept["radio_kbps"] < 7200
    # Blocks are lost one in ten, and more often where the SIR is below the lowest step.
    assert 0.08 < kept["failed_share"] < 0.5
    assert kept["files"] <= kept["transfers"] and kept["spurious"] <= kept["timeouts"]
    assert kept["transfers"] == sum(kept[f"transfers_{size}"] for size in SIZES)
    assert 1 / kept["mobiles"] <= kept["jain"] <= 1
    rows = transfers.rows(made)
    assert len(rows) == kept["transfers"]
    rate = rows["rate_kbps"][~np.isnan(rows["rate_kbps"])]
    assert rate.min() > 0 and rate.max() < 7200
    if protocol == "tfrc":
        assert kept["retransmitted_kbps"] == kept["timeouts"] == 0


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_transfer_ends_with_the_last_of_its_packets_that_comes(scheduler):
    """Not when a timer of TFRC expires: with SIR packets wait for longer than that, and the last ones may be lost."""
    short = scenario.scenario(point(protocol="tfrc", scheduler=scheduler), duration=25.0)
    made = lh.run(short.with_({"record.packets": True}), seed=1)
    packets = made.packets
    data = packets["payload_bytes"] > 0
    ends = {}
    for flow, number, event, time in zip(
        *(packets[name][data] for name in ("flow", "connection", "event", "time_s")), strict=True
    ):
        if event == "received":
            ends[flow, number] = time
    finished = [
        (flow, number, end)
        for flow, number, end in zip(
            *(made.transfers[name] for name in ("flow", "transfer", "received_s")), strict=True
        )
        if not np.isnan(end)
    ]
    assert len(finished) > 300
    for flow, number, end in finished:
        assert end == pytest.approx(ends[flow, number], abs=1e-9), (flow, number)


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """Everything, with few seeds, short runs, and two questions."""
    folder = tmp_path_factory.mktemp("hsdpa") / "out"
    small = experiments.Plan(
        seeds=2, seeds_single=2, seeds_crossed=2, seeds_first=1, seeds_first_single=0, seeds_beyond=2, loads=(65,),
        duration=30.0, duration_first=20.0,
    )  # fmt: skip
    few = [question for question in QUESTIONS if question.name in ("TCP's first window", "Codes of a slot")]
    few += QUESTIONS[-2:]
    changes = [(experiments, "plan", lambda _mode: small), (study, "QUESTIONS", few)]
    with small_campaign("hsdpa", folder, *changes) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "004_8c4f86ecade45938.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"H{n}" for n in range(1, 23)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        if claim["verdict"] != claims.REPRODUCED:
            assert claim["reason"], claim["id"]
    readings = {name for claim in document["claims"] for name in claim["readings"]}
    assert "reversed at 369 750 B" not in document["claims"][4]["readings"]
    others = {"TCP begins with two", "equal codes", "one user a slot", "duplicates only", "reversed at 369 750 B"}
    assert readings == {AS_TAKEN, *others}


def test_figures_and_tables_are_there(reproduced):
    assert {*(f"figure-{n}" for n in range(1, 8)), "figure-cell", "figure-served"} == set(reproduced.figures)
    assert {"table-scenarios", "table-losses", "table-spurious", "table-spikes", "claims-by-reading"} <= set(
        reproduced.tables
    )
    for paths in (*reproduced.figures.values(), *reproduced.tables.values()):
        assert all(path.stat().st_size > 0 for path in paths)
    runs = read_table(reproduced.folder / "runs-as-taken-main.parquet")
    assert len(runs) == 2 * 2 * 2 * 2
    # Half of the scenarios of another TCP are those of the default reading.
    other = read_table(reproduced.folder / "runs-tcp-begins-with-two-main.parquet")
    assert len(other) == 2 * 2 * 2
    every = read_table(reproduced.folder / "transfers.parquet")
    assert len(every) == runs["transfers"].sum()
    cell = read_table(reproduced.folder / "figure-cell.parquet")
    assert len(cell) == 65
    spurious = read_table(reproduced.folder / "table-spurious.parquet")
    assert spurious["TCP"].tolist() == 2 * ["ns2", "rfc", "rfc, Eifel", "rfc, F-RTO"]
    page = reproduced.report.read_text()
    for claim in CLAIMS:
        assert f'id="{claim.id}"' in page
