//! The length of the bottleneck's queue in bins of time, as a trace of ns-2 shows it.
//!
//! A trace has each packet's coming and going at times rounded to 1 µs. A length that begins and
//! ends at one such time is no length: a packet that finds the link free does not wait.

use lasthop_core::engine::Instant;
use lasthop_core::net::{Histogram, Probe, Simulation};

use crate::build::FORWARD;

/// Microseconds of a bin.
const BIN_US: u64 = 100_000;

/// The queue's length so far.
#[derive(Debug, Default)]
pub struct QueueLength {
    /// Its present length, packets, and since when.
    packets: u64,
    since_us: u64,
    bins: Vec<Bin>,
}

/// The queue's length in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Its integral over time, packet-microseconds.
    pub packet_us: u64,
    /// The greatest length, packets.
    pub most: u64,
}

impl Bin {
    /// The mean length, packets.
    pub fn mean(&self) -> f64 {
        self.packet_us as f64 / BIN_US as f64
    }
}

impl QueueLength {
    /// Looks at the present length.
    pub fn look(&mut self, simulation: &Simulation) {
        let mut look = Look { is_bottleneck: false, packets: None };
        simulation.sample_media(&mut look);
        self.note(simulation.now(), look.packets.unwrap_or_default());
    }

    /// The length of each bin up to `end`.
    pub fn finish(mut self, end: Instant) -> Vec<Bin> {
        self.note(end, 0);
        self.bins
    }

    /// From `now` on the length is `packets`.
    fn note(&mut self, now: Instant, packets: u64) {
        if packets == self.packets && packets > 0 {
            return;
        }
        let now_us = (now.as_nanos() + 500) / 1000;
        while self.since_us < now_us {
            let place = self.since_us / BIN_US;
            let until = now_us.min((place + 1) * BIN_US);
            self.bins.resize(place as usize + 1, Bin::default());
            let bin = &mut self.bins[place as usize];
            bin.packet_us += self.packets * (until - self.since_us);
            bin.most = bin.most.max(self.packets);
            self.since_us = until;
        }
        self.packets = packets;
    }
}

/// Finds the length of the queue forward at the bottleneck.
struct Look {
    is_bottleneck: bool,
    packets: Option<u64>,
}

impl Probe for Look {
    fn part(&mut self, _what: lasthop_core::net::What, name: &str) {
        self.is_bottleneck = name == FORWARD;
    }

    fn value(&mut self, name: &'static str, value: f64) {
        if self.is_bottleneck && name == "queue_packets" {
            self.packets = Some(value as u64);
        }
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_integrated_over_bins() {
        let mut length = QueueLength::default();
        for (at_ns, packets) in [(50_000_000, 1), (60_000_400, 2), (60_000_499, 1), (150_000_500, 0)] {
            length.note(Instant::from_nanos(at_ns), packets);
        }
        let bins = length.finish(Instant::from_nanos(300_000_000));
        let expected = [(50_000, 1), (50_001, 1), (0, 0)].map(|(packet_us, most)| Bin { packet_us, most });
        assert_eq!(bins, expected);
    }
}
