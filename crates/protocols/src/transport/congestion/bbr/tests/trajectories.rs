//! Whole runs over paths that other implementations were run over by the same sender and link: 1200 B packets, an acknowledgement for each,
//! lost packets sent again at once.

use super::path::Path;
use super::*;

/// Mbit/s over these seconds.
fn goodput(path: &mut Path, seconds: f64) -> f64 {
    path.goodput(seconds) * 8e-6
}

#[test]
fn explore() {
    for (name, rate, rtt, buffer, loss, secs) in [
        ("fixed", 10.0, 40, 100_000, 0, 30.0),
        ("shallow", 10.0, 40, 25_000, 0, 30.0),
        ("loss100", 10.0, 40, 100_000, 100, 30.0),
        ("loss20", 10.0, 40, 100_000, 20, 30.0),
        ("big", 50.0, 40, 500_000, 100, 12.0),
        ("geo", 20.0, 600, 1_500_000, 0, 60.0),
    ] {
        for bursts in [1, 2] {
            let mut path = Path::with(Config { loss_bursts: bursts }, &path::seat(true), rate, rtt, buffer);
            if loss > 0 {
                path.lose = Box::new(move |id| id % loss == loss - 1);
            }
            let g = goodput(&mut path, secs);
            println!("{name} {bursts}: {g:.2} lost {}", path.lost / path::S);
        }
    }
    let mut path = Path::new(10.0, 30, 64_000);
    path.run(20.0, |_| false);
    (path.rate, path.delay) = (path::mbps(1.0), Duration::from_millis(150));
    path.run(20.0, |_| false);
    (path.rate, path.delay) = (path::mbps(10.0), Duration::from_millis(30));
    path.run(20.0, |_| false);
    println!("handover {:.2} lost {}", path.delivered as f64 * 8e-6 / 60.0, path.lost / path::S);
}
