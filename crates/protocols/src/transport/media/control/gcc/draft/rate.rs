//! The rate by delay, A_hat (§5.5).

use std::cmp::Ordering;

use lasthop_net::engine::{Duration, Instant};

use super::super::convergence::Convergence;
use super::super::{State, Usage};

/// The states of the rate control, and the rate.
#[derive(Clone, Debug)]
pub struct RateControl {
    state: State,
    /// A_hat, bit/s.
    rate: f64,
    full: Convergence,
    last_update: Option<Instant>,
}

impl RateControl {
    /// In the increase state, at `rate` bit/s.
    pub fn new(rate: f64) -> Self {
        Self { state: State::Increase, rate, full: Convergence::default(), last_update: None }
    }

    /// The rate after the next report; `measured` is R_hat.
    pub fn update(&mut self, usage: Usage, measured: Option<f64>, now: Instant, rtt: Duration, (min, max): (f64, f64)) {
        self.state = next(self.state, usage);
        let passed = now.since(self.last_update.unwrap_or(now));
        self.last_update = Some(now);
        match self.state {
            State::Hold => {}
            State::Increase => {
                self.increase(measured, passed, rtt);
                if let Some(measured) = measured {
                    self.rate = self.rate.min(MOST * measured);
                }
            }
            State::Decrease => {
                if let Some(measured) = measured {
                    self.full.on_decrease(measured as u64);
                    self.rate = BETA * measured;
                }
            }
        }
        self.rate = self.rate.min(max).max(min);
    }

    fn increase(&mut self, measured: Option<f64>, passed: Duration, rtt: Duration) {
        let passed_ms = passed.as_secs_f64() * 1e3;
        let place = measured.and_then(|measured| self.full.place(measured as u64));
        if place == Some(Ordering::Greater) {
            self.full.forget();
        }
        if place == Some(Ordering::Equal) {
            let response_ms = 100.0 + rtt.as_secs_f64() * 1e3;
            let alpha = 0.5 * (passed_ms / response_ms).min(1.0);
            let frame = self.rate / 30.0;
            let packet = frame / libm::ceil(frame / (1200.0 * 8.0)).max(1.0);
            self.rate += (alpha * packet).max(1_000.0);
        } else {
            self.rate *= libm::pow(1.08, (passed_ms / 1e3).min(1.0));
        }
    }

    /// A_hat, bit/s.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// The table of §5.5.
fn next(state: State, usage: Usage) -> State {
    match (usage, state) {
        (Usage::Over, _) => State::Decrease,
        (Usage::Normal, State::Hold) => State::Increase,
        (Usage::Normal, State::Decrease) | (Usage::Under, _) => State::Hold,
        (Usage::Normal, State::Increase) => State::Increase,
    }
}

/// beta (§5.6).
const BETA: f64 = 0.85;
/// A_hat stays below this many R_hat (§5.5).
const MOST: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: (f64, f64) = (10e3, 1e9);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Eight percent in a second, in ten reports as in one.
    #[test]
    fn far_from_convergence_the_rate_grows_by_eight_percent_a_second() {
        let mut rate = RateControl::new(1e6);
        for k in 0..=10 {
            rate.update(Usage::Normal, None, at(100 * k), Duration::ZERO, BOUNDS);
        }
        assert!((rate.rate() - 1.08e6).abs() < 1.0, "{}", rate.rate());
        // A longer pause counts a second.
        rate.update(Usage::Normal, None, at(9_000), Duration::ZERO, BOUNDS);
        assert!((rate.rate() - 1.08e6 * 1.08).abs() < 1.0, "{}", rate.rate());
    }

    /// After a decrease the rate that arrived then is the mean: near it half a packet is added in each response time. At 850 kbit/s a
    /// frame has 28,333 bits in 3 packets, and half of one is 4722 bits.
    #[test]
    fn near_convergence_half_a_packet_is_added_in_a_response_time() {
        let mut rate = RateControl::new(1e6);
        rate.update(Usage::Over, Some(1e6), at(0), Duration::ZERO, BOUNDS);
        assert!((rate.rate() - 850e3).abs() < 1e-6);
        rate.update(Usage::Normal, Some(1e6), at(100), Duration::ZERO, BOUNDS);
        assert!((rate.rate() - 850e3).abs() < 1e-6, "held");
        rate.update(Usage::Normal, Some(1e6), at(300), Duration::from_millis(100), BOUNDS);
        assert!((rate.rate() - (850e3 + 4722.2)).abs() < 0.1, "{}", rate.rate());
        // At least 1000 bits.
        let before = rate.rate();
        rate.update(Usage::Normal, Some(1e6), at(301), Duration::from_millis(100), BOUNDS);
        assert!((rate.rate() - before - 1e3).abs() < 1e-6);
    }

    #[test]
    fn the_rate_stays_below_one_and_a_half_times_what_arrives() {
        let mut rate = RateControl::new(1e6);
        rate.update(Usage::Normal, Some(400e3), at(0), Duration::ZERO, BOUNDS);
        assert_eq!(rate.rate(), 600e3);
    }

    /// The table of §5.5, row by row.
    #[test]
    fn states_follow_the_table() {
        use State::{Decrease, Hold, Increase};
        let rows = [
            (Usage::Over, [Decrease, Decrease, Decrease]),
            (Usage::Normal, [Increase, Increase, Hold]),
            (Usage::Under, [Hold, Hold, Hold]),
        ];
        for (usage, expected) in rows {
            assert_eq!([Hold, Increase, Decrease].map(|state| next(state, usage)), expected, "{usage:?}");
        }
    }
}
