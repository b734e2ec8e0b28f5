//! The sender's scoreboard of Fack: the state of each packet from the first hole on (ns-2.35 `tcp/scoreboard.cc`).

use std::collections::VecDeque;

/// The state of one packet.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    sacked: bool,
    resent: bool,
    /// The next new packet when this one was resent.
    next_then: i64,
}

/// The packets from `first` on.
#[derive(Default)]
pub struct Board {
    first: i64,
    nodes: VecDeque<Node>,
    /// There is no hole to resend below this one.
    no_hole_below: i64,
    /// Packets resent, in the order of resending, with the next new packet then. Some have
    /// since been acknowledged.
    resent: VecDeque<(i64, i64)>,
    /// The blocks of the last acknowledgement: they need no second look.
    known: [(i64, i64); 3],
}

impl Board {
    /// Takes an acknowledgement; gives the number of resent packets that it takes off the path.
    pub fn update(&mut self, last_ack: i64, blocks: &[(i64, i64)]) -> i64 {
        let mut landed = 0;
        while self.first <= last_ack
            && let Some(node) = self.nodes.pop_front()
        {
            landed += i64::from(node.resent);
            self.first += 1;
        }
        if self.nodes.is_empty() {
            self.forget();
            if blocks.is_empty() {
                return landed;
            }
            self.first = last_ack + 1;
            self.no_hole_below = self.first;
            self.nodes.push_back(Node::default());
        }
        for &(start, end) in blocks {
            let length = (end - self.first).max(self.nodes.len() as i64) as usize;
            self.nodes.resize(length, Node::default());
            let mut from = start;
            for &(known_start, known_end) in &self.known {
                if (known_start..=known_end).contains(&from) {
                    from = known_end;
                }
            }
            for seq in from.max(self.first)..end {
                let node = &mut self.nodes[(seq - self.first) as usize];
                node.sacked = true;
                landed += i64::from(std::mem::take(&mut node.resent));
            }
        }
        for (known, block) in self.known.iter_mut().zip(blocks) {
            *known = *block;
        }
        landed
    }

    /// Whether a resent packet has been lost again: a packet newer than the next one when it
    /// was resent has arrived. Such packets no longer count as resent.
    pub fn lost_again(&mut self, blocks: &[(i64, i64)]) -> bool {
        let Some(end) = blocks.iter().map(|b| b.1).max() else { return false };
        let mut lost = false;
        while let Some(&(seq, next_then)) = self.resent.front() {
            let index = seq - self.first;
            let node = usize::try_from(index).ok().and_then(|i| self.nodes.get_mut(i));
            match node.filter(|n| n.resent && n.next_then == next_then) {
                Some(node) if next_then < end => {
                    node.resent = false;
                    self.no_hole_below = self.no_hole_below.min(seq);
                    lost = true;
                }
                Some(_) => break,
                None => {}
            }
            self.resent.pop_front();
        }
        lost
    }

    /// The lowest packet that is neither acknowledged nor resent, if there is a board.
    pub fn next_hole(&mut self) -> Option<i64> {
        let from = self.no_hole_below.max(self.first);
        let skip = (from - self.first) as usize;
        let hole = self.nodes.iter().skip(skip).position(|n| !n.sacked && !n.resent);
        self.no_hole_below = from + hole.unwrap_or(self.nodes.len().saturating_sub(skip)) as i64;
        hole.map(|_| self.no_hole_below)
    }

    /// The packet is resent; `next` is the next new packet.
    pub fn mark_resent(&mut self, seq: i64, next: i64) {
        if let Some(node) = self.nodes.get_mut((seq - self.first) as usize) {
            *node = Node { resent: true, next_then: next, ..*node };
            self.resent.push_back((seq, next));
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.forget();
    }

    fn forget(&mut self) {
        self.resent.clear();
        self.known = [(0, -1); 3];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_in_order_and_each_once() {
        let mut board = Board::default();
        assert_eq!(board.next_hole(), None);
        assert_eq!(board.update(10, &[(13, 14), (15, 18)]), 0);
        for expected in [11, 12, 14] {
            assert_eq!(board.next_hole(), Some(expected));
            board.mark_resent(expected, 20);
        }
        assert_eq!(board.next_hole(), None);
        assert_eq!(board.update(11, &[(12, 14), (15, 18)]), 2, "one acknowledged, one in a block");
        assert!(!board.lost_again(&[(12, 14), (15, 20)]));
        assert_eq!(board.update(11, &[(15, 21), (12, 14)]), 0);
        assert!(board.lost_again(&[(15, 21), (12, 14)]), "14 was resent when 20 was next");
        assert_eq!(board.next_hole(), Some(14));
    }
}
