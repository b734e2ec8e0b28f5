//! ns-2's clock: seconds in a double.
//!
//! In a network of links many events coincide exactly: a sender clocked by acknowledgements
//! meets the queue just when a packet leaves it. ns-2 adds up its times in doubles, so such
//! events lie some 10⁻¹⁶ s apart, in an order that only the sums know, and that order decides
//! which packet is dropped. To follow a run of ns-2 event for event, links keep this clock beside the
//! exact one, with the same sums; it orders events of one nanosecond.

use super::queue::AGE_BITS;
use super::time::{Duration, Instant};

/// A point in time as ns-2 keeps it, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct FloatTime(f64);

impl FloatTime {
    /// The double nearest to `at`.
    pub fn new(at: Instant) -> Self {
        Self(at.as_secs_f64())
    }

    /// A time in seconds from the start of the run.
    pub fn from_secs(seconds: f64) -> Self {
        Self(seconds)
    }

    /// This time and `seconds`, with ns-2's rounding.
    #[inline]
    pub fn after(self, seconds: f64) -> Self {
        Self(self.0 + seconds)
    }

    /// This time if it lies at `now`, or else the double nearest to `now`: for a machine that receives ns-2's time only in runs that follow
    /// it.
    #[inline]
    pub fn or_nearest(self, now: Instant) -> Self {
        if self.instant() == now { self } else { Self::new(now) }
    }

    /// Seconds from the start of the run.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0
    }

    /// This time and `duration`.
    pub fn after_duration(self, duration: Duration) -> Self {
        self.after(duration.as_secs_f64())
    }

    /// Seconds from `earlier` to this time, with ns-2's rounding.
    #[inline]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.0 - earlier.0
    }

    /// The nearest nanosecond. It never orders two times the other way round.
    #[inline]
    pub fn instant(self) -> Instant {
        Instant::from_nanos((self.0 * 1e9 + 0.5) as u64)
    }

    /// A value for the place of `since` in the order of wake-ups at `at`: it is earlier for an earlier time, and at equal times for an
    /// earlier cause, as ns-2's scheduler has it. The queue remembers 40 bits of it, so it may lie before the start of the run. Every double within
    /// a nanosecond of `at` has a value of its own after the first 16 µs of a run, and the remaining bits distinguish causes that lie
    /// a fraction of `SPAN` from each other: at 0.1 s they are 12, for 65 µs; at 1 s they are 16, for 4 µs; at 60 s 21, for 128 ns.
    #[inline]
    pub fn order_at(self, at: Instant, since: Instant) -> Instant {
        let nanos = at.as_nanos();
        let bits = |nanos: u64| (nanos as f64 * 1e-9).to_bits();
        let (first, last) = (bits(nanos.saturating_sub(1)), bits(nanos + 1));
        let place = self.0.to_bits().clamp(first, last) - first;
        // `width` bits count the doubles between these two.
        let width = u64::BITS - (last - first).leading_zeros();
        let since = at.since(since).as_nanos().min(SPAN - 1);
        let age = match AGE_BITS.checked_sub(width) {
            Some(left) => {
                let cause = if left < SPAN.ilog2() { since >> (SPAN.ilog2() - left) } else { since };
                (1 << AGE_BITS) - (place << left) + cause
            }
            None => (1 << AGE_BITS) - (place >> (width - AGE_BITS)),
        };
        at.wrapping_back(age)
    }
}

/// Causes that lie longer ago than this, 268 ms, are not told apart at equal times.
const SPAN: u64 = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EventQueue, Target};

    /// How far these orders lie before `at`.
    fn ages(at: Instant, orders: &[Instant]) -> Vec<u64> {
        orders.iter().map(|order| at.as_nanos().wrapping_sub(order.as_nanos())).collect()
    }

    #[test]
    fn neighbouring_doubles_are_told_apart() {
        for seconds in [0.25, 1.1279224, 59.9821, 0.3 + 0.6] {
            let time = FloatTime(seconds);
            let next = FloatTime(f64::from_bits(seconds.to_bits() + 1));
            let at = time.instant();
            assert_eq!(next.instant(), at);
            assert!(
                ages(at, &[time.order_at(at, at), next.order_at(at, Instant::ZERO)]).is_sorted_by(|a, b| a > b),
                "at {seconds}"
            );
        }
    }

    #[test]
    fn of_equal_times_the_earlier_cause_comes_first() {
        for (seconds, apart) in [(0.1279224, 70_000), (1.1279224, 5_000), (11.25, 600), (59.9821, 200)] {
            let time = FloatTime(seconds);
            let at = time.instant();
            let cause = |ns: u64| Instant::from_nanos(at.as_nanos() - ns);
            let orders = [2 * apart, apart, 0].map(|ns| time.order_at(at, cause(ns)));
            assert!(ages(at, &orders).is_sorted_by(|a, b| a > b), "at {seconds}");
        }
    }

    /// A packet comes to a full queue at the very time at which another leaves it. Its own transmission began 8.04 ms ago, the other's
    /// 1.68 ms ago, so it comes first and is dropped, as packet 24 of a flow of XCP in ns-2.35.
    #[test]
    fn the_queue_tells_causes_apart_early_in_a_run() {
        let time = FloatTime(0.355_992_000_000_000_14);
        let at = time.instant();
        let mut queue = EventQueue::new();
        for (key, ago) in [(1, 1_680_000), (0, 8_040_000)] {
            let since = Instant::from_nanos(at.as_nanos() - ago);
            queue.push(at, time.order_at(at, since), Target { component: 0, key });
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop(Instant::MAX)).map(|wake| wake.target.key).collect();
        assert_eq!(order, [0, 1]);
    }

    #[test]
    fn the_queue_tells_them_apart_in_long_runs() {
        for seconds in [600.1, 2_500.3, 5_000.7, 100_000.1, 1_000_000.3] {
            let time = FloatTime(seconds);
            let at = time.instant();
            let mut queue = EventQueue::new();
            for key in (0..3).rev() {
                let next = FloatTime(f64::from_bits(seconds.to_bits() + u64::from(key)));
                assert_eq!(next.instant(), at);
                queue.push(at, next.order_at(at, at), Target { component: 0, key });
            }
            let order: Vec<u32> = std::iter::from_fn(|| queue.pop(Instant::MAX)).map(|wake| wake.target.key).collect();
            assert_eq!(order, [0, 1, 2], "at {seconds}");
        }
    }
}
