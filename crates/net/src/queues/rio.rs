//! RIO: random early detection with *in* and *out* (Clark, Fang 1998). One FIFO, two curves: out-of-profile packets are dropped by the
//! average of the whole backlog, in-profile packets by the average of the in-profile backlog, and later.
//!
//! In profile are assured forwarding of drop precedence 1, and packets that ask for a better class; out
//! of it are precedences 2 and 3 (RFC 2597 §2: with two levels of loss, AFx1 gets the lower and
//! AFx2 and AFx3 the higher) and best effort.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::engine::{BitRate, Bytes, Fault, Instant, Probability, Stream};
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::dscp::{Class, precedence};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place, Probe};
use crate::net::operations::Operations;
use crate::net::transmitter::Queue;

use super::fifo::Fifo;
use super::red::{Average, Curve, spaced};

/// Random early detection with two levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service; further arrivals are dropped. Default: 100 packets, as DropTail.
    pub limit: Amount,
    /// The average of packets in profile below which none of them is dropped. Default: 15
    /// (ns-2.35).
    pub in_min: f64,
    /// The average of packets in profile at which all of them are dropped. Default: 30 (ns-2.35).
    pub in_max: f64,
    /// The probability just below `in_max`. Default: 0.02 (ns-2.35).
    pub in_max_p: Probability,
    /// The average of all packets below which none out of profile is dropped. Default: 5 (ns-2.35).
    pub out_min: f64,
    /// The average of all packets at which all out of profile are dropped. Default: 15 (ns-2.35).
    pub out_max: f64,
    /// The probability just below `out_max`. Default: 0.2 (ns-2.35).
    pub out_max_p: Probability,
    /// The weight of the present length in the averages. Default: 0.002 (Floyd, Jacobson 1993).
    pub weight: Probability,
    /// The size of a typical packet, by which an idle time is counted. Default: 1500 B.
    pub mean_packet: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        let probability = |p| Probability::new(p).expect("a constant between 0 and 1");
        Self {
            limit: Amount::Packets(100),
            in_min: 15.0,
            in_max: 30.0,
            in_max_p: probability(0.02),
            out_min: 5.0,
            out_max: 15.0,
            out_max_p: probability(0.2),
            weight: probability(0.002),
            mean_packet: Bytes::new(1500),
        }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Rio::new(self.clone(), site)))
    }

    fn check(&self) -> Result<(), Fault> {
        for (field, min, max) in [("in_min", self.in_min, self.in_max), ("out_min", self.out_min, self.out_max)] {
            // A number that is none fails too.
            if !(min >= 0.0 && min < max && max <= 1e12) {
                let message = format!("averages from {min} to {max} packets");
                return Err(Fault::new(field, message, "expected a minimum below its maximum"));
            }
        }
        if self.mean_packet.get() == 0 {
            let expected = "expected a size, such as \"1500 B\"";
            return Err(Fault::new("mean_packet", "a typical packet of no bytes", expected));
        }
        Ok(())
    }
}

/// The queue.
pub struct Rio {
    weight: f64,
    mean_packet: f64,
    place: Place,
    stream: Stream,
    /// Packets of the mean size that the link sends in a second.
    capacity: f64,
    levels: [Level; 2],
    fifo: Fifo,
    /// How many of those that wait are in profile.
    inside: u64,
}

/// A level of loss.
struct Level {
    curve: Curve,
    max_p: f64,
    average: Average,
    /// Packets of this level since the last of them was dropped, or the average was low.
    since_drop: u64,
}

const IN: usize = 0;
const OUT: usize = 1;

impl Rio {
    /// What an arrival costs at most: two averages, a point of a curve, the spacing of drops.
    pub const OPERATIONS: Operations = Operations { additions: 8, multiplications: 8 };

    /// An empty queue at `site`.
    pub fn new(config: Config, site: &Site<'_>) -> Self {
        let level = |min, max, max_p: Probability| Level {
            curve: Curve { min, max, gentle: false },
            max_p: max_p.get(),
            average: Average { value: 0.0, idle_since: Some(Instant::ZERO) },
            since_drop: 0,
        };
        let mut rio = Self {
            weight: config.weight.get(),
            mean_packet: config.mean_packet.get() as f64,
            place: site.place,
            stream: site.streams.stream(site.name, "rio"),
            capacity: 0.0,
            levels: [
                level(config.in_min, config.in_max, config.in_max_p),
                level(config.out_min, config.out_max, config.out_max_p),
            ],
            fifo: Fifo::new(config.limit),
            inside: 0,
        };
        rio.on_capacity(Instant::ZERO, site.rate);
        rio
    }

    /// The average of in-profile packets decays from when none of them waits.
    fn note_inside(&mut self, now: Instant) {
        if self.inside == 0 {
            self.levels[IN].average.idle_since.get_or_insert(now);
        }
    }

    /// Whether the packet of this level is to be dropped early.
    fn drops(&mut self, level: usize) -> bool {
        let Level { curve, max_p, average, since_drop } = &mut self.levels[level];
        if average.value < curve.min {
            *since_drop = 0;
            return false;
        }
        *since_drop += 1;
        let p_b = curve.probability(average.value, *max_p);
        let drop = p_b >= 1.0 || self.stream.unit() < spaced(p_b, *since_drop as f64, false);
        if drop {
            *since_drop = 0;
        }
        drop
    }
}

/// The level of a code point.
fn level(dscp: u8) -> usize {
    match precedence(dscp) {
        Some(1) => IN,
        Some(_) => OUT,
        None if Class::of(dscp) == Class::BestEffort => OUT,
        None => IN,
    }
}

impl QueueDiscipline for Rio {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let now = core.now();
        let (size, level) = (core.packet(&packet).size, level(core.packet(&packet).dscp));
        let all = self.fifo.backlog().packets;
        self.levels[OUT].average.update(now, all, self.weight, self.capacity);
        if level == IN {
            self.levels[IN].average.update(now, self.inside, self.weight, self.capacity);
        }
        let cause =
            if self.drops(level) { Some(Cause::Early) } else { self.fifo.is_full(size).then_some(Cause::Overflow) };
        if let Some(cause) = cause {
            self.note_inside(now);
            return core.drop(packet, self.place, cause);
        }
        self.inside += u64::from(level == IN);
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        let Some(packet) = self.fifo.pop(core) else {
            for level in &mut self.levels {
                level.average.idle_since.get_or_insert(core.now());
            }
            return None;
        };
        self.levels[OUT].average.idle_since = None;
        if level(core.packet(&packet).dscp) == IN {
            self.inside -= 1;
            self.levels[IN].average.idle_since = None;
            self.note_inside(core.now());
        }
        Some(packet)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.inside += u64::from(level(core.packet(&packet).dscp) == IN);
        self.fifo.put_back(core, packet);
    }

    fn on_capacity(&mut self, now: Instant, rate: BitRate) {
        for Level { average, .. } in &mut self.levels {
            average.age(now, self.weight, self.capacity);
        }
        self.capacity = rate.as_bytes_per_s() / self.mean_packet;
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("average_in_packets", self.levels[IN].average.value);
        probe.value("average_packets", self.levels[OUT].average.value);
    }
}

impl Timed for Rio {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::choice::parsed;
    use crate::net::bench::{Bench, packet};
    use crate::net::dscp::Dscp;

    fn rio(bench: &Bench, config: Config) -> Rio {
        Rio::new(config, &bench.site(BitRate::from_mbps(10)))
    }

    #[test]
    fn levels_follow_the_drop_precedence() {
        let inside = [Dscp::Af11, Dscp::Af41, Dscp::Ef, Dscp::Cs6];
        let outside = [Dscp::Af12, Dscp::Af13, Dscp::Af43, Dscp::Be, Dscp::Cs1];
        assert!(inside.iter().all(|dscp| level(dscp.value()) == IN));
        assert!(outside.iter().all(|dscp| level(dscp.value()) == OUT));
    }

    #[test]
    fn each_level_has_its_average() {
        // Weight 0.5, six packets into an empty queue, alternately in and out. By hand: everything:
        // lengths 0 … 5 give 0, 0.5, 1.25, 2.125, 3.0625, 4.03125; in: lengths 0, 1, 2 give
        // 0, 0.5, 1.25.
        let mut bench = Bench::new();
        let mut rio = rio(&bench, Config { weight: Probability::new(0.5).unwrap(), ..Config::default() });
        for n in 0..6 {
            let dscp = if n % 2 == 0 { Dscp::Af11 } else { Dscp::Af12 };
            bench.enqueue(&mut rio, packet(0, 1_000, dscp));
        }
        assert_eq!(rio.levels.each_ref().map(|level| level.average.value), [1.25, 4.03125]);
    }

    /// The share dropped at this average of both levels.
    fn dropped(dscp: Dscp, average: f64) -> f64 {
        let mut bench = Bench::new();
        let mut rio = rio(&bench, Config { weight: Probability::new(0.0).unwrap(), ..Config::default() });
        const ARRIVALS: u64 = 20_000;
        for _ in 0..ARRIVALS {
            for level in &mut rio.levels {
                level.average = Average { value: average, idle_since: None };
            }
            bench.enqueue(&mut rio, packet(0, 1_000, dscp));
            bench.take(&mut rio);
        }
        bench.core.counters().dropped as f64 / ARRIVALS as f64
    }

    #[test]
    fn drops_follow_the_two_curves() {
        // The count of Floyd and Jacobson's procedure includes the packet that comes, so distances of
        // drops are uniform in 1 … 1/p_b − 1: a share of 2 p_b. Out: p_b at 10 is 0.1, from 15 on 1.
        // In: nothing below 15; at 22.5 p_b is 0.01; from 30 on 1. Of 20 000 packets 4000 or 400 are
        // dropped; the distance's standard deviation is below 0.6 of its mean: five standard errors
        // are 0.05 and 0.15 of the share.
        for (dscp, average, p_b) in [
            (Dscp::Af12, 4.9, 0.0),
            (Dscp::Af12, 10.0, 0.1),
            (Dscp::Af13, 15.0, 1.0),
            (Dscp::Af11, 10.0, 0.0),
            (Dscp::Af11, 14.9, 0.0),
            (Dscp::Af11, 22.5, 0.01),
            (Dscp::Af11, 30.0, 1.0),
        ] {
            let expected = if p_b == 1.0 { 1.0 } else { 2.0 * p_b };
            let got = dropped(dscp, average);
            let within = if p_b == 0.01 { 0.15 } else { 0.05 };
            assert!((got - expected).abs() <= within * expected, "{dscp:?} at {average}: {got}, not {expected}");
        }
    }

    /// A packet that is dropped where none of its level waits does not end the idle time of that level, though others are sent.
    #[test]
    fn a_level_without_packets_decays_while_others_are_sent() {
        let mut bench = Bench::new();
        let mut rio = rio(&bench, Config::default());
        rio.levels[IN].average = Average { value: 100.0, idle_since: Some(Instant::ZERO) };
        let rate = rio.capacity;
        bench.enqueue(&mut rio, packet(0, 1_000, Dscp::Af11));
        assert_eq!(bench.drops(Cause::Early), 1);
        for second in 1..=4 {
            bench.at(f64::from(second));
            bench.enqueue(&mut rio, packet(0, 1_000, Dscp::Be));
            bench.take(&mut rio);
        }
        bench.enqueue(&mut rio, packet(0, 1_000, Dscp::Af11));
        let expected = 100.0 * libm::pow(1.0 - rio.weight, 1.0 + libm::trunc(4.0 * rate) + 1.0);
        let got = rio.levels[IN].average.value;
        assert!((got / expected - 1.0).abs() < 1e-9, "{got}, not {expected}");
    }

    #[test]
    fn minima_above_their_maxima_are_refused() {
        for (text, field) in [("in_min = 30", "in_min"), ("out_max = 4", "out_min")] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field);
        }
        assert_eq!(Config { in_max: f64::NAN, ..Config::default() }.check().unwrap_err().field, "in_min");
        assert_eq!(Config::default().check(), Ok(()));
    }
}
