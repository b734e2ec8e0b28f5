//! The state of one connection, forgotten at a reset, and what follows from it alone.

use crate::transport::congestion::{
    AckSample, Begun, CongestionControl, CongestionEvent, CongestionKind, Flight, LostSegment, Wants, WindowRule,
};
use lasthop_net::engine::{BitRate, Duration, Instant};
use lasthop_net::net::{TcpFlags, TcpHeader};

use super::super::answered::Answered;
use super::super::config::{Handshake, IdleRestart};
use super::super::delivery::{Delivery, Round};
use super::super::prr::Prr;
use super::super::recovery::{LossRecovery, Status};
use super::super::rto::RtoEstimator;
use super::super::scoreboard::Scoreboard;
use super::super::settings::{FIRST_BYTE, Settings};
use super::super::spurious::Detector;
use super::super::undo::Reversal;
use super::handshake::{Phase, Syn};
use super::sending::{AtOnce, Control};

/// The state that a reset clears.
pub(super) struct Connection {
    pub(super) phase: Phase,
    /// SND.UNA.
    pub(super) una: u64,
    /// SND.NXT: nothing at or above it has been sent.
    pub(super) nxt: u64,
    /// One past the last byte that the source has written.
    pub(super) end: u64,
    /// The right edge of the receiver's window.
    pub(super) edge: u64,
    /// Whether the source has closed, and whether a FIN was sent.
    pub(super) closing: bool,
    pub(super) fin_sent: bool,
    pub(super) board: Scoreboard,
    pub(super) recovery: Box<dyn LossRecovery>,
    /// What the recovery said last.
    pub(super) status: Status,
    /// Whether any of what follows up to `reversal` is in use ([`hooks`](super::hooks)).
    pub(super) hooked: bool,
    /// Whether the recovery has timers, and when the next of them expires; `Instant::MAX` if none runs.
    pub(super) timed: bool,
    pub(super) recovery_at: Instant,
    /// Proportional Rate Reduction, in a recovery that it governs.
    pub(super) prr: Option<Box<Prr>>,
    /// Whether the segment that is being sent is a probe of the recovery.
    pub(super) probing: bool,
    /// The last reduction of the window, if such may be undone.
    pub(super) reversal: Option<Box<Reversal>>,
    pub(super) congestion: Box<dyn CongestionControl>,
    pub(super) wants: Wants,
    /// What the congestion control said last.
    pub(super) window: u64,
    pub(super) pacing: Option<BitRate>,
    /// With pacing: when the next segment may leave.
    pub(super) release: Instant,
    /// The part of a nanosecond by which that is later.
    pub(super) release_rest: f64,
    /// Whether a segment waits for that.
    pub(super) paced: bool,
    pub(super) rto: RtoEstimator,
    /// When the retransmission timer expires; `Instant::MAX` if it is off.
    pub(super) rto_at: Instant,
    /// Likewise the persist timer (RFC 9293 §3.8.6.1), with its back-off.
    pub(super) persist_at: Instant,
    pub(super) probes: u32,
    /// Whether part of a segment may leave because the persist timer has expired.
    pub(super) send_part: bool,
    pub(super) detector: Detector,
    /// A segment without data that is to be sent.
    pub(super) control: Option<Control>,
    /// A segment that is to be sent whatever the window says.
    pub(super) at_once: Option<AtOnce>,
    pub(super) syn: Syn,
    /// Data below were in flight when the window was full.
    pub(super) full_to: u64,
    pub(super) last_sent: Instant,
    /// When the last acknowledgement came that left nothing in flight.
    pub(super) emptied_at: Instant,
    /// Bytes sent by limited transmit since SND.UNA last moved.
    pub(super) limited: u64,
    /// SND.NXT at the last timeout that proved spurious.
    pub(super) undone_to: u64,
    /// SND.UNA at the last timeout.
    pub(super) timed_out_at: u64,
    /// SND.NXT at the last timeout.
    pub(super) timed_out_to: u64,
    pub(super) answered: Answered,
    /// SND.NXT at the last reduction of the window for marks.
    pub(super) ecn_cut_to: u64,
    /// Marked bytes that the receiver has reported (s.ceb of RFC 9768).
    pub(super) ceb: u64,
    pub(super) last_rtt: Duration,
    /// Delays of segments that left before are of another path.
    pub(super) path_since: Instant,
    pub(super) round: Round,
    pub(super) delivery: Delivery,
    pub(super) told_sent: u64,
    pub(super) told_acked: u64,
    pub(super) told_rate: Option<BitRate>,
}

impl Connection {
    /// The connection of this number in its flow, which begins now.
    pub(super) fn new(settings: &Settings, number: u32, now: Instant) -> Self {
        let begun = Begun { at: now, connection: number, ..Begun::default() };
        let (recovery, congestion) = (settings.recovery.config().build(settings), settings.controller(begun));
        let wants = congestion.wants();
        let timed = recovery.is_timed();
        let mut board = Scoreboard::new(settings.smss, wants.records);
        if timed {
            board.note_delivered();
        }
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
            board,
            status: recovery.status(),
            hooked: timed || settings.prr || settings.undo,
            timed,
            recovery_at: Instant::MAX,
            prr: None,
            probing: false,
            reversal: settings.undo.then(Box::default),
            recovery,
            window: congestion.window(),
            pacing: congestion.pacing_rate(),
            congestion,
            wants,
            release: Instant::ZERO,
            release_rest: 0.0,
            paced: false,
            rto: RtoEstimator::new(settings.rto),
            rto_at: Instant::MAX,
            persist_at: Instant::MAX,
            probes: 0,
            send_part: false,
            detector: Detector::new(settings.spurious, settings.sack),
            control: None,
            at_once: None,
            syn: Syn::default(),
            full_to: 0,
            last_sent: Instant::ZERO,
            emptied_at: Instant::ZERO,
            limited: 0,
            undone_to: 0,
            timed_out_at: u64::MAX,
            timed_out_to: 0,
            answered: Answered::default(),
            ecn_cut_to: 0,
            ceb: 0,
            last_rtt: Duration::ZERO,
            path_since: Instant::ZERO,
            round: Round::default(),
            delivery: Delivery::new(wants.records),
            told_sent: 0,
            told_acked: 0,
            told_rate: None,
        }
    }

    /// Bytes in flight, as the recovery estimates them.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.board.pipe().saturating_add_signed(-self.status.credit)
    }

    /// Reads what the congestion control allows now.
    #[inline]
    pub(super) fn refresh(&mut self) {
        self.window = self.congestion.window();
        self.pacing = self.congestion.pacing_rate();
    }

    /// The length of the next new segment, and whether it is the FIN.
    #[inline]
    pub(super) fn new_segment(&self, settings: &Settings) -> Option<(u32, bool)> {
        let left = self.end.saturating_sub(self.nxt);
        if left > 0 {
            return Some((left.min(u64::from(settings.smss)) as u32, false));
        }
        let fin = self.closing && !self.fin_sent && settings.handshake == Handshake::Full;
        fin.then_some((1, true))
    }

    /// Whether the receiver's window takes `len` more bytes.
    #[inline]
    pub(super) fn fits(&self, len: u32) -> bool {
        self.nxt + u64::from(len) <= self.edge
    }

    /// Whether a loss found now lowers the window: at most once in a window of data for marks and losses, where both are answered alike
    /// (RFC 3168 §6.1.2).
    pub(super) fn answers_losses(&self) -> bool {
        self.una >= self.ecn_cut_to || self.congestion.answers_losses_after_marks()
    }

    /// Whether an acknowledgement tells of marks that no earlier one has told of.
    pub(super) fn is_marked(&self, header: &TcpHeader, settings: &Settings) -> bool {
        (settings.ecn && header.flags.has(TcpFlags::ECE)) || (settings.accurate_ecn && header.ceb.since(self.ceb) > 0)
    }

    pub(super) fn event(&self, now: Instant, kind: CongestionKind) -> CongestionEvent {
        let (flight, lost) = (self.flight_size(), self.board.total_lost());
        let resent = kind == CongestionKind::Loss && self.board.first_was_resent();
        CongestionEvent { now, kind, flight, lost, resent }
    }

    /// What a controller finds that begins anew in the connection of this number, which this is.
    pub(super) fn so_far(&self, now: Instant, number: u32) -> Begun {
        let (delivered, packets, lost) = (self.delivery.bytes(), self.board.total_delivered(), self.board.total_lost());
        Begun { at: now, connection: number, delivered, packets, lost }
    }

    /// Shows the flight to the congestion control, before anything else is reported to it.
    pub(super) fn show_flight(&mut self) {
        let (in_flight, lost) = (self.in_flight(), self.board.total_lost());
        self.congestion.on_flight(&Flight { in_flight, lost, recovering: self.status.recovering });
    }

    /// Reports a rule of a standard to the congestion control.
    pub(super) fn rule(&mut self, now: Instant, rule: WindowRule) {
        self.show_flight();
        self.congestion.on_rule(now, rule);
    }

    /// Reports a loss or marks to the congestion control. Says how often that lowers its window for it.
    pub(super) fn reduce(&mut self, event: &CongestionEvent) -> u64 {
        let before = self.congestion.cuts();
        self.show_flight();
        self.congestion.on_congestion(event);
        self.congestion.cuts().zip(before).map_or(1, |(cuts, before)| cuts - before)
    }

    /// Reports an acknowledgement to the congestion control that tells of marks by their number, likewise.
    #[cold]
    pub(super) fn reduce_by_count(&mut self, sample: &AckSample) -> u64 {
        let before = self.congestion.cuts();
        self.congestion.on_ack(sample);
        self.congestion.cuts().zip(before).map_or(0, |(cuts, before)| cuts - before)
    }

    /// FlightSize, from which a new threshold is taken: sent and not cumulatively acknowledged,
    /// without limited transmit, and at most the window. Of data that were SACKed during a
    /// recovery much is not yet acknowledged cumulatively, though it has left the network;
    /// RFC 5681 §3.1, equation (4), is an upper bound.
    pub(super) fn flight_size(&self) -> u64 {
        (self.board.flight() - self.limited).min(self.window)
    }

    /// Reports each segment newly taken for lost to the congestion control, if it asks for them; `newly` bytes of the acknowledgement
    /// that told so are not counted as delivered yet.
    #[cold]
    pub(super) fn tell_lost(&mut self, now: Instant, newly: u64) {
        let delivered = self.delivery.bytes() + newly;
        for (id, lost) in self.board.take_newly_lost() {
            if let Some(record) = self.delivery.record(id) {
                let segment = self.board.at(id);
                let (start, bytes) = (segment.start, segment.len.into());
                self.congestion.on_lost(&LostSegment { now, start, bytes, lost, delivered, record });
            }
        }
    }

    /// A segment leaves while nothing is in flight. RFC 5681 §4.1: after an idle time longer than the RTO the window begins anew.
    pub(super) fn restart_if_idle(&mut self, now: Instant, settings: &Settings) {
        if self.nxt > FIRST_BYTE {
            self.show_flight();
            self.congestion.on_idle(now.since(self.emptied_at));
        }
        let most = match settings.idle_restart {
            IdleRestart::Rfc5681 => settings.initial_window,
            IdleRestart::Ns2 => u64::from(settings.smss),
            IdleRestart::Off => return,
        };
        if self.nxt > FIRST_BYTE && now.since(self.last_sent) > self.rto.rto() {
            self.rule(now, WindowRule::Start(most));
            self.refresh();
        }
    }
}
