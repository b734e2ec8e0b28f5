//! CUBIC (RFC 9438): after a loss the window grows along a cubic curve of the time since, whose
//! flat middle lies at the window where the loss was.
//!
//! The initial slow start is HyStart++'s ([`hystart`](super::hystart), §4.10), later ones are
//! RFC 5681's. What a needless reduction took away is kept by the transport, which puts it back (§4.9).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Duration, Fault, Instant};

use super::hystart::{HyStart, Step};
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, Undo, WindowRule,
};

/// CUBIC's constants (RFC 9438 §4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// C, in segments per second cubed. Default: 0.4 (§5.1).
    pub c: f64,
    /// Multiplicative decrease factor β. Default: 0.7 (§4.6).
    pub beta: f64,
    /// Release of bandwidth for new flows (§4.7). Default: on.
    pub fast_convergence: bool,
    /// HyStart++ in the initial slow start (§4.10; RFC 9406). Default: on.
    pub hystart: bool,
    /// Alternative Backoff with ECN: a mark in congestion avoidance lowers the window to 0.85 of it only (RFC 8511 §3.1). Default: off
    /// (RFC 8511 is Experimental).
    pub abe: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { c: 0.4, beta: 0.7, fast_convergence: true, hystart: true, abe: false }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Cubic::new(*self, seat))
    }

    fn check(&self) -> Result<(), Fault> {
        if !(self.c > 0.0 && self.c <= 1e6) {
            return Err(Fault::new("c", format!("c is {}", self.c), "expected a number above 0"));
        }
        if !(self.beta > 0.0 && self.beta < 1.0) {
            return Err(Fault::new("beta", format!("beta is {}", self.beta), "expected a number between 0 and 1"));
        }
        Ok(())
    }
}

/// The window, in segments where RFC 9438 counts segments.
#[derive(Clone, Debug)]
pub struct Cubic {
    /// C, segments per second cubed (§5.1).
    c: f64,
    /// β_cubic (§4.6).
    beta: f64,
    /// α_cubic = 3·(1 − β)/(1 + β) (§4.3).
    alpha: f64,
    fast_convergence: bool,
    abe: bool,
    smss: f64,
    /// cwnd.
    cwnd: f64,
    /// The window in bytes, as asked for.
    window: u64,
    /// ssthresh, segments.
    ssthresh: f64,
    /// W_max: the window just before the last reduction, or where a stage began at the middle of its curve; 0 before the first.
    w_max: f64,
    /// cwnd_prior: the same, without fast convergence.
    cwnd_prior: f64,
    /// Whether the last reduction was a timeout's (§4.8).
    after_timeout: bool,
    epoch: Option<Epoch>,
    /// In the initial slow start, if switched on.
    hystart: Option<HyStart>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Epoch {
    /// epoch_start, moved forward by times in which the window was not in use.
    start: Instant,
    /// K, seconds.
    k: f64,
    /// W_est: the window that Reno would have.
    w_est: f64,
    /// Since when the window has not been in use.
    unused_since: Option<Instant>,
}

impl Cubic {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let (size, window, ssthresh) = (f64::from(seat.smss), seat.initial_window, seat.initial_ssthresh);
        Self {
            c: config.c,
            beta: config.beta,
            alpha: 3.0 * (1.0 - config.beta) / (1.0 + config.beta),
            fast_convergence: config.fast_convergence,
            abe: config.abe,
            smss: size,
            cwnd: window as f64 / size,
            window,
            ssthresh: if ssthresh == u64::MAX { f64::INFINITY } else { ssthresh as f64 / size },
            w_max: 0.0,
            cwnd_prior: 0.0,
            after_timeout: false,
            epoch: None,
            hystart: config.hystart.then(HyStart::default),
        }
    }

    fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.window = (cwnd * self.smss) as u64;
    }

    fn set_window(&mut self, bytes: u64) {
        self.set((bytes as f64 / self.smss).max(1.0));
        self.epoch = None;
    }

    /// §4.6 and §4.7: what a loss or a mark leaves, `beta` of the flight in segments. The window itself is set by the caller.
    fn reduce(&mut self, flight: u64, beta: f64) -> f64 {
        self.cwnd_prior = self.cwnd;
        self.w_max = if self.fast_convergence && self.cwnd < self.w_max {
            self.cwnd * (1.0 + self.beta) / 2.0
        } else {
            self.cwnd
        };
        let left = flight as f64 / self.smss * beta;
        self.ssthresh = left.max(2.0);
        self.epoch = None;
        self.hystart = None;
        left
    }

    /// Begins a stage of congestion avoidance (§4.2, §4.3, §4.8, §4.10).
    fn begin(&mut self, now: Instant) -> Epoch {
        self.hystart = None;
        // After a timeout, or after a slow start that no loss ended, the curve begins at its
        // middle. In the latter case cwnd_prior is this window too (§4.10): 0 does as well, W_est
        // lies above both.
        let mut k = 0.0;
        if self.after_timeout || self.w_max <= self.cwnd {
            self.w_max = self.cwnd;
        } else {
            k = libm::cbrt((self.w_max - self.cwnd) / self.c);
        }
        Epoch { start: now, k, w_est: self.cwnd, unused_since: None }
    }

    /// Congestion avoidance (§4.2 to §4.5) on the acknowledgement of `segments`.
    fn avoid(&mut self, now: Instant, segments: f64, srtt: Duration) {
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin(now));
        if let Some(since) = epoch.unused_since.take() {
            epoch.start += now.since(since);
        }
        let w_cubic = |t: f64| {
            let d = t - epoch.k;
            self.c * d * d * d + self.w_max
        };
        let t = now.since(epoch.start).as_secs_f64();
        // §4.3: α is 1 once W_est has come back to the window before the loss.
        let alpha = if epoch.w_est < self.cwnd_prior { self.alpha } else { 1.0 };
        // An acknowledgement that fills a hole covers at most a window's worth of growth.
        let per_window = (segments / self.cwnd).min(1.0);
        epoch.w_est += alpha * per_window;
        let cwnd = if w_cubic(t) < epoch.w_est {
            epoch.w_est.max(self.cwnd)
        } else {
            // §4.2: the target is where the curve is one round trip later, within bounds.
            let target = w_cubic(t + srtt.as_secs_f64()).clamp(self.cwnd, 1.5 * self.cwnd);
            self.cwnd + (target - self.cwnd) * per_window
        };
        self.set(cwnd);
        self.epoch = Some(epoch);
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.recovering || sample.acked == 0 {
            return;
        }
        let segments = sample.acked as f64 / self.smss;
        // RFC 5681 §3.1, equation (2).
        let mut growth = segments.min(1.0);
        if self.cwnd < self.ssthresh
            && let Some(hystart) = &mut self.hystart
        {
            match hystart.on_ack(sample.round, segments, sample.rtt) {
                Step::Grow(segments) => growth = segments,
                Step::Leave => self.ssthresh = self.cwnd,
            }
        }
        if !sample.window_limited {
            // §4.2: t does not count times in which the window did not grow.
            if let Some(epoch) = &mut self.epoch {
                epoch.unused_since.get_or_insert(sample.now);
            }
            return;
        }
        if self.cwnd < self.ssthresh {
            self.set(self.cwnd + growth);
        } else {
            self.avoid(sample.now, segments, sample.srtt);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        // RFC 8511 §3.1; not in slow start (§4).
        let mild = self.abe && event.kind == CongestionKind::Ecn && self.cwnd >= self.ssthresh;
        let left = self.reduce(event.flight, if mild { BETA_ECN } else { self.beta });
        self.after_timeout = false;
        // §4.6: a mark may lower the window below ssthresh, to one segment.
        self.set(left.max(if event.kind == CongestionKind::Ecn { 1.0 } else { 2.0 }));
    }

    fn on_timeout(&mut self, _now: Instant, flight: u64, again: bool) {
        if !again {
            self.reduce(flight, self.beta);
        }
        self.epoch = None;
        self.after_timeout = true;
        self.set(1.0);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh.is_finite().then_some((self.ssthresh * self.smss) as u64)
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let Some(window) = rule.applied(self.window) {
            self.set_window(window);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn is_restorable(&self) -> bool {
        true
    }

    fn on_undo(&mut self, undo: &Undo) {
        // §4.9.1 restores W_max and the rest; only the stage of growth begins anew.
        self.ssthresh = self.ssthresh.max(undo.flight as f64 / self.smss);
        self.set_window(undo.window);
    }

    /// §5.8: an idle time does not count in t.
    fn on_idle(&mut self, idle: Duration) {
        if let Some(epoch) = &mut self.epoch
            && epoch.unused_since.is_none()
        {
            epoch.start += idle;
        }
    }

    fn on_path_change(&mut self, _now: Instant) {
        if let Some(hystart) = &mut self.hystart {
            hystart.on_path_change();
        }
    }
}

/// β_ecn for CUBIC (RFC 8511 §3.1).
const BETA_ECN: f64 = 0.85;

#[cfg(test)]
mod tests;
