//! The queue of a mobile, and how it is cut into blocks: packets are split across blocks and follow each other in them without headers, and
//! arrive with their last byte.
//!
//! At most one block of a mobile is under way. One that is in error is the next to be sent, so the order is kept.

use std::collections::VecDeque;

use lasthop_net::engine::Instant;
use lasthop_net::net::discipline::{Backlog, QueueDiscipline};
use lasthop_net::net::observe::Probe;
use lasthop_net::net::sparing::Sparing;
use lasthop_net::net::{Core, Pkt};

/// The buffer of a mobile at its base station.
pub struct Buffer {
    queue: Sparing,
    /// Packets taken from the queue that have not come, in order.
    taken: VecDeque<Pkt>,
    taken_bytes: u64,
    /// Bytes of the first one that have come.
    done: u64,
    /// Packets that the queue dropped, when they came or when it was their turn, since this was last asked.
    dropped: u64,
}

impl Buffer {
    /// An empty one in front of which `queue` keeps and drops.
    pub fn new(queue: Box<dyn QueueDiscipline>) -> Self {
        Self { queue: Sparing::new(queue), taken: VecDeque::new(), taken_bytes: 0, done: 0, dropped: 0 }
    }

    /// Takes a packet, or has the queue end it.
    pub fn accept(&mut self, core: &mut Core, pkt: Pkt) {
        core.note_queued(&pkt);
        let before = core.counters().dropped;
        // Packets not received yet still take room.
        self.queue.discipline.on_held(Backlog { packets: self.taken.len() as u64, bytes: self.taken_bytes });
        self.queue.accept(core, pkt);
        self.dropped += core.counters().dropped - before;
        self.take_first(core);
    }

    /// Has a packet in service, if the queue gives one.
    pub fn take_first(&mut self, core: &mut Core) {
        if self.taken.is_empty() {
            self.take(core);
        }
    }

    fn take(&mut self, core: &mut Core) -> bool {
        let before = core.counters().dropped;
        let next = self.queue.dequeue(core);
        self.dropped += core.counters().dropped - before;
        let Some(pkt) = next else { return false };
        self.taken_bytes += u64::from(core.packet(&pkt).size);
        self.taken.push_back(pkt);
        true
    }

    /// How many packets its queue has dropped since this was last asked.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// How many bytes wait to be sent, or sent again.
    pub fn waiting(&self) -> u64 {
        if self.taken.is_empty() { 0 } else { self.taken_bytes - self.done + self.queue.backlog().bytes }
    }

    /// How many bytes a block of at most `most` bytes takes.
    pub fn fill(&mut self, core: &mut Core, most: u32) -> u32 {
        while self.taken_bytes - self.done < u64::from(most) && self.take(core) {}
        u64::from(most).min(self.taken_bytes - self.done) as u32
    }

    /// The next `bytes` bytes have come: gives the packets that are complete with them.
    pub fn on_received(&mut self, core: &mut Core, bytes: u32, mut complete: impl FnMut(&mut Core, Pkt)) {
        self.done += u64::from(bytes);
        while let Some(first) = self.taken.front() {
            let size = u64::from(core.packet(first).size);
            if self.done < size {
                break;
            }
            self.done -= size;
            self.taken_bytes -= size;
            if let Some(pkt) = self.taken.pop_front() {
                complete(core, pkt);
            }
        }
        self.take_first(core);
    }

    /// The next `bytes` bytes are given up: gives the packets of which they were a part.
    pub fn on_given_up(&mut self, core: &mut Core, bytes: u32, mut lost: impl FnMut(&mut Core, Pkt)) {
        let end = self.done + u64::from(bytes);
        let mut given_up = 0;
        while given_up < end
            && let Some(pkt) = self.taken.pop_front()
        {
            given_up += u64::from(core.packet(&pkt).size);
            lost(core, pkt);
        }
        self.taken_bytes -= given_up;
        self.done = 0;
        self.take_first(core);
    }

    /// When the packet came that has waited longest.
    pub fn oldest(&self, core: &Core) -> Option<Instant> {
        self.taken.front().map(|pkt| core.queued_at(pkt))
    }

    /// What it holds.
    pub fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes } = self.queue.backlog();
        Backlog { packets: packets + self.taken.len() as u64, bytes: bytes + self.taken_bytes - self.done }
    }

    /// The queue discipline's state.
    pub fn sample(&self, probe: &mut dyn Probe) {
        self.queue.discipline.sample(probe);
    }

    /// The queue discipline.
    pub fn queue(&mut self) -> &mut dyn QueueDiscipline {
        &mut *self.queue.discipline
    }
}
