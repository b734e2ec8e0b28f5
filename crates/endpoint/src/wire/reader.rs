//! Reads fields in network byte order.

use super::WireError;

/// The bytes of a datagram that are still to be read.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'d>(pub &'d [u8]);

impl<'d> Reader<'d> {
    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn take(&mut self, length: usize) -> Result<&'d [u8], WireError> {
        let (first, rest) = self.0.split_at_checked(length).ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(first)
    }

    /// A byte.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn u8(&mut self) -> Result<u8, WireError> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    /// Two bytes.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.bytes().map(u16::from_be_bytes)
    }

    /// Four bytes.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.bytes().map(u32::from_be_bytes)
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// [`WireError::Short`].
    pub fn u64(&mut self) -> Result<u64, WireError> {
        self.bytes().map(u64::from_be_bytes)
    }
}
