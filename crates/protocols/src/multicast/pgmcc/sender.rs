//! The sending end: a window to the acker, elections by every report, repairs.

use std::collections::VecDeque;

use crate::transport::half_connection::Outbox;
use crate::transport::tcp::rto::{RtoConfig, RtoEstimator};
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{
    Action, Address, Endpoint, EndpointContext, Header, Histogram, NodeId, Notice, Packet, PgmAck, PgmData, PgmHeader,
    PgmNak, PgmPath, PgmReport, Port, Probe, Socket, Timed, Variable,
};

use super::config::{Config, RttMode};
use super::deadlines::Deadlines;
use super::election::{Election, Outcome, Standing};
use super::element;
use super::flight::Flight;
use super::scoreboard::Scoreboard;
use super::sizes::NCF_BYTES;
use super::transmit_window::{Kept, TransmitWindow};
use super::window::{Feedback, Window};

/// Bytes of an SPM on the wire: 20 of IPv4, 16 of PGM, 20 of its own (RFC 3208 §8.1).
pub const SPM_BYTES: u32 = 56;

/// A loss rate of 1 as the fixed point of receivers has it.
const LOSS_ONE: f64 = 65_536.0;

/// After this number of timeouts in a row there is no acker any more (draft-ietf-rmt-bb-pgmcc-03 §2.7).
const TIMEOUTS_OF_AN_ACKER: u32 = 2;

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    config: Config,
    header: u32,
    connection: u32,
    number: u64,
    /// The number of the next data packet.
    next: u64,
    outbox: Outbox,
    window: Window,
    flight: Flight,
    scoreboard: Scoreboard,
    election: Election,
    rto: RtoEstimator,
    /// When the sender has waited too long for an ACK.
    deadline: Option<Instant>,
    timeouts_in_a_row: u32,
    /// The ends, in payload bytes, of packets of which it is not known what became of them.
    ends: VecDeque<u64>,
    transmit: TransmitWindow,
    confirmations: Confirmations,
    heartbeat: Heartbeat,
    tell_sent: bool,
    tell_acked: bool,
    tell_over: bool,
    /// Timeouts, window and packets in flight as shown last.
    shown: [f64; 3],
    counts: Counts,
    /// Round-trip times of ackers, ns.
    round_trips: Histogram,
}

#[derive(Debug, Default)]
struct Counts {
    timeouts: u64,
    stalls: u64,
    naks: u64,
    acks: u64,
    confirmations: u64,
    late_naks: u64,
    repairs: u64,
    repaired_bytes: u64,
    lost: u64,
    unknown: u64,
    old: u64,
}

/// NAKs that are to be confirmed, and those that were.
#[derive(Debug, Default)]
struct Confirmations {
    /// A confirmation that is younger than NAK_RPT_IVL holds for every NAK of its packet: a receiver that missed it repeats its NAK.
    recent: Deadlines<u64, ()>,
    /// Their destinations: the group, or the network element that asks.
    waiting: VecDeque<(u64, Option<Socket>)>,
}

/// Announces the last packet sent while nothing is sent (RFC 3208 §5.1.5, heartbeat SPMs).
#[derive(Debug, Default)]
struct Heartbeat {
    due: Option<Instant>,
    interval: Duration,
}

impl Sender {
    /// A sender at `seat`.
    pub fn new(config: &Config, seat: EndpointContext) -> Self {
        Self {
            seat,
            header: config.header.get() as u32,
            connection: 0,
            number: 0,
            next: 0,
            outbox: Outbox::new(config.segment.get() as u32, config.buffer as usize),
            window: Window::new(config.ssthresh, config.token_mode, config.cut_again),
            flight: Flight::default(),
            scoreboard: Scoreboard::default(),
            election: Election::new(config.c, config.model),
            rto: RtoEstimator::new(RtoConfig::new(&config.rto())),
            deadline: None,
            timeouts_in_a_row: 0,
            ends: VecDeque::new(),
            transmit: TransmitWindow::new(config.transmit_window),
            confirmations: Confirmations::default(),
            heartbeat: Heartbeat::default(),
            tell_sent: false,
            tell_acked: false,
            tell_over: false,
            shown: [0.0, 1.0, 0.0],
            counts: Counts::default(),
            round_trips: Histogram::default(),
            config: config.clone(),
        }
    }

    /// The last number sent.
    fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// A receiver says how it is. Whether that makes it the acker, and gives its first round-trip time.
    fn on_report(&mut self, now: Instant, report: &PgmReport) -> bool {
        let age = now.since(report.echo);
        let round_trip = match self.config.rtt_mode {
            RttMode::Packets => self.last().saturating_sub(report.last_seq) as f64,
            RttMode::Time => age.as_secs_f64(),
        };
        let standing = Standing { round_trip, loss: f64::from(report.loss) / LOSS_ONE };
        match self.election.on_report(report.receiver, standing) {
            Outcome::Acker | Outcome::Other => return false,
            Outcome::Elected => {
                // Packets sent without an acker, or to one that is gone, will not be acknowledged.
                self.forget();
                self.window.on_election();
                self.deadline = None;
                self.follow(now, age);
            }
            Outcome::Switched => self.follow(now, age),
        }
        true
    }

    /// Measures a new acker's round-trip time (draft-ietf-rmt-bb-pgmcc-03 §2.7).
    fn follow(&mut self, now: Instant, round_trip: Duration) {
        self.rto = RtoEstimator::new(RtoConfig::new(&self.config.rto()));
        self.rto.on_sample(round_trip, true);
        self.timeouts_in_a_row = 0;
        self.deadline = self.deadline.map(|_| now + self.rto.rto());
    }

    fn on_ack(&mut self, now: Instant, ack: &PgmAck) {
        self.counts.acks += 1;
        let report = &ack.report;
        // The window is the acker's; without one, the next receiver to report becomes it (draft-ietf-rmt-bb-pgmcc-03 §3).
        let of_acker = self.election.acker().map_or(!ack.leaving, |acker| acker == report.receiver);
        let is_measured = !ack.leaving && self.on_report(now, report);
        let mut known = ack.mask;
        if of_acker {
            let reported = self.scoreboard.on_ack(report.last_seq, ack.mask);
            let highest = u64::from(reported.lost.trailing_zeros());
            let lost = (reported.lost != 0).then(|| report.last_seq - highest);
            let feedback = Feedback { seq: ack.seq, acked: reported.acked.count_ones(), lost };
            self.window.on_ack(feedback, self.last());
            self.counts.lost += u64::from(reported.lost.count_ones());
            known |= reported.lost;
        }
        self.counts.unknown += u64::from(self.flight.on_ack(report.last_seq, known));
        self.resolve();
        self.timeouts_in_a_row = 0;
        if self.election.acker() == Some(report.receiver) {
            if ack.leaving {
                // The next packet elects another (draft-ietf-rmt-bb-pgmcc-03 §2.3.2).
                self.election.dismiss();
                self.forget();
                self.window.on_vacancy();
            } else {
                let age = now.since(report.echo);
                if !is_measured {
                    self.rto.on_sample(age, true);
                }
                self.round_trips.add(age.as_nanos());
            }
        }
        self.deadline = self.flight.has_data().then(|| now + self.rto.rto());
    }

    fn on_nak(&mut self, now: Instant, nak: &PgmNak, from: Socket) {
        self.counts.naks += 1;
        self.on_report(now, &nak.report);
        let Some(seq) = nak.missing.filter(|seq| *seq < self.next) else { return };
        self.confirmations.add(now, seq, self.config.network_elements.then_some(from), self.config.repeat());
        // A receiver that asks while a repair is under way asks again if the repair does not come.
        if self.config.reliable && !self.flight.repairs(seq) && !self.transmit.want(seq) {
            self.counts.late_naks += 1;
        }
    }

    /// F := 0: packets sent so far are asked for no more.
    fn forget(&mut self) {
        self.flight.clear();
        self.scoreboard.forget(self.next);
        self.resolve();
    }

    /// Counts the bytes of packets whose fate is known, or will never be reported.
    #[inline]
    fn resolve(&mut self) {
        let first = self.flight.first().unwrap_or(self.next);
        let mut acked = None;
        while self.ends.len() as u64 > self.next - first {
            acked = self.ends.pop_front();
        }
        if let Some(bytes) = acked {
            self.outbox.on_acked(bytes);
            self.tell_acked = self.seat.hears.acked;
        }
    }

    fn on_expiry(&mut self) {
        self.deadline = None;
        self.counts.timeouts += 1;
        self.counts.stalls += u64::from(!self.flight.has_data());
        self.window.on_timeout();
        self.forget();
        self.rto.back_off();
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row == TIMEOUTS_OF_AN_ACKER {
            self.timeouts_in_a_row = 0;
            self.election.dismiss();
        }
        // Unreliable data whose end was not acknowledged are over.
        if !self.config.reliable && self.outbox.give_up() {
            self.tell_over = self.seat.hears.received;
        }
    }

    /// With literal tokens nothing may be in flight and still nothing may be sent: only a timeout helps.
    fn arm(&mut self, now: Instant) {
        let waits = (!self.outbox.is_empty() || self.transmit.peek().is_some())
            && self.window.tokens(self.flight.count()) < 1.0;
        if self.deadline.is_none() && (self.flight.has_data() || (waits && self.flight.count() == 0)) {
            self.deadline = Some(now + self.rto.rto());
        }
    }

    /// Writes a packet to the group.
    fn write(&mut self, packet: &mut Packet, size: u32, header: PgmHeader) -> Option<Action> {
        self.number += 1;
        *packet = self.seat.packet(self.connection, self.number, size, Header::Pgm(header));
        Some(Action::Send)
    }

    fn data(&self, now: Instant, seq: u64, kept: Kept) -> PgmData {
        PgmData {
            seq,
            acker: self.election.acker(),
            sent_at: now,
            trail: if self.config.reliable { self.transmit.trail() } else { self.next },
            payload: kept.payload,
            end: kept.end,
            loss_indicated: false,
        }
    }

    fn write_repair(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let (seq, kept) = self.transmit.peek()?;
        self.transmit.pop();
        // Repairs are not acknowledged. One counts as in flight for a round-trip time.
        let round_trip = self.rto.srtt().unwrap_or(self.config.rto_initial);
        self.flight.send_repair(seq, self.flight.landing(now, round_trip));
        self.window.on_send();
        self.counts.repairs += 1;
        self.counts.repaired_bytes += u64::from(kept.payload);
        let data = self.data(now, seq, kept);
        let action = self.write(packet, kept.payload + self.header, PgmHeader::Repair(data));
        if self.config.network_elements {
            packet.to = Address::Node(self.seat.local.node);
            packet.to_port = element::PORT;
        }
        action
    }

    fn write_data(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let payload = self.outbox.peek()?;
        self.outbox.send(payload);
        let seq = self.next;
        self.next += 1;
        let kept = Kept { payload, end: self.outbox.end() };
        if self.config.reliable {
            self.transmit.keep(kept);
            self.heartbeat = Heartbeat { due: Some(now + self.config.ihb_min), interval: self.config.ihb_min };
        }
        self.ends.push_back(kept.end);
        self.flight.send(seq);
        self.window.on_send();
        self.arm(now);
        self.tell_sent = self.seat.hears.sent;
        let data = self.data(now, seq, kept);
        self.write(packet, payload + self.header, PgmHeader::Data(data))
    }

    /// The next of the variables that has changed.
    fn show(&mut self) -> Option<Action> {
        let values = [self.counts.timeouts as f64, self.window.size(), f64::from(self.flight.count())];
        let names = [Variable::Timeouts, Variable::Cwnd, Variable::InFlight];
        let changed = (0..values.len()).find(|&n| self.shown[n] != values[n])?;
        self.shown[changed] = values[changed];
        Some(Action::Observe(names[changed], values[changed]))
    }

    /// Forgets the connection; totals stay.
    fn reset(&mut self) {
        self.connection += 1;
        self.next = 0;
        self.outbox.reset();
        self.window = Window::new(self.config.ssthresh, self.config.token_mode, self.config.cut_again);
        self.flight = Flight::default();
        self.scoreboard = Scoreboard::default();
        self.election.dismiss();
        self.rto = RtoEstimator::new(RtoConfig::new(&self.config.rto()));
        (self.deadline, self.timeouts_in_a_row) = (None, 0);
        self.ends.clear();
        self.transmit.clear();
        self.confirmations = Confirmations::default();
        self.heartbeat = Heartbeat::default();
        (self.tell_sent, self.tell_acked, self.tell_over) = (false, false, false);
    }
}

impl Confirmations {
    fn add(&mut self, now: Instant, seq: u64, element: Option<Socket>, repeat: Duration) {
        if element.is_none() {
            while self.recent.pop_due(now).is_some() {}
            if self.recent.contains(seq) {
                return;
            }
            self.recent.insert(seq, now + repeat, ());
        }
        self.waiting.push_back((seq, element));
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.flight.land_repairs(now);
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.on_expiry();
        }
        self.arm(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        // A heartbeat that is due is sent when it is polled.
        [self.deadline, self.flight.next_landing(), self.heartbeat.due].into_iter().flatten().min()
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Pgm(header) = &packet.header else { return };
        if packet.connection != self.connection {
            self.counts.old += 1;
            return;
        }
        self.flight.land_repairs(now);
        match header {
            PgmHeader::Ack(ack) => self.on_ack(now, ack),
            PgmHeader::Nak(nak) => self.on_nak(now, nak, packet.from),
            _ => {}
        }
        self.arm(now);
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Write(bytes) => {
                let drops = self.outbox.write(bytes);
                self.tell_sent |= drops && self.seat.hears.sent;
            }
            Notice::Close => self.outbox.close(),
            Notice::Reset => self.reset(),
            _ => {}
        }
        self.arm(now);
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if self.seat.observed
            && let Some(action) = self.show()
        {
            return Some(action);
        }
        if let Some((seq, element)) = self.confirmations.waiting.pop_front() {
            self.counts.confirmations += 1;
            let action = self.write(packet, NCF_BYTES, PgmHeader::Confirmation(seq));
            if let Some(element) = element {
                (packet.to, packet.to_port) = (Address::Node(element.node), element.port);
            }
            return action;
        }
        if self.heartbeat.due.is_some_and(|due| due <= now) {
            self.heartbeat.interval = (self.heartbeat.interval * 2).min(self.config.ihb_max);
            self.heartbeat.due = Some(now + self.heartbeat.interval);
            let path = PgmPath { trail: self.transmit.trail(), next: self.next };
            return self.write(packet, SPM_BYTES, PgmHeader::Path(path));
        }
        // Without an acker one packet at a time is in flight: none is acknowledged, each asks for an election.
        let elects = self.election.acker().is_none();
        if self.window.tokens(self.flight.count()) >= 1.0 && !(elects && self.flight.count() > 0) {
            // Repairs come first, but only data are acknowledged: without any in flight nothing would open the window.
            let action = if self.flight.has_data() {
                self.write_repair(now, packet).or_else(|| self.write_data(now, packet))
            } else {
                self.write_data(now, packet).or_else(|| self.write_repair(now, packet))
            };
            if action.is_some() {
                return action;
            }
        }
        if std::mem::take(&mut self.tell_sent) {
            return Some(Action::Tell(Notice::Sent(self.outbox.end())));
        }
        while let Some(lost) = self.outbox.take_lost() {
            if self.seat.hears.lost {
                return Some(Action::Tell(lost));
            }
        }
        if std::mem::take(&mut self.tell_over) {
            return Some(Action::Tell(Notice::Received(self.outbox.end())));
        }
        std::mem::take(&mut self.tell_acked).then(|| Action::Tell(Notice::Acked(self.outbox.acked())))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (counts, in_flight) = (&self.counts, self.flight.count());
        self.outbox.sample(probe);
        probe.value("retransmitted_packets", counts.repairs as f64);
        probe.value("retransmitted_bytes", counts.repaired_bytes as f64);
        probe.value("cwnd_packets", self.window.size());
        probe.value("ssthresh_packets", f64::from(self.config.ssthresh));
        probe.value("in_flight_packets", f64::from(in_flight));
        probe.value("tokens", self.window.tokens(in_flight));
        if let Some(NodeId(acker)) = self.election.acker() {
            probe.value("acker", f64::from(acker));
        }
        probe.value("acker_changes", self.election.changes() as f64);
        probe.value("window_cuts", self.window.cuts() as f64);
        probe.value("timeouts", counts.timeouts as f64);
        probe.value("stalls", counts.stalls as f64);
        probe.value("lost_packets", counts.lost as f64);
        probe.value("unknown_packets", counts.unknown as f64);
        probe.value("acks", counts.acks as f64);
        probe.value("naks", counts.naks as f64);
        probe.value("late_naks", counts.late_naks as f64);
        probe.value("confirmations", counts.confirmations as f64);
        if let Some(srtt) = self.rto.srtt() {
            probe.value("srtt_ms", srtt.as_secs_f64() * 1e3);
        }
        probe.value("rto_ms", self.rto.rto().as_secs_f64() * 1e3);
        probe.value("old_connection_packets", counts.old as f64);
        probe.distribution("rtt_ms", 1e-6, &self.round_trips);
    }
}

#[cfg(test)]
mod tests;
