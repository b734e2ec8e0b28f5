//! The token bucket (RFC 2215 §3.6): tokens come at a rate, and at most a bucket full of them is kept.
//!
//! Its arithmetic is exact: tokens are counted in billionths of a bit, of which a rate in bit/s
//! makes a whole number in each nanosecond.

use crate::engine::{BitRate, Bytes, Duration, Instant};

use super::operations::Operations;

/// A token bucket.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: BitRate,
    depth: u128,
    tokens: u128,
    /// Tokens that were taken before they came: the next ones pay for them. The bucket is empty until then.
    debt: u128,
    /// When the tokens were counted last.
    counted: Instant,
    #[cfg(debug_assertions)]
    ledger: Ledger,
}

/// Billionths of a bit in a byte.
const PER_BYTE: u128 = 8_000_000_000;

impl TokenBucket {
    /// The operations of one update and withdrawal: the time elapsed, the tokens it brought, their sum; and the difference after the
    /// withdrawal.
    pub const OPERATIONS: Operations = Operations { additions: 3, multiplications: 1 };

    /// A bucket that holds `depth` and fills at `rate`; it is full at `now`.
    pub fn new(rate: BitRate, depth: Bytes, now: Instant) -> Self {
        let depth = u128::from(depth.get()) * PER_BYTE;
        Self {
            rate,
            depth,
            tokens: depth,
            debt: 0,
            counted: now,
            #[cfg(debug_assertions)]
            ledger: Ledger::new(depth, now),
        }
    }

    /// From now on it fills at this rate.
    pub fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.fill(now);
        #[cfg(debug_assertions)]
        self.ledger.earn(now, self.rate);
        self.rate = rate;
    }

    /// Takes tokens for `bytes` bytes if the bucket holds them.
    pub fn take(&mut self, now: Instant, bytes: u32) -> bool {
        let enough = self.holds(now, bytes);
        if enough {
            self.spend(now, u128::from(bytes) * PER_BYTE);
        }
        enough
    }

    /// Whether the bucket holds tokens for `bytes` bytes.
    pub fn holds(&mut self, now: Instant, bytes: u32) -> bool {
        self.fill(now);
        self.tokens >= u128::from(bytes) * PER_BYTE
    }

    /// When the bucket will hold tokens for `bytes` bytes, or be full if that is less.
    pub fn ready_at(&mut self, now: Instant, bytes: u32) -> Instant {
        self.fill(now);
        let wanted = (u128::from(bytes) * PER_BYTE).min(self.depth);
        let missing = wanted.saturating_sub(self.tokens) + self.debt;
        let rate = u128::from(self.rate.as_bps()).max(1);
        now + Duration::from_nanos(missing.div_ceil(rate).min(u128::from(u64::MAX / 2)) as u64)
    }

    /// Takes tokens for `bytes` bytes. Those that the bucket does not hold it owes.
    pub fn drain(&mut self, now: Instant, bytes: u32) {
        self.fill(now);
        let wanted = u128::from(bytes) * PER_BYTE;
        let held = self.tokens.min(wanted);
        self.spend(now, held);
        self.debt += wanted - held;
    }

    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "the ledger is not kept"))]
    fn spend(&mut self, now: Instant, tokens: u128) {
        self.tokens -= tokens;
        #[cfg(debug_assertions)]
        self.ledger.spend(now, self.rate, tokens);
    }

    /// Brings the tokens up to date, and gives those that found no room, in billionths of a bit.
    pub(super) fn fill(&mut self, now: Instant) -> u128 {
        let gained = u128::from(self.rate.as_bps()) * u128::from(now.since(self.counted).as_nanos());
        let paid = gained.min(self.debt);
        let tokens = self.tokens + gained - paid;
        self.debt -= paid;
        self.counted = now;
        #[cfg(debug_assertions)]
        self.ledger.spend(now, self.rate, paid);
        self.tokens = tokens.min(self.depth);
        tokens - self.tokens
    }

    /// Takes tokens that another bucket had no room for.
    pub(super) fn add(&mut self, spilt: u128) {
        self.tokens = (self.tokens + spilt).min(self.depth);
        #[cfg(debug_assertions)]
        self.ledger.receive(spilt);
    }
}

/// What a bucket has let pass, against the law of token buckets: never more than rT + b (RFC 2215 §3.6).
#[cfg(debug_assertions)]
#[derive(Clone, Debug)]
struct Ledger {
    /// b plus the tokens received until `at`.
    earned: u128,
    spent: u128,
    at: Instant,
}

#[cfg(debug_assertions)]
impl Ledger {
    fn new(depth: u128, now: Instant) -> Self {
        Self { earned: depth, spent: 0, at: now }
    }

    /// Until `now` tokens came at this rate.
    fn earn(&mut self, now: Instant, rate: BitRate) {
        self.earned += u128::from(rate.as_bps()) * u128::from(now.since(self.at).as_nanos());
        self.at = now;
    }

    /// Another bucket gives.
    fn receive(&mut self, tokens: u128) {
        self.earned += tokens;
    }

    fn spend(&mut self, now: Instant, rate: BitRate, tokens: u128) {
        self.earn(now, rate);
        self.spent += tokens;
        assert!(self.spent <= self.earned, "a token bucket has let more than rT + b pass");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_rate_and_bucket_is_out() {
        // By hand: 8000 B/s and 2000 B. Two packets of 1000 B empty it; it holds 800 B at 0.1 s,
        // 1000 B at 0.125 s, and 1000 B again 0.125 s later.
        let mut bucket = TokenBucket::new(BitRate::from_kbps(64), Bytes::new(2_000), Instant::ZERO);
        for (at, expected) in [(0.0, true), (0.0, true), (0.0, false), (0.1, false), (0.125, true), (0.25, true)] {
            assert_eq!(bucket.take(Instant::from_secs_f64(at), 1_000), expected, "at {at} s");
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "more than rT + b")]
    fn its_law_refuses_tokens_that_were_counted_twice() {
        let mut bucket = TokenBucket::new(BitRate::from_kbps(64), Bytes::new(1_000), Instant::ZERO);
        assert!(bucket.take(Instant::ZERO, 1_000));
        let later = Instant::from_secs_f64(0.125);
        assert!(bucket.take(later, 1_000));
        bucket.counted = Instant::ZERO;
        bucket.take(later, 1_000);
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
        assert!((most - 101.0..=most).contains(&(passed as f64)), "{passed}");
    }

    /// Packets larger than the bucket: over any time no more than rT and one packet.
    #[test]
    fn what_a_bucket_lacks_is_owed() {
        for depth in [100, 500, 999, 1_000, 3_000] {
            let mut bucket = TokenBucket::new(BitRate::from_mbps(1), Bytes::new(depth), Instant::ZERO);
            let most = |now: Instant| 125_000.0 * now.as_secs_f64() + depth.max(1_000) as f64;
            let (mut now, mut passed) = (Instant::ZERO, 0.0);
            for _ in 0..1_000 {
                now = bucket.ready_at(now, 1_000);
                bucket.drain(now, 1_000);
                passed += 1_000.0;
                assert!(passed <= most(now) + 1e-6, "{depth} B: {passed} of {}", most(now));
            }
            assert!(passed >= most(now) - 1e-6, "{depth} B: {passed} of {}", most(now));
        }
    }

    #[test]
    fn it_says_when_it_will_have_enough() {
        // 64 kbit/s: a byte comes in 125 us.
        let mut bucket = TokenBucket::new(BitRate::from_kbps(64), Bytes::new(1_000), Instant::ZERO);
        assert_eq!(bucket.ready_at(Instant::ZERO, 1_000), Instant::ZERO);
        assert!(bucket.take(Instant::ZERO, 1_000));
        assert_eq!(bucket.ready_at(Instant::ZERO, 600), Instant::from_nanos(75_000_000));
        // More than it ever holds: when it is full.
        assert_eq!(bucket.ready_at(Instant::ZERO, 1_500), Instant::from_nanos(125_000_000));
        assert!(!bucket.holds(Instant::from_nanos(74_999_999), 600));
        assert!(bucket.holds(Instant::from_nanos(75_000_000), 600));
    }

    #[test]
    fn a_full_bucket_stays_full_and_a_new_rate_holds_from_now_on() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(1), Bytes::new(500), Instant::ZERO);
        let late = Instant::from_secs_f64(100.0);
        assert!(bucket.holds(late, 500) && !bucket.holds(late, 501));
        bucket.set_rate(late, BitRate::from_kbps(8));
        assert!(bucket.take(late, 500));
        assert!(!bucket.take(Instant::from_secs_f64(100.099), 100));
        assert!(bucket.take(Instant::from_secs_f64(100.1), 100));
    }
}
