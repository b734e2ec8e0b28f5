//! The interface of queue disciplines: a discipline belongs to one transmitter of a medium, and decides which packets are kept, marked or
//! dropped and which leaves next.

use std::ops::Add;

use crate::engine::units::Amount;
use crate::engine::{BitRate, Duration, Fault, Instant, Streams};
use crate::profile::Profile;

use super::core::Core;
use super::machine::Timed;
use super::observe::{Place, Probe};
use super::order::{Answer, Command};
use super::packet::Packet;
use super::slab::Pkt;
use super::transmitter::Queue;

/// Decides which packets are kept, marked, rewritten or dropped, and which leaves next.
pub trait QueueDiscipline: Timed {
    /// Takes a packet: keeps it, or ends it with [`Core::drop`].
    fn enqueue(&mut self, core: &mut Core, packet: Pkt);
    /// The packet that leaves next. `None` with a backlog means: not yet; then
    /// [`Timed::next_timeout`] says when to ask again.
    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt>;
    /// Gives up a packet, whether or not its time has come: the queue is being emptied.
    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.dequeue(core)
    }
    /// Takes back, at its head, a packet that had left: it is exempt from the limit but counts for later arrivals. Several come last one
    /// first.
    fn put_back(&mut self, core: &mut Core, packet: Pkt);
    /// The packet in service is no longer: it was taken out of it, or another access sends it.
    fn on_interrupted(&mut self) {}
    /// A part of the packets that have left is still at the transmitter and takes room, as where blocks are retransmitted. Queues with one
    /// limit for all they hold count it on arrivals. Where classes have limits of their own it counts for none of them.
    fn on_held(&mut self, _held: Backlog) {}
    /// A packet came in over the interface whose outgoing side this is.
    fn on_return(&mut self, _now: Instant, _packet: &mut Packet) {}
    /// The rate of the transmitter is, from now on, this one.
    fn on_capacity(&mut self, _now: Instant, _rate: BitRate) {}
    /// A machine of its own node asks something of it.
    fn on_order(&mut self, _now: Instant, _command: &Command) -> Answer {
        Answer::Unknown
    }
    /// Packets and bytes waiting.
    fn backlog(&self) -> Backlog;
    /// Its present state, beyond the backlog.
    fn sample(&self, _probe: &mut dyn Probe) {}
}

/// The parameters of a queue discipline.
pub trait QueueConfig: Send + Sync {
    /// The queue of a transmitter.
    fn build(&self, site: &Site<'_>) -> Queue;

    /// Whether its parameters make sense together.
    ///
    /// # Errors
    /// The first that does not.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// The transmitter for which a queue is built.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Its name in results, which also names random streams.
    pub name: &'a str,
    /// Where its drops are counted.
    pub place: Place,
    /// Its rate at the start.
    pub rate: BitRate,
    /// Its propagation delay at the start.
    pub delay: Duration,
    /// The profile of the scenario.
    pub profile: Profile,
    /// The run's random streams.
    pub streams: &'a Streams,
}

/// Packets and bytes waiting in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Whether one more packet, of this size, would exceed `limit`.
    #[inline]
    pub fn is_full(self, limit: Amount, size: u32) -> bool {
        match limit {
            Amount::Packets(most) => self.packets >= most,
            Amount::Bytes(most) => self.bytes + u64::from(size) > most.get(),
        }
    }
}

impl Add for Backlog {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}
