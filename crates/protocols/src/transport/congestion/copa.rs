//! Copa (Arun, Balakrishnan, NSDI 2018): the window moves towards the rate 1/(δ·d_q), where d_q is the queueing delay. Flows that do so keep
//! few packets queued and share a link equally.
//!
//! d_q is what the *standing* round-trip time, the least of the last half SRTT, lies above the least of the last 10 s. Against flows that
//! fill the queue, which is then never nearly empty, δ follows losses (competitive mode, §2.2). A loss alone is no sign of congestion.
//!
//! Where the paper leaves something open: the sudden turn is as in mvfst, the bounds of window and velocity as in the authors' genericCC; a
//! timeout leaves one segment (RFC 5681 §3.1) and begins slow start; a mark counts as a loss.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lasthop_net::engine::{BitRate, Duration, Fault, Instant};
use lasthop_net::net::Probe;

use super::filter::{Greatest, Least};
use super::{AckSample, CongestionConfig, CongestionControl, CongestionEvent, EndpointContext, Undo, WindowRule};

/// Copa's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// δ: the flow aims at 1/δ packets in the queue. Default: 0.5 (§2.2). QUIC stacks take 0.05 (mvfst) and 0.04 (tquic).
    pub delta: f64,
    /// The competitive mode. Default: on (§2.2). mvfst has none.
    pub competitive: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { delta: 0.5, competitive: true }
    }
}

impl CongestionConfig for Config {
    fn build(&self, seat: &EndpointContext) -> Box<dyn CongestionControl> {
        Box::new(Copa::new(*self, seat))
    }

    fn check(&self) -> Result<(), Fault> {
        if !(1e-3..=1e3).contains(&self.delta) {
            return Err(Fault::new(
                "delta",
                format!("delta is {}", self.delta),
                "expected a number between 0.001 and 1000",
            ));
        }
        Ok(())
    }
}

/// The window, in packets as the paper counts.
#[derive(Clone, Debug)]
pub struct Copa {
    config: Config,
    smss: f64,
    /// Bytes on the wire for each byte of payload.
    overhead: f64,
    cwnd: f64,
    slow_start: bool,
    velocity: Velocity,
    delays: Delays,
    /// When the queue was nearly empty last; `None` before the first sample.
    emptied_at: Option<Instant>,
    /// 1/δ in competitive mode, and the round trip in which it changed last.
    competing: Option<Competing>,
    /// Bytes delivered.
    delivered: u64,
    /// The round trip.
    round: u64,
}

/// The parameter v (§2.1, step 4).
#[derive(Clone, Copy, Debug)]
struct Velocity {
    v: f64,
    up: bool,
    /// In how many round trips the direction has stayed the same; `None` in the one that began with a turn, which is not whole.
    same: Option<u32>,
    /// The window at the start of this round trip.
    cwnd: f64,
}

/// The round-trip times that d_q and the detector come from.
#[derive(Clone, Debug, Default)]
struct Delays {
    min: Least<Instant, Duration>,
    standing: Least<Instant, Duration>,
    max: Greatest<Instant, Duration>,
}

/// The competitive mode.
#[derive(Clone, Copy, Debug)]
struct Competing {
    /// 1/δ, packets.
    packets: f64,
    /// Whether a loss has come in this round trip.
    lost: bool,
}

impl Velocity {
    fn new(up: bool, cwnd: f64) -> Self {
        Self { v: 1.0, up, same: None, cwnd }
    }

    /// A round trip is over with this window.
    fn on_round(&mut self, cwnd: f64) {
        let up = cwnd > self.cwnd;
        let same = self.same.map_or(0, |same| same + 1);
        if up != self.up {
            *self = Self { same: Some(0), ..Self::new(up, cwnd) };
        } else {
            self.same = Some(same);
            if same >= SAME_DIRECTION {
                self.v *= 2.0;
            }
        }
        self.cwnd = cwnd;
        // The bound of genericCC.
        self.v = self.v.min(cwnd).max(1.0);
    }
}

impl Delays {
    fn update(&mut self, now: Instant, rtt: Duration, srtt: Duration) {
        let ago = |span: Duration| Instant::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()));
        self.min.update(now, rtt, ago(MIN_RTT_WINDOW));
        self.standing.update(now, rtt, ago(Duration::from_nanos(srtt.as_nanos() / 2)));
        self.max.update(now, rtt, ago(srtt * OSCILLATION_RTTS));
    }

    /// RTT_standing and d_q, in seconds.
    fn queueing(&self) -> Option<(f64, f64)> {
        let (standing, min) = (self.standing.get()?, self.min.get()?);
        Some((standing.as_secs_f64(), (standing - min).as_secs_f64()))
    }

    /// Whether the queue is nearly empty (§2.2). Where the delay does not vary, it is empty at the least delay.
    fn is_nearly_empty(&self) -> bool {
        let (Some(min), Some(max), Some((_, queueing))) = (self.min.get(), self.max.get(), self.queueing()) else {
            return true;
        };
        queueing <= NEARLY_EMPTY * (max - min).as_secs_f64()
    }
}

impl Copa {
    /// At the start of a connection.
    pub fn new(config: Config, seat: &EndpointContext) -> Self {
        let smss = f64::from(seat.smss);
        let cwnd = seat.initial_window as f64 / smss;
        Self {
            config,
            smss,
            overhead: (smss + f64::from(seat.header) + f64::from(seat.options)) / smss,
            cwnd,
            slow_start: true,
            velocity: Velocity::new(true, cwnd),
            delays: Delays::default(),
            emptied_at: None,
            competing: None,
            delivered: 0,
            round: 0,
        }
    }

    /// 1/δ.
    fn packets(&self) -> f64 {
        self.competing.map_or(1.0 / self.config.delta, |mode| mode.packets)
    }

    /// The detector of §2.2: it looks for a nearly empty queue in the last five round trips.
    fn judge_mode(&mut self, now: Instant, srtt: Duration, new_round: bool) {
        if self.emptied_at.is_none() || self.delays.is_nearly_empty() {
            self.emptied_at = Some(now);
        }
        let empty = self.emptied_at.is_some_and(|at| now.since(at) <= srtt * DETECTOR_RTTS);
        let least = 1.0 / self.config.delta;
        if empty || !self.config.competitive {
            self.competing = None;
        } else if let Some(mode) = &mut self.competing {
            // §2.2: additive increase of 1/δ without losses; the decrease is in `on_loss`.
            if new_round && !std::mem::take(&mut mode.lost) {
                mode.packets += 1.0;
            }
        } else {
            self.competing = Some(Competing { packets: least, lost: false });
        }
    }

    /// A loss or a mark, at most one in a window of data.
    fn on_loss(&mut self) {
        let least = 1.0 / self.config.delta;
        if let Some(mode) = &mut self.competing {
            mode.packets = (mode.packets / 2.0).max(least);
            mode.lost = true;
        }
    }

    /// §2.1, steps 2 to 4, on `acked` delivered packets.
    fn steer(&mut self, acked: f64, window_limited: bool, new_round: bool) {
        let target = match self.delays.queueing() {
            Some((standing, queueing)) if queueing > 0.0 => self.packets() * standing / queueing,
            // Nothing is queued: the target is infinite.
            _ => f64::INFINITY,
        };
        let up = self.cwnd <= target;
        if up && !window_limited {
            // A window that is not in use does not grow, and its velocity says nothing.
            self.velocity = Velocity::new(true, self.cwnd);
            return;
        }
        if self.slow_start && up {
            self.cwnd += acked;
            self.velocity = Velocity::new(true, self.cwnd);
            return;
        }
        self.slow_start = false;
        if new_round {
            self.velocity.on_round(self.cwnd);
        }
        if self.velocity.up != up && self.velocity.v > 1.0 {
            self.velocity = Velocity::new(up, self.cwnd);
        }
        let step = self.velocity.v * acked * self.packets() / self.cwnd;
        self.cwnd = if up { self.cwnd + step } else { (self.cwnd - step).max(LEAST_WINDOW) };
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, sample: &AckSample) {
        let AckSample { now, srtt, .. } = *sample;
        // After an undo the count lags behind.
        let acked = (sample.delivered - self.delivered).min(sample.acked + sample.sacked);
        self.delivered = sample.delivered;
        let new_round = sample.round != self.round;
        self.round = sample.round;
        if let Some(rtt) = sample.rtt {
            self.delays.update(now, rtt, srtt);
            self.judge_mode(now, srtt, new_round);
        }
        self.steer(acked as f64 / self.smss, sample.window_limited, new_round);
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.on_loss();
    }

    fn on_timeout(&mut self, _now: Instant, _flight: u64, again: bool) {
        if !again {
            self.on_loss();
        }
        self.cwnd = 1.0;
        self.slow_start = true;
    }

    fn window(&self) -> u64 {
        (self.cwnd * self.smss) as u64
    }

    /// Losses change δ, in competition with others; the window follows by acknowledgements.
    fn cuts(&self) -> Option<u64> {
        Some(0)
    }

    /// Twice the window in a standing round-trip time: enough for bursts of acknowledgements (§2.1).
    fn pacing_rate(&self) -> Option<BitRate> {
        let (standing, _) = self.delays.queueing()?;
        let bytes = 2.0 * self.cwnd * self.smss * self.overhead;
        (standing > 0.0).then(|| BitRate::from_bps((8.0 * bytes / standing) as u64))
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        // What a recovery leaves of a window of losses is none of Copa's: it paces, and losses are not its measure.
        if matches!(rule, WindowRule::Recovery(_)) {
            return;
        }
        if let Some(window) = rule.applied(self.window()) {
            self.cwnd = (window as f64 / self.smss).max(1.0);
            self.slow_start = true;
        }
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.cwnd = (undo.window as f64 / self.smss).max(1.0);
        self.velocity = Velocity::new(true, self.cwnd);
    }

    fn on_path_change(&mut self, now: Instant) {
        self.delays = Delays::default();
        self.emptied_at = Some(now);
        self.competing = None;
        self.velocity = Velocity::new(true, self.cwnd);
    }

    fn sample(&self, probe: &mut dyn Probe) {
        probe.value("delta", 1.0 / self.packets());
        if let Some((_, queueing)) = self.delays.queueing() {
            probe.value("queueing_delay_ms", queueing * 1e3);
        }
    }
}

/// RTT_min is the least of this time (§2.1).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// RTT_max is the greatest of this many round trips (§2.2).
const OSCILLATION_RTTS: u64 = 4;
/// The queue is nearly empty below this share of RTT_max − RTT_min (§2.2).
const NEARLY_EMPTY: f64 = 0.1;
/// Copa alone empties the queue in this many round trips (§2.2).
const DETECTOR_RTTS: u64 = 5;
/// v doubles once the direction has stayed the same for this many round trips (§2.1).
const SAME_DIRECTION: u32 = 3;
/// The least window, packets (genericCC).
const LEAST_WINDOW: f64 = 2.0;

#[cfg(test)]
mod tests;
