"""The study `hsdpa`: its reductions, its judgements on made-up numbers, and a small run of everything."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import small_campaign
from lasthop.results import Result, Table, coded, read_table
from lasthop.stats import bootstrap, estimate
from lasthop.studies import claims
from lasthop.studies.claims import NOT_COMPARABLE, NOT_REPRODUCED, NOT_YET_RUN, REPRODUCED
from lasthop.studies.grid import Numbers
from lasthop.studies.hsdpa import air, campaign, firstloss, percentiles, reductions, scenario, transfers
from lasthop.studies.hsdpa.campaign import MAIN
from lasthop.studies.hsdpa.data import Data
from lasthop.studies.hsdpa.judgements import CLAIMS
from lasthop.studies.hsdpa.losses import FIRST
from lasthop.studies.hsdpa.scenario import ASSUMED, LARGE, LOADS, MEDIUM, PROTOCOLS, SCHEDULERS, SIZES, SMALL

CLAIM = {claim.id: claim for claim in CLAIMS}
NOISE = np.array([-1.0, 0.0, 1.0, 0.5, -0.5])
AXES = {"protocol": tuple(PROTOCOLS), "scheduler": tuple(SCHEDULERS), "ues": LOADS}


# Judgements, on numbers as the paper has them


def sir(scheduler):
    return scheduler == "max_sir"


def of_size(size, protocol, scheduler, ues):
    """Sums over a hundred transfers of a size."""
    large, tcp = size in LARGE, protocol == "tcp"
    timeouts = (100 if sir(scheduler) else 50) if tcp and size not in SMALL else 0
    spurious = timeouts * (0.7 if sir(scheduler) else 0.1)
    events = {LARGE[0]: 60 if tcp else 40, LARGE[1]: 80 if tcp else 120}.get(size, 0)
    rate = 45 if size == SIZES[0] else 10 * math.sqrt(size) * (1.5 if sir(scheduler) else 1)
    return {
        "transfers": 100,
        "finished": 100,
        "rate_kbps": 100 * rate * (1 if tcp else 1.05),
        "timeouts": timeouts,
        "spurious": spurious,
        "nofeedback": 3 if not tcp and sir(scheduler) and large else 0,
        "events": events,
        "dropped": 10 * (events + timeouts - spurious),
        "lossy": 20 if size == MEDIUM else 100 if large else 0,
        "above_mild": (2 if sir(scheduler) and ues == 65 else 0) if size == LARGE[1] else 1 if size == MEDIUM else 60,
        "above_high": 15 if size == LARGE[0] else 0,
    }


def of_run(protocol, scheduler, ues):
    """What a run has once."""
    each = [of_size(size, protocol, scheduler, ues) for size in SIZES]
    more = 0.05 if protocol == "tfrc" else 0.0
    load = {("round_robin", 50): 2.2, ("round_robin", 65): 2.5, ("max_sir", 50): 2.9, ("max_sir", 65): 3.3}
    goodput = 1000 * (load[scheduler, ues] + more)
    return {
        **{name: sum(one[name] for one in each) for name in ("transfers", "timeouts", "spurious", "nofeedback")},
        "receivers_0": 0.05,
        "one_or_two": 0.6 if sir(scheduler) else 0.4,
        "five_or_more": 0.1 if sir(scheduler) else 0.3,
        "files": goodput / 4,
        "goodput_kbps": goodput,
        "retransmitted_kbps": 55.0 if protocol == "tcp" else 0.0,
        "jain": 0.6 if sir(scheduler) else 0.8,
        "upper_half_share": 0.75 if sir(scheduler) else 0.6,
    }


def rates(size, scheduler, **_):
    """Rates of twenty transfers of a size, two of which are slow."""
    usual = 10 * math.sqrt(size)
    slow = (40 if sir(scheduler) else 48) if size == SIZES[0] else usual / 2
    return [slow] * 2 + [usual] * 18


def paper(of_size=of_size, of_run=of_run, rates=rates, before=None, axes=AXES):
    """The runs of a study in which everything is as the paper says, but for what is given."""
    points = list(Numbers(axes, (0,), {}).points())
    shape = [len(values) for values in axes.values()]
    columns = {}
    for point in points:
        for name, value in of_run(**point).items():
            columns.setdefault(name, []).append(value)
        for size in SIZES:
            for name, value in of_size(size, **point).items():
                columns.setdefault(f"{name}_{size}", []).append(value)
    shares = ("one_or_two", "five_or_more", "receivers_0", "jain", "upper_half_share")
    values = {
        name: np.array(column, dtype=float).reshape(*shape, 1) * (1 + (0 if name in shares else 0.1) * NOISE)
        for name, column in columns.items()
    }
    rows = [
        {**point, "seed": seed, "bytes": float(size), "rate_kbps": rate * (1 + 0.01 * NOISE[seed])}
        for point in points
        for seed in range(len(NOISE))
        for size in SIZES
        for rate in rates(size, **point)
    ]
    grids = {MAIN: Numbers(axes, tuple(range(len(NOISE))), values, Table(pa.Table.from_pylist(rows)))}
    first = {name: axes[name] for name in ("protocol", "scheduler")} | {"ues": (65,)}
    before = before or {"tcp": 300.0, "tfrc": 400.0}
    counts = np.array([[[before[protocol] + 10 * NOISE] for _ in SCHEDULERS] for protocol in PROTOCOLS])
    grids[FIRST] = Numbers(first, tuple(range(len(NOISE))), {"before_first_loss": counts})
    return Data("made up", grids)


def judged(id, data):
    judgement = CLAIM[id].judge(data)
    return judgement.verdict, judgement.reason


def test_the_paper_reproduces_itself():
    data = paper()
    for claim in CLAIMS:
        judgement = claim.judge(data)
        assert judgement.verdict == REPRODUCED, (claim.id, judgement.reason)
        assert judgement.ours != "–", claim.id


def changed(of, when=lambda *_: True, **changes):
    """Like ``of``, with some of its numbers multiplied where ``when`` holds."""

    def made(*args, **point):
        numbers = of(*args, **point)
        where = {**point, "size": args[0] if args else None}
        return numbers | {name: numbers[name] * by for name, by in changes.items() if when(where)}

    return made


WITH_RR = {"when": lambda where: where["scheduler"] == "round_robin"}
WITH_TFRC = {"when": lambda where: where["protocol"] == "tfrc"}

#: For each claim numbers that speak against it.
AGAINST = {
    "H1": {"of_size": lambda size, **point: of_size(size, **point) | {"lossy": 2}},
    "H2": {"of_size": changed(of_size, lossy=2.0)},
    "H3": {"of_size": changed(of_size, above_high=3.0)},
    "H4": {"of_size": changed(of_size, above_mild=3.0)},
    "H5": {"of_size": changed(of_size, timeouts=4.0, **WITH_RR)},
    "H6": {"of_run": changed(of_run, spurious=0.5)},
    "H7": {"of_run": changed(of_run, nofeedback=50)},
    "H8": {"of_size": changed(of_size, events=4.0, **WITH_TFRC)},
    "H9": {"of_run": changed(of_run, one_or_two=2.0, **WITH_RR)},
    "H10": {"of_run": changed(of_run, goodput_kbps=1.3, when=lambda w: w["ues"] == 50 and sir(w["scheduler"]))},
    "H11": {"of_size": changed(of_size, rate_kbps=1.2, **WITH_TFRC)},
    "H12": {"rates": lambda *_, **__: [10.0] * 2 + [500.0] * 18},
    "H13": {"rates": lambda *_, **__: [30.0] * 20},
    "H14": {"of_run": changed(of_run, goodput_kbps=0.9, **WITH_TFRC)},
    "H16": {"of_run": changed(of_run, jain=0.5, **WITH_RR)},
    "H17": {"of_run": changed(of_run, upper_half_share=1.5, **WITH_RR)},
    "H18": {"of_size": changed(of_size, dropped=0.2)},
    "H19": {"before": {"tcp": 400.0, "tfrc": 300.0}},
    "H20": {"of_run": changed(of_run, retransmitted_kbps=3.0)},
    "H21": {"of_size": changed(of_size, rate_kbps=1.5)},
    "H22": {"of_run": changed(of_run, spurious=9.0, **WITH_RR)},
}


@pytest.mark.parametrize("id", AGAINST)
def test_what_speaks_against_a_claim_is_said(id):
    verdict, reason = judged(id, paper(**AGAINST[id]))
    assert verdict == NOT_REPRODUCED and reason


def test_loads_must_not_reverse_a_conclusion():
    reverse = changed(of_run, files=0.2, when=lambda where: where["ues"] == 50 and sir(where["scheduler"]))
    verdict, reason = judged("H15", paper(of_run=reverse))
    assert verdict == NOT_REPRODUCED and "H10, TCP: files" in reason
    level = paper(of_run=lambda **at: of_run(**at) | ({"five_or_more": 0.1} if at["ues"] == 50 else {}))
    assert judged("H15", level)[0] == REPRODUCED, "no difference at one load reverses nothing"


def test_what_may_be_chance_decides_nothing():
    # RR and SIR alike, but for noise that is not common to both.
    data = paper()
    grid = data.main
    jain = np.full((2, 2, 2, len(NOISE)), 0.7)
    jain[:, 1] += 0.01 * NOISE
    other = Data("made up", {**data.grids, MAIN: replace(grid, values={**grid.values, "jain": jain})})
    verdict, reason = judged("H16", other)
    assert verdict == NOT_COMPARABLE and "holds 0" in reason


def test_a_reading_with_one_load_leaves_some_claims_out():
    one = paper(axes={**AXES, "ues": (65,)})
    held = {claim.id: claims.judge(claim, "a", {"a": one}).verdict for claim in CLAIMS}
    assert {id for id, verdict in held.items() if verdict == NOT_YET_RUN} == {"H10", "H15"}
    assert all(verdict == REPRODUCED for id, verdict in held.items() if id not in ("H10", "H15"))


def test_every_claim_can_be_seen():
    assert all(claim.see.startswith(("figure-", "table-")) for claim in CLAIMS)
    assert all(claim.why and claim.tolerance for claim in CLAIMS)


# Percentiles


def test_percentiles_are_of_all_runs_together():
    runs = [np.arange(1.0, 51.0), np.arange(51.0, 102.0)]
    assert percentiles.lowest(runs).mean == pytest.approx(6.0)
    assert percentiles.lowest_difference(runs, [run - 2 for run in runs]).mean == pytest.approx(2.0)
    assert percentiles.lowest_difference(runs, [run - 2 for run in runs]).half == pytest.approx(0.0, abs=1e-9)
    assert math.isnan(percentiles.lowest(runs[:1]).half)
    assert math.isnan(percentiles.lowest([np.zeros(0), np.zeros(0)]).mean)


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
    assert reductions.upper_half(np.array([1.0, 9.0, 3.0, 8.0]), got) == pytest.approx(0.6)
    # Of five, half of the one in the middle belongs to it.
    assert reductions.upper_half(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.ones(5)) == pytest.approx(0.5)
    assert math.isnan(reductions.upper_half(np.array([1.0]), np.zeros(1)))


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
    kept = reductions._cell(reductions.Series(series), 300.0)
    assert kept["receivers_0"] == pytest.approx(0.2) and kept["one_or_two"] == pytest.approx(0.8)
    assert kept["used_share"] == pytest.approx(0.8) and kept["five_or_more"] == 0
    assert kept["failed_share"] == pytest.approx(0.1)
    assert kept["radio_kbps"] == pytest.approx(8e-3 * 118e6 / 295)


def test_packets_before_the_first_loss():
    def row(time, event, flow, connection, payload=1450):
        return {
            "time_s": time, "event": event, "flow": flow, "connection": connection, "payload_bytes": payload,
        }  # fmt: skip

    packets = Table(
        pa.Table.from_pylist(
            [
                row(0.1, "sent", "d[0]", 0), row(0.2, "sent", "d[0]", 1), row(0.3, "sent", "d[0]", 1),
                row(0.35, "sent", "d[0]", 1, payload=0), row(0.4, "dropped", "d[0]", 1), row(0.5, "sent", "d[0]", 1),
                row(0.6, "dropped", "d[0]", 1), row(0.2, "sent", "d[2]", 1), row(0.4, "dropped", "d[1]", 1),
            ]
        )
    )  # fmt: skip
    assert firstloss.before_first_loss(packets, {("d[0]", 1), ("d[2]", 1)}) == [2]


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


def test_readings_change_what_they_say():
    plain = {protocol: scenario.scenario(point(protocol=protocol)).to_dict() for protocol in PROTOCOLS}
    assert plain["tcp"]["hsdpa"][0]["ues"] == 65
    for assumed in ASSUMED[1:]:
        differs = [
            protocol
            for protocol, usual in plain.items()
            if scenario.scenario(point(protocol=protocol), assumed=assumed).to_dict() != usual
        ]
        expected = ["tcp"] if assumed.tcp else ["tfrc"] if "TFRC" in assumed.name else ["tcp", "tfrc"]
        assert differs == expected, assumed.name
    [standard] = [
        scenario.scenario(point(), assumed=one)["flow"][0]["transport"]["tcp"]
        for one in ASSUMED
        if one.tcp.get("profile") == "rfc"
    ]
    assert (standard["profile"], standard["variant"], standard["window"]) == ("rfc", "sack", 1000)
    tfrc = scenario.scenario(point(protocol="tfrc"))["flow"][0]["transport"]["tfrc"]
    assert (tfrc["version"], tfrc["segment"]) == ("rfc3448", "1450 B")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_numbers_of_a_run_agree_with_each_other(protocol):
    made = lh.run(scenario.scenario(point(protocol=protocol, scheduler="max_sir"), duration=40.0), seed=2)
    kept = reductions.kept(made)
    assert sum(kept[f"receivers_{n}"] for n in reductions.RECEIVERS) == pytest.approx(1)
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
    """Everything, with few seeds and short runs."""
    folder = tmp_path_factory.mktemp("hsdpa") / "out"
    small = campaign.Plan(
        seeds=2, seeds_assumed=2, assumed=(ASSUMED[1], ASSUMED[-1]), seeds_beyond=2, seeds_first=1, duration=30.0,
        duration_first=20.0,
    )  # fmt: skip
    with small_campaign("hsdpa", folder, (campaign, "plan", lambda _mode: small)) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "004_8c4f86ecade45938.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"H{n}" for n in range(1, 23)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        if claim["verdict"] != REPRODUCED:
            assert claim["reason"], claim["id"]
    by_variant = document["claims"][4]["by_variant"]
    assert set(by_variant) == {ASSUMED[1].name, ASSUMED[-1].name}


def test_figures_and_tables_are_there(reproduced):
    assert {*(f"figure-{n}" for n in range(1, 8)), "figure-cell", "figure-served"} == set(reproduced.figures)
    assert {"table-scenarios", "table-losses", "table-spurious", "table-spikes", "table-assumptions"} <= set(
        reproduced.tables
    )
    for paths in (*reproduced.figures.values(), *reproduced.tables.values()):
        assert all(path.stat().st_size > 0 for path in paths)
    runs = read_table(reproduced.folder / "runs-as-taken-main.parquet")
    assert len(runs) == 2 * 2 * 2 * 2
    every = read_table(reproduced.folder / "transfers.parquet")
    assert len(every) == runs["transfers"].sum()
    cell = read_table(reproduced.folder / "figure-cell.parquet")
    assert len(cell) == 65
    spurious = read_table(reproduced.folder / "table-spurious.parquet")
    assert spurious["TCP"].tolist() == 2 * ["ns2", "rfc", "rfc, Eifel", "rfc, F-RTO"]
    page = reproduced.report.read_text()
    for claim in CLAIMS:
        assert f'id="{claim.id}"' in page
