//! The SDU buffer, and how PDUs are cut from it.
//!
//! Cutting is lazy: a PDU is made when it is sent. It carries the rest of one SDU, or that and the
//! first bytes of the next one, and so the end of at most one.

use std::collections::VecDeque;

use lasthop_radio::radio::rlc::pdu::{Pdu, Reason};

/// SDUs that are not, or not wholly, in PDUs.
pub(super) struct Sdus {
    /// The most bytes that may wait.
    limit: u64,
    /// Sizes, in order.
    sizes: VecDeque<u32>,
    /// Of the first one: its number, and how many of its bytes are in no PDU yet.
    number: u64,
    left: u32,
    /// Bytes in no PDU yet, of all.
    bytes: u64,
}

/// What a PDU carries, without what may ride on it.
#[derive(Clone, Copy)]
pub(super) struct Content {
    /// The number of the SDU of its first byte.
    pub sdu: u64,
    /// Bytes of that SDU.
    pub first: u8,
    /// Bytes of the next SDU.
    pub second: u8,
    /// Whether the first byte is the first of the SDU.
    pub starts: bool,
    /// Whether the SDU of the first byte ends in it.
    pub ends: bool,
    /// Length indicators.
    pub indicators: u8,
    /// Bytes that nothing fills, or only what rides.
    pub padding: u8,
}

impl Content {
    /// The PDU of this number with this many bytes of it.
    pub fn pdu(&self, sn: u32, bytes: u8, poll: bool, reason: Reason) -> Pdu {
        Pdu {
            sn,
            sdu: self.sdu,
            ends: u16::from(self.ends),
            starts: self.starts,
            goes_on: false,
            poll,
            reason,
            data: u16::from(self.first) + u16::from(self.second),
            first: u16::from(self.first),
            indicators: self.indicators,
            padding: u16::from(self.padding),
            bits: u32::from(bytes) * 8,
            control: None,
        }
    }
}

impl Sdus {
    /// An empty buffer for `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self { limit, sizes: VecDeque::new(), number: 0, left: 0, bytes: 0 }
    }

    /// Takes an SDU, if there is room or it needs none.
    pub fn push(&mut self, bytes: u32, exempt: bool) -> bool {
        if !exempt && self.bytes + u64::from(bytes) > self.limit {
            return false;
        }
        if self.sizes.is_empty() {
            self.left = bytes;
        }
        self.sizes.push_back(bytes);
        self.bytes += u64::from(bytes);
        true
    }

    /// Whether everything is in PDUs.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Bytes in no PDU yet.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the next PDU, of `pdu` bytes, carries if `reserve` of them are kept free. `None`: there
    /// is nothing.
    #[inline]
    pub fn cut(&mut self, pdu: u8, reserve: u8) -> Option<Content> {
        let size = *self.sizes.front()?;
        let (sdu, starts) = (self.number, self.left == size);
        let bare = |first, ends| Content { sdu, first, second: 0, starts, ends, indicators: 0, padding: 0 };
        if reserve == 0 && self.left > u32::from(pdu) {
            self.take(pdu);
            return Some(bare(pdu, false));
        }
        if reserve == 0 && self.left == u32::from(pdu) {
            self.next();
            return Some(bare(pdu, true));
        }
        let room = pdu - reserve - INDICATOR;
        if self.left > u32::from(room) {
            self.take(room);
            return Some(Content { indicators: 1, padding: reserve, ..bare(room, false) });
        }
        let first = self.left as u8;
        self.next();
        let rest = room - first;
        let second = rest.saturating_sub(INDICATOR);
        // The next SDU is begun only if it does not end in this PDU.
        if second >= LEAST_SECOND && self.left > u32::from(second) {
            self.take(second);
            return Some(Content { second, indicators: 2, padding: reserve, ..bare(first, true) });
        }
        Some(Content { indicators: 1, padding: reserve + rest, ..bare(first, true) })
    }

    /// Forgets the rest of the first SDU, if its number is `number` or less and a part of it is in a PDU.
    pub fn forget_begun(&mut self, number: u64) {
        if self.number <= number && self.sizes.front().is_some_and(|size| self.left < *size) {
            self.next();
        }
    }

    /// Puts `bytes` of the first SDU into a PDU.
    fn take(&mut self, bytes: u8) {
        self.left -= u32::from(bytes);
        self.bytes -= u64::from(bytes);
    }

    /// Ends the first SDU.
    fn next(&mut self) {
        self.bytes -= u64::from(self.left);
        self.sizes.pop_front();
        self.number += 1;
        self.left = self.sizes.front().copied().unwrap_or(0);
    }
}

/// The size of a length indicator with its extension bit (`length_indicator_`, 7 bits).
pub(super) const INDICATOR: u8 = 1;

/// How many bytes of a next SDU are worth a length indicator (`min_concat_data_`).
pub(super) const LEAST_SECOND: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// PDUs that carry SDUs of these sizes.
    fn pdus(sizes: &[u32]) -> usize {
        let mut sdus = Sdus::new(u64::MAX);
        for size in sizes {
            assert!(sdus.push(*size, false));
        }
        let mut carried = 0;
        let count = std::iter::from_fn(|| sdus.cut(40, 0))
            .inspect(|content| {
                let data = content.first + content.second;
                assert_eq!(data + content.indicators * INDICATOR + content.padding, 40);
                carried += u32::from(data);
            })
            .count();
        assert_eq!(carried, sizes.iter().sum::<u32>());
        count
    }

    #[test]
    fn sdus_of_usual_sizes_take_as_many_pdus_as_they_should() {
        // ⌈size / 40⌉: a header takes nothing of the 40 bytes.
        for (size, count) in [(1, 1), (39, 1), (40, 1), (41, 2), (576, 15), (1000, 25), (1040, 26), (1500, 38)] {
            assert_eq!(pdus(&[size]), count, "{size} B");
        }
        // An SDU of 1500 B ends with 20 bytes of a PDU; 18 of the next one follow.
        assert_eq!(pdus(&[1500, 1500]), 76);
        assert_eq!(pdus(&[1500, 1498]), 75);
        // A second SDU that would end in the same PDU waits for the next.
        assert_eq!(pdus(&[20, 18]), 2);
    }

    #[test]
    fn an_sdu_that_does_not_fit_is_refused() {
        let mut sdus = Sdus::new(100);
        assert!(sdus.push(60, false));
        assert!(!sdus.push(41, false));
        assert!(sdus.push(40, false));
        assert!(!sdus.push(1, false));
        sdus.cut(40, 0);
        assert!(sdus.push(40, false), "what is in a PDU no longer counts");
    }
}
