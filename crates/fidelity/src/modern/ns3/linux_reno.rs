//! ns-3.37's `TcpLinuxReno`. It is Reno (RFC 5681) but for this:
//!
//! - The acknowledgement that ends a recovery counts in full, with all that SACK had told before: a window of 9 segments grows by 2 or 3 each time
//!   that it was halved. RFC 5681 §3.2 step 6 sets the window to `ssthresh` there, and Linux, whose Reno this is by name, counts what is newly delivered.
//! - What is counted towards the next segment of window outlives a recovery.
//! - `ssthresh` is half the window (RFC 5681 §3.1: half of what is in flight), and slow start counts all acknowledged segments.
//!
//! With 2 % of losses it is a third faster than the square-root law allows (Mathis et al. 1997); without the first of these it is not.

use lasthop_core::engine::Instant;
use lasthop_core::transport::congestion::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule,
};

/// Makes such controllers.
pub struct Config;

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(LinuxReno {
            smss: seat.smss.into(),
            cwnd: seat.initial_window,
            ssthresh: seat.initial_ssthresh,
            count: 0,
            ending: 0,
        })
    }
}

#[derive(Clone)]
struct LinuxReno {
    smss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Segments counted in congestion avoidance (`m_cWndCnt`).
    count: u64,
    /// Bytes that the last acknowledgement of a recovery acknowledged, as long as it is not known whether it was the last.
    ending: u64,
}

impl LinuxReno {
    /// `IncreaseWindow`.
    fn increase(&mut self, bytes: u64) {
        let mut segments = bytes / self.smss;
        if self.cwnd < self.ssthresh {
            let grown = (self.cwnd + segments * self.smss).min(self.ssthresh);
            segments -= (grown - self.cwnd) / self.smss;
            self.cwnd = grown;
        }
        if self.cwnd >= self.ssthresh {
            let window = (self.cwnd / self.smss).max(1);
            if self.count >= window {
                self.count = 0;
                self.cwnd += self.smss;
            }
            self.count += segments;
            self.cwnd += self.count / window * self.smss;
            self.count %= window;
        }
    }

    /// `GetSsThresh`.
    fn half(&self) -> u64 {
        (self.cwnd / 2).max(2 * self.smss)
    }
}

impl CongestionControl for LinuxReno {
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.recovering {
            self.ending = sample.acked;
            return;
        }
        let ending = std::mem::take(&mut self.ending);
        self.increase(ending);
        if sample.window_limited {
            self.increase(sample.acked);
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.ssthresh = self.half();
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, _now: Instant, _flight: u64, again: bool) {
        if !again {
            self.ssthresh = self.half();
        }
        self.cwnd = self.smss;
        self.ending = 0;
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        self.cwnd = rule.applied(self.cwnd).unwrap_or(self.cwnd).max(self.smss);
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh < u64::MAX).then_some(self.ssthresh)
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.ssthresh = self.ssthresh.max(undo.flight);
        self.cwnd = undo.window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ends of recoveries of ns-3.37, logged with segments of 1400 B: the window, what was counted, the segments that the last acknowledgement
    /// acknowledged, and the window after it.
    #[test]
    fn the_end_of_a_recovery_as_ns3_logs_it() {
        for (cwnd, count, segments, after) in [(3.644_29, 3, 9, 7.644_29), (5.577_86, 5, 13, 8.577_86)] {
            let bytes = |segments: f64| (segments * 1400.0).round() as u64;
            let mut reno = LinuxReno { smss: 1400, cwnd: bytes(cwnd), ssthresh: bytes(cwnd), count, ending: 0 };
            let last = AckSample { acked: segments * 1400, recovering: true, ..AckSample::default() };
            reno.on_ack(&AckSample { acked: 1400, ..last });
            reno.on_ack(&last);
            assert_eq!(reno.window(), bytes(cwnd), "as long as it may go on");
            reno.on_ack(&AckSample::default());
            assert_eq!(reno.window(), bytes(after));
        }
    }
}
