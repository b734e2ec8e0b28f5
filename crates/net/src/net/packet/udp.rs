//! The header of UDP, with what RTP adds.

use crate::engine::Instant;

/// A UDP header, with what RTP (RFC 3550 §5.1) adds for measurements.
#[derive(Clone, Copy, Debug, Default)]
pub struct UdpHeader {
    /// The datagram's number in its flow, from 0.
    pub seq: u64,
    /// When it was sent.
    pub sent_at: Instant,
}
