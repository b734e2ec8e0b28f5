//! The header of DCCP, and the options of its congestion controls.

/// A DCCP header (RFC 4340 §5.1) with the options that congestion controls exchange. Sequence
/// numbers have 48 bits.
#[derive(Clone, Debug, Default)]
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
    /// Truth: payload bytes of the connection so far, this packet's included. It costs no bytes.
    pub end: u64,
    /// Options.
    pub options: DccpOptions,
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
}

/// Options of a DCCP packet, by the congestion control that they belong to.
#[derive(Clone, Debug, Default)]
pub enum DccpOptions {
    /// None.
    #[default]
    None,
    /// Feedback of CCID 3 (RFC 4342 §8), 20 bytes with padding.
    Tfrc {
        /// The loss event rate (§8.5).
        p: f64,
        /// The receive rate in bytes per second (§8.3).
        rate: f64,
        /// Time since the acknowledged packet came, in seconds (RFC 4340 §13.2).
        elapsed: f64,
    },
}
