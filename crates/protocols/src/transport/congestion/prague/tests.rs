use super::super::Begun;
use super::*;
use lasthop_net::engine::Streams;

const SMSS: u64 = 1460;

fn seat(window: u64, ssthresh: u64) -> EndpointContext {
    EndpointContext {
        smss: SMSS as u32,
        header: 40,
        options: 0,
        initial_window: window * SMSS,
        initial_ssthresh: ssthresh.saturating_mul(SMSS),
        flow: 0,
        seed: 0,
        begun: Begun::default(),
        sack: true,
    }
}

/// A controller at `window` segments, in congestion avoidance.
fn prague(window: u64) -> Prague {
    Prague::new(Config::default(), &seat(window, window))
}

/// One whose round-trip time is `us` and which is old enough to be independent of it.
fn old(window: u64, us: u64) -> Prague {
    Prague { srtt: us << 3, rounds: 500, ..prague(window) }
}

/// At `us`, an acknowledgement of `segments` segments, `marked` of them marked; as many as the window are in flight.
fn sample(prague: &Prague, us: u64, segments: u64, marked: u64) -> AckSample {
    AckSample {
        now: Instant::ZERO + Duration::from_micros(us),
        acked: segments * SMSS,
        ce: marked * SMSS,
        delivered: prague.delivered + segments * SMSS,
        prior_in_flight: prague.window(),
        in_flight: prague.window(),
        window_limited: true,
        ..AckSample::default()
    }
}

fn ack(prague: &mut Prague, us: u64, segments: u64, marked: u64) {
    let sample = sample(prague, us, segments, marked);
    prague.on_ack(&sample);
}

/// An acknowledgement after which nothing is in flight: the next one ends another round trip.
fn round(prague: &mut Prague, segments: u64, marked: u64) {
    let sample = AckSample { in_flight: 0, ..sample(prague, 0, segments, marked) };
    prague.on_ack(&sample);
}

fn loss() -> CongestionEvent {
    CongestionEvent { now: Instant::ZERO, kind: CongestionKind::Loss, flight: 0, lost: 0, resent: false }
}

fn window(prague: &Prague) -> f64 {
    prague.frac_cwnd as f64 / ONE_CWND as f64
}

fn alpha(prague: &Prague) -> u64 {
    prague.upscaled_alpha >> SHIFT_G
}

/// Alpha starts at 1, and loses a sixteenth in a round trip without marks: 0.82397 after three.
#[test]
fn alpha_is_a_moving_average_of_the_marked_share() {
    let mut quiet = prague(10);
    for _ in 0..20 {
        round(&mut quiet, 1, 0);
    }
    assert_eq!(alpha(&quiet), MAX_ALPHA, "without a first mark it says nothing");
    let mut three = prague(10);
    round(&mut three, 1, 1);
    for _ in 0..3 {
        round(&mut three, 10, 0);
    }
    assert_eq!(alpha(&three), 864_000);
    let mut some = prague(10);
    round(&mut some, 1, 1);
    round(&mut some, 20, 3);
    assert_eq!(alpha(&some), 992_870);
}

/// (rtt / 25 ms)², in units of 2⁷ µs; only after 500 round trips.
#[test]
fn short_round_trips_grow_less() {
    let cases = [(25_000, 1_048_576), (10_000, 167_772), (5_000, 41_943), (40_000, 1_048_576), (150_000, 1_048_576)];
    for (us, increase) in cases {
        let mut flow = old(10, us);
        flow.set_increase();
        assert_eq!(flow.increase, increase, "{us} µs");
        flow.rounds = 499;
        flow.set_increase();
        assert_eq!(flow.increase, ONE_CWND);
        let config = Config { rtt_target: Duration::ZERO, ..Config::default() };
        let mut dependent = Prague { srtt: us << 3, rounds: 500, ..Prague::new(config, &seat(10, 10)) };
        dependent.set_increase();
        assert_eq!(dependent.increase, ONE_CWND);
    }
}

#[test]
fn a_mark_takes_half_of_alpha_off_the_window_once_in_a_round_trip() {
    let mut flow = Prague { upscaled_alpha: MAX_ALPHA << 2, ..prague(100) };
    ack(&mut flow, 0, 1, 1);
    assert_eq!(window(&flow), 87.5);
    // The window in use follows by a segment on each acknowledgement.
    for n in 1..=100 {
        assert_eq!(flow.window() / SMSS, (100 - n).max(88), "after {n}");
        ack(&mut flow, n, 1, 1);
    }
    assert_eq!(window(&flow), 87.5, "marks of the data that were in flight");
    // Two round trips, all of whose data were marked, have moved alpha from 1/4: to 1/4·15/16 + 1/16, and once more so.
    let alpha = (0.25 * 15.0 / 16.0 + 1.0 / 16.0) * 15.0 / 16.0 + 1.0 / 16.0;
    ack(&mut flow, 101, 1, 1);
    assert!((window(&flow) - 87.5 * (1.0 - alpha / 2.0)).abs() < 1e-3, "the next round trip: {}", window(&flow));
}

#[test]
fn cuts_of_an_old_flow_are_as_far_apart_as_the_target() {
    let mut flow = old(100, 1_000);
    flow.upscaled_alpha = MAX_ALPHA << 2;
    ack(&mut flow, 1_000, 1, 1);
    assert_eq!(window(&flow), 87.5);
    // Round trips of a millisecond: 195·2⁷ µs have to pass.
    for us in [2_000, 3_000, 10_000, 25_900] {
        ack(&mut flow, us, 120, 120);
        assert_eq!(window(&flow), 87.5, "{us} µs");
    }
    ack(&mut flow, 25_960, 120, 120);
    assert!(window(&flow) < 87.5);
}

/// 1/⌈w⌉ on each acknowledgement. With ⌈w⌉ acknowledgements in a round trip that is a segment, less up to 1/w for the last ones, which see the
/// next whole number: over 50 round trips from 20 less than ln(70/20).
#[test]
fn without_marks_the_window_grows_by_a_segment_in_a_round_trip() {
    let mut flow = prague(20);
    for _ in 0..50 {
        for _ in 0..flow.whole() {
            ack(&mut flow, 0, 1, 0);
        }
    }
    let least = 70.0 - libm::log(70.0 / 20.0);
    assert!((least..=70.0).contains(&window(&flow)), "{}", window(&flow));
    assert_eq!(flow.window() / SMSS, flow.whole());
}

/// The mean window, over the second half of a million segments, of a flow of which each is marked with probability `p`.
fn marked(mut flow: Prague, rtt_us: f64, p: f64) -> f64 {
    const SEGMENTS: u32 = 1_000_000;
    let mut stream = Streams::new(1).stream("queue", "marks");
    let (mut us, mut sum) = (0.0, 0.0);
    for n in 0..SEGMENTS {
        us += rtt_us / window(&flow);
        let marks = u64::from(stream.chance(p));
        ack(&mut flow, us as u64, 1, marks);
        if n >= SEGMENTS / 2 {
            sum += window(&flow);
        }
    }
    sum / f64::from(SEGMENTS / 2)
}

/// In balance a window grows by 1 − p in a round trip and loses p·W/2 at each cut. With a cut in every round trip it is W = 2 (1 − p)/p. But a
/// cut is caused by a mark, and after a round trip the next one is 1/p segments away: W² = (W + 1/p)·2 (1 − p)/p.
#[test]
fn the_window_follows_the_law_of_its_cuts() {
    for p in [0.2, 0.1, 0.05, 0.02, 0.01] {
        let mean = marked(prague(20), 30_000.0, p);
        let a = 2.0 * (1.0 - p) / p;
        let law = a / 2.0 * (1.0 + f64::sqrt(1.0 + 4.0 / (a * p)));
        assert!((mean / law - 1.0).abs() < 0.1, "p = {p}: {mean}, law {law}");
    }
}

/// At the same share of marks flows of 5 ms and of 25 ms send at the same rate. Without a target the windows are the same, and the rates as 5 to 1.
#[test]
fn rates_do_not_depend_on_short_round_trip_times() {
    let rate = |flow: Prague, us: f64| marked(flow, us, 0.02) / us;
    let ratio = rate(old(20, 5_000), 5e3) / rate(old(20, 25_000), 25e3);
    assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
    let config = Config { rtt_target: Duration::ZERO, ..Config::default() };
    let dependent = |us: u64| Prague { srtt: us << 3, ..Prague::new(config, &seat(20, 20)) };
    let ratio = rate(dependent(5_000), 5e3) / rate(dependent(25_000), 25e3);
    assert!((ratio - 5.0).abs() < 0.75, "{ratio}");
}

#[test]
fn slow_start_ends_at_the_first_mark() {
    let mut flow = Prague::new(Config::default(), &seat(10, u64::MAX));
    for _ in 0..30 {
        ack(&mut flow, 0, 1, 0);
    }
    assert_eq!((flow.window() / SMSS, window(&flow), flow.ssthresh()), (40, 40.0, None));
    // Alpha is 1 until then.
    ack(&mut flow, 0, 2, 1);
    assert!((window(&flow) - 20.0).abs() < 0.1, "{}", window(&flow));
    for _ in 0..30 {
        ack(&mut flow, 0, 1, 0);
    }
    assert_eq!(flow.window() / SMSS, 22, "20 segments and 31 acknowledgements of growth");
}

#[test]
fn a_threshold_ends_slow_start() {
    let mut flow = Prague::new(Config::default(), &seat(10, 16));
    for _ in 0..6 {
        ack(&mut flow, 0, 1, 0);
    }
    assert_eq!(window(&flow), 16.0);
    ack(&mut flow, 0, 1, 0);
    assert!((window(&flow) - (16.0 + 1.0 / 16.0)).abs() < 1e-5, "{}", window(&flow));
}

#[test]
fn a_loss_takes_half_and_stops_growth_until_it_is_repaired() {
    let mut flow = prague(100);
    flow.on_congestion(&CongestionEvent { kind: CongestionKind::Ecn, ..loss() });
    assert_eq!(window(&flow), 100.0, "marks are counted");
    flow.on_congestion(&loss());
    flow.on_congestion(&loss());
    assert_eq!((window(&flow), flow.ssthresh()), (50.0, Some(50 * SMSS)));
    for n in 0..60 {
        assert_eq!(flow.window() / SMSS, (100 - n).max(50), "after {n}");
        let recovering = AckSample { recovering: true, ..sample(&flow, 0, 1, 1) };
        flow.on_ack(&recovering);
    }
    assert_eq!(window(&flow), 50.0, "marks and losses count once");
    for _ in 0..50 {
        ack(&mut flow, 0, 1, 0);
    }
    assert!((window(&flow) - 51.0).abs() < 0.05, "{}", window(&flow));
}

#[test]
fn a_timeout_leaves_one_segment_and_half_of_the_window_to_come_back_to() {
    let mut flow = prague(100);
    flow.on_timeout(Instant::ZERO, 100 * SMSS, false);
    assert_eq!((flow.window(), window(&flow), flow.ssthresh()), (SMSS, 50.0, Some(50 * SMSS)));
    flow.on_timeout(Instant::ZERO, SMSS, true);
    assert_eq!((flow.window(), window(&flow)), (SMSS, 50.0), "the same segment again");
    for n in 1..=10 {
        ack(&mut flow, 0, 1, 0);
        assert_eq!(flow.window() / SMSS, 1 + n);
    }
}

/// RFC 4015: how much may be in flight is RFC 4015's; where the window comes back to is as it was.
#[test]
fn an_undo_restores_the_fractional_window_and_alpha() {
    let mut flow = prague(100);
    let mut saved = flow.snapshot();
    flow.on_timeout(Instant::ZERO, 100 * SMSS, false);
    saved.on_undo(&Undo { now: Instant::ZERO, flight: 100 * SMSS, window: 30 * SMSS });
    assert_eq!((saved.window(), saved.ssthresh()), (30 * SMSS, Some(100 * SMSS)));
    let late = AckSample { delivered: 500 * SMSS, ..sample(&flow, 0, 1, 0) };
    saved.on_ack(&late);
    assert_eq!(saved.window(), 31 * SMSS, "of what was delivered meanwhile only the last acknowledgement counts");
}

#[test]
fn rules_of_a_recovery_set_the_window_in_use_and_a_new_start_both() {
    let mut flow = prague(100);
    flow.on_rule(Instant::ZERO, WindowRule::Recovery(200 * SMSS));
    assert_eq!(flow.window(), 100 * SMSS);
    flow.on_rule(Instant::ZERO, WindowRule::Recovery(40 * SMSS));
    assert_eq!((flow.window(), window(&flow)), (40 * SMSS, 100.0));
    flow.on_rule(Instant::ZERO, WindowRule::Start(10 * SMSS));
    assert_eq!((flow.window(), window(&flow)), (10 * SMSS, 10.0));
    flow.on_rule(Instant::ZERO, WindowRule::Recovery(1));
    assert_eq!(flow.window(), SMSS);
}

/// 20 segments of 1500 B on the wire in 40 ms: 6 Mbit/s.
#[test]
fn the_pace_is_the_window_in_a_round_trip_and_twice_that_early_in_slow_start() {
    let rate = |mut flow: Prague| {
        flow.pace();
        flow.pacing_rate().map(BitRate::as_bps)
    };
    assert_eq!(rate(prague(20)), None, "before the first sample");
    assert_eq!(rate(Prague { srtt: 40_000 << 3, ..prague(20) }), Some(6_000_000));
    for (ssthresh, bps) in [(42, 12_000_000), (41, 6_000_000)] {
        let slow = Prague { srtt: 40_000 << 3, ..Prague::new(Config::default(), &seat(20, ssthresh)) };
        assert_eq!(rate(slow), Some(bps), "{ssthresh}");
    }
}

/// srtt += (rtt − srtt)/8, in whole µs.
#[test]
fn a_change_of_the_path_forgets_the_round_trip_time_and_keeps_the_pace() {
    let mut flow = prague(20);
    let on_rtt = |flow: &mut Prague, ms: u64| {
        let timed = AckSample { rtt: Some(Duration::from_millis(ms)), window_limited: false, ..sample(flow, 0, 1, 0) };
        flow.on_ack(&timed);
    };
    on_rtt(&mut flow, 40);
    on_rtt(&mut flow, 48);
    assert_eq!(flow.srtt, 41_000 << 3);
    let before = flow.pacing_rate();
    flow.on_path_change(Instant::ZERO);
    assert_eq!(flow.pacing_rate(), before);
    on_rtt(&mut flow, 200);
    assert_eq!(flow.srtt, 200_000 << 3);
    assert_eq!(flow.pacing_rate(), Some(BitRate::from_kbps(1_200)));
}

#[test]
fn a_flow_all_of_whose_data_are_marked_does_not_stand_still() {
    let mut flow = Prague { srtt: 40_000 << 3, ..prague(100) };
    for n in 0..100_000 {
        ack(&mut flow, n, 1, 1);
    }
    assert_eq!((flow.window(), flow.pacing_rate()), (2 * SMSS, Some(BitRate::from_kbps(100))));
    for n in 0..10 {
        ack(&mut flow, n, 1, 0);
    }
    assert!(window(&flow) > 3.0, "{}", window(&flow));
}

#[test]
fn a_target_above_what_the_module_scales_is_refused() {
    let check = |ms| Config { rtt_target: Duration::from_millis(ms), ..Config::default() }.check();
    assert!(check(0).is_ok() && check(100).is_ok());
    assert_eq!(check(101).unwrap_err().message, "rtt_target is 101 ms");
}
