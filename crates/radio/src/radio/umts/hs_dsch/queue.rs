//! The priority queue of a terminal at the Node B (3GPP TS 25.321 §4.2.4.3), in which blocks get their numbers.

use std::collections::VecDeque;

use crate::radio::rlc::Pdu;
use lasthop_net::engine::Instant;

/// The queue of a terminal. One priority is enough for one bearer.
#[derive(Default)]
pub struct Queue {
    pdus: VecDeque<Pdu>,
    /// How many PDUs are under way to it.
    pub coming: u32,
    /// TSN of the next block. It does not wrap, unlike the 6 bits on the air: a block is never far from its window.
    next_tsn: u32,
    /// When it was served last, or something came into it while it was empty.
    pub since: Instant,
    /// The first slot in which the terminal can receive another block.
    pub next_slot: u64,
}

impl Queue {
    /// Takes a PDU.
    pub fn push(&mut self, at: Instant, pdu: Pdu) {
        if self.pdus.is_empty() {
            self.since = at;
        }
        self.coming -= 1;
        self.pdus.push_back(pdu);
    }

    /// How many PDUs wait.
    pub fn len(&self) -> usize {
        self.pdus.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.pdus.is_empty()
    }

    /// How many it has, and will have.
    pub fn held(&self) -> u32 {
        self.pdus.len() as u32 + self.coming
    }

    /// The next block, of at most `most` PDUs: gives its TSN.
    pub fn fill(&mut self, now: Instant, most: usize, block: &mut Vec<Pdu>) -> u32 {
        self.since = now;
        block.extend(self.pdus.drain(..most.min(self.pdus.len())));
        self.next_tsn += 1;
        self.next_tsn - 1
    }
}
