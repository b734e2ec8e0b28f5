//! The header of a piece of a file, at the start of the payload of a data packet. Network byte order.
//!
//! ```text
//!  0  1: a piece (0: no piece, the payload means nothing)
//!  1  bit 0: how are you?  bit 1: the transfer is over
//!  2  0
//!  4  the transfer: a number that the sender draws
//!  8  length of the file
//! 16  offset of this piece
//! 24  CRC-32 of the whole file
//! 28  the bytes
//! ```

use crate::wire::WireError;
use crate::wire::reader::Reader;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 28;

const PIECE: u8 = 1;
const ASKS: u8 = 1;
const ENDS: u8 = 2;

/// The header of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Whether receivers are to say how they are.
    pub asks: bool,
    /// Whether the transfer is over: nothing is sent again.
    pub ends: bool,
    /// The transfer.
    pub transfer: u32,
    /// Length of the file.
    pub length: u64,
    /// Where the bytes belong.
    pub offset: u64,
    /// CRC-32 of the file.
    pub checksum: u32,
}

impl Piece {
    /// Writes the header.
    pub fn write(&self, to: &mut Vec<u8>) {
        let flags = if self.asks { ASKS } else { 0 } | if self.ends { ENDS } else { 0 };
        to.extend([PIECE, flags, 0, 0]);
        to.extend(self.transfer.to_be_bytes());
        to.extend(self.length.to_be_bytes());
        to.extend(self.offset.to_be_bytes());
        to.extend(self.checksum.to_be_bytes());
    }

    /// Reads a payload: the header and the bytes; `None` if it is no piece.
    ///
    /// # Errors
    /// If it is one that no sender writes.
    pub fn read(payload: &[u8]) -> Result<Option<(Self, &[u8])>, WireError> {
        let mut fields = Reader(payload);
        match payload.first() {
            None | Some(0) => return Ok(None),
            Some(&PIECE) => {}
            Some(_) => return Err(WireError::Kind),
        }
        let [_, flags, ..] = fields.bytes::<4>()?;
        let (transfer, length, offset) = (fields.u32()?, fields.u64()?, fields.u64()?);
        let checksum = fields.u32()?;
        if offset.checked_add(fields.0.len() as u64).is_none_or(|end| end > length) {
            return Err(WireError::Value);
        }
        let piece = Self { asks: flags & ASKS != 0, ends: flags & ENDS != 0, transfer, length, offset, checksum };
        Ok(Some((piece, fields.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_layout() {
        let piece = Piece { asks: true, ends: false, transfer: 7, length: 1000, offset: 998, checksum: 0xcbf4_3926 };
        let mut bytes = Vec::new();
        piece.write(&mut bytes);
        bytes.extend(b"ab");
        let expected = [
            1, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0, 0, 0, 0, 0, 3, 0xe6, 0xcb, 0xf4, 0x39, 0x26, b'a',
            b'b',
        ];
        assert_eq!(bytes, expected);
        assert_eq!(Piece::read(&bytes), Ok(Some((piece, &b"ab"[..]))));
        bytes.push(b'c');
        assert_eq!(Piece::read(&bytes), Err(WireError::Value), "beyond the end of the file");
        assert_eq!(Piece::read(&[0; 9]), Ok(None));
        assert_eq!(Piece::read(&[1; 27]), Err(WireError::Short));
    }

    /// The check value of CRC-32 (its catalogue entry "CRC-32/ISO-HDLC"): of "123456789".
    #[test]
    fn the_checksum_is_crc_32() {
        let mut file = std::io::Cursor::new(b"123456789xyz".to_vec());
        assert_eq!(crate::file::checksum(&mut file, 9).unwrap(), 0xcbf4_3926);
    }
}
