//! The monotonic clock.

use lasthop_core::engine::Instant;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Itimerspec, Timespec, clock_gettime};

use crate::clock::Clock;

const NANOS: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` since one reading of it.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    zero: u64,
}

impl Monotonic {
    /// Time zero is now.
    pub fn start() -> Self {
        Self { zero: nanos(clock_gettime(ClockId::Monotonic)) }
    }

    /// Sleeps until `at`, or until a signal comes.
    pub fn sleep_until(&self, at: Instant) {
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(self.zero.saturating_add(at.as_nanos())));
    }

    /// A timer's setting that lets it ring at `at`, and at once if that is past.
    pub fn setting(&self, at: Instant) -> Itimerspec {
        // A value of zero would stop the timer; the clock's zero is long past.
        let at = self.zero.saturating_add(at.as_nanos()).max(1);
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        Itimerspec { it_interval: never, it_value: timespec(at) }
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Instant {
        Instant::from_nanos(nanos(clock_gettime(ClockId::Monotonic)).saturating_sub(self.zero))
    }
}

/// The processor time of this process so far, in seconds.
pub fn cpu_seconds() -> f64 {
    nanos(clock_gettime(ClockId::ProcessCPUTime)) as f64 / NANOS as f64
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * NANOS + time.tv_nsec as u64
}

fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / NANOS) as i64, tv_nsec: (nanos % NANOS) as i64 }
}
