//! What an XCP router knows of the rate of its link.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Instant};

/// How a router learns of its link's rate. XCP does not work without it (Katabi, Handley, Rohrs 2002 §3.5.1); on shared radio media the
/// rate is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Capacity {
    /// At once, whenever it changes.
    #[default]
    Oracle,
    /// It knows the rate at the start, and never learns of a change (ns-2 without a script that announces it).
    Stale,
    /// This long after each change.
    Delayed(Duration),
    /// It measures how fast packets leave while others wait, beginning with the rate at the start.
    Measured,
}

/// The weight of a new measurement: the estimate follows within some twenty packets. A choice of
/// this simulator; no source gives one.
const GAIN: f64 = 0.05;

/// The knowledge.
#[derive(Clone, Debug)]
pub struct Knowledge {
    how: Capacity,
    /// Bytes/s; `None` before the first word.
    rate: Option<f64>,
    /// Changes that are known later, and when.
    coming: VecDeque<(Instant, f64)>,
    /// The packets in service: when they left the queue, and their bytes. Only while others wait. They are several where packets leave
    /// at one instant, as one opportunity of a trace takes them.
    busy: Option<(Instant, u64)>,
}

impl Knowledge {
    /// Nothing is known.
    pub fn new(how: Capacity) -> Self {
        Self { how, rate: None, coming: VecDeque::new(), busy: None }
    }

    /// The rate of the link is this from now on.
    pub fn on_rate(&mut self, now: Instant, rate: BitRate) {
        let rate = rate.as_bytes_per_s();
        match (self.rate, self.how) {
            (None, _) | (_, Capacity::Oracle) => self.rate = Some(rate),
            (_, Capacity::Delayed(delay)) => self.coming.push_back((now + delay, rate)),
            (_, Capacity::Stale | Capacity::Measured) => {}
        }
    }

    /// A packet leaves, and others wait or not.
    pub fn on_departure(&mut self, now: Instant, size: u32, others: bool) {
        if self.how != Capacity::Measured {
            return;
        }
        let mut leaving = u64::from(size);
        if let (Some(rate), Some((since, bytes))) = (&mut self.rate, self.busy) {
            if now > since {
                *rate += GAIN * (bytes as f64 / now.since(since).as_secs_f64() - *rate);
            } else {
                leaving += bytes;
            }
        }
        self.busy = others.then_some((now, leaving));
    }

    /// The packet in service is no longer.
    pub fn forget_service(&mut self) {
        self.busy = None;
    }

    /// The rate as far as it is known now, bytes/s.
    pub fn rate(&mut self, now: Instant) -> f64 {
        while let Some(&(at, rate)) = self.coming.front()
            && at <= now
        {
            self.rate = Some(rate);
            self.coming.pop_front();
        }
        self.rate.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn when_a_change_is_known() {
        let change = |how: Capacity| {
            let mut knowledge = Knowledge::new(how);
            knowledge.on_rate(at(0), BitRate::from_bps(8000));
            knowledge.on_rate(at(100), BitRate::from_bps(800));
            [100, 199, 200].map(|ms| knowledge.rate(at(ms)))
        };
        assert_eq!(change(Capacity::Oracle), [100.0; 3]);
        assert_eq!(change(Capacity::Stale), [1000.0; 3]);
        assert_eq!(change(Capacity::Delayed(Duration::from_millis(100))), [1000.0, 1000.0, 100.0]);
        assert_eq!(change(Capacity::Measured), [1000.0; 3]);
    }

    #[test]
    fn a_measurement_closes_the_gap_by_its_weight_for_each_packet_while_others_wait() {
        let mut knowledge = Knowledge::new(Capacity::Measured);
        knowledge.on_rate(at(0), BitRate::from_bps(8_000_000));
        // 1000 B in 10 ms are 100 000 B/s. The first packet shows nothing, nor does the one after
        // a pause.
        for (packet, others) in [(0, true), (1, true), (2, false), (7, true)] {
            knowledge.on_departure(at(10 * packet), 1000, others);
        }
        let expected = 100_000.0 + 900_000.0 * (1.0 - GAIN) * (1.0 - GAIN);
        assert!((knowledge.rate(at(80)) - expected).abs() < 1e-6);
    }

    /// Three packets of 500 B at every third millisecond are 500 kB/s.
    #[test]
    fn packets_of_one_instant_are_measured_together() {
        let mut knowledge = Knowledge::new(Capacity::Measured);
        knowledge.on_rate(at(0), BitRate::from_bps(4_000_000));
        for n in 0..300 {
            knowledge.on_departure(at(3 * (n / 3)), 500, true);
        }
        assert!((knowledge.rate(at(1000)) - 500_000.0).abs() < 1e-6, "{}", knowledge.rate(at(1000)));
    }
}
