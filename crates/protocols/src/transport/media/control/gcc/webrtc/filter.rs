//! A Kalman filter of two states: the delay of a byte (1/capacity), and the queue's growth from group to group.

use std::collections::VecDeque;

use super::super::Usage;
use super::groups::Deltas;

/// The arrival-time filter.
#[derive(Clone, Debug)]
pub struct Filter {
    /// ms a byte.
    slope: f64,
    /// ms a group.
    offset: f64,
    previous_offset: f64,
    /// The covariance of both.
    e: [[f64; 2]; 2],
    /// Mean and variance of the noise.
    mean: f64,
    variance: f64,
    deltas: u32,
    /// Recent times between groups at the sender, ms.
    periods: VecDeque<f64>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            slope: 1.0 / 64.0,
            offset: 0.0,
            previous_offset: 0.0,
            e: [[100.0, 0.0], [0.0, 0.1]],
            mean: 0.0,
            variance: 50.0,
            deltas: 0,
            periods: VecDeque::new(),
        }
    }
}

impl Filter {
    /// The next difference of two groups, while the detector said `usage`.
    pub fn update(&mut self, deltas: &Deltas, usage: Usage) {
        let period = self.least_period(deltas.sent_ms);
        let bytes = deltas.bytes as f64;
        self.deltas = (self.deltas + 1).min(MOST_DELTAS);
        self.e[0][0] += SLOPE_NOISE;
        self.e[1][1] += OFFSET_NOISE;
        let is_turning = (usage == Usage::Over && self.offset < self.previous_offset)
            || (usage == Usage::Under && self.offset > self.previous_offset);
        if is_turning {
            self.e[1][1] += 10.0 * OFFSET_NOISE;
        }
        let residual = deltas.arrived_ms as f64 - deltas.sent_ms - self.slope * bytes - self.offset;
        if usage == Usage::Normal {
            let most = 3.0 * self.variance.sqrt();
            self.learn_noise(residual.clamp(-most, most), period);
        }
        // K = E·h/(var + hᵀ·E·h) and E = (I − K·hᵀ)·E, with h = (bytes, 1).
        let e = self.e;
        let eh = [e[0][0] * bytes + e[0][1], e[1][0] * bytes + e[1][1]];
        let spread = self.variance + bytes * eh[0] + eh[1];
        let k = [eh[0] / spread, eh[1] / spread];
        let ikh = [[1.0 - k[0] * bytes, -k[0]], [-k[1] * bytes, 1.0 - k[1]]];
        for (row, [a, b]) in self.e.iter_mut().zip(ikh) {
            *row = [e[0][0] * a + e[1][0] * b, e[0][1] * a + e[1][1] * b];
        }
        self.previous_offset = self.offset;
        self.slope += k[0] * residual;
        self.offset += k[1] * residual;
    }

    fn learn_noise(&mut self, residual: f64, period: f64) {
        let alpha = if self.deltas > SETTLED { 0.002 } else { 0.01 };
        let beta = libm::pow(1.0 - alpha, period * 30.0 / 1000.0);
        self.mean = beta * self.mean + (1.0 - beta) * residual;
        let apart = self.mean - residual;
        self.variance = (beta * self.variance + (1.0 - beta) * (apart * apart)).max(1.0);
    }

    /// The least of the last 60 times between groups, this one among them.
    fn least_period(&mut self, period: f64) -> f64 {
        if self.periods.len() == PERIODS {
            self.periods.pop_front();
        }
        self.periods.push_back(period);
        self.periods.iter().copied().fold(period, f64::min)
    }

    /// The queue's growth, ms a group.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The variance of the noise, ms².
    pub fn noise(&self) -> f64 {
        self.variance
    }

    /// How many differences it has had, 1000 at most.
    pub fn deltas(&self) -> u32 {
        self.deltas
    }
}

const MOST_DELTAS: u32 = 1_000;
/// Differences after which the noise is learnt more slowly.
const SETTLED: u32 = 300;
const PERIODS: usize = 60;
/// By how much the states' variances grow from group to group.
const SLOPE_NOISE: f64 = 1e-13;
const OFFSET_NOISE: f64 = 1e-3;
