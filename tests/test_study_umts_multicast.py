"""The study `umts-multicast`: its network, its measures, its judgements on made-up numbers, and a small run of
everything."""

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
from lasthop.studies.claims import NOT_REPRODUCED, NOT_YET_RUN, REPRODUCED
from lasthop.studies.grid import Numbers
from lasthop.studies.series import Series
from lasthop.studies.umts_multicast import campaign, cost, experiments, network, reductions, telling
from lasthop.studies.umts_multicast.data import (
    FAIRNESS,
    INDICATION,
    PERMANENT,
    REPORTS,
    SCALING,
    SEVERAL,
    STEPS,
    TCP,
    TEMPORARY,
    Data,
)
from lasthop.studies.umts_multicast.experiments import SIZES
from lasthop.studies.umts_multicast.fairness import MIXED, PAIRS, PLACES
from lasthop.studies.umts_multicast.judgements import CLAIMS
from lasthop.studies.umts_multicast.network import Flow, Setting
from lasthop.studies.umts_multicast.paper import TABLE_II
from lasthop.studies.umts_multicast.readings import ALONE, DEFAULT, READINGS, losing
from lasthop.studies.umts_multicast.temporary import LEGACY, MODIFIED

CLAIM = {claim.id: claim for claim in CLAIMS}
SEEDS = tuple(range(1, 9))

#: What does not differ from seed to seed: shares of all, and state.
EXACT = ("degraded_share", "before_kbps", *reductions.COSTS)


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


@pytest.mark.parametrize("reading", READINGS, ids=lambda one: one.name)
def test_every_reading_is_a_valid_scenario(reading):
    for scheme in ("mod_tfmcc", "leg_pgmcc", "tcp"):
        experiments.temporary({"scheme": scheme, "ues": 3}, reading=reading)
    if not reading.burst:
        experiments.permanent({"scheme": "mod_pgmcc"}, reading=reading)


def test_a_packet_is_lost_if_one_of_its_pdus_is():
    um = next(one for one in READINGS if one.rlc == "um")
    p = losing(0.05, um)
    assert 1 - (1 - p) ** 26 == pytest.approx(0.05)
    assert losing(0.05, DEFAULT) == 0.05


def test_bursts_leave_as_much_lost_as_the_range_on_average():
    # Two attempts back to back of the same chain: the second is lost after the first with 1 − r.
    of = experiments._bursts(next(one for one in READINGS if one.burst))
    p, r = of["good_to_bad"], of["bad_to_good"]
    assert p / (p + r) * (1 - r) == pytest.approx(0.025)


def test_the_background_does_not_touch_the_observed_bearers():
    """A TCP flow has a bearer and a server of its own, and no random draw: with Table I or without, it gets the
    same."""
    made = [
        reductions.temporary(lh.run(experiments.temporary({"scheme": "tcp", "ues": 3}, reading=reading), seed=1))
        for reading in (DEFAULT, ALONE)
    ]
    assert made[0]["kbps"] == pytest.approx(made[1]["kbps"], rel=0.01)


def test_nothing_is_dropped_on_the_wires_of_5_3():
    drops = lh.run(experiments.temporary({"scheme": "mod_tfmcc", "ues": 3}), seed=1).drops
    places = {str(place) for place in drops["place"]}
    assert places and all(".ue[" in place for place in places)


# Measures


TIMES = np.arange(1, 1001) / 10


def test_adaptation_ends_when_the_second_stays_near_its_new_mean():
    # 400 until 50 s, then down to 200 in one step: after 0.8 s eight of ten samples are 200, so the mean is 240.
    step = np.where(TIMES <= 50, 400.0, 200.0)
    assert reductions.adaptation(TIMES, step, 50.0, 100.0) == pytest.approx(0.8)
    # Three seconds late.
    assert reductions.adaptation(TIMES, np.where(TIMES <= 53, 400.0, 200.0), 50.0, 100.0) == pytest.approx(3.8)
    # What swings by more than a fifth from second to second never adapts.
    swings = np.where((TIMES // 1.0) % 2 == 0, 100.0, 300.0)
    assert math.isnan(reductions.adaptation(TIMES, swings, 50.0, 100.0))


def test_the_sliding_mean_looks_back_one_second():
    values = np.zeros(30)
    values[9] = 10.0
    made = reductions.sliding(TIMES[:30], values)
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
    assert reductions._first_cut(windows, "observed0", "pgmcc", 2.0) == 2.0
    rates = series(rate_bps=[500, 400, 350, 330, 310])
    assert reductions._first_cut(rates, "observed0", "tfmcc", 2.0) == 3.0


def test_a_coefficient_of_variation():
    assert reductions.cov(np.array([1.0, 3.0])) == pytest.approx(0.5)
    assert math.isnan(reductions.cov(np.zeros(3)))


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
    missing, verdict = telling.verdicts(10, *places, rule)
    assert missing.tolist() == sorted(upstream + fifo + air)
    assert missing[verdict].tolist() == blamed


@pytest.mark.parametrize("rule", telling.CASES["rule"])
def test_terminals_count_what_the_packets_say(rule):
    made = telling.counts(lh.run(experiments.indication({"rule": rule, "radio": 0.05}, duration_s=60.0), seed=1))
    assert made["congestion_losses"] > 50 and made["radio_losses"] > 200
    # A gap that the end of the run leaves unconfirmed is not counted yet.
    assert made["own_off"] <= 10


# Judgements, on numbers as the paper has them


def numbers(axes, of):
    """A grid in which a point has these numbers, one per cent different from seed to seed."""
    draws = np.random.default_rng(1)
    points = list(Numbers(axes, (0,), {}).points())
    columns = {}
    for point in points:
        for name, value in of(**point).items():
            columns.setdefault(name, []).append(
                list(value * (1 + (0 if name in EXACT else 0.01) * draws.standard_normal(len(SEEDS))))
            )
    shape = [len(values) for values in axes.values()] + [len(SEEDS)]
    return Numbers(axes, SEEDS, {name: np.array(rows, dtype=float).reshape(shape) for name, rows in columns.items()})


def of_fairness(flows, **_):
    mixed = flows == MIXED
    made = {"kbps_0": 178.0 if mixed else 296.0, "kbps_1": 188.0 if mixed else 300.0, "kbps_2": 200.0}
    return {**made, "cov_0": 0.1, "cov_1": 0.2, "cov_2": 0.3, "least_of_most": 0.986}


def of_steps(**_):
    made = {}
    for protocol, time in (("tcp", 1.2), ("pgmcc", 1.6), ("tfmcc", 2.0)):
        for stage in range(3):
            made[f"kbps_{protocol}_{stage}"] = 300.0 / (stage + 1)
            made[f"cov_{protocol}_{stage}"] = {"tcp": 0.3, "pgmcc": 0.25, "tfmcc": 0.1}[protocol]
            made[f"adaptation_{protocol}_{stage}"] = time
            made[f"adaptation_at_ue_{protocol}_{stage}"] = time
    return made


def of_temporary(scheme, ues):
    changes = {"mod": 1.0, "leg": 20.0}[scheme[:3]]
    counted = dict.fromkeys(reductions.COSTS, 2.0)
    return {"kbps": 250 * TABLE_II[scheme][SIZES.index(ues)], "changes_per_minute": changes, **counted}


def of_permanent(scheme, **_):
    adapts = {"mod_tfmcc": 6.0, "mod_pgmcc": 5.0}.get(scheme, 1.5)
    return {
        "before_kbps": 384.0,
        "after_kbps": 200.0,
        "sent_after_kbps": 250.0,
        "adaptation_s": adapts,
        "slower_s": adapts,
        "adaptation_at_ue_s": 1.0,
        "first_rejection_s": 3.5,
        "first_cut_s": 0.9 if scheme == "tcp" else 4.0,
        "degraded_share": 1.0,
    }


def of_scaling(scheme, queue, rate):
    return {**of_permanent(scheme), "adaptation_s": 2 + queue / 25 + 384 / rate}


def of_telling(rule, radio):
    missed, blamed = telling.EXPECTED.get((rule, radio), (100.0, 0.0))
    return {
        "congestion_losses": 1e5,
        "radio_losses": 1e5,
        "missed": 1e3 * missed,
        "blamed": 1e3 * blamed,
        "own_off": 0.0,
    }


def of_reports(ues, **_):
    return {
        "reports_per_round": cost.GROUPS[ues - 1],
        "naks": 3.0,
        "lost_packets": 2.0,
        **dict.fromkeys(reductions.COSTS, 2.0),
    }


AXES = {
    FAIRNESS: {"where": tuple(PLACES), "flows": (*PAIRS, MIXED)},
    STEPS: {"step": ("loss", "delay")},
    TEMPORARY: {"scheme": (*MODIFIED, *LEGACY), "ues": SIZES},
    TCP: {"scheme": ("tcp",), "ues": (10,)},
    PERMANENT: {"scheme": (*MODIFIED, "tcp")},
    SEVERAL: {"scheme": MODIFIED, "degraded": (3,)},
    SCALING: {"scheme": MODIFIED, "queue": (25, 50), "rate": (384, 192)},
    INDICATION: telling.CASES,
    REPORTS: {"scheme": (*MODIFIED, *LEGACY), "ues": tuple(n + 1 for n in cost.GROUPS)},
}
OF = {
    FAIRNESS: of_fairness,
    STEPS: of_steps,
    TEMPORARY: of_temporary,
    PERMANENT: of_permanent,
    SEVERAL: of_permanent,
    SCALING: of_scaling,
    INDICATION: of_telling,
    REPORTS: of_reports,
    TCP: lambda **_: {f"kbps_{n}": 250.0 for n in range(experiments.TCP_FLOWS)},
}


def paper(**changed):
    """The runs of a study in which everything is as the paper says, but for what is given."""
    of = {**OF, **{name.replace("_", " "): one for name, one in changed.items()}}
    return Data("made up", {name: numbers(axes, of[name]) for name, axes in AXES.items()})


def test_the_paper_reproduces_itself():
    data = paper()
    for claim in CLAIMS:
        judgement = claim.judge(data)
        assert judgement.verdict == REPRODUCED, (claim.id, judgement.reason)
        assert judgement.ours != "–", claim.id


def but(of, **factors):
    """Like ``of``, with some numbers multiplied where ``when`` holds."""
    when = factors.pop("when", lambda **_: True)

    def made(**point):
        found = of(**point)
        return found | ({name: found[name] * by for name, by in factors.items()} if when(**point) else {})

    return made


#: For each claim numbers that speak against it.
AGAINST = {
    "M1": {"fairness": but(of_fairness, least_of_most=0.8, when=lambda flows, **_: flows == PAIRS[0])},
    "M2": {"fairness": but(of_fairness, least_of_most=0.8, when=lambda flows, **_: flows == PAIRS[1])},
    "M3": {"fairness": but(of_fairness, least_of_most=0.8, when=lambda where, **_: where == "gn")},
    "M4": {"fairness": but(of_fairness, kbps_1=2.0)},
    "M5": {"fairness": but(of_fairness, kbps_0=2.0, when=lambda where, **_: where == "bearer")},
    "M6": {"responsiveness": but(of_steps, cov_tfmcc_1=4.0)},
    "M7": {"responsiveness": but(of_steps, adaptation_tcp_1=4.0)},
    "M8": {"responsiveness": but(of_steps, adaptation_pgmcc_1=10.0)},
    "M9": {"responsiveness": but(of_steps, adaptation_tfmcc_1=10.0)},
    "M10": {"responsiveness": but(of_steps, kbps_pgmcc_1=3.0)},
    "M11": {"responsiveness": but(of_steps, kbps_pgmcc_1=3.0, when=lambda step: step == "delay")},
    "M12": {"temporary": but(of_temporary, kbps=1.5, when=lambda scheme, **_: scheme in MODIFIED)},
    "M13": {"temporary": but(of_temporary, kbps=0.7, when=lambda scheme, ues: scheme in MODIFIED and ues == 100)},
    "M14": {"temporary": but(of_temporary, kbps=1.9, when=lambda scheme, ues: scheme in LEGACY and ues == 100)},
    "M15": {"temporary": but(of_temporary, kbps=0.5, when=lambda scheme, ues: scheme in LEGACY and ues == 1)},
    "M16": {"temporary": but(of_temporary, changes_per_minute=15.0, when=lambda scheme, **_: scheme in MODIFIED)},
    "M17": {"indication": but(of_telling, missed=2.0)},
    "M18": {"permanent": but(of_permanent, before_kbps=0.9)},
    "M19": {"permanent": but(of_permanent, first_rejection_s=2.0)},
    "M20": {"permanent": but(of_permanent, adaptation_s=0.2)},
    "M21": {"several_degraded": but(of_permanent, degraded_share=0.9)},
    "M22": {"reports": but(of_reports, reports_per_round=2.0)},
}


@pytest.mark.parametrize("id", AGAINST)
def test_what_speaks_against_a_claim_is_said(id):
    judgement = CLAIM[id].judge(paper(**AGAINST[id]))
    assert judgement.verdict == NOT_REPRODUCED and judgement.reason


def test_every_claim_has_numbers_against_it():
    assert set(AGAINST) == set(CLAIM) == {f"M{n}" for n in range(1, 23)}
    assert all(claim.why and claim.tolerance and claim.see for claim in CLAIMS)


def test_what_was_not_run_is_said():
    held = {claim.id: claims.judge(claim, "a", {"a": Data("a", {})}).verdict for claim in CLAIMS}
    assert set(held.values()) == {NOT_YET_RUN}


# A small run of everything


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("umts-multicast") / "out"
    small = campaign.Plan(
        seeds=2,
        sizes=(1, 3),
        seeds_fairness=1,
        seeds_alone=2,
        seeds_readings=1,
        sizes_readings=(1,),
        readings=(READINGS[2],),
        told_s=30.0,
        seeds_told=1,
        by_second=False,
    )
    shorter = ((owner, "FAIRNESS_S", 60.0) for owner in (experiments, reductions))
    with small_campaign("umts-multicast", folder, (campaign, "plan", lambda _mode: small), *shorter) as done:
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
