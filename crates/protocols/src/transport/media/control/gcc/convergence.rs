//! The rate at which the path was full before: near it the rate grows slowly (draft §5.5).
//!
//! The draft gives the filter, and no first deviation. As WebRTC has it, the variance is divided by the mean, starts at 0.4 kbit/s and stays
//! between 0.4 and 2.5.

use std::cmp::Ordering;

/// The mean of the rates that arrived at decreases, kbit/s, and its variance divided by it.
#[derive(Clone, Copy, Debug)]
pub struct Convergence {
    mean: Option<f64>,
    variance: f64,
}

impl Default for Convergence {
    fn default() -> Self {
        Self { mean: None, variance: LEAST }
    }
}

impl Convergence {
    /// Whether `bps` lies above what is close to the mean, below it, or in it; `None` without a mean.
    pub fn place(&self, bps: u64) -> Option<Ordering> {
        let (mean, kbps) = (self.mean?, bps as f64 / 1e3);
        let close = CLOSE * (self.variance * mean).sqrt();
        Some(if kbps >= mean + close {
            Ordering::Greater
        } else if kbps < mean - close {
            Ordering::Less
        } else {
            Ordering::Equal
        })
    }

    /// The level of congestion is another one.
    pub fn forget(&mut self) {
        self.mean = None;
    }

    /// The path was full while `bps` arrived.
    pub fn on_decrease(&mut self, bps: u64) {
        let kbps = bps as f64 / 1e3;
        let mean = self.mean.map_or(kbps, |mean| (1.0 - WEIGHT) * mean + WEIGHT * kbps);
        self.mean = Some(mean);
        let apart = mean - kbps;
        self.variance = (1.0 - WEIGHT) * self.variance + WEIGHT * (apart * apart) / mean.max(1.0);
        self.variance = self.variance.clamp(LEAST, MOST);
    }
}

/// How many standard deviations are close (draft §5.5).
const CLOSE: f64 = 3.0;
/// What a new rate counts: the smoothing factor is 0.95 (draft §5.5).
const WEIGHT: f64 = 0.05;
/// The bounds of the variance, kbit/s (WebRTC).
const LEAST: f64 = 0.4;
const MOST: f64 = 2.5;
