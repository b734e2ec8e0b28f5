use super::super::{Begun, CongestionKind};
use super::*;

const SMSS: u64 = 1000;

fn ledbat(window: u64) -> LedbatPp {
    let seat = EndpointContext {
        smss: SMSS as u32,
        header: 40,
        options: 0,
        initial_window: window * SMSS,
        initial_ssthresh: u64::MAX,
        flow: 0,
        seed: 0,
        begun: Begun::default(),
        sack: true,
    };
    LedbatPp::new(Config::default(), &seat)
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + us(1000 * ms)
}

/// One at `window` segments, after its first slow start and far from a slowdown, with this base and queueing delay in ms.
fn settled(window: f64, base: u64, queueing: u64) -> LedbatPp {
    let mut ledbat = ledbat(2);
    ledbat.delay.update(Instant::ZERO, us(1000 * base));
    for _ in 0..4 {
        ledbat.delay.update(Instant::ZERO, us(1000 * (base + queueing)));
    }
    (ledbat.cwnd, ledbat.ssthresh, ledbat.initial) = (window, window.min(2.0), false);
    ledbat.slowdown = Slowdown::Next(Instant::MAX);
    ledbat
}

/// An acknowledgement of a segment at `ms` that took `rtt` ms, in this round trip.
fn sample(ledbat: &LedbatPp, ms: u64, rtt: u64, round: u64) -> AckSample {
    AckSample {
        now: at(ms),
        acked: SMSS,
        delivered: ledbat.delivered + SMSS,
        rtt: Some(us(1000 * rtt)),
        round,
        window_limited: true,
        ..AckSample::default()
    }
}

fn ack(ledbat: &mut LedbatPp, ms: u64, rtt: u64, round: u64) {
    let sample = sample(ledbat, ms, rtt, round);
    ledbat.on_ack(&sample);
}

fn loss(ms: u64) -> CongestionEvent {
    CongestionEvent { now: at(ms), kind: CongestionKind::Loss, flight: 0, lost: 0, resent: false }
}

#[test]
fn the_gain_depends_on_the_base_delay() {
    let cases = [(7_500, 16), (8_000, 15), (20_000, 6), (60_000, 2), (120_000, 1), (200_000, 1), (100, 16)];
    for (base, inverse) in cases {
        let mut ledbat = ledbat(2);
        ledbat.delay.update(Instant::ZERO, us(base));
        assert_eq!(ledbat.gain(), 1.0 / f64::from(inverse), "{base} µs");
    }
    assert_eq!(ledbat(2).gain(), 1.0 / 16.0, "before the first sample");
}

/// W 100, GAIN 1/6: 66 ms take 9.833 off in a round trip; 600 ms would take more than half.
#[test]
fn above_the_target_the_decrease_is_multiplicative() {
    for (queueing, change) in [(0, 1.0 / 6.0), (60, 1.0 / 6.0), (66, 1.0 / 6.0 - 10.0), (600, -50.0)] {
        let ledbat = settled(100.0, 20, queueing);
        assert!((ledbat.change(100.0) - change).abs() < 1e-9, "{queueing} ms: {}", ledbat.change(100.0));
        let mut stepped = ledbat.clone();
        ack(&mut stepped, 1, 20 + queueing, 0);
        assert!((stepped.cwnd - 100.0 - change / 100.0).abs() < 1e-9, "an acknowledgement's share: {}", stepped.cwnd);
    }
}

#[test]
fn a_window_that_the_delay_has_lowered_does_not_come_back_by_slow_start() {
    let mut ledbat = settled(40.0, 20, 0);
    ledbat.on_congestion(&loss(0));
    for n in 0..4 {
        ack(&mut ledbat, n, 90, 0);
    }
    let low = ledbat.cwnd;
    assert!(low < 20.0);
    for n in 4..8 {
        ack(&mut ledbat, n, 20, 0);
    }
    assert!((ledbat.cwnd - low - 4.0 / 6.0 / low).abs() < 1e-3, "{low}, {}", ledbat.cwnd);
}

/// Growth by GAIN for each acknowledged segment: at a base delay of 60 ms by half in a round trip, up to ¾ of the target.
#[test]
fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
    let mut ledbat = ledbat(10);
    assert_eq!(ledbat.window(), 2 * SMSS, "two segments");
    let mut now = 0;
    for (round, acks, window) in [(0, 2, 3.0), (1, 3, 4.5), (2, 4, 6.5)] {
        for _ in 0..acks {
            now += 1;
            ack(&mut ledbat, now, 60, round);
        }
        assert_eq!(ledbat.cwnd, window, "round trip {round}");
    }
    for n in 0..4 {
        ack(&mut ledbat, now + n, 105, 3);
    }
    assert_eq!(ledbat.slowdown, Slowdown::None, "45 ms are not above ¾ of 60 ms");
    for n in 0..4 {
        ack(&mut ledbat, now + n, 106, 3);
    }
    assert_eq!(ledbat.slowdown, Slowdown::First(5));
    assert!(!ledbat.initial && ledbat.ssthresh > 8.0 && ledbat.ssthresh < 11.0, "{}", ledbat.ssthresh);
}

/// Two round trips after the first slow start the window is two segments for two, then slow start comes back to where it was; the next
/// slowdown begins after nine times the duration of this one, so that it takes a tenth of the time.
#[test]
fn slowdowns_come_after_nine_times_their_duration() {
    let mut ledbat = settled(40.0, 120, 0);
    ledbat.slowdown = Slowdown::First(12);
    let run = |ledbat: &mut LedbatPp, now: u64| ack(ledbat, now, 120, now / 120);
    run(&mut ledbat, 1_430);
    assert!(ledbat.cwnd > 40.0);
    let before = ledbat.cwnd;
    run(&mut ledbat, 1_440);
    assert_eq!((ledbat.window(), ledbat.ssthresh), (2 * SMSS, before));
    for now in [1_450, 1_500, 1_600, 1_679] {
        run(&mut ledbat, now);
        assert_eq!(ledbat.window(), 2 * SMSS, "{now} ms");
    }
    // GAIN is 1 at this base delay.
    for n in 0..38 {
        run(&mut ledbat, 1_680 + n);
        assert_eq!(ledbat.cwnd, 3.0 + n as f64);
    }
    run(&mut ledbat, 1_740);
    assert_eq!(ledbat.cwnd, before);
    assert_eq!(ledbat.slowdown, Slowdown::Next(at(1_740 + 9 * 300)));
    run(&mut ledbat, 4_439);
    assert!(ledbat.cwnd >= before);
    run(&mut ledbat, 4_440);
    assert_eq!(ledbat.window(), 2 * SMSS);
}

#[test]
fn a_loss_takes_half_and_ends_slow_start() {
    let mut ledbat = ledbat(2);
    ledbat.cwnd = 40.0;
    ledbat.on_congestion(&loss(0));
    assert_eq!((ledbat.cwnd, ledbat.ssthresh, ledbat.slowdown), (20.0, 20.0, Slowdown::First(2)));
    // In a slowdown: of the window before.
    let mut frozen = settled(40.0, 120, 0);
    frozen.slowdown = Slowdown::Next(Instant::ZERO);
    ack(&mut frozen, 100, 120, 1);
    frozen.on_congestion(&loss(110));
    assert_eq!((frozen.window(), frozen.ssthresh), (2 * SMSS, 20.0));
    // In the slow start after it: the slowdown is over.
    ack(&mut frozen, 400, 120, 3);
    frozen.cwnd = 16.0;
    frozen.on_congestion(&loss(500));
    assert_eq!((frozen.cwnd, frozen.slowdown), (8.0, Slowdown::Next(at(500 + 9 * 400))));
}

#[test]
fn a_timeout_leaves_one_segment_and_slow_start_to_half_the_flight() {
    let mut ledbat = settled(40.0, 120, 0);
    let mut saved = ledbat.snapshot();
    ledbat.on_timeout(at(0), 40 * SMSS, false);
    assert_eq!((ledbat.window(), ledbat.ssthresh()), (SMSS, Some(20 * SMSS)));
    ledbat.on_timeout(at(1), SMSS, true);
    assert_eq!(ledbat.ssthresh(), Some(20 * SMSS));
    ack(&mut ledbat, 10, 120, 1);
    assert_eq!(ledbat.cwnd, 2.0);
    saved.on_undo(&Undo { now: Instant::ZERO, flight: 40 * SMSS, window: 30 * SMSS });
    assert_eq!((saved.window(), saved.ssthresh()), (30 * SMSS, Some(40 * SMSS)));
}

#[test]
fn a_window_grows_only_in_use_and_without_losses_and_shrinks_always() {
    for (queueing, grows) in [(0, true), (90, false)] {
        for (window_limited, recovering) in [(false, false), (true, true)] {
            let mut ledbat = settled(40.0, 120, queueing);
            let sample = AckSample { window_limited, recovering, ..sample(&ledbat, 1, 120 + queueing, 0) };
            ledbat.on_ack(&sample);
            assert!(if grows { ledbat.cwnd == 40.0 } else { ledbat.cwnd < 40.0 }, "{queueing}: {}", ledbat.cwnd);
        }
    }
}

#[test]
fn rules_of_a_recovery_hold() {
    let mut ledbat = settled(40.0, 120, 0);
    ledbat.on_rule(Instant::ZERO, WindowRule::Recovery(50 * SMSS));
    assert_eq!(ledbat.window(), 40 * SMSS);
    ledbat.on_rule(Instant::ZERO, WindowRule::Start(10 * SMSS));
    assert_eq!(ledbat.window(), 10 * SMSS);
    ledbat.on_rule(Instant::ZERO, WindowRule::Recovery(1));
    assert_eq!(ledbat.window(), SMSS);
}

/// A path longer by 150 ms looks like a queue of 150 ms, and takes all but two segments.
#[test]
fn a_change_of_the_path_voids_the_base_delay() {
    let mut blind = settled(40.0, 20, 0);
    let mut told = blind.clone();
    told.on_path_change(Instant::ZERO);
    for n in 0..1000 {
        ack(&mut blind, n, 170, n / 20);
        ack(&mut told, n, 170, n / 20);
    }
    assert_eq!(blind.window(), 2 * SMSS);
    assert!(told.cwnd > 50.0, "{}", told.cwnd);
}

#[test]
fn nonsense_is_refused() {
    for target in [Duration::ZERO, us(100_001)] {
        assert!(Config { target }.check().is_err());
    }
    assert!(Config::default().check().is_ok());
}
