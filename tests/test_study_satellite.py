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
from lasthop.studies.claims import REPRODUCED
from lasthop.studies.explorer import unique
from lasthop.studies.grid import Numbers
from lasthop.studies.readings import AS_TAKEN, Reading, as_taken, singles
from lasthop.studies.satellite import data, experiments, measures, network, scenario, study
from lasthop.studies.satellite.judges.scenarios import ideal
from lasthop.studies.satellite.measures import overflow, waiting
from lasthop.studies.satellite.network import MULTICAST, TCP, Setting, Tree
from lasthop.studies.satellite.paper.model import STARTS, inelastic, model
from lasthop.studies.satellite.readings import QUESTIONS, taken
from lasthop.studies.satellite.single_runs import sky
from lasthop.studies.series import Series, jain

READINGS = {reading.name: reading for reading in [as_taken(), *singles(QUESTIONS)]}


# The network


def test_the_scenario_file_is_the_first_scenario():
    written, made = (lh.load(network.text()).to_dict(), scenario.scenario({"scenario": 1}, Setting()).to_dict())
    for key in ("constellation", "duration"):
        assert written[key] == made[key]
    assert [flow["transport"] for flow in written["flow"]] == [flow["transport"] for flow in made["flow"]]
    late = scenario.scenario({"scenario": 3}, Setting()).to_dict()
    starts = {flow["name"]: flow["start"] for flow in late["flow"]}
    assert [starts[name] for name in ("multicast 1", "multicast 2", "TCP 3")] == ["500 s", "1000 s", "0 s"]


@pytest.mark.parametrize("name", READINGS)
def test_every_reading_is_a_valid_scenario_and_another_than_the_default(name):
    made = taken(READINGS[name])
    point = {"scenario": 1}
    texts = {
        scenario.scenario(point, made).text + scenario.rlm(point, made).text,
        scenario.scenario(point, Setting()).text + scenario.rlm(point, Setting()).text,
    }
    assert len(texts) == (1 if name == AS_TAKEN else 2)


def test_the_study_says_what_the_paper_leaves_open_and_does_not_hang_on_defaults_of_the_simulator():
    [sky] = scenario.scenario({"scenario": 1}, Setting()).to_dict()["constellation"]
    control = sky["terminal"][0]["queue"]["queue_phase"]
    assert (control["hold"], control["rate_window"]) == ("observe", "2 s")


def test_a_setting_keeps_what_is_not_named():
    made = taken(READINGS["as printed"]).but(queue={"block": 0.0}, delay_ms=5.0)
    assert made.queue == {"hold": "none", "block": 0.0}
    assert (made.delay_ms, made.tcp) == (5.0, Setting().tcp)


def test_a_part_has_its_runs_in_common_with_readings_that_do_not_touch_it():
    rlm = next(part for part in experiments.parts(experiments.plan("full")) if part.name == data.RLM)
    both = Reading({**READINGS["as printed"].chosen, **READINGS["RLM of its paper"].chosen})
    assert experiments.source(READINGS["as printed"], rlm).name == AS_TAKEN
    assert experiments.source(both, rlm).name == "RLM of its paper"
    grids = unique(experiments.grids(one, experiments.plan("full")) for one in (as_taken(), READINGS["as printed"]))
    assert f"{AS_TAKEN}: {data.RLM}" in grids and f"as printed: {data.RLM}" not in grids
    assert f"as printed: {data.SCENARIOS}" in grids


def test_readings_are_compared_over_the_seeds_that_they_share():
    plan = experiments.plan("full")
    made = unique(experiments.grids(one, plan) for one in (as_taken(), READINGS["as printed"]))
    assert len(made[f"{AS_TAKEN}: {data.RLM}"].seeds) == plan.seeds
    assert len(made[f"as printed: {data.SCENARIOS}"].seeds) == plan.seeds_others
    numbers = Numbers({"scenario": (1,)}, (1, 2, 3), {"x": np.array([[1.0, 2.0, 3.0]])})
    assert numbers.first(2).at("x").tolist() == [1.0, 2.0]


def test_packets_of_both_kinds_are_of_one_size():
    for scheme in ("queue phase", "RLM"):
        scenario = network.line(Setting(scheme=scheme, duration_s=5.0, record={"packets": True}))
        packets = lh.run(scenario, seed=1).packets
        sizes = {int(size) for size in packets["size_bytes"][packets["kind"] == "data"]}
        assert sizes == {network.PACKET}


def test_the_tree_has_twelve_receivers_of_each_session_behind_three_bottlenecks():
    made = network.tree(Setting(), misbehaves=True).to_dict()
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
    assert measures.wire_kbytes("TCP 1", 960 * 8 / 1000 * 30) == pytest.approx(30.0)
    assert measures.wire_kbytes("multicast 2", 972 * 8 / 1000 * 30) == pytest.approx(30.0)


def series(seconds, *, keep=False, **values):
    """Series by the second, or their table; each name is NAME__QUANTITY."""
    keys = [name.split("__") for name in values]
    names, quantities = ([key[place] for key in keys] for place in (0, 1))
    rows = len(seconds)
    table = Table(
        pa.table(
            {
                "time_s": np.repeat(np.asarray(seconds, dtype=float), len(keys)),
                "name": coded(np.tile(np.arange(len(keys), dtype=np.int32), rows), names),
                "quantity": coded(np.tile(np.arange(len(keys), dtype=np.int32), rows), quantities),
                "value": np.array(list(zip(*values.values(), strict=True)), dtype=float).ravel(),
            }
        )
    )
    return table if keep else Series(table)


def test_waste_is_what_is_blocked_and_its_bound_is_a_layer_for_each_session():
    # A session's empty layer of 50 kbit/s is 6.25 packets a second; twice that for a third of the time.
    seconds = np.arange(0.0, 401.0)
    rate = np.where((seconds > 200) & (seconds <= 300), 12.5, 6.25)
    made = series(seconds, **{f"{network.CONTROLLED}__blocked_packets": np.cumsum(rate)})
    kept = measures._waste(made, ["multicast 1", "TCP 1"])
    assert kept["waste_kbps"] == pytest.approx(50 + 50 / 3, rel=0.01)
    assert kept["waste_over"] == pytest.approx(1 / 3, abs=0.02)
    assert kept["waste_most_kbps"] == pytest.approx(100.0)


def test_waste_is_held_against_what_a_layer_for_each_session_sends():
    # Two sessions: two layers of 6.25 packets a second, a third one for a quarter of the time.
    seconds = np.arange(0.0, 601.0)
    rate = np.where((seconds > 100) & (seconds <= 200), 18.75, 12.5)
    made = series(seconds, **{f"{network.CONTROLLED}__blocked_packets": np.cumsum(rate)})
    starts = {"multicast 1": 0.0, "multicast 2": 0.0, "TCP 1": 0.0}
    kept = measures._waste_of_sent(made, starts, 600.0)
    assert kept["waste_of_bound"] == pytest.approx(1 + 0.5 / 4, abs=0.01)
    assert kept["waste_beyond"] == pytest.approx(1 / 4, abs=0.03)
    # Gaps that are uniform within ±50 % of their mean have σ = 0.5/√3 of it; so many of them add up to √n of that.
    assert pytest.approx(0.5 / math.sqrt(3) * math.sqrt(62.5)) == measures.LAYER_SD


def test_changes_of_layers_are_counted_for_each_session_and_hour_of_the_stages():
    seconds = np.arange(0.0, 501.0)
    made = series(
        seconds,
        **{
            f"{network.CONTROLLED}__phase": np.full(501, 2.0),
            # Ten changes in the first 100 s do not count; then one in 10 s.
            f"{network.CONTROLLED}__releases": np.minimum(seconds, 100.0) / 10 + np.maximum(seconds - 100, 0) / 10,
            f"{network.CONTROLLED}__blocks": np.zeros(501),
            "multicast 1 at d0__layers": np.full(501, 6.0),
            "multicast 2 at d1__layers": np.full(501, 6.0),
        },
    )
    starts = {"multicast 1": 0.0, "multicast 2": 0.0}
    receivers = {"multicast 1": ["multicast 1 at d0"], "multicast 2": ["multicast 2 at d1"]}
    kept = measures._changes(made, starts, receivers, 500.0)
    assert kept["changes_per_session_h"] == pytest.approx(360 / 2)


def test_receivers_may_differ_after_a_change_and_not_longer():
    layers = np.array([[3] * 20, [3] * 5 + [4] * 15])
    recent = measures._recent(layers)
    assert recent.tolist() == [False] * 5 + [True] * 6 + [False] * 9
    assert measures._longest(np.array([False, True, True, False, True])) == 2


def packets(rows):
    """A table of packets of layer 2 of a session."""
    columns = ("time_s", "event", "place", "flow", "connection", "cause", "seq")
    return Table(pa.table({name: [row[n] for row in rows] for n, name in enumerate(columns)}))


class Made:
    """A result of made-up tables."""

    def __init__(self, **tables):
        self.__dict__.update(tables)


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
    made = waiting.waits(Made(packets=packets(rows), changes=changes))
    # Packet 5 was blocked at 11.01, packet 6 came at 11.5: the release is taken at 11.11, half a gap before packet 6
    # comes to the gateway. The join waited for packet 2, which is there at 10.41.
    assert made["release_ms"] == pytest.approx(390.0) and made["releases"] == 1
    assert made["release_ms_at_gateway"] == pytest.approx(100.0)
    assert made["join_ms"] == pytest.approx(450.0) and made["joins"] == 1
    assert made["join_ms_at_gateway"] == pytest.approx(160.0)


def test_a_stay_after_an_overflow_runs_from_its_first_drop():
    # Phase 3 from 101 to 103 s with drops at 101.5 and 102, and at 105 without one; a drop at 50 s is too early.
    times = np.arange(0.0, 110.0, 0.5)
    phase = np.where(((times >= 101) & (times < 103)) | ((times >= 105) & (times < 106)), 3.0, 2.0)
    made = series(times, **{f"{network.CONTROLLED}__phase": phase}, keep=True)
    drops = Table(
        pa.table({"time_s": [50.0, 101.5, 102.0], "place": [network.CONTROLLED] * 3, "cause": ["overflow"] * 3})
    )
    flows = Table(pa.table({"flow": ["TCP 1", "multicast 1"], "rtt_ms_p50": [300.0, float("nan")]}))
    kept = overflow.stays(Made(series=made, packets=drops, flows=flows))
    assert kept == pytest.approx({"after_overflow_ms": 1500.0, "overflows": 1.0, "tcp_rtt_ms": 300.0})


def test_the_way_is_put_together_from_links():
    links = ["gateway up", "sky.sat[3]>sky.sat[4]", "sky.sat[14]>sky.sat[3]", "sky.sat[4] down"]
    assert sky._path(links) == ["sky.sat[14]", "sky.sat[3]", "sky.sat[4]"]
    assert sky._path(["gateway up", "sky.sat[4] down"]) == ["sky.sat[4]"]


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


def test_the_model_rises_at_first_and_ends_below_one():
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
        # TCP's sawtooth between half of multicast's 50 and all of it has the mean 3/4 of 50.
        assert course.means() == pytest.approx((50.0, 37.5), abs=0.1)
        assert course.rising() < 0.05
    assert model(STARTS[0], rule=inelastic).rates[:, 0] == pytest.approx(80.0)


# A small run of everything


#: A question of the control, and one of RLM.
SOME = [question for question in QUESTIONS if question.name in ("over how long rates are counted", "which RLM")]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("satellite") / "out"
    small = experiments.Plan(
        seeds=2, seeds_others=2, singles=experiments.ALL, losses_pct=(0.0, 3.0),
        leaves_s=(0.0, 9.0), sessions=(1, 10),
    )  # fmt: skip
    changes = ((experiments, "plan", lambda _mode: small), (study, "QUESTIONS", SOME))
    with small_campaign("satellite", folder, *changes) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "002_bf07ac353f159157.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"L{n}" for n in range(1, 25)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        assert claim["conditions"], claim["id"]
        if claim["verdict"] != REPRODUCED:
            assert claim["reason"], claim["id"]
        # No null model passes, and where it could be run it was.
        assert claim["null"]["state"] in ("fails", "open"), claim["id"]
    assert {"rates over 0.5 s", "rates over 5 s", "RLM of its paper"} <= set(document["claims"][9]["readings"])


def test_every_figure_of_the_paper_is_there_with_its_data(reproduced):
    of_paper = (3, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    for name in map("figure-{}".format, (*of_paper, "sky", "orbit", "tree", "model", "errors")):
        files = {path.suffix for path in reproduced.figures[name]}
        assert files == {".png", ".svg", ".pdf", ".parquet", ".csv"}
    report = (reproduced.folder / "report.html").read_text(encoding="utf-8")
    assert all(f"L{n}" in report for n in range(1, 25))


def test_the_papers_rates_stand_where_sessions_send(reproduced):
    """In scenario 3 there is no multicast in the first third."""
    for figure, thirds in {"figure-9": [1000.0, 1500.0], "figure-10": [500.0, 1000.0, 1500.0]}.items():
        drawn = read_table(reproduced.folder / f"{figure}.parquet")
        assert drawn["time_s"][drawn["name"] == "paper"].tolist() == thirds


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
