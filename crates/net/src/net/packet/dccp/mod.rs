//! The header of DCCP, and the options of its congestion controls.

mod ack_vector;
mod loss_intervals;

pub use ack_vector::{AckVector, PacketState};
pub use loss_intervals::{ListedInterval, ListedIntervals};

/// A DCCP header (RFC 4340 §5.1) with the options that congestion controls exchange. Sequence
/// numbers have 48 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct DccpHeader {
    /// The packet's type.
    pub kind: DccpType,
    /// The congestion control's four bits (CCVal).
    pub ccval: u8,
    /// The sequence number; every packet has one.
    pub seq: u64,
    /// The acknowledgement number: the greatest sequence number received. DCCP-Data has none.
    pub ack: u64,
    /// Payload bytes.
    pub payload: u32,
    /// Ground truth: payload bytes of the connection so far, this packet's included. It costs no bytes.
    pub end: u64,
    /// Options.
    pub options: DccpOptions,
}

impl DccpHeader {
    /// Bytes of a header with a long sequence number, and of one with an acknowledgement number
    /// too (§5.1, §5.4), without options.
    pub const DATA_BYTES: u32 = 16;
    /// See [`DccpHeader::DATA_BYTES`].
    pub const ACK_BYTES: u32 = 24;

    /// Its bytes on the wire, options included, which padding fills up to whole words (§5.8).
    #[inline]
    pub fn bytes(&self) -> u32 {
        let fixed = if self.kind == DccpType::Data { Self::DATA_BYTES } else { Self::ACK_BYTES };
        fixed + self.options.bytes().next_multiple_of(4)
    }
}

/// Types of DCCP packets (RFC 4340 §5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum DccpType {
    /// Data without acknowledgement.
    #[default]
    Data = 2,
    /// Acknowledgement without data.
    Ack = 3,
    /// Data with an acknowledgement.
    DataAck = 4,
}

/// Options of a DCCP packet, by the congestion control that they belong to.
#[derive(Clone, Copy, Debug, Default)]
pub enum DccpOptions {
    /// None.
    #[default]
    None,
    /// CCID 2's sender sets the number of packets per acknowledgement: Change L(Ack Ratio), 5 bytes (RFC 4340 §6.1, §11.3).
    AckRatio(u16),
    /// Acknowledgement of CCID 2.
    AckVector {
        /// Which packets came, from the acknowledgement number downwards.
        vector: AckVector,
        /// Confirm R(Ack Ratio), 5 bytes: the ratio that the receiver has taken over, or 0 for no
        /// such option.
        confirm: u16,
    },
    /// Feedback of CCID 3 (RFC 4342 §8).
    Tfrc {
        /// Receive Rate in bytes per second, 6 bytes (§8.3).
        rate: u32,
        /// Elapsed Time since the acknowledged packet came, in units of 10 µs, 6 bytes (RFC 4340
        /// §13.2).
        elapsed: u32,
        /// Loss Intervals (§8.6).
        intervals: ListedIntervals,
    },
}

impl DccpOptions {
    /// Bytes of a Change or Confirm option with an Ack Ratio.
    const FEATURE_BYTES: u32 = 5;

    /// Their bytes on the wire, without padding.
    #[inline]
    fn bytes(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::AckRatio(_) => Self::FEATURE_BYTES,
            Self::AckVector { vector, confirm } => {
                2 + vector.bytes().len() as u32 + if *confirm > 0 { Self::FEATURE_BYTES } else { 0 }
            }
            Self::Tfrc { intervals, .. } => 12 + intervals.bytes(),
        }
    }
}
