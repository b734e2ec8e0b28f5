//! Access slots: when a terminal may begin to send without being asked.
//!
//! There are 15 in 20 ms, 5120 chips each (3GPP TS 25.211 §5.2.2.1.1).

use lasthop_net::engine::{Duration, Instant};

/// A radio frame, whose access slots are a set (3GPP TS 25.214 §6.1.1).
pub const SET: Duration = Duration::from_millis(10);
/// Three access slots, in nanoseconds.
const THREE: u64 = 4_000_000;

/// The number of the first access slot that begins at `at` or later.
pub fn first_at(at: Instant) -> u64 {
    let slot = (3 * at.as_nanos()).div_ceil(THREE);
    // Its start is rounded to a nanosecond.
    if slot > 0 && start(slot - 1) == at { slot - 1 } else { slot }
}

/// When an access slot begins, rounded down to a nanosecond.
pub fn start(slot: u64) -> Instant {
    Instant::from_nanos(slot * THREE / 3)
}

/// The length of a number of access slots, rounded down to a nanosecond.
pub const fn lasting(slots: u64) -> Duration {
    Duration::from_nanos(slots * THREE / 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_slots_begin_in_twenty_milliseconds() {
        let second = Instant::from_nanos(1_000_000_000);
        // Access slots 0 to 7 are a set, and 8 to 14 (TS 25.214 table 7, sub-channels).
        assert_eq!([second, second + SET, second + SET + SET].map(first_at), [750, 758, 765]);
        assert_eq!(first_at(second), 750);
        assert_eq!(first_at(second + Duration::from_millis(20)) - first_at(second), 15);
        for slot in 0..1000 {
            assert_eq!(first_at(start(slot)), slot);
            assert_eq!(first_at(start(slot) + Duration::from_nanos(1)), slot + 1);
        }
    }
}
