//! Vegas' recovery, by the rule: τ = 17/16·(srtt + 2·mdev), a quarter off the window once in a
//! window of data, half for a retransmission that is lost.
//!
//! In the scripts segments 0 and 1 are acknowledged after 100 and 110 ms, so srtt is 101.25 ms,
//! mdev 21.25 ms, and τ 152.73 ms. Segment 2, sent at 0, is lost. α = 0 keeps the window at ten
//! segments until then.

use super::scripts::Script;
use super::*;
use crate::transport::congestion::{Congestion, vegas};
use lasthop_net::engine::Bytes;

fn config() -> Config {
    Config {
        variant: Some(Variant::Vegas),
        segment: Some(Bytes::new(1000)),
        handshake: Some(Handshake::None),
        initial_ssthresh: Some(2),
        congestion: Some(Congestion::Vegas(vegas::Config { alpha: 0.0, beta: 1000.0, gamma: 1.0 })),
        ..Config::default()
    }
}

/// With segments 0 and 1 acknowledged: 2 to 11 are in flight.
fn script() -> Script {
    let (mut script, sent) = Script::new(&config(), 100);
    assert_eq!(sent, (0..10).collect::<Vec<_>>());
    assert_eq!(script.ack(100, 1, &[]), [10]);
    assert_eq!(script.ack(110, 2, &[]), [11]);
    script
}

fn window(script: &Script) -> u64 {
    script.sender.c.window
}

#[test]
fn a_duplicate_resends_what_is_older_than_the_fine_timeout() {
    // At 152 ms limited transmit sends new data instead (RFC 3042).
    for (ms, sent, cwnd) in [(152, 12, 10_000), (153, 2, 7_500)] {
        let mut script = script();
        assert_eq!(script.ack(ms, 2, &[]), [sent], "first duplicate at {ms} ms");
        assert_eq!(window(&script), cwnd, "first duplicate at {ms} ms");
    }
    // On the second duplicate.
    let mut script = script();
    assert_eq!(script.ack(150, 2, &[]), [12]);
    assert_eq!(script.ack(153, 2, &[]), [2]);
    assert_eq!(window(&script), 7_500);
}

#[test]
fn the_third_duplicate_resends_whatever_the_age() {
    let mut script = script();
    assert_eq!(script.ack(111, 2, &[]), [12]);
    assert_eq!(script.ack(112, 2, &[]), [13]);
    assert_eq!(script.ack(113, 2, &[]), [2]);
    assert_eq!(window(&script), 7_500);
    assert_eq!(script.sender.totals.fast_retransmits, 1);
}

/// Segments 2 to 5 left together. Their losses are found one after the other, and cut the window
/// once.
#[test]
fn acknowledgements_after_a_retransmission_find_the_other_losses_of_the_window() {
    let mut script = script();
    assert_eq!(script.ack(153, 2, &[]), [2]);
    assert_eq!(script.ack(253, 3, &[])[0], 3);
    assert_eq!(script.ack(353, 4, &[])[0], 4);
    assert_eq!(script.ack(453, 5, &[])[0], 5);
    assert_eq!((window(&script), script.sender.totals.cuts), (7_500, 1));
    // The rest had arrived.
    let nxt = (script.sender.c.nxt - 1) / 1000;
    assert!(!script.ack(553, nxt, &[]).iter().any(|&segment| segment < nxt));
    assert_eq!((window(&script), script.sender.totals.resent_packets), (7_500, 4));
    assert!(!script.sender.c.status.recovering);
}

/// Two acknowledgements are looked at. The one at 900 ms is itself a late sample, of 790 ms if it
/// is the second and of 750 ms if it is the third: by hand, τ is 599 or 582 ms then. The first
/// segment is 12, 750 ms old, or 13, which left at 250 ms: either has expired.
#[test]
fn the_third_acknowledgement_after_a_retransmission_is_not_looked_at() {
    for (young, resent) in [(1, 2), (2, 1)] {
        let mut script = script();
        assert_eq!(script.ack(150, 2, &[]), [12]);
        assert_eq!(script.ack(153, 2, &[]), [2]);
        assert_eq!(script.ack(250, 11, &[])[0], 13);
        if young == 2 {
            script.ack(251, 12, &[]);
        }
        assert_eq!(script.sender.totals.resent_packets, 1, "11 left at 110 ms, 12 at 150 ms");
        script.ack(900, 11 + young, &[]);
        assert_eq!(script.sender.totals.resent_packets, resent, "after {young} acknowledgements");
    }
}

/// The retransmission left at 153 ms, and is itself τ old at 305.73 ms.
#[test]
fn a_lost_retransmission_halves_the_window() {
    let mut script = script();
    assert_eq!(script.ack(153, 2, &[]), [2]);
    assert!(!script.ack(305, 2, &[]).contains(&2));
    assert_eq!(window(&script), 7_500);
    assert_eq!(script.ack(306, 2, &[])[0], 2);
    assert_eq!(window(&script), 3_750);
}

#[test]
fn the_window_stays_at_two_segments_at_least() {
    let (mut script, sent) = Script::new(&Config { initial_window: Some(2), ..config() }, 100);
    assert_eq!(sent, [0, 1]);
    assert_eq!(script.ack(100, 1, &[]), [2]);
    // The duplicate makes room for a new segment.
    assert_eq!(script.ack(260, 1, &[]), [1, 3]);
    assert_eq!(window(&script), 2_000);
    assert_eq!(script.timeout().1, [1, 2]);
    assert_eq!(window(&script), 2_000, "and after the coarse timeout");
}

/// Data sent again after the coarse timeout may have been there: duplicates tell nothing then.
#[test]
fn after_a_coarse_timeout_duplicates_resend_nothing() {
    let mut script = script();
    let (at, sent) = script.timeout();
    assert_eq!(sent[0], 2);
    for n in 1..5 {
        assert!(!script.ack(at + 200 * n, 2, &[]).contains(&2));
    }
    assert_eq!(script.sender.totals.fast_retransmits, 0);
}

/// Path P with a window of 20 segments, which leave one a millisecond, 81 to 100 in one round
/// trip. Its time is 101 ms, so τ lies above 17/16·101 = 107.3 ms, and below 108 ms, for the queue
/// of the first burst is forgotten. After up to three losses the third duplicate comes before τ;
/// after seven the first one comes at 108 ms and is enough. Each round trip repairs one more.
#[test]
fn losses_are_repaired_one_each_round_trip_without_the_coarse_timer() {
    type Row = (&'static [u64], &'static [(i64, u64)]);
    let rows: [Row; 3] = [
        (&[85], &[(104, 85)]),
        (&[85, 86, 87], &[(106, 85), (207, 86), (308, 87)]),
        (&[85, 86, 87, 88, 89, 90, 91], &[(108, 85), (209, 86), (310, 87), (411, 88), (512, 89), (613, 90), (714, 91)]),
    ];
    for (lost, expected) in rows {
        let config = Config {
            handshake: Some(Handshake::Partial),
            initial_window: Some(20),
            window: Some(20),
            limited_transmit: Some(false),
            ..config()
        };
        let (path, again) = super::losses::resent(&config, lost);
        assert_eq!(again, expected);
        assert_eq!((path.sender.totals.timeouts, path.sender.totals.cuts), (0, 1));
        assert_eq!(path.sender.truth.totals().spurious_fast_retransmits, 0);
    }
}
