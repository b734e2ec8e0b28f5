//! What each recovery resends on path P, and when: segments of 1000 bytes, a window of 20, the
//! slow-start threshold at 20, minimum RTO 1 s.

use super::*;

fn config(variant: Variant) -> Config {
    Config {
        variant: Some(variant),
        segment: Some(crate::engine::Bytes::new(1000)),
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
fn resent(config: &Config, lost: &'static [u64]) -> (Path, Vec<(i64, u64)>) {
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

#[test]
fn table() {
    for variant in [Variant::Tahoe, Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Fack] {
        for lost in [&[60][..], &[60, 61, 62], &[25, 26, 27]] {
            let (path, again) = resent(&config(variant), lost);
            println!(
                "{variant:?} {lost:?}: {again:?} ss {:?} rto {}",
                path.sender.c.congestion.ssthresh(),
                path.sender.totals.timeouts
            );
        }
    }
}
