//! Hybrid ARQ: the blocks that are under way, each in a process (3GPP TS 25.321 §11.6.1).
//!
//! Of HS-DSCH the processes come round in turn, one in each slot. One that is free takes a new block. One whose block failed sends
//! it again when its turn comes, and nothing else is sent in that slot; so the turns must be far enough apart for the answer, which
//! the terminal gives 7.5 slots of a radio frame, 5 ms, after the block (TS 25.211 §7.7).

use crate::radio::rate_map::Grant;
use lasthop_net::engine::Decibel;

/// How many processes HS-DSCH can have: at least six, so that an answer comes in time, at most eight (TS 25.331 §10.3.5.7a).
pub const PROCESSES: std::ops::RangeInclusive<u8> = 6..=8;

/// Processes, each with one block of `D` or none.
pub struct Harq<D> {
    processes: Vec<Option<Block<D>>>,
    /// How often a block is sent at most.
    transmissions: u32,
    /// How many processes have a block.
    busy: usize,
}

/// A block and what becomes of it.
pub struct Block<D> {
    /// For which terminal.
    pub terminal: u32,
    /// Its number among the terminal's blocks (TSN).
    pub number: u32,
    /// What it carries.
    pub data: D,
    /// How it is sent.
    pub attempts: Attempts,
    /// Whether the last transmission is received.
    pub received: bool,
}

/// The transmissions of a block.
#[derive(Clone, Copy, Debug)]
pub struct Attempts {
    /// Its format.
    pub grant: Grant,
    /// The ratio of signal to interference for which that was chosen.
    pub sir: Decibel,
    /// How often it has been sent.
    pub transmission: u32,
    /// Drawn from [0, 1): how hard it is to receive.
    pub draw: f64,
    /// The ratios of signal to interference with which it was sent, added up, if its reception combines them.
    pub combined: f64,
}

impl Attempts {
    /// None yet, in this format, which was chosen for this ratio.
    pub fn new(grant: Grant, sir: Decibel, draw: f64) -> Self {
        Self { grant, sir, transmission: 0, draw, combined: 0.0 }
    }
}

impl<D> Harq<D> {
    /// `processes` free processes, and at most `transmissions` transmissions of a block.
    pub fn new(processes: usize, transmissions: u32) -> Self {
        Self { processes: (0..processes).map(|_| None).collect(), transmissions, busy: 0 }
    }

    /// The process whose turn it is in a slot; the first is that of slot 1.
    pub fn turn(&self, slot: u64) -> usize {
        ((slot + self.processes.len() as u64 - 1) % self.processes.len() as u64) as usize
    }

    /// Whether a process whose turn comes in one of these slots has a block for a terminal. There are fewer slots than processes.
    pub fn has_turn(&self, terminal: u32, mut slots: std::ops::Range<u64>) -> bool {
        let is_its = |block: &Block<D>| block.terminal == terminal;
        slots.any(|slot| self.processes[self.turn(slot)].as_ref().is_some_and(is_its))
    }

    /// The block of a process.
    pub fn block(&mut self, process: usize) -> Option<&mut Block<D>> {
        self.processes[process].as_mut()
    }

    /// A free process takes a block.
    pub fn start(&mut self, process: usize, block: Block<D>) {
        debug_assert!(self.processes[process].is_none(), "a process has one block");
        self.processes[process] = Some(block);
        self.busy += 1;
    }

    /// What became of the last transmission of a process is known. `too_old`: whether the terminal would no longer take a block of
    /// this number.
    pub fn conclude(&mut self, process: usize, too_old: impl Fn(u32, u32) -> bool) -> Conclusion<D> {
        let Some(block) = &self.processes[process] else { return Conclusion::Again };
        let received = block.received;
        if !received && block.attempts.transmission < self.transmissions && !too_old(block.terminal, block.number) {
            return Conclusion::Again;
        }
        self.busy -= 1;
        match self.processes[process].take() {
            Some(block) if received => Conclusion::Received(block),
            Some(block) => Conclusion::GivenUp(block),
            None => Conclusion::Again,
        }
    }

    /// Whether no process has a block.
    pub fn is_idle(&self) -> bool {
        self.busy == 0
    }
}

/// What becomes of a block.
pub enum Conclusion<D> {
    /// It has come.
    Received(Block<D>),
    /// It is sent again when the turn comes.
    Again,
    /// It was sent often enough.
    GivenUp(Block<D>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(terminal: u32) -> Block<u32> {
        let grant = Grant { format: 14, resources: 4, bits: 2583 };
        Block { terminal, number: 7, data: 320, attempts: Attempts::new(grant, Decibel::ZERO, 0.0), received: false }
    }

    #[test]
    fn the_turn_comes_round_after_as_many_slots_as_there_are_processes() {
        let harq = Harq::<u32>::new(6, 3);
        // Slots begin at 2 ms: that at 1082 ms is number 541.
        assert_eq!([1, 2, 6, 7, 541, 616].map(|slot| harq.turn(slot)), [0, 1, 5, 0, 0, 3]);
    }

    #[test]
    fn a_block_is_sent_until_it_comes_or_was_sent_often_enough() {
        for (received_at, too_old_at, times) in [(1, 9, 1), (2, 9, 2), (3, 9, 3), (4, 9, 3), (4, 2, 2)] {
            let mut harq = Harq::new(6, 3);
            harq.start(2, block(1));
            let mut sent = 0;
            let conclusion = loop {
                let block = harq.block(2).unwrap();
                block.attempts.transmission += 1;
                sent += 1;
                block.received = sent == received_at;
                match harq.conclude(2, |terminal, tsn| (terminal, tsn) == (1, 7) && sent >= too_old_at) {
                    Conclusion::Again => assert!(!harq.is_idle()),
                    conclusion => break conclusion,
                }
            };
            assert_eq!(sent, times);
            assert_eq!(matches!(conclusion, Conclusion::Received(_)), sent == received_at);
            assert!(harq.is_idle() && harq.block(2).is_none());
        }
    }
}
