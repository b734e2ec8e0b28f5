//! One end of a terminal's bearer: its RLC entity, and the packets that it took to send.

use std::collections::VecDeque;

use crate::engine::Instant;
use crate::net::{Core, Histogram, Pkt, Place, Probe, What};
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
    /// What former entities counted.
    former: Vec<(&'static str, f64)>,
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
            former: Vec::new(),
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

    /// A new entity takes the place of the present one, which forgets what it had: gives the packets that have not come, in
    /// their order.
    pub fn begin_anew(&mut self, arq: Box<dyn LinkArq>) -> Vec<Pkt> {
        let mut counted = Counted { former: &mut self.former };
        self.arq.sample(&mut counted);
        self.arq = arq;
        self.first = 0;
        self.packets.drain(..).filter_map(|(_, pkt)| pkt).collect()
    }

    /// Shows what its entity knows, and what its former ones counted.
    pub fn sample(&self, probe: &mut dyn Probe) {
        if self.former.is_empty() {
            return self.arq.sample(probe);
        }
        self.arq.sample(&mut Added { former: &self.former, probe });
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

/// Notes what an entity counted that ends. What waits in it is no count.
struct Counted<'a> {
    former: &'a mut Vec<(&'static str, f64)>,
}

impl Probe for Counted<'_> {
    fn part(&mut self, _what: What, _name: &str) {}

    fn value(&mut self, name: &'static str, value: f64) {
        if name.ends_with("_bytes") {
            return;
        }
        match self.former.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += value,
            None => self.former.push((name, value)),
        }
    }

    fn distribution(&mut self, _name: &'static str, _scale: f64, _histogram: &Histogram) {}
}

/// Shows what an entity knows with what former ones counted added.
struct Added<'a> {
    former: &'a [(&'static str, f64)],
    probe: &'a mut dyn Probe,
}

impl Probe for Added<'_> {
    fn part(&mut self, what: What, name: &str) {
        self.probe.part(what, name);
    }

    fn value(&mut self, name: &'static str, value: f64) {
        let former = self.former.iter().find(|(other, _)| *other == name).map_or(0.0, |(_, sum)| *sum);
        self.probe.value(name, value + former);
    }

    fn distribution(&mut self, name: &'static str, scale: f64, histogram: &Histogram) {
        self.probe.distribution(name, scale, histogram);
    }
}
