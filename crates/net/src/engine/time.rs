//! Simulated time: integer nanoseconds from the start of the run.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;

/// A point in simulated time, in nanoseconds from the start of the run.
///
/// [`Instant::MAX`], after 52 days, is the last one: far enough from the end of 64 bits for sums.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of simulated time in nanoseconds; never negative.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The last instant that a run can reach: 2⁵² − 1 ns, about 52 days.
    pub const MAX: Self = Self((1 << 52) - 1);

    /// The instant `ns` nanoseconds after the start, at most [`Instant::MAX`].
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        if ns > Self::MAX.0 { Self::MAX } else { Self(ns) }
    }

    /// The instant nearest to `s` seconds after the start. Negative values and NaN give zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self::ZERO + Duration::from_secs_f64(s)
    }

    /// Nanoseconds from the start of the run.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds from the start of the run.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// The time that has passed since `earlier`; zero if `earlier` lies later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The nanoseconds since `cause`, from 0 to `most`; `cause` may have been wrapped round by [`Instant::wrapping_back`].
    #[inline(always)]
    pub(super) fn age(self, cause: Self, most: u64) -> u64 {
        let age = self.0.wrapping_sub(cause.0);
        // Mostly both limits hold, and one comparison says so.
        if age <= most { age } else { age.cast_signed().clamp(0, most.cast_signed()).cast_unsigned() }
    }

    /// `ns` nanoseconds before this one; before the start of the run it wraps round. Only the order of wake-ups has such instants.
    #[inline]
    pub(super) const fn wrapping_back(self, ns: u64) -> Self {
        Self(self.0.wrapping_sub(ns))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(1 << 52);

    /// `ns` nanoseconds, at most [`Duration::MAX`].
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        if ns > Self::MAX.0 { Self::MAX } else { Self(ns) }
    }

    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self::from_nanos(us.saturating_mul(1_000))
    }

    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self::from_nanos(ms.saturating_mul(1_000_000))
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self::from_nanos(s.saturating_mul(NS_PER_S))
    }

    /// The duration nearest to `s` seconds. Negative values and NaN give zero, large ones
    /// [`Duration::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        // A cast from float saturates, and takes NaN to zero.
        Self::from_nanos(libm::round(s * NS_PER_S as f64) as u64)
    }

    /// Nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// This duration times `factor`, rounded to the nanosecond.
    pub fn mul_f64(self, factor: f64) -> Self {
        Self::from_secs_f64(self.as_secs_f64() * factor)
    }

    /// This duration without `other`, or zero.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, d: Duration) -> Self {
        // Neither operand exceeds 2⁵², so the sum fits.
        Self::from_nanos(self.0 + d.0)
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, d: Self) -> Self {
        Self::from_nanos(self.0 + d.0)
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, d: Self) -> Self {
        self.saturating_sub(d)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self::from_nanos(self.0.saturating_mul(n))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(Instant::MAX + Duration::MAX, Instant::MAX);
        assert_eq!(Instant::ZERO.since(Instant::MAX), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY), Duration::MAX);
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.0483).as_nanos(), 48_300_000);
        assert_eq!(Duration::from_secs_f64(1e-9 * 0.6).as_nanos(), 1);
    }
}
