//! Time stamps: ticks of a host's own clock, in 32 bits.
//!
//! Clocks are not shared. A stamp means something to the host that made it; to others only the difference of two stamps of one host does.

use lasthop_net::engine::{Duration, Instant};

use super::WireError;

/// The age beyond which a stamp that comes back is not believed: R_max of TFMCC ends at 63.488 s (RFC 4654 §2.2), and a round trip of more
/// than a minute carries no congestion control.
pub const OLDEST: Duration = Duration::from_secs(64);

/// Where foreign time begins here: so far from zero that a stamp may lie before the first.
const BASE: u64 = 1 << 40;

/// A clock of the given tick in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Ticks(pub u64);

impl Ticks {
    /// The stamp nearest to `at`.
    pub fn write(self, at: Instant) -> u32 {
        ((at.as_nanos() + self.0 / 2) / self.0) as u32
    }

    /// The instant of a stamp of this host's own clock that comes back at `now`.
    ///
    /// # Errors
    /// [`WireError::Stamp`] if it is older than [`OLDEST`], or of the future.
    pub fn own(self, stamp: u32, now: Instant) -> Result<Instant, WireError> {
        // Stamps are rounded, and the other host rounded the time for which it held it: two halves and a whole tick at most.
        let ahead = stamp.wrapping_sub(self.write(now));
        if ahead <= 2 {
            return Ok(now);
        }
        let age = u64::from(ahead.wrapping_neg()) * self.0;
        if age > OLDEST.as_nanos() {
            return Err(WireError::Stamp);
        }
        Ok(Instant::from_nanos(now.as_nanos().saturating_sub(age)))
    }

    /// A stamp of another host, of which only this stamp is known, as an instant that [`Ticks::write`] turns into the same stamp; adding a
    /// duration to one adds it to the other.
    pub fn raw(self, stamp: u32) -> Instant {
        Instant::from_nanos(u64::from(stamp) * self.0)
    }

    /// A duration in ticks, at most `most`.
    pub fn span(self, duration: Duration, most: u32) -> u32 {
        ((duration.as_nanos() + self.0 / 2) / self.0).min(most.into()) as u32
    }

    /// The duration of as many ticks.
    pub fn duration(self, ticks: u32) -> Duration {
        Duration::from_nanos(u64::from(ticks) * self.0)
    }
}

/// The clock of another host, as its stamps show it: they become instants whose differences are those of the stamps.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    ticks: Ticks,
    /// The first stamp, and the latest with its instant.
    first: Option<u32>,
    last: (u32, u64),
}

impl Foreign {
    /// A clock with this tick.
    pub fn new(ticks: Ticks) -> Self {
        Self { ticks, first: None, last: (0, BASE) }
    }

    /// The instant of a stamp: the one nearest to the last stamp, by at most half of all ticks.
    pub fn read(&mut self, stamp: u32) -> Instant {
        if self.first.is_none() {
            (self.first, self.last) = (Some(stamp), (stamp, BASE));
        }
        let (last, at) = self.last;
        let ahead = stamp.wrapping_sub(last);
        let nanos = if ahead < 1 << 31 {
            at.checked_add(u64::from(ahead) * self.ticks.0)
        } else {
            at.checked_sub(u64::from(ahead.wrapping_neg()) * self.ticks.0)
        };
        // Before the beginning of all instants, or near their end: no clock runs so, but a forged one may. It starts anew.
        let Some(nanos) = nanos.filter(|nanos| *nanos < Instant::MAX.as_nanos() / 2) else {
            (self.first, self.last) = (Some(stamp), (stamp, BASE));
            return Instant::from_nanos(BASE);
        };
        if ahead < 1 << 31 {
            self.last = (stamp, nanos);
        }
        Instant::from_nanos(nanos)
    }

    /// The stamp of such an instant, or of one later by a duration.
    pub fn write(&self, at: Instant) -> u32 {
        let tick = self.ticks.0;
        // Instants end at 2⁵² ns.
        let since = (at.as_nanos() + tick / 2) as i64 - BASE as i64;
        self.first.unwrap_or(0).wrapping_add(since.div_euclid(tick as i64) as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Ticks = Ticks(1_000_000);

    proptest! {
        /// A stamp that travels round is known again to half a tick, over the turn of 32 bits too.
        #[test]
        fn own_stamps_come_back(sent in 0u64..1 << 51, age in 0u64..60_000_000_000) {
            for ticks in [MS, Ticks(10_000)] {
                let (at, now) = (Instant::from_nanos(sent), Instant::from_nanos(sent + age));
                let own = ticks.own(ticks.write(at), now).unwrap();
                prop_assert!(own.as_nanos().abs_diff(sent) <= ticks.0, "{own:?} {at:?}");
            }
        }

        /// Differences of foreign stamps are kept, and a stamp is written as it was read.
        #[test]
        fn foreign_stamps_keep_their_differences(first: u32, steps in proptest::collection::vec(-100_000i64..1_000_000, 1..50)) {
            let mut clock = Foreign::new(MS);
            let mut stamp = i64::from(first);
            let zero = clock.read(first).as_nanos() as i64;
            for step in steps {
                stamp += step;
                let at = clock.read(stamp as u32);
                prop_assert_eq!(at.as_nanos() as i64 - zero, (stamp - i64::from(first)) * 1_000_000);
                prop_assert_eq!(clock.write(at), stamp as u32);
                prop_assert_eq!(clock.write(at + Duration::from_millis(7)), (stamp as u32).wrapping_add(7));
            }
        }
    }

    #[test]
    fn stamps_that_cannot_be_ours_are_refused() {
        let now = Instant::from_nanos(100_000_000_000);
        assert_eq!(MS.own(100_000, now), Ok(now));
        assert_eq!(MS.own(100_003, now), Err(WireError::Stamp));
        assert_eq!(MS.own(35_000, now), Err(WireError::Stamp));
        assert!(MS.own(37_000, now).is_ok());
    }

    /// A stamp that was forged before the sender's first: those of the sender are written as they were read all the same.
    #[test]
    fn a_clock_behind_a_forged_stamp_is_known() {
        for ticks in [MS, Ticks(10_000)] {
            for forged in [1 << 27, 1 << 30, (1 << 31) - 1, 1 << 31, u32::MAX - 9] {
                let mut clock = Foreign::new(ticks);
                clock.read(forged);
                for stamp in [100_000, 100_007, 100_003] {
                    let at = clock.read(stamp);
                    assert_eq!(clock.write(at), stamp, "{forged} {ticks:?}");
                }
            }
        }
    }

    #[test]
    fn a_forged_clock_cannot_run_out() {
        let mut clock = Foreign::new(MS);
        for turn in 0..100_000u32 {
            let at = clock.read(turn.wrapping_mul((1 << 31) - 1));
            assert!(at < Instant::MAX);
        }
    }
}
