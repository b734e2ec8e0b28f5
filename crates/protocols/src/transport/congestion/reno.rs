//! Slow start and congestion avoidance (RFC 5681).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::Instant;

use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, Undo, WindowRule,
};

/// Reno's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Alternative Backoff with ECN: a mark in congestion avoidance lowers the window to 0.8 of it only (RFC 8511 §3). Default: off
    /// (RFC 8511 is Experimental).
    pub abe: bool,
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Reno { abe: self.abe, ..Reno::new(seat) })
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
    abe: bool,
}

impl Reno {
    /// At the start of a connection.
    pub fn new(seat: &EndpointContext) -> Self {
        Self {
            smss: seat.smss.into(),
            cwnd: seat.initial_window,
            ssthresh: seat.initial_ssthresh,
            acked: 0,
            abe: false,
        }
    }

    fn set_window(&mut self, bytes: u64) {
        self.cwnd = bytes.max(self.smss);
        self.acked = 0;
    }

    /// Congestion avoidance from here on.
    pub(super) fn reduce_to(&mut self, bytes: u64) {
        self.ssthresh = bytes;
        self.set_window(bytes);
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
        // RFC 8511 §3; not in slow start (§4).
        let mild = self.abe && event.kind == CongestionKind::Ecn && self.cwnd >= self.ssthresh;
        self.ssthresh = if mild { (event.flight * 4 / 5).max(2 * self.smss) } else { self.half(event.flight) };
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

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let Some(window) = rule.applied(self.cwnd) {
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
        self.ssthresh = self.ssthresh.max(undo.flight);
        self.set_window(undo.window);
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
            flow: 0,
            seed: 0,
            begun: Begun::default(),
            sack: true,
        }
    }

    /// RFC 5681 §3.1: (2) min(N, SMSS) in slow start; one SMSS for each window of bytes in congestion avoidance.
    #[test]
    fn growth_for_an_acknowledgement() {
        let ack = |reno: &mut Reno, acked: u64| {
            reno.on_ack(&AckSample { acked, window_limited: true, ..AckSample::default() });
            reno.window()
        };
        let mut reno = Reno::new(&seat(4000, u64::MAX));
        assert_eq!([3000, 1000, 400].map(|acked| ack(&mut reno, acked)), [5000, 6000, 6400]);
        let mut reno = Reno::new(&seat(4000, 4000));
        assert_eq!([1000, 2000, 1000, 4999, 1].map(|acked| ack(&mut reno, acked)), [4000, 4000, 5000, 5000, 6000]);
    }

    /// RFC 5681 §3.1, equation (4): max(FlightSize / 2, 2 SMSS).
    #[test]
    fn a_loss_leaves_half_and_two_segments_at_least() {
        for (flight, left) in [(20_000, 10_000), (5000, 2500), (3000, 2000), (1000, 2000)] {
            let mut reno = Reno::new(&seat(20_000, 20_000));
            let (now, kind) = (Instant::ZERO, CongestionKind::Loss);
            reno.on_congestion(&CongestionEvent { now, kind, flight, lost: 0, resent: false });
            assert_eq!((reno.window(), reno.ssthresh()), (left, Some(left)), "FlightSize {flight}");
        }
    }

    /// RFC 8511 §3: ssthresh = max(0.8·FlightSize, 2·SMSS) for a mark, and half for a loss; §4: not in slow start.
    #[test]
    fn abe_lowers_the_window_less_for_a_mark() {
        let after = |abe: bool, kind: CongestionKind, segments: u64, initial_ssthresh: u64| {
            let flight = segments * 1000;
            let mut reno = Config { abe }.build(&seat(flight, initial_ssthresh));
            let now = Instant::ZERO;
            reno.on_congestion(&CongestionEvent { now, kind, flight, lost: 0, resent: false });
            (reno.window() / 1000, reno.ssthresh().unwrap() / 1000)
        };
        assert_eq!(after(true, CongestionKind::Ecn, 20, 20_000), (16, 16));
        assert_eq!(after(true, CongestionKind::Loss, 20, 20_000), (10, 10));
        assert_eq!(after(false, CongestionKind::Ecn, 20, 20_000), (10, 10));
        assert_eq!(after(true, CongestionKind::Ecn, 20, u64::MAX), (10, 10));
        assert_eq!(after(true, CongestionKind::Ecn, 2, 2000), (2, 2));
    }
}
