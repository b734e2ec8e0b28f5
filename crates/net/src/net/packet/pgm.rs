//! The headers of PGM, with the fields of PGMCC.

use crate::engine::{Duration, Instant};

use super::{NodeId, Socket};

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
    /// The last packet sent, and the packets that can still be repaired (SPM).
    Path(PgmPath),
}

/// What a data packet carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmData {
    /// The packet's number, from 0.
    pub seq: u64,
    /// The receiver that is to acknowledge it (acker).
    pub acker: Option<NodeId>,
    /// When it was sent.
    pub sent_at: Instant,
    /// The lowest number that is still sent again if it is missed (OD_TRAIL).
    pub trail: u64,
    /// Payload bytes.
    pub payload: u32,
    /// Ground truth: how many payload bytes of the connection were sent up to its end.
    pub end: u64,
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
    /// When the packet of that number was sent, later by the time for which the receiver held the report back.
    pub echo: Instant,
}

/// What a NAK carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmNak {
    /// The state of the receiver.
    pub report: PgmReport,
    /// The missing packet; `None` in a report that asks for nothing.
    pub missing: Option<u64>,
    /// The sending end (the session and its source, RFC 3208 §9.2).
    pub source: Socket,
    /// What network elements on its way are to do.
    pub elements: PgmElements,
}

/// How network elements treat the NAKs of a session. In RFC 3208 §14 each element is configured by hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmElements {
    /// After this time without a confirmation a NAK is sent again (NAK_RPT_IVL).
    pub repeat: Duration,
    /// How long after a confirmation a repair is waited for (NAK_RDATA_IVL).
    pub repair: Duration,
    /// How often a NAK is sent again.
    pub retries: u32,
    /// Whether a second NAK for a packet goes on if it comes from a receiver with more loss.
    pub forward_worse: bool,
}

/// What an SPM says of the sender's transmit window.
#[derive(Clone, Copy, Debug, Default)]
pub struct PgmPath {
    /// The lowest number that is still sent again (SPM_TRAIL).
    pub trail: u64,
    /// The number after the last that was sent (SPM_LEAD is the one before).
    pub next: u64,
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
