//! One end of a terminal's bearer: its PDCP and RLC entities, and the packets that they took to send.

use std::collections::VecDeque;

use crate::radio::arq::LinkArq;
use crate::radio::loss_indication::Markers;
use crate::radio::pdcp::{self, Coded};
use crate::radio::rlc::Pdu;
use lasthop_net::engine::Instant;
use lasthop_net::net::indication::Marker;
use lasthop_net::net::{Core, Histogram, Pkt, Place, Probe, What};

/// One end of a bearer, which sends in one direction.
pub struct Sender {
    /// Segments what it sends, and puts together what the other end sends.
    pub arq: Box<dyn LinkArq>,
    /// Compresses headers of what it sends, and decompresses those of what the other end sends.
    pub pdcp: Option<Box<pdcp::Entity>>,
    /// The contents of the SDUs that the far end has neither delivered nor lost, the oldest first, with their arrival times.
    sdus: VecDeque<(Instant, Option<Sdu>)>,
    /// The number of the oldest.
    first: u64,
    /// The clock of its intervals.
    pub clock: u16,
    /// It hands nothing down before this instant: an interval of its former channel is under way.
    pub not_before: Instant,
    /// The interval for which it last handed PDUs down has ended one lead after this instant.
    pub busy_until: Instant,
    /// Whether its clock knows that it has something to send.
    pub ticking: bool,
    /// Where its packets end that are not delivered.
    pub place: Place,
    /// Sets the packet-loss indication in packets that RLC takes.
    pub markers: Option<Markers>,
    /// Packets that the far end delivered, and their bytes.
    pub delivered: [u64; 2],
    /// What former entities counted.
    former: Vec<(&'static str, f64)>,
}

/// The content of an SDU.
pub enum Sdu {
    /// A packet, with how its header is sent if that is compressed.
    Packet(Pkt, Option<Box<Coded>>),
    /// The far end is asked for a header of this context.
    Request(u8),
}

impl Sender {
    /// One with nothing to send, and the clock of its first channel.
    pub fn new(arq: Box<dyn LinkArq>, pdcp: Option<Box<pdcp::Entity>>, place: Place, clock: u16) -> Self {
        Self {
            arq,
            pdcp,
            sdus: VecDeque::new(),
            first: 0,
            clock,
            not_before: Instant::ZERO,
            busy_until: Instant::ZERO,
            ticking: false,
            place,
            markers: None,
            delivered: [0; 2],
            former: Vec::new(),
        }
    }

    /// The same, with a marker for each flow.
    #[must_use]
    pub fn marking(self, marker: Option<&Marker>) -> Self {
        Self { markers: marker.cloned().map(Markers::new), ..self }
    }

    /// Takes a packet, or gives it back if there is no room and it needs some.
    pub fn enqueue(&mut self, core: &mut Core, pkt: Pkt) -> Result<(), Pkt> {
        let (now, packet) = (core.now(), core.packet(&pkt));
        let coded = self.pdcp.as_ref().map(|pdcp| Box::new(pdcp.code(now, packet)));
        let bytes = coded.as_ref().map_or(packet.size, |coded| coded.bytes());
        if !self.arq.enqueue(now, bytes, packet.is_exempt()) {
            return Err(pkt);
        }
        if let (Some(pdcp), Some(coded)) = (&mut self.pdcp, &coded) {
            pdcp.sent(now, coded);
        }
        if let Some(markers) = &mut self.markers {
            markers.on_accept(core.packet_mut(&pkt), false);
        }
        self.sdus.push_back((now, Some(Sdu::Packet(pkt, coded))));
        Ok(())
    }

    /// The SDUs of exempt packets of which this PDU carries a part.
    fn exempt<'a>(&'a self, core: &'a Core, pdu: &Pdu) -> impl Iterator<Item = u64> + 'a {
        let carried = pdu.sdu..pdu.sdu + u64::from(pdu.ends) + u64::from(pdu.goes_on);
        carried.filter(|sdu| {
            let place = sdu.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
            let content = place.and_then(|place| self.sdus.get(place)).and_then(|(_, content)| content.as_ref());
            matches!(content, Some(Sdu::Packet(pkt, _)) if core.packet(pkt).is_exempt())
        })
    }

    /// Whether no loss model may lose this PDU.
    pub fn is_exempt(&self, core: &Core, pdu: &Pdu) -> bool {
        self.exempt(core, pdu).next().is_some()
    }

    /// Takes out the exempt packets of which a part was in a lost PDU, if RLC does not send that again.
    pub fn take_lost(&mut self, core: &Core, pdu: &Pdu) -> Vec<Pkt> {
        if self.arq.retransmits() {
            return Vec::new();
        }
        let lost: Vec<_> = self.exempt(core, pdu).collect();
        let packet = |sdu| match self.take(sdu) {
            Some(Sdu::Packet(pkt, _)) => Some(pkt),
            Some(Sdu::Request(_)) | None => None,
        };
        lost.into_iter().filter_map(packet).collect()
    }

    /// Asks the far end for a header of a context, if there is room.
    pub fn request(&mut self, now: Instant, cid: u8) {
        if let Some(pdcp) = &mut self.pdcp
            && self.arq.enqueue(now, pdcp::rfc2507::REQUEST_BYTES, false)
        {
            pdcp.sent_request();
            self.sdus.push_back((now, Some(Sdu::Request(cid))));
        }
    }

    /// The content of an SDU that its RLC has finished.
    pub fn take(&mut self, sdu: u64) -> Option<Sdu> {
        let place = usize::try_from(sdu.checked_sub(self.first)?).ok()?;
        let content = self.sdus.get_mut(place)?.1.take();
        while let Some((_, None)) = self.sdus.front() {
            self.sdus.pop_front();
            self.first += 1;
        }
        content
    }

    /// A new entity takes the place of the present one, which forgets what it had: gives the packets that have not come, in
    /// their order.
    pub fn begin_anew(&mut self, arq: Box<dyn LinkArq>) -> Vec<Pkt> {
        let mut counted = Counted { former: &mut self.former };
        self.arq.sample(&mut counted);
        self.arq = arq;
        self.first = 0;
        if let Some(pdcp) = &mut self.pdcp {
            pdcp.begin_anew();
        }
        if let Some(markers) = &mut self.markers {
            markers.begin_anew();
        }
        let packet = |(_, sdu)| match sdu {
            Some(Sdu::Packet(pkt, _)) => Some(pkt),
            Some(Sdu::Request(_)) | None => None,
        };
        self.sdus.drain(..).filter_map(packet).collect()
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

    /// When the packet came of which RLC would send something next, or the first that has not come to the far end. If it has none, but RLC has
    /// something to say to the far end: at the beginning.
    pub fn oldest(&self) -> Instant {
        let before = self.arq.next_sdu().map_or(0, |sdu| sdu.saturating_sub(self.first));
        let next = usize::try_from(before).ok().and_then(|place| self.sdus.get(place)).or_else(|| self.sdus.front());
        next.map_or(Instant::ZERO, |(came, _)| *came)
    }

    /// How many packets it holds.
    pub fn holds(&self) -> u64 {
        self.sdus.iter().filter(|(_, sdu)| matches!(sdu, Some(Sdu::Packet(..)))).count() as u64
    }
}

/// Notes the counts of an entity that ends. Its backlog is no count.
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

    fn wants(&self, name: &'static str) -> bool {
        self.probe.wants(name)
    }
}
