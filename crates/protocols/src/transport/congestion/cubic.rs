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
    /// W_max: the window just before the last reduction; 0 before the first.
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
    /// W_max of this stage.
    w_max: f64,
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

    /// §4.6 and §4.7: what a loss or a mark leaves, `beta` of the flight. The window itself is set by the caller.
    fn reduce(&mut self, flight: u64, beta: f64) {
        self.cwnd_prior = self.cwnd;
        self.w_max = if self.fast_convergence && self.cwnd < self.w_max {
            self.cwnd * (1.0 + self.beta) / 2.0
        } else {
            self.cwnd
        };
        self.ssthresh = (flight as f64 / self.smss * beta).max(2.0);
        self.epoch = None;
        self.hystart = None;
    }

    /// Begins a stage of congestion avoidance (§4.2, §4.3, §4.8, §4.10).
    fn begin(&mut self, now: Instant) -> Epoch {
        self.hystart = None;
        // After a timeout, or after a slow start that no loss ended, the curve begins at its
        // middle. In the latter case cwnd_prior is this window too (§4.10): 0 does as well, W_est
        // lies above both.
        let (w_max, k) = if self.after_timeout || self.w_max <= self.cwnd {
            (self.cwnd, 0.0)
        } else {
            (self.w_max, libm::cbrt((self.w_max - self.cwnd) / self.c))
        };
        Epoch { start: now, k, w_max, w_est: self.cwnd, unused_since: None }
    }

    /// Congestion avoidance (§4.2 to §4.5) on the acknowledgement of `segments`.
    fn avoid(&mut self, now: Instant, segments: f64, srtt: Duration) {
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin(now));
        if let Some(since) = epoch.unused_since.take() {
            epoch.start += now.since(since);
        }
        let w_cubic = |t: f64| {
            let d = t - epoch.k;
            self.c * d * d * d + epoch.w_max
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
        self.reduce(event.flight, if mild { BETA_ECN } else { self.beta });
        self.after_timeout = false;
        self.set(self.ssthresh);
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
mod tests {
    use super::*;

    const SMSS: u64 = 1000;
    const RTT: f64 = 0.1;

    fn seat(initial_window: u64, initial_ssthresh: u64) -> EndpointContext {
        EndpointContext {
            smss: SMSS as u32,
            header: 40,
            options: 0,
            initial_window,
            initial_ssthresh,
            sack: true,
            flow: 0,
            seed: 0,
        }
    }

    /// A controller at `segments` whose window is lost at once, in congestion avoidance.
    fn after_loss(segments: u64) -> Cubic {
        let config = Config::default();
        let mut cubic = Cubic::new(config, &seat(segments * SMSS, segments * SMSS));
        cubic.on_congestion(&loss(segments));
        cubic
    }

    fn loss(segments: u64) -> CongestionEvent {
        let now = Instant::ZERO;
        CongestionEvent { now, kind: CongestionKind::Loss, flight: segments * SMSS, lost: SMSS, resent: false }
    }

    fn sample(seconds: f64, acked: u64) -> AckSample {
        AckSample {
            now: Instant::from_secs_f64(seconds),
            acked,
            srtt: Duration::from_secs_f64(RTT),
            window_limited: true,
            ..AckSample::default()
        }
    }

    /// Acknowledges whole windows, evenly over each round trip, up to `until` seconds.
    fn run(cubic: &mut Cubic, until: f64) {
        let mut t = 0.0;
        while t < until {
            t += RTT * SMSS as f64 / cubic.window() as f64;
            cubic.on_ack(&sample(t, SMSS));
        }
    }

    /// §4.2: the target is 1.5 cwnd where the curve is above that a round trip later.
    #[test]
    fn the_window_grows_by_half_in_a_round_trip_at_most() {
        let mut cubic = after_loss(100);
        cubic.on_ack(&sample(0.0, SMSS));
        let before = cubic.cwnd;
        // W_cubic(20.1 s) = 0.4·15.9³ + 100, some 1,700 segments.
        cubic.on_ack(&sample(20.0, SMSS));
        assert!((cubic.cwnd - before - 0.5).abs() < 1e-9, "{} and {before}", cubic.cwnd);
    }

    #[test]
    fn a_loss_at_100_segments_puts_the_plateau_4_217_seconds_later() {
        let mut cubic = after_loss(100);
        assert_eq!(cubic.window(), 70 * SMSS);
        cubic.on_ack(&sample(0.0, SMSS));
        let epoch = cubic.epoch.as_ref().unwrap();
        assert!((epoch.k - 4.217_163_3).abs() < 1e-6, "{}", epoch.k);
        assert!((cubic.alpha - 0.529_411_76).abs() < 1e-8);
    }

    /// W_cubic(t) = C·(t − K)³ + W_max. The window follows it at most a round trip behind, where
    /// it is above Reno's.
    #[test]
    fn the_window_follows_the_cubic_curve() {
        // A window of 1000 segments: K = 9.086 s, and Reno's share stays far below.
        let k = libm::cbrt(1000.0 * 0.3 / 0.4);
        let curve = |t: f64| 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
        for t in [1.0, 3.0, 6.0, 9.086, 12.0, 15.0] {
            let mut cubic = after_loss(1000);
            run(&mut cubic, t);
            let cwnd = cubic.window() as f64 / SMSS as f64;
            let (low, high) = (curve(t - RTT) - 1.0, curve(t + RTT) + 1.0);
            assert!((low..=high).contains(&cwnd), "at {t} s: {cwnd}, the curve has {}", curve(t));
        }
    }

    /// In the Reno-friendly region the window grows by α segments a round trip up to the window
    /// before the loss, then by one.
    #[test]
    fn a_small_window_grows_as_reno_does_on_average() {
        let mut cubic = after_loss(10);
        // From 7 to 10 segments at 0.529 a round trip: 5.7 round trips.
        run(&mut cubic, 5.0 * RTT);
        let cwnd = cubic.window() as f64 / SMSS as f64;
        assert!((cwnd - (7.0 + 5.0 * 0.529)).abs() < 0.15, "{cwnd}");
        let mut late = after_loss(10);
        run(&mut late, 15.67 * RTT);
        let cwnd = late.window() as f64 / SMSS as f64;
        assert!((cwnd - 20.0).abs() < 0.6, "ten round trips after it is back: {cwnd}");
    }

    /// RFC 9438 §4.2, §5.8: t has no part of a time in which the window did not grow because the application sent nothing.
    #[test]
    fn an_idle_time_does_not_count_in_t() {
        let (mut steady, mut paused) = (after_loss(100), after_loss(100));
        run(&mut steady, 2.0);
        run(&mut paused, 2.0);
        paused.on_idle(Duration::from_secs(30));
        for n in 1..200 {
            let later = 2.0 + f64::from(n) * 0.01;
            steady.on_ack(&sample(later, SMSS));
            paused.on_ack(&sample(30.0 + later, SMSS));
            assert_eq!(steady.window(), paused.window(), "{n} acknowledgements later");
        }
    }

    /// RFC 8511 §3.1: 0.85 for a mark, and still 0.7 for a loss; §4: not in slow start.
    #[test]
    fn abe_lowers_the_window_less_for_a_mark() {
        let marked = |abe: bool, threshold: u64| {
            let mut cubic = Cubic::new(Config { abe, ..Config::default() }, &seat(100 * SMSS, threshold));
            cubic.on_congestion(&CongestionEvent { kind: CongestionKind::Ecn, ..loss(100) });
            (cubic.window(), cubic.ssthresh(), cubic.w_max)
        };
        for (abe, threshold, segments) in [(true, 100 * SMSS, 85), (false, 100 * SMSS, 70), (true, u64::MAX, 70)] {
            assert_eq!(marked(abe, threshold), (segments * SMSS, Some(segments * SMSS), 100.0));
        }
        let mut cubic = Cubic::new(Config { abe: true, ..Config::default() }, &seat(100 * SMSS, 100 * SMSS));
        cubic.on_congestion(&loss(100));
        assert_eq!(cubic.window(), 70 * SMSS);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let mut cubic = after_loss(100);
        cubic.on_congestion(&loss(70));
        assert!((cubic.w_max - 70.0 * 0.85).abs() < 1e-9);
        assert_eq!(cubic.window(), 49 * SMSS);
    }

    #[test]
    fn after_a_timeout_the_curve_begins_at_its_middle() {
        let mut cubic = after_loss(100);
        cubic.on_timeout(Instant::ZERO, 70 * SMSS, false);
        assert_eq!((cubic.window(), cubic.ssthresh()), (SMSS, Some(49 * SMSS)));
        run(&mut cubic, 4.0);
        let epoch = cubic.epoch.as_ref().unwrap();
        assert_eq!(epoch.k, 0.0);
        assert!((epoch.w_max - 49.0).abs() < 1.0, "{}", epoch.w_max);
    }

    /// §4.10: the stage after HyStart++ begins at the middle of its curve, and grows as Reno does
    /// there, by a segment in a round trip (§4.3).
    #[test]
    fn after_a_slow_start_that_no_loss_ended_the_curve_begins_at_its_middle() {
        let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, u64::MAX));
        let slow = |round: u64, rtt_ms: u64| AckSample {
            round,
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..sample(0.0, SMSS)
        };
        for round in 1..=6 {
            for _ in 0..8 {
                cubic.on_ack(&slow(round, if round == 1 { 100 } else { 120 }));
            }
        }
        assert_eq!(cubic.ssthresh(), None);
        // 16 ACKs in full, 32 that count a quarter.
        assert_eq!(cubic.window(), 124 * SMSS);
        cubic.on_ack(&slow(7, 120));
        assert_eq!(cubic.ssthresh(), Some(124 * SMSS));
        let epoch = cubic.epoch.as_ref().unwrap();
        assert_eq!((epoch.k, epoch.w_max), (0.0, 124.0));
        run(&mut cubic, 5.0 * RTT);
        let cwnd = cubic.window() as f64 / SMSS as f64;
        assert!((cwnd - 129.0).abs() < 0.2, "{cwnd}");
    }

    /// RFC 9406 §4.2, §4.3: a loss, a mark or a timeout ends HyStart++ for the connection's life.
    #[test]
    fn later_slow_starts_are_rfc_5681s() {
        let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, u64::MAX));
        assert!(cubic.hystart.is_some());
        cubic.on_timeout(Instant::ZERO, 100 * SMSS, false);
        assert!(cubic.hystart.is_none());
        // Equation (2): one segment, whatever is acknowledged.
        cubic.on_ack(&sample(1.0, 4 * SMSS));
        assert_eq!(cubic.window(), 2 * SMSS);
        let mut cubic = Cubic::new(Config::default(), &seat(100 * SMSS, u64::MAX));
        cubic.on_congestion(&loss(100));
        assert!(cubic.hystart.is_none());
    }

    #[test]
    fn time_in_which_the_window_was_not_used_does_not_count() {
        let mut used = after_loss(1000);
        run(&mut used, 3.0);
        let mut paused = used.clone();
        paused.on_ack(&AckSample { window_limited: false, ..sample(3.0, SMSS) });
        paused.on_ack(&sample(60.0, SMSS));
        used.on_ack(&sample(3.0, SMSS));
        assert_eq!(paused.window(), used.window());
    }
}
