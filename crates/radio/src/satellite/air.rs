//! Packets between a satellite's down-link and terminals, or on their way up to a satellite that the terminal has left.

use std::collections::BTreeMap;

use lasthop_net::engine::{Instant, Target};
use lasthop_net::net::{Core, End, Pkt};

/// Packets in flight, in the order in which they arrive. Each has a wake-up of its own.
pub struct Air {
    target: Target,
    packets: BTreeMap<(Instant, Instant, u64), (Way, Pkt)>,
    sent: u64,
}

/// Where a packet in flight arrives.
#[derive(Clone, Copy)]
pub enum Way {
    /// At a terminal.
    Down(u32),
    /// Here; its transmission has not been counted yet.
    Up(End),
}

impl Air {
    /// Nothing in flight yet; arrivals wake `target`.
    pub fn new(target: Target) -> Self {
        Self { target, packets: BTreeMap::new(), sent: 0 }
    }

    /// A packet whose transmission began at `since` arrives at `at`.
    pub fn send(&mut self, core: &mut Core, since: Instant, at: Instant, way: Way, pkt: Pkt) {
        core.arm(self.target, at, since);
        self.packets.insert((at, since, self.sent), (way, pkt));
        self.sent += 1;
    }

    /// The packet that arrives now.
    pub fn take(&mut self, core: &Core) -> Option<(Way, Pkt)> {
        let first = self.packets.first_entry()?;
        (first.key().0 <= core.now()).then(|| first.remove())
    }

    /// How many packets are in flight.
    pub fn in_flight(&self) -> u64 {
        self.packets.len() as u64
    }
}
