//! The threshold that follows the delay's gradient, so that flows that fill queues do not starve this one (draft §5.4).

/// del_var_th.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    value: f64,
    /// K_u and K_d: how fast it follows a gradient above and below it.
    up: f64,
    down: f64,
}

impl Threshold {
    /// At its first value, 12.5 ms (draft §5.6).
    pub const fn new(up: f64, down: f64) -> Self {
        Self { value: 12.5, up, down }
    }

    /// It, in ms.
    pub fn get(&self) -> f64 {
        self.value
    }

    /// Follows `gradient`, `passed` ms after the last one.
    pub fn follow(&mut self, gradient: f64, passed: f64) {
        let beyond = gradient.abs() - self.value;
        if beyond > FAR {
            return;
        }
        let gain = if beyond < 0.0 { self.down } else { self.up };
        self.value += gain * beyond * passed.clamp(0.0, LONGEST);
        self.value = self.value.clamp(6.0, 600.0);
    }
}

/// Gradients that lie further than this above it do not move it (draft §5.4), ms.
const FAR: f64 = 15.0;
/// The longest time for which it follows one gradient, ms (WebRTC).
const LONGEST: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// modern-cc.md §5: m = 20 twice, then 2, 33 ms apart, with the draft's gains.
    #[test]
    fn the_threshold_follows_as_the_sheet_says() {
        let mut threshold = Threshold::new(0.01, 0.00018);
        let mut follow = |gradient| {
            threshold.follow(gradient, 33.0);
            threshold.get()
        };
        for (gradient, expected) in [(20.0, 14.975), (20.0, 16.633_25), (2.0, 16.5463)] {
            let value = follow(gradient);
            assert!((value - expected).abs() < 5e-5, "{value} is not {expected}");
        }
    }

    #[test]
    fn a_far_gradient_does_not_move_it_and_it_has_bounds() {
        let mut threshold = Threshold::new(0.01, 0.00018);
        threshold.follow(-27.6, 33.0);
        assert_eq!(threshold.get(), 12.5);
        threshold.follow(-27.4, 33.0);
        assert!(threshold.get() > 12.5);
        for _ in 0..10_000 {
            threshold.follow(0.0, 1e9);
        }
        assert_eq!(threshold.get(), 6.0);
    }
}
