//! The receiving end of profile `rfc`: what its reports carry. It may tell of handovers.

use crate::transport::half_connection::Receiving;
use lasthop_net::engine::{BitRate, Duration, FloatTime, Instant};
use lasthop_net::net::{Direction, Ecn, Header, LinkNotice, Packet, Probe, TfrcReport, Timed};

use super::config::Handover;
use super::meter::{Arrival, Meter};
use super::settings::{REPORT_BYTES, Rfc};

/// The receiving machine.
pub struct Machine {
    meter: Meter,
    /// Whether the sender asks for marks. Others are for a mechanism below it, as SWAN's.
    ecn: bool,
    handover: Handover,
    /// How many handovers it has told of, where the last one leads, and the rate there.
    epoch: u16,
    direction: Direction,
    hint: Option<BitRate>,
    /// Whether no packet has come yet that the sender sent after it learned of the handover.
    waits: bool,
}

impl Machine {
    /// A machine to which nothing has come.
    pub fn new(settings: &Rfc) -> Self {
        Self {
            meter: Meter::new(settings.meter),
            ecn: settings.ecn,
            handover: settings.handover,
            epoch: 0,
            direction: Direction::Unknown,
            hint: None,
            waits: false,
        }
    }
}

impl Timed for Machine {
    fn on_timeout(&mut self, now: Instant) {
        self.meter.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.meter.next_timeout()
    }
}

impl Receiving for Machine {
    fn on_data(&mut self, now: Instant, packet: &Packet) -> Option<u64> {
        let Header::Tfrc(header) = &packet.header else { return None };
        if self.waits && header.epoch == self.epoch {
            self.waits = false;
            self.meter.forgive_before(header.seq);
        }
        let arrival = Arrival {
            seq: header.seq,
            sent_at: header.sent_at.instant(),
            payload: header.payload,
            marked: self.ecn && packet.ecn == Ecn::Ce,
            // Packets sent before the sender learned of it carry the round-trip time of the old way.
            rtt: (header.rtt > 0.0 && !self.waits).then(|| Duration::from_secs_f64(header.rtt)),
        };
        self.meter.on_packet(now, &arrival);
        Some(header.end)
    }

    /// The link of this node has changed: measurements on the old one count no more.
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

    fn take(&mut self, now: Instant, end: u64, packet: &mut Packet) -> bool {
        let Some(measured) = self.meter.take(now) else { return false };
        packet.ecn = Ecn::NotEct;
        packet.size = REPORT_BYTES;
        packet.header = Header::TfrcReport(TfrcReport {
            seq: measured.highest.0,
            echo: FloatTime::new(measured.echo),
            delay: measured.delay.as_secs_f64(),
            rate: measured.rate,
            p: measured.p,
            end,
            hint: self.hint,
            epoch: self.epoch,
            direction: self.direction,
            new_loss: measured.new_loss,
        });
        true
    }

    fn reset(&mut self) {
        self.meter.reset();
        (self.epoch, self.waits) = (0, false);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.meter.sample(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::*;
    use lasthop_net::net::TfrcHeader;

    /// RFC 5348 §5.2: a mark is a loss of a flow whose packets can be marked. Those of others are for a mechanism below.
    #[test]
    fn marks_count_only_where_ecn_is_used() {
        for ecn in [false, true] {
            let mut machine = Machine::new(&Rfc::new(&Config { ecn, ..Config::default() }));
            for seq in 0..10 {
                let header = TfrcHeader { seq, rtt: 0.1, payload: 1000, ..TfrcHeader::default() };
                let mark = if seq == 5 { Ecn::Ce } else { Ecn::Ect0 };
                let packet = Packet { header: Header::Tfrc(header), ecn: mark, ..Packet::vacant() };
                machine.on_data(Instant::ZERO + Duration::from_millis(10 * seq), &packet);
            }
            assert_eq!(machine.meter.intervals().is_empty(), !ecn);
        }
    }
}
