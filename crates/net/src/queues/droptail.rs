//! DropTail: a FIFO with a limit, in packets or in bytes.
//!
//! A packet that arrives at a full queue is dropped, or, with `drop_front`, the one that has waited longest.
//! The packet in service does not count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::units::Amount;
use crate::net::Pkt;
use crate::net::core::Core;
use crate::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use crate::net::machine::Timed;
use crate::net::observe::{Cause, Place};
use crate::net::transmitter::Queue;

use super::fifo::Fifo;

/// A FIFO that drops at its tail (or at its head) when it is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much may wait, without the packet in service: `"100 packets"` or `"64 kB"`.
    pub limit: Amount,
    /// A second limit, which holds too: `"64 kB"` beside one in packets. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<Amount>,
    /// Drop the packet at the head instead of the arriving one.
    pub drop_front: bool,
}

impl Default for Config {
    fn default() -> Self {
        // 100 packets: the smallest of the defaults in use (ns-3's pfifo and Linux' txqueuelen
        // are 1000, ns-2's is 50); a sensible scenario states its own.
        Self { limit: Amount::Packets(100), also: None, drop_front: false }
    }
}

impl From<Amount> for Config {
    /// The FIFO with this limit that drops at its tail.
    fn from(limit: Amount) -> Self {
        Self { limit, ..Self::default() }
    }
}

impl QueueConfig for Config {
    fn build(&self, site: &Site<'_>) -> Queue {
        if self.drop_front || self.also.is_some() {
            Queue::Asked(Box::new(DropTail::new(self.clone(), site.place)))
        } else {
            Queue::Planned(self.limit)
        }
    }
}

/// The queue, as a discipline that is asked. With one limit and without `drop_front` a transmitter plans instead.
pub struct DropTail {
    drop_front: bool,
    place: Place,
    fifo: Fifo,
}

impl DropTail {
    /// An empty queue whose drops are counted at `place`.
    pub fn new(config: Config, place: Place) -> Self {
        Self { drop_front: config.drop_front, place, fifo: Fifo::limited(config.limit, config.also) }
    }
}

impl QueueDiscipline for DropTail {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        let size = core.packet(&packet).size;
        while self.fifo.is_full(size) {
            let oldest = if self.drop_front { self.fifo.pop(core) } else { None };
            match oldest {
                Some(oldest) => core.drop(oldest, self.place, Cause::Overflow),
                None => return core.drop(packet, self.place, Cause::Overflow),
            }
        }
        self.fifo.push(packet, size);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        self.fifo.pop(core)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.fifo.put_back(core, packet);
    }

    fn on_held(&mut self, held: Backlog) {
        self.fifo.hold(held);
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}

impl Timed for DropTail {}
