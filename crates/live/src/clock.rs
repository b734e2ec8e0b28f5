//! The clock of a live run.

use lasthop_core::engine::Instant;

/// Says the present as an instant of the scenario: the time since the run's zero. It never goes back.
pub trait Clock {
    /// The present.
    fn now(&self) -> Instant;
}
