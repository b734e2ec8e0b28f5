//! A queue discipline in a crate of its own: a FIFO that drops, when it is asked, packets that have waited too long.

use std::collections::VecDeque;

use lasthop_core::engine::Duration;
use lasthop_core::net::discipline::{Backlog, QueueConfig, QueueDiscipline, Site};
use lasthop_core::net::transmitter::Queue;
use lasthop_core::net::{Cause, Core, Pkt, Place, Timed};

/// The parameters.
pub struct Deadline {
    /// The longest wait of a packet that is sent.
    pub most: Duration,
}

impl QueueConfig for Deadline {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::Asked(Box::new(Fifo { most: self.most, place: site.place, packets: VecDeque::new(), bytes: 0 }))
    }
}

struct Fifo {
    most: Duration,
    place: Place,
    packets: VecDeque<Pkt>,
    bytes: u64,
}

impl Fifo {
    fn pop(&mut self, core: &Core) -> Option<Pkt> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(core.packet(&packet).size);
        Some(packet)
    }
}

impl Timed for Fifo {}

impl QueueDiscipline for Fifo {
    fn enqueue(&mut self, core: &mut Core, packet: Pkt) {
        core.note_queued(&packet);
        self.bytes += u64::from(core.packet(&packet).size);
        self.packets.push_back(packet);
    }

    fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        loop {
            let packet = self.pop(core)?;
            if core.now().since(core.queued_at(&packet)) <= self.most {
                return Some(packet);
            }
            core.drop(packet, self.place, Cause::Overflow);
        }
    }

    fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.pop(core)
    }

    fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        self.bytes += u64::from(core.packet(&packet).size);
        self.packets.push_front(packet);
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}
