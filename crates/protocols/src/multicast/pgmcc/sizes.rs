//! What ends and network elements both send.

/// Bytes of a NAK on the wire.
pub const NAK_BYTES: u32 = 40;

/// Bytes of a confirmation on the wire: those of a NAK (RFC 3208 §8.3).
pub const NCF_BYTES: u32 = NAK_BYTES;
