use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::Ecn;

use super::*;
use crate::transport::media::control::{Arrival, Fate};

fn at(ms: f64) -> Instant {
    Instant::from_secs_f64(ms / 1e3)
}

fn seat() -> MediaContext {
    MediaContext {
        min_rate: BitRate::from_kbps(150),
        max_rate: BitRate::from_kbps(5_000),
        start_rate: BitRate::from_kbps(1_000),
        packet: 1200,
        overhead: 28,
        seed: 1,
    }
}

/// Reports of ten packets of 1250 bytes, 10 ms apart, over a link of `link_kbps` behind `delay` ms.
struct Path {
    control: Draft,
    free: f64,
    number: u64,
}

impl Path {
    fn new() -> Self {
        Self { control: Draft::new(&seat()), free: 0.0, number: 0 }
    }

    fn report(&mut self, link_kbps: f64, delay: f64, loses: impl Fn(u64) -> bool) {
        let mut packets = Vec::new();
        for _ in 0..10 {
            let sent = 10.0 * self.number as f64;
            let is_lost = loses(self.number);
            if !is_lost {
                self.free = self.free.max(sent) + 10_000.0 / link_kbps;
            }
            let arrival = (!is_lost).then(|| Arrival { at: at(self.free + delay), ecn: Ecn::NotEct });
            packets.push(Fate { number: self.number, bytes: 1250, sent_at: at(sent), arrival });
            self.number += 1;
        }
        let reported_at = at(self.free + delay);
        self.control.on_feedback(&Feedback {
            now: at(self.free + 2.0 * delay),
            reported_at,
            packets: &packets,
            prior_in_flight: 0,
            in_flight: 0,
            queued: 0,
            queue_delay: Duration::ZERO,
        });
    }

    fn kbps(&self) -> f64 {
        self.control.target().as_bps() as f64 / 1e3
    }
}

/// R_hat is 1 Mbit/s: the rate grows to one and a half of it.
#[test]
fn a_free_path_lets_the_rate_grow_to_its_bound() {
    let mut path = Path::new();
    for _ in 0..200 {
        path.report(100_000.0, 20.0, |_| false);
    }
    assert!((path.kbps() - 1_500.0).abs() < 1.0, "{}", path.kbps());
}

/// At a quarter of the sending rate a group waits 30 ms longer than the one before: m passes 12.5 ms.
#[test]
fn a_queue_that_grows_fast_lowers_the_rate() {
    let mut path = Path::new();
    for _ in 0..10 {
        path.report(100_000.0, 20.0, |_| false);
    }
    for _ in 0..10 {
        path.report(250.0, 20.0, |_| false);
    }
    assert!(path.kbps() < 400.0, "{}", path.kbps());
}

#[test]
fn the_lower_of_both_rates_holds() {
    let mut path = Path::new();
    for _ in 0..20 {
        path.report(100_000.0, 20.0, |number| number % 5 == 0);
    }
    assert!((path.kbps() - 150.0).abs() < 1.0, "{}", path.kbps());
}

/// The pacer's groups: 5 ms at the target.
#[test]
fn packets_leave_in_groups_of_five_milliseconds() {
    let control = Draft::new(&seat());
    assert_eq!((control.pacing_rate(), control.burst()), (Some(BitRate::from_kbps(1_000)), 625));
}

/// Between the groups on both sides of a change of path lies the difference of the paths.
#[test]
fn a_change_of_path_begins_new_groups() {
    let growth = |hint: bool| {
        let mut path = Path::new();
        for _ in 0..10 {
            path.report(100_000.0, 20.0, |_| false);
        }
        if hint {
            path.control.on_path_change(at(1_000.0));
        }
        path.report(100_000.0, 420.0, |_| false);
        path.control.filter.growth()
    };
    assert!(growth(false) > 1.0 && growth(true).abs() < 0.1, "{} {}", growth(false), growth(true));
}
