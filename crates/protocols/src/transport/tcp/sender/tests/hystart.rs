//! CUBIC's initial slow start over a path whose queue grows: HyStart++ (RFC 9406).

use super::*;
use crate::transport::congestion::{Congestion, cubic};
use lasthop_net::engine::Bytes;

/// A path of 1 ms for each segment and 101 ms in all, which holds 101 segments. The windows of the
/// rounds are 10, 20, 40, … A round sends two segments for each ACK, one of which waits: 80 ACKs send
/// 160 segments, which take 160 ms. So the first segment sent for the first of these 160 waits 59 ms,
/// as the first whose round before did not leave the queue empty, and it is in the round that begins
/// with a window of 320. Its eighth sample ends the growth by one segment for each ACK. The other
/// 312 of its ACKs count a quarter, 320 + 8 + 78 = 406. Four more rounds grow by a quarter each.
#[test]
fn slow_start_ends_when_the_round_trip_time_of_a_whole_round_has_risen() {
    let mut path = Path::new(&Config { segment: Some(Bytes::new(1000)), ..Config::default() });
    path.notify(Notice::Open);
    path.notify(Notice::Write(u64::MAX));
    let (mut window, mut slowed, mut left) = (path.sender.c.window, None, None);
    while left.is_none() {
        assert!(path.step(Instant::from_secs_f64(10.0)));
        let grown = path.sender.c.window - window;
        if grown > 0 && grown < 1000 {
            slowed.get_or_insert(window);
        }
        window = path.sender.c.window;
        left = path.sender.c.congestion.ssthresh();
    }
    assert_eq!(slowed, Some(328_000));
    let expected = 406.0 * 1.25 * 1.25 * 1.25 * 1.25;
    let left = left.expect("the loop has ended") as f64 / 1000.0;
    assert!((left - expected).abs() < 0.5, "{left} for {expected}");
}

/// The same path with `hystart = false`: RFC 5681's slow start goes on.
#[test]
fn without_hystart_slow_start_goes_on() {
    let mut path = Path::new(&Config {
        segment: Some(Bytes::new(1000)),
        congestion: Some(Congestion::Cubic(cubic::Config { hystart: false, ..cubic::Config::default() })),
        ..Config::default()
    });
    path.notify(Notice::Open);
    path.notify(Notice::Write(u64::MAX));
    path.run(2.0);
    assert_eq!(path.sender.c.congestion.ssthresh(), None);
    // A segment for each ACK, of which the path lets one through in a millisecond.
    assert_eq!(path.sender.c.window, 10_000 + path.sender.totals.acked_bytes);
}
