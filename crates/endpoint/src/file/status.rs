//! How a receiver of a file is: a datagram of its own to the sender's address. Network byte order.
//!
//! ```text
//!  0  "lasthop" and 1, eight bytes
//!  8  the transfer
//! 12  the receiver
//! 16  how many ranges follow, 16 bits; 0: it lacks nothing
//! 18  0
//! 20  the ranges that it lacks: first byte and the byte after the last, 64 bits each
//! ```

use std::ops::Range;

use crate::wire::WireError;
use crate::wire::reader::Reader;

/// No report of a protocol begins so.
pub const MAGIC: [u8; 8] = *b"lasthop\x01";

/// The most ranges of one status: with them it has 1076 bytes, which pass every link whole.
pub const MOST_RANGES: usize = 66;

/// How a receiver is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The transfer.
    pub transfer: u32,
    /// The receiver.
    pub receiver: u32,
    /// The first of the ranges that it lacks.
    pub lacks: Vec<Range<u64>>,
}

impl Status {
    /// Whether a datagram is meant to be one.
    pub fn is(datagram: &[u8]) -> bool {
        datagram.starts_with(&MAGIC)
    }

    /// Writes it.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.extend(MAGIC);
        to.extend(self.transfer.to_be_bytes());
        to.extend(self.receiver.to_be_bytes());
        let ranges = &self.lacks[..self.lacks.len().min(MOST_RANGES)];
        to.extend((ranges.len() as u16).to_be_bytes());
        to.extend([0, 0]);
        for range in ranges {
            to.extend(range.start.to_be_bytes());
            to.extend(range.end.to_be_bytes());
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// If it is one that no receiver writes.
    pub fn read(datagram: &[u8]) -> Result<Self, WireError> {
        let mut fields = Reader(datagram);
        if fields.bytes()? != MAGIC {
            return Err(WireError::Kind);
        }
        let (transfer, receiver, count, _) = (fields.u32()?, fields.u32()?, fields.u16()?, fields.u16()?);
        if usize::from(count) > MOST_RANGES || fields.0.len() != 16 * usize::from(count) {
            return Err(WireError::Value);
        }
        let mut lacks = Vec::with_capacity(count.into());
        for _ in 0..count {
            let range = fields.u64()?..fields.u64()?;
            if range.is_empty() {
                return Err(WireError::Value);
            }
            lacks.push(range);
        }
        Ok(Self { transfer, receiver, lacks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_layout() {
        let status = Status { transfer: 1, receiver: 2, lacks: std::iter::once(3..0x104).collect() };
        let mut bytes = Vec::new();
        status.write(&mut bytes);
        let mut expected = b"lasthop\x01\0\0\0\x01\0\0\0\x02\0\x01\0\0".to_vec();
        expected.extend([0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 4]);
        assert_eq!(bytes, expected);
        assert!(Status::is(&bytes));
        assert_eq!(Status::read(&bytes), Ok(status));
        assert_eq!(Status::read(&bytes[..35]), Err(WireError::Value));
        bytes[27] = 4;
        bytes[34] = 0;
        assert_eq!(Status::read(&bytes), Err(WireError::Value), "an empty range");
    }
}
