//! The token bucket (RFC 2215 §3.6): tokens come at a rate, and at most a bucket full of them is kept.

use crate::engine::{BitRate, Bytes, Instant};

/// A token bucket, full at the start. Its arithmetic is exact.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: BitRate,
    /// In billionths of a bit, so that a nanosecond at a rate in bit/s is a whole number.
    depth: u128,
    tokens: u128,
    /// When the tokens were counted last.
    counted: Instant,
}

/// Billionths of a bit in a byte.
const PER_BYTE: u128 = 8_000_000_000;

impl TokenBucket {
    /// A bucket that holds `depth` and fills at `rate`; it is full at `now`.
    pub fn new(rate: BitRate, depth: Bytes, now: Instant) -> Self {
        let depth = u128::from(depth.get()) * PER_BYTE;
        Self { rate, depth, tokens: depth, counted: now }
    }

    /// From now on it fills at this rate.
    pub fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.fill(now);
        self.rate = rate;
    }

    /// Takes so many bytes of tokens if they are there.
    pub fn take(&mut self, now: Instant, bytes: u32) -> bool {
        self.fill(now);
        let wanted = u128::from(bytes) * PER_BYTE;
        let enough = self.tokens >= wanted;
        if enough {
            self.tokens -= wanted;
        }
        enough
    }

    /// Whether so many bytes of tokens are there.
    pub fn holds(&mut self, now: Instant, bytes: u32) -> bool {
        self.fill(now);
        self.tokens >= u128::from(bytes) * PER_BYTE
    }

    /// Two additions (one of them the difference of times), one multiplication.
    fn fill(&mut self, now: Instant) {
        let gained = u128::from(self.rate.as_bps()) * u128::from(now.since(self.counted).as_nanos());
        self.tokens = (self.tokens + gained).min(self.depth);
        self.counted = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_rate_and_bucket_is_out() {
        // By hand: 8000 B/s and 2000 B. Two packets of 1000 B empty it; it holds 800 B at 0.1 s, 1000 B at
        // 0.125 s, and 1000 B again 0.125 s later.
        let mut bucket = TokenBucket::new(BitRate::from_kbps(64), Bytes::new(2_000), Instant::ZERO);
        let cases = [(0.0, true), (0.0, true), (0.0, false), (0.1, false), (0.125, true), (0.25, true)];
        for (at, expected) in cases {
            assert_eq!(bucket.take(Instant::from_secs_f64(at), 1_000), expected, "at {at} s");
        }
    }

    #[test]
    fn in_any_interval_at_most_rate_and_bucket_passes() {
        // RFC 2215 §3.6: over any time T no more than rT + b. A greedy source gets just that.
        let mut bucket = TokenBucket::new(BitRate::from_bps(999_983), Bytes::new(3_000), Instant::ZERO);
        let mut passed = 0u64;
        for us in 0..1_000_000 {
            passed += 100 * u64::from(bucket.take(Instant::from_nanos(us * 1_000), 100));
        }
        let most = 999_983.0 / 8.0 + 3_000.0;
        assert!((most - 100.0 - 1.0..=most).contains(&(passed as f64)), "{passed}");
    }

    #[test]
    fn a_full_bucket_stays_full() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(1), Bytes::new(500), Instant::ZERO);
        let late = Instant::from_secs_f64(100.0);
        assert!(bucket.holds(late, 500) && !bucket.holds(late, 501));
        bucket.set_rate(late, BitRate::from_kbps(8));
        assert!(bucket.take(late, 500));
        assert!(!bucket.take(Instant::from_secs_f64(100.099), 100));
        assert!(bucket.take(Instant::from_secs_f64(100.1), 100));
    }
}
