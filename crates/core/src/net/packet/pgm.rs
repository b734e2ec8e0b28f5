//! The headers of PGM, with the fields of PGMCC.

use crate::engine::Instant;

use super::NodeId;

/// A message of PGM (RFC 3208 §8, §9; PGMCC).
#[derive(Clone, Copy, Debug)]
pub enum PgmHeader {
    /// Data that is sent for the first time (ODATA).
    Data(PgmData),
    /// Data that is sent again (RDATA).
    Repair(PgmData),
    /// A packet is missing (NAK).
    Nak(PgmNak),
    /// A NAK for this packet was heard (NCF).
    Confirmation(u64),
    /// What the acker has received (ACK).
    Ack(PgmAck),
}

/// What a data packet carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmData {
    /// The packet's number, from 0.
    pub seq: u64,
    /// Who is to acknowledge it.
    pub acker: Option<NodeId>,
    /// When it was sent.
    pub sent_at: Instant,
    /// Payload bytes.
    pub payload: u32,
    /// The packet-loss indication: what a base station says of packets before this one.
    pub loss_indicated: bool,
}

/// What a receiver says of itself in every NAK and ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmReport {
    /// The receiver (recv_id).
    pub receiver: NodeId,
    /// Its loss rate (recv_loss): 0 to 65535 stand for 0 to 1.
    pub loss: u16,
    /// The highest number received (recv_lastseq).
    pub last_seq: u64,
    /// When the packet of that number was sent.
    pub echo: Instant,
}

/// What a NAK carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmNak {
    /// The state of the receiver.
    pub report: PgmReport,
    /// The missing packet; `None` in a report that asks for nothing.
    pub missing: Option<u64>,
}

/// What an ACK carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmAck {
    /// The state of the receiver.
    pub report: PgmReport,
    /// The packet that is acknowledged.
    pub seq: u64,
    /// Which of the 32 packets up to the highest number have come; that one is the lowest bit.
    pub mask: u32,
    /// Whether the acker leaves.
    pub leaving: bool,
}
