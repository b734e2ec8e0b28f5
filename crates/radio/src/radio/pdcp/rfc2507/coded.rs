//! The formats of headers, and what they take (RFC 2507 §6).

use super::super::PDU_HEADER;
use super::headers::{CHECKSUM, Fields, Headers, IDENTIFICATION};

/// How the header of a packet is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coded {
    /// Bytes of the whole SDU.
    pub(super) bytes: u32,
    pub(super) cid: u16,
    pub(super) form: Form,
    /// What the far end is to get back. It stands for what the checksum covers, and for what the form sends as it
    /// is. `None`: the packet is not compressed.
    pub(super) headers: Option<Headers>,
    /// Bytes behind the coded header.
    behind: u32,
}

/// The kinds of PDU (PIDs, TS 25.323 §5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// No compression.
    Regular,
    /// FULL_HEADER: the headers, with the context identifier and the generation in place of lengths (§5.3).
    Full {
        /// That of a stream that is not TCP.
        generation: u8,
    },
    /// COMPRESSED_TCP.
    Delta(Delta),
    /// COMPRESSED_TCP_NODELTA, the answer to a header request (§3.1).
    NoDelta,
    /// COMPRESSED_NON_TCP.
    NonTcp {
        /// The generation of the context with which it can be got back.
        generation: u8,
    },
}

/// The changes since the header before (§6 a, RFC 1144 §3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delta {
    /// The A and S bits.
    pub numbers: Numbers,
    /// The W bit: by how much, modulo 2¹⁶ when scaled, and modulo 2³² here.
    pub window: u32,
    /// The difference as it is written; 0 if nothing of it is.
    pub written_window: u16,
    /// The difference of identifications; the I bit is set if it is not 1.
    pub id: u16,
    /// The O bit: TCP's options follow.
    pub options: bool,
    /// The R bit: an octet with the reserved bits and the ECN bits follows.
    pub reserved: bool,
}

/// By how much sequence number and acknowledgement grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// By these.
    Plain {
        /// The sequence number.
        seq: u16,
        /// The acknowledgement number.
        ack: u16,
    },
    /// The sequence number by the data of the packet before (S, A, W and U set).
    Data,
    /// Both by the data of the packet before (S, W and U set): echoed typing.
    Echoed,
}

impl Coded {
    /// A packet of this size as it is.
    pub(super) fn uncompressed(bytes: u32) -> Self {
        Self { bytes: PDU_HEADER + bytes, cid: 0, form: Form::Regular, headers: None, behind: bytes }
    }

    /// A packet of this size whose headers take this form.
    pub(super) fn new(bytes: u32, cid: u16, form: Form, headers: Headers) -> Self {
        let behind = bytes - headers.bytes;
        Self { bytes: PDU_HEADER + form.bytes(cid, &headers) + behind, cid, form, headers: Some(headers), behind }
    }

    /// Bytes of the SDU.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Bytes of the PDCP header and the coded header.
    pub fn header_bytes(&self) -> u32 {
        self.bytes - self.behind
    }
}

impl Form {
    fn bytes(self, cid: u16, headers: &Headers) -> u32 {
        let cid_bytes = if cid > 255 { 2 } else { 1 };
        match (self, &headers.fields) {
            (Self::Delta(delta), Fields::Tcp(fields)) => {
                let options = if delta.options { fields.options.bytes } else { 0 };
                cid_bytes + FLAGS + CHECKSUM + delta.bytes() + options
            }
            (Self::NoDelta, Fields::Tcp(fields)) => {
                cid_bytes + IDENTIFICATION + TCP_WITHOUT_PORTS + fields.options.bytes
            }
            (Self::NonTcp { .. }, Fields::Other(fields)) => cid_bytes + GENERATION + fields.random,
            _ => headers.bytes,
        }
    }
}

impl Delta {
    fn bytes(&self) -> u32 {
        let changed = |n: u16| if n == 0 { 0 } else { written(n) };
        let numbers = match self.numbers {
            Numbers::Plain { seq, ack } => changed(ack) + changed(seq),
            Numbers::Data | Numbers::Echoed => 0,
        };
        let id = if self.id == 1 { 0 } else { written(self.id) };
        u32::from(self.reserved) + changed(self.written_window) + numbers + id
    }
}

/// Bytes of a difference: one for 1 to 255; else a zero and two (RFC 1144 §3.2.2).
fn written(n: u16) -> u32 {
    if (1..=255).contains(&n) { 1 } else { 3 }
}

/// Bytes of the flags R O I P S A W U.
const FLAGS: u32 = 1;
/// Bytes of the generation with its two bits.
const GENERATION: u32 = 1;
/// What COMPRESSED_TCP_NODELTA sends of TCP's fixed header.
const TCP_WITHOUT_PORTS: u32 = 16;
