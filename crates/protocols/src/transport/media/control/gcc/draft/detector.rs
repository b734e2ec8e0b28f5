//! The over-use detector (§5.4).

use lasthop_net::engine::{Duration, Instant};

use super::super::Usage;
use super::super::threshold::Threshold;

/// Compares m(i) with the threshold.
#[derive(Clone, Debug)]
pub struct Detector {
    usage: Usage,
    threshold: Threshold,
    /// m(i−1), ms.
    previous: f64,
    /// Since when m has been above the threshold.
    over_since: Option<Instant>,
}

impl Default for Detector {
    fn default() -> Self {
        Self { usage: Usage::Normal, threshold: Threshold::new(K_U, K_D), previous: 0.0, over_since: None }
    }
}

impl Detector {
    /// m(i) of the group that arrived at `at`, `passed` ms after the one before.
    pub fn update(&mut self, growth: f64, at: Instant, passed: f64) {
        let threshold = self.threshold.get();
        if growth > threshold {
            let since = *self.over_since.get_or_insert(at);
            let is_over = at.since(since) >= OVERUSE_TIME && growth >= self.previous;
            self.usage = if is_over { Usage::Over } else { Usage::Normal };
        } else {
            self.over_since = None;
            self.usage = if growth < -threshold { Usage::Under } else { Usage::Normal };
        }
        self.previous = growth;
        self.threshold.follow(growth, passed);
    }

    /// What it says.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// del_var_th, ms.
    pub fn threshold(&self) -> f64 {
        self.threshold.get()
    }
}

/// overuse_time_th, K_u and K_d (§5.6).
const OVERUSE_TIME: Duration = Duration::from_millis(10);
const K_U: f64 = 0.01;
const K_D: f64 = 0.00018;

#[cfg(test)]
mod tests {
    use super::*;

    /// A row for each group: after how many ms it arrives, its m, and what the detector says then.
    #[test]
    fn over_use_lasts_ten_milliseconds_and_does_not_fall() {
        use Usage::{Normal, Over, Under};
        let mut detector = Detector::default();
        let mut at = Instant::ZERO;
        let rows = [
            (10, 0.0, Normal),
            (10, 20.0, Normal),
            (9, 21.0, Normal),
            (1, 21.0, Over),
            (10, 20.9, Normal),
            (10, 30.0, Over),
            (10, 0.0, Normal),
            (10, 30.0, Normal),
            (10, -30.0, Under),
        ];
        for (row, (passed, growth, expected)) in rows.into_iter().enumerate() {
            at += Duration::from_millis(passed);
            detector.update(growth, at, passed as f64);
            assert_eq!(detector.usage(), expected, "row {row}");
        }
    }
}
