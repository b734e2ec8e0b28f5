//! The network device of a host.

use std::io;

use crate::bridge::Delivery;

/// The longest packet: IP's length fields have 16 bits (RFC 791 §3.1; RFC 8200 §3, beside its own 40 bytes).
pub const LONGEST_PACKET: usize = 65_535 + 40;

/// A device that carries IP packets and never waits.
pub trait Device {
    /// Reads what the host sent next: then `packets` are one packet, or the segments of one that the host left to its device to cut. `false` if
    /// there is nothing at present.
    ///
    /// # Errors
    /// If the device is gone.
    fn read(&mut self, packets: &mut Packets) -> io::Result<bool>;

    /// Hands the first of `packets` to the host, and those behind it that go in the same write.
    ///
    /// # Errors
    /// If the device is gone.
    fn write(&mut self, packets: &[Delivery]) -> io::Result<Written>;

    /// Whether packets may go in one write.
    fn joins(&self) -> bool {
        false
    }
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// How many packets it was.
    pub packets: usize,
    /// Whether the host took them: not, for instance, if its interface is down.
    pub taken: bool,
}

/// The packets of one read.
#[derive(Debug, Default)]
pub struct Packets {
    /// Their bytes, one packet behind the other; more than these are there, so that places are not cleared each time.
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Packets {
    /// Takes all away.
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// Adds a packet of this length, and gives the place of its bytes.
    pub fn add(&mut self, length: usize) -> &mut [u8] {
        let start = self.ends.last().copied().unwrap_or_default();
        let end = start + length;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.ends.push(end);
        &mut self.bytes[start..end]
    }

    /// One packet, whose bytes `read` writes and whose length it says. `false` if it says that there is none.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<Option<usize>>) -> io::Result<bool> {
        self.clear();
        let length = read(self.add(LONGEST_PACKET));
        self.clear();
        let Some(length) = length? else { return Ok(false) };
        self.add(length);
        Ok(true)
    }

    /// The packets, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = |n: usize| if n == 0 { 0 } else { self.ends[n - 1] };
        self.ends.iter().enumerate().map(move |(n, &end)| &self.bytes[start(n)..end])
    }
}
