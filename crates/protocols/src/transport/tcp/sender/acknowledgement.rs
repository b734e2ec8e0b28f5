//! What an acknowledgement changes: the scoreboard, the estimates, the recovery, the window.
//!
//! Every acknowledgement of a segment sent once gives a sample of the round-trip time for the
//! congestion control and for the tables. The RTO estimator takes one in each round trip, as
//! RFC 6298 §3 asks at least, since its gains are made for that (RFC 7323 Appendix G).

use crate::transport::congestion::{AckSample, CongestionEvent, CongestionKind, Undo, WindowRule};
use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{TcpFlags, TcpHeader};

use super::super::answered::Answered;
use super::super::config::Spurious;
use super::super::recovery::{AckEvent, Cut, Verdict};
use super::super::scoreboard::Acked;
use super::super::settings::FIRST_BYTE;
use super::super::spurious::{Evidence, Judgement};
use super::Sender;
use super::sending::AtOnce;

impl Sender {
    /// An acknowledgement of an open connection has come.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Instant, header: &TcpHeader) {
        let c = &mut self.c;
        // Of data, an acknowledgement without the SYN says what one of the SYN alone says.
        let ack = header.ack.max(FIRST_BYTE);
        debug_assert!(ack <= c.nxt, "nothing is acknowledged that was never sent");
        if ack < c.una || ack > c.nxt {
            return;
        }
        c.edge = ack + u64::from(header.window);
        let prior_in_flight = c.in_flight();
        let (before, advance) = (c.una, ack - c.una);
        let had_sacked = c.hooked && c.board.sacked() > 0;
        let limited = c.limited;
        let mut acked = Acked::default();
        if advance > 0 {
            c.una = ack;
            c.limited = 0;
            self.totals.acked_bytes += advance - u64::from(c.fin_sent && ack == c.nxt);
            c.board.on_ack(ack, &mut acked);
            self.truth.on_ack(ack, header.arrived, header.flags.has(TcpFlags::DUPLICATE));
        }
        if self.settings.sack && !header.sack().is_empty() {
            c.board.on_sack(ack, header.sack(), &mut acked);
            if self.settings.spurious == Spurious::Eifel && header.sack().reports_duplicate(ack) {
                c.detector.on_dsack();
            }
        }

        c.round.on_ack(ack, c.nxt);
        let stamped = header.flags.has(TcpFlags::TIMESTAMPS);
        let sent_at = if stamped && advance > 0 { Some(header.ts_echo) } else { acked.timed };
        if let Some(at) = sent_at {
            c.last_rtt = now.since(at);
            self.rtt.add(c.last_rtt.as_nanos());
        }
        let of_this_path = sent_at.is_some_and(|at| at >= c.path_since);
        let rtt = of_this_path.then_some(c.last_rtt);
        if let Some(rtt) = rtt {
            let fresh = ack > c.undone_to;
            if c.round.wants_sample() || c.rto.waits(fresh) {
                c.rto.on_sample(rtt, fresh);
            }
        }

        if c.detector.is_open() && self.judge(now, header, advance, &acked) {
            return;
        }
        let undone = self.c.hooked && self.judge_reduction(now, header, before, had_sacked, &acked);
        let c = &mut self.c;
        let was_recovering = c.status.recovering;
        let lost_before = c.board.total_lost();
        let mut hold_timer = false;
        if advance == 0 || c.status.alert || c.board.is_marked() {
            let event = AckEvent {
                header,
                rto: &c.rto,
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
            if undone && !matches!(verdict, Verdict::Enter { .. }) {
                c.leave_recovery();
            } else {
                hold_timer = self.obey(now, verdict, advance, &acked);
            }
        } else if undone {
            c.leave_recovery();
        }
        let c = &mut self.c;
        let ce = if self.settings.accurate_ecn { header.ceb.since(c.ceb) } else { 0 };
        c.ceb += ce;
        let echoed = self.settings.ecn && header.flags.has(TcpFlags::ECE) && !header.flags.has(TcpFlags::SYN);
        let ece = ce > 0 || echoed;
        if ece && !self.settings.l4s && !c.status.recovering && ack > c.answered.to {
            // RFC 3168 §6.1.2: as for a loss, at most once in a window of data. FlightSize is that before the acknowledgement came.
            let flight = (c.board.flight() + advance - limited).min(c.window);
            let event = CongestionEvent { flight, ..c.event(now, CongestionKind::Ecn) };
            self.totals.cuts += c.reduce(&event);
            c.answered = Answered { to: c.nxt, tell: true };
            c.ecn_cut_to = c.nxt;
            if let Some(reversal) = &mut c.reversal {
                reversal.end();
            }
        }

        let lost = c.board.total_lost() - lost_before;
        let delivered = acked.acked + acked.sacked;
        if lost > 0 {
            c.tell_lost(now, delivered);
        }
        if delivered > 0 || advance > 0 || ece {
            let sample = AckSample {
                now,
                acked: advance,
                sacked: acked.sacked,
                lost,
                prior_in_flight,
                in_flight: c.in_flight(),
                rtt,
                one_way: (stamped && advance > 0 && of_this_path).then(|| header.ts_val.since(header.ts_echo)),
                srtt: c.rto.srtt().unwrap_or(Duration::ZERO),
                rttvar: if c.wants.records { c.rto.rttvar() } else { Duration::ZERO },
                rate: c.delivery.on_ack(now, delivered, acked.newest, c.board.una(), c.board.total_lost(), rtt),
                delivered: c.delivery.bytes(),
                packets: c.board.total_delivered(),
                ece: u32::from(ece),
                ce,
                ack_every: 1,
                round: c.delivery.round().unwrap_or(c.round.count()),
                window_limited: before < c.full_to,
                recovering: was_recovering || c.status.recovering,
                after_timeout: c.wants.records && ack < c.timed_out_to,
            };
            // RFC 4015 §3.4: the window is not changed further for the acknowledgement that restored it.
            if ce > 0 && !undone {
                self.totals.cuts += c.reduce_by_count(&sample);
            } else if !undone {
                c.congestion.on_ack(&sample);
            }
            if c.wants.records && c.congestion.holds_back() {
                c.delivery.on_app_limited(c.in_flight());
            }
        }
        c.refresh();
        if advance > 0 {
            c.persist_at = Instant::MAX;
            c.probes = 0;
            if c.board.is_empty() {
                c.rto_at = Instant::MAX;
                c.emptied_at = now;
            } else if !hold_timer {
                // RFC 6298 §5.3.
                c.rto_at = now + c.rto.rto();
            }
        }
        if c.hooked {
            c.reduce_rate(&acked, advance > 0 && lost == 0);
            c.rearm(now);
        }
    }

    /// Does as the recovery says, on an acknowledgement of `acked` that moved SND.UNA by `advance` bytes, or on a timer's expiry. Says
    /// whether the retransmission timer goes on as it runs.
    pub(super) fn obey(&mut self, now: Instant, verdict: Verdict, advance: u64, acked: &Acked) -> bool {
        let c = &mut self.c;
        match verdict {
            Verdict::Usual => {}
            Verdict::Enter { limit, cut, resend } => {
                self.on_loss(now, limit, cut, resend);
                if self.settings.prr {
                    self.c.begin_prr(self.settings.smss.into(), acked);
                }
            }
            Verdict::Partial { resend, hold_timer } => {
                c.at_once = resend.then_some(AtOnce::First);
                return hold_timer;
            }
            Verdict::Exit { limit } => c.rule(now, WindowRule::Recovery(limit)),
            Verdict::Repaired => self.on_repaired(now, advance),
            Verdict::Probe(next) => c.at_once = Some(AtOnce::Probe(next)),
        }
        false
    }

    /// The probe of the recovery has repaired a loss; the acknowledgement of that moved SND.UNA by `advance` bytes. FlightSize is that
    /// before it came.
    #[cold]
    fn on_repaired(&mut self, now: Instant, advance: u64) {
        let c = &mut self.c;
        if c.answers_losses() {
            let flight = (c.board.flight() + advance).min(c.window);
            let event = CongestionEvent { flight, ..c.event(now, CongestionKind::Loss) };
            self.totals.cuts += c.reduce(&event);
            c.answered = Answered { to: c.nxt, tell: self.settings.ecn };
        }
        if let Some(reversal) = &mut c.reversal {
            reversal.end();
        }
    }

    /// A fast retransmit begins; `cut` says how it is reported to the congestion control.
    fn on_loss(&mut self, now: Instant, limit: u64, cut: Cut, resend: bool) {
        let c = &mut self.c;
        self.totals.fast_retransmits += 1;
        // Judged one by one, segments that are lost may all have been sent again, in a recovery that has just ended.
        let seq = if c.timed { c.board.next_lost_alone().map(|id| c.board.at(id).start) } else { Some(c.una) };
        if let Some(seq) = seq {
            self.truth.on_fast_retransmit(seq, self.number + 1);
        }
        c.at_once = resend.then_some(AtOnce::First);
        if cut != Cut::None && c.answers_losses() {
            c.keep(None);
            let event = c.event(now, CongestionKind::Loss);
            let slow_start = c.congestion.ssthresh().is_none_or(|ssthresh| c.window < ssthresh);
            self.totals.cuts += c.reduce(&event);
            if cut == Cut::TwiceInSlowStart && slow_start {
                let flight = c.congestion.window();
                c.congestion.on_congestion(&CongestionEvent { flight, ..event });
            }
            c.answered = Answered { to: c.nxt, tell: self.settings.ecn };
        }
        c.rule(now, WindowRule::Recovery(limit));
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
            dsack: header.sack().reports_duplicate(c.una),
            new_data,
        };
        match c.detector.on_ack(&evidence) {
            Judgement::Open => false,
            Judgement::Genuine { three_segments } => {
                if three_segments {
                    // RFC 5682 §2.1 step 3a: as a sender without F-RTO would have by now.
                    c.rule(now, WindowRule::Genuine(3 * u64::from(self.settings.smss)));
                    c.refresh();
                }
                false
            }
            Judgement::Spurious(saved) => {
                self.totals.detected_spurious += 1;
                let (delivered, lost) = (acked.acked + acked.sacked, c.board.total_lost());
                c.delivery.on_ack(now, delivered, acked.newest, c.board.una(), lost, None);
                c.board.unmark_lost();
                c.recovery.on_undo(&mut c.board, c.una);
                c.status = c.recovery.status();
                if let Some(reversal) = &mut c.reversal {
                    reversal.end();
                }
                let marked = c.is_marked(header, &self.settings);
                if let Some(before) = saved.congestion.filter(|_| !marked) {
                    // RFC 4015 §3 step (9), with FlightSize as it is after this acknowledgement.
                    let more = (acked.acked + acked.sacked).min(self.settings.initial_window);
                    c.congestion = before;
                    c.answered.withdraw(saved.answered);
                    c.show_flight();
                    c.congestion.on_undo(&Undo { now, flight: saved.flight, window: c.board.flight() + more });
                }
                c.undone_to = saved.nxt;
                c.rto.undo(saved.estimate);
                c.at_once = None;
                c.timed_out_at = u64::MAX;
                c.timed_out_to = 0;
                c.refresh();
                c.rto_at = now + c.rto.rto();
                if c.board.is_empty() {
                    c.rto_at = Instant::MAX;
                    c.emptied_at = now;
                }
                if c.hooked {
                    c.rearm(now);
                }
                true
            }
        }
    }
}
