//! Copa and an application that is slower than the path.

use super::*;
use crate::transport::congestion::{Congestion, copa};

/// The path carries a segment in a millisecond and takes 101 ms; the application writes one every 4 ms, for 15 s, and much then. 25 segments are
/// in flight. A window that grew all the time would leave at once (tquic 1.6.0 lost 54,059 packets so).
#[test]
fn a_window_that_the_application_does_not_use_stays_within_its_use() {
    let config = Config { congestion: Some(Congestion::Copa(copa::Config::default())), ..Config::default() };
    let mut path = Path::new(&config);
    let smss = u64::from(path.sender.settings.smss);
    path.notify(Notice::Open);
    for n in 0..3_750 {
        path.run(0.004 * f64::from(n));
        path.notify(Notice::Write(smss));
    }
    let (window, in_flight) = (path.sender.c.window / smss, path.sender.c.in_flight() / smss);
    assert!((25..=27).contains(&in_flight), "{in_flight}");
    // Slow start doubles at most what was in use.
    assert!(window <= 2 * in_flight, "{window}");
    path.notify(Notice::Write(100_000 * smss));
    let before = path.segments().len();
    path.run(15.101);
    let burst = path.segments().len() - before;
    assert!(burst <= 2 * 27, "{burst} segments in the first round trip");
}
