//! The sending end of a connection: sequence space, handshake, sending rule, timers, FIN.
//!
//! What is lost is [`recovery`](super::recovery)'s business, how much may be in flight is
//! [`congestion`](super::congestion)'s, what is known of each segment the
//! [`scoreboard`](super::scoreboard)'s. Segments are cut once and sent again as they were cut.
//! Simplifications: options of the SYN take no bytes; one direction is closed, and TIME-WAIT is
//! left out.
//!
//! With `data_on_syn` the first data segment is the SYN too, and is sent again as such. Everything
//! else about it is a data segment's: the initial window leaves with it, and its loss is a loss of
//! data. The receiver answers it with a SYN+ACK that acknowledges the data.
//!
//! Every acknowledgement of a segment sent once gives a sample of the round-trip time for the
//! congestion control and for the tables. The RTO estimator takes one in each round trip, as
//! RFC 6298 §3 asks at least, since its gains are made for that (RFC 7323 Appendix G).

use crate::engine::{BitRate, Duration, Instant};
use crate::net::{
    Action, Ecn, Endpoint, Header, Histogram, Notice, Packet, Port, Probe, Seat, TcpFlags, TcpHeader, Timed, Variable,
};

use super::config::{Config, Handshake, IdleRestart};
use super::congestion::{self, AckSample, CongestionControl, CongestionEvent, CongestionKind};
use super::delivery::{Delivery, Round};
use super::recovery::{self, AckEvent, Next, Recovery, Status, Verdict};
use super::rto::RtoEstimator;
use super::scoreboard::{Acked, Id, Scoreboard, Segment};
use super::settings::{FIRST_BYTE, HEADER_BYTES, Settings, TIMESTAMP_BYTES};
use super::spurious::{Detector, Evidence, Judgement, Saved};
use super::truth::Truth;

/// The sending end.
pub struct Sender {
    seat: Seat,
    settings: Settings,
    /// Which of the flow's connections this is.
    connection: u32,
    /// The running number of transmissions over all connections.
    number: u64,
    totals: Totals,
    rtt: Histogram,
    truth: Truth,
    c: Connection,
    /// How many segments may still leave at once ([`Settings::max_burst`]).
    burst: u32,
    shown: Shown,
}

/// Counts over all connections.
#[derive(Default)]
struct Totals {
    packets: u64,
    bytes: u64,
    resent_packets: u64,
    resent_bytes: u64,
    acked_bytes: u64,
    timeouts: u64,
    detected_spurious: u64,
    fast_retransmits: u64,
    cuts: u64,
}

/// What is forgotten at a reset.
struct Connection {
    phase: Phase,
    /// SND.UNA.
    una: u64,
    /// SND.NXT: nothing at or above it has been sent.
    nxt: u64,
    /// One past the last byte that the source has written.
    end: u64,
    /// The right edge of the receiver's window.
    edge: u64,
    /// Whether the source has closed, and whether a FIN was sent.
    closing: bool,
    fin_sent: bool,
    board: Scoreboard,
    recovery: Box<dyn Recovery>,
    /// What the recovery said last.
    status: Status,
    congestion: Box<dyn CongestionControl>,
    /// What the congestion control said last.
    window: u64,
    pacing: Option<BitRate>,
    /// With pacing: when the next segment may leave.
    release: Instant,
    /// Whether a segment waits for that.
    paced: bool,
    rto: RtoEstimator,
    /// When the retransmission timer expires; `Instant::MAX` if it is off.
    rto_at: Instant,
    /// Likewise the persist timer (RFC 9293 §3.8.6.1), with its back-off.
    persist_at: Instant,
    probes: u32,
    /// Whether part of a segment may leave because the persist timer has expired.
    send_part: bool,
    detector: Detector,
    /// A segment without data that is to be sent.
    control: Option<Control>,
    /// The first segment is to be sent again whatever the window says.
    resend_first: bool,
    syn: Syn,
    /// Data below were in flight when the window was full.
    full_to: u64,
    last_sent: Instant,
    /// Bytes sent by limited transmit since SND.UNA last moved.
    limited: u64,
    /// SND.UNA at the last timeout.
    timed_out_at: u64,
    /// SND.NXT at the last reduction of the window, and at the last for marks.
    cut_to: u64,
    ecn_cut_to: u64,
    /// Whether the next new segment says that the window was reduced (RFC 3168 §6.1.2).
    say_cwr: bool,
    last_rtt: Duration,
    round: Round,
    delivery: Delivery,
    told_sent: u64,
    told_acked: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Closed,
    /// The SYN is under way.
    Opening,
    Open,
}

/// A segment without data.
#[derive(Clone, Copy)]
enum Control {
    Syn,
    Ack,
    /// One byte that has arrived already, which the receiver answers with its window.
    Probe,
}

/// A segment of the sequence space that is to be sent.
enum Choice {
    /// One in flight, again.
    Again(Id),
    /// A new one, of `len` bytes, or the FIN.
    New { len: u32, fin: bool },
}

/// The SYN.
#[derive(Clone, Copy, Default)]
struct Syn {
    sent_at: Instant,
    resent: bool,
}

/// The values shown last.
#[derive(Clone, Copy, Default)]
struct Shown([f64; 8]);

const VARIABLES: [Variable; 8] = [
    Variable::Cwnd,
    Variable::Ssthresh,
    Variable::Rtt,
    Variable::Srtt,
    Variable::Rttvar,
    Variable::Rto,
    Variable::Backoff,
    Variable::Timeouts,
];

impl Sender {
    /// A sender at `seat`.
    pub fn new(config: &Config, seat: Seat) -> Self {
        let settings = Settings::new(config);
        Self::with(settings, seat)
    }

    fn with(settings: Settings, seat: Seat) -> Self {
        Self {
            seat,
            connection: 0,
            number: 0,
            totals: Totals::default(),
            rtt: Histogram::default(),
            truth: Truth::default(),
            c: Connection::new(&settings),
            burst: settings.max_burst,
            shown: Shown([f64::NAN; 8]),
            settings,
        }
    }

    fn open(&mut self) {
        if self.c.phase != Phase::Closed {
            return;
        }
        match self.settings.handshake {
            Handshake::Full | Handshake::Partial => {
                self.c.phase = Phase::Opening;
                self.c.control = Some(Control::Syn);
            }
            Handshake::DataOnSyn | Handshake::None => self.c.phase = Phase::Open,
        }
    }

    /// The SYN was answered.
    fn on_opened(&mut self, now: Instant, header: &TcpHeader) {
        let c = &mut self.c;
        if header.ack < FIRST_BYTE {
            return;
        }
        c.phase = Phase::Open;
        c.una = FIRST_BYTE;
        c.edge = header.ack + u64::from(header.window);
        c.rto_at = Instant::MAX;
        if c.syn.resent {
            // RFC 5681 §3.1, RFC 6928 §2: a lost SYN leaves one segment. RFC 6298 §5.7: the timer.
            c.congestion.limit_window(u64::from(self.settings.smss));
            c.rto.after_lost_syn();
            c.refresh();
        } else {
            let rtt = now.since(c.syn.sent_at);
            c.last_rtt = rtt;
            c.rto.on_sample(rtt);
            self.rtt.add(rtt.as_nanos());
        }
        if self.settings.handshake == Handshake::Full {
            c.control = Some(Control::Ack);
        }
    }

    #[inline]
    fn on_ack(&mut self, now: Instant, header: &TcpHeader) {
        let c = &mut self.c;
        // Of data, an acknowledgement without the SYN says what one of the SYN alone says.
        let ack = header.ack.max(FIRST_BYTE);
        if ack < c.una || ack > c.nxt {
            return;
        }
        c.edge = ack + u64::from(header.window);
        let prior_in_flight = c.in_flight();
        let (before, advance) = (c.una, ack - c.una);
        let mut acked = Acked::default();
        if advance > 0 {
            c.una = ack;
            c.limited = 0;
            self.totals.acked_bytes += advance - u64::from(c.fin_sent && ack == c.nxt);
            c.board.on_ack(ack, &mut acked);
            self.truth.on_ack(ack, header.arrived, header.flags.has(TcpFlags::DUPLICATE));
        }
        if self.settings.sack && !header.sack.is_empty() {
            c.board.on_sack(ack, &header.sack, &mut acked);
        }

        c.round.on_ack(ack, c.nxt);
        let stamped = header.flags.has(TcpFlags::TIMESTAMPS);
        let rtt = if stamped && advance > 0 { Some(header.ts_echo) } else { acked.timed }.map(|at| now.since(at));
        if let Some(rtt) = rtt {
            self.rtt.add(rtt.as_nanos());
            c.last_rtt = rtt;
            if c.round.wants_sample() || c.rto.is_backed_off() {
                c.rto.on_sample(rtt);
            }
        }

        if c.detector.is_open() && self.judge(now, header, advance, &acked) {
            return;
        }
        let c = &mut self.c;
        let was_recovering = c.status.recovering;
        let lost_before = c.board.total_lost();
        let mut hold_timer = false;
        if advance == 0 || c.status.alert || c.board.is_marked() {
            let event = AckEvent {
                now,
                una: ack,
                nxt: c.nxt,
                advance,
                sacked: acked.sacked,
                rtt,
                duplicate: advance == 0 && header.payload == 0 && !c.board.is_empty(),
            };
            let verdict = c.recovery.on_ack(&mut c.board, &event);
            c.status = c.recovery.status();
            match verdict {
                Verdict::Usual => {}
                Verdict::Enter { limit, cut } => self.on_loss(now, limit, cut),
                Verdict::Partial { resend, hold_timer: hold } => {
                    c.resend_first = resend;
                    hold_timer = hold;
                }
                Verdict::Exit { limit } => c.congestion.limit_window(limit),
            }
        }
        let c = &mut self.c;
        let ece = self.settings.ecn && header.flags.has(TcpFlags::ECE) && !header.flags.has(TcpFlags::SYN);
        if ece && !c.status.recovering && ack > c.cut_to {
            // RFC 3168 §6.1.2: as for a loss, at most once in a window of data.
            let event = c.event(now, CongestionKind::Ecn);
            c.congestion.on_congestion(&event);
            c.cut_to = c.nxt;
            c.ecn_cut_to = c.nxt;
            c.say_cwr = true;
            self.totals.cuts += 1;
        }

        let delivered = acked.acked + acked.sacked;
        if delivered > 0 || advance > 0 || ece {
            let sample = AckSample {
                now,
                acked: advance,
                sacked: acked.sacked,
                lost: c.board.total_lost() - lost_before,
                prior_in_flight,
                in_flight: c.in_flight(),
                rtt,
                srtt: c.rto.srtt().unwrap_or(Duration::ZERO),
                rate: c.delivery.on_ack(now, delivered, &acked),
                delivered: c.delivery.bytes(),
                ece: u32::from(ece),
                round: c.round.count(),
                window_limited: before < c.full_to,
                recovering: was_recovering || c.status.recovering,
            };
            c.congestion.on_ack(&sample);
        }
        c.refresh();
        if advance > 0 {
            c.persist_at = Instant::MAX;
            c.probes = 0;
            if c.board.is_empty() {
                c.rto_at = Instant::MAX;
            } else if !hold_timer {
                // RFC 6298 §5.3.
                c.rto_at = now + c.rto.rto();
            }
        }
    }

    /// A fast retransmit begins; `cut` says whether the congestion control hears of it.
    fn on_loss(&mut self, now: Instant, limit: u64, cut: bool) {
        let c = &mut self.c;
        self.totals.fast_retransmits += 1;
        self.truth.on_fast_retransmit(c.una, self.number + 1);
        c.resend_first = true;
        if cut && c.una >= c.ecn_cut_to {
            // RFC 3168 §6.1.2: marks and losses of one window count once.
            let event = c.event(now, CongestionKind::Loss);
            let slow_start = c.congestion.ssthresh().is_none_or(|ssthresh| c.window < ssthresh);
            c.congestion.on_congestion(&event);
            if self.settings.fack.overdamping && slow_start {
                let flight = c.congestion.window();
                c.congestion.on_congestion(&CongestionEvent { flight, ..event });
            }
            c.cut_to = c.nxt;
            c.say_cwr = self.settings.ecn;
            self.totals.cuts += 1;
        }
        c.congestion.limit_window(limit);
    }

    /// Lets the detector judge the last timeout by an acknowledgement. Says whether it was
    /// spurious, and everything is restored (RFC 4015).
    fn judge(&mut self, now: Instant, header: &TcpHeader, advance: u64, acked: &Acked) -> bool {
        let c = &mut self.c;
        let new_data = c.new_segment(&self.settings).is_some_and(|(len, fin)| fin || c.fits(len));
        let evidence = Evidence {
            una: c.una,
            advanced: advance > 0,
            original_to: acked.original_to,
            ts_echo: header.flags.has(TcpFlags::TIMESTAMPS).then_some(header.ts_echo),
            new_data,
        };
        match c.detector.on_ack(&evidence) {
            Judgement::Open => false,
            Judgement::Genuine { three_segments } => {
                if three_segments {
                    // RFC 5682 §2.1 step 3a: as a sender without F-RTO would have by now.
                    c.congestion.set_window(3 * u64::from(self.settings.smss));
                    c.refresh();
                }
                false
            }
            Judgement::Spurious(saved) => {
                self.totals.detected_spurious += 1;
                c.delivery.on_ack(now, acked.acked + acked.sacked, acked);
                c.board.unmark_lost();
                c.recovery.on_undo(c.una);
                c.status = c.recovery.status();
                // RFC 4015 §3 step (8), with FlightSize as it is after this acknowledgement.
                let more = (acked.acked + acked.sacked).min(self.settings.initial_window);
                c.congestion = saved.congestion;
                c.congestion.on_undo(saved.flight);
                c.congestion.set_window(c.board.flight() + more);
                c.rto.undo(saved.estimate);
                c.resend_first = false;
                c.timed_out_at = u64::MAX;
                c.refresh();
                c.rto_at = if c.board.is_empty() { Instant::MAX } else { now + c.rto.rto() };
                true
            }
        }
    }

    /// The retransmission timer has expired (RFC 6298 §5.4 to §5.7).
    fn on_rto(&mut self, now: Instant) {
        let c = &mut self.c;
        self.totals.timeouts += 1;
        if c.phase == Phase::Opening {
            c.rto.back_off();
            c.rto_at = now + c.rto.rto();
            c.syn.resent = true;
            c.control = Some(Control::Syn);
            return;
        }
        self.truth.on_timeout(c.una, self.number + 1);
        let flight = c.flight_size();
        // RFC 4015 §3 takes all of FlightSize for pipe_prev.
        let (sent, estimate) = (c.board.flight(), c.rto.save());
        let wanted = c.detector.wants(c.status.recovering);
        let saved = wanted.then(|| Saved { congestion: c.congestion.snapshot(), flight: sent, estimate });
        c.detector.on_timeout(now, c.una, c.nxt, saved);
        let again = c.timed_out_at == c.una;
        c.timed_out_at = c.una;
        c.congestion.on_timeout(now, flight, again);
        c.recovery.on_timeout(now, &mut c.board, c.nxt);
        c.status = c.recovery.status();
        c.limited = 0;
        c.cut_to = c.nxt;
        c.say_cwr = self.settings.ecn;
        self.totals.cuts += u64::from(!again);
        c.rto.back_off();
        c.rto_at = now + c.rto.rto();
        c.release = now;
        c.resend_first = true;
        c.refresh();
    }

    /// The persist timer has expired: as much as the window takes, or a probe.
    fn on_persist(&mut self, now: Instant) {
        let c = &mut self.c;
        c.persist_at = Instant::MAX;
        c.send_part = c.edge > c.nxt;
        if !c.send_part {
            c.probes += 1;
            c.control = Some(Control::Probe);
            c.persist_at = now + c.persist_interval();
        }
    }

    /// The next segment that may leave now, if any; it will be sent.
    #[inline]
    fn choose(&mut self, now: Instant) -> Option<Choice> {
        let c = &mut self.c;
        if c.phase != Phase::Open {
            return None;
        }
        if std::mem::take(&mut c.resend_first)
            && let Some(id) = c.board.first()
        {
            return Some(Choice::Again(id));
        }
        c.paced = c.release > now;
        if self.burst == 0 || c.paced {
            return None;
        }
        let smss = u64::from(self.settings.smss);
        let new = c.new_segment(&self.settings);
        let fits = new.is_some_and(|(len, fin)| fin || c.fits(len));
        let in_flight = c.in_flight();
        if c.status.recovering || c.status.duplicates > 0 || c.board.is_marked() {
            // RFC 6675 §5 step (C): while segments are missing there has to be room for a full one.
            if in_flight + smss > c.window {
                c.full_to = c.nxt;
                return None;
            }
            let new_data = fits && !c.detector.holds_new();
            let next = match c.detector.holds_resends() {
                true => new_data.then_some(Next::New),
                false => c.recovery.next(&mut c.board, new_data),
            };
            match next? {
                Next::Resend(id) => return Some(Choice::Again(id)),
                Next::New => {}
            }
        }
        let Some((len, fin)) = new else {
            if in_flight < c.window {
                c.delivery.on_app_limited(in_flight);
            }
            return None;
        };
        if !fits {
            return c.on_closed_window(now);
        }
        if in_flight + u64::from(len) > c.window {
            c.full_to = c.nxt;
            return None;
        }
        Some(Choice::New { len, fin })
    }

    /// Sends `len` bytes of new data, or a FIN.
    #[inline]
    fn send_new(&mut self, now: Instant, len: u32, fin: bool, packet: &mut Packet) {
        let smss = u64::from(self.settings.smss);
        let c = &mut self.c;
        if c.board.is_empty() {
            c.restart_if_idle(now, &self.settings);
        }
        let start = c.nxt;
        let sent = c.delivery.on_send(now, c.board.is_empty());
        c.board.push(Segment::new(start, len, fin, sent, c.delivery.is_app_limited()));
        c.nxt += u64::from(len);
        c.fin_sent |= fin;
        let in_flight = c.in_flight();
        if in_flight + smss > c.window {
            c.full_to = c.nxt;
        }
        if c.status.duplicates > 0 && !c.status.recovering {
            c.limited += u64::from(len);
        }
        c.detector.on_new_data();
        if !fin {
            self.totals.packets += 1;
            self.totals.bytes += u64::from(len);
        }
        let mut flags = TcpFlags::ACK;
        if std::mem::take(&mut c.say_cwr) {
            flags = flags.with(TcpFlags::CWR);
        }
        let ecn = if self.settings.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        self.segment(now, start, len, fin, flags, ecn, in_flight, packet);
    }

    /// Sends a segment again. RFC 3168 §6.1.5: a retransmission is not ECN-capable.
    fn resend(&mut self, now: Instant, id: Id, packet: &mut Packet) {
        let c = &mut self.c;
        let sent = c.delivery.on_send(now, false);
        c.board.resend(id, sent, c.delivery.is_app_limited());
        let segment = *c.board.at(id);
        if !segment.is_fin() {
            self.totals.resent_packets += 1;
            self.totals.resent_bytes += u64::from(segment.len);
        }
        let in_flight = c.in_flight();
        let (start, len, fin) = (segment.start, segment.len, segment.is_fin());
        self.segment(now, start, len, fin, TcpFlags::ACK, Ecn::NotEct, in_flight, packet);
    }

    /// A data segment or a FIN on its way: timers, pacing, and the packet.
    #[expect(clippy::too_many_arguments, reason = "the fields of one packet")]
    #[inline]
    fn segment(
        &mut self,
        now: Instant,
        start: u64,
        len: u32,
        fin: bool,
        flags: TcpFlags,
        ecn: Ecn,
        in_flight: u64,
        packet: &mut Packet,
    ) {
        let c = &mut self.c;
        self.burst -= u32::from(self.burst > 0);
        c.last_sent = now;
        if c.rto_at == Instant::MAX {
            // RFC 6298 §5.1.
            c.rto_at = now + c.rto.rto();
        }
        c.persist_at = Instant::MAX;
        c.congestion.on_sent(now, u64::from(len), in_flight);
        let (payload, flags) = if fin { (0, flags.with(TcpFlags::FIN)) } else { (len, flags) };
        let (seq, flags, ecn) = match self.settings.handshake {
            Handshake::DataOnSyn if start == FIRST_BYTE => (0, self.settings.syn_flags(), Ecn::NotEct),
            _ => (start, flags, ecn),
        };
        let header = if fin { HEADER_BYTES } else { self.settings.header };
        if let Some(rate) = c.pacing {
            let ns = u128::from(header + payload) * 8_000_000_000 / u128::from(rate.as_bps().max(1));
            c.release = c.release.max(now) + Duration::from_nanos(ns as u64);
        }
        self.packet(now, seq, payload, header, flags, ecn, packet);
    }

    /// Writes a packet.
    #[expect(clippy::too_many_arguments, reason = "the fields of one packet")]
    #[inline]
    fn packet(
        &mut self,
        now: Instant,
        seq: u64,
        payload: u32,
        header: u32,
        flags: TcpFlags,
        ecn: Ecn,
        packet: &mut Packet,
    ) {
        self.number += 1;
        let (mut flags, mut size, mut ts_val) = (flags, header + payload, Instant::ZERO);
        if self.settings.timestamps {
            flags = flags.with(TcpFlags::TIMESTAMPS);
            size += TIMESTAMP_BYTES;
            ts_val = now;
        }
        let window = self.settings.buffer;
        // The receiving end sends no data: its SYN is all there is to acknowledge.
        let header = TcpHeader { seq, ack: 1, payload, window, flags, ts_val, ..TcpHeader::default() };
        *packet = Packet {
            from: self.seat.local,
            to: self.seat.remote,
            to_port: self.seat.remote_port,
            dscp: 0,
            ecn,
            size,
            flow: self.seat.flow,
            connection: self.connection,
            number: self.number,
            header: Header::Tcp(header),
        };
    }

    fn send_control(&mut self, now: Instant, control: Control, packet: &mut Packet) {
        match control {
            Control::Syn => {
                self.c.syn.sent_at = now;
                if self.c.rto_at == Instant::MAX {
                    self.c.rto_at = now + self.c.rto.rto();
                }
                self.packet(now, 0, 0, HEADER_BYTES, self.settings.syn_flags(), Ecn::NotEct, packet);
            }
            Control::Ack => self.packet(now, self.c.nxt, 0, HEADER_BYTES, TcpFlags::ACK, Ecn::NotEct, packet),
            Control::Probe => {
                self.packet(now, self.c.una - 1, 1, self.settings.header, TcpFlags::ACK, Ecn::NotEct, packet)
            }
        }
    }

    /// The next notice for the flow's source.
    fn tell(&mut self) -> Option<Notice> {
        let c = &mut self.c;
        let hears = self.seat.hears;
        let bytes = |seq: u64, fin: bool| seq.saturating_sub(FIRST_BYTE + u64::from(fin));
        if hears.sent {
            let sent = bytes(c.nxt, c.fin_sent);
            if std::mem::replace(&mut c.told_sent, sent) != sent {
                return Some(Notice::Sent(sent));
            }
        }
        if hears.acked {
            let acked = bytes(c.una, c.fin_sent && c.una == c.nxt);
            if std::mem::replace(&mut c.told_acked, acked) != acked {
                return Some(Notice::Acked(acked));
            }
        }
        None
    }

    /// The next variable that has changed.
    fn show(&mut self) -> Option<Action> {
        let c = &self.c;
        let smss = f64::from(self.settings.smss);
        let values = [
            c.window as f64 / smss,
            c.congestion.ssthresh().map_or(f64::NAN, |s| s as f64 / smss),
            if c.last_rtt == Duration::ZERO { f64::NAN } else { c.last_rtt.as_secs_f64() },
            c.rto.srtt().map_or(f64::NAN, Duration::as_secs_f64),
            c.rto.srtt().map_or(f64::NAN, |_| c.rto.rttvar().as_secs_f64()),
            c.rto.rto().as_secs_f64(),
            c.rto.backoff(),
            self.totals.timeouts as f64,
        ];
        for ((shown, value), variable) in self.shown.0.iter_mut().zip(values).zip(VARIABLES) {
            if *shown != value && !value.is_nan() {
                *shown = value;
                return Some(Action::Observe(variable, value));
            }
        }
        None
    }
}

impl Connection {
    fn new(settings: &Settings) -> Self {
        let (recovery, congestion) = (recovery::new(settings), congestion::new(settings));
        Self {
            phase: Phase::Closed,
            una: match settings.handshake {
                Handshake::Full | Handshake::Partial => 0,
                Handshake::DataOnSyn | Handshake::None => FIRST_BYTE,
            },
            nxt: FIRST_BYTE,
            end: FIRST_BYTE,
            edge: FIRST_BYTE + u64::from(settings.buffer),
            closing: false,
            fin_sent: false,
            board: Scoreboard::new(settings.smss),
            status: recovery.status(),
            recovery,
            window: congestion.window(),
            pacing: congestion.pacing_rate(),
            congestion,
            release: Instant::ZERO,
            paced: false,
            rto: RtoEstimator::new(settings.rto),
            rto_at: Instant::MAX,
            persist_at: Instant::MAX,
            probes: 0,
            send_part: false,
            detector: Detector::new(settings.spurious, settings.sack),
            control: None,
            resend_first: false,
            syn: Syn::default(),
            full_to: 0,
            last_sent: Instant::ZERO,
            limited: 0,
            timed_out_at: u64::MAX,
            cut_to: 0,
            ecn_cut_to: 0,
            say_cwr: false,
            last_rtt: Duration::ZERO,
            round: Round::default(),
            delivery: Delivery::default(),
            told_sent: 0,
            told_acked: 0,
        }
    }

    /// Bytes in flight, as the recovery estimates them.
    #[inline]
    fn in_flight(&self) -> u64 {
        self.board.pipe().saturating_add_signed(-self.status.credit)
    }

    /// Reads what the congestion control allows now.
    #[inline]
    fn refresh(&mut self) {
        self.window = self.congestion.window();
        self.pacing = self.congestion.pacing_rate();
    }

    /// The length of the next new segment, and whether it is the FIN.
    #[inline]
    fn new_segment(&self, settings: &Settings) -> Option<(u32, bool)> {
        let left = self.end.saturating_sub(self.nxt);
        if left > 0 {
            return Some((left.min(u64::from(settings.smss)) as u32, false));
        }
        let fin = self.closing && !self.fin_sent && settings.handshake == Handshake::Full;
        fin.then_some((1, true))
    }

    /// There are data, but the receiver's window does not take a segment of them. If nothing is
    /// in flight that could change this, the persist timer has to (RFC 9293 §3.8.6.1); when it
    /// has expired, part of a segment leaves if there is room for it (§3.8.6.2.1).
    #[cold]
    fn on_closed_window(&mut self, now: Instant) -> Option<Choice> {
        if !self.board.is_empty() {
            return None;
        }
        if std::mem::take(&mut self.send_part) && self.edge > self.nxt {
            return Some(Choice::New { len: (self.edge - self.nxt) as u32, fin: false });
        }
        if self.persist_at == Instant::MAX {
            self.persist_at = now + self.persist_interval();
        }
        None
    }

    /// Whether the receiver's window takes `len` more bytes.
    #[inline]
    fn fits(&self, len: u32) -> bool {
        self.nxt + u64::from(len) <= self.edge
    }

    fn event(&self, now: Instant, kind: CongestionKind) -> CongestionEvent {
        let (flight, lost) = (self.flight_size(), self.board.total_lost());
        let resent = kind == CongestionKind::Loss && self.board.first_was_resent();
        CongestionEvent { now, kind, flight, lost, resent }
    }

    /// FlightSize, from which a new threshold is taken: sent and not cumulatively acknowledged,
    /// without limited transmit, and at most the window. Of data that were SACKed during a
    /// recovery much is not yet acknowledged cumulatively, though it has left the network;
    /// RFC 5681 §3.1, equation (4), is an upper bound.
    fn flight_size(&self) -> u64 {
        (self.board.flight() - self.limited).min(self.window)
    }

    /// The interval of the persist timer: the RTO, doubled for each probe, at most a minute
    /// (RFC 1122 §4.2.2.17).
    fn persist_interval(&self) -> Duration {
        (self.rto.rto() * (1 << self.probes.min(6))).min(Duration::from_secs(60))
    }

    /// RFC 5681 §4.1: after an idle time longer than the RTO the window begins anew.
    fn restart_if_idle(&mut self, now: Instant, settings: &Settings) {
        let most = match settings.idle_restart {
            IdleRestart::Rfc5681 => settings.initial_window,
            IdleRestart::Ns2 => u64::from(settings.smss),
            IdleRestart::Off => return,
        };
        if self.nxt > FIRST_BYTE && now.since(self.last_sent) > self.rto.rto() {
            self.congestion.limit_window(most);
            self.refresh();
        }
    }
}

impl Timed for Sender {
    fn on_timeout(&mut self, now: Instant) {
        self.burst = self.settings.max_burst;
        if self.c.rto_at <= now {
            self.on_rto(now);
        }
        if self.c.persist_at <= now {
            self.on_persist(now);
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        let c = &self.c;
        let mut at = c.rto_at.min(c.persist_at);
        if c.paced {
            at = at.min(c.release);
        }
        (at < Instant::MAX).then_some(at)
    }
}

impl Endpoint for Sender {
    #[inline]
    fn on_packet(&mut self, now: Instant, packet: &Packet, _via: Port) {
        let Header::Tcp(header) = &packet.header else { return };
        if packet.connection != self.connection || !header.flags.has(TcpFlags::ACK) {
            return;
        }
        self.burst = self.settings.max_burst;
        if self.c.phase == Phase::Open {
            if header.flags.has(TcpFlags::SYN) && self.settings.handshake == Handshake::Full {
                // The handshake's last acknowledgement has not arrived.
                self.c.control = Some(Control::Ack);
            } else {
                self.on_ack(now, header);
            }
        } else if self.c.phase == Phase::Opening {
            self.on_opened(now, header);
        }
    }

    fn on_notice(&mut self, _now: Instant, notice: Notice) {
        self.burst = self.settings.max_burst;
        match notice {
            Notice::Open => self.open(),
            Notice::Write(bytes) if !self.c.closing => self.c.end = self.c.end.saturating_add(bytes),
            Notice::Close => self.c.closing = true,
            Notice::Reset => {
                self.connection += 1;
                self.truth.reset();
                self.c = Connection::new(&self.settings);
            }
            _ => {}
        }
    }

    #[inline]
    fn poll(&mut self, now: Instant, packet: &mut Packet) -> Option<Action> {
        if let Some(control) = self.c.control.take() {
            self.send_control(now, control, packet);
            return Some(Action::Send);
        }
        if self.seat.observed
            && let Some(action) = self.show()
        {
            return Some(action);
        }
        match self.choose(now) {
            Some(Choice::New { len, fin }) => self.send_new(now, len, fin, packet),
            Some(Choice::Again(id)) => self.resend(now, id, packet),
            None => return self.tell().map(Action::Tell),
        }
        Some(Action::Send)
    }

    fn sample(&self, probe: &mut dyn Probe) {
        let (c, totals) = (&self.c, &self.totals);
        let smss = f64::from(self.settings.smss);
        probe.value("sent_packets", totals.packets as f64);
        probe.value("sent_bytes", totals.bytes as f64);
        probe.value("retransmitted_packets", totals.resent_packets as f64);
        probe.value("retransmitted_bytes", totals.resent_bytes as f64);
        probe.value("acked_bytes", totals.acked_bytes as f64);
        probe.value("timeouts", totals.timeouts as f64);
        let truth = self.truth.totals();
        probe.value("spurious_timeouts", truth.spurious_timeouts as f64);
        probe.value("ack_loss_timeouts", truth.ack_loss_timeouts as f64);
        probe.value("spurious_fast_retransmits", truth.spurious_fast_retransmits as f64);
        probe.value("detected_spurious_timeouts", totals.detected_spurious as f64);
        probe.value("fast_retransmits", totals.fast_retransmits as f64);
        probe.value("window_cuts", totals.cuts as f64);
        probe.value("cwnd_packets", c.window as f64 / smss);
        if let Some(ssthresh) = c.congestion.ssthresh() {
            probe.value("ssthresh_packets", ssthresh as f64 / smss);
        }
        probe.value("in_flight_packets", c.in_flight() as f64 / smss);
        if let Some(srtt) = c.rto.srtt() {
            probe.value("srtt_ms", srtt.as_secs_f64() * 1e3);
        }
        probe.value("rto_ms", c.rto.rto().as_secs_f64() * 1e3);
        probe.distribution("rtt_ms", 1e-6, &self.rtt);
    }
}

#[cfg(test)]
mod tests;
