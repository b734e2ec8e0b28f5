//! The Iub interface between RNC and Node B: a fast link that never fills.

use crate::engine::{BitRate, Duration, Instant};

/// One direction of an Iub.
#[derive(Debug)]
pub struct Iub {
    rate: BitRate,
    delay: Duration,
    /// When the serialiser has sent what it has.
    free: Instant,
    /// What it carried last, in bits, and how long that took: almost all PDUs have one size.
    last: (u32, Duration),
}

impl Iub {
    /// With its rate and its propagation delay.
    pub fn new(rate: BitRate, delay: Duration) -> Self {
        Self { rate, delay, free: Instant::ZERO, last: (0, Duration::ZERO) }
    }

    /// When so many bits arrive that are handed over at `at`, in the order of time.
    #[inline]
    pub fn arrival(&mut self, at: Instant, bits: u32) -> Instant {
        if self.last.0 != bits {
            self.last = (bits, Duration::from_nanos(u64::from(bits) * 1_000_000_000 / self.rate.as_bps()));
        }
        self.free = self.free.max(at) + self.last.1;
        self.free + self.delay
    }
}
