//! Vegas' loss recovery (Brakmo, Peterson 1995, "New retransmission mechanism"): the sender knows when each segment left,
//! and need not wait for the third duplicate acknowledgement if the first unacknowledged segment
//! has been under way longer than a fine timeout τ = 17/16·(srtt + 2·mdev).
//!
//! It looks on each duplicate acknowledgement, and on the first and second acknowledgement of new
//! data after a retransmission, which show other losses of the same window. The window is cut
//! only for a segment that left after the last cut: one that left before says nothing of the rate
//! to which the window has been cut. Otherwise recovery is Reno's: it ends with the first
//! new acknowledgement that shows no further loss. The coarse timer stays as it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Instant};

use super::super::scoreboard::Scoreboard;
use super::super::settings::Settings;
use super::fast::FastRecovery;
use super::{AckEvent, Cut, LossRecovery, RecoveryConfig, Status, Verdict};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl RecoveryConfig for Config {
    fn build(&self, settings: &Settings) -> Box<dyn LossRecovery> {
        Box::new(Vegas::new(settings))
    }
}

/// The recovery.
pub struct Vegas {
    fast: FastRecovery,
    timeout: FineTimeout,
    /// How many acknowledgements of new data are still to be looked at.
    checks: u32,
    /// When the window was cut last.
    cut_at: Instant,
}

/// The estimate of the round-trip time from which τ comes: Jacobson's, with a sample from each
/// acknowledgement and without a coarse clock. Scaled as in Jacobson 1988, Appendix A, in
/// nanoseconds, so that nothing is lost to rounding.
#[derive(Clone, Copy, Debug, Default)]
struct FineTimeout {
    /// 8·srtt; zero before the first sample.
    mean: u64,
    /// 4·mdev.
    deviation: u64,
}

impl Vegas {
    /// At the start of a connection.
    pub fn new(settings: &Settings) -> Self {
        let (fast, timeout) = (FastRecovery::new(settings), FineTimeout::default());
        Self { fast, timeout, checks: 0, cut_at: Instant::ZERO }
    }

    /// Whether the first segment has been under way for τ.
    fn expired(&self, board: &Scoreboard, now: Instant) -> bool {
        let sent = board.first().map(|id| board.at(id).sent_at);
        sent.zip(self.timeout.get()).is_some_and(|(at, timeout)| now.since(at) >= timeout)
    }

    /// The first segment is sent again. Segments that leave at the instant of a cut leave after it.
    fn resend(&mut self, board: &Scoreboard, now: Instant, was_recovering: bool) -> Verdict {
        self.checks = CHECKS;
        let cut = board.first().is_some_and(|id| board.at(id).sent_at >= self.cut_at);
        if cut {
            self.cut_at = now;
        }
        match was_recovering && !cut {
            true => Verdict::Partial { resend: true, hold_timer: false },
            false => Verdict::Enter { limit: u64::MAX, cut: if cut { Cut::Once } else { Cut::None }, resend: true },
        }
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        let fast = &mut self.fast;
        let was_recovering = fast.recovering;
        let third = fast.duplicates.count(ack) && !was_recovering;
        let may_be_loss = fast.duplicates.may_be_loss(ack.una);
        let expired = may_be_loss && self.expired(board, ack.now);
        if !third && !expired {
            self.fast.inflate(ack.una);
            return Verdict::Usual;
        }
        if was_recovering {
            self.fast.inflate(ack.una);
            board.begin();
            board.mark_first_lost();
        } else {
            self.fast.begin(board);
        }
        self.resend(board, ack.now, was_recovering)
    }

    fn on_new(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        let check = self.checks > 0;
        self.checks = self.checks.saturating_sub(1);
        if check && self.expired(board, ack.now) {
            self.fast.repair_next(board, ack.advance);
            let was_recovering = std::mem::replace(&mut self.fast.recovering, true);
            return self.resend(board, ack.now, was_recovering);
        }
        if self.fast.leave() { Verdict::Exit { limit: u64::MAX } } else { Verdict::Usual }
    }
}

impl LossRecovery for Vegas {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckEvent) -> Verdict {
        if let Some(rtt) = ack.rtt {
            self.timeout.on_sample(rtt);
        }
        if ack.advance > 0 {
            return self.on_new(board, ack);
        }
        if ack.duplicate { self.on_duplicate(board, ack) } else { Verdict::Usual }
    }

    fn on_timeout(&mut self, now: Instant, board: &mut Scoreboard, nxt: u64) {
        self.fast.on_timeout(board, nxt);
        self.checks = 0;
        self.cut_at = now;
    }

    fn leave(&mut self, _board: &mut Scoreboard, _una: u64) {
        self.fast.leave();
    }

    fn on_path_change(&mut self) {
        self.timeout = FineTimeout::default();
    }

    fn status(&self) -> Status {
        // It measures round-trip times, so it needs every acknowledgement.
        Status { alert: true, ..self.fast.status() }
    }
}

impl FineTimeout {
    /// The first sample counts as in ns-2.35 (`tcp-vegas.cc`): mdev is a quarter of it.
    fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos();
        if self.mean == 0 {
            *self = Self { mean: 8 * rtt, deviation: rtt };
            return;
        }
        let srtt = self.mean / 8;
        self.mean = self.mean - srtt + rtt;
        self.deviation = self.deviation - self.deviation / 4 + rtt.abs_diff(srtt);
    }

    /// τ; `None` before the first sample.
    fn get(&self) -> Option<Duration> {
        let sum = (self.mean / 4 + self.deviation) / 2;
        (self.mean > 0).then(|| Duration::from_nanos(sum + sum / 16))
    }
}

/// The number of acknowledgements after a retransmission that are checked.
const CHECKS: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand. 100: srtt 100, mdev 25, τ = 17/16·150. 110: srtt 101.25, mdev 3/4·25 + 10/4.
    /// 90: srtt 101.25 − 11.25/8, mdev 3/4·21.25 + 11.25/4.
    #[test]
    fn the_fine_timeout_follows_the_samples() {
        let mut timeout = FineTimeout::default();
        assert_eq!(timeout.get(), None);
        for (ms, expected) in [(100, 159.375), (110, 152.734_375), (90, 145.927_734_375)] {
            timeout.on_sample(Duration::from_millis(ms));
            let got = timeout.get().unwrap().as_secs_f64() * 1e3;
            assert!((got - expected).abs() < 1e-5, "{got} ms for {expected}");
        }
    }

    #[test]
    fn a_change_of_the_path_leaves_no_fine_timeout() {
        let mut vegas = Vegas::new(&Settings::new(&crate::transport::tcp::config::Config::default()));
        vegas.timeout.on_sample(Duration::from_millis(100));
        vegas.on_path_change();
        assert_eq!(vegas.timeout.get(), None);
    }
}
