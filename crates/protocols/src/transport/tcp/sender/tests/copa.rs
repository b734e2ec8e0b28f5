//! Copa and an application that is slower than the path.

use super::*;
use crate::transport::congestion::{Congestion, copa};

/// The path carries a segment in a millisecond and takes 101 ms; the application writes one every 4 ms, for 15 s, and much then. 25 segments are
/// in flight, after more in the first round trips, whose windows were smaller than that. A window that grew with each acknowledgement would
/// leave at once, 3,760 segments (tquic 1.6.0 lost 54,059 packets so).
#[test]
fn a_window_that_the_application_does_not_use_stays_within_its_use() {
    let config = Config { congestion: Some(Congestion::Copa(copa::Config::default())), ..Config::default() };
    let mut path = Path::new(&config);
    let smss = u64::from(path.sender.settings.smss);
    let mut most = 0;
    path.notify(Notice::Open);
    for n in 0..3_750 {
        path.run(0.004 * f64::from(n));
        path.notify(Notice::Write(smss));
        most = most.max(path.sender.c.in_flight() / smss);
    }
    let in_flight = path.sender.c.in_flight() / smss;
    assert!((25..=27).contains(&in_flight) && most < 3 * 25, "{in_flight}, {most}");
    // Slow start doubles at most what was in use.
    let window = path.sender.c.window / smss;
    assert!(window <= 2 * most, "{window}, {most}");
    path.notify(Notice::Write(100_000 * smss));
    let before = path.segments().len();
    path.run(15.0 + 0.1);
    let burst = path.segments().len() - before;
    // The rest of the window; and two for each acknowledgement of the 25, since the window is in use again.
    assert!(burst as u64 <= window + in_flight, "{burst} segments in the first round trip");
}
