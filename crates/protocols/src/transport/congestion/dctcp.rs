//! DCTCP (RFC 8257): a mark lowers the window by half of the share of marked data, a loss by half. All else is Reno's.
//!
//! The RFC's receiver echoes marks by a rule of its own (§3.2). Here it counts them (AccECN, RFC 9768), which also holds where
//! acknowledgements are lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{Fault, Instant};
use lasthop_net::net::Probe;

use super::reno::Reno;
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, CongestionKind, EndpointContext, Undo, WindowRule,
};

/// DCTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The weight of the newest window of data in the share of marks, g. Above 0, at most 1. Default: 1/16 (RFC 8257 §4.2).
    pub gain: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { gain: 1.0 / 16.0 }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Dctcp::new(*self, seat))
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Fault> {
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Err(Fault::new("gain", format!("a gain of {}", self.gain), "expected above 0, at most 1"));
        }
        Ok(())
    }
}

/// The window, and the share of marks.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Reno,
    smss: u64,
    gain: f64,
    /// DCTCP.Alpha.
    alpha: f64,
    /// DCTCP.WindowEnd: a window of data is over when this amount is delivered.
    end: u64,
    /// Delivered when it began.
    begin: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl Dctcp {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        // RFC 8257 §3.3: alpha begins at 1, so that the first mark halves the window.
        let (gain, alpha) = (config.gain, 1.0);
        Self { window: Reno::new(seat), smss: seat.smss.into(), gain, alpha, end: 0, begin: 0, marked: 0 }
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, sample: &AckSample) {
        self.window.on_ack(sample);
        self.marked += sample.ce;
        // RFC 8257 §3.3, steps 5 to 9.
        if sample.delivered > self.end {
            let share = self.marked as f64 / (sample.delivered - self.begin) as f64;
            self.alpha += self.gain * (share.min(1.0) - self.alpha);
            (self.begin, self.end, self.marked) = (sample.delivered, sample.delivered + sample.in_flight, 0);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.kind {
            // RFC 8257 §3.3, step 10. Not below equation (4) of RFC 5681.
            CongestionKind::Ecn => {
                let kept = self.window.window() as f64 * (1.0 - self.alpha / 2.0);
                self.window.reduce_to((kept as u64).max(2 * self.smss));
            }
            // §3.5: as other TCP.
            CongestionKind::Loss => self.window.on_congestion(event),
        }
    }

    fn on_timeout(&mut self, now: Instant, flight: u64, again: bool) {
        self.window.on_timeout(now, flight, again);
    }

    fn on_rule(&mut self, now: Instant, rule: WindowRule) {
        self.window.on_rule(now, rule);
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.window.on_undo(undo);
    }

    /// §3.5: the window is changed for an inferred loss as a conventional TCP would; a mark has lowered it by less.
    fn answers_losses_after_marks(&self) -> bool {
        true
    }

    fn window(&self) -> u64 {
        self.window.window()
    }

    fn ssthresh(&self) -> Option<u64> {
        self.window.ssthresh()
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::congestion::Begun;

    const SMSS: u64 = 1000;

    fn dctcp(initial_window: u64) -> Dctcp {
        let seat = EndpointContext {
            smss: SMSS as u32,
            header: 40,
            options: 0,
            initial_window,
            initial_ssthresh: u64::MAX,
            flow: 0,
            seed: 0,
            begun: Begun::default(),
            sack: true,
        };
        Dctcp::new(Config::default(), &seat)
    }

    /// Acknowledges windows of ten segments that do not grow, the first segments of each marked.
    fn windows(dctcp: &mut Dctcp, delivered: &mut u64, marked: &[u64]) {
        for &marked in marked {
            for segment in 0..10 {
                *delivered += SMSS;
                let ce = if segment < marked { SMSS } else { 0 };
                let (acked, in_flight, recovering) = (SMSS, 9 * SMSS, true);
                let delivered = *delivered;
                dctcp.on_ack(&AckSample { acked, delivered, ce, in_flight, recovering, ..AckSample::default() });
            }
        }
    }

    fn congestion(dctcp: &mut Dctcp, kind: CongestionKind, flight: u64) -> u64 {
        dctcp.on_congestion(&CongestionEvent { now: Instant::ZERO, kind, flight, lost: 0, resent: false });
        dctcp.window()
    }

    /// RFC 8257 §3.3: Alpha = Alpha × (1 − g) + g × M, once for each window of data.
    #[test]
    fn alpha_follows_the_share_of_marks() {
        let (mut dctcp, mut delivered) = (dctcp(10_000), 0);
        // The first acknowledgement ends the window in which nothing was known.
        windows(&mut dctcp, &mut delivered, &[0, 0, 0]);
        assert!((dctcp.alpha - 0.9375 * 0.9375 * 0.9375).abs() < 1e-12, "{}", dctcp.alpha);
        windows(&mut dctcp, &mut delivered, &[3; 400]);
        assert!((dctcp.alpha - 0.3).abs() < 1e-6, "{}", dctcp.alpha);
        windows(&mut dctcp, &mut delivered, &[10; 400]);
        assert!((dctcp.alpha - 1.0).abs() < 1e-6, "{}", dctcp.alpha);
    }

    /// RFC 8257 §3.3: cwnd × (1 − Alpha / 2); §3.5: losses as other TCP, half of what is in flight.
    #[test]
    fn a_mark_takes_half_of_the_share_and_a_loss_takes_half() {
        for (alpha, kept) in [(1.0, 20_000), (0.5, 30_000), (0.1, 38_000), (0.0, 40_000)] {
            let mut dctcp = Dctcp { alpha, ..dctcp(40_000) };
            assert_eq!(congestion(&mut dctcp, CongestionKind::Ecn, 40_000), kept, "alpha {alpha}");
            assert_eq!(dctcp.ssthresh(), Some(kept));
            let mut dctcp = Dctcp { alpha, ..self::dctcp(40_000) };
            assert_eq!(congestion(&mut dctcp, CongestionKind::Loss, 36_000), 18_000);
        }
        assert_eq!(congestion(&mut dctcp(3_000), CongestionKind::Ecn, 3_000), 2 * SMSS);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for gain in [0.0, 1.01, f64::NAN] {
            assert_eq!(Config { gain }.check().unwrap_err().field, "gain", "{gain}");
        }
        assert!(Config::default().check().is_ok());
    }
}
