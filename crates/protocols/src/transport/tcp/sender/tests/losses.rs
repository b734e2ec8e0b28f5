//! What each recovery resends on path P, and when: segments of 1000 bytes, a window of 20, the
//! slow-start threshold at 20, minimum RTO 1 s.

use super::*;

fn config(variant: Variant) -> Config {
    Config {
        variant: Some(variant),
        segment: Some(lasthop_net::engine::Bytes::new(1000)),
        handshake: Some(Handshake::Partial),
        initial_window: Some(2),
        initial_ssthresh: Some(20),
        window: Some(20),
        limited_transmit: Some(false),
        dsack: Some(false),
        ..Config::default()
    }
}

/// Sends 200 segments, losing the first copies of those in `lost`. Gives the retransmissions as
/// (milliseconds after the first of them was first sent, segment).
pub(super) fn resent(config: &Config, lost: &'static [u64]) -> (Path, Vec<(i64, u64)>) {
    let mut path = Path::new(config);
    path.lose = lose(move |segment, before| before == 0 && lost.contains(&segment));
    path.transfer(200_000);
    path.run(100.0);
    assert_eq!(path.told_received, 200_000);
    let sent = path.segments();
    let start = sent.iter().find(|s| s.1 == lost[0]).unwrap().0;
    let mut seen = std::collections::BTreeSet::new();
    let again = sent.iter().filter(|s| !seen.insert(s.1)).map(|s| (libm::round((s.0 - start) * 1e3) as i64, s.1));
    let again = again.collect();
    (path, again)
}

/// Tahoe, Reno, NewReno and FACK resend when ns-2's do (computed from ns-2.35's sources). Not so:
/// RFC 6675 counts lost segments out of the pipe, as FACK does, and so sends the second hole 2 ms
/// before Fall and Floyd's SACK; and as the receiver's window takes no new data, it spends its
/// rescue retransmission (NextSeg rule 4) on the last segment.
#[test]
fn retransmissions_come_when_the_model_says() {
    type Row = (Variant, &'static [u64], &'static [(i64, u64)], u64, u64);
    #[rustfmt::skip]
    let rows: [Row; 15] = [
        (Variant::Tahoe, &[60], &[(104, 60)], 10_000, 0),
        (Variant::Tahoe, &[60, 61, 62], &[(106, 60), (207, 61), (207, 62), (308, 63), (308, 64)], 10_000, 0),
        (Variant::Tahoe, &[25, 26, 27], &[(108, 25), (211, 26), (211, 27), (312, 28), (312, 29)], 10_000, 0),
        (Variant::Reno, &[60], &[(104, 60)], 10_000, 0),
        (Variant::Reno, &[60, 61, 62], &[(106, 60), (1207, 61), (1308, 62), (1308, 63)], 5_000, 1),
        (Variant::Reno, &[25, 26, 27], &[(108, 25), (1211, 26), (1312, 27), (1312, 28)], 5_000, 1),
        (Variant::NewReno, &[60], &[(104, 60)], 10_000, 0),
        (Variant::NewReno, &[60, 61, 62], &[(106, 60), (207, 61), (308, 62)], 10_000, 0),
        (Variant::NewReno, &[25, 26, 27], &[(108, 25), (211, 26), (312, 27)], 10_000, 0),
        (Variant::Sack, &[60], &[(104, 60), (193, 79)], 10_000, 0),
        (Variant::Sack, &[60, 61, 62], &[(106, 60), (193, 61), (194, 62), (195, 79)], 10_000, 0),
        (Variant::Sack, &[25, 26, 27], &[(108, 25), (202, 26), (203, 27), (204, 44)], 10_000, 0),
        (Variant::Fack, &[60], &[(104, 60)], 10_000, 0),
        (Variant::Fack, &[60, 61, 62], &[(104, 60), (193, 61), (194, 62)], 10_000, 0),
        (Variant::Fack, &[25, 26, 27], &[(106, 25), (202, 26), (203, 27)], 10_000, 0),
    ];
    for (variant, lost, expected, ssthresh, timeouts) in rows {
        let (path, again) = resent(&config(variant), lost);
        assert_eq!(again, expected, "{variant:?} without {lost:?}");
        assert_eq!(path.sender.c.congestion.ssthresh(), Some(ssthresh), "{variant:?} without {lost:?}");
        assert_eq!(path.sender.totals.timeouts, timeouts, "{variant:?} without {lost:?}");
    }
}

#[test]
fn selective_recoveries_resend_exactly_what_was_lost() {
    for variant in [Variant::Sack, Variant::Fack, Variant::Cubic] {
        for lost in [&[60][..], &[60, 61, 62], &[40, 42, 44, 46, 48], &[25, 26, 27]] {
            let config = Config { window: None, ..config(variant) };
            let (path, again) = resent(&config, lost);
            let segments: Vec<_> = again.iter().map(|a| a.1).collect();
            assert_eq!(segments, lost, "{variant:?}");
            assert_eq!(path.sender.totals.timeouts, 0, "{variant:?}");
            assert_eq!(path.sender.truth.totals().spurious_fast_retransmits, 0);
        }
    }
}

/// The retransmission of segment 60 is lost too.
#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    for variant in [Variant::Sack, Variant::Fack] {
        let mut path = Path::new(&config(variant));
        path.lose = lose(|segment, before| segment == 60 && before < 2);
        path.transfer(200_000);
        path.run(100.0);
        let times: Vec<_> = path.segments().iter().filter(|s| s.1 == 60).map(|s| s.0).collect();
        assert_eq!((times.len(), path.sender.totals.timeouts), (3, 1), "{variant:?}");
        // The timer ran since segment 59 was acknowledged: 101 ms after that was sent, 1 ms before 60.
        assert!((times[2] - (times[0] + 0.1 + 1.0)).abs() < 2e-3, "{variant:?}: {times:?}");
        assert_eq!(path.told_received, 200_000);
    }
}

/// Packets on path P: the SYN is answered after 101 ms, then the flights are 2, 4, 8, …
#[test]
fn slow_start_doubles_the_flight_each_round_trip() {
    let mut path = Path::new(&config(Variant::NewReno));
    path.transfer(100_000);
    path.run(10.0);
    let segments = path.segments();
    for (segment, at) in [(1, 0.101), (3, 0.202), (7, 0.303), (15, 0.404), (31, 0.505)] {
        let first = segments.iter().find(|s| s.1 == segment).unwrap().0;
        assert!((first - at).abs() < 1e-9, "segment {segment} leaves at {first}");
    }
    assert_eq!(path.sent.len(), 101);
    assert!((segments[99].0 - 0.817).abs() < 1e-9, "the last at {}", segments[99].0);
    assert_eq!(path.sender.totals.timeouts, 0);
}

/// Twenty segments of 1500 bytes on a channel of 32 kbit/s: a window over a round trip is the rate.
#[test]
fn a_full_window_on_a_slow_channel_takes_seven_and_a_half_seconds() {
    let mut path = Path::new(&Config {
        segment: Some(lasthop_net::engine::Bytes::new(1460)),
        rto: Rto { initial: Some(Duration::from_secs(20)), ..Rto::default() },
        ..config(Variant::NewReno)
    });
    path.serialisation = Duration::from_millis(375);
    path.delay = Duration::ZERO;
    path.transfer(300 * 1460);
    path.run(100.0);
    assert_eq!(path.sender.c.last_rtt, Duration::from_millis(7500));
}
