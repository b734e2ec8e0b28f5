use super::super::{Begun, CongestionKind};
use super::*;

const SMSS: u64 = 1000;

fn copa(config: Config, window: u64) -> Copa {
    let seat = EndpointContext {
        smss: SMSS as u32,
        header: 0,
        options: 0,
        initial_window: window * SMSS,
        initial_ssthresh: u64::MAX,
        flow: 0,
        seed: 0,
        begun: Begun::default(),
        sack: true,
    };
    Copa::new(config, &seat)
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// An acknowledgement of a segment at `at` ms, that took `rtt` ms, in this round trip.
fn sample(copa: &Copa, at: u64, rtt: u64, round: u64) -> AckSample {
    AckSample {
        now: Instant::ZERO + ms(at),
        acked: SMSS,
        delivered: copa.delivered + SMSS,
        rtt: Some(ms(rtt)),
        srtt: ms(50),
        round,
        window_limited: true,
        ..AckSample::default()
    }
}

fn ack(copa: &mut Copa, at: u64, rtt: u64, round: u64) {
    let sample = sample(copa, at, rtt, round);
    copa.on_ack(&sample);
}

/// One out of slow start with RTT_min 40 ms and RTT_standing `standing` ms, at 1000 ms.
fn settled(config: Config, window: u64, standing: u64) -> Copa {
    let mut copa = copa(config, window);
    copa.slow_start = false;
    ack(&mut copa, 900, 40, 0);
    ack(&mut copa, 1_000, standing, 0);
    copa.cwnd = window as f64;
    copa.velocity = Velocity::new(true, copa.cwnd);
    copa
}

fn loss() -> CongestionEvent {
    CongestionEvent { now: Instant::ZERO, kind: CongestionKind::Loss, flight: 0, lost: 0, resent: false }
}

/// d_q 10 ms and δ 0.5 ask for 200 packets/s, in 50 ms a window of 10. With δ = 0.05 for 100.
#[test]
fn the_window_moves_towards_the_target_rate() {
    for (delta, target) in [(0.5, 10), (0.05, 100)] {
        let config = Config { delta, ..Config::default() };
        for (window, sign) in [(target - 1, 1.0), (target, 1.0), (target + 1, -1.0)] {
            let mut copa = settled(config, window, 50);
            assert_eq!(copa.delays.queueing(), Some((0.05, 0.01)));
            ack(&mut copa, 1_001, 50, 0);
            let step = 1.0 / (delta * window as f64);
            assert!((copa.cwnd - window as f64 - sign * step).abs() < 1e-9, "δ {delta}, {window}: {}", copa.cwnd);
        }
    }
}

/// v/(δ·cwnd) for each packet: w² = w₀² + 2n/δ after n of them.
#[test]
fn the_window_changes_by_two_packets_in_a_round_trip() {
    let mut copa = settled(Config::default(), 20, 40);
    for _ in 0..100 {
        ack(&mut copa, 1_001, 40, 0);
    }
    let law = f64::sqrt(400.0 + 4.0 * 100.0);
    assert!((copa.cwnd - law).abs() < 0.1, "{} and {law}", copa.cwnd);
}

#[test]
fn slow_start_doubles_until_the_target_rate() {
    let mut copa = copa(Config::default(), 10);
    for n in 0..30 {
        ack(&mut copa, n, 40, n / 10);
    }
    assert_eq!((copa.window(), copa.slow_start), (40 * SMSS, true));
    // 20 ms of queue ask for 100 packets/s, 6 in a round trip.
    ack(&mut copa, 100, 60, 3);
    assert!(!copa.slow_start);
    assert!(copa.cwnd < 40.0);
}

/// v doubles in each round trip after the direction has stayed the same for three.
#[test]
fn velocity_doubles_after_three_round_trips_in_one_direction() {
    let mut velocity = Velocity::new(true, 1000.0);
    let mut seen = Vec::new();
    for n in 1..=6 {
        velocity.on_round(1000.0 + f64::from(n));
        seen.push(velocity.v);
    }
    assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0], "the first round trip shows the direction");
    let mut down = Vec::new();
    for n in 0..5 {
        velocity.on_round(900.0 - f64::from(n));
        down.push((velocity.v, velocity.up));
    }
    assert_eq!(down, [(1.0, false), (1.0, false), (1.0, false), (2.0, false), (4.0, false)]);
    let mut short = Velocity::new(true, 3.0);
    for n in 1..=20 {
        short.on_round(3.0 + f64::from(n) / 100.0);
    }
    assert!(short.v <= 3.2, "at most the window: {}", short.v);
}

#[test]
fn a_sudden_turn_ends_a_high_velocity() {
    let mut copa = settled(Config::default(), 20, 40);
    copa.velocity.v = 16.0;
    // The queue is there at once: 30 ms ask for 4.7 packets.
    ack(&mut copa, 2_000, 70, 0);
    assert_eq!(copa.velocity.v, 1.0);
    assert!((copa.cwnd - 19.9).abs() < 1e-9, "{}", copa.cwnd);
}

#[test]
fn a_window_that_is_not_in_use_does_not_grow_but_shrinks() {
    for (rtt, window) in [(40, 20.0), (70, 19.9)] {
        let mut copa = settled(Config::default(), 20, 40);
        let idle = AckSample { window_limited: false, ..sample(&copa, 2_000, rtt, 1) };
        copa.on_ack(&idle);
        assert!((copa.cwnd - window).abs() < 1e-9, "{rtt} ms: {}", copa.cwnd);
    }
}

/// Half a second of a queue between 20 ms and 60 ms: it is never nearly empty, and in each round trip of 50 ms there is another packet to aim
/// at. The queue is seen as full after five of them.
fn fill(copa: &mut Copa, from: u64, round: u64) {
    for n in 0..50 {
        let rtt = if n % 5 == 0 { 100 } else { 60 };
        ack(copa, from + 10 * n, rtt, round + n / 5);
    }
}

#[test]
fn against_a_full_queue_delta_follows_losses() {
    let mut copa = settled(Config::default(), 20, 40);
    fill(&mut copa, 1_010, 1);
    // Five round trips without an empty queue, then one more packet in each.
    assert_eq!(copa.packets(), 6.0);
    copa.on_congestion(&loss());
    assert_eq!(copa.packets(), 3.0);
    ack(&mut copa, 1_510, 60, 11);
    assert_eq!(copa.packets(), 3.0, "not in the round trip of a loss");
    ack(&mut copa, 1_560, 60, 12);
    assert_eq!(copa.packets(), 4.0);
    for _ in 0..5 {
        copa.on_congestion(&loss());
    }
    assert_eq!(copa.packets(), 2.0, "δ is at most the default");
    ack(&mut copa, 1_600, 40, 13);
    assert!(copa.competing.is_none(), "the queue is empty");
    let mut plain = settled(Config { competitive: false, ..Config::default() }, 20, 40);
    fill(&mut plain, 1_010, 1);
    assert_eq!(plain.packets(), 2.0);
}

#[test]
fn a_loss_alone_changes_nothing() {
    let mut copa = settled(Config::default(), 20, 50);
    let before = (copa.window(), copa.packets(), copa.pacing_rate());
    copa.on_congestion(&loss());
    assert_eq!((copa.window(), copa.packets(), copa.pacing_rate()), before);
}

/// 2·cwnd/RTT_standing: 20 packets of 1000 B, 50 ms: 6.4 Mbit/s. With headers of 40 B on the wire 4 % more.
#[test]
fn the_pace_is_twice_the_window_in_a_standing_round_trip_time() {
    let mut copa = settled(Config::default(), 20, 50);
    assert_eq!(copa.pacing_rate(), Some(BitRate::from_kbps(6_400)));
    copa.overhead = 1.04;
    assert_eq!(copa.pacing_rate(), Some(BitRate::from_kbps(6_656)));
    assert_eq!(self::copa(Config::default(), 20).pacing_rate(), None);
}

#[test]
fn a_timeout_begins_anew_and_an_undo_restores() {
    let mut copa = settled(Config::default(), 20, 50);
    let mut saved = copa.snapshot();
    copa.on_timeout(Instant::ZERO, 20 * SMSS, false);
    assert_eq!((copa.window(), copa.slow_start), (SMSS, true));
    saved.on_undo(&Undo { now: Instant::ZERO, flight: 20 * SMSS, window: 12 * SMSS });
    assert_eq!((saved.window(), saved.pacing_rate().unwrap().as_bps()), (12 * SMSS, 3_840_000));
}

#[test]
fn only_a_new_start_lowers_the_window_from_outside() {
    let mut copa = settled(Config::default(), 20, 50);
    copa.on_rule(Instant::ZERO, WindowRule::Recovery(SMSS));
    assert_eq!(copa.window(), 20 * SMSS);
    copa.on_rule(Instant::ZERO, WindowRule::Start(10 * SMSS));
    assert_eq!((copa.window(), copa.slow_start), (10 * SMSS, true));
    copa.on_rule(Instant::ZERO, WindowRule::Start(1));
    assert_eq!(copa.window(), SMSS);
}

/// From 40 ms to 140 ms: for ten seconds the longer path looks like a queue of 100 ms, unless the terminal says so. In default mode that asks for
/// a window of 2/0.1·0.14 = 2.8 packets. The competitive mode takes it for a flow that fills the queue, and aims at another packet in each
/// round trip.
#[test]
fn a_change_of_the_path_voids_the_least_round_trip_time() {
    let plain = Config { competitive: false, ..Config::default() };
    for (config, changed, queueing, windows) in [
        (plain, false, 0.1, 2.0..4.0),
        (Config::default(), false, 0.1, 20.0..40.0),
        (plain, true, 0.0, 40.0..1e6),
        (Config::default(), true, 0.0, 40.0..1e6),
    ] {
        let mut copa = settled(config, 20, 40);
        if changed {
            copa.on_path_change(Instant::ZERO + ms(1_000));
        }
        for n in 0..300 {
            ack(&mut copa, 1_200 + 10 * n, 140, n / 14);
        }
        assert_eq!(copa.delays.queueing(), Some((0.14, queueing)));
        assert!(windows.contains(&copa.cwnd), "{config:?} {changed}: {}", copa.cwnd);
        ack(&mut copa, 11_010, 140, 100);
        assert_eq!(copa.delays.queueing(), Some((0.14, 0.0)), "ten seconds later it is forgotten");
    }
}

#[test]
fn nonsense_is_refused() {
    for delta in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(Config { delta, ..Config::default() }.check().is_err(), "{delta}");
    }
    assert!(Config::default().check().is_ok());
}
