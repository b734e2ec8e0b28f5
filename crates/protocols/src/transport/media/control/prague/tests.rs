use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::Ecn;

use super::*;
use crate::transport::media::control::{Arrival, Fate};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A flow at 1 Mbit/s with packets of 1200 bytes, ten of them in each report.
struct Flow {
    control: Box<dyn MediaControl>,
    number: u64,
    now: u64,
}

impl Flow {
    fn new() -> Self {
        let seat = MediaContext {
            min_rate: BitRate::from_kbps(150),
            max_rate: BitRate::from_mbps(20),
            start_rate: BitRate::from_mbps(1),
            packet: 1200,
            overhead: 28,
            seed: 1,
        };
        Self { control: Config::default().build(&seat), number: 0, now: 0 }
    }

    fn send(&mut self, ms: u64, in_flight: u64) {
        self.now = ms;
        let sent = Sent { now: at(ms), number: self.number, bytes: 1200, in_flight, queued: 0, marker: false };
        self.control.on_sent(&sent);
        self.number += 1;
    }

    /// Ten packets that were sent in a row, a round trip of `rtt` ms after the first; the report waited for the last.
    fn round(&mut self, rtt: u64, ecn: Ecn) {
        let (first, start) = (self.number, self.now);
        for k in 0..10 {
            self.send(start + k, 12_000);
        }
        let packets: Vec<Fate> = (0..10)
            .map(|k| {
                let sent_at = at(start + k);
                let arrival = Some(Arrival { at: at(start + k + rtt / 2), ecn });
                Fate { number: first + k, bytes: 1200, sent_at, arrival }
            })
            .collect();
        self.now = start + 9 + rtt;
        self.control.on_feedback(&Feedback {
            now: at(self.now),
            reported_at: at(start + 9 + rtt / 2),
            packets: &packets,
            prior_in_flight: 12_000,
            in_flight: 0,
            queued: 0,
            queue_delay: Duration::ZERO,
        });
    }

    fn kbps(&self) -> u64 {
        self.control.target().as_bps() / 1_000
    }
}

/// The time for which a receiver held a report back is no part of the round trip: at 40 ms and 1 Mbit/s the window is 5000 bytes of
/// growing rate, in packets of half a round trip.
#[test]
fn packets_are_half_a_virtual_round_trip_long_and_windows_a_round_trip() {
    let mut flow = Flow::new();
    flow.round(40, Ecn::Ect1);
    let bytes_per_s = flow.control.target().as_bps() / 8;
    let packet = u64::from(flow.control.packet_size().unwrap());
    assert_eq!(packet, (bytes_per_s * 40 / 1_000 / 2).min(1200));
    assert_eq!(flow.control.window().unwrap(), (bytes_per_s * 40 * 103 / 100_000 / packet + 1) * packet);
    assert_eq!(flow.control.burst(), packet);
}

/// 3 % above the rate in the first half of a round, then below it; the change is an event.
#[test]
fn pacing_turns_in_the_middle_of_a_round() {
    let mut flow = Flow::new();
    flow.round(40, Ecn::Ect1);
    let target = flow.control.target().as_bps();
    let ratio = |flow: &Flow| flow.control.pacing_rate().unwrap().as_bps() as f64 / target as f64;
    assert!((ratio(&flow) - 1.03).abs() < 1e-4, "{}", ratio(&flow));
    let turns = flow.control.next_timeout().unwrap();
    assert_eq!(turns, at(flow.now + 20));
    flow.control.on_timeout(turns);
    assert!((ratio(&flow) - 1.0 / 1.03).abs() < 1e-4, "{}", ratio(&flow));
}

#[test]
fn marks_lower_the_rate_and_their_absence_raises_it() {
    let mut flow = Flow::new();
    for _ in 0..30 {
        flow.round(40, Ecn::Ect1);
    }
    let high = flow.kbps();
    for _ in 0..30 {
        flow.round(40, Ecn::Ce);
    }
    assert!(high > 1_000 && flow.kbps() < 1_000, "{high}, then {}", flow.kbps());
}

/// Without a hint a window of 20 ms is spread over 120 ms.
#[test]
fn a_hint_keeps_the_rate_over_a_longer_path() {
    let after = |hint: bool| {
        let mut flow = Flow::new();
        for _ in 0..50 {
            flow.round(20, Ecn::Ect1);
        }
        let before = flow.kbps() as f64;
        if hint {
            flow.control.on_path_change(at(flow.now));
        }
        for _ in 0..3 {
            flow.round(120, Ecn::Ect1);
        }
        flow.kbps() as f64 / before
    };
    assert!(after(false) < 0.4 && after(true) >= 1.0, "{} {}", after(false), after(true));
}

/// A full window and no report for a second: the flow begins anew, and what was in flight does not count.
#[test]
fn silence_opens_the_window_again() {
    let mut flow = Flow::new();
    flow.round(40, Ecn::Ect1);
    let window = flow.control.window().unwrap();
    flow.send(flow.now + 1, window);
    let turns = flow.control.next_timeout().unwrap();
    flow.control.on_timeout(turns);
    let silent = flow.control.next_timeout().unwrap();
    assert_eq!(silent, at(49 + 1_000));
    flow.control.on_timeout(silent);
    assert_eq!(flow.control.window(), Some(window + 2 * 1200));
    assert_eq!(flow.kbps(), 1_000);
}
