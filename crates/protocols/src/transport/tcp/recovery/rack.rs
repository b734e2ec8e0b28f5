//! RACK-TLP (RFC 8985): a segment is lost when another that was sent later has been delivered, and it has itself been under way for longer
//! than a round trip and a reordering window. This holds for segments sent again too, so lost retransmissions are found. A timer
//! looks again where no acknowledgement does, and a probe asks for an acknowledgement at the tail of a flight.
//!
//! How much is sent while losses are repaired says [Proportional Rate Reduction](super::super::prr), as §9.3 recommends. Without
//! it a lost retransmission is a second sign of congestion.

mod order;
mod probe;
mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Instant};
use lasthop_net::net::{self, TcpFlags};

use super::super::scoreboard::{Delivered, Id, Scoreboard};
use super::super::settings::Settings;
use super::{AckEvent, Cut, DUP_THRESH, LossRecovery, Next, RecoveryConfig, SentEvent, Status, TimerEvent, Verdict};
use order::SendOrder;
use probe::Probe;
use window::{MinRtt, ReorderingWindow};

/// RACK-TLP's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Proportional Rate Reduction (RFC 9937) while it recovers. Default: on (RFC 8985 §9.3).
    pub prr: bool,
    /// Tail loss probes (RFC 8985 §7). Default: on.
    pub tlp: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { prr: true, tlp: true }
    }
}

impl RecoveryConfig for Config {
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery> {
        Box::new(Rack::new(*self, settings))
    }

    fn reads_sack(&self) -> bool {
        true
    }

    fn has_prr(&self) -> bool {
        self.prr
    }

    fn undoes(&self) -> bool {
        true
    }
}

/// The recovery.
pub struct Rack {
    config: Config,
    limited_transmit: bool,
    phase: Phase,
    /// SND.NXT when the last recovery or timeout began.
    recovery_point: u64,
    /// When that was.
    cut_at: Instant,
    credit: i64,
    order: SendOrder,
    /// What the last acknowledgement delivered.
    delivered: Delivered,
    /// RACK.xmit_ts and RACK.end_seq: when the newest segment delivered was sent, and the number behind it.
    newest: (Instant, u64),
    /// RACK.rtt.
    rtt: Duration,
    /// `newest` and `rtt` at the last timeout.
    before_timeout: ((Instant, u64), Duration),
    min_rtt: MinRtt,
    /// RACK.fack.
    fack: u64,
    /// RACK.segs_sacked.
    segs_sacked: u32,
    window: ReorderingWindow,
    /// RACK.reo_wnd.
    reo_wnd: Duration,
    probe: Probe,
    timer: Timer,
    probes: u64,
}

/// The kind of recovery that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Fast recovery.
    Fast,
    /// RTO recovery.
    Timeout,
}

/// §5.4. Only one of the two runs at a time (§8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Off,
    /// The RACK reordering timer.
    Reordering(Instant),
    /// TLP PTO.
    Probe(Instant),
}

/// What detection has found.
#[derive(Clone, Copy, Default)]
struct Found {
    /// When the newest of the lost segments that had been sent again was sent.
    again_at: Option<Instant>,
}

impl Rack {
    /// At the start of a connection.
    pub fn new(config: Config, settings: &Settings) -> Self {
        // §7.2: the budget for a delayed acknowledgement, where the receiver delays any.
        let max_ack_delay = if settings.ack_every > 1 { settings.ack_delay } else { Duration::ZERO };
        Self {
            config,
            limited_transmit: settings.limited_transmit,
            phase: Phase::Open,
            recovery_point: 0,
            cut_at: Instant::ZERO,
            credit: 0,
            order: SendOrder::new(),
            delivered: Delivered::default(),
            newest: (Instant::ZERO, 0),
            rtt: Duration::ZERO,
            before_timeout: ((Instant::ZERO, 0), Duration::ZERO),
            min_rtt: MinRtt::default(),
            fack: 0,
            segs_sacked: 0,
            window: ReorderingWindow::default(),
            reo_wnd: Duration::ZERO,
            probe: Probe::new(max_ack_delay),
            timer: Timer::Off,
            probes: 0,
        }
    }

    /// §6.2, steps 2 and 3, for each segment that the acknowledgement delivered.
    fn take_in(&mut self, board: &Scoreboard, ack: &AckEvent) {
        // By end_seq, as step 3 asks; those acknowledged cumulatively lie below the others.
        self.delivered.sacked.sort_unstable();
        let delivered = std::mem::take(&mut self.delivered);
        let echo = ack.header.flags.has(TcpFlags::TIMESTAMPS).then_some(ack.header.ts_echo);
        let mut latest: Option<(Instant, u64)> = None;
        for id in delivered.acked.clone().chain(delivered.sacked.iter().copied()) {
            let segment = board.at(id);
            if id < delivered.acked.end {
                if segment.is_sacked() {
                    self.segs_sacked -= 1;
                    continue;
                }
            } else {
                self.segs_sacked += 1;
            }
            self.order.remove(id);
            let (at, end, resent) = (segment.sent_at, segment.end(), segment.was_resent());
            if end > self.fack {
                self.fack = end;
            } else if end < self.fack && !resent {
                self.window.reordering_seen = true;
            }
            // A retransmission may be acknowledged before it can have arrived: the original has.
            let early = self.min_rtt.get().is_some_and(|least| ack.now.since(at) < least);
            // An acknowledgement of a segment behind a gap echoes the time stamp of one before the gap (RFC 7323 §4.3).
            let in_order = id < delivered.acked.end;
            if !(resent && (early || (in_order && echo.is_some_and(|echo| echo < at)))) {
                latest = latest.max(Some((at, end)));
            }
        }
        self.delivered = delivered;
        if let Some(latest) = latest {
            self.rtt = ack.now.since(latest.0);
            self.newest = self.newest.max(latest);
            self.order.reach(board, self.newest.0, self.newest.1);
        }
    }

    /// §6.2, step 5, RACK_detect_loss.
    fn detect(&mut self, board: &mut Scoreboard, now: Instant, srtt: Option<Duration>) -> Found {
        let eager = self.phase != Phase::Open || self.segs_sacked >= DUP_THRESH;
        self.reo_wnd = self.window.get(self.min_rtt.get(), srtt, eager);
        let mut found = Found::default();
        while let Some((id, _)) = self.order.reached()
            && self.is_due(board, id, now)
        {
            if board.at(id).was_resent() {
                found.again_at = found.again_at.max(Some(board.at(id).sent_at));
            }
            self.lose(board, id);
        }
        found
    }

    /// Whether the segment has been under way for long enough to be lost.
    fn is_due(&self, board: &Scoreboard, id: Id, now: Instant) -> bool {
        self.lost_at(board, id) <= now
    }

    fn lost_at(&self, board: &Scoreboard, id: Id) -> Instant {
        board.at(id).sent_at + self.rtt + self.reo_wnd
    }

    fn lose(&mut self, board: &mut Scoreboard, id: Id) {
        self.order.remove(id);
        board.mark_lost_alone(id);
    }

    /// Begins a recovery if there is a reason: a loss where none goes on; a lost retransmission after a timeout, and, without
    /// Proportional Rate Reduction, in any recovery, but of those sent before the last cut none (RFC 5681 §4.3; RFC 8985 §9.3).
    fn enter(&mut self, board: &mut Scoreboard, found: Found, now: Instant, nxt: u64) -> Option<Verdict> {
        let again = found.again_at.is_some_and(|at| at >= self.cut_at);
        let begins = match self.phase {
            Phase::Open => board.lost() > 0,
            Phase::Timeout => again,
            Phase::Fast => again && !self.config.prr,
        };
        if !begins {
            return None;
        }
        self.phase = Phase::Fast;
        self.recovery_point = nxt;
        self.cut_at = now;
        self.probe.reset();
        // Proportional Rate Reduction lets the first retransmission out itself.
        let resend = !self.config.prr && board.first_is_lost();
        Some(Verdict::Enter { limit: u64::MAX, cut: Cut::Once, resend })
    }

    /// The reordering timer, if a segment may turn out lost without a further acknowledgement.
    fn reordering_timer(&self, board: &Scoreboard) -> Option<Timer> {
        self.order.reached().map(|(_, last)| Timer::Reordering(self.lost_at(board, last)))
    }

    /// §7.2: whether a loss probe is to be scheduled now. None is that could not leave (§7.3): it would only put the retransmission timer off,
    /// for ever if new data keep coming.
    fn may_probe(&self, board: &Scoreboard) -> bool {
        let quiet = self.phase == Phase::Open && self.segs_sacked == 0 && !board.is_empty();
        self.config.tlp && quiet && self.probe.may_leave()
    }

    /// §7.2, with the time at which the retransmission timer expires. Without an estimate of the round-trip time no probe may leave (§7.3,
    /// condition 2).
    fn probe_timer(&self, board: &Scoreboard, now: Instant, srtt: Option<Duration>, rto_at: Instant) -> Timer {
        let alone = board.next() - board.una() == 1;
        srtt.map_or(Timer::Off, |srtt| Timer::Probe((now + self.probe.timeout(srtt, alone)).min(rto_at)))
    }
}

impl LossRecovery for Rack {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        board.take_delivered(&mut self.delivered);
        if let Some(rtt) = ack.rtt {
            self.min_rtt.on_sample(ack.now, rtt);
            self.probe.on_sample();
        }
        self.take_in(board, ack);
        let was = self.phase;
        let exit = was != Phase::Open && ack.una >= self.recovery_point;
        if exit {
            self.phase = Phase::Open;
        }
        let mut verdict = match was {
            Phase::Fast if exit => Verdict::Exit { limit: u64::MAX },
            Phase::Fast if ack.advance > 0 => Verdict::Partial { resend: false, hold_timer: false },
            _ => Verdict::Usual,
        };
        self.window.on_ack(ack.una, ack.nxt, ack.header.sack().reports_duplicate(ack.una), exit);
        let srtt = ack.rto.srtt();
        let found = self.detect(board, ack.now, srtt);
        if let Some(enter) = self.enter(board, found, ack.now, ack.nxt) {
            verdict = enter;
        } else if self.probe.on_ack(ack) {
            verdict = Verdict::Repaired;
        }
        self.timer = match self.reordering_timer(board) {
            Some(timer) => timer,
            None if !self.may_probe(board) => Timer::Off,
            None if ack.advance > 0 => self.probe_timer(board, ack.now, srtt, ack.now + ack.rto.rto()),
            None if matches!(self.timer, Timer::Probe(_)) => self.timer,
            None => Timer::Off,
        };
        // Without limited transmit SACKed segments release no new ones until a loss is clear.
        let hold = !self.limited_transmit && self.phase == Phase::Open;
        self.credit = if hold { -(board.sacked() as i64) } else { 0 };
        verdict
    }

    fn next(&mut self, board: &mut Scoreboard, new_data: bool) -> Option<Next> {
        board.next_lost_alone().map(Next::Resend).or(new_data.then_some(Next::New))
    }

    /// §6.3: the first segment is lost, and others that have been under way for long enough.
    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, nxt: u64) {
        while let Some(id) = self.order.first()
            && self.is_due(board, id, now)
        {
            self.lose(board, id);
        }
        if let Some(first) = board.first() {
            self.lose(board, first);
        }
        self.phase = Phase::Timeout;
        self.before_timeout = (self.newest, self.rtt);
        self.recovery_point = nxt;
        self.cut_at = now;
        self.credit = 0;
        self.probe.reset();
        self.timer = Timer::Off;
    }

    /// The first acknowledgement after the timeout was the original's, not that of the segment sent again: what was read from it is void.
    fn on_undo(&mut self, board: &mut Scoreboard, una: u64) {
        (self.newest, self.rtt) = self.before_timeout;
        self.leave(board, una);
    }

    fn leave(&mut self, board: &mut Scoreboard, una: u64) {
        board.take_delivered(&mut self.delivered);
        self.phase = Phase::Open;
        self.recovery_point = una;
        self.segs_sacked = (board.una()..board.next()).filter(|&id| board.at(id).is_sacked()).count() as u32;
        self.order.rebuild(board);
        self.order.reach(board, self.newest.0, self.newest.1);
        self.timer = self.reordering_timer(board).unwrap_or(Timer::Off);
    }

    fn on_opened(&mut self, now: Instant, rtt: Duration) {
        self.min_rtt.on_sample(now, rtt);
    }

    fn on_path_change(&mut self) {
        self.min_rtt = MinRtt::default();
    }

    fn status(&self) -> Status {
        let duplicates = if self.phase == Phase::Open { self.segs_sacked } else { 0 };
        // It needs the send time of every segment that is delivered.
        Status { recovering: self.phase == Phase::Fast, alert: true, credit: self.credit, duplicates }
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn on_sent(&mut self, board: &Scoreboard, sent: &SentEvent) {
        self.order.push(board, sent.id);
        if sent.probe {
            self.probe.on_sent(sent.nxt, !sent.new);
            self.probes += 1;
        } else if sent.new && self.may_probe(board) && !matches!(self.timer, Timer::Reordering(_)) {
            self.timer = self.probe_timer(board, sent.now, sent.rto.srtt(), sent.rto_at);
        }
    }

    fn next_timeout(&self) -> Instant {
        match self.timer {
            Timer::Off => Instant::MAX,
            Timer::Reordering(at) | Timer::Probe(at) => at,
        }
    }

    fn on_timer(&mut self, board: &mut Scoreboard, timer: &TimerEvent) -> Verdict {
        match std::mem::replace(&mut self.timer, Timer::Off) {
            Timer::Reordering(_) => {
                let found = self.detect(board, timer.now, timer.rto.srtt());
                let verdict = self.enter(board, found, timer.now, timer.nxt);
                self.timer = self.reordering_timer(board).unwrap_or(Timer::Off);
                verdict.unwrap_or(Verdict::Usual)
            }
            // §7.3.
            Timer::Probe(_) if self.may_probe(board) => {
                Verdict::Probe(if timer.new_data { Next::New } else { Next::Resend(board.next() - 1) })
            }
            _ => Verdict::Usual,
        }
    }

    fn sample(&self, probe: &mut dyn net::Probe) {
        probe.value("tail_loss_probes", self.probes as f64);
        probe.value("reordering_window_ms", self.reo_wnd.as_secs_f64() * 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_path_leaves_no_least_round_trip_time() {
        let settings = Settings::new(&crate::transport::tcp::config::Config::default());
        let mut rack = Rack::new(Config::default(), &settings);
        rack.min_rtt.on_sample(Instant::ZERO, Duration::from_millis(20));
        assert!(rack.min_rtt.get().is_some());
        rack.on_path_change();
        assert_eq!(rack.min_rtt.get(), None);
    }
}
