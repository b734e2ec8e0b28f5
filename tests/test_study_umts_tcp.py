"""The study `umts-tcp`: its readings, its reductions, and a small run of every chapter."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import lasthop as lh
import pytest
from conftest import small_campaign
from lasthop import studies
from lasthop.results import read_table
from lasthop.studies import claims
from lasthop.studies.readings import AS_TAKEN, as_taken, pairs, singles, with_answers
from lasthop.studies.umts_tcp import experiments, measures, scenario
from lasthop.studies.umts_tcp.judges import CLAIMS
from lasthop.studies.umts_tcp.paper import VERSIONS
from lasthop.studies.umts_tcp.readings import OF_FACH, QUESTIONS, Taken
from lasthop.studies.umts_tcp.single_runs import switching

EVERY = [as_taken(), *singles(QUESTIONS), *pairs(QUESTIONS, [one.name for one in QUESTIONS])]

# Readings


def test_each_answer_changes_what_scenarios_know():
    known = set(Taken.__dataclass_fields__)
    for question in QUESTIONS:
        assert not question.default.changes, question.name
        for answer in question.answers[1:]:
            assert answer.changes and answer.changes.keys() <= known, answer.name
            taken = Taken(**answer.changes)
            point = {"tcp": "reno", "max_dat": 6, "threshold": 500, "timer": 8}
            assert scenario.inactivity(point, taken=taken).text != scenario.inactivity(point).text, answer.name
            # What matters to chapter 6 says so.
            point = {"tcp": "reno", "bler": 0.01}
            differs = scenario.ftp(point, taken=taken).text != scenario.ftp(point).text
            assert differs == (answer.changes.keys() <= OF_FACH), answer.name


def test_the_defaults_are_those_of_the_scenario_files():
    web, ftp = (tomllib.loads(scenario.text(name)) for name in ("web", "ftp"))
    taken = Taken()
    [pages] = web["flow"]
    assert pages["source"]["web"]["load"] == taken.load
    assert web["cell"][0]["attachment"]["rrc"]["refused"] == taken.refused
    assert {flow["transport"]["tcp"]["rto"]["min"] for flow in (pages, *ftp["flow"])} == {taken.min_rto}
    for one in (web, ftp):
        assert one["cell"][0]["iub"]["delay"] == taken.iub and one["profile"] == taken.profile


def test_readings_of_an_answer_and_all_others():
    names = {one.name for one in EVERY}
    assert len(names) == len(EVERY)
    [load] = [question for question in QUESTIONS if "Table 5.1" in [answer.name for answer in question.answers]]
    of_it = set(with_answers(QUESTIONS, ["Table 5.1"]))
    others = set(with_answers(QUESTIONS, [answer.name for answer in load.answers if answer.name != "Table 5.1"]))
    assert of_it | others == names and not of_it & others
    assert "Table 5.1" in of_it and AS_TAKEN in others and "Table 5.1 + waits" in of_it
    for claim in CLAIMS:
        assert set(claim.fitted_at) <= names, claim.id


@pytest.mark.parametrize("mode", ["quick", "full"])
def test_a_reading_is_run_where_it_changes_something(mode):
    for reading in EVERY:
        names = [grid.name for grid in experiments.grids(reading, mode).values()]
        assert all(name.startswith(f"{reading.name}: ") for name in names)
        of_fach = all(answer.changes.keys() <= OF_FACH for answer in reading.chosen.values())
        assert (f"{reading.name}: versions" in names) == of_fach
        assert f"{reading.name}: chapter 7" in names


def test_every_claim_can_be_seen_and_says_what_it_asks():
    known = {claim.see for claim in CLAIMS if claim.see}
    assert all(name.startswith(("figure-", "table-")) for name in known)
    for claim in CLAIMS:
        assert claim.sentence and claim.statement and claim.paper and claim.measure and claim.band and claim.why
        assert claim.null.about, claim.id
        if isinstance(claim.cause, str):
            assert not claim.fitted_at or claim.fitted, claim.id


# Runs


def test_the_buffer_through_a_download():
    shown = switching.download(lh.run(switching.one_user()))
    assert shown.in_order
    begin, switch, sending, idle, _ = shown.periods
    # Nothing is sent for 0.9 s, and an idle channel is kept for 5 s.
    assert switch.end_s - switch.begin_s == pytest.approx(0.9, abs=0.03)
    assert idle.end_s - idle.begin_s == pytest.approx(5.0, abs=0.5)
    # 60 kB over 64 kbit/s take 7.5 s at least.
    assert sending.end_s - sending.begin_s > 7.0
    assert shown.buffer_bytes[shown.time_s < begin.end_s - 0.1].max() <= shown.threshold_bytes


def test_a_user_alone_gets_what_the_link_carries():
    point = {"tcp": "reno", "bler": 0.01}
    kept = measures.parts(lh.run(scenario.ftp(point, parts=(300.0, 900.0)), seed=3))
    # 26 PDUs carry 1000 of 1040 B, and one in a hundred is lost: 32 · 1000/1040 · 0.99, less some reports.
    assert kept["sent_kbps"] == pytest.approx(30.46, rel=0.02)
    assert kept["iub_kbps"] == pytest.approx(32, rel=0.01)
    assert kept["window_packets"] == pytest.approx(20, abs=0.1)
    # Twenty packets of 26 PDUs wait for one PDU in 10 ms.
    assert kept["rtt_s"] == pytest.approx(20 * 26 * 0.01 / 0.99, rel=0.02)
    assert "both_sent_kbps" not in kept


def test_two_users_share_one_channel():
    point = {"tcp": "vegas", "bler": 0.01, "users": 2}
    kept = measures.parts(lh.run(scenario.ftp(point, parts=(300.0, 900.0)), seed=3))
    assert kept["sent_kbps"] == pytest.approx(31.68, rel=0.02)
    assert kept["both_sent_kbps"] < 32 < kept["both_iub_kbps"] <= 64
    assert 40 < kept["both_node_b_drop_pct"] < 60


def test_numbers_of_pages_agree_with_the_tables():
    result = lh.run(
        scenario.inactivity({"tcp": "sack", "max_dat": 6, "threshold": 500, "timer": 8}, duration=300), seed=2
    )
    kept = measures.pages(result)
    cell = result.cells.rows()[0]
    assert kept["connections"] == len(result.transfers)
    assert kept["allocations"] * kept["connections"] == pytest.approx(cell["allocations"])
    assert 32 <= kept["occupancy_kbps"] <= 800
    assert kept["efficiency_pct"] == pytest.approx(100 * kept["goodput_kbps"] / kept["occupancy_kbps"])
    assert 0 < kept["jain"] <= 1
    assert kept["pdus"] > kept["goodput_kbps"] * 300 * 1000 / 320


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """Every chapter, with few points and short runs."""
    folder = tmp_path_factory.mktemp("umts") / "out"

    whole = experiments.extent

    def small(reading, mode):
        first = not reading.chosen
        whole_grid = {"chapter7": experiments.SOME7, "chapter8": experiments.SOME8}
        few = {
            "chapter7": {"tcp": VERSIONS, "max_dat": (6,), "threshold": (500, 1500), "timer": (2, 8)},
            "chapter8": {"tcp": VERSIONS, "threshold": (750, 1500), "np": (0, 4), "p": (4, 16)},
        }
        return replace(
            whole(reading, mode),
            **(whole_grid if first else few),
            duration=100.0 if first else 30.0,
            parts=(100.0, 250.0),
            errors=(0.01, 0.4),
            errors_limited=(0.01, 0.1),
            max_dat=(2, 4, 9000),
            seeds=2,
            seeds6=2,
        )  # fmt: skip

    with small_campaign("umts-tcp", folder, (experiments, "extent", small)) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "003_e7dcbc1103245abf.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"C{n}" for n in range(1, 57)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        assert claim["reason"] or claim["verdict"] == claims.REPRODUCED, claim["id"]
    assert all(claim["conditions"] for claim in document["claims"])
    assert {one["question"] for one in document["questions"]} == {one.name for one in QUESTIONS}
    tried = {name for claim in document["claims"] for name in claim["readings"]}
    assert tried == {AS_TAKEN, *(one.name for one in singles(QUESTIONS))}


def test_figures_and_tables_are_there(reproduced):
    figures = set(reproduced.figures)
    assert {"figure-5.1", "figure-5.2", *(f"figure-6.{n}" for n in range(1, 9))} <= figures
    assert {f"figure-7.{n}" for n in range(2, 12)} <= figures
    assert {"figure-8.2", "figure-8.6", "figure-8.10", "figure-8.14", "figure-8.15"} <= figures
    assert {"table-6.2", "table-7.3", "table-7.4", "costs"} <= set(reproduced.tables)
    for paths in (*reproduced.figures.values(), *reproduced.tables.values()):
        assert all(path.stat().st_size > 0 for path in paths)
    runs = read_table(reproduced.folder / "runs-as-taken-chapter-7.parquet")
    assert len(runs) == 4 * 3 * 3 * 3 * 2
    page = reproduced.report.read_text()
    for claim in CLAIMS:
        assert f'id="{claim.id}"' in page
    # What is finished is no longer kept apart.
    assert not list(reproduced.folder.glob(".unfinished-*"))


def test_the_appendix_is_run_by_itself(tmp_path, monkeypatch):
    from lasthop.studies.umts_tcp import appendix

    whole = appendix._grids

    def short(mode):
        return [replace(grid, seeds=(1, 2), scenario=lambda point, of=grid.scenario: of(point).with_(duration="60 s"))
                for grid in whole(mode)]  # fmt: skip

    monkeypatch.setattr(appendix, "_grids", short)
    study = studies.study("umts-tcp").appendix
    assert study.command == "lasthop reproduce umts-tcp --appendix"
    done = studies.reproduce(study, "quick", tmp_path / "out")
    assert {"figure-pages-goodput", "figure-files-goodput", "figure-initial-window-page"} <= set(done.figures)
    assert not done.judged and "Claims" not in done.report.read_text().partition("<figure")[0]
