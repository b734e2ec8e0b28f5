"""The study `umts-multicast`: its network, its readings, its measures, and a small run of
everything."""

from __future__ import annotations

import json
import math
import tomllib

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import small_campaign
from lasthop.results import Table, coded, read_table
from lasthop.studies import claims
from lasthop.studies.claims import REPRODUCED
from lasthop.studies.explorer import unique
from lasthop.studies.readings import as_taken, pairs, singles
from lasthop.studies.series import Series
from lasthop.studies.umts_multicast import experiments, measures, network, readings, scenario, study
from lasthop.studies.umts_multicast.data import FAIRNESS, GN, PERMANENT, SEVERAL, TCP_ALONE, TEMPORARY
from lasthop.studies.umts_multicast.judges import CLAIMS
from lasthop.studies.umts_multicast.measures import loss_classification
from lasthop.studies.umts_multicast.network import Flow, Setting
from lasthop.studies.umts_multicast.readings import ALONE, AS_STATED, QUESTIONS, TOUCHES, Taken, losing, part
from lasthop.studies.umts_multicast.readings import taken as taken_in
from lasthop.studies.umts_multicast.scenario import MIXED

READINGS = [as_taken(), *singles(QUESTIONS)]


# The network


def test_the_network_is_that_of_table_1():
    data = network.data(Setting(observed=[Flow("mod_tfmcc", range(10))], duration_s=1.0))
    names = [link["name"] for link in data["link"]]
    assert sum(name.startswith("gn") for name in names) == 3
    assert sum(name.startswith("iu") for name in names) == 20
    assert len(data["mbms"]) == 80 and sum(one["ues"] for one in data["mbms"]) == 500
    below = [sum(link["between"][0] == f"sgsn{n}" for link in data["link"]) for n in range(3)]
    assert below == [7, 7, 6]
    assert all(sum(one["rnc"] == f"rnc{n}" for one in data["mbms"]) == 4 for n in range(20))
    kinds = [flow["from"].rstrip("0123456789") for flow in data["flow"]]
    assert [kinds.count(kind) for kind in ("tfmcc_server", "pgmcc_server", "tcp_server")] == [5, 5, 50]
    assert len({flow["from"] for flow in data["flow"]}) == 60
    members = [ue for group in data["group"] for ue in group["members"]]
    taken = [flow["to"] for flow in data["flow"] if not flow["to"].startswith("group")]
    assert len(members) == len(set(members)) == 100 and not set(taken) & set(members)


def test_the_background_stays_away_from_the_bottleneck():
    data = network.data(
        Setting(observed=[Flow("mod_tfmcc", [0]), Flow("mod_pgmcc", [0]), Flow("tcp", [0])], duration_s=1.0)
    )
    assert len(data["flow"]) == 60
    near = {one["name"] for one in data["mbms"] if int(one["rnc"].removeprefix("rnc")) < 7}
    others = [ue for group in data["group"][2:] for ue in group["members"]]
    others += [flow["to"] for flow in data["flow"] if flow["from"].startswith("tcp") and flow["name"] != "tcp2"]
    assert not [ue for ue in others if ue.split(".")[0] in near]


def test_legacy_networks_have_no_bit():
    legacy = network.data(Setting(observed=[Flow("leg_pgmcc", range(3))], duration_s=1.0))
    assert all("loss_indication" not in one and "retransmission" not in one for one in legacy["mbms"])
    classifiers = {
        of["classifier"] for flow in legacy["flow"] for name, of in flow["transport"].items() if name != "tcp"
    }
    assert classifiers == {"all"}


# Readings


@pytest.mark.parametrize("reading", READINGS, ids=lambda one: one.name)
def test_every_reading_is_a_valid_scenario(reading):
    taken = taken_in(reading)
    for scheme in ("mod_tfmcc", "leg_pgmcc", "tcp"):
        scenario.temporary({"scheme": scheme, "ues": 3}, taken=taken)
    scenario.permanent({"scheme": "mod_pgmcc"}, taken=taken)
    scenario.fairness({"where": "bearer", "flows": MIXED}, taken=taken)


def test_no_pair_of_answers_contradicts_itself():
    for reading in pairs(QUESTIONS, [question.name for question in QUESTIONS]):
        scenario.temporary({"scheme": "mod_tfmcc", "ues": 3}, taken=taken_in(reading))
    named = {reading.name for reading in pairs(QUESTIONS, [question.name for question in QUESTIONS])}
    # A chain of bursts has no clean start; with one attempt a share of packets is one of attempts.
    assert "clean start + bursts" not in named and "one attempt + of attempts" not in named
    assert "two minutes + C = 0.6" in named


def test_the_defaults_are_those_of_the_scenarios():
    assert taken_in(as_taken()) == AS_STATED == Taken()
    assert all(not question.default.changes for question in QUESTIONS)
    assert set(TOUCHES) == {question.name for question in QUESTIONS}


def test_what_an_answer_does_not_touch_is_not_run_again():
    plan = experiments.plan("full")
    rate, constant = (next(one for one in READINGS if one.name == name) for name in ("192 kbit/s", "C = 0.6"))
    first, with_rate = (unique([experiments.grids(one, plan)]).keys() for one in (as_taken(), rate))
    more = with_rate - first
    assert more == {f"192 kbit/s: {name}" for name in (TEMPORARY, TCP_ALONE, PERMANENT, SEVERAL)}
    both = next(one for one in pairs(QUESTIONS, [*rate.chosen, *constant.chosen]))
    # PGMCC's constant says nothing to TCP.
    assert part(both, (readings.UNICAST,)).name == "192 kbit/s"
    assert part(both, (readings.STEP,)).name == "C = 0.6"


def test_a_packet_is_lost_if_one_of_its_pdus_is():
    p = losing(0.05, Taken(bearer="um"))
    assert 1 - (1 - p) ** 26 == pytest.approx(0.05)
    assert losing(0.05, AS_STATED) == 0.05


def test_bursts_leave_as_much_lost_as_the_range_on_average():
    # Two attempts back to back of the same chain: the second is lost after the first with 1 − r.
    of = scenario._bursts(Taken(burst=4.0))
    p, r = of["good_to_bad"], of["bad_to_good"]
    assert p / (p + r) * (1 - r) == pytest.approx(0.025)


def test_a_share_of_attempts_leaves_its_square():
    """20 % of two attempts leave 4 % of the packets lost, of packets 20 %."""
    shares = {}
    for remains in (True, False):
        taken = Taken(remains=remains, background=False, requests=False)
        result = lh.run(scenario.permanent({"scheme": "cbr"}, taken=taken, series="50 s"), seed=1)
        drops, flows = result.drops, result.flows
        radio = sum(n for n, cause in zip(drops["packets"], drops["cause"], strict=True) if cause == "radio")
        carried = radio + float(flows["received_packets"][0]) - 50 * 384e3 / 8e3
        shares[remains] = radio / carried
    assert shares[True] == pytest.approx(0.2, rel=0.1)
    assert shares[False] == pytest.approx(0.04, rel=0.2)


def test_the_background_does_not_touch_the_observed_bearers():
    """A TCP flow has a bearer and a server of its own, and no random draw: with Table I or without, it gets the
    same."""
    made = [
        measures.temporary(lh.run(scenario.temporary({"scheme": "tcp", "ues": 3}, taken=taken), seed=1))
        for taken in (AS_STATED, ALONE)
    ]
    assert made[0]["kbps"] == pytest.approx(made[1]["kbps"], rel=0.01)


def test_nothing_is_dropped_on_the_wires_of_5_3():
    drops = lh.run(scenario.temporary({"scheme": "mod_tfmcc", "ues": 3}), seed=1).drops
    places = {str(place) for place in drops["place"]}
    assert places and all(".ue[" in place for place in places)


# Measures


TIMES = np.arange(1, 1001) / 10


def test_adaptation_ends_when_the_second_stays_near_its_new_mean():
    # 400 until 50 s, then down to 200 in one step: after 0.8 s eight of ten samples are 200, so the mean is 240.
    step = np.where(TIMES <= 50, 400.0, 200.0)
    assert measures.adaptation(TIMES, step, 50.0, 100.0) == pytest.approx(0.8)
    # Three seconds late.
    assert measures.adaptation(TIMES, np.where(TIMES <= 53, 400.0, 200.0), 50.0, 100.0) == pytest.approx(3.8)
    # What swings by more than a fifth from second to second never adapts.
    swings = np.where((TIMES // 1.0) % 2 == 0, 100.0, 300.0)
    assert math.isnan(measures.adaptation(TIMES, swings, 50.0, 100.0))


def test_the_sliding_mean_looks_back_one_second():
    values = np.zeros(30)
    values[9] = 10.0
    made = measures.sliding(TIMES[:30], values)
    assert made[8] == 0 and made[9] == pytest.approx(1.0) and made[18] == pytest.approx(1.0) and made[19] == 0


def series(**values):
    """A table of one name, at whole seconds."""
    names = list(values)
    n = len(next(iter(values.values())))
    return Series(
        Table(
            pa.table(
                {
                    "time_s": np.repeat(np.arange(1.0, n + 1), len(names)),
                    "name": coded(np.zeros(n * len(names), dtype=np.int32), ["observed0"]),
                    "quantity": coded(np.tile(np.arange(len(names), dtype=np.int32), n), names),
                    "value": np.array(list(zip(*values.values(), strict=True)), dtype=float).ravel(),
                }
            )
        )
    )


def test_a_cut_is_a_smaller_window_or_a_lower_rate():
    windows = series(window_cuts=[0, 1, 1, 1, 2], timeouts=[0, 0, 0, 1, 1])
    assert measures._first_cut(windows, "observed0", "pgmcc", 2.0) == 2.0
    rates = series(rate_bps=[500, 400, 350, 330, 310])
    assert measures._first_cut(rates, "observed0", "tfmcc", 2.0) == 3.0


def test_a_coefficient_of_variation():
    assert measures.cov(np.array([1.0, 3.0])) == pytest.approx(0.5)
    assert math.isnan(measures.cov(np.zeros(3)))


def test_a_bearer_carries_no_more_than_its_rate():
    """What TCP hands on in order comes in bursts; what the bearer carries does not."""
    rows = measures.permanent_rows(lh.run(scenario.permanent({"scheme": "tcp"}, taken=ALONE), seed=1))
    most = {name: float(rows["kbps"][rows["flow"] == name].max()) for name in ("carried", "received")}
    # A second holds 48 packets of 1000 B, or one more that ends in it.
    assert most["carried"] <= 384 * 49 / 48 < most["received"]


def test_the_gn_is_evidence_of_its_own():
    made = experiments.grids(as_taken(), experiments.plan("full"))
    iu, gn = made[FAIRNESS], made[GN]
    assert not set(iu.seeds) & set(gn.seeds)
    point = {"where": "gn", "flows": "mod_tfmcc+mod_tfmcc"}
    members = tomllib.loads(scenario.fairness(point, taken=ALONE).text)["group"][0]["members"]
    below_first = {network.rnc(int(one.split(".")[0].removeprefix("nb"))) for one in members} & set(range(7))
    assert below_first == {0, 1}


# What the bit tells, packet by packet


NONE = np.zeros(0, dtype=int)


@pytest.mark.parametrize(
    ("rule", "upstream", "fifo", "air", "blamed"),
    [
        ("edge", [3], [], [], [3]),
        ("edge", [], [3, 4], [], [3, 4]),
        ("edge", [], [], [3], []),
        # The marked packet is lost: the run is put down to the radio.
        ("edge", [3], [], [4], []),
        ("edge 2", [3], [], [4], [3, 4]),
        # A radio loss before a run of the wires is blamed with it.
        ("edge", [4], [], [3], [3, 4]),
        ("toggle", [3], [], [4], [3, 4]),
        # Two runs in one gap: the bit is back where it was.
        ("toggle", [3, 5], [], [4], []),
        ("resend", [3], [], [], []),
    ],
)
def test_a_terminal_concludes_by_the_rule(rule, upstream, fifo, air, blamed):
    places = [np.array(one, dtype=int) for one in (upstream, fifo, air)]
    missing, verdict = loss_classification.verdicts(10, *places, rule)
    assert missing.tolist() == sorted(upstream + fifo + air)
    assert missing[verdict].tolist() == blamed


@pytest.mark.parametrize("rule", scenario.CASES["rule"])
def test_terminals_count_what_the_packets_say(rule):
    made = loss_classification.counts(
        lh.run(scenario.indication({"rule": rule, "radio": 0.05}, duration_s=60.0), seed=1)
    )
    assert made["congestion_losses"] > 50 and made["radio_losses"] > 200
    # A gap that the end of the run leaves unconfirmed is not counted yet.
    assert made["own_off"] <= 10


# A small run of everything


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("umts-multicast") / "out"
    few = experiments.Amount(1, 2, 2, 2, (1, 3))
    small = experiments.Plan(few, few, few, told_s=30.0, seeds_told=1, seeds_reports=1, crowded=False)
    shorter = ((owner, "FAIRNESS_S", 60.0) for owner in (scenario, measures))
    kept = [one for one in QUESTIONS if one.name in ("packet-loss indication", "PGMCC's constant C")]
    changes = [(experiments, "plan", lambda _mode: small), *shorter, (study, "QUESTIONS", kept)]
    with small_campaign("umts-multicast", folder, *changes) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "000_207f3ec0e8640f96.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"M{n}" for n in range(1, 23)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        if claim["verdict"] != REPRODUCED:
            assert claim["reason"], claim["id"]


def test_figures_and_tables_are_there(reproduced):
    figures = {
        "figure-2",
        "figure-3a",
        "figure-3b",
        "figure-4",
        "figure-5",
        "figure-6",
        "figure-tree",
        "figure-representative",
    }
    assert figures == set(reproduced.figures)
    tables = {claim.see for claim in CLAIMS if claim.see.startswith("table")}
    assert tables | {"table-1", "table-2", "table-readings", "table-changes", "table-expulsion"} <= set(
        reproduced.tables
    )
    for paths in (*reproduced.figures.values(), *reproduced.tables.values()):
        assert all(path.stat().st_size > 0 for path in paths)
    page = reproduced.report.read_text()
    for claim in CLAIMS:
        assert f'id="{claim.id}"' in page


def test_a_terminal_that_stays_bad_is_expelled_and_one_that_recovers_is_not(reproduced):
    rows = read_table(reproduced.folder / "table-expulsion.parquet").rows()
    expel = {(row["scheme"], row["degraded"], row["expels"]): row["runs that expel"] for row in rows}
    assert len(expel) == 8
    for (scheme, degraded, expels), runs in expel.items():
        expected = scheme == "MOD_TFMCC" and degraded == "for good" and expels == "yes"
        assert runs == ("2 of 2" if expected else "0 of 2"), (scheme, degraded, expels)


def test_copies_are_counted(reproduced):
    links = read_table(reproduced.folder / "figure-tree.parquet")["link"]
    # Of a packet to 100 terminals behind 3 SGSNs, 20 RNCs and 80 Node Bs.
    assert [int(np.sum(links == kind)) for kind in ("Gn", "Iu", "Iub", "radio")] == [3, 20, 80, 100]
