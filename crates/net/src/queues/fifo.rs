//! Packets one behind the other, and how much of them may wait: what most disciplines hold.

use std::collections::VecDeque;

use crate::engine::units::Amount;
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::Backlog;

/// A line of packets with a limit. Its owner checks the limit, and drops.
pub struct Fifo {
    limit: Amount,
    /// A second limit.
    also: Option<Amount>,
    packets: VecDeque<Pkt>,
    bytes: u64,
    /// Packets that have left but still take room.
    held: Backlog,
}

impl Fifo {
    /// An empty line whose owner counts its packets with others: it has no limit of its own.
    pub fn unlimited() -> Self {
        Self::new(Amount::Packets(u64::MAX))
    }

    /// An empty line.
    pub fn new(limit: Amount) -> Self {
        Self::limited(limit, None)
    }

    /// An empty line with one limit or two.
    pub fn limited(limit: Amount, also: Option<Amount>) -> Self {
        Self { limit, also, packets: VecDeque::new(), bytes: 0, held: Backlog::default() }
    }

    /// Whether a packet of this size would exceed the limit.
    #[inline]
    pub fn is_full(&self, size: u32) -> bool {
        let there = self.backlog() + self.held;
        there.is_full(self.limit, size) || self.also.is_some_and(|limit| there.is_full(limit, size))
    }

    /// Sets the packets and bytes that have left but still take room.
    pub fn hold(&mut self, held: Backlog) {
        self.held = held;
    }

    /// Takes a packet of this size at the end.
    #[inline]
    pub fn push(&mut self, packet: Pkt, size: u32) {
        debug_assert!(!self.is_full(size), "what a queue takes finds room below its limit");
        self.push_exempt(packet, size);
    }

    /// Takes a packet of this size at the end, whatever the limit.
    #[inline]
    pub fn push_exempt(&mut self, packet: Pkt, size: u32) {
        self.bytes += u64::from(size);
        self.packets.push_back(packet);
    }

    /// Takes back, at the head, a packet that had left. It is exempt from the limit.
    pub fn put_back(&mut self, core: &Core, packet: Pkt) {
        self.bytes += u64::from(core.packet(&packet).size);
        self.packets.push_front(packet);
    }

    /// Gives the packet at the head.
    #[inline]
    pub fn pop(&mut self, core: &Core) -> Option<Pkt> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(core.packet(&packet).size);
        debug_assert_eq!(self.packets.is_empty(), self.bytes == 0, "an empty queue has no bytes");
        Some(packet)
    }

    /// The packet at the head.
    #[inline]
    pub fn front(&self) -> Option<&Pkt> {
        self.packets.front()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packets and bytes waiting.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::net::bench::{Bench, packet};
    use crate::net::dscp::Dscp;

    #[test]
    #[should_panic(expected = "below its limit")]
    fn its_law_refuses_what_is_above_the_limit() {
        let mut bench = Bench::new();
        let mut fifo = Fifo::new(Amount::Packets(2));
        for _ in 0..3 {
            let pkt = bench.core.copy_of(&packet(0, 100, Dscp::Be));
            fifo.push(pkt, 100);
        }
    }

    #[test]
    #[should_panic(expected = "an empty queue has no bytes")]
    fn its_law_refuses_a_size_that_changed_while_it_waited() {
        let mut bench = Bench::new();
        let mut fifo = Fifo::new(Amount::Packets(2));
        let pkt = bench.core.copy_of(&packet(0, 100, Dscp::Be));
        fifo.push(pkt, 101);
        fifo.pop(&bench.core);
    }
}
