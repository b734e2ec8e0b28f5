//! The retransmission timer and the persist timer. When they run and stop is decided where
//! segments are sent and acknowledged.

use lasthop_net::engine::{Duration, Instant};

use super::super::answered::Answered;
use super::super::recovery::TimerEvent;
use super::super::scoreboard::Acked;
use super::super::spurious::Saved;
use super::Sender;
use super::connection::Connection;
use super::handshake::Phase;
use super::sending::{AtOnce, Choice, Control};

impl Sender {
    /// The retransmission timer has expired (RFC 6298 §5.4 to §5.7).
    pub(super) fn on_rto(&mut self, now: Instant) {
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
        let saved = wanted.then(|| Saved {
            congestion: Some(c.congestion.snapshot()),
            answered: c.answered,
            flight: sent,
            nxt: c.nxt,
            estimate,
        });
        c.detector.on_timeout(now, c.una, c.nxt, saved);
        let again = c.timed_out_at == c.una;
        c.timed_out_at = c.una;
        c.timed_out_to = c.nxt;
        if c.hooked {
            c.note_timeout(again, sent);
        }
        c.recovery.on_timeout(now, &mut c.board, c.nxt);
        c.status = c.recovery.status();
        c.tell_lost(now, 0);
        c.show_flight();
        c.congestion.on_timeout(now, flight, again);
        c.limited = 0;
        c.answered = Answered { to: c.nxt, tell: self.settings.ecn };
        self.totals.cuts += u64::from(!again);
        c.rto.back_off();
        c.rto_at = now + c.rto.rto();
        c.release = now;
        c.at_once = Some(AtOnce::First);
        c.refresh();
    }

    /// The recovery's own timer has expired. The retransmission timer, in whose place it ran, starts anew (RFC 8985 §7.3, §8).
    #[cold]
    pub(super) fn on_recovery_timer(&mut self, now: Instant) {
        let c = &mut self.c;
        let new_data = c.new_segment(&self.settings).is_some_and(|(len, fin)| fin || c.fits(len));
        let event = TimerEvent { now, una: c.una, nxt: c.nxt, new_data, rto: &c.rto };
        let verdict = c.recovery.on_timer(&mut c.board, &event);
        c.status = c.recovery.status();
        if !c.board.is_empty() {
            c.rto_at = now + c.rto.rto();
        }
        self.obey(now, verdict, 0, &Acked::default());
        let c = &mut self.c;
        c.tell_lost(now, 0);
        c.refresh();
        c.reduce_rate(&Acked::default(), false);
        c.rearm(now);
    }

    /// The persist timer has expired: as much as the window takes, or a probe.
    pub(super) fn on_persist(&mut self, now: Instant) {
        let c = &mut self.c;
        c.persist_at = Instant::MAX;
        c.send_part = c.edge > c.nxt;
        if !c.send_part {
            c.probes += 1;
            c.control = Some(Control::Probe);
            c.persist_at = now + c.persist_interval();
        }
    }
}

impl Connection {
    /// There are data, but the receiver's window does not take a segment of them. If nothing is
    /// in flight that could change this, the persist timer has to (RFC 9293 §3.8.6.1); when it
    /// has expired, part of a segment leaves if there is room for it (§3.8.6.2.1).
    #[cold]
    pub(super) fn on_closed_window(&mut self, now: Instant) -> Option<Choice> {
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

    /// The interval of the persist timer: the RTO, doubled for each probe, at most a minute
    /// (RFC 1122 §4.2.2.17).
    fn persist_interval(&self) -> Duration {
        (self.rto.rto() * (1 << self.probes.min(6))).min(Duration::from_secs(60))
    }
}
