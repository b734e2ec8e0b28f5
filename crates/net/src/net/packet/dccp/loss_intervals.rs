//! The option Loss Intervals of CCID 3 (RFC 4342 §8.6).

/// Loss intervals, the newest first: at most the nine that the loss event rate is computed from; the
/// option can hold 28. All packets of a sender carry data here, so the data length of an interval
/// is its sequence length.
///
/// An interval takes 5 bytes here and 9 on the wire, where its lossless length, which follows from
/// the others, and a nonce stand too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedIntervals {
    len: u8,
    /// How many packets up to the acknowledgement number are in no interval yet, because a packet
    /// among them is missing; at most 3 (Skip Length).
    skip: u8,
    rows: [[u8; 5]; Self::MAX],
}

/// A loss interval (§6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedInterval {
    /// Its data length: packets from the loss that begins it to the next such loss. That of the
    /// interval before the first loss is what it counts as (RFC 5348 §6.3.1), and 0 before that
    /// loss. At most [`ListedInterval::LONGEST`].
    pub length: u32,
    /// Its loss length: packets from the first to the last lost one.
    pub lossy: u16,
}

impl ListedInterval {
    /// The largest length of 24 bits.
    pub const LONGEST: u32 = (1 << 24) - 1;
}

impl ListedIntervals {
    /// The most intervals: NINTERVAL + 1.
    pub const MAX: usize = 9;

    /// No interval; `skip` is the number of packets in none (Skip Length).
    pub fn new(skip: u8) -> Self {
        Self { len: 0, skip, rows: [[0; 5]; Self::MAX] }
    }

    /// Adds an interval older than those that are there, unless there are nine.
    pub fn push(&mut self, interval: ListedInterval) {
        let Some(row) = self.rows.get_mut(self.len as usize) else { return };
        let [_, a, b, c] = interval.length.min(ListedInterval::LONGEST).to_be_bytes();
        let [d, e] = interval.lossy.to_be_bytes();
        *row = [a, b, c, d, e];
        self.len += 1;
    }

    /// How many packets up to the acknowledgement number are in no interval.
    pub fn skip(&self) -> u8 {
        self.skip
    }

    /// The intervals, the newest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = ListedInterval> + ExactSizeIterator + '_ {
        self.rows[..self.len as usize].iter().map(|&[a, b, c, d, e]| ListedInterval {
            length: u32::from_be_bytes([0, a, b, c]),
            lossy: u16::from_be_bytes([d, e]),
        })
    }

    /// Bytes of the option: type, length, Skip Length, and 9 for each interval.
    pub fn bytes(&self) -> u32 {
        3 + 9 * u32::from(self.len)
    }
}
