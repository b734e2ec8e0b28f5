//! The estimate: it grows by additions or by a factor, and falls to 0.85 of the rate of arrival.

use std::cmp::Ordering;

use super::super::convergence::Convergence;
use super::super::{State, Usage};

/// The rate control.
#[derive(Clone, Debug)]
pub struct Aimd {
    state: State,
    /// The estimate, bit/s; nothing that arrived stands behind it until `is_known`.
    estimate: u64,
    is_known: bool,
    /// When a rate was measured first, ms.
    first_rate: Option<i64>,
    /// The last rate that was measured, bit/s.
    last_rate: u64,
    last_change: Option<i64>,
    near: bool,
    full: Convergence,
}

impl Default for Aimd {
    fn default() -> Self {
        Self {
            state: State::Hold,
            estimate: UNKNOWN,
            is_known: false,
            first_rate: None,
            last_rate: UNKNOWN,
            last_change: None,
            near: false,
            full: Convergence::default(),
        }
    }
}

impl Aimd {
    /// The estimate, bit/s, while the detector says `usage` and `rate` arrives; `None` before there is one.
    pub fn update(&mut self, usage: Usage, rate: Option<u64>, now_ms: i64) -> Option<u64> {
        if !self.is_known {
            self.begin(rate, now_ms);
        }
        if !self.is_known && usage != Usage::Over {
            return None;
        }
        match usage {
            Usage::Normal if self.state == State::Hold => {
                self.last_change = Some(now_ms);
                self.state = State::Increase;
            }
            Usage::Normal => {}
            Usage::Over => self.state = State::Decrease,
            Usage::Under => self.state = State::Hold,
        }
        self.last_rate = rate.unwrap_or(self.last_rate);
        let rate = self.last_rate;
        let wanted = match self.state {
            State::Hold => self.estimate,
            State::Increase => {
                if self.full.place(rate) == Some(Ordering::Greater) {
                    self.near = false;
                    self.full.forget();
                }
                let passed = now_ms - self.last_change.unwrap_or(now_ms - 1_000);
                self.last_change = Some(now_ms);
                self.estimate + if self.near { self.additive(passed) } else { self.multiplicative(passed) }
            }
            State::Decrease => {
                if self.full.place(rate) == Some(Ordering::Less) {
                    self.full.forget();
                }
                self.full.on_decrease(rate);
                self.near = true;
                self.last_change = Some(now_ms);
                self.state = State::Hold;
                libm::rint(BETA * rate as f64) as u64
            }
        };
        // It must not run away from the sending rate.
        let most = (1.5 * rate as f64) as u64 + 10_000;
        self.estimate = wanted.min(most.max(self.estimate));
        Some(self.estimate)
    }

    /// The first estimate is the rate of arrival 3 s after the first one.
    fn begin(&mut self, rate: Option<u64>, now_ms: i64) {
        match (self.first_rate, rate) {
            (None, Some(_)) => self.first_rate = Some(now_ms),
            (Some(first), Some(rate)) if now_ms - first > BEGIN_MS => {
                self.estimate = rate;
                self.is_known = true;
            }
            _ => {}
        }
    }

    /// A packet in each response time, 4 kbit/s at least.
    fn additive(&self, passed: i64) -> u64 {
        let frame = self.estimate as f64 / 30.0;
        let packets = libm::ceil(frame / (8.0 * 1200.0)).max(1.0);
        let a_second = (frame / packets * 1_000.0 / (RTT_MS + 100.0)) as i64;
        (passed * a_second.max(4_000) / 1_000).max(0) as u64
    }

    /// 8 % a second, 1 kbit/s at least.
    fn multiplicative(&self, passed: i64) -> u64 {
        let factor = libm::pow(1.08, passed.min(1_000) as f64 / 1_000.0);
        ((factor - 1.0) * self.estimate as f64).max(1_000.0) as u64
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the estimate is close to the rate at which the path was full.
    pub fn is_near(&self) -> bool {
        self.near
    }
}

/// β.
const BETA: f64 = 0.85;
const BEGIN_MS: i64 = 3_000;
/// The round-trip time is not measured.
const RTT_MS: f64 = 200.0;
/// The estimate and the rate before any, bit/s.
const UNKNOWN: u64 = 30_000_000;
