//! What RLC entities send each other.
//!
//! A PDU says which SDUs its bytes belong to by their numbers, as the real one does by carrying
//! them; its length indicators are counted, since they cost space.

use lasthop_net::net::SeenPdu;

/// A protocol data unit.
#[derive(Clone, Debug, Default)]
pub struct Pdu {
    /// The sequence number: of its mode's space (7 bits in UM, 12 bits in AM) in profile `3gpp`,
    /// without wrap in profile `ns2`. Meaningless if it carries no data.
    pub sn: u32,
    /// The number of the SDU to which its first byte of data belongs, or whose end in the PDU before its
    /// first indicator reports (then `first` is 0). In a RESET or a RESET ACK: the number of the SDU
    /// with which its sender goes on; those before are given up.
    pub sdu: u64,
    /// How many SDUs end in it: `sdu`, `sdu + 1`, ….
    pub ends: u16,
    /// Whether its first byte of data is the first of an SDU.
    pub starts: bool,
    /// Whether its last byte of data belongs to an SDU of whose end it does not tell.
    pub goes_on: bool,
    /// The polling bit (AM).
    pub poll: bool,
    /// Why it is sent: for counting.
    pub reason: Reason,
    /// Bytes of SDUs; 0 if it carries none.
    pub data: u16,
    /// Bytes of the first part of these, which belong to `sdu`.
    pub first: u16,
    /// Length indicators, with that of padding.
    pub indicators: u8,
    /// Bytes of padding.
    pub padding: u16,
    /// Its size for the medium, in bits: what it takes of a transmission time interval.
    pub bits: u32,
    /// What it tells or asks the far end, alone or beside data.
    pub control: Option<Box<Control>>,
}

impl Pdu {
    /// Whether it has a place in the sequence of PDUs: it carries data, or the end of an SDU.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.data > 0 || self.ends > 0
    }
}

/// Why a PDU is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// New data.
    #[default]
    New,
    /// The far end misses it.
    Retransmission,
    /// It carries a poll.
    Poll,
    /// It carries no data.
    Control,
}

impl Pdu {
    /// What others may see of it.
    pub fn seen(&self) -> SeenPdu<'_> {
        let report = match self.control.as_deref() {
            Some(Control::Status(status)) => Some((status.first, &status.received[..], status.bytes)),
            _ => None,
        };
        SeenPdu {
            sn: (self.data > 0).then_some(self.sn),
            ends: self.ends,
            poll: self.poll,
            indicators: self.indicators,
            data: self.data,
            first: self.first,
            padding: self.padding,
            reason: self.reason.name(),
            report,
        }
    }
}

impl Reason {
    /// The reason as it stands in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Retransmission => "retransmission",
            Self::Poll => "poll",
            Self::Control => "control",
        }
    }
}

/// What RLC entities tell and ask each other (TS 25.322 §9.2.1.4 to §9.2.1.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// A status report.
    Status(Status),
    /// Start anew: the reset's sequence number.
    Reset(u8),
    /// A reset is done: its sequence number.
    ResetAck(u8),
}

/// A status report (TS 25.322 §9.2.2.11); each of its parts may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// All PDUs before this one have come (LSN of an ACK).
    pub ack: Option<u32>,
    /// The sequence number of the first bit of `received` (FSN of a BITMAP).
    pub first: u32,
    /// Which PDUs from `first` on have come.
    pub received: Vec<bool>,
    /// SDUs given up: for each the sequence number of the PDU after which the window goes on
    /// (SN_MRW of an MRW), in order.
    pub give_up: Vec<u32>,
    /// With `give_up`: how many indicators of the PDU at the last of these still belong to SDUs given
    /// up (N_LENGTH of an MRW); 0 if what that PDU carries goes on.
    pub give_up_end: u8,
    /// With `give_up`: the number of the SDU that goes on. The real one finds it by that indicator.
    pub kept: u64,
    /// Answer to that: where the window goes on now (SN_ACK of an MRW_ACK).
    pub gave_up: Option<u32>,
    /// With `gave_up`: `give_up_end` if the window goes on at the PDU that was asked for, else 0 (N of
    /// an MRW_ACK).
    pub gave_up_end: u8,
    /// How many bytes it takes.
    pub bytes: u16,
}
