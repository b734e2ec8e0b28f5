//! What makes a run end early.

use thiserror::Error;

use crate::engine::Instant;

/// What makes a run end early.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// An event makes the next one without time going on.
    #[error("time stands still at {at}: {events} events in one instant, the next of them at {component}")]
    Stalled {
        /// Where time stopped.
        at: Instant,
        /// How many events there were.
        events: u64,
        /// The component of the next wake-up.
        component: String,
    },
    /// More packets are under way than memory should hold.
    #[error("{packets} packets are under way at {at}: a queue or a window without limit?")]
    TooManyPackets {
        /// When.
        at: Instant,
        /// How many.
        packets: u64,
    },
    /// More wake-ups wait than sequence numbers can distinguish.
    #[error("{wakes} wake-ups wait at {at}: a medium or a machine with too many timers?")]
    TooManyWakes {
        /// When.
        at: Instant,
        /// How many.
        wakes: u64,
    },
    /// A table has more rows than it may have.
    #[error(
        "record.{table} has {rows} rows at {at}, and the most is {most}: record less, or a shorter run, or raise record.most_rows (a row takes about 400 B)"
    )]
    TooManyRows {
        /// When.
        at: Instant,
        /// The table of the recorded rows.
        table: &'static str,
        /// How many rows it has.
        rows: u64,
        /// How many it may have.
        most: u64,
    },
    /// The books do not balance: a defect of lasthop.
    #[error(
        "packets are not conserved: sent {sent} + copied {copied} ≠ delivered {delivered} + dropped {dropped} + in flight {in_flight}"
    )]
    NotConserved {
        /// Sent by endpoints.
        sent: u64,
        /// Copied where the way divides.
        copied: u64,
        /// Delivered to endpoints.
        delivered: u64,
        /// Dropped.
        dropped: u64,
        /// Held by media at the end.
        in_flight: u64,
    },
}
