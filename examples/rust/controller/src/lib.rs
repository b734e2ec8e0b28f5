//! A congestion control in a crate of its own: additive increase, multiplicative decrease, by parameters.
//!
//! General AIMD (Yang, Lam 2000) adds `alpha` segments a round trip and keeps the share `beta` of the window at a loss.

use lasthop_core::engine::{Fault, Instant};
use lasthop_core::transport::congestion::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule,
};

/// The parameters. Reno in congestion avoidance is `alpha: 1.0, beta: 0.5`.
pub struct Aimd {
    /// Segments that the window grows by in a round trip.
    pub alpha: f64,
    /// The share of the window that is left after a loss.
    pub beta: f64,
}

impl CongestionConfig for Aimd {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        let (alpha, smss) = (self.alpha, f64::from(seat.smss));
        Box::new(Window { alpha, beta: self.beta, smss, cwnd: seat.initial_window as f64, slow_start: true })
    }

    fn check(&self) -> Result<(), Fault> {
        let fault = |field, value: f64, expected| Err(Fault::new(field, value.to_string(), expected));
        match *self {
            Self { alpha, .. } if !(alpha.is_finite() && alpha >= 0.0) => fault("alpha", alpha, "expected 0 or more"),
            Self { beta, .. } if !(beta > 0.0 && beta < 1.0) => {
                fault("beta", beta, "expected more than 0, less than 1")
            }
            _ => Ok(()),
        }
    }
}

#[derive(Clone)]
struct Window {
    alpha: f64,
    beta: f64,
    smss: f64,
    cwnd: f64,
    slow_start: bool,
}

impl CongestionControl for Window {
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.window_limited && !sample.recovering {
            let acked = sample.acked as f64;
            self.cwnd += if self.slow_start { acked } else { self.alpha * self.smss * acked / self.cwnd };
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.cwnd = (self.beta * self.cwnd).max(self.smss);
        self.slow_start = false;
    }

    fn on_timeout(&mut self, _now: Instant, _flight: u64, _again: bool) {
        self.cwnd = self.smss;
        self.slow_start = true;
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        self.cwnd = rule.applied(self.window()).map_or(self.cwnd, |window| window as f64);
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.cwnd = undo.window as f64;
    }

    fn window(&self) -> u64 {
        self.cwnd as u64
    }
}
