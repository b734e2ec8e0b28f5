//! CUBIC's window through one loss: against RFC 9438's equations, and against ns-3.37's TcpCubic on
//! the same path. `tests/reference/ns3/README.md` says how ns-3's traces were made.
//!
//! ns-3's rule is not RFC 9438's. So it is written down here ([`TcpCubic`]) and put into our sender:
//! that it gives ns-3's trace shows that these departures are all there is. The bounds between
//! ns-3's window and ours follow from them:
//!
//! - Let W be the cubic function, r the round trip, and T = W(t + r) the target. Each ACK takes the
//!   window x by (T − x)/x nearer to T (RFC 9438 §4.2), n of them to ρ = exp(−n/x) of the distance. A
//!   round trip has one ACK per segment of the former window: n = x − Δ, if Δ is W's growth in it. So the distance
//!   is at most L = Δ·(1 + ρ + ρ² + …) = Δ/(1 − ρ), about 1.6 Δ, whenever in the round the ACKs come: T − L ≤ x ≤ T.
//! - ns-3 cuts its target's distance from W_max to whole segments: below W_max its target is less than
//!   one segment higher, above W_max less than one lower. Two windows that go the same share of the
//!   way to targets that far apart are not further apart than the targets.
//! - ns-3's window is in whole segments: less than one lower. It never falls further behind, because
//!   it rounds the number of ACKs to a segment down.
//! - ns-3 counts ACKs also while its window has reached the target, and so may reach the next target
//!   at once: at most L before ours.
//! - ns-3's recovery is PRR, which spreads what it sends over a round trip; ours (RFC 6675) waits for the
//!   pipe to drain first. So in later rounds an ACK comes earlier or later, by as much as a window takes
//!   to be sent.

use super::*;
use crate::transport::congestion::{
    AckSample, Congestion, CongestionControl, CongestionEvent, Undo, WindowRule, cubic,
};
use lasthop_net::engine::Bytes;

/// Rows of seconds and segments.
type Trace = Vec<(f64, f64)>;

/// A scenario of `benches/peers/cubic.cc`.
struct Scenario {
    trace: &'static str,
    mbps: f64,
    /// The initial slow-start threshold, segments.
    ssthresh: Option<u32>,
    /// The segment that is lost, from 0.
    lost: u64,
}

/// The loss in slow start, at 200 segments: both lose at the same window, and 0.7 of it is a whole
/// number. The pipe holds 11 998 segments, so the round trip is the same all the time. And the window
/// is so large that the Reno-friendly region (RFC 9438 §4.3) is never entered.
const SLOW_START: Scenario = Scenario {
    trace: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns3/cubic-slow-start.csv")),
    mbps: 1000.0,
    ssthresh: None,
    lost: 190,
};

/// The loss some round trips after slow start was left at 100 segments. The pipe holds 121 segments.
const AVOIDANCE: Scenario = Scenario {
    trace: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns3/cubic-one-loss.csv")),
    mbps: 10.0,
    ssthresh: Some(100),
    lost: 600,
};

/// Bytes on ns-3's link: of a data packet, and of an ACK.
const DATA: f64 = 1042.0;
const ACK: f64 = 42.0;

const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// A run of our sender.
struct Run {
    trace: Trace,
    /// When the loss was found, and when it was repaired.
    recovery: (f64, f64),
    /// The window just before the loss was found.
    lost_at: f64,
}

impl Scenario {
    fn transmission(&self, bytes: f64) -> f64 {
        bytes * 8.0 / (self.mbps * 1e6)
    }

    fn rtt(&self) -> f64 {
        0.1 + self.transmission(DATA) + self.transmission(ACK)
    }

    fn ns3(&self) -> Trace {
        let row = |line: &str| {
            let (time, cwnd) = line.split_once(',')?;
            Some((time.parse().ok()?, cwnd.parse().ok()?))
        };
        let rows: Trace = self.trace.lines().filter_map(row).collect();
        assert!(rows.len() > 300);
        rows
    }

    /// Our sender, with ns-3's rule instead of its own if there is one. In ns-3 the data begin after
    /// the handshake's last ACK; here they begin at 0 and are counted from there.
    fn run(&self, rule: Option<TcpCubic>) -> Run {
        let mut path = Path::new(&Config {
            segment: Some(Bytes::new(1000)),
            handshake: Some(Handshake::None),
            initial_ssthresh: self.ssthresh,
            window: Some(64_000),
            rto: Rto { min: Some(Duration::from_millis(200)), ..Rto::default() },
            congestion: Some(Congestion::Cubic(cubic::Config {
                fast_convergence: false,
                hystart: false,
                ..cubic::Config::default()
            })),
            ..Config::default()
        });
        if let Some(rule) = rule {
            path.sender.c.congestion = Box::new(rule);
            path.sender.c.refresh();
        }
        path.serialisation = Duration::from_secs_f64(self.transmission(DATA));
        path.ack_serialisation = Duration::from_secs_f64(self.transmission(ACK));
        let lost = self.lost + 1;
        path.lose = lose(move |segment, before| segment == lost && before == 0);
        path.notify(Notice::Open);
        path.notify(Notice::Write(u64::MAX));
        let began = self.ns3()[0].0 + self.transmission(ACK);
        let mut run = Run { trace: vec![(0.0, 10.0)], recovery: (0.0, 0.0), lost_at: 0.0 };
        while path.step(Instant::from_secs_f64(12.0 - began)) {
            let now = began + path.now.as_secs_f64();
            let recovering = path.sender.c.status.recovering;
            if recovering && run.recovery.0 == 0.0 {
                (run.recovery.0, run.lost_at) = (now, run.trace[run.trace.len() - 1].1);
            }
            if recovering {
                run.recovery.1 = now;
            }
            run.trace.push((now, path.sender.c.window as f64 / 1000.0));
        }
        assert_eq!((path.sender.totals.resent_packets, path.sender.totals.timeouts), (1, 0));
        // The step after the last one that found it recovering.
        let end = run.trace.partition_point(|row| row.0 <= run.recovery.1);
        run.recovery.1 = run.trace[end].0;
        run
    }
}

/// The value that a trace has at `t`.
fn at(trace: &Trace, t: f64) -> f64 {
    trace[trace.partition_point(|row| row.0 <= t).saturating_sub(1)].1
}

/// W_cubic after a loss at `w_max` (RFC 9438 §4.2).
fn w_cubic(w_max: f64, t: f64) -> f64 {
    let d = t - libm::cbrt(w_max * (1.0 - BETA) / C);
    C * d * d * d + w_max
}

/// L: how far behind its target the window is at most, in a round trip of `rtt` about `t`. Δ is the
/// larger one of the round trips before and after.
fn lag(w_max: f64, t: f64, rtt: f64) -> f64 {
    let w = |t| w_cubic(w_max, t);
    let delta = (w(t + rtt) - w(t)).max(w(t) - w(t - rtt));
    delta / (1.0 - libm::exp(delta / w(t) - 1.0))
}

/// Rounding of sums.
const ROUNDING: f64 = 0.01;

/// The changes of the window before the loss was found are the same, each within 2 µs: ns-3's rows are
/// in whole microseconds.
fn same_before_the_loss(run: &Run, ns3: &Trace) {
    let mut ours: Trace = run.trace.iter().copied().filter(|row| row.0 < run.recovery.0).collect();
    ours.dedup_by_key(|row| row.1);
    assert!(ours.len() > 90);
    for (ours, theirs) in ours.iter().zip(ns3).skip(1) {
        assert!(ours.1 == theirs.1 && (ours.0 - theirs.0).abs() < 2e-6, "{ours:?}, ns-3 has {theirs:?}");
    }
}

/// A window that follows RFC 9438 §4.2 is T − L to T.
#[test]
fn cubic_follows_its_equations_after_a_loss() {
    let run = SLOW_START.run(None);
    assert_eq!(run.lost_at, 200.0);
    let (rtt, epoch) = (SLOW_START.rtt(), run.recovery.1);
    assert_eq!(at(&run.trace, epoch - 0.01), 140.0);
    let mut t = epoch + rtt;
    while t < 11.9 {
        let target = w_cubic(run.lost_at, t - epoch + rtt);
        let low = target - lag(run.lost_at, t - epoch, rtt) - ROUNDING;
        let ours = at(&run.trace, t);
        assert!((low..=target + ROUNDING).contains(&ours), "at {t:.2} s: {ours:.2}, {low:.2} to {target:.2}");
        t += 0.01;
    }
}

/// Before the first loss there is no W_max; K is 0 and cwnd_prior is the window with which the stage
/// began (RFC 9438 §4.10), so W_est is at cwnd_prior and α is 1 (§4.3): one segment in a window of
/// ACKs, or dw/dn = 1/w. ns-3 has no W_est, but grows by one in 255 ACKs (`CntClamp`).
#[test]
fn cubic_grows_by_a_segment_in_a_window_before_the_first_loss() {
    let run = AVOIDANCE.run(None);
    // 600 segments are acknowledged before the loss, of which 90 in slow start.
    let acks = f64::from(600 - 90);
    let reno = libm::sqrt(100.0 * 100.0 + 2.0 * acks);
    assert!((run.lost_at - reno).abs() < 0.02, "{} for {reno}", run.lost_at);
    let ns3 = AVOIDANCE.ns3();
    let reduced = ns3.windows(2).find(|rows| rows[1].1 < rows[0].1).expect("there is a loss");
    assert_eq!(reduced[0].1, 100.0 + acks / 255.0);
}

/// The recovery is all that is not the same.
#[test]
fn our_sender_with_ns3s_rule_gives_ns3s_window() {
    for scenario in [SLOW_START, AVOIDANCE] {
        let (run, ns3) = (scenario.run(Some(TcpCubic::new(scenario.ssthresh))), scenario.ns3());
        same_before_the_loss(&run, &ns3);
        let mut t = run.recovery.1 + scenario.rtt();
        while t < 11.9 {
            let theirs = at(&ns3, t);
            let shift = (theirs * scenario.transmission(DATA)).min(scenario.rtt());
            let (early, late) = (at(&run.trace, t - shift), at(&run.trace, t + shift));
            assert!((early..=late).contains(&theirs), "at {t:.2} s: {early} to {late}, ns-3 has {theirs}");
            t += 0.01;
        }
    }
}

#[test]
fn cubic_follows_ns3_as_far_as_the_rules_agree() {
    let (run, ns3) = (SLOW_START.run(None), SLOW_START.ns3());
    let (rtt, epoch) = (SLOW_START.rtt(), run.recovery.1);
    same_before_the_loss(&run, &ns3);
    let mut t = epoch + rtt;
    while t < 11.9 {
        let (ours, theirs) = (at(&run.trace, t), at(&ns3, t));
        let lag = lag(run.lost_at, t - epoch, rtt);
        let shift = lag * theirs * SLOW_START.transmission(DATA) / rtt;
        let below = w_cubic(run.lost_at, t - epoch + rtt) < run.lost_at;
        let (low, high) = if below { (-1.0, 1.0 + lag) } else { (-2.0, lag) };
        let bound = low - shift - ROUNDING..=high + shift + ROUNDING;
        assert!(bound.contains(&(theirs - ours)), "at {t:.2} s: {ours:.2}, ns-3 has {theirs:.2}");
        t += 0.01;
    }
}

/// The rule of ns-3.37's `TcpCubic` with `CntClamp` 255 and without HyStart: whole segments, and ACKs
/// counted towards the next.
#[derive(Clone)]
struct TcpCubic {
    cwnd: u32,
    ssthresh: u32,
    /// W_max; 0 before the first loss.
    w_max: u32,
    /// ACKs counted towards the next segment.
    count: u32,
    least_rtt: Option<Duration>,
    /// When the stage began, K, and the window at its middle.
    epoch: Option<(Instant, f64, u32)>,
}

impl TcpCubic {
    fn new(ssthresh: Option<u32>) -> Self {
        let ssthresh = ssthresh.unwrap_or(u32::MAX);
        Self { cwnd: 10, ssthresh, w_max: 0, count: 0, least_rtt: None, epoch: None }
    }

    /// How many ACKs make a segment.
    fn acks(&mut self, now: Instant) -> u32 {
        let (cwnd, w_max) = (self.cwnd, self.w_max);
        let (start, k, middle) = *self.epoch.get_or_insert_with(|| {
            let k = libm::cbrt(f64::from(w_max.saturating_sub(cwnd)) / C);
            (now, k, w_max.max(cwnd))
        });
        let t = now.since(start) + self.least_rtt.unwrap_or(Duration::ZERO);
        let d = t.as_secs_f64() - k;
        // The distance is cut to whole segments.
        let distance = (C * d.abs() * d.abs() * d.abs()) as u32;
        let target = if d < 0.0 { middle - distance } else { middle + distance };
        let mut acks = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if w_max == 0 {
            acks = acks.min(255);
        }
        acks.max(2)
    }
}

impl CongestionControl for TcpCubic {
    fn on_ack(&mut self, sample: &AckSample) {
        if let Some(rtt) = sample.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let segments = (sample.acked / 1000) as u32;
        // Of one loss only the ACK that ends the recovery acknowledges anything: that one counts.
        if segments == 0 {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += segments;
            return;
        }
        self.count += segments;
        let acks = self.acks(sample.now);
        if self.count >= acks {
            self.count -= acks;
            self.cwnd += 1;
        }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.w_max = self.cwnd;
        self.ssthresh = (f64::from(self.cwnd) * BETA) as u32;
        self.cwnd = self.ssthresh;
        self.epoch = None;
    }

    fn on_timeout(&mut self, _now: Instant, _flight: u64, _again: bool) {
        unreachable!("nothing times out here");
    }

    fn window(&self) -> u64 {
        u64::from(self.cwnd) * 1000
    }

    fn on_rule(&mut self, _now: Instant, rule: WindowRule) {
        assert_eq!(rule, WindowRule::Recovery(u64::MAX), "nothing is idle or undone here");
    }

    fn snapshot(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }

    fn on_undo(&mut self, _undo: &Undo) {
        unreachable!("nothing is undone here");
    }
}
