//! CCID 3: TFRC over DCCP (RFC 4342, with RFC 5348's rules where that updates it).
//!
//! The rate and the loss history are TFRC's own. What differs is on the wire: a window counter
//! that advances each quarter of a round trip stands in the place of the round-trip time, and the
//! acknowledgement number in the place of a time stamp.

mod loss_view;

use std::collections::VecDeque;

use crate::transport::half_connection::{Outbox, Receiving, Sending};
use crate::transport::tfrc::control::Report;
use crate::transport::tfrc::meter::{Arrival, Meter};
use crate::transport::tfrc::pacer::Pacer;
use crate::transport::tfrc::settings::Rfc;
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{
    DccpHeader, DccpOptions, DccpType, Ecn, Header, ListedInterval, ListedIntervals, Packet, Probe, Timed,
};

use super::IP_BYTES;
use loss_view::LossView;

/// How many packets at most are in no loss interval (RFC 4342 §8.6.1, NDUPACK).
const MOST_SKIPPED: u64 = 3;
/// The unit of the option Elapsed Time (RFC 4340 §13.2).
const TICK: Duration = Duration::from_nanos(10_000);
/// The round-trip time that a receiver assumes before the window counter tells (RFC 4340 §3.4).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// The sending machine.
pub struct Sender {
    pacer: Pacer,
    losses: LossView,
    /// The window counter, and when it advanced last (RFC 4342 §8.1).
    counter: u8,
    counted_at: Instant,
    next: u64,
    /// When the packets from `first` on were sent, and the payload bytes up to each.
    first: u64,
    sent: VecDeque<(Instant, u64)>,
}

impl Sender {
    /// A machine that has sent nothing.
    pub fn new(settings: &Rfc) -> Self {
        Self {
            pacer: Pacer::new(settings.control, settings.buffer),
            losses: LossView::new(settings.meter.discount_threshold),
            counter: 0,
            counted_at: Instant::ZERO,
            next: 0,
            first: 0,
            sent: VecDeque::new(),
        }
    }

    /// Advances the window counter by the quarters of a round trip that have passed, at most 5.
    fn count(&mut self, now: Instant) {
        let Some(rtt) = self.pacer.rtt() else { return };
        let quarter = (rtt.as_nanos() / 4).max(1);
        let passed = now.since(self.counted_at).as_nanos() / quarter;
        if passed > 0 {
            self.counter = (self.counter + passed.min(5) as u8) % 16;
            self.counted_at = now;
        }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.pacer.on_timeout(now);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.pacer.next_timeout()
    }
}

impl Sending for Sender {
    fn outbox(&mut self) -> &mut Outbox {
        self.pacer.outbox()
    }

    fn on_answer(&mut self, now: Instant, packet: &Packet) -> bool {
        let Header::Dccp(header) = &packet.header else { return false };
        let DccpOptions::Tfrc { rate, elapsed, intervals } = &header.options else { return false };
        // An acknowledgement that was overtaken by a newer one names a packet that is forgotten.
        let Some(ahead) = header.ack.checked_sub(self.first) else { return false };
        let Some(&(echo, end)) = self.sent.get(ahead as usize) else { return false };
        self.sent.drain(..ahead as usize);
        self.first = header.ack;
        let new_loss = self.losses.on_report(header.ack, intervals);
        let p = self.losses.rate();
        let report = Report { echo, delay: TICK * u64::from(*elapsed), rate: (*rate).into(), p, new_loss };
        self.pacer.on_report(now, &report, end);
        true
    }

    fn take(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let Some(payload) = self.pacer.take(now) else { return false };
        self.count(now);
        let end = self.pacer.end();
        self.sent.push_back((now, end));
        let header = DccpHeader {
            kind: DccpType::Data,
            ccval: self.counter,
            seq: self.next,
            payload,
            end,
            ..DccpHeader::default()
        };
        packet.ecn = Ecn::Ect0;
        packet.size = IP_BYTES + header.bytes() + payload;
        packet.header = Header::Dccp(header);
        self.next += 1;
        true
    }

    fn reset(&mut self) {
        self.pacer.reset();
        (self.next, self.first) = (0, 0);
        self.sent.clear();
        self.losses.reset();
        (self.counter, self.counted_at) = (0, Instant::ZERO);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.pacer.sample(probe);
    }
}

/// The receiving machine.
pub struct Receiver {
    meter: Meter,
    clock: WindowClock,
    next: u64,
}

/// The round-trip time as window counters tell it (RFC 4342 §8.1): packets whose counters are four
/// apart were sent a round trip apart.
#[derive(Debug, Default)]
struct WindowClock {
    /// A counter, and when the first packet with it came.
    from: Option<(u8, Instant)>,
    rtt: Option<Duration>,
}

impl WindowClock {
    fn on_packet(&mut self, now: Instant, counter: u8) {
        let Some((from, at)) = self.from else {
            self.from = Some((counter, now));
            return;
        };
        match (counter + 16 - from) % 16 {
            0..=3 => {}
            4 => {
                let sample = now.since(at);
                self.rtt = Some(self.rtt.map_or(sample, |old| old.mul_f64(0.9) + sample.mul_f64(0.1)));
                self.from = Some((counter, now));
            }
            // Five quarters or more: how many, the counter does not say.
            _ => self.from = Some((counter, now)),
        }
    }

    fn rtt(&self) -> Duration {
        self.rtt.unwrap_or(DEFAULT_RTT)
    }
}

impl Receiver {
    /// A machine to which nothing has come.
    pub fn new(settings: &Rfc) -> Self {
        Self { meter: Meter::new(settings.meter), clock: WindowClock::default(), next: 0 }
    }

    /// The loss intervals up to the highest packet received (RFC 4342 §8.6).
    fn listed(&self) -> ListedIntervals {
        let skip = self.meter.unsettled().min(MOST_SKIPPED);
        let mut listed = ListedIntervals::new(skip as u8);
        let mut skipped = skip as f64;
        for (length, lossy) in self.meter.intervals().iter() {
            let length = libm::round((length - skipped).max(0.0)) as u32;
            listed.push(ListedInterval { length, lossy: lossy.min(u16::MAX.into()) as u16 });
            skipped = 0.0;
        }
        listed
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

impl Receiving for Receiver {
    fn on_data(&mut self, now: Instant, packet: &Packet) -> Option<u64> {
        let Header::Dccp(header) = &packet.header else { return None };
        self.clock.on_packet(now, header.ccval);
        let arrival = Arrival {
            seq: header.seq,
            // Its own number says when it was sent; the sender looks it up.
            sent_at: now,
            payload: header.payload,
            marked: packet.ecn == Ecn::Ce,
            rtt: Some(self.clock.rtt()),
        };
        self.meter.on_packet(now, &arrival);
        Some(header.end)
    }

    fn take(&mut self, now: Instant, _end: u64, packet: &mut Packet) -> bool {
        let Some(measured) = self.meter.take(now) else { return false };
        // Elapsed Time is that of the packet acknowledged (RFC 4340 §13.2), which need not have come last.
        let (highest, came) = measured.highest;
        let options = DccpOptions::Tfrc {
            // Casts from float saturate.
            rate: measured.rate as u32,
            elapsed: (now.since(came).as_nanos() / TICK.as_nanos()).min(u32::MAX.into()) as u32,
            intervals: self.listed(),
        };
        let header = DccpHeader { kind: DccpType::Ack, seq: self.next, ack: highest, options, ..DccpHeader::default() };
        packet.ecn = Ecn::NotEct;
        packet.size = IP_BYTES + header.bytes();
        packet.header = Header::Dccp(header);
        self.next += 1;
        true
    }

    fn reset(&mut self) {
        self.meter.reset();
        self.clock = WindowClock::default();
        self.next = 0;
    }

    fn sample(&self, probe: &mut dyn Probe) {
        self.meter.sample(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_counts_are_a_round_trip() {
        let mut clock = WindowClock::default();
        assert_eq!(clock.rtt(), DEFAULT_RTT);
        // One packet each 10 ms; the counter advances each 25 ms, a quarter of 100 ms.
        for n in 0..200u64 {
            clock.on_packet(Instant::from_nanos(n * 10_000_000), (n * 10 / 25 % 16) as u8);
        }
        let ms = clock.rtt().as_secs_f64() * 1e3;
        assert!((ms - 100.0).abs() < 1.0, "{ms} ms");
        // After a pause the counter has advanced by five, and says nothing.
        let before = clock.rtt();
        clock.on_packet(Instant::from_nanos(9_000_000_000), (1990 / 25 + 5) as u8 % 16);
        assert_eq!(clock.rtt(), before);
    }

    /// RFC 4340 §13.2: of the packet acknowledged. Packet 1 comes 30 ms after packet 2, and the report is made at 250 ms.
    #[test]
    fn elapsed_time_is_that_of_the_packet_acknowledged() {
        let mut receiver = Receiver::new(&crate::transport::dccp::Config::default().tfrc());
        let mut packet = Packet::vacant();
        let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let data = |seq| DccpHeader { kind: DccpType::Data, seq, payload: 1000, ..DccpHeader::default() };
        for (at, seq) in [(0, 0), (100, 2), (130, 1)] {
            receiver.on_data(ms(at), &Packet { header: Header::Dccp(data(seq)), ..Packet::vacant() });
            if seq == 0 {
                assert!(receiver.take(ms(at), 0, &mut packet));
            }
        }
        receiver.on_timeout(ms(250));
        assert!(receiver.take(ms(250), 0, &mut packet));
        let Header::Dccp(DccpHeader { ack, options: DccpOptions::Tfrc { elapsed, .. }, .. }) = packet.header else {
            panic!("it is a report")
        };
        assert_eq!((ack, elapsed), (2, 15_000), "150 ms in units of 10 µs");
    }
}
