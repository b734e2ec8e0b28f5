"""The measures and grades of the study `handover`, on made-up data with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lasthop.studies.handover import measures
from lasthop.studies.handover.experiments import overprovision
from lasthop.studies.handover.measures import Units, grades
from lasthop.studies.handover.measures.frames import Frames, from_datagrams, from_stream, in_order, sent_places
from lasthop.studies.handover.measures.scalability import FLOWS, Counted, counters
from lasthop.studies.handover.measures.trace import Trace
from lasthop.studies.handover.paper import TABLE_1
from lasthop.studies.handover.readings import FAST, SLOW, Taken
from lasthop.studies.handover.scenario import END


def _trace(received, dropped=()):
    return Trace(0.0, np.asarray(received), dropped_s=np.asarray(dropped, dtype=float))


# Jitter and spread


def test_even_intervals_have_no_jitter():
    assert measures.relative_jitter(np.full(50, 0.02)) == 0
    assert measures.spread(np.full(50, 0.02)) == pytest.approx(1)


def test_jitter_of_alternating_intervals():
    # 10 and 30 ms by turns: consecutive ones differ by 20 ms, their median is 20 ms.
    assert measures.relative_jitter(np.tile([0.01, 0.03], 50)) == pytest.approx(1)
    # Where a part begins there is no difference: of three, two are 0 and one would be 1.
    assert measures.relative_jitter(np.full(3, 0.01), np.full(3, 0.02)) == 0


def test_spread_of_known_intervals():
    # On UMTS every fifth interval is five times as long.
    steps = np.tile([0.02] * 4 + [0.1], 60)
    assert _trace(12 + np.cumsum(steps)).spread(fast=False) == pytest.approx(5)
    # Intervals from 1 to 100: P95 over P5 by linear interpolation is 95.05 / 5.95.
    assert measures.spread(np.arange(1.0, 101.0)) == pytest.approx(95.05 / 5.95)
    assert math.isinf(measures.spread(np.array([-1.0] * 10 + [1.0] * 90)))


def test_a_gap_in_each_window_shows_in_consecutive_intervals_only():
    # Every sixtieth interval is five times as long: two steps of sixty, which P95 over P5 and the median do not see.
    intervals = np.tile([0.02] * 59 + [0.1], 20)
    assert measures.spread(intervals) == pytest.approx(1)
    assert measures.relative_jitter(intervals) == 0
    assert measures.consecutive_ratio(intervals) == pytest.approx(5)
    assert measures.high_jitter(intervals) == pytest.approx(4)
    # One in a thousand is not seen.
    assert measures.consecutive_ratio(np.array([0.02] * 999 + [0.1])) == pytest.approx(1)


def test_consecutive_intervals_of_parts_and_of_what_comes_at_once():
    # Where a part begins there is no step.
    assert measures.consecutive_ratio(np.full(9, 0.01), np.full(9, 0.05)) == pytest.approx(1)
    assert math.isinf(measures.consecutive_ratio(np.tile([0.0, 0.02], 20)))
    assert math.isnan(measures.consecutive_ratio(np.empty(0)))


def test_unevenness_of_counts():
    # 1 and 3 packets by turns in bins of a second: mean 2, standard deviation 1.
    times = np.concatenate([[n + 0.5] * (1 if n % 2 else 3) for n in range(10)])
    assert measures.unevenness(times, 0, 10, 1) == pytest.approx(0.5)


def test_the_peak_is_what_ends_after_the_handover():
    # 48 packets per second on UMTS, after 70 ms without any.
    received = np.concatenate([np.arange(8, 10, 1 / FAST), np.arange(10.07, 20, 1 / SLOW)])
    gap = 10.07 - received[received < 10][-1]
    assert _trace(received).peak(10.0) == pytest.approx(gap * SLOW)


def test_the_jump_at_a_handover_counts_beyond_the_change_of_the_rate():
    down = np.arange(8, 10, 1 / FAST)
    # One after another at the new rate: 1/48 s after 1/480 s, nine tenths of an interval on UMTS.
    assert _trace(np.concatenate([down, np.arange(down[-1] + 1 / SLOW, 20, 1 / SLOW)])).jump(10.0) == pytest.approx(0.9)
    # With 100 ms in between it is that and less an interval on WLAN.
    late = np.concatenate([down, np.arange(down[-1] + 0.1, 20, 1 / SLOW)])
    assert _trace(late).jump(10.0) == pytest.approx((0.1 - 1 / FAST) * SLOW)


# Adaptation


def test_what_a_source_sends_beyond_the_new_capacity():
    # 96 packets fit into the two seconds after 10 s on UMTS.
    sent = 10.5 + np.arange(130) * 0.01
    assert Trace(0.0, np.empty(0), sent_s=sent).excess() == 130 - 96
    assert Trace(0.0, np.empty(0), sent_s=sent[:90]).excess() == 0


def test_what_is_not_carried_or_dropped_is_wasted():
    # From 10 to 30 s the links carry 480 and 4800 packets; 400 and 4000 came, and 7 were dropped.
    received = np.concatenate([np.linspace(10, 19.9, 400), np.linspace(20, 29.9, 4000)])
    assert _trace(received, [11.0] * 7).waste(10.0, 30.0) == 80 + 800 + 7


def test_time_to_adapt_of_known_arrivals():
    # 48 packets per second from 10 s on, after silence: a window of 1.5 s is full at 11.2 s to 80 %.
    steady = np.arange(10, 20, 1 / 48)
    assert measures.adaptation(steady, 10.0, 0.3, 48.0) == pytest.approx(1.2, abs=0.03)
    # Half the rate never is within 20 %.
    assert math.isinf(measures.adaptation(np.arange(10, 20, 1 / 24), 10.0, 0.3, 48.0))
    # Within the tolerance for less than 10 R is not adapted: silence from 12.5 s to 15 s.
    broken = steady[(steady < 12.5) | (steady > 15)]
    assert measures.adaptation(broken, 10.0, 0.3, 48.0) == pytest.approx(6.2, abs=0.03)


def test_a_run_of_good_instants():
    assert measures.held(np.array([0, 1, 0, 1, 1, 1], dtype=bool), 3) == 3
    assert measures.held(np.array([0, 1, 0, 1, 1, 0], dtype=bool), 3) is None


def test_drops_count_until_the_flow_has_adapted():
    drops = np.array([9.9, 10.0, 10.5, 11.5, 19.0])
    assert measures.excess_drops(drops, 10.0, 1.0) == 2
    assert measures.excess_drops(drops, 10.0, math.inf) == 4


def test_lost_volume_is_what_was_not_received_of_the_share():
    # Half the share all the time.
    assert measures.lost_volume(np.arange(8, 20, 1 / 24), 10.0, 0.3, 48.0) == pytest.approx(0.5, abs=0.02)
    # Twice the share until 15 s does not make up for nothing after. In a window of 1.5 s the rate is below the
    # share from 15.75 s on, and nothing from 16.5 s on.
    expected = (0.75 / 2 + 3.5) / 10
    assert measures.lost_volume(np.arange(8.5, 15, 1 / 96), 10.0, 0.3, 48.0) == pytest.approx(expected, abs=0.01)


def test_the_mean_queue_by_littles_law():
    # Each of 100 packets per second waits for 20 ms beyond the fastest: two packets on average.
    received = np.arange(0, 10, 0.01)
    transit = np.full(len(received), 0.12)
    transit[0] = 0.1
    assert measures.mean_queue(received, transit, 0, 10) == pytest.approx(2000, rel=0.01)


# Frames of inelastic sources


def _voice(arrived):
    created = np.arange(0, 30, 0.02)
    return Units(created, arrived(created), 0.02)


def test_silences_of_the_source_are_not_jitter():
    created = np.concatenate([np.arange(0, 5, 0.02), np.arange(6, 10, 0.02)])
    units = Units(created, created + 0.1, 0.02)
    assert units.intervals(0, 10) == pytest.approx(np.full(len(created) - 1, 0.02))
    # Every second frame is 5 ms late: intervals of 25 and 15 ms, jitter of half an interval.
    created = created[:-1]
    late = Units(created, created + 0.1 + 0.005 * (np.arange(len(created)) % 2), 0.02)
    assert measures.relative_jitter(late.intervals(0, 10)) == pytest.approx(0.5)


def test_frames_that_never_arrive_are_lost():
    units = _voice(lambda t: np.where(np.arange(len(t)) % 5 == 0, np.inf, t + 0.1))
    assert units.lost(0, 30) == pytest.approx(0.2)
    assert units.delays(0, 30) == pytest.approx(np.full(1200, 0.1), abs=1e-9)


def test_service_below_the_request():
    # Nothing arrives that was made from 12 s to 14 s; a window of 0.2 s is short of 80 % that long, and an edge.
    units = _voice(lambda t: np.where((t >= 12) & (t < 14), np.inf, t + 0.1))
    assert units.shortfall(10.0, 0.1) == pytest.approx(2.0, abs=0.2)
    assert units.adaptation(10.0, 0.1, 0.1) == pytest.approx(0, abs=0.01)
    # Without the frames made in the first 3 s after the handover, it has adapted when these are out of its window.
    units = _voice(lambda t: np.where((t >= 9.9) & (t < 13), np.inf, t + 0.1))
    assert units.adaptation(10.0, 0.1, 0.1) == pytest.approx(3.5, abs=0.15)
    assert units.lost_volume(10.0, 0.1, 0.1) == pytest.approx(0.31, abs=0.02)


def test_a_frame_arrives_with_the_last_of_its_packets():
    # Two frames of two packets; the second packet comes twice, the fourth never.
    made = Frames(np.arange(4) * 0.1, np.full(4, 10), np.array([0.1, 0.3]), np.array([2, 4]), np.array([20, 40]))
    units = from_datagrams(made, np.array([1, 0, 1, 2]), np.array([1.0, 1.5, 1.2, 1.6]), 0.2)
    assert units.arrived_s.tolist() == [1.5, math.inf]


def test_a_frame_of_a_stream_arrives_when_nothing_before_it_is_missing():
    # Bytes 10 to 20 come late, in a segment that repeats some of the first.
    seq, size = np.array([0, 20, 30, 5]), np.array([10, 10, 10, 15])
    times, total = in_order(seq, size, np.array([1.0, 2.0, 3.0, 4.0]))
    assert (times.tolist(), total.tolist()) == ([1.0, 4.0], [10, 40])
    made = Frames(
        np.arange(4) * 0.1, np.full(4, 10), np.array([0.1, 0.3, 0.5]), np.array([1, 3, 5]), np.array([10, 30, 50])
    )
    assert from_stream(made, seq, size, np.array([1.0, 2.0, 3.0, 4.0]), 0.2).arrived_s.tolist() == [1.0, 4.0, math.inf]


def test_the_oldest_makes_room_where_two_may_wait():
    # Made at 0, 1, 2, 3; nothing is sent before 2.5, when 1 and 2 wait; then 3 comes, and 2 and 3 are sent.
    assert sent_places(np.array([0.0, 1, 2, 3]), np.array([2.5, 3.5, 3.6]), 2).tolist() == [1, 2, 3]
    assert sent_places(np.array([0.0, 1, 2, 3]), np.array([3.5, 3.6]), 2).tolist() == [2, 3]


# Over-provisioning and scalability


def test_the_search_finds_the_factor_of_a_known_delay():
    # A queue of 64 000 B takes 64 000/48 000 s at factor 1.
    growth = overprovision.search(0.1, lambda factor: 64 / 48 / factor)
    assert growth.factor == pytest.approx(64 / 4.8, rel=0.03)
    assert growth.factor >= 64 / 4.8
    assert overprovision.search(2.0, lambda factor: 64 / 48 / factor).factor == 1
    assert math.isinf(overprovision.search(0.1, lambda _: 1.0).factor)


def test_the_delay_bound_of_voice_is_that_of_rfc_2212():
    # 144 B of tokens, packets of 72 B and 30 kbit/s: 19.2 ms of burst, 57.6 ms of packets at two hops and the
    # sender's own, 20.8 and 0.08 ms of the longest packet; the empty way takes 140 ms, 1.5 ms and 6 µs.
    expected = 0.0192 + 0.0576 + 1 / 48 + 0.00008 + 0.14 + 0.0015 + 72 * 8 / 100e6
    assert overprovision.delay_bound_s(Taken()) == pytest.approx(expected, rel=1e-6)


def _counted(core_bytes, hosts=(), bottleneck=()):
    return Counted(frozenset(hosts), frozenset(bottleneck), frozenset(), 2 * core_bytes, core_bytes, {}, 0.0)


def test_state_of_each_flow_is_the_slope_in_the_core():
    plain = [_counted(0.0)] * 4
    grows = counters([_counted(50.0 + 8 * n, ["x"], ["y"]) for n in FLOWS], plain)
    assert grows.core_slope == pytest.approx(8)
    assert grows.slope == pytest.approx(16)
    assert grows.parts == grades.Parts(hosts=True, bottleneck=True, elsewhere=False, per_flow=True)
    assert not counters([_counted(800.0)] * 4, plain).parts.per_flow


# Grades


@pytest.mark.parametrize(
    ("jitter", "ratio", "grade"),
    [
        (0.05, 1.2, "very high"),
        (0.05, 1.3, "high"),
        (0.2, 2.0, "high"),
        (0.3, 1.0, "medium"),
        (0.5, 3.6, "low"),
        (1.5, 9.0, "low"),
        (0.9, 50.0, "low"),
        (1.1, 11.0, "very low"),
    ],
)
def test_grades_of_media_friendliness(jitter, ratio, grade):
    assert grades.media_friendliness(jitter, ratio) == grade


@pytest.mark.parametrize(
    ("rtts", "dropped", "below", "grade"),
    [
        (5, 0, 0, "very high"),
        (5, 1000, 0, "high"),
        (15, 32_000, 0, "high"),
        (15, 33_000, 0, "medium"),
        (16, 0, 0, "medium"),
        (50, 64_000, 0, "medium"),
        (51, 0, 0, "low"),
        (5, 65_000, 0, "low"),
        (5, 0, 1.1, "low"),
        (math.inf, 0, 0, "very low"),
    ],
)
def test_grades_of_dynamic_behaviour(rtts, dropped, below, grade):
    assert grades.dynamic_behaviour(rtts, dropped, below) == grade


@pytest.mark.parametrize(
    ("mechanism", "parts"),
    [
        ("reno", grades.Parts(hosts=False, bottleneck=False, elsewhere=False, per_flow=False)),
        ("tfrc", grades.Parts(hosts=True, bottleneck=False, elsewhere=False, per_flow=False)),
        ("ewa", grades.Parts(hosts=False, bottleneck=True, elsewhere=False, per_flow=False)),
        ("xcp", grades.Parts(hosts=True, bottleneck=True, elsewhere=True, per_flow=False)),
        ("intserv", grades.Parts(hosts=True, bottleneck=True, elsewhere=True, per_flow=True)),
    ],
)
def test_grades_of_scalability_are_the_papers_for_what_it_says_they_change(mechanism, parts):
    assert grades.scalability(parts) == TABLE_1[mechanism][1]


def test_the_median_run_gives_the_grade():
    assert grades.median_grade(["low", "high", "very high"]) == "high"
    assert grades.median_grade(["low", "high"]) == "low"
    assert grades.worse(["high", "medium"]) == "medium"
    assert grades.steps("high", "low") == 2


def test_round_trips_of_the_empty_path():
    # 70 ms each way, and a packet of 1000 B takes 1/480 s at 3.84 Mbit/s.
    assert Taken().rtt_s(fast=True) == pytest.approx(0.14 + 1 / 480)
    assert Taken().rtt_s(fast=False) == pytest.approx(0.28 + 1 / 48)
    assert END == 30
