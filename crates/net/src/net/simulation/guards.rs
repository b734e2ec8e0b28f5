//! What ends a run with an error instead of a hang: time that stands still, and what piles up.

use crate::engine::Instant;

use super::marks::Marks;
use super::{RunError, Simulation};

/// How many events one instant may have.
const EVENTS_PER_INSTANT: u64 = 10_000_000;
/// After how many events for each flow transfers are counted.
const EVENTS_PER_FLOW: u64 = 16;
/// How many packets may be under way: some 800 MiB of them.
const PACKETS_UNDER_WAY: u64 = 1 << 22;
/// How many wake-ups may wait: half of what their numbers can tell apart.
const WAKES_WAITING: usize = 1 << 23;

impl Simulation {
    /// A machine has done this much in one wake-up, more than is usual: each of its actions counts as an event.
    #[cold]
    pub(super) fn note_work(&mut self, actions: u32) {
        let actions = u64::from(actions);
        let counted = actions.min(self.until_look);
        self.until_look -= counted;
        self.standing += actions - counted;
    }

    /// Ends the run if time stands still, or if packets pile up.
    pub(super) fn look_after(&mut self, began: Instant, events: u64) -> Result<(), RunError> {
        let at = self.now();
        self.standing = if at == began { self.standing + events } else { 0 };
        if self.standing > EVENTS_PER_INSTANT {
            let component = self.core.queue.peek().map_or_else(String::new, |wake| self.component_name(wake.target));
            return Err(RunError::Stalled { at, events: self.standing, component });
        }
        self.look_at_size()
    }

    /// Checks the limits on waiting packets, wake-ups and recorded rows. Transfers are counted seldom: that takes time for each flow.
    pub(super) fn look_at_size(&mut self) -> Result<(), RunError> {
        self.unlooked = 0;
        self.check_waiting()?;
        if self.events >= self.count_transfers_at {
            self.count_transfers_at = self.events + EVENTS_PER_FLOW * self.flows.len() as u64;
            self.check_transfers()?;
        }
        Ok(())
    }

    /// Checks the limits on waiting packets, wake-ups and recorded rows at the end of a run.
    ///
    /// # Errors
    /// [`RunError::TooManyPackets`], [`RunError::TooManyWakes`] or [`RunError::TooManyRows`].
    pub fn check_size(&self) -> Result<(), RunError> {
        self.check_waiting()?;
        self.check_transfers()
    }

    pub(super) fn check_waiting(&self) -> Result<(), RunError> {
        let at = self.now();
        let packets = self.core.under_way();
        if packets > PACKETS_UNDER_WAY {
            return Err(RunError::TooManyPackets { at, packets });
        }
        let wakes = self.core.queue.len();
        if wakes > WAKES_WAITING {
            return Err(RunError::TooManyWakes { at, wakes: wakes as u64 });
        }
        let (table, rows) = self.core.observer.as_ref().map_or(("", 0), |observer| observer.largest_table());
        self.check_rows(table, rows)
    }

    pub(super) fn check_transfers(&self) -> Result<(), RunError> {
        if !self.keeps_transfers {
            return Ok(());
        }
        let transfers: u64 = self.flows.iter().map(|flow| flow.source.transfers().len() as u64).sum();
        self.check_rows("transfers", transfers)?;
        let quantities = self.marks.as_ref().map_or(0, Marks::quantities);
        self.check_rows("transfer_quantities", transfers.saturating_mul(quantities))
    }

    /// Checks a table's number of rows against the limit.
    ///
    /// # Errors
    /// [`RunError::TooManyRows`].
    pub fn check_rows(&self, table: &'static str, rows: u64) -> Result<(), RunError> {
        if rows <= self.most_rows {
            return Ok(());
        }
        Err(RunError::TooManyRows { at: self.now(), table, rows, most: self.most_rows })
    }
}
