//! Vegas (Brakmo, Peterson 1995): the window follows how many segments the sender itself keeps
//! queued in the network, judged once in a round trip from the delay.
//!
//! When a segment is lost, and which losses count, says [`super::super::recovery::vegas`], or any
//! other recovery.

use crate::engine::{Duration, Instant};

use super::super::config;
use super::{AckSample, CongestionControl, CongestionEvent};

/// The window.
#[derive(Clone, Debug)]
pub struct Vegas {
    /// Thresholds α, β, γ in segments.
    config: config::Vegas,
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
    /// A window of `window` bytes.
    pub fn new(config: config::Vegas, smss: u64, window: u64, ssthresh: u64) -> Self {
        Self { config, smss, cwnd: window, ssthresh, base_rtt: None, round: 0, sum: 0, samples: 0, grows: true }
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

    fn set_window(&mut self, bytes: u64) {
        self.cwnd = bytes.max(self.smss);
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, flight: u64) {
        self.ssthresh = self.ssthresh.max(flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty segments, BaseRTT 100 ms.
    #[test]
    fn the_queue_is_judged_from_the_delay() {
        for (rtt_ms, queued, window) in [(100, 0.0, 21), (110, 1.818, 20), (125, 4.0, 19)] {
            let mut vegas = Vegas::new(config::Vegas::default(), 1000, 20_000, 2_000);
            vegas.base_rtt = Some(Duration::from_millis(100));
            let rtt = Duration::from_millis(rtt_ms).as_nanos() as f64;
            assert!((vegas.queued(rtt) - queued).abs() < 1e-3, "{rtt_ms} ms: {}", vegas.queued(rtt));
            vegas.judge(rtt);
            assert_eq!(vegas.window(), window * 1000, "{rtt_ms} ms");
        }
    }

    #[test]
    fn slow_start_ends_when_a_queue_builds() {
        let mut vegas = Vegas::new(config::Vegas::default(), 1000, 16_000, u64::MAX);
        vegas.base_rtt = Some(Duration::from_millis(100));
        vegas.judge(Duration::from_millis(110).as_nanos() as f64);
        assert_eq!((vegas.window(), vegas.ssthresh()), (14_000, Some(2_000)));
    }
}
