//! Where packets lie while they are under way.

use crate::engine::Instant;

use super::packet::Packet;

/// A packet in the slab. It cannot be copied; it ends in [`Core::deliver`](super::Core::deliver)
/// or [`Core::drop`](super::Core::drop).
#[derive(Debug)]
#[must_use = "a packet ends in `deliver` or `drop`"]
pub struct Pkt(pub(super) u32);

/// The packets under way, in places that are used again.
#[derive(Debug, Default)]
pub(super) struct Slab {
    packets: Vec<Packet>,
    /// When each was taken by the queue in which it waits; kept for queues that ask.
    queued_at: Vec<Instant>,
    free: Vec<u32>,
}

impl Slab {
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> Pkt {
        if let Some(place) = self.free.pop() {
            self.packets[place as usize] = packet;
            Pkt(place)
        } else {
            self.packets.push(packet);
            self.queued_at.push(Instant::ZERO);
            Pkt((self.packets.len() - 1) as u32)
        }
    }

    /// Ends the packet's stay. Its value stays readable until the place is used again.
    #[inline]
    pub fn release(&mut self, pkt: Pkt) -> &Packet {
        self.free.push(pkt.0);
        &self.packets[pkt.0 as usize]
    }

    #[inline]
    pub fn get(&self, pkt: &Pkt) -> &Packet {
        &self.packets[pkt.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, pkt: &Pkt) -> &mut Packet {
        &mut self.packets[pkt.0 as usize]
    }

    pub fn queued_at(&self, pkt: &Pkt) -> Instant {
        self.queued_at[pkt.0 as usize]
    }

    pub fn set_queued_at(&mut self, pkt: &Pkt, at: Instant) {
        self.queued_at[pkt.0 as usize] = at;
    }

    /// How many packets are under way.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
