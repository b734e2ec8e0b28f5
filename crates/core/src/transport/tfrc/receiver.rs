//! The receiving end of profile `rfc`, which may tell of handovers.

use crate::engine::{BitRate, Duration, FloatTime, Instant};
use crate::net::{
    Action, Direction, Ecn, Endpoint, Header, LinkNotice, Notice, Packet, Port, Probe, Seat, TfrcReport, Timed,
};

use super::config::Handover;
use super::meter::{Arrival, Meter};
use super::settings::{REPORT_BYTES, Rfc};

/// The receiving end.
pub struct Receiver {
    seat: Seat,
    meter: Meter,
    handover: Handover,
    connection: u32,
    /// How many handovers it has told of, where the last one leads, and the rate there.
    epoch: u16,
    direction: Direction,
    hint: Option<BitRate>,
    /// Whether no packet has come yet that was sent after the sender heard of it.
    waits: bool,
    /// Payload bytes of the connection up to the highest number received.
    end: u64,
    tell: bool,
    old: u64,
}

impl Receiver {
    /// A receiver at `seat`.
    pub fn new(settings: &Rfc, seat: Seat) -> Self {
        Self {
            seat,
            meter: Meter::new(settings.meter),
            handover: settings.handover,
            connection: 0,
            epoch: 0,
            direction: Direction::Unknown,
            hint: None,
            waits: false,
            end: 0,
            tell: false,
            old: 0,
        }
    }

    /// The link of this node has changed: what was measured on the old one counts no more.
    fn on_link(&mut self, notice: &LinkNotice) {
        let LinkNotice { before, after, .. } = *notice;
        if self.handover == Handover::Off || !after.up || before == after {
            return;
        }
        self.direction = match before.rate.cmp(&after.rate) {
            _ if !before.up => Direction::Unknown,
            std::cmp::Ordering::Less => Direction::Up,
            std::cmp::Ordering::Greater => Direction::Down,
            std::cmp::Ordering::Equal => Direction::Unknown,
        };
        self.hint = (self.handover == Handover::Hint).then_some(after.rate);
        self.epoch = self.epoch.wrapping_add(1);
        self.waits = true;
        self.meter.start_anew();
    }
}

impl Timed for Receiver {
    fn on_timeout(&mut self, now: Instant) {
        self.meter.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.meter.next_timeout()
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Tfrc(header) = &packet.header else { return };
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                self.old += 1;
                return;
            }
            self.connection = packet.connection;
            self.meter.reset();
            (self.epoch, self.waits, self.end) = (0, false, 0);
        }
        if self.waits && header.epoch == self.epoch {
            self.waits = false;
            self.meter.forgive_before(header.seq);
        }
        let arrival = Arrival {
            seq: header.seq,
            sent_at: header.sent_at.instant(),
            payload: header.payload,
            marked: packet.ecn == Ecn::Ce,
            // What was sent before the sender heard of it knows the old way only.
            rtt: (header.rtt > 0.0 && !self.waits).then(|| Duration::from_secs_f64(header.rtt)),
        };
        self.meter.on_packet(now, &arrival);
        if header.end > self.end {
            self.end = header.end;
            self.tell = self.seat.hears.received;
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        if let Notice::Link(notice) = notice {
            self.on_link(&notice);
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let Some(measured) = self.meter.take(now) else {
            return std::mem::take(&mut self.tell).then_some(Action::Tell(Notice::Received(self.end)));
        };
        *packet = Packet {
            from: self.seat.local,
            to: self.seat.remote,
            to_port: self.seat.remote_port,
            dscp: 0,
            ecn: Ecn::NotEct,
            size: REPORT_BYTES,
            flow: self.seat.flow,
            connection: self.connection,
            number: self.meter.reports(),
            header: Header::TfrcReport(TfrcReport {
                seq: measured.highest,
                echo: FloatTime::new(measured.echo),
                delay: measured.delay.as_secs_f64(),
                rate: measured.rate,
                p: measured.p,
                end: self.end,
                hint: self.hint,
                epoch: self.epoch,
                direction: self.direction,
                new_loss: measured.new_loss,
            }),
        };
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.meter.sample(probe);
        probe.value("old_connection_packets", self.old as f64);
    }
}
