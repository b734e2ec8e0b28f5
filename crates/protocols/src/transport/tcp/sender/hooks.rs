//! The parts of a connection that most have not: a recovery's timers, Proportional Rate Reduction, and the undo of reductions. One flag
//! says whether there are any.

use lasthop_net::engine::Instant;
use lasthop_net::net::TcpHeader;

use crate::transport::congestion::Undo;

use super::super::prr::Prr;
use super::super::recovery::{Next, SentEvent};
use super::super::scoreboard::{Acked, Id};
use super::super::settings::Settings;
use super::super::undo::Evidence;
use super::Sender;
use super::connection::Connection;
use super::sending::{AtOnce, Choice};

impl Connection {
    /// The segment that leaves whatever the window says, if there is still one.
    #[cold]
    pub(super) fn choose_at_once(&mut self, at_once: AtOnce, settings: &Settings) -> Option<Choice> {
        match at_once {
            AtOnce::First => self.board.first().map(Choice::Again),
            AtOnce::Probe(next) => {
                let choice = match next {
                    Next::Resend(id) => Some(Choice::Again(id)),
                    Next::New => self.new_segment(settings).map(|(len, fin)| Choice::New { len, fin }),
                };
                self.probing = choice.is_some();
                choice
            }
        }
    }

    /// The segment `id` was sent, for the first time if it is `new`.
    pub(super) fn note_sent(&mut self, now: Instant, id: Id, new: bool) {
        let segment = *self.board.at(id);
        if let Some(prr) = &mut self.prr {
            prr.on_sent(segment.len.into());
        }
        if let Some(reversal) = &mut self.reversal
            && !new
        {
            reversal.on_resend(now, segment.start, self.una);
        }
        if self.timed {
            let (nxt, rto_at, probe) = (self.nxt, self.rto_at, std::mem::take(&mut self.probing));
            self.recovery.on_sent(&self.board, &SentEvent { now, id, new, probe, nxt, rto: &self.rto, rto_at });
            self.rearm(now);
        }
    }

    /// Sets the recovery's timer. While it runs the retransmission timer waits (RFC 8985 §8).
    pub(super) fn rearm(&mut self, now: Instant) {
        self.recovery_at = self.recovery.next_timeout();
        if self.recovery_at < Instant::MAX {
            self.recovery_at = self.recovery_at.max(now);
            self.rto_at = self.rto_at.max(self.recovery_at);
        }
    }

    /// The retransmission timer has expired, with `flight` bytes outstanding; `again` for the same segment as the last time.
    #[cold]
    pub(super) fn note_timeout(&mut self, again: bool, flight: u64) {
        self.prr = None;
        self.recovery_at = Instant::MAX;
        if !again {
            self.keep(Some(flight));
        }
    }

    /// Keeps the congestion control as it is before a reduction, if that may be undone.
    pub(super) fn keep(&mut self, timeout: Option<u64>) {
        if let Some(reversal) = &mut self.reversal
            && self.congestion.is_restorable()
        {
            reversal.begin(self.una, self.congestion.snapshot(), self.answered, timeout);
        }
    }

    /// The loss for which the recovery goes on was none, nor are others that are taken for lost.
    #[cold]
    pub(super) fn leave_recovery(&mut self) {
        self.board.unmark_lost();
        self.recovery.leave(&mut self.board, self.una);
        self.status = self.recovery.status();
        self.at_once = None;
    }

    /// A recovery begins: its rate is reduced in proportion, if the window follows a threshold (RFC 9937 §5).
    pub(super) fn begin_prr(&mut self, smss: u64, acked: &Acked) {
        let outstanding = self.board.flight() - self.board.sacked();
        let has_threshold = self.congestion.ssthresh().is_some();
        self.prr = has_threshold.then(|| Prr::begin(smss, outstanding, acked.acked + acked.sacked).into());
    }

    /// Proportional Rate Reduction for an acknowledgement of `acked`, which is `safe` if it makes good progress (RFC 9937 §6.2, §6.4).
    pub(super) fn reduce_rate(&mut self, acked: &Acked, safe: bool) {
        if !self.status.recovering {
            self.prr = None;
        }
        let (inflight, target) = (self.in_flight(), self.window);
        if let Some(prr) = &mut self.prr {
            prr.on_ack(acked.acked + acked.sacked, inflight, target, safe);
        }
    }
}

impl Sender {
    /// Whether an acknowledgement shows that the last reduction of the window was needless. If so, it is undone; the recovery is not.
    pub(super) fn judge_reduction(
        &mut self,
        now: Instant,
        header: &TcpHeader,
        before: u64,
        had_sacked: bool,
        acked: &Acked,
    ) -> bool {
        let c = &mut self.c;
        let Some(reversal) = &mut c.reversal else { return false };
        let Some(last) = reversal.on_ack(&Evidence { header, before, una: c.una, nxt: c.nxt, had_sacked }) else {
            return false;
        };
        // RFC 4015 §3 step (9); RFC 9438 §4.9.2: not if the window is already as large as it was.
        let window = c.congestion.window();
        if c.is_marked(header, &self.settings) || window >= last.before.window() {
            return false;
        }
        c.congestion = last.before;
        c.answered.withdraw(last.answered);
        if let Some(flight) = last.timeout {
            c.detector.close();
            let more = (acked.acked + acked.sacked).min(self.settings.initial_window);
            let window = window.max(c.board.flight() + more);
            c.show_flight();
            c.congestion.on_undo(&Undo { now, flight, window });
            c.timed_out_at = u64::MAX;
        }
        c.prr = None;
        c.refresh();
        self.totals.undone += 1;
        true
    }
}
