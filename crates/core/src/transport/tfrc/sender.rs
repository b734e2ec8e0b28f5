//! The sending end of profile `rfc`.

use crate::engine::{FloatTime, Instant};
use crate::net::{Action, Ecn, Endpoint, Header, Notice, Packet, Port, Probe, Seat, TfrcHeader, Timed};

use super::control::{Notification, Report};
use super::pacer::Pacer;
use super::settings::Rfc;

/// The sending end.
pub struct Sender {
    seat: Seat,
    header: u32,
    ecn: bool,
    connection: u32,
    pacer: Pacer,
    next: u64,
    /// How many handovers the receiver has told of.
    epoch: u16,
    number: u64,
    tell_acked: bool,
    tell_over: bool,
    old: u64,
}

impl Sender {
    /// A sender at `seat`.
    pub fn new(settings: &Rfc, seat: Seat) -> Self {
        Self {
            seat,
            header: settings.header,
            ecn: settings.ecn,
            connection: 0,
            pacer: Pacer::new(settings.control, settings.buffer),
            next: 0,
            epoch: 0,
            number: 0,
            tell_acked: false,
            tell_over: false,
            old: 0,
        }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.pacer.on_timeout(now);
        if self.pacer.gave_up() {
            self.tell_over = self.seat.hears.received;
            self.tell_acked = self.seat.hears.acked;
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.pacer.next_timeout()
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::TfrcReport(report) = &packet.header else { return };
        if packet.connection != self.connection {
            self.old += 1;
            return;
        }
        self.tell_acked = self.seat.hears.acked;
        if report.epoch != self.epoch {
            self.epoch = report.epoch;
            self.pacer.on_handover(now, Notification { direction: report.direction, hint: report.hint });
        }
        let heard = Report {
            echo: report.echo.instant(),
            delay: crate::engine::Duration::from_secs_f64(report.delay),
            rate: report.rate,
            p: report.p,
            new_loss: report.new_loss,
        };
        self.pacer.on_report(now, &heard, report.end);
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        match notice {
            Notice::Write(bytes) => self.pacer.write(bytes),
            Notice::Close => self.pacer.close(),
            Notice::Reset => {
                self.pacer.reset();
                self.connection += 1;
                (self.next, self.epoch) = (0, 0);
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let Some(payload) = self.pacer.take(now) else {
            if std::mem::take(&mut self.tell_over) {
                return Some(Action::Tell(Notice::Received(self.pacer.sent_bytes)));
            }
            let acked = std::mem::take(&mut self.tell_acked);
            return acked.then_some(Action::Tell(Notice::Acked(self.pacer.acked_bytes)));
        };
        self.number += 1;
        *packet = Packet {
            from: self.seat.local,
            to: self.seat.remote,
            to_port: self.seat.remote_port,
            dscp: 0,
            ecn: if self.ecn { Ecn::Ect0 } else { Ecn::NotEct },
            size: payload + self.header,
            flow: self.seat.flow,
            connection: self.connection,
            number: self.number,
            header: Header::Tfrc(TfrcHeader {
                seq: self.next,
                sent_at: FloatTime::new(now),
                rtt: self.pacer.rtt().map_or(0.0, crate::engine::Duration::as_secs_f64),
                payload,
                end: self.pacer.sent_bytes,
                epoch: self.epoch,
                ..TfrcHeader::default()
            }),
        };
        self.next += 1;
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.pacer.sample(probe);
        probe.value("old_connection_packets", self.old as f64);
    }
}
