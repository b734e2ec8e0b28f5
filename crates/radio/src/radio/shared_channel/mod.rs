//! A channel that terminals share: slot by slot a scheduler gives its resources to those for which something waits.
//!
//! What all such channels have in common, whatever they carry: the terminals that wait, the scheduler and its knowledge of the air, the
//! resources of a slot, in [`harq`] the blocks under way, and in [`reception`]
//! which of them are received. HSDPA's cells and HS-DSCH are made of it.

use crate::radio::channel_state::ChannelState;
use crate::radio::rate_map::{Grant, RateMap};
use crate::radio::scheduler::{Candidate, Scheduler, Watch};
use lasthop_net::engine::{BitRate, Duration, Instant};

pub mod harq;
pub mod reception;

/// A slot of HSDPA: three radio slots, or a subframe (3GPP TS 25.211 §5.3.3.13).
pub const SLOT: Duration = Duration::from_millis(2);

/// The terminals that wait for a shared channel, and its scheduler.
pub struct SharedChannel {
    scheduler: Box<dyn Scheduler>,
    watch: Watch,
    /// The terminals for which something waits, by number.
    waiting: Vec<u32>,
    /// Those among them that the scheduler may choose; empty between events.
    candidates: Vec<Candidate>,
}

/// What is free in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Resources of the rate map: codes.
    pub resources: u8,
    /// Terminals that can still be served.
    pub users: u8,
}

impl Room {
    /// Whether a grant for a terminal fits into it.
    pub fn fits(self, grant: Grant) -> bool {
        grant.resources <= self.resources && self.users > 0
    }

    /// Takes a grant for a terminal, which fits.
    pub fn take(&mut self, grant: Grant) {
        debug_assert!(self.fits(grant), "a slot has no more resources and users than it has");
        self.resources -= grant.resources;
        self.users -= 1;
    }

    fn is_full(self) -> bool {
        self.resources == 0 || self.users == 0
    }
}

impl SharedChannel {
    /// One for which nothing waits. Its scheduler knows nothing of the air before the slot `first`.
    pub fn new(scheduler: Box<dyn Scheduler>, first: u64) -> Self {
        Self { scheduler, watch: Watch::new(first), waiting: Vec::new(), candidates: Vec::new() }
    }

    /// Something waits for a terminal.
    pub fn join(&mut self, terminal: u32) {
        if let Err(place) = self.waiting.binary_search(&terminal) {
            self.waiting.insert(place, terminal);
        }
    }

    /// Nothing waits for a terminal any more.
    pub fn leave(&mut self, terminal: u32) {
        if let Ok(place) = self.waiting.binary_search(&terminal) {
            self.waiting.remove(place);
        }
    }

    /// For how many terminals something waits.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Tells the scheduler, if it watches, how good the air to its terminals was up to a slot. `at` says when a slot is decided, and
    /// `last` which slot is the last one decided before an instant.
    pub fn watch(
        &mut self,
        slot: u64,
        terminals: impl Iterator<Item = u32>,
        air: &mut ChannelState,
        at: impl Fn(u64) -> Instant,
        last: impl Fn(Instant) -> u64,
    ) {
        self.watch.tell(&mut *self.scheduler, slot, terminals, |terminal, slot| {
            let state = air.at(terminal, at(slot));
            (state.sir, last(state.valid_until))
        });
    }

    /// Looks for those that may be served in a slot: `candidate` says what a terminal that waits would get of it.
    pub fn gather(&mut self, mut candidate: impl FnMut(u32) -> Option<Candidate>) {
        self.candidates.clear();
        self.candidates.extend(self.waiting.iter().filter_map(|terminal| candidate(*terminal)));
    }

    /// Gives the room of a slot to the candidates, in the scheduler's order. `share` is the most resources for one terminal, given the room
    /// and the number of candidates that would get something. `give` says what a candidate takes of at most this number of resources, and
    /// how many bits the scheduler counts for it.
    pub fn serve(
        &mut self,
        slot: u64,
        mut room: Room,
        share: impl FnOnce(Room, usize) -> u8,
        mut give: impl FnMut(&Candidate, u8) -> Option<(Grant, u32)>,
    ) {
        if room.is_full() || self.candidates.is_empty() {
            return;
        }
        self.scheduler.order(slot, &mut self.candidates);
        let share = share(room, self.candidates.iter().filter(|candidate| candidate.bits > 0).count());
        for candidate in &self.candidates {
            if room.is_full() {
                break;
            }
            if let Some((grant, bits)) = give(candidate, room.resources.min(share)) {
                room.take(grant);
                self.scheduler.on_served(slot, candidate.terminal, bits);
            }
        }
    }
}

/// The rate of a terminal that has the whole channel, with these resources, where the air is as it usually is.
pub fn usual_rate(map: &dyn RateMap, air: &ChannelState, terminal: u32, resources: u8) -> BitRate {
    let bits = map.grant(air.usual(terminal), u64::MAX, resources).map_or(0, |grant| grant.bits);
    BitRate::from_bps(u64::from(bits) * 1_000_000_000 / SLOT.as_nanos())
}
