//! The data that have come out of order, and the SACK blocks that report them.

use std::collections::VecDeque;

use lasthop_net::net::SackBlocks;

/// How many blocks are remembered in the order of their reports. RFC 2018 §4 asks for the most
/// recently reported first; those beyond are filled in by sequence number.
const REMEMBERED: usize = 6;

/// The data of a connection, as far as their place is concerned.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// RCV.NXT.
    pub rcv_nxt: u64,
    /// The out-of-order data: disjoint blocks `[start, end)` in order, none touching another.
    pub blocks: VecDeque<(u64, u64)>,
    /// The blocks last reported, most recent first.
    recent: Vec<(u64, u64)>,
}

impl Reassembly {
    /// Nothing has come; the next byte in order is `rcv_nxt`.
    pub fn new(rcv_nxt: u64) -> Self {
        Self { rcv_nxt, ..Self::default() }
    }

    /// With these blocks beyond it.
    #[cfg(test)]
    pub fn of(rcv_nxt: u64, blocks: &[(u64, u64)]) -> Self {
        Self { rcv_nxt, blocks: blocks.iter().copied().collect(), recent: Vec::new() }
    }

    /// Puts `[start, end)`, which ends beyond RCV.NXT, among the blocks, and moves RCV.NXT if it
    /// fills the first gap. Says how much of it is new.
    pub fn insert(&mut self, mut start: u64, mut end: u64) -> u64 {
        // The blocks that touch or overlap it are `from..to`.
        let from = self.blocks.partition_point(|b| b.1 < start);
        let (mut to, mut known) = (from, 0);
        while let Some(&(a, b)) = self.blocks.get(to) {
            if a > end {
                break;
            }
            if a <= start && end <= b {
                self.remember(a, b);
                return 0;
            }
            (start, end, to, known) = (start.min(a), end.max(b), to + 1, known + b - a);
        }
        let fresh = end - start - known;
        if start == self.rcv_nxt {
            self.rcv_nxt = end;
            self.blocks.drain(from..to);
            self.recent.retain(|b| b.0 > end);
            return fresh;
        }
        if to == from {
            self.blocks.insert(from, (start, end));
        } else {
            self.blocks[from] = (start, end);
            if to > from + 1 {
                self.blocks.drain(from + 1..to);
            }
        }
        self.remember(start, end);
        fresh
    }

    /// `[start, end)` is the block that the last segment belongs to.
    fn remember(&mut self, start: u64, end: u64) {
        self.recent.retain(|&(a, b)| !(start <= a && b <= end));
        self.recent.truncate(REMEMBERED - 1);
        self.recent.insert(0, (start, end));
    }

    /// Which of the blocks last reported `[start, end)` touches, or how many there are if it touches none.
    pub fn recency(&self, start: u64, end: u64) -> usize {
        self.recent.iter().position(|&(a, b)| start <= b && a <= end).unwrap_or(self.recent.len())
    }

    /// Writes the blocks, most recently reported first, behind a duplicate if there is one.
    pub fn report(&self, duplicate: Option<(u64, u64)>, sack: &mut SackBlocks) {
        if let Some((start, end)) = duplicate {
            sack.push(start, end);
        }
        for &(start, end) in &self.recent {
            sack.push(start, end);
        }
        if self.recent.len() < SackBlocks::MAX {
            for block in self.blocks.iter().take(SackBlocks::MAX + self.recent.len()) {
                if !self.recent.contains(block) {
                    sack.push(block.0, block.1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of any place and length beyond RCV.NXT, beside a map of the bytes that have come.
    #[test]
    fn a_byte_is_new_once() {
        let mut state = Reassembly::new(1);
        let mut had = vec![false; 1_100];
        let (mut random, mut in_part): (u32, u32) = (1, 0);
        while state.rcv_nxt < 1_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let start = state.rcv_nxt + u64::from(random >> 8) % (1_050 - state.rcv_nxt);
            let end = start + 1 + u64::from(random >> 27);
            let come = &mut had[start as usize..end as usize];
            let new = come.iter().filter(|had| !**had).count() as u64;
            come.fill(true);
            in_part += u32::from(new > 0 && new < end - start);
            assert_eq!(state.insert(start, end), new, "[{start}, {end})");
        }
        assert!(in_part > 10, "{in_part} segments were new in part");
    }
}
