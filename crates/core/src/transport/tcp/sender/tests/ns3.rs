//! CUBIC's window through one loss, against ns-3.37's.
//!
//! `tests/reference/ns3/README.md` says how its trace was made, and where ns-3 is not RFC 9438: it
//! cuts distances from W_max to whole segments (1.3 segments of difference), sets the window at
//! once to the target that RFC 9438 §4.2 reaches in a round trip, and has no Reno-friendly region.
//! For the last reason it grows by two segments before the loss, where RFC 9438 grows by one in
//! each of five round trips (§4.3: α is 1, as W_est begins at cwnd_prior). So the run here leaves
//! slow start three segments lower, to lose its packet at the same window.

use super::*;
use crate::engine::Bytes;

/// The trace: seconds, segments.
fn reference() -> Vec<(f64, f64)> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns3/cubic-one-loss.csv"));
    let row = |line: &str| {
        let (time, cwnd) = line.split_once(',')?;
        Some((time.parse().ok()?, cwnd.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// The value that a trace has at `t`.
fn at(trace: &[(f64, f64)], t: f64) -> f64 {
    trace[trace.partition_point(|row| row.0 <= t).saturating_sub(1)].1
}

#[test]
fn cubic_follows_ns3_through_a_loss() {
    let mut path = Path::new(&Config {
        segment: Some(Bytes::new(1000)),
        initial_ssthresh: Some(97),
        window: Some(64_000),
        rto: Rto { min: Some(Duration::from_millis(200)), ..Rto::default() },
        cubic: Cubic { fast_convergence: false, hystart: false, ..Cubic::default() },
        ..Config::default()
    });
    path.serialisation = Duration::from_nanos(833_600);
    path.ack_serialisation = Duration::from_nanos(33_600);
    path.lose = lose(|segment, before| segment == 601 && before == 0);
    path.notify(Notice::Open);
    path.notify(Notice::Write(u64::MAX));
    let mut trace = vec![(0.0, 10.0)];
    while path.step(Instant::from_secs_f64(12.0)) {
        trace.push((path.now.as_secs_f64(), path.sender.c.window as f64 / 1000.0));
    }
    assert_eq!((path.sender.totals.resent_packets, path.sender.totals.timeouts), (1, 0));

    let reference = reference();
    assert!(reference.len() > 300);
    for step in 0..1060 {
        let t = 0.01 * f64::from(step);
        // Slow start, where the two differ by the sizes of the handshake's packets; then the
        // curve, from the end of recovery to where ns-3 lags.
        let tolerance = match t {
            ..0.52 => 2.5,
            ..1.04 => 3.5,
            ..1.25 => continue,
            _ => 2.5 + 0.1 * 1.2 * (t - 5.314) * (t - 5.314),
        };
        let (ours, theirs) = (at(&trace, t), at(&reference, t));
        assert!((ours - theirs).abs() <= tolerance, "at {t:.2} s: {ours:.2}, ns-3 has {theirs:.2}");
    }
}
