//! Vegas (Brakmo, Peterson 1995): the window follows how many segments the sender itself keeps
//! queued in the network, judged once in a round trip from the delay.
//!
//! When a segment is lost, and which losses count, says TCP's recovery of this name, or any other recovery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant};

use super::{AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule};

/// Vegas' thresholds, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Below this many queued segments the window grows. Default: 1.
    pub alpha: f64,
    /// Above this many it shrinks. Default: 3.
    pub beta: f64,
    /// Above this many slow start ends. Default: 1.
    pub gamma: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { alpha: 1.0, beta: 3.0, gamma: 1.0 }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Vegas::new(*self, seat))
    }

    fn check(&self) -> Result<(), Fault> {
        let Self { alpha, beta, gamma } = *self;
        for (field, value) in [("alpha", alpha), ("beta", beta), ("gamma", gamma)] {
            if !(0.0..=1e9).contains(&value) {
                return Err(Fault::new(field, format!("{field} is {value}"), "expected a number of segments"));
            }
        }
        if alpha > beta {
            return Err(Fault::new("alpha", format!("alpha ({alpha}) is greater than beta ({beta})"), ""));
        }
        Ok(())
    }
}

/// The window.
#[derive(Clone, Debug)]
pub struct Vegas {
    /// Thresholds α, β, γ in segments.
    config: Config,
    smss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// BaseRTT: the least round-trip time seen.
    base_rtt: Option<Duration>,
    /// The round trip that is being measured, its samples' sum in nanoseconds and number.
    round: u64,
    sum: u64,
    samples: u64,
    /// Slow start grows in every other round trip only.
    grows: bool,
}

impl Vegas {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        Self {
            config,
            smss: seat.smss.into(),
            cwnd: seat.initial_window,
            ssthresh: seat.initial_ssthresh,
            base_rtt: None,
            round: 0,
            sum: 0,
            samples: 0,
            grows: true,
        }
    }

    /// Δ = (Expected − Actual)·BaseRTT in segments, where Expected = W/BaseRTT and Actual = W/RTT.
    fn queued(&self, rtt: f64) -> f64 {
        let base = self.base_rtt.map_or(rtt, |b| b.as_nanos() as f64);
        self.cwnd as f64 / self.smss as f64 * (1.0 - base / rtt)
    }

    /// A round trip is over in which the mean round-trip time was `rtt` nanoseconds.
    fn judge(&mut self, rtt: f64) {
        let queued = self.queued(rtt);
        if self.cwnd < self.ssthresh {
            self.grows = !self.grows;
            if queued > self.config.gamma {
                self.ssthresh = 2 * self.smss;
                self.lower(self.cwnd / 8);
            }
        } else if queued < self.config.alpha {
            self.cwnd += self.smss;
        } else if queued > self.config.beta {
            self.lower(self.smss);
        }
    }

    /// Lowers the window by `bytes`, to two segments at least.
    fn lower(&mut self, bytes: u64) {
        self.cwnd = self.cwnd.saturating_sub(bytes).max(2 * self.smss);
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(rtt) = sample.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.sum += rtt.as_nanos();
            self.samples += 1;
        }
        if sample.round != self.round {
            self.round = sample.round;
            let (sum, samples) = (std::mem::take(&mut self.sum), std::mem::take(&mut self.samples));
            if samples > 0 && sample.window_limited && !sample.recovering {
                self.judge(sum as f64 / samples as f64);
            }
        }
        if self.cwnd < self.ssthresh && self.grows && sample.window_limited && !sample.recovering {
            self.cwnd += sample.acked.min(self.smss);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        // A loss takes a quarter off the window; half, if even the retransmission was lost.
        self.lower(if event.resent { self.cwnd / 2 } else { self.cwnd / 4 });
        self.ssthresh = self.cwnd;
    }

    fn on_timeout(&mut self, _now: Instant, flight: u64, again: bool) {
        if !again {
            self.ssthresh = (flight / 2).max(2 * self.smss);
        }
        self.cwnd = 2 * self.smss;
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh < u64::MAX).then_some(self.ssthresh)
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let Some(window) = rule.applied(self.cwnd) {
            self.cwnd = window.max(self.smss);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.ssthresh = self.ssthresh.max(undo.flight);
        self.cwnd = undo.window.max(self.smss);
    }

    fn on_path_change(&mut self, _now: Instant) {
        self.base_rtt = None;
        (self.sum, self.samples) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Begun;

    fn seat(initial_window: u64, initial_ssthresh: u64) -> EndpointContext {
        EndpointContext {
            smss: 1000,
            header: 40,
            options: 0,
            initial_window,
            initial_ssthresh,
            sack: true,
            flow: 0,
            seed: 0,
            begun: Begun::default(),
        }
    }

    /// Twenty segments, BaseRTT 100 ms.
    #[test]
    fn the_queue_is_judged_from_the_delay() {
        for (rtt_ms, queued, window) in [(100, 0.0, 21), (110, 1.818, 20), (125, 4.0, 19)] {
            let mut vegas = Vegas::new(Config::default(), &seat(20_000, 2_000));
            vegas.base_rtt = Some(Duration::from_millis(100));
            let rtt = Duration::from_millis(rtt_ms).as_nanos() as f64;
            assert!((vegas.queued(rtt) - queued).abs() < 1e-3, "{rtt_ms} ms: {}", vegas.queued(rtt));
            vegas.judge(rtt);
            assert_eq!(vegas.window(), window * 1000, "{rtt_ms} ms");
        }
    }

    #[test]
    fn slow_start_ends_when_a_queue_builds() {
        let mut vegas = Vegas::new(Config::default(), &seat(16_000, u64::MAX));
        vegas.base_rtt = Some(Duration::from_millis(100));
        vegas.judge(Duration::from_millis(110).as_nanos() as f64);
        assert_eq!((vegas.window(), vegas.ssthresh()), (14_000, Some(2_000)));
    }
}
