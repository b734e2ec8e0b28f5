//! The schedulers of the slots of a shared channel.

use lasthop_net::engine::{Decibel, Duration, Fault, Instant};

use super::imposed::NO_SIGNAL;

pub mod fair_channel;
pub mod least_recent;
pub mod max_sir;
pub mod proportional_fair;
pub mod round_robin;

/// Says in which order terminals are served. It belongs to one cell.
pub trait Scheduler: Send {
    /// Orders the terminals that have something to send by priority in this slot. They are given by number, and there is at least one.
    fn order(&mut self, slot: u64, candidates: &mut [Candidate]);

    /// A terminal got this number of bits of a slot.
    fn on_served(&mut self, _slot: u64, _terminal: u32, _bits: u32) {}

    /// Whether it needs the channel quality of each slot, also of terminals that have nothing to send.
    fn watches(&self) -> bool {
        false
    }

    /// Reports a terminal's channel quality over the last `_slots` slots, up to the present one. Called before [`Scheduler::order`], if it
    /// watches.
    fn on_quality(&mut self, _terminal: u32, _sir: Decibel, _slots: u64) {}
}

/// What one slot counts in an average that goes back over a window.
fn share_of_slot(slot: Duration, window: Duration) -> f64 {
    (slot.as_secs_f64() / window.as_secs_f64()).min(1.0)
}

/// Whether an average can go back over this window.
fn check_window(window: Duration) -> Result<(), Fault> {
    if window == Duration::ZERO {
        return Err(Fault::new("window", "an average over no time", "expected more than 0 s"));
    }
    Ok(())
}

/// Tells a scheduler that watches how good the air is, in each slot once.
pub struct Watch {
    /// The first slot that it does not know.
    next: u64,
}

impl Watch {
    /// From this slot on.
    pub fn new(first: u64) -> Self {
        Self { next: first }
    }

    /// Tells it of these terminals up to a slot. `state` says how good the air to one is in a slot, and up to which slot it is so. Slots
    /// without coverage are left out: they have no quality.
    pub fn tell(
        &mut self,
        scheduler: &mut dyn Scheduler,
        slot: u64,
        terminals: impl Iterator<Item = u32>,
        mut state: impl FnMut(u32, u64) -> (Decibel, u64),
    ) {
        if !scheduler.watches() {
            return;
        }
        for terminal in terminals {
            let mut next = self.next;
            while next <= slot {
                let (sir, last) = state(terminal, next);
                let end = last.clamp(next, slot) + 1;
                if sir > NO_SIGNAL {
                    scheduler.on_quality(terminal, sir, end - next);
                }
                next = end;
            }
        }
        self.next = slot + 1;
    }
}

/// A terminal that has something to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its number.
    pub terminal: u32,
    /// How good the air to it is taken to be.
    pub sir: Decibel,
    /// What it would get of a slot for itself, in bits.
    pub bits: u32,
    /// When it was served last, or began to have something to send since then.
    pub since: Instant,
}

/// The parameters of a scheduler.
pub trait SchedulerConfig: Send + Sync {
    /// A scheduler for a cell with slots of this length.
    fn build(&self, slot: Duration) -> Box<dyn Scheduler>;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Candidates with these numbers, ratios and bits, of which each has waited since the start.
    pub fn candidates(of: &[(u32, f64, u32)]) -> Vec<Candidate> {
        let candidate = |&(terminal, db, bits): &(u32, f64, u32)| Candidate {
            terminal,
            sir: Decibel::new(db),
            bits,
            since: Instant::ZERO,
        };
        of.iter().map(candidate).collect()
    }

    /// The order in which a scheduler puts them.
    pub fn order(scheduler: &mut dyn Scheduler, slot: u64, mut of: Vec<Candidate>) -> Vec<u32> {
        scheduler.order(slot, &mut of);
        of.iter().map(|candidate| candidate.terminal).collect()
    }
}
