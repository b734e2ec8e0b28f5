//! One end of a terminal's bearer: its RLC entity, and the packets that it took to send.

use std::collections::VecDeque;

use crate::engine::Instant;
use crate::net::{Core, Pkt, Place};
use crate::radio::arq::LinkArq;

/// One end of a bearer, which sends in one direction.
pub struct Sender {
    /// Segments what it sends, and puts together what the other end sends.
    pub arq: Box<dyn LinkArq>,
    /// The packets of SDUs that the far end has neither delivered nor lost, the oldest first, with when
    /// they came.
    packets: VecDeque<(Instant, Option<Pkt>)>,
    /// The number of the oldest.
    first: u64,
    /// The clock of its intervals.
    pub clock: u8,
    /// It hands nothing down before this instant: an interval of its former channel is under way.
    pub not_before: Instant,
    /// Whether its clock knows that it has something to send.
    pub ticking: bool,
    /// Where its packets end that are not delivered.
    pub place: Place,
    /// Packets that the far end delivered, and their bytes.
    pub delivered: [u64; 2],
}

impl Sender {
    /// One with nothing to send, and the clock of its first channel.
    pub fn new(arq: Box<dyn LinkArq>, place: Place, clock: u8) -> Self {
        Self {
            arq,
            packets: VecDeque::new(),
            first: 0,
            clock,
            not_before: Instant::ZERO,
            ticking: false,
            place,
            delivered: [0; 2],
        }
    }

    /// Takes a packet of so many bytes, or gives it back if there is no room.
    pub fn enqueue(&mut self, now: Instant, pkt: Pkt, bytes: u32) -> Result<(), Pkt> {
        if !self.arq.enqueue(now, bytes) {
            return Err(pkt);
        }
        self.packets.push_back((now, Some(pkt)));
        Ok(())
    }

    /// The packet of an SDU, of which its RLC is done.
    pub fn take(&mut self, sdu: u64) -> Option<Pkt> {
        let place = usize::try_from(sdu.checked_sub(self.first)?).ok()?;
        let pkt = self.packets.get_mut(place)?.1.take();
        while let Some((_, None)) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        pkt
    }

    /// Counts a packet that the far end delivered.
    pub fn count(&mut self, core: &Core, pkt: &Pkt) {
        let [packets, bytes] = &mut self.delivered;
        *packets += 1;
        *bytes += u64::from(core.packet(pkt).size);
    }

    /// When the oldest of its packets came. If it has none, but only something to say to the far end: at
    /// the beginning.
    pub fn oldest(&self) -> Instant {
        self.packets.front().map_or(Instant::ZERO, |(came, _)| *came)
    }

    /// How many packets it holds.
    pub fn holds(&self) -> u64 {
        self.packets.iter().filter(|(_, pkt)| pkt.is_some()).count() as u64
    }
}
