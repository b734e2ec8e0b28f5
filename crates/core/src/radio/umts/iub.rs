//! The Iub interface between RNC and Node B: a fast link that never fills.

use crate::engine::{BitRate, Duration, Instant};

/// One direction of an Iub.
#[derive(Debug)]
pub struct Iub {
    rate: BitRate,
    delay: Duration,
    /// When the serialiser has sent what it has.
    free: Instant,
}

impl Iub {
    /// With its rate and its propagation delay.
    pub fn new(rate: BitRate, delay: Duration) -> Self {
        Self { rate, delay, free: Instant::ZERO }
    }

    /// When so many bits arrive that are handed over at `at`, in the order of time.
    pub fn arrival(&mut self, at: Instant, bits: u32) -> Instant {
        let service = Duration::from_nanos(u64::from(bits) * 1_000_000_000 / self.rate.as_bps());
        self.free = self.free.max(at) + service;
        self.free + self.delay
    }
}
