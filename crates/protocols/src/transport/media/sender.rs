//! The sending end: cuts frames into packets, lets them leave as the congestion control says, and finds out what became of them.

use std::collections::VecDeque;

use lasthop_net::engine::{BitRate, Duration, Instant, Stream};
use lasthop_net::net::{
    Action, Ecn, Endpoint, EndpointContext, Header, Histogram, Notice, Packet, Port, Probe, RtcpReport, RtpHeader,
    Timed,
};

use crate::transport::path_hint::PathHint;

use super::control::{Arrival, Fate, Feedback, Frame, MediaCongestion, MediaContext, MediaControl, Sent};
use super::frames::Frames;
use super::{Config, RTP_BYTES, UDP_IP_BYTES};

/// A packet is lost when one sent this much later has arrived (SCReAM's reordering window).
const REORDERING: Duration = Duration::from_millis(30);

/// Without a report for this long everything in flight is taken for lost: the least retransmission timeout of RFC 6298 §2.4.
const SILENCE: Duration = Duration::from_secs(1);

/// The sending end.
pub struct Sender {
    seat: EndpointContext,
    congestion: MediaCongestion,
    context: MediaContext,
    ect: Ecn,
    discards_after: Option<Duration>,
    hint: PathHint,
    stream: Stream,
    connection: u32,
    number: u64,
    c: Connection,
    totals: Totals,
    rtt: Histogram,
}

/// The state of a connection.
struct Connection {
    control: Box<dyn MediaControl>,
    frames: Frames,
    /// The next packet's number.
    next: u64,
    /// The packets of which nothing is known, and those after them; the first has the number `first`.
    first: u64,
    flight: VecDeque<Record>,
    in_flight: u64,
    /// When the newest packet that arrived was sent.
    newest: Option<Instant>,
    /// The turn of the next packet by the pacing rate.
    release: Instant,
    /// Since when a report has been awaited.
    quiet_since: Instant,
    /// By the last report: when it was made, and how many changes of the path there have been.
    reported_at: Instant,
    epoch: Option<u8>,
    told_rate: Option<BitRate>,
    tell_sent: bool,
    /// When the controller was made, if it is not the first: it knows nothing of packets that were sent before.
    since: Instant,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    bytes: u32,
    sent_at: Instant,
    known: bool,
}

#[derive(Default)]
struct Totals {
    packets: u64,
    bytes: u64,
    lost: u64,
    discarded: u64,
    silences: u64,
}

impl Sender {
    /// A sender at `seat`; `stream` is its own.
    pub fn new(config: &Config, seat: EndpointContext, stream: Stream) -> Self {
        let congestion = config.congestion.clone();
        let context = config.context(stream.seed());
        let discards_after = congestion.config().discards_after();
        let c = Connection::new(congestion.config().build(&context));
        Self {
            seat,
            congestion,
            context,
            ect: config.ect(),
            discards_after,
            hint: config.path_hint,
            stream,
            connection: 0,
            number: 0,
            c,
            totals: Totals::default(),
            rtt: Histogram::default(),
        }
    }

    /// A controller as at the start.
    fn controller(&self) -> Box<dyn MediaControl> {
        let seed = self.stream.seed().wrapping_add(self.connection.into());
        self.congestion.config().build(&MediaContext { seed, ..self.context })
    }

    fn on_write(&mut self, now: Instant, bytes: u64) {
        let c = &mut self.c;
        c.frames.write(now, bytes);
        if c.frames.is_endless() {
            return;
        }
        let packets = bytes.div_ceil(u64::from(c.most_payload(self.context.packet)));
        let bytes = bytes.saturating_add(packets.saturating_mul(RTP_BYTES.into()));
        c.control.on_frame(&Frame {
            now,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            queued: c.frames.bytes(),
            queue_delay: c.frames.delay(now),
            in_flight: c.in_flight,
        });
    }

    fn on_path_change(&mut self, now: Instant) {
        match self.hint {
            PathHint::Off => {}
            PathHint::Delays => self.c.control.on_path_change(now),
            PathHint::Restart => (self.c.control, self.c.since) = (self.controller(), now),
        }
    }

    fn on_report(&mut self, now: Instant, report: &RtcpReport) {
        let c = &mut self.c;
        c.quiet_since = now;
        // A report that another has overtaken says nothing of the present path.
        let newest = report.made_at() >= c.reported_at;
        c.reported_at = c.reported_at.max(report.made_at());
        if newest && c.epoch.replace(report.epoch).unwrap_or(0) != report.epoch {
            self.on_path_change(now);
        }
        let c = &mut self.c;
        let prior_in_flight = c.in_flight;
        let mut fates = Vec::new();
        for (number, arrival) in report.packets() {
            let Some((at, ecn)) = arrival else { continue };
            let Some(place) = number.checked_sub(c.first) else { continue };
            let Some(record) = c.flight.get_mut(place as usize).filter(|record| !record.known) else { continue };
            record.known = true;
            c.in_flight -= u64::from(record.bytes);
            if c.newest.is_none_or(|newest| newest <= record.sent_at) {
                c.newest = Some(record.sent_at);
                let held = report.made_at().since(at);
                self.rtt.add(now.since(record.sent_at).saturating_sub(held).as_nanos());
            }
            let (bytes, sent_at) = (record.bytes, record.sent_at);
            fates.push(Fate { number, bytes, sent_at, arrival: Some(Arrival { at, ecn }) });
        }
        self.totals.lost += c.give_up(report.begin, &mut fates);
        c.feed(now, prior_in_flight, &mut fates);
    }

    /// No report has come for long.
    fn on_silence(&mut self, now: Instant) {
        let c = &mut self.c;
        let prior_in_flight = c.in_flight;
        let mut fates = Vec::new();
        self.totals.silences += 1;
        self.totals.lost += c.give_up(c.next, &mut fates);
        c.quiet_since = now;
        c.feed(now, prior_in_flight, &mut fates);
    }

    /// When everything in flight is taken for lost.
    fn silent_at(&self) -> Option<Instant> {
        (self.c.in_flight > 0).then(|| self.c.quiet_since + SILENCE)
    }

    /// Drops the first frame if it has waited too long.
    fn discard_old(&mut self, now: Instant) -> Option<Notice> {
        let before = Instant::from_nanos(now.as_nanos().saturating_sub(self.discards_after?.as_nanos()));
        let (bytes, end) = self.c.frames.discard(before)?;
        self.totals.discarded += 1;
        self.c.tell_sent = self.seat.hears.sent;
        Some(Notice::Lost { payload: bytes.min(u64::from(u32::MAX)) as u32, end })
    }

    /// The rate of payload that the source may produce.
    fn payload_rate(&self) -> BitRate {
        let (payload, packet) = (u128::from(self.context.packet - RTP_BYTES), u128::from(self.context.packet));
        BitRate::from_bps((u128::from(self.c.control.target().as_bps()) * payload / packet) as u64)
    }

    fn send(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let c = &mut self.c;
        let most = c.most_payload(self.context.packet);
        let Some(payload) = c.frames.peek(most) else { return false };
        let bytes = payload + RTP_BYTES;
        if c.opens_at() > now || !c.has_room(bytes) {
            return false;
        }
        let Some(piece) = c.frames.take(now, most) else { return false };
        let number = c.next;
        c.next += 1;
        if c.in_flight == 0 {
            c.quiet_since = now;
        }
        c.in_flight += u64::from(bytes);
        c.flight.push_back(Record { bytes, sent_at: now, known: false });
        c.control.on_sent(&Sent {
            now,
            number,
            bytes,
            in_flight: c.in_flight,
            queued: c.frames.bytes(),
            marker: piece.marker,
        });
        if let Some(rate) = c.pace() {
            c.release = c.release.max(now) + time_of(bytes.into(), rate);
        }
        c.tell_sent = self.seat.hears.sent;
        self.totals.packets += 1;
        self.totals.bytes += u64::from(piece.payload);
        self.number += 1;
        let header = RtpHeader {
            seq: number,
            sent_at: now,
            timestamp: ticks_90k(piece.written_at),
            marker: piece.marker,
            payload: piece.payload,
            end: piece.end,
        };
        *packet = self.seat.packet(self.connection, self.number, bytes + UDP_IP_BYTES, Header::Rtp(header));
        packet.ecn = self.ect;
        true
    }
}

/// How long `bytes` take at `rate`.
fn time_of(bytes: u64, rate: BitRate) -> Duration {
    let ns = u128::from(bytes) * 8_000_000_000 / u128::from(rate.as_bps().max(1));
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// RTP's time stamp of video (RFC 3551 §5): steps of 1/90 000 s.
fn ticks_90k(at: Instant) -> u32 {
    (u128::from(at.as_nanos()) * 90_000 / 1_000_000_000) as u32
}

impl Connection {
    fn new(control: Box<dyn MediaControl>) -> Self {
        Self {
            control,
            frames: Frames::new(),
            next: 0,
            first: 0,
            flight: VecDeque::new(),
            in_flight: 0,
            newest: None,
            release: Instant::ZERO,
            quiet_since: Instant::ZERO,
            reported_at: Instant::ZERO,
            epoch: None,
            told_rate: None,
            tell_sent: false,
            since: Instant::ZERO,
        }
    }

    /// The rate at which packets leave. A source that never ends has no encoder to hold it.
    fn pace(&self) -> Option<BitRate> {
        self.control.pacing_rate().or_else(|| self.frames.is_endless().then(|| self.control.target()))
    }

    /// When the next packet may leave: at its turn by the pacing rate, or ahead of it by what may leave at once.
    fn opens_at(&self) -> Instant {
        let Some(rate) = self.pace() else { return self.release };
        let ahead = time_of(self.control.burst(), rate);
        Instant::from_nanos(self.release.as_nanos().saturating_sub(ahead.as_nanos()))
    }

    /// The most payload of the next packet.
    fn most_payload(&self, packet: u32) -> u32 {
        self.control.packet_size().map_or(packet, |size| size.min(packet)).max(RTP_BYTES + 1) - RTP_BYTES
    }

    /// Whether the window takes a packet. It always takes one: an empty flight would never report anything.
    fn has_room(&self, bytes: u32) -> bool {
        let most = self.control.window().unwrap_or(u64::MAX);
        self.in_flight == 0 || self.in_flight + u64::from(bytes) <= most
    }

    /// Takes packets for lost: those below `begin`, of which no report will tell any more, and those sent long before the newest that
    /// arrived. Gives their number.
    fn give_up(&mut self, begin: u64, fates: &mut Vec<Fate>) -> u64 {
        let mut lost = 0;
        while let Some(record) = self.flight.front() {
            let late = self.newest.is_some_and(|newest| record.sent_at + REORDERING <= newest);
            if !record.known {
                if self.first >= begin && !late {
                    break;
                }
                lost += 1;
                self.in_flight -= u64::from(record.bytes);
                let (bytes, sent_at) = (record.bytes, record.sent_at);
                fates.push(Fate { number: self.first, bytes, sent_at, arrival: None });
            }
            self.flight.pop_front();
            self.first += 1;
        }
        lost
    }

    /// Tells the controller, unless it is younger than the packets.
    fn feed(&mut self, now: Instant, prior_in_flight: u64, fates: &mut Vec<Fate>) {
        let is_old = |fate: &Fate| fate.sent_at < self.since;
        let old: u64 = fates.iter().filter(|fate| is_old(fate)).map(|fate| u64::from(fate.bytes)).sum();
        fates.retain(|fate| !is_old(fate));
        if fates.is_empty() {
            return;
        }
        fates.sort_unstable_by_key(|fate| fate.number);
        let feedback = Feedback {
            now,
            reported_at: self.reported_at,
            packets: fates,
            prior_in_flight: prior_in_flight - old,
            in_flight: self.in_flight,
            queued: self.frames.bytes(),
            queue_delay: self.frames.delay(now),
        };
        self.control.on_feedback(&feedback);
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        if self.c.control.next_timeout().is_some_and(|at| at <= now) {
            self.c.control.on_timeout(now);
        }
        if self.silent_at().is_some_and(|at| at <= now) {
            self.on_silence(now);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let c = &self.c;
        let most = c.most_payload(self.context.packet);
        let waits = c.frames.peek(most).is_some_and(|payload| c.has_room(payload + RTP_BYTES));
        [c.control.next_timeout(), self.silent_at(), waits.then(|| c.opens_at())].into_iter().flatten().min()
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        if let Header::Rtcp(report) = &packet.header
            && packet.connection == self.connection
        {
            self.on_report(now, report);
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice) {
        match notice {
            Notice::Write(bytes) => self.on_write(now, bytes),
            Notice::Link(_) => self.on_path_change(now),
            Notice::Reset => {
                self.connection += 1;
                self.c = Connection::new(self.controller());
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        let hears = self.seat.hears;
        if hears.rate {
            let rate = self.payload_rate();
            if self.c.told_rate.replace(rate) != Some(rate) {
                return Some(Action::Tell(Notice::Rate(rate)));
            }
        }
        while let Some(lost) = self.discard_old(now) {
            if hears.lost {
                return Some(Action::Tell(lost));
            }
        }
        if self.send(now, packet) {
            return Some(Action::Send);
        }
        let sent = self.c.frames.taken();
        std::mem::take(&mut self.c.tell_sent).then_some(Action::Tell(Notice::Sent(sent)))
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (c, totals) = (&self.c, &self.totals);
        let packet = f64::from(self.context.packet);
        probe.value("sent_packets", totals.packets as f64);
        probe.value("sent_bytes", totals.bytes as f64);
        probe.value("lost_packets", totals.lost as f64);
        probe.value("discarded_frames", totals.discarded as f64);
        probe.value("silences", totals.silences as f64);
        probe.value("rate_bps", c.control.target().as_bps() as f64);
        if let Some(window) = c.control.window() {
            probe.value("cwnd_packets", window as f64 / packet);
        }
        probe.value("in_flight_packets", c.in_flight as f64 / packet);
        probe.value("waiting_bytes", c.frames.bytes() as f64);
        probe.distribution("rtt_ms", 1e-6, &self.rtt);
        c.control.sample(probe);
    }
}
