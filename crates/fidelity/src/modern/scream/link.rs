//! The bottleneck of the harness, and the way behind it.

use lasthop_core::net::Ecn;
use lasthop_core::transport::media::control::scream::{PER_SECOND, Ticks};

/// The marker's ramp, seconds (index: linear 5..15 ms).
const RAMP: [f64; 2] = [0.005, 0.015];

/// A queue with tail drop before a link, and a marker that adds its probabilities up.
pub struct Link {
    /// bit/s.
    pub capacity: f64,
    /// One way, seconds.
    pub delay: f64,
    /// A packet is dropped that would wait longer, seconds.
    longest: f64,
    /// The ECN field of packets. The marker is at work for ECT(1).
    ecn: Ecn,
    /// When it is free, in ticks.
    free: f64,
    /// The marker's sum.
    sum: f64,
}

impl Link {
    pub fn new(capacity: f64, delay: f64, longest: f64, ecn: Ecn) -> Self {
        Self { capacity, delay, longest, ecn, free: 0.0, sum: 0.0 }
    }

    /// Seconds until it is free.
    pub fn queue(&self, now: Ticks) -> f64 {
        ((self.free - now as f64) / PER_SECOND as f64).max(0.0)
    }

    /// A packet that is sent: the tick at which it arrives, and its ECN field; `None` if it is dropped.
    pub fn send(&mut self, now: Ticks, bytes: u32) -> Option<(Ticks, Ecn)> {
        let waits = self.queue(now);
        if waits > self.longest {
            return None;
        }
        self.free = self.free.max(now as f64) + f64::from(bytes) * 8.0 / self.capacity * PER_SECOND as f64;
        let mut ecn = self.ecn;
        if ecn == Ecn::Ect1 {
            self.sum += ((waits - RAMP[0]) / (RAMP[1] - RAMP[0])).clamp(0.0, 1.0);
            if self.sum >= 1.0 {
                self.sum -= 1.0;
                ecn = Ecn::Ce;
            }
        }
        Some(((self.free + self.delay * PER_SECOND as f64).ceil() as Ticks, ecn))
    }
}
