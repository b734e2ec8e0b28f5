//! The rate by loss, As_hat (§6).

/// As_hat.
#[derive(Clone, Debug)]
pub struct LossControl {
    rate: f64,
}

impl LossControl {
    /// At `rate` bit/s.
    pub fn new(rate: f64) -> Self {
        Self { rate }
    }

    /// Of `packets` since the last report `lost` were lost.
    pub fn update(&mut self, lost: usize, packets: usize, (min, max): (f64, f64)) {
        if packets == 0 {
            return;
        }
        let ratio = lost as f64 / packets as f64;
        if ratio > 0.10 {
            self.rate *= 1.0 - 0.5 * ratio;
        } else if ratio < 0.02 {
            self.rate *= 1.05;
        }
        self.rate = self.rate.min(max).max(min);
    }

    /// As_hat, bit/s.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// modern-cc.md §5: a loss of 12 % takes 6 %; from 2 to 10 % the rate stays.
    #[test]
    fn the_rate_follows_losses_as_the_sheet_says() {
        for (lost, factor) in [(12, 0.94), (50, 0.75), (10, 1.0), (5, 1.0), (2, 1.0), (1, 1.05), (0, 1.05)] {
            let mut control = LossControl::new(1e6);
            control.update(lost, 100, (0.0, 1e9));
            assert!((control.rate() - 1e6 * factor).abs() < 1e-6, "{lost}: {}", control.rate());
        }
    }
}
