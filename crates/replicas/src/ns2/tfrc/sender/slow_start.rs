//! The sender's slow start: the rate until the first loss (`slowstart`).

use lasthop_protocols::transport::tfrc::config::SlowStart;

use super::{Phase, Sender};

impl Sender {
    /// A report without losses has come.
    pub(super) fn slow_start(&mut self) {
        match self.settings.slow_start {
            SlowStart::Ns235 => self.slow_start_2_35(),
            SlowStart::Ns229 => self.slow_start_2_29(),
        }
    }

    /// No report has come in time.
    pub(super) fn end_slow_start_without_feedback(&mut self) {
        if self.settings.slow_start == SlowStart::Ns229 {
            self.phase = Phase::Equation;
        }
    }

    /// Whether it had nothing to send at some time since then. Only ns-2.35 asks; since it takes a sender to have been
    /// idle at time 0, one that starts early and has a long round trip seems so too.
    pub(super) fn was_idle(&self, since: f64) -> bool {
        self.settings.slow_start == SlowStart::Ns235 && (self.data_limited || self.last_limited > since)
    }

    fn slow_start_2_35(&mut self) {
        let (now, rtt) = (self.now.as_secs(), self.rtt.mean);
        let initial = self.initial_window() * self.size / rtt;
        let idle = self.was_idle(now - 1.5 * rtt) && self.max_rate < initial;
        if self.round <= 2 || (self.max_rate > 0.0 && idle) {
            self.old_rate = self.rate;
            self.rate = self.rate.max(initial);
            self.delta = (self.rate - self.old_rate) / (self.rate * rtt / self.size);
            self.changed_at = now;
        } else if self.max_rate > 0.0 {
            if self.rate < self.max_rate && now - self.changed_at > rtt {
                self.old_rate = self.rate;
                self.rate = (2.0 * self.rate).min(self.max_rate).max(self.size / rtt);
                self.delta = (self.rate - self.old_rate) / (self.rate * rtt / self.size);
                self.changed_at = now;
            } else if self.rate > self.max_rate {
                self.rate = self.max_rate / 2.0;
                self.old_rate = self.rate;
                self.delta = 0.0;
                self.changed_at = now;
            }
        } else {
            self.old_rate = self.rate;
            self.rate = self.size / rtt;
            self.delta = 0.0;
            self.changed_at = now;
        }
    }

    fn slow_start_2_29(&mut self) {
        let (now, rtt) = (self.now.as_secs(), self.rtt.mean);
        let long_ago = now - self.changed_at > rtt;
        if self.round <= 1 {
            self.aim_at(self.initial_window() * self.size / rtt);
        } else if self.max_rate <= 0.0 {
            self.aim_at(self.size / rtt);
        } else if 2.0 * self.rate < self.max_rate && long_ago {
            self.aim_at(2.0 * self.rate);
        } else if self.old_rate > self.max_rate {
            self.rate = self.max_rate / 2.0;
            self.old_rate = self.rate;
            self.delta = 0.0;
            self.changed_at = now;
        } else if (self.round > 2 && self.rate > self.max_rate) || long_ago {
            self.aim_at(self.max_rate);
        }
    }

    /// The rate becomes `rate`; the sending rate approaches it packet by packet over a round trip.
    fn aim_at(&mut self, rate: f64) {
        self.old_rate = self.rate;
        self.rate = rate;
        self.delta = (self.rate - self.old_rate) / (self.rate * self.rtt.mean / self.size);
        self.changed_at = self.now.as_secs();
    }
}
