//! The implementation's clock: units of 2⁻¹⁶ s, of which NTP's middle 32 bits are made.

use lasthop_net::engine::{Duration, Instant};

/// A time or a span in units of 2⁻¹⁶ s.
pub type Ticks = u64;

/// Ticks in a second.
pub const PER_SECOND: Ticks = 65_536;

/// Seconds, in single precision like all of the implementation's.
pub(super) fn seconds(ticks: Ticks) -> f32 {
    ticks as f32 * (1.0 / PER_SECOND as f32)
}

/// A flow's clock, which begins at 1 with the flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(pub(super) Instant);

impl Clock {
    /// The tick that has begun.
    pub(super) fn ticks(self, at: Instant) -> Ticks {
        let ns = u128::from(at.since(self.0).as_nanos());
        1 + (ns * u128::from(PER_SECOND) / 1_000_000_000) as Ticks
    }

    /// When this tick begins.
    pub(super) fn instant(self, ticks: Ticks) -> Instant {
        let ns = (u128::from(ticks.saturating_sub(1)) * 1_000_000_000).div_ceil(u128::from(PER_SECOND));
        self.0 + Duration::from_nanos(ns.min(u128::from(u64::MAX)) as u64)
    }
}
