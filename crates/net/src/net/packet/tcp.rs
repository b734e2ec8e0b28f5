//! The header of TCP, and the options that it carries.

use crate::engine::Instant;

use super::sack::SackBlocks;
use super::xcp::{CongestionHeader, Words};

/// A TCP header (RFC 9293 §3.1) with its options.
///
/// Sequence numbers do not wrap. In profile `rfc` they count bytes from 0, the SYN's; in
/// profile `ns2` they count packets, and `ack` is the highest packet received in order.
#[derive(Clone, Debug, Default)]
pub struct TcpHeader {
    /// The first sequence number of the segment.
    pub seq: u64,
    /// The acknowledgement number.
    pub ack: u64,
    /// Payload bytes.
    pub payload: u32,
    /// The advertised window in bytes, scaling already applied; [`TcpHeader::ANY_WINDOW`] on
    /// acknowledgements of receivers that advertise none.
    pub window: u32,
    /// SYN, ACK, FIN, ECE, CWR and whether time stamps are present.
    pub flags: TcpFlags,
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
