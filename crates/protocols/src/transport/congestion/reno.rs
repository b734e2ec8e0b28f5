//! Slow start and congestion avoidance (RFC 5681).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Instant;

use super::{AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule};

/// It has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Reno::new(seat))
    }
}

/// The window of Tahoe, Reno, NewReno and SACK.
#[derive(Clone, Debug)]
pub struct Reno {
    smss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    acked: u64,
}

impl Reno {
    /// At the start of a connection.
    pub fn new(seat: &EndpointContext) -> Self {
        Self { smss: seat.smss.into(), cwnd: seat.initial_window, ssthresh: seat.initial_ssthresh, acked: 0 }
    }

    fn set_window(&mut self, bytes: u64) {
        self.cwnd = bytes.max(self.smss);
        self.acked = 0;
    }

    /// RFC 5681 §3.1, equation (4).
    fn half(&self, flight: u64) -> u64 {
        (flight / 2).max(2 * self.smss)
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.recovering || !sample.window_limited || sample.acked == 0 {
            return;
        }
        if self.cwnd < self.ssthresh {
            // RFC 5681 §3.1, equation (2).
            self.cwnd += sample.acked.min(self.smss);
            return;
        }
        // RFC 5681 §3.1: one full segment for each window of bytes acknowledged, counted.
        self.acked += sample.acked.min(self.cwnd);
        if self.acked >= self.cwnd {
            self.acked -= self.cwnd;
            self.cwnd += self.smss;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.ssthresh = self.half(event.flight);
        self.cwnd = self.ssthresh;
        self.acked = 0;
    }

    fn on_timeout(&mut self, _now: Instant, flight: u64, again: bool) {
        if !again {
            self.ssthresh = self.half(flight);
        }
        self.cwnd = self.smss;
        self.acked = 0;
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh < u64::MAX).then_some(self.ssthresh)
    }

    fn on_rule(&mut self, rule: WindowRule) {
        if let Some(window) = rule.applied(self.cwnd) {
            self.set_window(window);
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.ssthresh = self.ssthresh.max(undo.flight);
        self.set_window(undo.window);
    }
}
