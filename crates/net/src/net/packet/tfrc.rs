//! The headers of TFRC.

use crate::engine::{BitRate, FloatTime};

/// What a data packet of TFRC carries (RFC 5348 §3.2.1). Times are seconds in doubles, as both
/// profiles compute with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct TfrcHeader {
    /// The packet's number, from 0.
    pub seq: u64,
    /// When it was sent.
    pub sent_at: FloatTime,
    /// The sender's estimate of the round-trip time in seconds; 0 before there is one.
    pub rtt: f64,
    /// The sender's retransmission timeout, as the equation uses it, in seconds (ns-2).
    pub rto: f64,
    /// Payload bytes.
    pub payload: u32,
    /// Payload bytes of the connection so far, this packet's included.
    pub end: u64,
    /// How many reports and expiries of the no-feedback timer the sender has seen (ns-2).
    pub round: u32,
    /// How many times the receiver had told of a handover when it was sent.
    pub epoch: u16,
    /// Whether the sender wants a report at once (ns-2).
    pub urgent: bool,
}

/// What a feedback packet of TFRC carries (RFC 5348 §3.2.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct TfrcReport {
    /// The highest number received.
    pub seq: u64,
    /// When the packet received last was sent.
    pub echo: FloatTime,
    /// How long ago it came, in seconds.
    pub delay: f64,
    /// The rate of reception: bytes per second, in profile `ns2` packets per second.
    pub rate: f64,
    /// The loss event rate.
    pub p: f64,
    /// Payload bytes of the connection up to the highest number received.
    pub end: u64,
    /// The capacity that a handover leads to, if the receiver knows it.
    pub hint: Option<BitRate>,
    /// How many times the receiver has told of a handover.
    pub epoch: u16,
    /// Whether that handover leads to a faster link or a slower one, if the receiver knows.
    pub direction: Direction,
    /// Whether a loss event began since the last report.
    pub new_loss: bool,
}

/// Where a handover leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The receiver does not know.
    #[default]
    Unknown,
    /// To a faster link.
    Up,
    /// To a slower link.
    Down,
}
