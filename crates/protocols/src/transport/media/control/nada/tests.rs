use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::Ecn;

use super::algorithm::{gamma, penalties, warped};
use super::*;
use crate::transport::media::control::{Arrival, Fate};

const BOUNDS: Bounds = Bounds { min: 150e3, max: 1.5e6 };

fn close(value: f64, expected: f64, digits: i32) {
    assert!((value - expected).abs() < 0.5 * libm::pow(10.0, -f64::from(digits)), "{value} is not {expected}");
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// modern-cc.md §4, of equations 1, 2, 3, 7 and 11.
#[test]
fn the_equations_give_the_numbers_of_the_sheet() {
    close(warped(100.0), 30.327, 3);
    close(warped(200.0), 11.157, 3);
    close(penalties(0.0, 0.02), 40.0, 9);
    close(penalties(0.05, 0.0), 50.0, 9);
    close(gamma(Duration::from_millis(100)), 0.15625, 9);
    let nada = Nada::new(Config::default(), BOUNDS, 1e6).at(15.0, 20.0);
    close(nada.r_ref(), 989e3, 6);
    close(shaping(1e6, 2000), 48e3, 6);
}

#[test]
fn the_shaping_buffer_moves_the_rates_by_five_percent_at_most() {
    close(shaping(1e6, 0), 0.0, 9);
    close(shaping(1e6, 1_000_000), 50e3, 6);
}

/// A seat with reports of packets of 1000 bytes, 10 ms apart.
struct Flow {
    control: Box<dyn MediaControl>,
    number: u64,
}

impl Flow {
    fn new() -> Self {
        let rate = BitRate::from_kbps;
        let seat = MediaContext {
            min_rate: rate(150),
            max_rate: rate(1500),
            start_rate: rate(600),
            packet: 1200,
            overhead: 28,
            seed: 1,
        };
        Self { control: Config::default().build(&seat), number: 0 }
    }

    /// Ten packets, the first sent at `from` ms; each takes `delay` ms and is lost or marked as `fate` says.
    fn report(&mut self, from: u64, delay: u64, fate: impl Fn(u64) -> Option<Ecn>) {
        let packets: Vec<Fate> = (0..10)
            .map(|k| {
                let sent_at = ms(from + 10 * k);
                let at = sent_at + Duration::from_millis(delay);
                let number = self.number + k;
                Fate { number, bytes: 1000, sent_at, arrival: fate(number).map(|ecn| Arrival { at, ecn }) }
            })
            .collect();
        for packet in &packets {
            let Fate { number, bytes, sent_at: now, .. } = *packet;
            self.control.on_sent(&Sent { now, number, bytes, in_flight: 0, queued: 0, marker: false });
        }
        self.number += 10;
        let now = ms(from + 100 + 2 * delay);
        self.control.on_feedback(&Feedback {
            now,
            reported_at: ms(from + 100 + delay),
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

fn arrives(_: u64) -> Option<Ecn> {
    Some(Ecn::Ect0)
}

/// r_recv is 800 kbit/s, and γ at an RTT of 200 ms (100 ms and the interval of reports) 50/420.
#[test]
fn ramp_up_follows_the_received_rate() {
    let mut flow = Flow::new();
    for report in 0..8 {
        flow.report(100 * report, 50, arrives);
    }
    let bound = 800.0 * (1.0 + 50.0 / (110.0 + 100.0 + 120.0));
    assert!((flow.kbps() - bound).abs() < 1.0, "{}", flow.kbps());
}

/// Equation 2: marks cost a fifth of what losses cost, and both bring the rate down.
#[test]
fn losses_and_marks_lower_the_rate() {
    let after = |fate: fn(u64) -> Option<Ecn>| {
        let mut flow = Flow::new();
        for report in 0..30 {
            flow.report(100 * report, 50, fate);
        }
        flow.kbps()
    };
    let none = after(arrives);
    let marked = after(|number| Some(if number % 10 == 3 { Ecn::Ce } else { Ecn::Ect0 }));
    let lost = after(|number| (number % 10 != 3).then_some(Ecn::Ect0));
    assert!(lost < marked && marked < none, "{lost} {marked} {none}");
}

/// The trap of a base delay that never expires, and that a hint ends it: 20 ms, then 150 ms one way.
#[test]
fn a_longer_path_counts_as_queue_until_the_path_is_said_to_be_another() {
    let after = |hint: bool| {
        let mut flow = Flow::new();
        for report in 0..20 {
            flow.report(100 * report, 20, arrives);
        }
        if hint {
            flow.control.on_path_change(ms(2000));
        }
        for report in 20..60 {
            flow.report(100 * report, 150, arrives);
        }
        flow.kbps()
    };
    assert!(after(false) < 400.0, "{}", after(false));
    assert!(after(true) > 800.0, "{}", after(true));
}

/// Packets that left before the change arrive after it: their delays, here shorter, are not of the new path.
#[test]
fn packets_of_the_old_path_make_no_base_delay() {
    let mut flow = Flow::new();
    for report in 0..20 {
        flow.report(100 * report, 20, arrives);
    }
    flow.control.on_path_change(ms(2100));
    flow.report(2000, 20, arrives);
    let before = flow.kbps();
    for report in 21..31 {
        flow.report(100 * report, 150, arrives);
    }
    assert!(flow.kbps() >= before, "{} from {before}", flow.kbps());
}

#[test]
fn nonsense_is_refused() {
    for (prio, xref_ms, field) in [(0.0, 10.0, "prio"), (1.0, f64::NAN, "xref_ms"), (f64::INFINITY, 1.0, "prio")] {
        assert_eq!(Config { prio, xref_ms }.check().unwrap_err().field, field);
    }
}
