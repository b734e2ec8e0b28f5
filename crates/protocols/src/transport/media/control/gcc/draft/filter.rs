//! The arrival-time filter (§5.3): a Kalman filter of one state, the mean m(i) of the delay's variation.

use std::collections::VecDeque;

use super::groups::Deltas;

/// m, its error, and the noise.
#[derive(Clone, Debug)]
pub struct Filter {
    /// m_hat, ms a group.
    growth: f64,
    /// e.
    error: f64,
    /// var_v_hat, ms².
    variance: f64,
    /// Recent times between groups at the sender, ms.
    periods: VecDeque<f64>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { growth: 0.0, error: E_0, variance: VARIANCE_0, periods: VecDeque::new() }
    }
}

impl Filter {
    /// The next variation d(i); gives m_hat.
    pub fn update(&mut self, deltas: &Deltas) -> f64 {
        let variation = deltas.variation();
        self.learn_noise(variation - self.growth, deltas.sent_ms);
        self.step(variation)
    }

    fn learn_noise(&mut self, residual: f64, period: f64) {
        if self.periods.len() == K {
            self.periods.pop_front();
        }
        self.periods.push_back(period);
        // 1/f_max.
        let least = self.periods.iter().copied().fold(period, f64::min);
        let most = 3.0 * self.variance.sqrt();
        let residual = residual.clamp(-most, most);
        let alpha = libm::pow(1.0 - CHI, 30.0 * least / 1000.0);
        self.variance = (alpha * self.variance + (1.0 - alpha) * (residual * residual)).max(1.0);
    }

    fn step(&mut self, variation: f64) -> f64 {
        let error = self.error + Q;
        let gain = error / (self.variance + error);
        self.growth += (variation - self.growth) * gain;
        self.error = (1.0 - gain) * error;
        self.growth
    }

    /// m_hat, ms.
    pub fn growth(&self) -> f64 {
        self.growth
    }
}

/// q and e(0) (§5.6).
const Q: f64 = 1e-3;
const E_0: f64 = 0.1;
/// chi (§5.6: 0.1 to 0.001), as in WebRTC.
const CHI: f64 = 0.01;
/// The first variance, ms², and K, which the draft does not give: WebRTC's.
const VARIANCE_0: f64 = 50.0;
const K: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    /// modern-cc.md §5: d = 5 three times with a variance of 1.
    #[test]
    fn the_state_follows_as_the_sheet_says() {
        let mut filter = Filter { variance: 1.0, ..Filter::default() };
        for expected in [0.458_674, 0.844_073, 1.172_703] {
            let growth = filter.step(5.0);
            assert!((growth - expected).abs() < 5e-7, "{growth} is not {expected}");
        }
    }

    /// An outlier counts three deviations: from 1, with α = 0.99 for a group every 33 ms, 0.99 + 0.01·9.
    #[test]
    fn an_outlier_moves_the_variance_by_three_deviations() {
        let mut filter = Filter { variance: 1.0, ..Filter::default() };
        filter.learn_noise(1e6, 1000.0 / 30.0);
        assert!((filter.variance - 1.08).abs() < 1e-9, "{}", filter.variance);
    }
}
