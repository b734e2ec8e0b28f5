//! The kernel's clocks: microseconds for time stamps, jiffies for timers and for CUBIC, and the timer wheel's rounding.

use lasthop_net::engine::Instant;

/// Ticks in a second (`CONFIG_HZ` of the reference's kernel).
pub const HZ: u64 = 250;

/// Microseconds in a tick.
const JIFFY_US: u64 = 1_000_000 / HZ;

/// The time in microseconds (`tcp_mstamp`).
#[inline]
pub fn micros(now: Instant) -> u64 {
    now.as_nanos() / 1_000
}

/// The tick of an instant (`tcp_jiffies32`; it does not wrap here).
#[inline]
pub fn jiffies(now: Instant) -> u64 {
    micros(now) / JIFFY_US
}

/// Whole ticks that are no shorter than `us` (`usecs_to_jiffies`).
#[inline]
pub fn ticks(us: u64) -> u64 {
    us.div_ceil(JIFFY_US)
}

/// Whole ticks that are no longer than `us` (`nsecs_to_jiffies`).
#[inline]
pub fn whole_ticks(us: u64) -> u64 {
    us / JIFFY_US
}

/// Microseconds of `jiffies` ticks (`jiffies_to_usecs`).
#[inline]
pub fn ticks_us(jiffies: u64) -> u64 {
    jiffies.saturating_mul(JIFFY_US)
}

/// When a timer expires that is set now for `delta` ticks. The wheel has levels of 64 buckets, each eight times as coarse as the last, and
/// rounds up so that no timer is early (`calc_index` in kernel/time/timer.c).
pub fn expiry(now: Instant, delta: u64) -> Instant {
    let expires = jiffies(now).saturating_add(delta);
    let mut shift = 0;
    while delta >= 63 << shift && shift < 24 {
        shift += 3;
    }
    let bucket = ((expires + (1 << shift)) >> shift) << shift;
    Instant::from_nanos(ticks_us(bucket).saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_rounded_to_the_buckets_of_their_level() {
        let at = |ms: u64, delta| expiry(Instant::from_nanos(ms * 1_000_000), delta).as_nanos() / 1_000_000;
        // Level 0: the next tick after it. Level 1, from 63 ticks: buckets of 8 ticks, 32 ms.
        assert_eq!(at(0, 10), 44);
        assert_eq!(at(3, 10), 44);
        assert_eq!(at(4, 10), 48);
        assert_eq!(at(0, 50), 204);
        assert_eq!(at(0, 63), 256);
        assert_eq!(at(0, 64), 288);
    }
}
