//! Packets between a satellite's down-link and terminals, or on their way up to a satellite that the terminal has left.

use lasthop_net::engine::{Instant, Target};
use lasthop_net::net::{Core, Pkt};

/// Packets in flight. Each has a wake-up of its own, whose key says where the packet lies.
pub struct Air {
    component: u32,
    first_key: u32,
    packets: Vec<Option<(Way, Pkt)>>,
    /// The places of `packets` that are not taken.
    free: Vec<u32>,
}

/// Where a packet in flight arrives.
#[derive(Clone, Copy)]
pub enum Way {
    /// At a terminal.
    Down(u32),
    /// At a satellite that has served the terminal; its transmission has not been counted yet.
    Up {
        /// The terminal.
        terminal: u32,
        /// The satellite.
        satellite: u32,
    },
}

impl Air {
    /// Nothing in flight yet; arrivals wake `component` with keys from `first_key`.
    pub fn new(component: u32, first_key: u32) -> Self {
        Self { component, first_key, packets: Vec::new(), free: Vec::new() }
    }

    /// A packet whose transmission began at `since` arrives at `at`.
    pub fn send(&mut self, core: &mut Core, since: Instant, at: Instant, way: Way, pkt: Pkt) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.packets.push(None);
            self.packets.len() as u32 - 1
        });
        self.packets[place as usize] = Some((way, pkt));
        core.arm(Target { component: self.component, key: self.first_key + place }, at, since);
    }

    /// The packet whose wake-up with this key has come.
    pub fn take(&mut self, key: u32) -> Option<(Way, Pkt)> {
        let place = key - self.first_key;
        let packet = self.packets.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(packet)
    }

    /// How many packets are in flight.
    pub fn in_flight(&self) -> u64 {
        (self.packets.len() - self.free.len()) as u64
    }
}
