//! A queue and, ahead of it, the packets that no queue may refuse.

use std::collections::VecDeque;

use super::core::Core;
use super::discipline::{Backlog, QueueDiscipline};
use super::slab::Pkt;

/// All that a transmitter has yet to send. Exempt packets stand in a line of their own and leave first: the discipline does not see them, so they
/// count for none of its limits, and it can neither drop nor hold them back.
pub struct Sparing {
    /// The discipline.
    pub discipline: Box<dyn QueueDiscipline>,
    /// The exempt packets, if there ever were any.
    ahead: Option<Box<Ahead>>,
}

#[derive(Default)]
struct Ahead {
    line: VecDeque<Pkt>,
    bytes: u64,
}

impl Sparing {
    /// Nothing waits in front of this discipline.
    pub fn new(discipline: Box<dyn QueueDiscipline>) -> Self {
        Self { discipline, ahead: None }
    }

    /// Takes a packet that has come.
    #[inline]
    pub fn accept(&mut self, core: &mut Core, packet: Pkt) {
        if core.packet(&packet).is_exempt() {
            self.ahead(core, &packet).line.push_back(packet);
        } else {
            self.discipline.enqueue(core, packet);
        }
    }

    /// The packet that leaves next, as of [`QueueDiscipline::dequeue`].
    #[inline]
    pub fn dequeue(&mut self, core: &mut Core) -> Option<Pkt> {
        self.first_ahead(core).or_else(|| self.discipline.dequeue(core))
    }

    /// Gives up a packet: all is being emptied.
    pub fn evict(&mut self, core: &mut Core) -> Option<Pkt> {
        self.first_ahead(core).or_else(|| self.discipline.evict(core))
    }

    /// Takes back, at its head, a packet that had left. Several come last one first.
    pub fn put_back(&mut self, core: &mut Core, packet: Pkt) {
        if core.packet(&packet).is_exempt() {
            self.ahead(core, &packet).line.push_front(packet);
        } else {
            self.discipline.put_back(core, packet);
        }
    }

    /// Packets and bytes waiting.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        let ahead = self.ahead.as_ref().map(|ahead| Backlog { packets: ahead.line.len() as u64, bytes: ahead.bytes });
        self.discipline.backlog() + ahead.unwrap_or_default()
    }

    /// The exempt packets, one of which this will be.
    #[cold]
    fn ahead(&mut self, core: &Core, packet: &Pkt) -> &mut Ahead {
        let ahead = self.ahead.get_or_insert_default();
        ahead.bytes += u64::from(core.packet(packet).size);
        ahead
    }

    #[inline]
    fn first_ahead(&mut self, core: &Core) -> Option<Pkt> {
        let ahead = self.ahead.as_mut()?;
        let packet = ahead.line.pop_front()?;
        ahead.bytes -= u64::from(core.packet(&packet).size);
        Some(packet)
    }
}
