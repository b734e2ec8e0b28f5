"""The claims of chapter 6 of the study `umts-tcp` on made-up numbers."""

from __future__ import annotations

import pytest
from lasthop.studies.umts_tcp.judges import fach, maxdat
from lasthop.studies.umts_tcp.paper import TABLE_6_2
from lasthop.studies.umts_tcp.scenario import TCP
from test_study_umts_tcp_numbers import CLAIM, Case, changed, data, holds_and_fails, made

ALL = tuple(TCP)
BY_LOSS = ("tahoe", "reno", "newreno", "sack")


def per_tcp(reno, **others):
    """A quantity that is the same with all versions but these."""
    return lambda tcp, **_: others.get(tcp, reno)


VERSIONS = made(
    {"tcp": ALL},
    sent_kbps=per_tcp(30.36, vegas=31.48),
    acked_kbps=per_tcp(30.36, vegas=31.48),
    both_sent_kbps=per_tcp(25.76, vegas=26.72),
    both_acked_kbps=per_tcp(25.76, vegas=26.72),
    window_packets_whole=per_tcp(19.97, vegas=3.0),
    window_packets=per_tcp(20.0, vegas=4.0),
    both_window_packets=per_tcp(20.0, vegas=2.0),
    both_window_total=per_tcp(40.0, vegas=4.0),
    rtt_s=per_tcp(5.2, vegas=1.0),
    both_rtt_s=per_tcp(10.4, vegas=1.2),
    both_srtt_soon_s=per_tcp(8.0, vegas=2.0),
    both_srtt_late_s=per_tcp(10.4, vegas=1.0),
    both_srtt_peak_s=per_tcp(11.0, vegas=2.5),
    both_timeouts=per_tcp(0.0, vegas=2.0),
    retransmitted_pct=per_tcp(0.0, vegas=1.0),
    both_retransmitted_pct=per_tcp(0.0, vegas=2.0),
    iub_kbps=per_tcp(32.0),
    both_iub_kbps=per_tcp(64.0, vegas=58.0),
    both_jain=per_tcp(0.99),
)
ERRORS = made(
    {"tcp": ("reno", "vegas"), "bler": (0.01, 0.2, 0.4, 0.6, 0.8)},
    rtt_s=lambda tcp, bler: (5.2 if tcp == "reno" else 1.0) / (1 - bler),
    sent_kbps=lambda tcp, bler: 30 * (1 - bler) + (1.0 - 2 * bler if tcp == "vegas" else 0.0),
    both_sent_kbps=lambda bler, **_: 25 * (1 - bler),
    retransmitted_pct=lambda **_: 0.0,
)
#: At maxDAT 2: the order of versions at error rates between few losses and too many.
ORDER = {"sack": 20.0, "newreno": 19.5, "tahoe": 19.0, "reno": 17.0, "vegas": 17.0, "fack": 20.0}


def table(place, factor=1.0):
    return lambda tcp, bler: TABLE_6_2.get(bler, TABLE_6_2[0.1])[tcp][place] * factor


def limited(tcp, bler):
    if bler > 0.2:
        return 1.0
    return (31.4 if tcp == "vegas" else 30.3) if bler == 0.01 else ORDER[tcp] * (1 - bler)


LIMITED = made(
    {"tcp": ALL, "bler": (0.01, 0.05, 0.1, 0.3)},
    window_packets=table(0),
    srtt_s=table(1),
    rtt_s=table(1),
    sent_kbps=limited,
    retransmitted_pct=lambda bler, **_: 100 * bler,
)
SATURATED = made(
    {"tcp": ALL, "max_dat": (2, 4, 9000)},
    sent_kbps=lambda tcp, max_dat: (20.0 if max_dat == 2 else 29.0) * (1.04 if tcp == "vegas" else 1.0),
)
SHARED = made({"tcp": ("reno", "vegas", "sack"), "max_dat": (2, 5)}, both_jain=lambda **_: 0.6)
WINDOW = made({"window": (4, 20)}, acked_kbps=lambda **_: 30.0, rtt_s=lambda window: 5.2 if window == 20 else 1.04)


def versions(**quantities):
    return data(versions=changed(VERSIONS, **quantities), errors=ERRORS, maxDAT_2=LIMITED)


def errors(**quantities):
    return data(versions=VERSIONS, errors=changed(ERRORS, **quantities), maxDAT_2=LIMITED)


def at_max_dat_2(**quantities):
    return data(maxDAT_2=changed(LIMITED, **quantities))


GOOD = data(versions=VERSIONS, errors=ERRORS, maxDAT_2=LIMITED)
FALLING = {"rtt_s": lambda bler, **_: 5.2 * (1 - bler)}
CASES = {
    "C1": Case(GOOD, (versions(window_packets_whole=per_tcp(19.0)),)),
    "C2": Case(GOOD, (versions(window_packets_whole=per_tcp(20.0, vegas=5.0)),)),
    "C3": Case(GOOD, (versions(both_window_packets=per_tcp(19.0, vegas=4.0)),)),
    "C4": Case(
        GOOD,
        (
            errors(**FALLING),
            errors(rtt_s=lambda tcp, bler: 5.0 + bler if tcp == "reno" else 9.0 * (1 + 8 * bler)),
        ),
    ),
    "C5": Case(GOOD, (versions(both_rtt_s=per_tcp(5.2, vegas=1.2), both_srtt_late_s=per_tcp(10.4, vegas=2.0)),)),
    "C6": Case(
        GOOD,
        (
            versions(retransmitted_pct=per_tcp(1.0), both_retransmitted_pct=per_tcp(1.0)),
            errors(retransmitted_pct=lambda **_: 1.0),
        ),
    ),
    "C7": Case(GOOD, (versions(iub_kbps=per_tcp(30.0)),)),
    "C8": Case(GOOD, (versions(sent_kbps=per_tcp(28.0)),)),
    "C9": Case(GOOD, (versions(acked_kbps=per_tcp(31.0), both_acked_kbps=per_tcp(25.0)),)),
    "C10": Case(GOOD, (versions(both_sent_kbps=per_tcp(20.0)),)),
    "C11": Case(GOOD, (versions(both_iub_kbps=per_tcp(32.0)), versions(both_iub_kbps=per_tcp(58.0, vegas=64.0)))),
    "C12": Case(
        GOOD,
        (
            errors(sent_kbps=lambda bler, **_: 20 + bler),
            errors(sent_kbps=lambda tcp, bler: 30 * (1 - bler) - (1.0 - 2 * bler if tcp == "vegas" else 0.0)),
        ),
    ),
    "C13": Case(GOOD, (errors(both_sent_kbps=lambda bler, **_: 25 * (1 - bler) - 10 * bler),)),
    "C14": Case(
        GOOD,
        (
            at_max_dat_2(sent_kbps=lambda tcp, bler: 40 - limited(tcp, bler)),
            at_max_dat_2(
                sent_kbps=lambda tcp, **_: {"tahoe": 1.0, "reno": 2.0, "newreno": 0.5, "vegas": 1.5}.get(tcp, 0.2)
            ),
        ),
    ),
    "C15": Case(
        data(maxDAT=SATURATED),
        (
            data(
                maxDAT=changed(
                    SATURATED,
                    sent_kbps=lambda tcp, max_dat: max_dat**0.1 * (1.04 if tcp not in ("reno", "vegas") else 1.0),
                )
            ),
        ),
    ),
    # A fifth is within the band at 0.1 and outside of that at 0.01.
    "C16": Case(GOOD, (at_max_dat_2(window_packets=table(0, 1.5), srtt_s=table(1, 0.5)),)),
    "C17": Case(
        data(two_users=SHARED, versions=VERSIONS).with_grids({"two users, small maxDAT": SHARED}),
        (data().with_grids({"two users, small maxDAT": changed(SHARED, both_jain=lambda **_: 0.99)}),),
    ),
    "C45": Case(
        GOOD,
        (at_max_dat_2(sent_kbps=lambda tcp, **_: 30 if tcp in ("tahoe", "reno") else 33),),
    ),
    "C46": Case(
        data(window=WINDOW),
        (
            data(
                window=changed(
                    WINDOW,
                    acked_kbps=lambda window: 20 + window / 4,
                    rtt_s=lambda window: 5.0 + window / 10,
                )
            ),
        ),
    ),
    "C47": Case(GOOD, (versions(both_sent_kbps=per_tcp(32.0)),)),
}


@pytest.mark.parametrize("id", CASES)
def test_it_holds_and_fails_and_tells_its_null_model(id):
    holds_and_fails(id, CASES[id])


def test_all_claims_of_the_chapter_have_a_case():
    assert fach.JUDGES.keys() | maxdat.JUDGES.keys() == set(CASES)


def test_table_6_2_leaves_fack_apart_and_knows_its_bands():
    claim = CLAIM["C16"]
    fifth = claim.judge(at_max_dat_2(window_packets=table(0, 1.2)))
    assert fifth.reason.count("window at 0.01") == 5 and "at 0.1:" not in fifth.reason
    odd = claim.judge(at_max_dat_2(window_packets=lambda tcp, bler: 99 if tcp == "fack" else table(0)(tcp, bler)))
    assert odd.state() == "holds" and odd.values["fack_window_at_0.1"].mean == pytest.approx(99, rel=1e-3)


def test_a_window_that_halves_at_once_is_half_too():
    """Fig. 6.1 has one user: the total over both is not judged, and is reported."""
    judgement = CLAIM["C3"].judge(versions(both_window_total=per_tcp(40, vegas=9)))
    assert judgement.state() == "holds"
    assert judgement.values["vegas_total"].mean == pytest.approx(2.25, rel=1e-3)


def test_series_that_rise_and_stay_do_not_come_down():
    judge = CLAIM["C5"].judge
    stays = versions(both_srtt_soon_s=per_tcp(8, vegas=2.4), both_srtt_late_s=per_tcp(10.4, vegas=2.4))
    assert judge(stays).state() == "fails"
    # The former judge, which asked that the largest of a series be above its mean, let it pass.
    assert CLAIM["C5"].former.judge(stays).state() == "holds"
