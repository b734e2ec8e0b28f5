//! The inputs of a congestion controller for media.

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::Ecn;

/// A frame that the encoder has made.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// When.
    pub now: Instant,
    /// Its bytes, RTP's headers included.
    pub bytes: u32,
    /// Bytes that wait at the sender, this frame included, and how long the first of them has waited.
    pub queued: u64,
    /// See `queued`.
    pub queue_delay: Duration,
    /// Bytes in flight.
    pub in_flight: u64,
}

/// A packet that has left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its number in the flow, from 0.
    pub number: u64,
    /// Its bytes, RTP's header included.
    pub bytes: u32,
    /// Bytes in flight, this packet included.
    pub in_flight: u64,
    /// Bytes that wait behind it.
    pub queued: u64,
    /// Whether it is the last of its frame.
    pub marker: bool,
}

/// A report of the receiver (RFC 8888), as far as it told something new.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// When it came.
    pub now: Instant,
    /// When it was made, by the receiver's clock (RTS): that of arrivals.
    pub reported_at: Instant,
    /// What became of packets of which nothing was known, by their numbers.
    pub packets: &'a [Fate],
    /// Bytes in flight before the report and after it.
    pub prior_in_flight: u64,
    /// See `prior_in_flight`.
    pub in_flight: u64,
    /// Bytes that wait at the sender, and how long the first of them has waited.
    pub queued: u64,
    /// See `queued`.
    pub queue_delay: Duration,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// Its number in the flow, from 0.
    pub number: u64,
    /// Its bytes, RTP's header included.
    pub bytes: u32,
    /// When it was sent.
    pub sent_at: Instant,
    /// Its arrival; `None` if it is taken for lost: a packet sent 30 ms later or more had arrived (SCReAM's reordering window), or it
    /// stood at the head of a report's range and had left it.
    pub arrival: Option<Arrival>,
}

/// The arrival of a packet, as a report says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, by the receiver's clock, in steps of 1/1024 s back from the report (ATO).
    pub at: Instant,
    /// The ECN field with which it came.
    pub ecn: Ecn,
}
