//! Losses in bursts: the Gilbert–Elliott model.
//!
//! A Markov chain of two states, good and bad, makes one step for each packet; each state has its
//! own probability of loss (Gilbert 1960, Elliott 1963). In the stationary state the share of
//! packets that meet the bad state is p / (p + r), and the bad state lasts 1 / r packets on
//! average, where p leads from good to bad and r from bad to good.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Instant, Probability, Stream};

use super::{Loss, LossConfig, LossModel};

/// Losses in bursts. The state is drawn from the stationary distribution at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The probability of going from the good to the bad state after a packet (p).
    pub good_to_bad: Probability,
    /// The probability of going from the bad to the good state after a packet (r). Its inverse is
    /// the mean length of a bad period in packets.
    pub bad_to_good: Probability,
    /// The probability of loss in the good state (Elliott's 1 − k). Default: 0, as in Gilbert's
    /// model.
    #[serde(default)]
    pub loss_good: Probability,
    /// The probability of loss in the bad state (1 − h). Default: 1.
    #[serde(default = "certain")]
    pub loss_bad: Probability,
}

fn certain() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

impl LossConfig for Config {
    fn build(&self, stream: Stream) -> Loss {
        Loss(Some(Box::new(Gilbert::new(self, stream))))
    }
}

/// The loss model.
pub struct Gilbert {
    /// For the good and the bad state: the probabilities of loss, and of leaving the state.
    loss: [f64; 2],
    leave: [f64; 2],
    /// 0 is good, 1 is bad; `None` until the first packet draws it.
    state: Option<usize>,
    /// How many packets it still meets: how long it stays in a state is drawn once, from the geometric distribution.
    left: u64,
    stream: Stream,
}

impl Gilbert {
    /// With its own random stream.
    pub fn new(config: &Config, stream: Stream) -> Self {
        Self {
            loss: [config.loss_good.get(), config.loss_bad.get()],
            leave: [config.good_to_bad.get(), config.bad_to_good.get()],
            state: None,
            left: 0,
            stream,
        }
    }

    /// The state after the present one.
    fn next(&mut self) -> usize {
        let [p, r] = self.leave;
        let state = match self.state {
            Some(state) => 1 - state,
            // With p = r = 0 the chain stays where it starts, and it starts good.
            None => usize::from(self.stream.unit() * (p + r) < p),
        };
        // P(more than k) = (1 − leave)ᵏ.
        let more = libm::log(self.stream.inner_unit()) / libm::log1p(-self.leave[state]);
        self.left = 1 + (more as u64).min(u64::MAX - 1);
        self.state = Some(state);
        state
    }
}

impl LossModel for Gilbert {
    #[inline]
    fn loses(&mut self, _now: Instant) -> bool {
        let state = match self.state {
            Some(state) if self.left > 0 => state,
            _ => self.next(),
        };
        self.left -= 1;
        let loss = self.loss[state];
        loss > 0.0 && (loss >= 1.0 || self.stream.chance(loss))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;

    fn probability(p: f64) -> Probability {
        Probability::new(p).unwrap()
    }

    /// Loses `n` packets or not, and gives the share lost and the mean length of a run of losses.
    fn measure(config: &Config, n: u32) -> (f64, f64) {
        let mut model = Gilbert::new(config, Streams::new(3).stream("link", "loss"));
        let (mut lost, mut bursts, mut before) = (0u32, 0u32, false);
        for _ in 0..n {
            let now = model.loses(Instant::ZERO);
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(lost) / f64::from(n), f64::from(lost) / f64::from(bursts))
    }

    #[test]
    fn rate_and_burst_length_are_those_of_the_closed_form() {
        let n = 400_000;
        for (p, r, loss_good, loss_bad) in [(0.01, 0.25, 0.0, 1.0), (0.02, 0.5, 0.001, 0.8), (0.3, 0.3, 0.0, 0.5)] {
            let config = Config {
                good_to_bad: probability(p),
                bad_to_good: probability(r),
                loss_good: probability(loss_good),
                loss_bad: probability(loss_bad),
            };
            let (rate, burst) = measure(&config, n);
            let bad = p / (p + r);
            let expected = (1.0 - bad) * loss_good + bad * loss_bad;
            // A run of losses begins where a loss follows none: P(loss) − P(loss after loss).
            let both = bad * loss_bad * ((1.0 - r) * loss_bad + r * loss_good)
                + (1.0 - bad) * loss_good * (p * loss_bad + (1.0 - p) * loss_good);
            let length = expected / (expected - both);
            // The variance of the share is that of independent losses times at most
            // (2 − p − r) / (p + r), the chain's correlation time; five standard errors.
            let times = (2.0 - p - r) / (p + r);
            let error = 5.0 * (expected * (1.0 - expected) * times.max(1.0) / f64::from(n)).sqrt();
            assert!((rate - expected).abs() < error, "{config:?}: rate {rate}, expected {expected} ± {error}");
            // The bursts' lengths have a standard deviation below their mean.
            let error = 5.0 * length / (f64::from(n) * (expected - both)).sqrt();
            assert!((burst - length).abs() < error, "{config:?}: burst {burst}, expected {length} ± {error}");
        }
    }
}
