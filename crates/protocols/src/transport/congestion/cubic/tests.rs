use super::super::Begun;
use super::*;

const SMSS: u64 = 1000;
const RTT: f64 = 0.1;

fn seat(initial_window: u64, initial_ssthresh: u64) -> EndpointContext {
    EndpointContext {
        smss: SMSS as u32,
        header: 40,
        options: 0,
        initial_window,
        initial_ssthresh,
        sack: true,
        flow: 0,
        seed: 0,
        begun: Begun::default(),
    }
}

/// A controller at `segments` whose window is lost at once, in congestion avoidance.
fn after_loss(segments: u64) -> Cubic {
    let config = Config::default();
    let mut cubic = Cubic::new(config, &seat(segments * SMSS, segments * SMSS));
    cubic.on_congestion(&loss(segments));
    cubic
}

fn loss(segments: u64) -> CongestionEvent {
    let now = Instant::ZERO;
    CongestionEvent { now, kind: CongestionKind::Loss, flight: segments * SMSS, lost: SMSS, resent: false }
}

fn sample(seconds: f64, acked: u64) -> AckSample {
    AckSample {
        now: Instant::from_secs_f64(seconds),
        acked,
        srtt: Duration::from_secs_f64(RTT),
        window_limited: true,
        ..AckSample::default()
    }
}

/// Acknowledges whole windows, evenly over each round trip, up to `until` seconds.
fn run(cubic: &mut Cubic, until: f64) {
    let mut t = 0.0;
    while t < until {
        t += RTT * SMSS as f64 / cubic.window() as f64;
        cubic.on_ack(&sample(t, SMSS));
    }
}

/// §4.2: the target is 1.5 cwnd where the curve is above that a round trip later.
#[test]
fn the_window_grows_by_half_in_a_round_trip_at_most() {
    let mut cubic = after_loss(100);
    cubic.on_ack(&sample(0.0, SMSS));
    let before = cubic.cwnd;
    // W_cubic(20.1 s) = 0.4·15.9³ + 100, some 1,700 segments.
    cubic.on_ack(&sample(20.0, SMSS));
    assert!((cubic.cwnd - before - 0.5).abs() < 1e-9, "{} and {before}", cubic.cwnd);
}

#[test]
fn a_loss_at_100_segments_puts_the_plateau_4_217_seconds_later() {
    let mut cubic = after_loss(100);
    assert_eq!(cubic.window(), 70 * SMSS);
    cubic.on_ack(&sample(0.0, SMSS));
    let epoch = cubic.epoch.as_ref().unwrap();
    assert!((epoch.k - 4.217_163_3).abs() < 1e-6, "{}", epoch.k);
    assert!((cubic.alpha - 0.529_411_76).abs() < 1e-8);
}

/// W_cubic(t) = C·(t − K)³ + W_max. The window follows it at most a round trip behind, where
/// it is above Reno's.
#[test]
fn the_window_follows_the_cubic_curve() {
    // A window of 1000 segments: K = 9.086 s, and Reno's share stays far below.
    let k = libm::cbrt(1000.0 * 0.3 / 0.4);
    let curve = |t: f64| 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
    for t in [1.0, 3.0, 6.0, 9.086, 12.0, 15.0] {
        let mut cubic = after_loss(1000);
        run(&mut cubic, t);
        let cwnd = cubic.window() as f64 / SMSS as f64;
        let (low, high) = (curve(t - RTT) - 1.0, curve(t + RTT) + 1.0);
        assert!((low..=high).contains(&cwnd), "at {t} s: {cwnd}, the curve has {}", curve(t));
    }
}

/// In the Reno-friendly region the window grows by α segments a round trip up to the window
/// before the loss, then by one.
#[test]
fn a_small_window_grows_as_reno_does_on_average() {
    let mut cubic = after_loss(10);
    // From 7 to 10 segments at 0.529 a round trip: 5.7 round trips.
    run(&mut cubic, 5.0 * RTT);
    let cwnd = cubic.window() as f64 / SMSS as f64;
    assert!((cwnd - (7.0 + 5.0 * 0.529)).abs() < 0.15, "{cwnd}");
    let mut late = after_loss(10);
    run(&mut late, 15.67 * RTT);
    let cwnd = late.window() as f64 / SMSS as f64;
    assert!((cwnd - 20.0).abs() < 0.6, "ten round trips after it is back: {cwnd}");
}

/// RFC 9438 §4.2, §5.8: t has no part of a time in which the window did not grow because the application sent nothing.
#[test]
fn an_idle_time_does_not_count_in_t() {
    let (mut steady, mut paused) = (after_loss(100), after_loss(100));
    run(&mut steady, 2.0);
    run(&mut paused, 2.0);
    paused.on_idle(Duration::from_secs(30));
    for n in 1..200 {
        let later = 2.0 + f64::from(n) * 0.01;
        steady.on_ack(&sample(later, SMSS));
        paused.on_ack(&sample(30.0 + later, SMSS));
        assert_eq!(steady.window(), paused.window(), "{n} acknowledgements later");
    }
}

/// RFC 8511 §3.1: 0.85 for a mark, and still 0.7 for a loss; §4: not in slow start.
#[test]
fn abe_lowers_the_window_less_for_a_mark() {
    let marked = |abe: bool, threshold: u64| {
        let mut cubic = Cubic::new(Config { abe, ..Config::default() }, &seat(100 * SMSS, threshold));
        cubic.on_congestion(&CongestionEvent { kind: CongestionKind::Ecn, ..loss(100) });
        (cubic.window(), cubic.ssthresh(), cubic.w_max)
    };
    for (abe, threshold, segments) in [(true, 100 * SMSS, 85), (false, 100 * SMSS, 70), (true, u64::MAX, 70)] {
        assert_eq!(marked(abe, threshold), (segments * SMSS, Some(segments * SMSS), 100.0));
    }
    let mut cubic = Cubic::new(Config { abe: true, ..Config::default() }, &seat(100 * SMSS, 100 * SMSS));
    cubic.on_congestion(&loss(100));
    assert_eq!(cubic.window(), 70 * SMSS);
}

#[test]
fn fast_convergence_lowers_the_plateau() {
    let mut cubic = after_loss(100);
    cubic.on_congestion(&loss(70));
    assert!((cubic.w_max - 70.0 * 0.85).abs() < 1e-9);
    assert_eq!(cubic.window(), 49 * SMSS);
}

#[test]
fn after_a_timeout_the_curve_begins_at_its_middle() {
    let mut cubic = after_loss(100);
    cubic.on_timeout(Instant::ZERO, 70 * SMSS, false);
    assert_eq!((cubic.window(), cubic.ssthresh()), (SMSS, Some(49 * SMSS)));
    run(&mut cubic, 4.0);
    let epoch = cubic.epoch.as_ref().unwrap();
    assert_eq!(epoch.k, 0.0);
    assert!((cubic.w_max - 49.0).abs() < 1.0, "{}", cubic.w_max);
}

/// §4.8: W_max of the stage after a timeout is the window at its start. So a loss that ends it is above W_max, which fast convergence
/// (§4.7) leaves where it is, whatever the window was before the timeout.
#[test]
fn the_loss_after_a_timeouts_stage_is_not_taken_for_one_below_the_last_plateau() {
    let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, 100 * SMSS));
    cubic.on_timeout(Instant::ZERO, 100 * SMSS, false);
    run(&mut cubic, 3.0);
    let before = cubic.cwnd;
    assert!(before > 71.0 && before < 99.0, "{before}");
    cubic.on_congestion(&loss(before as u64));
    assert_eq!(cubic.w_max, before);
}

/// §4.6, Fig. 5: a mark leaves at least one segment, a loss two; ssthresh is at least two.
#[test]
fn a_mark_may_leave_less_than_two_segments() {
    let mut cubic = after_loss(4);
    let marked = CongestionEvent { kind: CongestionKind::Ecn, ..loss(2) };
    cubic.on_congestion(&marked);
    assert_eq!((cubic.window(), cubic.ssthresh()), (1_400, Some(2 * SMSS)));
    cubic.on_congestion(&CongestionEvent { flight: SMSS, ..marked });
    assert_eq!((cubic.window(), cubic.ssthresh()), (SMSS, Some(2 * SMSS)));
    cubic.on_congestion(&loss(1));
    assert_eq!((cubic.window(), cubic.ssthresh()), (2 * SMSS, Some(2 * SMSS)));
}

/// §4.10: the stage after HyStart++ begins at the middle of its curve, and grows as Reno does
/// there, by a segment in a round trip (§4.3).
#[test]
fn after_a_slow_start_that_no_loss_ended_the_curve_begins_at_its_middle() {
    let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, u64::MAX));
    let slow =
        |round: u64, rtt_ms: u64| AckSample { round, rtt: Some(Duration::from_millis(rtt_ms)), ..sample(0.0, SMSS) };
    for round in 1..=6 {
        for _ in 0..8 {
            cubic.on_ack(&slow(round, if round == 1 { 100 } else { 120 }));
        }
    }
    assert_eq!(cubic.ssthresh(), None);
    // 16 ACKs in full, 32 that count a quarter.
    assert_eq!(cubic.window(), 124 * SMSS);
    cubic.on_ack(&slow(7, 120));
    assert_eq!(cubic.ssthresh(), Some(124 * SMSS));
    let epoch = cubic.epoch.as_ref().unwrap();
    assert_eq!((epoch.k, cubic.w_max), (0.0, 124.0));
    run(&mut cubic, 5.0 * RTT);
    let cwnd = cubic.window() as f64 / SMSS as f64;
    assert!((cwnd - 129.0).abs() < 0.2, "{cwnd}");
}

/// RFC 9406 §4.2, §4.3: a loss, a mark or a timeout ends HyStart++ for the connection's life.
#[test]
fn later_slow_starts_are_rfc_5681s() {
    let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, u64::MAX));
    assert!(cubic.hystart.is_some());
    cubic.on_timeout(Instant::ZERO, 100 * SMSS, false);
    assert!(cubic.hystart.is_none());
    // Equation (2): one segment, whatever is acknowledged.
    cubic.on_ack(&sample(1.0, 4 * SMSS));
    assert_eq!(cubic.window(), 2 * SMSS);
    let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, u64::MAX));
    cubic.on_congestion(&loss(100));
    assert!(cubic.hystart.is_none());
}

#[test]
fn time_in_which_the_window_was_not_used_does_not_count() {
    let mut used = after_loss(1000);
    run(&mut used, 3.0);
    let mut paused = used.clone();
    paused.on_ack(&AckSample { window_limited: false, ..sample(3.0, SMSS) });
    paused.on_ack(&sample(60.0, SMSS));
    used.on_ack(&sample(3.0, SMSS));
    assert_eq!(paused.window(), used.window());
}
