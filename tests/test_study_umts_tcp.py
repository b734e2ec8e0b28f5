"""The study `umts-tcp`: its reductions, its judgements on made-up numbers, and a small run of every chapter."""

from __future__ import annotations

import json
from dataclasses import replace

import lasthop as lh
import numpy as np
import pytest
from conftest import small_campaign
from lasthop import studies
from lasthop.results import read_table
from lasthop.studies import claims
from lasthop.studies.claims import NOT_COMPARABLE, NOT_REPRODUCED, NOT_YET_RUN, REPRODUCED
from lasthop.studies.grid import Numbers
from lasthop.studies.umts_tcp import campaign, reductions, scenario, switching
from lasthop.studies.umts_tcp.chapter7 import OPTIMAL, VERSIONS
from lasthop.studies.umts_tcp.data import Data
from lasthop.studies.umts_tcp.judgements import CLAIMS
from lasthop.studies.umts_tcp.scenario import TCP
from lasthop.studies.umts_tcp.thesis import OPTIMUM, TABLE_6_2

CLAIM = {claim.id: claim for claim in CLAIMS}
NOISE = np.array([-1.0, 0.0, 1.0, 0.5, -0.5])


def judged(id, **grids):
    """A claim's verdict and reason on made-up grids, called as the study calls them."""
    data = Data("made up", {name.replace("_", " "): grid for name, grid in grids.items()})
    judgement = CLAIM[id].judge(data)
    return judgement.verdict, judgement.reason


def made(axes, **quantities):
    """A grid on which each quantity is a function of the point; seeds add noise that all points share."""
    shape = [len(values) for values in axes.values()]
    points = list(Numbers(axes, (0,), {}).points())
    values = {}
    for name, of in quantities.items():
        plain = np.array([of(**point) for point in points], dtype=float).reshape(*shape, 1)
        values[name] = plain * (1 + 0.1 * NOISE)
    return Numbers(axes, tuple(range(len(NOISE))), values)


SEVEN = {"tcp": VERSIONS, "max_dat": (2, 3, 4, 6), "threshold": (500, 1000, 1500), "timer": (2, 6, 8, 10)}
EIGHT = {"tcp": VERSIONS, "threshold": (500, 750, 1000, 1500), "np": (0, 2, 4, 8), "p": (4, 8, 16)}


# Chapter 6


def versions(**changes):
    """Numbers of two users as the thesis has them."""
    thesis = {
        "sent_kbps": {"reno": 30.36, "vegas": 31.48},
        "both_sent_kbps": {"reno": 25.76, "vegas": 26.72},
        "window_packets_whole": {"reno": 19.97, "vegas": 3.0},
        "iub_kbps": {"reno": 32.0, "vegas": 32.0},
        "both_iub_kbps": {"reno": 64.0, "vegas": 58.0},
        **changes,
    }
    quantities = {name: lambda tcp, of=of: of.get(tcp, of["reno"]) for name, of in thesis.items()}
    grid = made({"tcp": tuple(TCP)}, **quantities)
    # Goodput and windows of the thesis carry no noise.
    return replace(grid, values={name: np.repeat(v[..., 1:2], len(NOISE), -1) for name, v in grid.values.items()})


def test_goodput_of_the_thesis_is_reproduced():
    acked = {"acked_kbps": {"reno": 30.0, "vegas": 31.2}, "both_acked_kbps": {"reno": 25.0, "vegas": 26.0}}
    grid = versions(**acked)
    for id in ("C1", "C2", "C7", "C8", "C9", "C10", "C11"):
        assert judged(id, versions=grid)[0] == REPRODUCED, id
    verdict, reason = judged("C8", versions=versions(**acked, sent_kbps={"reno": 28.0, "vegas": 31.48}))
    assert verdict == NOT_REPRODUCED and reason == "Reno -7.8 %"
    equal = {"acked_kbps": {"reno": 31.0}, "both_acked_kbps": {"reno": 25.0}}
    verdict, reason = judged("C9", versions=versions(**equal))
    assert verdict == NOT_REPRODUCED and "header" in reason


def test_table_6_2_counts_what_is_within_its_bands():
    def of(place, factor):
        return lambda tcp, bler: TABLE_6_2[bler][tcp][place] * factor

    axes = {"tcp": tuple(TCP), "bler": (0.01, 0.1)}
    within = made(axes, window_packets=of(0, 1.05), rtt_s=of(1, 0.95))
    assert judged("C16", maxDAT_2=within)[0] == REPRODUCED
    # A fifth is within the band at 0.1 and outside of that at 0.01.
    beyond = made(axes, window_packets=of(0, 1.2), rtt_s=of(1, 1.0))
    verdict, reason = judged("C16", maxDAT_2=beyond)
    assert verdict == NOT_REPRODUCED and reason.count("window at 0.01") == 6 and "at 0.1 " not in reason


def test_where_vegas_becomes_worse():
    def goodput(tcp, bler):
        return 30 * (1 - bler) + ((1.0 - 2 * bler) if tcp == "vegas" else 0.0)

    axes = {"tcp": ("reno", "vegas"), "bler": (0.01, 0.2, 0.4, 0.6, 0.8)}
    assert judged("C12", errors=made(axes, sent_kbps=goodput))[0] == REPRODUCED
    later = made(axes, sent_kbps=lambda tcp, bler: goodput(tcp, bler) + (0.4 if tcp == "vegas" else 0.0))
    verdict, reason = judged("C12", errors=later)
    assert verdict == NOT_REPRODUCED and "from an error rate of 0.7" in reason


# Chapters 7 and 8


def goodput7(tcp, max_dat, threshold, timer):
    worse = {"tahoe": 0.1, "reno": 0.0, "newreno": 0.0, "sack": 0.5}[tcp]
    return 63.0 - worse + max_dat / 10 - abs(timer - 8) / 10 - threshold / 5000


def test_the_optimum_of_the_thesis_is_reproduced():
    grid = made(SEVEN, goodput_kbps=goodput7, page_s=lambda tcp, **_: OPTIMUM[tcp][1])
    assert judged("C31", chapter_7=grid)[0] == REPRODUCED
    slow = made(SEVEN, goodput_kbps=goodput7, page_s=lambda tcp, **_: OPTIMUM[tcp][1] + 1)
    assert judged("C31", chapter_7=slow)[0] == NOT_REPRODUCED
    missing = Data(
        "made up", {"chapter 7": made({**SEVEN, "timer": (2, 10)}, goodput_kbps=goodput7, page_s=lambda **_: 1.0)}
    )
    assert claims.judge(CLAIM["C31"], "a", {"a": missing}).verdict == NOT_YET_RUN
    assert OPTIMAL["timer"] == 8


def test_the_best_timer_lies_between_the_ends():
    assert judged("C29", chapter_7=made(SEVEN, goodput_kbps=goodput7))[0] == REPRODUCED
    rising = made(SEVEN, goodput_kbps=lambda timer, **_: 60 + timer / 10)
    verdict, reason = judged("C29", chapter_7=rising)
    assert verdict == NOT_REPRODUCED and "the last value" in reason


def test_trends_of_chapter_7():
    full = made(SEVEN, full_s=lambda threshold, timer, **_: 100 + 10 * timer - threshold / 100)
    assert judged("C28", chapter_7=full)[0] == judged("C30", chapter_7=full)[0] == REPRODUCED
    other = made(SEVEN, full_s=lambda threshold, timer, **_: 100 - 5 * timer + threshold / 100)
    assert judged("C28", chapter_7=other)[0] == judged("C30", chapter_7=other)[0] == NOT_REPRODUCED
    rtt = made(SEVEN, rtt_s=lambda max_dat, **_: 0.5 + 0.1 * np.log2(max_dat - 1))
    assert judged("C21", chapter_7=rtt)[0] == REPRODUCED
    assert judged("C18", chapter_7=rtt)[0] == REPRODUCED
    steeper = made(SEVEN, rtt_s=lambda max_dat, **_: 0.3 + 0.02 * max_dat**2)
    assert judged("C21", chapter_7=steeper)[0] == NOT_REPRODUCED


def test_a_dip_over_the_round_trip_time():
    def rtt(max_dat, threshold, timer, **_):
        return 0.4 + max_dat / 100 + threshold / 20000 + timer / 1000

    def curve(low):
        # High at short round trips, low in the middle, highest at long ones.
        def goodput(**point):
            at = (rtt(**point) - 0.4) / 0.2
            return 62 + (1 if at > 0.6 else 0.5 if at < 0.3 else -low)

        return made(SEVEN, rtt_s=rtt, goodput_kbps=goodput)

    assert judged("C20", chapter_7=curve(2.0))[0] == REPRODUCED
    verdict, reason = judged("C20", chapter_7=curve(10.0))
    assert verdict == NOT_REPRODUCED and "below both sides" in reason


def test_shares_of_timeouts():
    def again(tcp, max_dat, **_):
        return 3.0 / max_dat + (0.0 if tcp == "sack" else 0.1)

    def timeouts(tcp, max_dat, **point):
        share = {"sack": 0.7, "reno": 0.55, "newreno": 0.5, "tahoe": 0.6}[tcp]
        return again(tcp, max_dat, **point) * share * (1 - max_dat / 100)

    grid = made(SEVEN, retransmissions=again, timeouts=timeouts)
    assert judged("C23", chapter_7=grid)[0] == judged("C24", chapter_7=grid)[0] == REPRODUCED
    assert judged("C22", chapter_7=grid)[0] == REPRODUCED


def surface(of):
    return made(EIGHT, goodput_kbps=of)


def test_the_hole_of_chapter_8():
    def hole(tcp, np, p, **_):
        deep = 1.0 if np == 0 and p == 16 else 0.0
        return 70.0 - (0.2 if tcp == "sack" else 0.4) * np - deep

    assert judged("C37", chapter_8=surface(hole))[0] == REPRODUCED
    assert judged("C40", chapter_8=surface(hole))[0] == REPRODUCED
    level = surface(lambda tcp, np, **_: 70.0 - (0.2 if tcp == "sack" else 0.4) * np)
    assert judged("C37", chapter_8=level)[0] == NOT_REPRODUCED
    # At 1000 B there is none, and goodput falls most at the largest preemptive timer.
    assert judged("C38", chapter_8=surface(lambda np, p, **_: 70 - np * p / 100))[0] == REPRODUCED
    assert judged("C38", chapter_8=surface(hole))[0] == NOT_REPRODUCED
    assert judged("C41", chapter_8=level)[0] == NOT_COMPARABLE


def test_a_bowl_over_both_timers():
    bowl = surface(lambda np, p, **_: 70 + (np + p - 12) ** 2 / 50)
    assert judged("C39", chapter_8=bowl)[0] == REPRODUCED
    assert judged("C39", chapter_8=surface(lambda np, p, **_: 70 - (np + p - 12) ** 2 / 50))[0] == NOT_REPRODUCED


def test_the_chapters_are_compared_in_pairs():
    single = made(SEVEN, goodput_kbps=lambda tcp, threshold, **_: 63 - (threshold / 500 if tcp == "sack" else 0))
    hybrid = made(EIGHT, goodput_kbps=lambda **_: 63.0)
    assert judged("C55", chapter_7=single, chapter_8=hybrid)[0] == REPRODUCED
    assert judged("C52", chapter_7=single, chapter_8=hybrid)[0] == REPRODUCED
    assert judged("C55", chapter_7=made(SEVEN, goodput_kbps=lambda **_: 63.0), chapter_8=hybrid)[0] == NOT_REPRODUCED


def test_every_claim_can_be_seen():
    known = {picture.split(":")[0] for picture in (claim.see for claim in CLAIMS) if picture}
    assert all(name.startswith(("figure-", "table-")) for name in known)
    assert all(claim.why and claim.tolerance for claim in CLAIMS)


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
    kept = reductions.parts(lh.run(scenario.ftp(point, parts=(300.0, 900.0)), seed=3))
    # 26 PDUs carry 1000 of 1040 B, and one in a hundred is lost: 32 · 1000/1040 · 0.99, less some reports.
    assert kept["sent_kbps"] == pytest.approx(30.46, rel=0.02)
    assert kept["iub_kbps"] == pytest.approx(32, rel=0.01)
    assert kept["window_packets"] == pytest.approx(20, abs=0.1)
    # Twenty packets of 26 PDUs wait for one PDU in 10 ms.
    assert kept["rtt_s"] == pytest.approx(20 * 26 * 0.01 / 0.99, rel=0.02)
    assert "both_sent_kbps" not in kept


def test_two_users_share_one_channel():
    point = {"tcp": "vegas", "bler": 0.01, "users": 2}
    kept = reductions.parts(lh.run(scenario.ftp(point, parts=(300.0, 900.0)), seed=3))
    assert kept["sent_kbps"] == pytest.approx(31.68, rel=0.02)
    assert kept["both_sent_kbps"] < 32 < kept["both_iub_kbps"] <= 64
    assert 40 < kept["both_node_b_drop_pct"] < 60


def test_numbers_of_pages_agree_with_the_tables():
    result = lh.run(
        scenario.inactivity({"tcp": "sack", "max_dat": 6, "threshold": 500, "timer": 8}, duration=300), seed=2
    )
    kept = reductions.pages(result)
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
    [quick] = campaign.readings("quick")
    small = replace(
        quick,
        chapter7={"tcp": VERSIONS, "max_dat": (2, 3, 6), "threshold": (500, 1500), "timer": (2, 8)},
        chapter8={"tcp": VERSIONS, "threshold": (750, 1500), "np": (0, 4), "p": (4, 16)},
        duration=100.0,
        parts=(100.0, 250.0),
        errors=(0.01, 0.4),
        errors_limited=(0.01, 0.1),
        max_dat=(2, 4, 9000),
        seeds=2,
    )
    with small_campaign("umts-tcp", folder, (campaign, "readings", lambda _mode: (small,))) as done:
        yield done


def test_the_document_has_its_form(reproduced):
    document = json.loads((reproduced.folder / "claims.json").read_text())
    assert document["seed_document"] == "003_e7dcbc1103245abf.txt"
    assert [claim["id"] for claim in document["claims"]] == [f"C{n}" for n in range(1, 57)]
    for claim in document["claims"]:
        assert claim["verdict"] in claims.VERDICTS
        if claim["verdict"] not in (REPRODUCED, NOT_YET_RUN):
            assert claim["reason"], claim["id"]
    assert sum(claim["verdict"] == NOT_YET_RUN for claim in document["claims"]) < 20


def test_figures_and_tables_are_there(reproduced):
    figures = set(reproduced.figures)
    assert {"figure-5.1", "figure-5.2", *(f"figure-6.{n}" for n in range(1, 9))} <= figures
    assert {f"figure-7.{n}" for n in range(2, 12)} <= figures
    assert {"figure-8.2", "figure-8.6", "figure-8.10", "figure-8.14", "figure-8.15"} <= figures
    assert {"table-6.2", "table-7.3", "table-7.4", "costs"} <= set(reproduced.tables)
    for paths in (*reproduced.figures.values(), *reproduced.tables.values()):
        assert all(path.stat().st_size > 0 for path in paths)
    runs = read_table(reproduced.folder / "runs-thesis-load-chapter-7.parquet")
    assert len(runs) == 4 * 3 * 2 * 2 * 2
    page = reproduced.report.read_text()
    for claim in CLAIMS:
        assert f'id="{claim.id}"' in page
    # What is finished is no longer kept apart.
    assert not list(reproduced.folder.glob(".unfinished-*"))


def test_the_appendix_is_run_by_itself(tmp_path, monkeypatch):
    from lasthop.studies.umts_tcp import appendix

    whole = appendix._grids

    def small(mode):
        return [replace(grid, seeds=(1, 2), scenario=lambda point, of=grid.scenario: of(point).with_(duration="60 s"))
                for grid in whole(mode)]  # fmt: skip

    monkeypatch.setattr(appendix, "_grids", small)
    study = studies.study("umts-tcp").appendix
    assert study.command == "lasthop reproduce umts-tcp --appendix"
    done = studies.reproduce(study, "quick", tmp_path / "out")
    assert {"figure-pages-goodput", "figure-files-goodput", "figure-initial-window-page"} <= set(done.figures)
    assert not done.judged and "Claims" not in done.report.read_text().partition("<figure")[0]
