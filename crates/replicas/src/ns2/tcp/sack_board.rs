//! The sender's scoreboard of Sack1: the blocks that the receiver has beyond the cumulative
//! acknowledgement (ns-2.35 `tcp/scoreboard-rq.cc`, over `tcp/rq.cc`).
//!
//! A hole is resent once: holes below the highest one resent are not looked at again. The lower
//! edge is moved by blocks that touch it, as ns-2's reassembly queue moves its next expected
//! packet; with blocks that have become stale it can move back.

use std::collections::VecDeque;

/// Blocks [start, end), disjoint, not adjacent, ascending.
pub struct Board {
    blocks: VecDeque<(i64, i64)>,
    /// Packets in all blocks.
    total: i64,
    /// Above every hole resent so far (`h_seqno_`).
    resent_below: i64,
    /// One past the cumulative acknowledgement (`sack_min`).
    low: i64,
}

impl Default for Board {
    fn default() -> Self {
        Self { blocks: VecDeque::new(), total: 0, resent_below: -1, low: -1 }
    }
}

impl Board {
    /// Takes the SACK blocks of an acknowledgement; says whether that changed anything. An
    /// advance over a board with blocks is a change.
    pub fn update(&mut self, last_ack: i64, blocks: impl Iterator<Item = (i64, i64)>) -> bool {
        let before = self.total;
        let mut changed = false;
        if self.low <= last_ack {
            self.low = last_ack + 1;
            if !self.blocks.is_empty() {
                self.clear_to(self.low);
                changed = true;
            }
        }
        for (start, end) in blocks {
            self.add(start, end);
        }
        changed || self.total != before
    }

    /// Forgets all blocks, and the resent packets.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.total = 0;
        self.resent_below = -1;
    }

    /// The packet has been resent.
    pub fn mark_resent(&mut self, seq: i64) {
        self.resent_below = self.resent_below.max(seq + 1);
    }

    /// The lowest hole that lies above all holes resent and below a block.
    pub fn next_hole(&mut self) -> Option<i64> {
        self.resent_below = self.resent_below.max(self.low);
        let seq = self.resent_below;
        let place = self.blocks.partition_point(|b| b.1 < seq);
        let &(start, end) = self.blocks.get(place)?;
        let hole = if start > seq {
            seq
        } else if place + 1 < self.blocks.len() {
            end
        } else {
            return None;
        };
        if hole <= 0 {
            return None;
        }
        self.resent_below = hole;
        Some(hole)
    }

    fn clear_to(&mut self, seq: i64) {
        while let Some(&mut (ref mut start, end)) = self.blocks.front_mut()
            && *start < seq
        {
            self.total -= end.min(seq) - *start;
            *start = seq;
            if end > seq {
                break;
            }
            self.blocks.pop_front();
        }
    }

    fn add(&mut self, start: i64, end: i64) {
        // Blocks from `from` to `to` touch or overlap the new one.
        let from = self.blocks.partition_point(|b| b.1 < start);
        let to = self.blocks.partition_point(|b| b.0 <= end);
        match self.blocks.get(from) {
            Some(&known) if known == (start, end) => return,
            Some(&known) if known.0 <= start && end <= known.1 => {}
            _ => {
                let mut merged = (start, end);
                let mut known = 0;
                for b in self.blocks.range(from..to) {
                    merged = (merged.0.min(b.0), merged.1.max(b.1));
                    known += b.1 - b.0;
                }
                self.total += merged.1 - merged.0 - known;
                if from < to {
                    self.blocks[from] = merged;
                    self.blocks.drain(from + 1..to);
                } else {
                    self.blocks.insert(from, merged);
                }
                if self.low >= merged.0 {
                    self.low = merged.1;
                }
                return;
            }
        }
        // Nothing new; but ns-2 looks at the first block.
        if let Some(&(first, end)) = self.blocks.front()
            && self.low >= first
        {
            self.low = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_named_once_from_below() {
        let mut board = Board::default();
        assert!(board.update(10, [(12, 14), (16, 18)].into_iter()));
        assert!(!board.update(10, [(16, 18), (12, 14)].into_iter()));
        board.mark_resent(11);
        assert_eq!(board.next_hole(), Some(14));
        board.mark_resent(14);
        assert_eq!(board.next_hole(), Some(15));
        board.mark_resent(15);
        assert_eq!(board.next_hole(), None);
        assert!(board.update(10, [(18, 19), (22, 23)].into_iter()));
        assert_eq!(board.next_hole(), Some(19));
    }

    #[test]
    fn an_advance_over_blocks_is_a_change() {
        let mut board = Board::default();
        assert!(!board.update(10, [].into_iter()));
        assert!(board.update(10, [(12, 14)].into_iter()));
        assert!(board.update(12, [].into_iter()));
        assert_eq!(board.total, 1);
    }
}
