//! The headers of TFMCC.

use crate::engine::Instant;

use super::NodeId;

/// What a data packet of TFMCC carries (RFC 4654 §2.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct TfmccHeader {
    /// The packet's number, from 0.
    pub seq: u64,
    /// When it was sent (ts_i).
    pub sent_at: Instant,
    /// The answer to the report of one receiver.
    pub echo: Option<TfmccEcho>,
    /// Whether that receiver is the current limiting receiver.
    pub is_clr: bool,
    /// The feedback round (fb_nr), modulo 16.
    pub round: u8,
    /// The largest round-trip time of all receivers (R_max), in seconds.
    pub r_max: f64,
    /// The rate below which receivers are to report in this round (X_supp), in bytes per second.
    pub x_supp: f64,
    /// Payload bytes.
    pub payload: u32,
    /// Ground truth: payload bytes of the connection so far, this packet's included.
    pub end: u64,
    /// The packet-loss indication: what a base station says of packets before this one.
    pub loss_indicated: bool,
}

/// The time stamp of a receiver, on its way back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TfmccEcho {
    /// The receiver (r).
    pub receiver: NodeId,
    /// Its time stamp, later by the time that the sender held it (tr_r').
    pub stamp: Instant,
}

/// What a receiver report of TFMCC carries (RFC 4654 §2.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct TfmccReport {
    /// The receiver (r).
    pub receiver: NodeId,
    /// When it was sent (tr_r).
    pub stamp: Instant,
    /// The time stamp of the last data packet, later by the time that the receiver held it (ts_i').
    pub echo: Instant,
    /// The feedback round to which it belongs.
    pub round: u8,
    /// Whether the receiver has measured its round-trip time.
    pub have_rtt: bool,
    /// Whether it has seen a loss event.
    pub have_loss: bool,
    /// Whether it leaves.
    pub leaving: bool,
    /// The rate that it computed (X_r), in bytes per second.
    pub rate: f64,
}
