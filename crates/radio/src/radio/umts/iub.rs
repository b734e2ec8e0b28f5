//! The Iub interface between RNC and Node B: a fast link that never fills.

use lasthop_net::engine::{BitRate, Duration, FloatTime, Instant};

/// One direction of an Iub.
#[derive(Debug)]
pub struct Iub {
    rate: BitRate,
    delay: Duration,
    /// When the serialiser has sent what it has.
    free: Instant,
    /// The same by ns-2's clock, if that is followed.
    free_by_ns2: FloatTime,
    /// What it carried last, in bits, and how long that took: almost all PDUs have one size.
    last: (u32, Duration),
}

impl Iub {
    /// With its rate and its propagation delay.
    pub fn new(rate: BitRate, delay: Duration) -> Self {
        Self { rate, delay, free: Instant::ZERO, free_by_ns2: FloatTime::default(), last: (0, Duration::ZERO) }
    }

    /// How long a bit takes over it.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The arrival time of `bits` bits that are handed over at `at`, in the order of time.
    #[inline]
    pub fn arrival(&mut self, at: Instant, bits: u32) -> Instant {
        if self.last.0 != bits {
            self.last = (bits, Duration::from_nanos(u64::from(bits) * 1_000_000_000 / self.rate.as_bps()));
        }
        self.free = self.free.max(at) + self.last.1;
        self.free + self.delay
    }

    /// The same by ns-2's clock, with the sums of its `DelayLink`.
    pub fn arrival_by_ns2(&mut self, at: FloatTime, bits: u32) -> FloatTime {
        let from = if self.free_by_ns2 > at { self.free_by_ns2 } else { at };
        let sending = f64::from(bits) / self.rate.as_bps() as f64;
        self.free_by_ns2 = from.after(sending);
        from.after(sending + self.delay.as_secs_f64())
    }
}
