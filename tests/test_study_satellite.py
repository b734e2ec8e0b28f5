"""The study `satellite`: its network, its measures, the model of fairness, and a small run of everything."""

from __future__ import annotations

import json
import math

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import small_campaign
from lasthop.results import Table, coded, read_table
from lasthop.studies import claims
from lasthop.studies.claims import NOT_REPRODUCED, REPRODUCED
from lasthop.studies.grid import Numbers
from lasthop.studies.satellite import campaign, data, experiments, network, reductions, seen, waiting
from lasthop.studies.satellite.data import Data
from lasthop.studies.satellite.judgements import CLAIMS
from lasthop.studies.satellite.model import STARTS, model
from lasthop.studies.satellite.network import MULTICAST, TCP, Setting, Tree
from lasthop.studies.satellite.readings import DEFAULT, READINGS, by
from lasthop.studies.satellite.scenarios import ideal
from lasthop.studies.series import Series, jain

CLAIM = {claim.id: claim for claim in CLAIMS}
SEEDS = (1, 2, 3, 4)


# The network


def test_the_scenario_file_is_the_first_scenario():
    written, made = lh.load(network.text()).to_dict(), experiments.scenario({"scenario": 1}).to_dict()
    for key in ("constellation", "duration"):
        assert written[key] == made[key]
    assert [flow["transport"] for flow in written["flow"]] == [flow["transport"] for flow in made["flow"]]
    starts = {flow["name"]: flow["start"] for flow in experiments.scenario({"scenario": 3}).to_dict()["flow"]}
    assert [starts[name] for name in ("multicast 1", "multicast 2", "TCP 3")] == ["500 s", "1000 s", "0 s"]


@pytest.mark.parametrize("reading", READINGS, ids=lambda one: one.name)
def test_every_reading_is_a_valid_scenario(reading):
    for scenario in experiments.SCENARIOS:
        experiments.scenario({"scenario": scenario}, reading=reading)


def test_a_reading_adds_to_what_an_experiment_sets():
    reading = next(one for one in READINGS if one.name == "as printed")
    made = by(reading, Setting(queue={"block": 0.0}))
    assert made.queue == {"block": 0.0, "hold": "none"}
    assert by(DEFAULT, Setting()) == Setting()


def test_packets_of_both_kinds_are_of_one_size():
    for setting in (Setting(), Setting(scheme="RLM")):
        scenario = network.line(Setting(scheme=setting.scheme, duration_s=5.0, record={"packets": True}))
        packets = lh.run(scenario, seed=1).packets
        sizes = {int(size) for size in packets["size_bytes"][packets["kind"] == "data"]}
        assert sizes == {network.PACKET}


def test_the_tree_has_twelve_receivers_of_each_session_behind_three_bottlenecks():
    made = network.tree(misbehaves=True).to_dict()
    for group in made["group"]:
        assert sum(len(join["members"]) for join in group["join"]) == 12
    assert len(Tree.BRANCHES) == 3
    wrong = [flow["transport"]["layered"].get("exceptions", []) for flow in made["flow"] if "multicast" in flow["name"]]
    assert [len(one) for one in wrong] == [1, 0]


# Measures


@pytest.mark.parametrize(
    ("scenario", "stage", "tcp", "multicast"),
    # R_Mct/R_Tcp from 1 to 1.2 of 187.5 kB/s.
    [
        (1, 0, (34.7, 37.5), (37.5, 41.7)),
        (2, 0, (55.1, 62.5), (62.5, 66.2)),
        (2, 1, (42.6, 46.9), (46.9, 51.1)),
        (3, 1, (44.6, 46.9), (46.9, 53.6)),
    ],
)
def test_ideal_intervals(scenario, stage, tcp, multicast):
    made = ideal(scenario, stage)
    assert made[TCP] == pytest.approx(tcp, abs=0.05)
    assert made[MULTICAST] == pytest.approx(multicast, abs=0.05)


def test_rates_count_headers():
    assert reductions.wire_kbytes("TCP 1", 960 * 8 / 1000 * 30) == pytest.approx(30.0)
    assert reductions.wire_kbytes("multicast 2", 972 * 8 / 1000 * 30) == pytest.approx(30.0)


def series(seconds, **values):
    """A table of series by the second; each name is NAME__QUANTITY."""
    keys = [name.split("__") for name in values]
    names, quantities = ([key[place] for key in keys] for place in (0, 1))
    rows = len(seconds)
    return Series(
        Table(
            pa.table(
                {
                    "time_s": np.repeat(np.asarray(seconds, dtype=float), len(keys)),
                    "name": coded(np.tile(np.arange(len(keys), dtype=np.int32), rows), names),
                    "quantity": coded(np.tile(np.arange(len(keys), dtype=np.int32), rows), quantities),
                    "value": np.array(list(zip(*values.values(), strict=True)), dtype=float).ravel(),
                }
            )
        )
    )


def test_waste_is_what_is_blocked_and_its_bound_is_a_layer_for_each_session():
    # A session's empty layer of 50 kbit/s is 6.25 packets a second; twice that for a third of the time.
    seconds = np.arange(0.0, 401.0)
    rate = np.where((seconds > 200) & (seconds <= 300), 12.5, 6.25)
    made = series(seconds, **{f"{network.CONTROLLED}__blocked_packets": np.cumsum(rate)})
    kept = reductions._waste(made, ["multicast 1", "TCP 1"])
    assert kept["waste_kbps"] == pytest.approx(50 + 50 / 3, rel=0.01)
    assert kept["waste_over"] == pytest.approx(1 / 3, abs=0.02)
    assert kept["waste_most_kbps"] == pytest.approx(100.0)


def test_receivers_may_differ_after_a_change_and_not_longer():
    layers = np.array([[3] * 20, [3] * 5 + [4] * 15])
    recent = reductions._recent(layers)
    assert recent.tolist() == [False] * 5 + [True] * 6 + [False] * 9
    assert reductions._longest(np.array([False, True, True, False, True])) == 2


def packets(rows):
    """A table of packets of layer 2 of a session, and when its receiver joined."""
    columns = ("time_s", "event", "place", "flow", "connection", "cause", "seq")
    return Table(pa.table({name: [row[n] for row in rows] for n, name in enumerate(columns)}))


class Made:
    """A result of made-up tables."""

    def __init__(self, packets, changes):
        self.packets, self.changes = packets, changes


def test_times_from_release_and_join_to_the_first_packet():
    flow, link = "multicast 1", network.CONTROLLED
    rows = []
    for seq in range(12):
        sent = 10.0 + 0.2 * seq
        rows.append((sent, "sent", "s0", flow, 2, "", seq))
        if seq in (4, 5):
            rows.append((sent + 0.01, "dropped", link, flow, 2, "blocked", seq))
        elif seq >= 2:
            rows.append((sent + 0.3, "received", "d0", flow, 2, "", seq))
    changes = Table(
        pa.table({"time_s": [9.0, 10.25], "flow": [flow] * 2, "variable": ["layers"] * 2, "value": [1.0, 2.0]})
    )
    made = waiting.waits(Made(packets(rows), changes))
    # Packet 5 was blocked at 11.01, packet 6 came at 11.5: the release is taken at 11.11. The join waited for packet 2.
    assert made["release_ms"] == pytest.approx(390.0) and made["releases"] == 1
    assert made["join_ms"] == pytest.approx(450.0) and made["joins"] == 1


def test_the_way_is_put_together_from_links():
    links = ["gateway up", "sky.sat[3]>sky.sat[4]", "sky.sat[14]>sky.sat[3]", "sky.sat[4] down"]
    assert seen._path(links) == ["sky.sat[14]", "sky.sat[3]", "sky.sat[4]"]
    assert seen._path(["gateway up", "sky.sat[4] down"]) == ["sky.sat[4]"]


def test_positions_are_those_of_the_orbits():
    scenario = lh.load(network.text())
    table = scenario.positions(0.0, 600.0)
    satellites = table["kind"] == "satellite"
    assert satellites.sum() == 2 * 66 and (~satellites).sum() == 4
    assert table["altitude_km"][satellites] == pytest.approx(780.0)
    # An orbit of 86.4° reaches that far north and south.
    assert np.abs(table["latitude_deg"][satellites]).max() == pytest.approx(86.4, abs=3)
    assert np.abs(table["longitude_deg"]).max() <= 180
    # In 600 s a satellite turns by 360° · 600/6026.96 around the Earth's centre.
    place = {
        time: np.radians([table[name][(table["node"] == "sky.sat[0]") & (table["time_s"] == time)][0] for name in
                          ("latitude_deg", "longitude_deg")])
        for time in (0.0, 600.0)
    }  # fmt: skip
    (north, east), (later_north, later_east) = place[0.0], place[600.0]
    later_east += 2 * math.pi * 600 / 86_164  # without the Earth's turn
    cosine = math.sin(north) * math.sin(later_north) + math.cos(north) * math.cos(later_north) * math.cos(
        later_east - east
    )
    assert math.degrees(math.acos(cosine)) == pytest.approx(360 * 600 / 6026.96, abs=0.01)


# The model of fairness


def test_the_model_rises_and_ends_below_one():
    course = model(STARTS[0])
    assert STARTS[0] == (80.0, 10.0)
    # From (80, 20.5), where both exceed 100 first, to (75, 10.5).
    assert course.rates[course.decreases[0]] == pytest.approx((75.0, 10.5))
    assert jain(course.rates[0]) == pytest.approx(0.6231, abs=5e-5)
    expected = (0.6373, 0.676, 0.724, 0.771, 0.825, 0.876)
    assert course.at_decreases()[:6] == pytest.approx(expected, abs=6e-4)
    for start in STARTS:
        course = model(start)
        assert course.limit() == pytest.approx(0.969, abs=0.001)
        assert course.rates[-400:].mean(axis=0) == pytest.approx((50.0, 37.3), abs=0.5)


# Judgements, on made-up numbers


def numbers(axes, **values):
    """A grid with these values at all points, a little apart by seed."""
    shape = (*(len(axis) for axis in axes.values()), len(SEEDS))
    spread = np.linspace(-0.001, 0.001, len(SEEDS))
    return Numbers(axes, SEEDS, {name: np.broadcast_to(value * (1 + spread), shape).copy() for name, value in
                                 values.items()})  # fmt: skip


def test_shares_outside_of_their_band_are_not_reproduced():
    axes = {"scenario": (1, 2, 3)}
    values = {}
    for stage in range(3):
        values |= {f"kbytes {MULTICAST}_{stage}": 39.0, f"kbytes {TCP}_{stage}": 36.5, f"jain_{stage}": 0.99}
        values |= {f"utilisation_{stage}": 0.99}
        for session in (1, 2):
            values |= {
                f"layers {MULTICAST} {session}_{stage}": 6.2,
                f"subscribed_sd {MULTICAST} {session}_{stage}": 0.5,
            }
    judge = CLAIM["L1"].judge
    good = judge(Data(DEFAULT.name, {data.SCENARIOS: numbers(axes, **values)}))
    assert good.verdict == REPRODUCED
    for name, wrong, said in (
        (f"kbytes {TCP}_1", 29.0, "TCP from 600"),
        ("jain_2", 0.97, "Jain"),
        (f"subscribed_sd {MULTICAST} 2_0", 1.2, "σ"),
        (f"layers {MULTICAST} 1_0", 7.5, "difference"),
    ):
        bad = judge(Data(DEFAULT.name, {data.SCENARIOS: numbers(axes, **{**values, name: wrong})}))
        assert bad.verdict == NOT_REPRODUCED and said in bad.reason


def test_a_cause_is_said_with_the_default_reading_only():
    axes = {"scenario": (1, 2, 3)}
    grid = numbers(axes, waste_over=0.9, waste_kbps=120.0)
    measured = {name: Data(name, {data.SCENARIOS: grid}) for name in (DEFAULT.name, "other")}
    judged = claims.judge(CLAIM["L17"], DEFAULT.name, measured)
    assert judged.verdict == NOT_REPRODUCED and "cause: " in judged.judgement.reason
    assert "cause: " not in judged.by_variant["other"].reason


# A small run of everything


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("satellite") / "out"
    small = campaign.Plan(
        seeds=1, seeds_more=1, seeds_readings=1, readings=(READINGS[1],), losses_pct=(0.0, 3.0), leaves_s=(0.0, 9.0),
        sessions=(1, 10), adaptations=("none", "slowing down", "backing off", "blocking late"),
    )  # fmt: skip
    with small_campaign("satellite", folder, (campaign, "plan", lambda _mode: small)) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "002_bf07ac353f159157.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"L{n}" for n in range(1, 25)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS and claim["verdict"] != claims.NOT_YET_RUN
        if claim["verdict"] != REPRODUCED:
            assert claim["reason"], claim["id"]
    assert set(document["claims"][0]["by_variant"]) == {READINGS[1].name}


def test_every_figure_of_the_paper_is_there_with_its_data(reproduced):
    of_paper = (3, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    for name in map("figure-{}".format, (*of_paper, "sky", "orbit", "tree", "model", "errors")):
        files = {path.suffix for path in reproduced.figures[name]}
        assert files == {".png", ".svg", ".pdf", ".parquet", ".csv"}
    report = (reproduced.folder / "report.html").read_text(encoding="utf-8")
    assert all(f"L{n}" in report for n in range(1, 25))


def test_the_way_over_an_orbit_is_as_far_as_the_geometry_says(reproduced):
    way = read_table(reproduced.folder / "figure-orbit.parquet")
    # As computed apart: 20.5 to 132 ms one way, 37.7 ms at the median of a day, 1 to 9 links, 3.4 on average; ± 5 %.
    delays, hops = way["one_way_ms"], way["hops"]
    assert delays.min() == pytest.approx(20.5, rel=0.1) and delays.max() == pytest.approx(132, rel=0.05)
    assert np.median(delays) == pytest.approx(37.7, rel=0.05)
    assert (hops.min(), hops.max()) == (1, 9) and hops.mean() == pytest.approx(3.4, rel=0.05)


def test_the_rates_of_the_first_scenario_fill_the_link(reproduced):
    runs = read_table(reproduced.folder / "runs-as-taken-scenarios.parquet")
    first = runs["scenario"] == 1
    total = 2 * runs[f"kbytes {MULTICAST}_0"][first] + 3 * runs[f"kbytes {TCP}_0"][first]
    assert total == pytest.approx(network.CAPACITY_KBPS / 8, rel=0.01)


def test_nothing_of_the_campaign_is_left(reproduced):
    assert not list(reproduced.folder.glob(".unfinished-*"))
