use super::*;

fn control(version: Version) -> Control {
    let parameters = Parameters {
        segment: 1000.0,
        header: 0.0,
        version,
        rtt_weight: 0.9,
        damping: true,
        initial_window: None,
        slow_start_limit: SlowStartLimit::Received,
    };
    Control::new(parameters)
}

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// A report at `at` of packets sent 100 ms before.
fn report(at: u64, rate: f64, p: f64) -> (Instant, Report) {
    let echo = ms(at.saturating_sub(100));
    (ms(at), Report { echo, delay: Duration::ZERO, rate, p, new_loss: false })
}

/// Rates after reports each 100 ms, the first at 100 ms; a sender that never lacks data.
fn rates(control: &mut Control, reports: &[(f64, f64)]) -> Vec<f64> {
    (1u64..)
        .zip(reports)
        .map(|(n, &(rate, p))| {
            // Packets in the middle of every round trip, held back by the rate.
            control.on_sent(ms(100 * n - 50), true);
            let (now, report) = report(100 * n, rate, p);
            control.on_report(now, &report);
            libm::round(control.rate())
        })
        .collect()
}

/// RFC 5348 §4.2 and §4.3: W_init / R, then doublings within twice the receive rate of two
/// round trips; W_init is 4 packets of 1000 B. RFC 3448: one packet, and the last X_recv.
#[test]
fn slow_start() {
    let reports = [(0.0, 0.0), (40e3, 0.0), (40e3, 0.0), (80e3, 0.0), (60e3, 0.0)];
    let mut new = control(Version::Rfc5348);
    assert_eq!(new.rate(), 1000.0);
    assert_eq!(rates(&mut new, &reports), [40e3, 80e3, 160e3, 160e3, 160e3]);
    let reports = [(0.0, 0.0), (10e3, 0.0), (10e3, 0.0), (20e3, 0.0)];
    assert_eq!(rates(&mut control(Version::Rfc3448), &reports), [10e3, 20e3, 20e3, 40e3]);
}

/// §4.3: the equation (p 0.01 at 100 ms: 112 332 B/s), within twice the receive rate.
#[test]
fn with_losses_the_equation_holds() {
    let reports = [(0.0, 0.0), (40e3, 0.0), (80e3, 0.01), (20e3, 0.01), (20e3, 0.01), (20e3, 0.01)];
    let rates = rates(&mut control(Version::Rfc5348), &reports);
    assert_eq!(&rates[2..], [112_332.0, 112_332.0, 112_332.0, 40_000.0]);
}

/// §4.4: before a round-trip time the rate halves each time, and the timer is 2 s / X; down to
/// one packet in 64 s.
#[test]
fn without_feedback_the_rate_halves() {
    let mut control = control(Version::Rfc5348);
    let mut now = ms(0);
    let mut waits = Vec::new();
    for _ in 0..8 {
        control.on_sent(now, true);
        let at = control.no_feedback_at.unwrap();
        waits.push(at.since(now).as_nanos() / 1_000_000_000);
        control.on_no_feedback(at);
        now = at;
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 128]);
    assert_eq!((control.rate(), control.expiries), (1000.0 / 64.0, 8));
}

/// §4.4: an idle sender keeps what it may send at once, W_init / R.
/// After reports at 100, 200 and 300 ms of a sender that the rate never held back, of 100 kB/s and then of `rate`, with a first loss.
/// The equation allows 383,844 B/s.
fn after_a_loss_without_data(rate: f64) -> Control {
    let mut control = control(Version::Rfc5348);
    for (at, rate, p) in [(100, 0.0, 0.0), (200, 100e3, 0.0), (300, rate, 0.001)] {
        let (now, report) = report(at, rate, p);
        control.on_report(now, &report);
    }
    control
}

/// §4.3, entire interval data-limited, new loss event: X_recv_set is halved, X_recv is 0.85 of itself, and the limit is the larger one.
#[test]
fn a_loss_of_a_sender_that_lacked_data() {
    for (rate, limit) in [(50e3, 50e3), (90e3, 76.5e3), (1e6, 383_844.0)] {
        let rate = after_a_loss_without_data(rate).rate();
        assert!((rate - limit).abs() < 0.5, "{rate}, not {limit}");
    }
}

/// §4.4: an expiry leaves X_recv where that limited the rate, else half of what the equation allows.
#[test]
fn an_expiry_halves_what_limited_the_rate() {
    for (rate, after) in [(50e3, [50e3, 25e3, 12.5e3]), (1e6, [191_922.0, 95_961.0, 47_980.5])] {
        let mut control = after_a_loss_without_data(rate);
        for expected in after {
            let now = control.no_feedback_at.unwrap();
            control.on_sent(now, false);
            control.on_no_feedback(now);
            assert!((control.rate() - expected).abs() < 0.5, "{}, not {expected}", control.rate());
        }
    }
}

/// §4.2: W_init = min(4 s, max(2 s, 4380)) bytes in a round trip.
#[test]
fn the_initial_rate_by_the_size_of_packets() {
    for (segment, window) in [(500.0, 2000.0), (1000.0, 4000.0), (1460.0, 4380.0), (2500.0, 5000.0)] {
        let mut control = control(Version::Rfc5348);
        control.parameters.segment = segment;
        let (now, report) = report(100, 0.0, 0.0);
        control.on_report(now, &report);
        assert!((control.rate() - window / 0.1).abs() < 1e-6, "{segment}: {}", control.rate());
    }
}

#[test]
fn idleness_costs_no_more_than_the_initial_rate_leaves() {
    let mut control = control(Version::Rfc5348);
    rates(&mut control, &[(0.0, 0.0), (40e3, 0.0)]);
    let mut before = control.rate();
    for _ in 0..10 {
        control.on_no_feedback(control.no_feedback_at.unwrap());
        assert!(control.rate() == before || before >= 80e3, "{before}");
        before = control.rate();
    }
    assert_eq!(before, 40e3);
}

/// The rate on a notified way to a slower link, and how often one is heard.
#[test]
fn a_handover_starts_anew_once() {
    for (direction, hint, expected) in [
        (Direction::Down, None, 40e3),
        (Direction::Unknown, None, 40e3),
        (Direction::Up, None, 80e3),
        (Direction::Down, Some(BitRate::from_kbps(384)), 48e3),
        (Direction::Up, Some(BitRate::from_kbps(3840)), 80e3),
    ] {
        let mut control = control(Version::Rfc5348);
        rates(&mut control, &[(0.0, 0.0), (40e3, 0.0)]);
        assert!(control.on_handover(ms(210), Notification { direction, hint }));
        assert_eq!(control.rate(), expected, "{direction:?} {hint:?}");
        assert!(!control.on_handover(ms(1200), Notification { direction, hint }), "within a second");
        // Packets sent before it do not count.
        let (_, old) = report(300, 1.0, 0.5);
        control.on_report(ms(305), &old);
        assert_eq!((control.rate(), control.rtt()), (expected, None));
    }
}
