//! Startup and Drain: when the pipe is full (draft-ietf-ccwg-bbr §5.3.1, §5.3.2).

use super::Bbr;
use super::ack::Ack;
use super::state::State;

/// A rate that grows by less than this is a plateau (§5.3.1.2).
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds on the plateau (§5.3.1.2).
const FULL_BW_ROUNDS: u32 = 3;
/// BBRStartupFullLossCnt: ranges lost in a round (§5.3.1.3).
const STARTUP_FULL_LOSS_CNT: u32 = 6;
/// Rounds after which Drain ends in any case (§5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// The full-pipe estimator (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// BBR.full_bw_reached.
    pub(super) reached: bool,
    /// BBR.full_bw_now.
    pub(super) now: bool,
    /// BBR.full_bw, bytes/s.
    bw: f64,
    /// BBR.full_bw_count.
    pub(super) count: u32,
}

impl FullPipe {
    /// ResetFullBW(), with the rate from which growth counts.
    pub(super) fn reset(&mut self, bw: f64) {
        *self = Self { reached: self.reached, now: false, bw, count: 0 };
    }

    /// CheckFullBWReached(), at the start of a round that is not application-limited.
    fn check(&mut self, rate: f64) {
        if rate >= self.bw * FULL_BW_GROWTH {
            self.reset(rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= FULL_BW_ROUNDS;
        self.reached |= self.now;
    }
}

impl Bbr {
    /// CheckFullBWReached() (§5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self, ack: &Ack) {
        if !self.full.now && self.rounds.start && !ack.app_limited {
            self.full.check(ack.rate);
        }
    }

    /// CheckStartupDone() (§5.3.1.1).
    pub(super) fn check_startup_done(&mut self, ack: &Ack) {
        self.check_startup_high_loss(ack);
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// CheckStartupHighLoss() (§5.3.1.3).
    fn check_startup_high_loss(&mut self, ack: &Ack) {
        if self.full.reached || self.state != State::Startup || !ack.fast_recovery {
            return;
        }
        let high = if self.sack {
            let full_round = ack.prior_delivered.is_some_and(|prior| prior >= self.recovery_from);
            let ranges = self.signals.ranges >= STARTUP_FULL_LOSS_CNT;
            self.signals.round_start && full_round && ranges && self.is_loss_high(ack.lost, ack.tx_in_flight)
        } else {
            self.signals.ranges > 0
        };
        if high {
            self.full.now = true;
            self.full.reached = true;
            self.bounds.inflight_longterm = (self.bdp_multiple(self.bw, 1.0) as u64).max(self.signals.inflight_latest);
        }
    }

    /// CheckDrainDone() (§5.3.2).
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let drained = || ack.in_flight <= self.inflight(self.bw, 1.0);
        if self.state == State::Drain && (drained() || self.rounds.count > self.drain_start_round + DRAIN_ROUNDS) {
            self.start_down(ack.now);
        }
    }
}
