//! LEDBAT (RFC 6817): the window grows while the queue is shorter than a target and shrinks while it is longer, so that a background flow
//! yields to others.
//!
//! Delays are one way, from time stamps (RFC 7323), which an endpoint with this controller therefore sends; without them (`timestamps =
//! false`) they are round-trip times, and a queue on the way back counts too. The clocks of both ends agree and have no granularity here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant};
use lasthop_net::net::Probe;

use super::base_delay::QueueingDelay;
use super::{AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule};

/// The parameters of RFC 6817 §2.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// TARGET: the queueing delay that it aims at. Default: 100 ms (§2.5: at most that).
    pub target: Duration,
    /// GAIN: the growth at an empty queue, in segments in a round trip. Default: 1 (§2.5: at most that).
    pub gain: f64,
    /// BASE_HISTORY: in how many minutes the base delay is searched. Default: 10 (§2.5).
    pub base_history: u32,
    /// CURRENT_FILTER: of how many samples the least is the present delay. Default: 4 (as in ns-3 and in Linux' module; §2.5: at least 1).
    pub filter: u32,
    /// Start as TCP does, with its initial window and slow start up to the first loss, as ns-3 and Linux' module do. Otherwise with two
    /// segments (INIT_CWND) and the growth of all times. Default: off (§2.4.2).
    pub slow_start: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { target: Duration::from_millis(100), gain: 1.0, base_history: 10, filter: 4, slow_start: false }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Ledbat::new(*self, seat))
    }

    fn wants_timestamps(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        if self.target == Duration::ZERO || self.target > Duration::from_millis(100) {
            let ms = self.target.as_secs_f64() * 1e3;
            return Err(Fault::new("target", format!("target is {ms} ms"), "expected more than zero, at most 100 ms"));
        }
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Err(Fault::new("gain", format!("gain is {}", self.gain), "expected a number above 0, at most 1"));
        }
        for (field, value) in [("base_history", self.base_history), ("filter", self.filter)] {
            if !(1..=MOST_KEPT).contains(&value) {
                return Err(Fault::new(field, format!("{field} is {value}"), "expected 1 to 1000"));
            }
        }
        Ok(())
    }
}

/// The window, in bytes.
#[derive(Clone, Debug)]
pub struct Ledbat {
    target: f64,
    gain: f64,
    smss: f64,
    cwnd: f64,
    /// Below it slow start, if there is one.
    ssthresh: f64,
    delay: QueueingDelay,
}

impl Ledbat {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let smss = f64::from(seat.smss);
        let (initial, threshold) = (seat.initial_window as f64, seat.initial_ssthresh);
        Self {
            target: config.target.as_secs_f64(),
            gain: config.gain,
            smss,
            cwnd: if config.slow_start { initial } else { initial.min(INIT_CWND * smss) },
            ssthresh: match (config.slow_start, threshold) {
                (false, _) => 0.0,
                (true, u64::MAX) => f64::INFINITY,
                (true, threshold) => threshold as f64,
            },
            delay: QueueingDelay::new(config.base_history, config.filter),
        }
    }

    /// off_target (§2.4.2); without a sample the queue counts as empty.
    fn off_target(&self) -> f64 {
        1.0 - self.delay.get().map_or(0.0, Duration::as_secs_f64) / self.target
    }

    /// `min(cwnd, max(cwnd/2, MIN_CWND * MSS))`.
    fn half(&self) -> f64 {
        (self.cwnd / 2.0).max(MIN_CWND * self.smss).min(self.cwnd)
    }

    /// Slow start ends, if there is one, and later ones are up to this window.
    fn set_threshold(&mut self, window: f64) {
        if self.ssthresh > 0.0 {
            self.ssthresh = window.max(MIN_CWND * self.smss);
        }
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(delay) = sample.one_way.or(sample.rtt) {
            self.delay.update(sample.now, delay);
        }
        let acked = sample.acked as f64;
        let slow_start = self.cwnd < self.ssthresh;
        let by_delay = self.gain * self.off_target() * acked * self.smss / self.cwnd;
        let change = if slow_start { acked.min(self.smss) } else { by_delay };
        // §2.4.2: at most the flight size and a segment. While losses are repaired much of the flight is gone, and the window does not grow.
        let allowed = sample.prior_in_flight as f64 + ALLOWED_INCREASE * self.smss;
        let most = if sample.recovering { self.cwnd } else { allowed };
        self.cwnd = (self.cwnd + change).min(most).max(MIN_CWND * self.smss);
        if !slow_start {
            // A window that the delay has lowered does not come back by slow start.
            self.ssthresh = self.ssthresh.min(self.cwnd);
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.cwnd = self.half();
        self.set_threshold(self.cwnd);
    }

    fn on_timeout(&mut self, _now: Instant, flight: u64, again: bool) {
        if !again {
            self.set_threshold(flight as f64 / 2.0);
        }
        self.cwnd = self.smss;
    }

    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh > 0.0 && self.ssthresh.is_finite()).then_some(self.ssthresh as u64)
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let Some(window) = rule.applied(self.window()) {
            self.cwnd = (window as f64).max(self.smss);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.set_threshold(self.ssthresh.max(undo.flight as f64));
        self.cwnd = (undo.window as f64).max(self.smss);
    }

    fn on_path_change(&mut self, _now: Instant) {
        self.delay.clear();
    }

    fn sample(&self, probe: &mut dyn Probe) {
        if let Some(queueing) = self.delay.get() {
            probe.value("queueing_delay_ms", queueing.as_secs_f64() * 1e3);
        }
    }
}

/// §2.5.
const INIT_CWND: f64 = 2.0;
/// §2.5.
const MIN_CWND: f64 = 2.0;
/// §2.5, segments.
const ALLOWED_INCREASE: f64 = 1.0;
/// More minutes, or samples, than a run has use for: the bound keeps the work of an acknowledgement small.
const MOST_KEPT: u32 = 1000;

#[cfg(test)]
mod tests;
