//! The time sliding window marker with three colours (RFC 2859), and with two, from which it came
//! (Clark, Fang 1998): an estimate of the flow's rate, and packets coloured at random in
//! proportion to the excess over the promise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Duration, Fault, Instant, Stream};
use crate::net::operations::Operations;

use super::trtcm::{check_peak, peak_rate};
use super::{Colour, Promise};

/// The time sliding window with two colours. The target rate is what the flow was promised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Two {
    /// The length of the window, AVG_INTERVAL. Default: 1 s (Clark, Fang 1998).
    pub window: Duration,
}

/// The time sliding window with three colours. The committed target rate CTR is what the flow was
/// promised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Three {
    /// The length of the window, AVG_INTERVAL. Default: 1 s (Clark, Fang 1998).
    pub window: Duration,
    /// The peak target rate PTR, as a multiple of the committed one; at least 1. Default: 2.
    pub peak: f64,
}

impl Default for Two {
    fn default() -> Self {
        Self { window: Duration::from_secs(1) }
    }
}

impl Default for Three {
    fn default() -> Self {
        Self { window: Duration::from_secs(1), peak: 2.0 }
    }
}

impl Two {
    /// The meter of a flow.
    pub fn start(&self, promise: Promise, now: Instant, stream: Stream) -> Tsw {
        Tsw::new(self.window, promise, None, now, stream)
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        check_window("meter.tsw2cm.window", self.window)
    }
}

impl Three {
    /// The meter of a flow.
    pub fn start(&self, promise: Promise, now: Instant, stream: Stream) -> Tsw {
        Tsw::new(self.window, promise, Some(self.peak), now, stream)
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        check_window("meter.tsw3cm.window", self.window)?;
        check_peak("meter.tsw3cm.peak", self.peak)
    }
}

fn check_window(field: &'static str, window: Duration) -> Result<(), Fault> {
    if window > Duration::ZERO {
        return Ok(());
    }
    Err(Fault::new(field, "a window of no length", "expected a duration, such as \"1 s\""))
}

/// The meter. Rates are in bytes per second.
#[derive(Debug)]
pub struct Tsw {
    window: f64,
    committed: f64,
    /// The peak target rate; with two colours there is none.
    peak: Option<f64>,
    average: f64,
    front: Instant,
    stream: Stream,
}

impl Tsw {
    /// The estimate (two products, two sums, a difference of times, a quotient), and the two
    /// probabilities (differences and quotients).
    pub const OPERATIONS: Operations = Operations { additions: 5, multiplications: 4 };

    fn new(window: Duration, promise: Promise, peak: Option<f64>, now: Instant, stream: Stream) -> Self {
        let committed = promise.rate.as_bytes_per_s();
        let peak = peak.map(|factor| peak_rate(promise.rate, factor).as_bytes_per_s());
        // RFC 2859 §3: the estimate begins at the committed rate.
        Self { window: window.as_secs_f64(), committed, peak, average: committed, front: now, stream }
    }

    /// The estimated rate in bytes per second after a packet that comes now (RFC 2859 §3).
    fn estimate(&mut self, now: Instant, bytes: u32) -> f64 {
        let in_window = self.average * self.window + f64::from(bytes);
        self.average = in_window / (now.since(self.front).as_secs_f64() + self.window);
        self.front = now;
        self.average
    }

    /// The colour of a packet (RFC 2859 §4).
    pub fn colour(&mut self, now: Instant, bytes: u32) -> Colour {
        let rate = self.estimate(now, bytes);
        if rate <= self.committed {
            return Colour::Green;
        }
        let draw = self.stream.unit();
        let above = |target: f64| (rate - target) / rate;
        match self.peak {
            None if draw < above(self.committed) => Colour::Red,
            Some(peak) if rate > peak && draw < above(peak) => Colour::Red,
            // P1 = (rate − PTR) / rate for red, P2 = (PTR − CTR) / rate for yellow: together
            // (rate − CTR) / rate.
            Some(_) if draw < above(self.committed) => Colour::Yellow,
            _ => Colour::Green,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{BitRate, Bytes, Streams};

    fn promise(bytes_per_s: u64) -> Promise {
        Promise { rate: BitRate::from_bps(8 * bytes_per_s), burst: Bytes::new(1) }
    }

    fn stream() -> Stream {
        Streams::new(1).stream("edge", "meter")
    }

    #[test]
    fn the_estimate_is_that_of_the_standard() {
        // RFC 2859 §3 by hand, window 1 s, 8000 B/s promised, packets of 1000 B at 0, 0.1 and
        // 0.6 s: (8000 + 1000) / 1 = 9000; (9000 + 1000) / 1.1; then (that + 1000) / 1.5.
        let mut meter = Two::default().start(promise(8_000), Instant::ZERO, stream());
        for (at, expected) in [(0.0, 9_000.0), (0.1, 10_000.0 / 1.1), (0.6, (10_000.0 / 1.1 + 1_000.0) / 1.5)] {
            let got = meter.estimate(Instant::from_secs_f64(at), 1_000);
            assert!((got - expected).abs() < 1e-6, "at {at} s: {got}, not {expected}");
        }
    }

    /// The shares of green, yellow and red in 100 s of packets of 1000 B at this rate.
    fn shares(mut meter: Tsw, bytes_per_s: u64) -> [f64; 3] {
        let mut counts = [0.0; 3];
        let between = 1_000_000_000_000 / bytes_per_s;
        let all = 100 * bytes_per_s / 1_000;
        for n in 0..all {
            counts[meter.colour(Instant::from_nanos(n * between), 1_000) as usize] += 1.0 / all as f64;
        }
        counts
    }

    #[test]
    fn colours_come_in_proportion_to_what_exceeds_the_targets() {
        // RFC 2859 §4. The estimate of a steady stream settles at its rate within a few windows,
        // which shifts a share by at most 0.01 in 100 s. Nine thousand packets or more: five
        // standard errors of a share are at most 0.02.
        let two = |rate| shares(Two::default().start(promise(100_000), Instant::ZERO, stream()), rate);
        let three = |rate| shares(Three::default().start(promise(100_000), Instant::ZERO, stream()), rate);
        let close = |got: [f64; 3], expected: [f64; 3]| {
            assert!(got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 0.03), "{got:?}, not {expected:?}");
        };
        close(two(90_000), [1.0, 0.0, 0.0]);
        close(two(200_000), [0.5, 0.0, 0.5]);
        close(two(400_000), [0.25, 0.0, 0.75]);
        close(three(90_000), [1.0, 0.0, 0.0]);
        close(three(160_000), [0.625, 0.375, 0.0]);
        close(three(400_000), [0.25, 0.25, 0.5]);
    }
}
