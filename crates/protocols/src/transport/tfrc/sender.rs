//! The sending end of profile `rfc`: what its packets carry, and what reports say.

use crate::transport::half_connection::{Outbox, Sending};
use lasthop_net::engine::{BitRate, Duration, FloatTime, Instant};
use lasthop_net::net::{Ecn, Header, Packet, Probe, TfrcHeader, Timed};

use super::control::{Notification, Report};
use super::pacer::Pacer;
use super::settings::Rfc;

/// The sending machine.
pub struct Machine {
    pacer: Pacer,
    header: u32,
    ecn: bool,
    next: u64,
    /// How many handovers the receiver has told of.
    epoch: u16,
}

impl Machine {
    /// A machine that has sent nothing.
    pub fn new(settings: &Rfc) -> Self {
        let pacer = Pacer::new(settings.control, settings.buffer);
        Self { pacer, header: settings.header, ecn: settings.ecn, next: 0, epoch: 0 }
    }
}

impl Timed for Machine {
    fn on_timeout(&mut self, now: Instant) {
        self.pacer.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.pacer.next_timeout()
    }
}

impl Sending for Machine {
    fn outbox(&mut self) -> &mut Outbox {
        self.pacer.outbox()
    }

    fn on_answer(&mut self, now: Instant, packet: &Packet) -> bool {
        let Header::TfrcReport(report) = &packet.header else { return false };
        if report.epoch != self.epoch {
            self.epoch = report.epoch;
            self.pacer.on_handover(now, Notification { direction: report.direction, hint: report.hint });
        }
        let heard = Report {
            echo: report.echo.instant(),
            delay: Duration::from_secs_f64(report.delay),
            rate: report.rate,
            p: report.p,
            new_loss: report.new_loss,
        };
        self.pacer.on_report(now, &heard, report.end);
        true
    }

    fn take(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let Some(payload) = self.pacer.take(now) else { return false };
        packet.ecn = if self.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        packet.size = payload + self.header;
        packet.header = Header::Tfrc(TfrcHeader {
            seq: self.next,
            sent_at: FloatTime::new(now),
            rtt: self.pacer.rtt().map_or(0.0, Duration::as_secs_f64),
            payload,
            end: self.pacer.end(),
            epoch: self.epoch,
            ..TfrcHeader::default()
        });
        self.next += 1;
        true
    }

    fn rate(&self) -> Option<BitRate> {
        Some(self.pacer.rate())
    }

    fn losses_are_told(&self) -> bool {
        true
    }

    fn over(&mut self) {
        self.pacer.over();
    }

    fn reset(&mut self) {
        self.pacer.reset();
        (self.next, self.epoch) = (0, 0);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.pacer.sample(probe);
    }
}
