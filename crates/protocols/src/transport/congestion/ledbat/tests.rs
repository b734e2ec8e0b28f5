use super::super::{Begun, CongestionKind};
use super::*;

const SMSS: u64 = 1000;

fn ledbat(config: Config, window: u64, ssthresh: u64) -> Ledbat {
    let seat = EndpointContext {
        smss: SMSS as u32,
        header: 40,
        options: 12,
        initial_window: window * SMSS,
        initial_ssthresh: ssthresh.saturating_mul(SMSS),
        flow: 0,
        seed: 0,
        begun: Begun::default(),
        sack: true,
    };
    Ledbat::new(config, &seat)
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// An acknowledgement of a segment that took `delay` ms one way, with a full window in flight.
fn sample(ledbat: &Ledbat, delay: u64) -> AckSample {
    AckSample {
        acked: SMSS,
        one_way: Some(ms(delay)),
        rtt: Some(ms(delay + 500)),
        prior_in_flight: ledbat.window(),
        window_limited: true,
        ..AckSample::default()
    }
}

/// One at `window` segments whose base delay is 20 ms and whose queueing delay is `queueing` ms.
fn settled(window: u64, queueing: u64) -> Ledbat {
    let mut ledbat = ledbat(Config::default(), 2, u64::MAX);
    ledbat.delay.update(Instant::ZERO, ms(20));
    for _ in 0..4 {
        ledbat.delay.update(Instant::ZERO, ms(20 + queueing));
    }
    ledbat.cwnd = (window * SMSS) as f64;
    ledbat
}

fn loss() -> CongestionEvent {
    CongestionEvent { now: Instant::ZERO, kind: CongestionKind::Loss, flight: 0, lost: 0, resent: false }
}

/// off_target·S in a round trip: 0.75 S at 25 of 100 ms, nothing at the target, a segment less at twice the target.
#[test]
fn the_window_grows_by_the_share_of_the_target_that_is_left() {
    for (queueing, change) in [(0, 1.0), (25, 0.75), (100, 0.0), (200, -1.0), (400, -3.0)] {
        let mut ledbat = settled(50, queueing);
        for _ in 0..50 {
            let sample = sample(&ledbat, 20 + queueing);
            ledbat.on_ack(&sample);
        }
        // The sum of 1/w over 50 acknowledgements: w² = w₀² + 2·50·change.
        let law = f64::sqrt(2500.0 + 100.0 * change);
        let window = ledbat.cwnd / SMSS as f64;
        assert!((window - law).abs() < 0.005, "{queueing} ms: {window}, law {law}");
        assert!((law - 50.0 - change).abs() < 0.15 * change.abs() + 1e-9, "a round trip: {law}");
    }
}

#[test]
fn gain_and_target_scale_the_growth() {
    let mut half = settled(50, 20);
    (half.gain, half.target) = (0.5, 0.08);
    let sample = sample(&half, 40);
    half.on_ack(&sample);
    assert!((half.cwnd - 50_000.0 - 0.5 * 0.75 * 1000.0 / 50.0).abs() < 1e-9, "{}", half.cwnd);
}

/// §2.4.2: max_allowed_cwnd is the flight size and a segment.
#[test]
fn a_window_that_is_not_in_use_is_taken_back_to_the_flight() {
    let mut ledbat = settled(50, 0);
    let idle = AckSample { prior_in_flight: 10 * SMSS, ..sample(&ledbat, 20) };
    ledbat.on_ack(&idle);
    assert_eq!(ledbat.window(), 11 * SMSS);
    let empty = AckSample { prior_in_flight: 0, ..sample(&ledbat, 20) };
    ledbat.on_ack(&empty);
    assert_eq!(ledbat.window(), 2 * SMSS, "MIN_CWND");
}

#[test]
fn while_losses_are_repaired_the_window_does_not_grow() {
    let mut ledbat = settled(50, 0);
    let recovering = AckSample { recovering: true, prior_in_flight: 10 * SMSS, ..sample(&ledbat, 20) };
    ledbat.on_ack(&recovering);
    assert_eq!(ledbat.window(), 50 * SMSS);
}

#[test]
fn a_loss_takes_half_down_to_two_segments() {
    for (before, after) in [(50, 25), (3, 2), (2, 2), (1, 1)] {
        let mut ledbat = settled(before, 0);
        ledbat.on_congestion(&loss());
        assert_eq!((ledbat.window(), ledbat.ssthresh()), (after * SMSS, None), "{before}");
    }
}

/// The segment, then two: MIN_CWND.
#[test]
fn a_timeout_leaves_one_segment() {
    let mut ledbat = settled(50, 0);
    let mut saved = ledbat.snapshot();
    ledbat.on_timeout(Instant::ZERO, 50 * SMSS, false);
    assert_eq!(ledbat.window(), SMSS);
    let next = AckSample { prior_in_flight: SMSS, ..sample(&ledbat, 20) };
    ledbat.on_ack(&next);
    assert_eq!(ledbat.window(), 2 * SMSS);
    saved.on_undo(&Undo { now: Instant::ZERO, flight: 50 * SMSS, window: 40 * SMSS });
    assert_eq!((saved.window(), saved.ssthresh()), (40 * SMSS, None));
}

#[test]
fn rules_of_a_recovery_hold() {
    let mut ledbat = settled(50, 0);
    ledbat.on_rule(Instant::ZERO, WindowRule::Recovery(60 * SMSS));
    assert_eq!(ledbat.window(), 50 * SMSS);
    ledbat.on_rule(Instant::ZERO, WindowRule::Start(10 * SMSS));
    assert_eq!(ledbat.window(), 10 * SMSS);
    ledbat.on_rule(Instant::ZERO, WindowRule::Genuine(3 * SMSS));
    assert_eq!(ledbat.window(), 3 * SMSS);
    ledbat.on_rule(Instant::ZERO, WindowRule::Recovery(1));
    assert_eq!(ledbat.window(), SMSS);
}

/// INIT_CWND; with a slow start TCP's initial window, doubled in each round trip until a loss.
#[test]
fn it_begins_with_two_segments_or_as_tcp_does() {
    assert_eq!(ledbat(Config::default(), 10, u64::MAX).window(), 2 * SMSS);
    assert_eq!(ledbat(Config::default(), 1, u64::MAX).window(), SMSS);
    let mut slow = ledbat(Config { slow_start: true, ..Config::default() }, 10, u64::MAX);
    for _ in 0..30 {
        let sample = sample(&slow, 20);
        slow.on_ack(&sample);
    }
    assert_eq!((slow.window(), slow.ssthresh()), (40 * SMSS, None));
    slow.on_congestion(&loss());
    assert_eq!((slow.window(), slow.ssthresh()), (20 * SMSS, Some(20 * SMSS)));
    slow.on_timeout(Instant::ZERO, 20 * SMSS, false);
    assert_eq!((slow.window(), slow.ssthresh()), (SMSS, Some(10 * SMSS)));
    slow.on_timeout(Instant::ZERO, SMSS, true);
    assert_eq!(slow.ssthresh(), Some(10 * SMSS));
    let stated = ledbat(Config { slow_start: true, ..Config::default() }, 10, 30);
    assert_eq!(stated.ssthresh(), Some(30 * SMSS));
}

#[test]
fn a_window_that_the_delay_has_lowered_does_not_come_back_by_slow_start() {
    let mut ledbat = Ledbat { ssthresh: 50_000.0, ..settled(50, 400) };
    for delay in [420; 50].into_iter().chain([20; 54]) {
        let sample = sample(&ledbat, delay);
        ledbat.on_ack(&sample);
    }
    // Three segments and more for 53 acknowledgements, of which the first three still see the queue; then one.
    assert!((ledbat.cwnd / 1e3 - 47.9).abs() < 0.2, "{}", ledbat.cwnd);
}

/// A path longer by 150 ms: its delay counts as a queue for up to ten minutes, unless the terminal says so.
#[test]
fn a_change_of_the_path_voids_the_base_delay() {
    let mut blind = settled(50, 0);
    let mut told = blind.clone();
    told.on_path_change(Instant::ZERO);
    for (ledbat, after) in [(&mut blind, 49.5), (&mut told, 51.0)] {
        for _ in 0..53 {
            let sample = sample(ledbat, 170);
            ledbat.on_ack(&sample);
        }
        let window = ledbat.cwnd / SMSS as f64;
        assert!((window - after).abs() < 0.1, "{window}");
    }
}

#[test]
fn without_time_stamps_round_trip_times_count() {
    let mut ledbat = settled(50, 0);
    ledbat.delay.clear();
    for rtt in [500, 600, 600, 600, 600] {
        let sample = AckSample { one_way: None, rtt: Some(ms(rtt)), ..sample(&ledbat, 20) };
        ledbat.on_ack(&sample);
    }
    assert_eq!(ledbat.delay.get(), Some(ms(100)));
}

#[test]
fn nonsense_is_refused() {
    let with = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config.check().err().map(|fault| fault.field)
    };
    let refused = |field: &str, change: fn(&mut Config)| assert_eq!(with(change).as_deref(), Some(field));
    assert!(with(|_| ()).is_none());
    refused("target", |c| c.target = Duration::ZERO);
    refused("target", |c| c.target = ms(101));
    refused("gain", |c| c.gain = f64::NAN);
    refused("gain", |c| c.gain = 1.5);
    refused("base_history", |c| c.base_history = 0);
    refused("filter", |c| c.filter = 1_000_000);
}
