//! The receiving end: which packets arrived, when and how marked, and the reports of it.
//!
//! A report covers what arrived since the third report before it, as far as it has room, so that a lost report loses nothing (RFC 8888 §3.1
//! recommends that reports overlap).

use std::collections::VecDeque;

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::sequence::{Came, Sequence};
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, Port, Probe, RtcpReport, Timed,
};

use crate::transport::path_hint::PathHint;
use crate::transport::udp::Jitter;

use super::{Config, UDP_IP_BYTES};

/// After this number of packets a report is made at once, so before one that lies further ahead: half of what one has room for.
const PACKETS_TO_A_REPORT: u64 = RtcpReport::MOST as u64 / 2;

/// The receiving end.
pub struct Receiver {
    seat: EndpointContext,
    interval: Duration,
    /// Whether the sender asks for marks. Others are for a mechanism below it, as SWAN's.
    ecn: bool,
    hints: bool,
    connection: u32,
    number: u64,
    state: State,
    totals: Totals,
}

/// The state of a connection.
#[derive(Default)]
struct State {
    sequence: Sequence,
    /// Arrivals of the packets up to `next`, the last of them last.
    arrivals: VecDeque<Option<(Instant, Ecn)>>,
    /// One more than the highest number that arrived.
    next: u64,
    /// `next` at the last reports, the oldest first.
    reported: [u64; 3],
    /// When the last report was made, and packets since then.
    last: Instant,
    fresh: u64,
    /// A report that was made before a packet came, since the next one would not have had room for both.
    ready: Option<RtcpReport>,
    /// How many times the path has changed, and whether that is to be reported at once.
    epoch: u8,
    urgent: bool,
    /// Payload bytes of the flow up to the highest packet.
    end: u64,
    tell: bool,
}

#[derive(Default)]
struct Totals {
    packets: u64,
    bytes: u64,
    duplicates: u64,
    duplicate_bytes: u64,
    marked: u64,
    reports: u64,
    report_bytes: u64,
    lost: u64,
    jitter: Jitter,
    delays: Histogram,
}

impl Receiver {
    /// A receiver at `seat`.
    pub fn new(config: &Config, seat: EndpointContext) -> Self {
        Self {
            seat,
            interval: config.feedback.unwrap_or_else(|| config.congestion.config().feedback_interval()),
            ecn: config.ect() != Ecn::NotEct,
            hints: config.path_hint != PathHint::Off,
            connection: 0,
            number: 0,
            state: State::default(),
            totals: Totals::default(),
        }
    }

    fn due(&self) -> Option<Instant> {
        let state = &self.state;
        if state.urgent || state.fresh >= PACKETS_TO_A_REPORT || state.ready.is_some() {
            return Some(state.last);
        }
        (state.fresh > 0).then(|| state.last + self.interval)
    }
}

impl State {
    fn note(&mut self, number: u64, arrival: (Instant, Ecn)) {
        if self.fresh > 0 && number >= self.reported[2] + PACKETS_TO_A_REPORT {
            self.ready = Some(self.report(arrival.0));
        }
        self.fresh += 1;
        let room = RtcpReport::MOST as u64;
        if number >= self.next + room {
            // Nothing before it finds room.
            self.arrivals.clear();
            self.next = number + 1 - room;
        }
        while self.next <= number {
            self.arrivals.push_back(None);
            self.next += 1;
            if self.arrivals.len() > RtcpReport::MOST {
                self.arrivals.pop_front();
            }
        }
        let back = (self.next - number) as usize;
        if let Some(place) = self.arrivals.len().checked_sub(back) {
            self.arrivals[place].get_or_insert(arrival);
        }
    }

    /// Another copy of this packet came marked: that is what its reports say from now on (RFC 8888 §3.1). Says whether it is new.
    fn mark(&mut self, number: u64) -> bool {
        let back = self.next.saturating_sub(number) as usize;
        let place = self.arrivals.len().checked_sub(back).and_then(|place| self.arrivals.get_mut(place));
        place.and_then(Option::as_mut).is_some_and(|(_, ecn)| std::mem::replace(ecn, Ecn::Ce) != Ecn::Ce)
    }

    fn report(&mut self, now: Instant) -> RtcpReport {
        let first = self.next - self.arrivals.len() as u64;
        let begin = first.max(self.reported[0]);
        let mut report = RtcpReport::new(now, begin, self.epoch);
        for arrival in self.arrivals.iter().skip((begin - first) as usize) {
            report.push(*arrival);
        }
        self.reported = [self.reported[1], self.reported[2], self.next];
        (self.last, self.fresh, self.urgent) = (now, 0, false);
        report
    }
}

impl Timed for Receiver {
    fn next_timeout(&self) -> Option<Instant> {
        self.due()
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Rtp(header) = &packet.header else { return };
        if packet.connection != self.connection {
            if packet.connection < self.connection {
                return;
            }
            self.connection = packet.connection;
            self.totals.lost += self.state.sequence.missing();
            self.state = State { epoch: self.state.epoch, last: self.state.last, ..State::default() };
        }
        let (state, totals) = (&mut self.state, &mut self.totals);
        let ecn = if self.ecn { packet.ecn } else { Ecn::NotEct };
        totals.packets += 1;
        if state.sequence.take(header.seq) == Came::Again {
            totals.duplicates += 1;
            totals.duplicate_bytes += u64::from(header.payload);
            totals.marked += u64::from(ecn == Ecn::Ce && state.mark(header.seq));
            return;
        }
        totals.bytes += u64::from(header.payload);
        totals.marked += u64::from(ecn == Ecn::Ce);
        let transit = now.since(header.sent_at);
        totals.jitter.add(transit);
        totals.delays.add(transit.as_nanos());
        state.note(header.seq, (now, ecn));
        if header.end > state.end {
            state.end = header.end;
            state.tell = self.seat.hears.received;
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        if let Notice::Link(_) = notice
            && self.hints
        {
            self.state.epoch = self.state.epoch.wrapping_add(1);
            self.state.urgent = self.state.next > 0;
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if self.due().is_some_and(|due| due <= now) {
            let report = self.state.ready.take().unwrap_or_else(|| self.state.report(now));
            let size = report.bytes() + UDP_IP_BYTES;
            self.number += 1;
            self.totals.reports += 1;
            self.totals.report_bytes += u64::from(size);
            *packet = self.seat.packet(self.connection, self.number, size, Header::Rtcp(report));
            return Some(Action::Send);
        }
        std::mem::take(&mut self.state.tell).then_some(Action::Tell(Notice::Received(self.state.end)))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let totals = &self.totals;
        probe.value("received_packets", totals.packets as f64);
        probe.value("received_bytes", totals.bytes as f64);
        probe.value("duplicate_packets", totals.duplicates as f64);
        probe.value("duplicate_bytes", totals.duplicate_bytes as f64);
        probe.value("lost_packets", (totals.lost + self.state.sequence.missing()) as f64);
        probe.value("marked_packets", totals.marked as f64);
        probe.value("reports", totals.reports as f64);
        probe.value("report_bytes", totals.report_bytes as f64);
        probe.value("jitter_ms", totals.jitter.ms());
        probe.distribution("delay_ms", 1e-6, &totals.delays);
    }
}
