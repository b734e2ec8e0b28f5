//! ns-3.37's `TcpCubic`, with its defaults. Beside RFC 9438 it is other in this:
//!
//! - There is no Reno-friendly region (§4.3).
//! - The window is in whole segments, and so is the distance to the target; a segment needs two acknowledgements at least. Before the first loss, and
//!   after a timeout, which forgets the last maximum, it needs 20 at most.
//! - Delays are the smoothed round-trip time. HyStart ends slow start where acknowledgements no more than 2 ms apart have come for longer than the
//!   least of them, or by the least one of a round at more than twice that.
//! - What is counted is what [`Counting`] says.

use libm::{cbrt, pow};

use lasthop_core::engine::{Duration, Instant};
use lasthop_core::transport::congestion::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule,
};

use super::counting::Counting;

/// Makes such controllers.
pub struct Config;

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        let smss = u64::from(seat.smss);
        Box::new(Cubic {
            smss,
            cwnd: seat.initial_window / smss,
            ssthresh: seat.initial_ssthresh / smss,
            count: 0,
            w_max: 0,
            epoch: None,
            srtt: None,
            least_srtt: None,
            counting: Counting::default(),
            hystart: HyStart::default(),
        })
    }
}

/// `C`, `Beta` and `CntClamp`.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const CLAMP: u64 = 20;
/// `CubicDelta`: delays so soon after the growth began are not taken.
const SETTLING: Duration = Duration::from_millis(10);

/// Windows in segments.
#[derive(Clone)]
struct Cubic {
    smss: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Segments counted towards the next one of the window.
    count: u64,
    /// The window at the last loss; 0 before the first.
    w_max: u64,
    epoch: Option<Epoch>,
    srtt: Option<Duration>,
    least_srtt: Option<Duration>,
    counting: Counting,
    hystart: HyStart,
}

/// A stage of growth: since when, and the middle of the curve.
#[derive(Clone, Copy)]
struct Epoch {
    began: Instant,
    k: f64,
    origin: u64,
}

/// The state of HyStart: the round's beginning and end, and its delays.
#[derive(Clone, Default)]
struct HyStart {
    found: bool,
    round: Instant,
    last_ack: Instant,
    end: u64,
    least: Option<Duration>,
    samples: u32,
}

impl HyStart {
    /// `HyStartLowWindow`, segments; `HyStartMinSamples`, `HyStartAckDelta`, `HyStartDelayMin` and `HyStartDelayMax`.
    const LOW_WINDOW: u64 = 16;
    const SAMPLES: u32 = 8;
    const SPACING: Duration = Duration::from_millis(2);
    const DELAY: [Duration; 2] = [Duration::from_millis(4), Duration::from_millis(1000)];

    /// `HystartReset`: a round ends where all that has been sent is acknowledged.
    fn begin_round(&mut self, now: Instant, end: u64) {
        *self = Self { found: self.found, round: now, last_ack: now, end, least: None, samples: 0 };
    }

    /// `HystartUpdate`. Says whether slow start ends now.
    fn update(&mut self, now: Instant, delay: Duration, least: Duration) -> bool {
        if self.found {
            return false;
        }
        if now.since(self.last_ack) <= Self::SPACING {
            self.last_ack = now;
            self.found = now.since(self.round) > least;
        }
        if self.samples < Self::SAMPLES {
            self.least = Some(self.least.map_or(delay, |before| before.min(delay)));
            self.samples += 1;
        } else if self.least.is_some_and(|here| here > least + least.clamp(Self::DELAY[0], Self::DELAY[1])) {
            self.found = true;
        }
        self.found
    }
}

impl Cubic {
    /// `PktsAcked`.
    fn take_delay(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            // RFC 6298 §2.3, with each acknowledgement.
            let smoothed = |before: Duration| Duration::from_nanos((7 * before.as_nanos() + rtt.as_nanos()) / 8);
            self.srtt = Some(self.srtt.map_or(rtt, smoothed));
        }
        let Some(srtt) = self.srtt else { return };
        if self.epoch.is_some_and(|epoch| now.since(epoch.began) < SETTLING) {
            return;
        }
        let least = self.least_srtt.map_or(srtt, |least| least.min(srtt));
        self.least_srtt = Some(least);
        let watched = self.cwnd <= self.ssthresh && self.cwnd >= HyStart::LOW_WINDOW;
        if watched && self.hystart.update(now, srtt, least) {
            self.ssthresh = self.cwnd;
        }
    }

    /// `IncreaseWindow`.
    fn increase(&mut self, now: Instant, segments: u64, sent: u64) {
        if segments == 0 {
            return;
        }
        if self.cwnd < self.ssthresh {
            if self.counting.acked() > self.hystart.end {
                self.hystart.begin_round(now, sent);
            }
            self.cwnd += segments;
            return;
        }
        self.count += segments;
        let needed = self.needed(now);
        if self.count >= needed {
            self.cwnd += 1;
            self.count -= needed;
        }
    }

    /// How many acknowledged segments make one of the window (`Update`).
    fn needed(&mut self, now: Instant) -> u64 {
        let (cwnd, w_max) = (self.cwnd, self.w_max);
        let epoch = *self.epoch.get_or_insert_with(|| Epoch {
            began: now,
            k: cbrt(w_max.saturating_sub(cwnd) as f64 / C),
            origin: w_max.max(cwnd),
        });
        let t = now.since(epoch.began) + self.least_srtt.unwrap_or(Duration::ZERO);
        let from_middle = t.as_secs_f64() - epoch.k;
        let distance = (C * pow(from_middle.abs(), 3.0)) as u64;
        let target = if from_middle < 0.0 { epoch.origin.saturating_sub(distance) } else { epoch.origin + distance };
        let needed = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        let clamped = if w_max == 0 { needed.min(CLAMP) } else { needed };
        clamped.max(2)
    }

    /// `GetSsThresh`, with fast convergence.
    fn reduce(&mut self) {
        self.w_max = if self.cwnd < self.w_max { (self.cwnd as f64 * (1.0 + BETA) / 2.0) as u64 } else { self.cwnd };
        self.epoch = None;
        self.ssthresh = ((self.cwnd as f64 * BETA) as u64).max(2);
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, sample: &AckSample) {
        self.take_delay(sample.now, sample.rtt);
        let counted = self.counting.on_ack(sample);
        let sent = self.counting.sent(sample.in_flight);
        for bytes in counted {
            self.increase(sample.now, bytes / self.smss, sent);
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.reduce();
        self.cwnd = self.ssthresh;
    }

    fn on_timeout(&mut self, now: Instant, flight: u64, again: bool) {
        if !again {
            self.reduce();
        }
        self.counting.on_timeout(flight);
        // `CubicReset` and `HystartReset`.
        (self.cwnd, self.w_max, self.least_srtt) = (1, 0, None);
        self.hystart.found = false;
        self.hystart.begin_round(now, self.counting.sent(flight));
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        if let Some(bytes) = rule.applied(self.window()) {
            self.cwnd = (bytes / self.smss).max(1);
        }
    }

    fn window(&self) -> u64 {
        self.cwnd * self.smss
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh < u64::MAX / self.smss).then(|| self.ssthresh * self.smss)
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.ssthresh = self.ssthresh.max(undo.flight / self.smss);
        self.cwnd = undo.window / self.smss;
    }
}

#[cfg(test)]
mod tests {
    use lasthop_core::scenario::session::Session;

    use super::super::path::{Discipline, Path};
    use super::super::{CUBIC, document};

    /// When ns-3.37 logs a new `ssthresh`, and which, in segments: HyStart's, and those of two full buffers. 10 Mbit/s, 20 ms one way, 70 packets.
    const LOGGED: [(f64, f64); 3] = [(0.204_467, 75.0), (1.050_12, 77.0), (3.326_5, 74.0)];

    #[test]
    fn thresholds_as_ns3_logs_them() {
        let (steps, queue) = (vec![(0.0, 10.0, 20.0)], Discipline::DropTail);
        let path = Path { steps, limit: 70, loss: None, queue, ecn: false };
        let mut document = document("ns-3", &path, &[CUBIC], &[0.0], &[1.0, 2.0, 3.0]).unwrap();
        document.scenario.record.variables = true;
        let mut run = Session::new(&document.scenario, 1, None).unwrap();
        run.complete().unwrap();
        let results = run.finish();
        let changes = results.table("changes").unwrap();
        let of_threshold = (0..changes.rows()).filter(|&row| changes.text("variable", row) == Some("ssthresh"));
        let value = |column: &str, row: usize| changes.number(column, row).unwrap();
        let ours: Vec<_> = of_threshold.map(|row| (value("time_s", row), value("value", row))).collect();
        assert_eq!(ours.len(), LOGGED.len(), "{ours:?}");
        for ((at, ours), (logged, theirs)) in ours.into_iter().zip(LOGGED) {
            assert!((at / logged - 1.0).abs() < 0.03, "{at} s for {logged} s");
            assert!((ours - theirs).abs() <= 1.0, "{ours} segments for {theirs}");
        }
    }
}
