//! ns-2's clock: seconds in a double.
//!
//! In a network of links many events coincide exactly: a sender clocked by acknowledgements
//! meets the queue just when a packet leaves it. ns-2 adds up its times in doubles, so such
//! events lie some 10⁻¹⁶ s apart, in an order that only the sums know, and that order decides
//! who is dropped. To follow a run of ns-2 event for event, links keep this clock beside the
//! exact one, with the same sums; it orders what falls on one nanosecond.

use super::time::{Duration, Instant};

/// A point in time as ns-2 keeps it, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct FloatTime(f64);

impl FloatTime {
    /// The double nearest to `at`.
    pub fn new(at: Instant) -> Self {
        Self(at.as_secs_f64())
    }

    /// This time and `seconds`, with ns-2's rounding.
    #[inline]
    pub fn after(self, seconds: f64) -> Self {
        Self(self.0 + seconds)
    }

    /// This time if it lies at `now`, or else the double nearest to `now`: for a machine that is
    /// told ns-2's time only in runs that follow it.
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

    /// A value for the place of `since` in the order of wake-ups at `at`: it is earlier for an
    /// earlier time. It resolves 1.5 · 10⁻¹⁷ s within a nanosecond of `at`; before the first
    /// 134 ms of a run it does not.
    #[inline]
    pub fn order_at(self, at: Instant) -> Instant {
        // Both halves of the double times 10⁹, which has 21 significant bits, are exact.
        let high = f64::from_bits(self.0.to_bits() & !((1 << 21) - 1));
        let beyond = (high * 1e9 - at.as_nanos() as f64) + (self.0 - high) * 1e9;
        let fraction = ((beyond + 1.0) * 0.5).clamp(0.0, 1.0);
        let age = RESOLUTION - (fraction * RESOLUTION as f64) as u64;
        Instant::from_nanos(at.as_nanos().saturating_sub(age))
    }
}

/// Into how many parts two nanoseconds are divided.
const RESOLUTION: u64 = 1 << 27;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_doubles_are_told_apart() {
        for seconds in [0.25, 1.1279224, 59.9821, 0.3 + 0.6] {
            let time = FloatTime(seconds);
            let next = FloatTime(f64::from_bits(seconds.to_bits() + 1));
            let at = time.instant();
            assert_eq!(next.instant(), at);
            assert!(time.order_at(at) < next.order_at(at), "at {seconds}");
            assert!(next.order_at(at) < at);
        }
    }
}
