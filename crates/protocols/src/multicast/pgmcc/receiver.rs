//! The receiving end: it measures its loss rate, answers as the acker, and reports what it misses.

use crate::multicast::gaps::{Arrival, Blame, Classifier, Tracker};
use lasthop_net::engine::{Instant, Stream};
use lasthop_net::net::operations::Operations;
use lasthop_net::net::sequence::Sequence;
use lasthop_net::net::{
    Action, Address, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, PgmAck, PgmData, PgmElements,
    PgmHeader, PgmNak, PgmPath, PgmReport, Port, Probe, Socket, Timed,
};

use super::config::Config;
use super::element;
use super::loss_filter::LossFilter;
use super::naks::{Due, Naks};
use super::reception::Reception;
use super::sizes::NAK_BYTES;

/// Bytes of an ACK on the wire: a NAK's, and packet and bitmap.
pub const ACK_BYTES: u32 = 48;

/// How many packets of a gap are reported at most, the last ones.
const REPORTED_GAP: u64 = 1 << 16;

/// The receiving end.
pub struct Receiver {
    seat: EndpointContext,
    elements: PgmElements,
    /// Whether its node is a network element: NAKs go to it.
    by_elements: bool,
    classifier: Classifier,
    connection: u32,
    number: u64,
    tracker: Tracker,
    filter: LossFilter,
    /// Which of the last 32 packets have come; the highest is the lowest bit. A packet that the radio lost counts as come: it
    /// says nothing of congestion, and the sender would halve its window.
    mask: u32,
    /// When the highest packet was sent, and when it came.
    stamp: [Instant; 2],
    reception: Reception,
    /// Which packets came when they were sent first, for the table `flows`; the protocol does not read it.
    sequence: Sequence,
    /// All missing packets below have been asked for, if packets are sent again.
    known: u64,
    naks: Naks,
    /// When a report is due because there is no acker.
    dummy: Option<Instant>,
    /// No other such report is due before.
    next_dummy: Instant,
    is_acker: bool,
    ack: Option<u64>,
    leaves: Leaving,
    tell: bool,
    counts: Counts,
    /// One-way delays, ns.
    delays: Histogram,
}

/// Whether it is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    /// Since before the first packet.
    Member,
    /// Since some time; packets sent before do not count as missing.
    Joined,
    /// It says that it leaves.
    Leaves,
    /// No more.
    Left,
}

#[derive(Debug, Default)]
struct Counts {
    /// Data packets, sent again ones not counted.
    data: u64,
    /// Packet numbers that went through the filter.
    filtered: u64,
    repairs: u64,
    duplicates: u64,
    /// Payload handed on in earlier connections.
    bytes: u64,
    acks: u64,
    old: u64,
}

impl Receiver {
    /// A receiver at `seat`, which has drawn nothing from its stream.
    pub fn new(config: &Config, seat: EndpointContext, stream: Stream) -> Self {
        Self {
            seat,
            elements: config.elements(),
            by_elements: config.network_elements,
            classifier: config.classifier,
            connection: 0,
            number: 0,
            tracker: Tracker::new(config.classifier),
            filter: LossFilter::new(config.kappa),
            mask: 0,
            stamp: [Instant::ZERO; 2],
            reception: Reception::new(config.reliable),
            sequence: Sequence::default(),
            known: 0,
            naks: Naks::new(config, stream),
            dummy: None,
            next_dummy: Instant::ZERO,
            is_acker: false,
            ack: None,
            leaves: Leaving::Member,
            tell: false,
            counts: Counts::default(),
            delays: Histogram::default(),
        }
    }

    /// It leaves the group. The acker says so (draft-ietf-rmt-bb-pgmcc-03 §2.3.2).
    pub fn leave(&mut self) {
        self.naks.clear();
        self.dummy = None;
        self.leaves = if self.is_acker { Leaving::Leaves } else { Leaving::Left };
    }

    /// It joins the group now: it misses no packet before the first that comes.
    pub fn join(&mut self) {
        self.reset();
        self.leaves = Leaving::Joined;
    }

    /// Forgets the connection; totals stay.
    fn reset(&mut self) {
        self.counts.bytes += self.reception.bytes();
        self.tracker.restart();
        self.sequence.restart();
        self.filter.reset();
        self.reception = Reception::new(matches!(self.reception, Reception::Reliable(_)));
        self.known = 0;
        self.naks.clear();
        (self.dummy, self.is_acker, self.ack) = (None, false, None);
    }

    fn on_data(&mut self, now: Instant, data: &PgmData) {
        let begins = self.tracker.highest().is_none();
        if begins {
            self.sequence.begin_at(data.seq);
        }
        self.sequence.take(data.seq);
        if begins && self.leaves == Leaving::Joined {
            self.known = data.seq;
            if let Reception::Reliable(ordered) = &mut self.reception {
                ordered.begin_at(data.seq);
            }
        }
        let arrival = self.tracker.on_packet(data.seq, data.loss_indicated, false);
        if matches!(arrival, Arrival::Late { .. }) {
            self.naks.on_arrival(data.seq);
        } else {
            self.stamp = [data.sent_at, now];
        }
        self.measure(begins, data, arrival);
        self.counts.data += 1;
        self.miss(now, data, arrival);
        self.delays.add(now.since(data.sent_at).as_nanos());
        self.hand_on(data);
        self.heed_acker(now, data);
    }

    /// Loss rate and bitmap, packet by packet in order (draft-ietf-rmt-bb-pgmcc-03 §2.6, §2.1.2).
    #[inline]
    fn measure(&mut self, begins: bool, data: &PgmData, arrival: Arrival) {
        match arrival {
            Arrival::Next => {
                self.filter.take(false);
                self.counts.filtered += 1;
                // Packets sent before the first one received do not count as missing.
                self.mask = if begins { u32::MAX } else { self.mask << 1 | 1 };
            }
            Arrival::After(gap) => {
                let lost = gap.blame == Blame::Congestion;
                let missing = gap.next - gap.first;
                self.filter.take_run(lost, missing);
                self.filter.take(false);
                self.counts.filtered += missing + 1;
                let bits = if missing < 31 { self.mask << (missing + 1) } else { 0 };
                let between = if missing < 31 { (1 << (missing + 1)) - 2 } else { u32::MAX - 1 };
                self.mask = bits | if lost { 0 } else { between } | 1;
            }
            Arrival::Late { rejected, news } => {
                if news {
                    self.filter.take(true);
                    self.counts.filtered += 1;
                }
                // A copy that a base station had to ask for was lost by congestion, although it has come.
                let back = self.tracker.highest().map_or(0, |highest| highest - data.seq);
                if back < 32 {
                    let bit = 1 << back;
                    self.mask = if rejected { self.mask & !bit } else { self.mask | bit };
                }
            }
        }
    }

    /// Notes packets to be reported, or asked for again.
    #[inline]
    fn miss(&mut self, now: Instant, data: &PgmData, arrival: Arrival) {
        if matches!(self.reception, Reception::Reliable(_)) {
            self.heed_window(now, PgmPath { trail: data.trail, next: data.seq });
            self.known = self.known.max(data.seq + 1);
        } else if let Arrival::After(gap) = arrival
            && gap.blame == Blame::Congestion
        {
            for seq in gap.first.max(gap.next.saturating_sub(REPORTED_GAP))..gap.next {
                self.naks.miss(now, seq);
            }
        }
    }

    /// All packets below `next` were sent, and those from `trail` on can still be had.
    fn heed_window(&mut self, now: Instant, path: PgmPath) {
        let Reception::Reliable(ordered) = &mut self.reception else { return };
        let before = ordered.bytes();
        while self.naks.give_up_below(path.trail).is_some() {}
        ordered.give_up_below(path.trail);
        for seq in self.known.max(path.trail)..path.next {
            if ordered.misses(seq) {
                self.naks.miss(now, seq);
            }
        }
        self.known = self.known.max(path.next);
        self.tell |= self.seat.hears.received && ordered.bytes() > before;
    }

    /// The payload of a packet has come.
    #[inline]
    fn hand_on(&mut self, data: &PgmData) {
        let before = self.reception.told();
        if !self.reception.take(data.seq, data.payload, data.end) {
            self.counts.duplicates += 1;
        }
        self.tell |= self.seat.hears.received && self.reception.told() > before;
    }

    #[inline]
    fn heed_acker(&mut self, now: Instant, data: &PgmData) {
        self.is_acker = data.acker == Some(self.seat.local.node);
        if self.is_acker {
            self.ack = Some(data.seq);
        }
        if data.acker.is_some() {
            self.dummy = None;
        } else if self.dummy.is_none() && now >= self.next_dummy {
            self.dummy = Some(now + self.naks.draw());
        }
    }

    fn report(&self, now: Instant) -> PgmReport {
        let [sent, came] = self.stamp;
        PgmReport {
            receiver: self.seat.local.node,
            loss: self.filter.report(),
            last_seq: self.tracker.highest().unwrap_or(0),
            echo: sent + now.since(came),
        }
    }

    /// Writes a packet to the sender.
    fn write(&mut self, packet: &mut Packet, size: u32, header: PgmHeader) -> Option<Action> {
        self.number += 1;
        *packet = self.seat.packet(self.connection, self.number, size, Header::Pgm(header));
        Some(Action::Send)
    }

    fn write_nak(&mut self, now: Instant, packet: &mut Packet, missing: Option<u64>) -> Option<Action> {
        let Address::Node(node) = self.seat.remote else { return None };
        let source = Socket { node, port: self.seat.remote_port };
        let nak = PgmNak { report: self.report(now), missing, source, elements: self.elements };
        let action = self.write(packet, NAK_BYTES, PgmHeader::Nak(nak));
        if self.by_elements {
            packet.to = Address::Node(self.seat.local.node);
            packet.to_port = element::PORT;
        }
        action
    }
}

impl Timed for Receiver {
    fn next_timeout(&self) -> Option<Instant> {
        // Due actions are taken by `poll`.
        [self.naks.next_timeout(), self.dummy].into_iter().flatten().min()
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Pgm(header) = &packet.header else { return };
        if self.leaves == Leaving::Left {
            return;
        }
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                self.counts.old += 1;
                return;
            }
            self.connection = packet.connection;
            self.reset();
        }
        match header {
            PgmHeader::Data(data) => self.on_data(now, data),
            PgmHeader::Repair(data) => {
                self.counts.repairs += 1;
                self.naks.on_arrival(data.seq);
                self.hand_on(data);
            }
            PgmHeader::Confirmation(seq) => self.naks.on_confirmation(now, *seq),
            PgmHeader::Path(path) if self.leaves != Leaving::Joined || self.tracker.highest().is_some() => {
                self.heed_window(now, *path);
            }
            _ => {}
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        match notice {
            Notice::Membership(change) if change.joins => self.join(),
            Notice::Membership(_) => self.leave(),
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(seq) = self.ack.take() {
            self.counts.acks += 1;
            let ack = PgmAck { report: self.report(now), seq, mask: self.mask, leaving: false };
            return self.write(packet, ACK_BYTES, PgmHeader::Ack(ack));
        }
        if self.leaves == Leaving::Leaves {
            self.leaves = Leaving::Left;
            let report = self.report(now);
            let ack = PgmAck { report, seq: report.last_seq, mask: self.mask, leaving: true };
            return self.write(packet, ACK_BYTES, PgmHeader::Ack(ack));
        }
        if self.dummy.is_some_and(|due| due <= now) {
            (self.dummy, self.next_dummy) = (None, now + self.elements.repeat);
            self.naks.count_dummy();
            return self.write_nak(now, packet, None);
        }
        while let Some(due) = self.naks.poll(now) {
            match due {
                Due::Nak(seq) => return self.write_nak(now, packet, Some(seq)),
                Due::GivenUp(seq) => {
                    if let Reception::Reliable(ordered) = &mut self.reception {
                        let before = ordered.bytes();
                        ordered.give_up(seq);
                        self.tell |= self.seat.hears.received && ordered.bytes() > before;
                    }
                }
            }
        }
        std::mem::take(&mut self.tell).then(|| Action::Tell(Notice::Received(self.reception.told())))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let counts = &self.counts;
        probe.value("received_packets", (counts.data + counts.repairs) as f64);
        probe.value("received_bytes", (counts.bytes + self.reception.bytes()) as f64);
        probe.value("waiting_bytes", self.reception.waiting_bytes() as f64);
        probe.value("duplicate_packets", counts.duplicates as f64);
        probe.value("repairs", counts.repairs as f64);
        probe.value("loss_rate", self.filter.rate());
        self.sequence.sample(probe);
        self.tracker.sample(probe);
        let [sent, suppressed, given_up] = self.naks.counts();
        probe.value("acks", counts.acks as f64);
        probe.value("naks_sent", sent as f64);
        probe.value("naks_suppressed", suppressed as f64);
        probe.value("given_up_packets", given_up as f64);
        LossFilter::COST.times(counts.filtered).show_mean(probe, Operations::IN, counts.filtered);
        // One with the highest number; one more with the sign of a radio loss.
        probe.value("comparisons_in", if self.classifier == Classifier::All { 1.0 } else { 2.0 });
        probe.value("state_bytes", (STATE_BYTES + self.naks.pending() * PENDING_BYTES) as f64);
        probe.value("old_connection_packets", counts.old as f64);
        probe.distribution("delay_ms", 1e-6, &self.delays);
    }
}

/// The protocol's state of a connection: loss filter, highest number and the bits of lost packets, bitmap, time stamp and
/// when it came. The indication bit that a modified receiver remembers lies among the bits of the tracker.
const STATE_BYTES: usize =
    size_of::<LossFilter>() + size_of::<Tracker>() + size_of::<u32>() + size_of::<[Instant; 2]>();

/// What it keeps of a missing packet: its number, when something is due, and what.
const PENDING_BYTES: usize = 2 * (size_of::<u64>() + size_of::<Instant>()) + size_of::<u64>();

#[cfg(test)]
mod tests;
