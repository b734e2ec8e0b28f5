//! The header of TCP, and the options that it carries.

use crate::engine::Instant;

use super::sack::SackBlocks;
use super::xcp::{CongestionHeader, Words};

/// A TCP header (RFC 9293 §3.1) with its options.
///
/// Sequence numbers do not wrap. In profile `rfc` they count bytes from 0, the SYN's; in
/// profile `ns2` they count packets, and `ack` is the highest packet received in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpHeader {
    /// The first sequence number of the segment.
    pub seq: u64,
    /// The acknowledgement number.
    pub ack: u64,
    /// Payload bytes, of which an IP packet has room for fewer than 2¹⁶.
    pub payload: u16,
    /// The advertised window in bytes, scaling already applied; [`TcpHeader::ANY_WINDOW`] on
    /// acknowledgements of receivers that advertise none.
    pub window: u32,
    /// SYN, ACK, FIN, ECE, CWR and whether time stamps are present.
    pub flags: TcpFlags,
    /// On an acknowledgement: how many times the path of the receiving terminal has changed, modulo 2⁸, where it says so (an option in a
    /// real header). A count, so that changes of which no acknowledgement came through do not cancel.
    pub path_changes: u8,
    /// On an acknowledgement: marked payload bytes received, where the receiver counts them.
    pub ceb: MarkedBytes,
    /// SACK blocks, or what XCP puts in their place.
    pub options: TcpOptions,
    /// Time-stamp option, TSval (RFC 7323).
    pub ts_val: Instant,
    /// Time-stamp option, TSecr.
    pub ts_echo: Instant,
    /// Ground truth, on an acknowledgement: the highest transmission number that had arrived when it
    /// was made.
    pub arrived: u64,
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// The acknowledgement field counts.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// Time stamps are present (an option, kept here to save space).
    pub const TIMESTAMPS: Self = Self(0x20);
    /// PSH, on a segment with data. Bits of acknowledgements have another meaning.
    pub const PUSH: Self = Self(0x08);
    /// Ground truth, on an acknowledgement: the segment that caused it had arrived before.
    pub const DUPLICATE: Self = Self(0x08);

    /// No flag.
    pub const NONE: Self = Self(0);

    /// Whether all flags of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of these flags that are in `other`.
    #[inline]
    #[must_use]
    pub const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The counter r.ceb of AccECN (RFC 9768 §3.2.3): payload bytes in packets that came marked, modulo 2²⁴ as in the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkedBytes([u8; 3]);

impl MarkedBytes {
    /// The counter at `bytes`.
    #[inline]
    pub fn new(bytes: u64) -> Self {
        let [a, b, c, ..] = bytes.to_le_bytes();
        Self([a, b, c])
    }

    /// Its value.
    #[inline]
    pub fn get(self) -> u32 {
        let [a, b, c] = self.0;
        u32::from_le_bytes([a, b, c, 0])
    }

    /// How many bytes were counted since the total was `before`, at most 2²⁴ − 1. A counter of an older acknowledgement tells nothing:
    /// it lies just below.
    #[inline]
    pub fn since(self, before: u64) -> u64 {
        let ahead = self.get().wrapping_sub(before as u32) & 0xff_ffff;
        if ahead < 1 << 23 { u64::from(ahead) } else { 0 }
    }
}

impl TcpHeader {
    /// The window of a receiver that advertises none.
    pub const ANY_WINDOW: u32 = u32::MAX;

    /// The SACK blocks.
    #[inline]
    pub fn sack(&self) -> &SackBlocks {
        match &self.options {
            TcpOptions::Sack(blocks) => blocks,
            _ => const { &SackBlocks::NONE },
        }
    }
}

/// What a TCP header carries beside its fixed part: one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TcpOptions {
    /// SACK blocks, perhaps none.
    Sack(SackBlocks),
    /// XCP's congestion header, on a packet with data: what the sender asks, and what routers
    /// grant.
    Congestion(CongestionHeader),
    /// XCP's answer on an acknowledgement: the sum of the feedback granted to the packets that it acknowledges, bytes/s.
    Feedback(Words),
}

impl Default for TcpOptions {
    #[inline]
    fn default() -> Self {
        Self::Sack(SackBlocks::NONE)
    }
}

const _: () = assert!(size_of::<TcpOptions>() == size_of::<SackBlocks>(), "other options cost no space");
