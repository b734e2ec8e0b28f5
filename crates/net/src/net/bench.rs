//! A bench on which disciplines are tried without a link, for tests of this crate and of others.

use super::core::Core;
use super::discipline::{QueueDiscipline, Site};
use super::dscp::Dscp;
use super::observe::{Cause, Place};
use super::packet::{Address, FlowId, NodeId, Packet, Socket};
use super::slab::Pkt;
use crate::engine::{BitRate, Duration, Instant, Streams};
use crate::profile::Profile;

/// A clock, a place for drops, and one for what left.
pub struct Bench {
    /// The network's core.
    pub core: Core,
    streams: Streams,
}

/// Some packet.
pub fn any_packet() -> Packet {
    Packet {
        from: Socket { node: NodeId(0), port: 1 },
        to: Address::Node(NodeId(1)),
        to_port: 1,
        size: 1000,
        flow: FlowId(0),
        number: 1,
        ..Packet::vacant()
    }
}

impl Core {
    /// Sends `packet` on its way.
    pub fn insert(&mut self, packet: Packet) -> Pkt {
        *self.vacant() = packet;
        self.send_vacant()
    }

    /// The present, and the cause of what happens, are this.
    pub fn set_present(&mut self, now: Instant, since: Instant) {
        self.set_clock(now, since);
    }
}

/// A packet of a flow.
pub fn packet(flow: u32, size: u32, dscp: Dscp) -> Packet {
    Packet { flow: FlowId(flow), size, dscp: dscp.value(), ..Packet::vacant() }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// One at time 0.
    pub fn new() -> Self {
        let mut core = Core::new(1);
        core.place("queue");
        core.place("left");
        Self { core, streams: Streams::new(1) }
    }

    /// A place for a queue in front of this rate.
    pub fn site(&self, rate: BitRate) -> Site<'_> {
        let (place, delay) = (Place(0), Duration::ZERO);
        Site { name: "queue", place, rate, delay, profile: Profile::Rfc, streams: &self.streams }
    }

    /// It is this late.
    pub fn at(&mut self, seconds: f64) {
        let at = Instant::from_secs_f64(seconds);
        self.core.set_clock(at, at);
    }

    /// A packet comes.
    pub fn enqueue(&mut self, queue: &mut dyn QueueDiscipline, packet: Packet) {
        let pkt = self.core.insert(packet);
        queue.enqueue(&mut self.core, pkt);
    }

    /// Flow, size and code point of the packet that leaves next.
    pub fn take(&mut self, queue: &mut dyn QueueDiscipline) -> Option<(u32, u32, u8)> {
        let pkt = queue.dequeue(&mut self.core)?;
        let Packet { flow, size, dscp, .. } = *self.core.deliver(pkt);
        Some((flow.0, size, dscp))
    }

    /// All that leaves now.
    pub fn empty(&mut self, queue: &mut dyn QueueDiscipline) -> Vec<(u32, u32, u8)> {
        std::iter::from_fn(|| self.take(queue)).collect()
    }

    /// Packets dropped for this cause.
    pub fn drops(&self, cause: Cause) -> u64 {
        let counts = self.core.counters().drops.iter();
        counts.filter(|((_, c, _), _)| *c == cause).map(|(_, count)| count.packets).sum()
    }
}
