//! The times that a cell draws at random on common channels. A run can be repeated with the draws of another program, which come from one
//! generator in the order of events, if they stand in the place of the cell's own.

use lasthop_net::engine::{Duration, Instant, Stream};

/// What a cell asks for.
pub trait Timing: Send {
    /// How long after the one before a PDU leaves, or after the instant at which the PDUs of an interval of `tti` are handed down: up to `most`.
    fn spacing(&mut self, now: Instant, tti: Duration, most: Duration) -> Duration;

    /// How long access to RACH delays the PDUs of an interval that begins now: up to `most`.
    fn access(&mut self, now: Instant, most: Duration) -> Duration;

    /// Clocks of intervals may wake at one instant: they do in the order of what this gives. For streams of the cell's own it is when they were
    /// set, `now`. `tti` is the interval of the clock.
    fn order(&mut self, now: Instant, at: Instant, wake: Wake, tti: Duration) -> Instant;
}

/// What a clock of intervals wakes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// PDUs are handed down.
    HandDown,
    /// An interval begins.
    Interval,
}

/// Makes the times of a run.
pub trait TimingConfig: Send + Sync {
    /// Those of one cell.
    fn build(&self) -> Box<dyn Timing>;
}

/// What a cell draws from. Its own streams are no trait object: calls of one take 1 % of the instructions of a cell.
pub(super) enum Times {
    /// Streams of its own.
    Own { spacing: Stream, access: Stream },
    /// What stands in their place.
    Custom(Box<dyn Timing>),
}

impl Times {
    #[inline]
    pub(super) fn spacing(&mut self, now: Instant, tti: Duration, most: Duration) -> Duration {
        match self {
            Self::Own { spacing, .. } => below(most, spacing),
            Self::Custom(timing) => timing.spacing(now, tti, most),
        }
    }

    #[inline]
    pub(super) fn access(&mut self, now: Instant, most: Duration) -> Duration {
        match self {
            Self::Own { access, .. } => below(most, access),
            Self::Custom(timing) => timing.access(now, most),
        }
    }

    #[inline]
    pub(super) fn order(&mut self, now: Instant, at: Instant, wake: Wake, tti: Duration) -> Instant {
        match self {
            Self::Own { .. } => now,
            Self::Custom(timing) => timing.order(now, at, wake, tti),
        }
    }
}

/// Signed numbers become doubles, and doubles signed numbers, in one instruction.
#[inline]
fn below(most: Duration, stream: &mut Stream) -> Duration {
    let most = most.as_nanos().cast_signed() as f64;
    Duration::from_nanos(((most * stream.unit()) as i64).cast_unsigned())
}
