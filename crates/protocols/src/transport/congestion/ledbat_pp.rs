//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-06): LEDBAT with round-trip times, a gain that depends on the base delay, a multiplicative
//! decrease, and periodic slowdowns in which each flow sees the path without its own queue. A scenario calls it `ledbat_pp`: a bare key of
//! TOML has no `+`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant};
use lasthop_net::net::Probe;

use super::base_delay::QueueingDelay;
use super::{AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule};

/// The parameters of LEDBAT++.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// TARGET: the queueing delay that it aims at. Default: 60 ms (draft-06).
    pub target: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { target: Duration::from_millis(60) }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(LedbatPp::new(*self, seat))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.target == Duration::ZERO || self.target > Duration::from_millis(100) {
            let ms = self.target.as_secs_f64() * 1e3;
            return Err(Fault::new("target", format!("target is {ms} ms"), "expected more than zero, at most 100 ms"));
        }
        Ok(())
    }
}

/// The window, in segments.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    target: Duration,
    smss: f64,
    cwnd: f64,
    /// Below it slow start.
    ssthresh: f64,
    /// In the first slow start, which the delay ends.
    initial: bool,
    slowdown: Slowdown,
    delay: QueueingDelay,
    round: u64,
    delivered: u64,
}

/// Slowdowns: past and to come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowdown {
    /// None before the first slow start has ended.
    None,
    /// The first one begins with this round trip.
    First(u64),
    /// The next one begins at this instant.
    Next(Instant),
    /// The window is two segments up to this round trip.
    Frozen { since: Instant, to: u64 },
    /// Slow start back to the window before.
    Rise { since: Instant },
}

impl LedbatPp {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let smss = f64::from(seat.smss);
        Self {
            target: config.target,
            smss,
            cwnd: (seat.initial_window as f64 / smss).min(INIT_CWND),
            ssthresh: match seat.initial_ssthresh {
                u64::MAX => f64::INFINITY,
                threshold => threshold as f64 / smss,
            },
            initial: true,
            slowdown: Slowdown::None,
            delay: QueueingDelay::new(BASE_HISTORY, FILTER),
            round: 0,
            delivered: 0,
        }
    }

    /// GAIN = 1 / min(16, ⌈2·TARGET/base⌉): on a short path the queue is most of the round trip, and growth is slower.
    fn gain(&self) -> f64 {
        let base = self.delay.base().map_or(0, Duration::as_nanos);
        let ratio = if base == 0 { LEAST_GAIN } else { (2 * self.target.as_nanos()).div_ceil(base).min(LEAST_GAIN) };
        1.0 / ratio as f64
    }

    /// The change of a window of `w` segments in a round trip.
    fn change(&self, w: f64) -> f64 {
        let over = self.queueing() / self.target.as_secs_f64() - 1.0;
        if over <= 0.0 { self.gain() } else { (self.gain() - DECREASE * w * over).max(-w / 2.0) }
    }

    fn queueing(&self) -> f64 {
        self.delay.get().map_or(0.0, Duration::as_secs_f64)
    }

    /// Begins a slowdown, or ends its first part.
    fn slow_down(&mut self, now: Instant) {
        match self.slowdown {
            Slowdown::First(round) if self.round >= round => {}
            Slowdown::Next(at) if now >= at => {}
            Slowdown::Frozen { since, to } if self.round >= to => {
                self.slowdown = Slowdown::Rise { since };
                return;
            }
            _ => return,
        }
        // Not while a window is being restored that is not its own.
        if self.cwnd >= self.ssthresh {
            self.ssthresh = self.cwnd.max(MIN_CWND);
            self.cwnd = self.cwnd.min(MIN_CWND);
            self.slowdown = Slowdown::Frozen { since: now, to: self.round + SLOWDOWN_RTTS };
        }
    }

    /// A slow start has ended at this window.
    fn leave_slow_start(&mut self, now: Instant) {
        self.ssthresh = self.cwnd;
        self.initial = false;
        self.slowdown = match self.slowdown {
            Slowdown::None => Slowdown::First(self.round + SLOWDOWN_RTTS),
            Slowdown::Frozen { since, .. } | Slowdown::Rise { since } => {
                Slowdown::Next(now + now.since(since) * SLOWDOWN_SPACING)
            }
            planned => planned,
        };
    }

    /// Growth in slow start; says whether that was one.
    fn slow_start(&mut self, now: Instant, acked: f64, may_grow: bool) -> bool {
        if self.cwnd >= self.ssthresh {
            return false;
        }
        if self.initial && self.queueing() > SLOW_START_EXIT * self.target.as_secs_f64() {
            self.leave_slow_start(now);
            return false;
        }
        if may_grow {
            self.cwnd += self.gain() * acked;
            if self.cwnd >= self.ssthresh {
                self.cwnd = self.ssthresh;
                self.leave_slow_start(now);
            }
        }
        true
    }
}

impl CongestionControl for LedbatPp {
    fn on_ack(&mut self, sample: &AckSample) {
        let now = sample.now;
        if let Some(rtt) = sample.rtt {
            self.delay.update(now, rtt);
        }
        // After an undo the count lags behind.
        let acked = (sample.delivered - self.delivered).min(sample.acked + sample.sacked) as f64 / self.smss;
        self.delivered = sample.delivered;
        self.round = sample.round;
        if !sample.recovering {
            self.slow_down(now);
        }
        let may_grow = sample.window_limited && !sample.recovering;
        if matches!(self.slowdown, Slowdown::Frozen { .. }) || self.slow_start(now, acked, may_grow) {
            return;
        }
        let change = self.change(self.cwnd) * (acked / self.cwnd).min(1.0);
        if change < 0.0 || may_grow {
            self.cwnd = (self.cwnd + change).max(MIN_CWND.min(self.cwnd));
            // A window that the delay has lowered does not come back by slow start.
            self.ssthresh = self.ssthresh.min(self.cwnd);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if matches!(self.slowdown, Slowdown::Frozen { .. }) {
            // The loss is of the window before.
            self.ssthresh = (self.ssthresh / 2.0).max(MIN_CWND);
            return;
        }
        self.cwnd = (self.cwnd / 2.0).max(MIN_CWND).min(self.cwnd);
        self.leave_slow_start(event.now);
    }

    fn on_timeout(&mut self, now: Instant, flight: u64, again: bool) {
        let half = (flight as f64 / self.smss / 2.0).max(MIN_CWND);
        let threshold = if again { self.ssthresh } else { half };
        self.leave_slow_start(now);
        self.ssthresh = threshold;
        self.cwnd = 1.0;
    }

    fn window(&self) -> u64 {
        (self.cwnd * self.smss) as u64
    }

    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh.is_finite().then_some((self.ssthresh * self.smss) as u64)
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let Some(window) = rule.applied(self.window()) {
            self.cwnd = (window as f64 / self.smss).max(1.0);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.ssthresh = self.ssthresh.max(undo.flight as f64 / self.smss);
        self.cwnd = (undo.window as f64 / self.smss).max(1.0);
    }

    fn on_path_change(&mut self, _now: Instant) {
        self.delay.clear();
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("gain", self.gain());
        if let Some(queueing) = self.delay.get() {
            probe.value("queueing_delay_ms", queueing.as_secs_f64() * 1e3);
        }
    }
}

// Constants of draft-06.

/// The initial window is limited to two segments.
const INIT_CWND: f64 = 2.0;
/// The least window, and the window of a slowdown.
const MIN_CWND: f64 = 2.0;
/// The base delay is the least of ten minutes.
const BASE_HISTORY: u32 = 10;
/// The present delay is the least of four samples.
const FILTER: u32 = 4;
/// GAIN is at least 1/16.
const LEAST_GAIN: u64 = 16;
/// Constant of the multiplicative decrease.
const DECREASE: f64 = 1.0;
/// The first slow start ends above this share of TARGET.
const SLOW_START_EXIT: f64 = 0.75;
/// The first slowdown begins this many round trips after the first slow start, and each keeps the window for as many.
const SLOWDOWN_RTTS: u64 = 2;
/// The next one begins after this many times the duration of the last.
const SLOWDOWN_SPACING: u64 = 9;

#[cfg(test)]
mod tests;
