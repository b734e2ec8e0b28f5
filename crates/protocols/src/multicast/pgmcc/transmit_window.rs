//! What the sender keeps to send it again (RFC 3208 §5.1), and what of it was asked for.

use std::collections::{BTreeSet, VecDeque};

/// The packets that can still be sent again.
#[derive(Debug)]
pub struct TransmitWindow {
    limit: usize,
    /// The number of the first packet kept (TXW_TRAIL).
    trail: u64,
    kept: VecDeque<Kept>,
    /// Packets that were asked for, to be sent again from the lowest on.
    wanted: BTreeSet<u64>,
}

/// What a packet carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Payload bytes.
    pub payload: u32,
    /// Payload bytes of the connection up to its end.
    pub end: u64,
}

impl TransmitWindow {
    /// An empty one for `limit` packets.
    pub fn new(limit: u32) -> Self {
        Self { limit: limit as usize, trail: 0, kept: VecDeque::new(), wanted: BTreeSet::new() }
    }

    /// Keeps the next packet, and gives the oldest up if there are too many.
    #[inline]
    pub fn keep(&mut self, kept: Kept) {
        if self.kept.len() == self.limit {
            self.kept.pop_front();
            self.wanted.remove(&self.trail);
            self.trail += 1;
        }
        self.kept.push_back(kept);
    }

    /// The lowest number kept.
    #[inline]
    pub fn trail(&self) -> u64 {
        self.trail
    }

    /// A receiver misses a packet. Says whether it can be repaired.
    pub fn want(&mut self, seq: u64) -> bool {
        let known = seq >= self.trail && seq - self.trail < self.kept.len() as u64;
        if known {
            self.wanted.insert(seq);
        }
        known
    }

    /// The next packet to be sent again.
    #[inline]
    pub fn peek(&self) -> Option<(u64, Kept)> {
        let seq = *self.wanted.first()?;
        Some((seq, self.kept[(seq - self.trail) as usize]))
    }

    /// It is sent.
    pub fn pop(&mut self) {
        self.wanted.pop_first();
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.trail = 0;
        self.kept.clear();
        self.wanted.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_sent_again_once_and_in_order() {
        let mut window = TransmitWindow::new(4);
        for n in 0..6 {
            window.keep(Kept { payload: n, end: 0 });
        }
        assert_eq!(window.trail(), 2);
        assert_eq!([5, 1, 3, 6, 5].map(|seq| window.want(seq)), [true, false, true, false, true]);
        let mut sent = Vec::new();
        while let Some((seq, kept)) = window.peek() {
            sent.push((seq, kept.payload));
            window.pop();
        }
        assert_eq!(sent, [(3, 3), (5, 5)]);
        window.want(2);
        window.keep(Kept { payload: 6, end: 0 });
        assert_eq!(window.peek(), None, "given up with the window");
    }
}
