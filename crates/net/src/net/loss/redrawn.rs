//! Independent losses with a probability that is drawn anew from time to time.
//!
//! This is how a radio that gets better and worse is written down where only a range is known: Alexiou, Bouras and Papazois
//! (2009, §5.3) let the loss rate of each terminal take another random value every few seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Duration, Fault, Instant, Probability, Redraw, Stream, redraw};

use super::{Loss, LossConfig, LossModel, attempts_fault, per_attempt};

/// Each packet is lost independently, with a probability that is drawn anew from a range at equal intervals. The draws do not depend on the
/// traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The lowest probability. Default: 0.
    #[serde(default)]
    pub low: Probability,
    /// The highest probability; between the two it is drawn evenly.
    pub high: Probability,
    /// How long each draw holds.
    pub period: Duration,
    /// When the first one begins to hold; nothing is lost before. Default: 0 s.
    #[serde(default)]
    pub from: Duration,
    /// When the last one ends to hold; nothing is lost from then on. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// The drawn value is the residual loss p after n `attempts`; each attempt fails with p^(1/n). Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

impl LossConfig for Config {
    fn build(&self, stream: Stream) -> Loss {
        Loss(Some(Box::new(Redrawn::new(self, stream))))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.low > self.high {
            let message = format!("the lowest probability, {}, is above the highest", self.low.get());
            return Err(Fault::new("low", message, format!("expected at most {}", self.high.get())));
        }
        redraw::check(self.period, self.from, self.until)?;
        attempts_fault(self.attempts)
    }
}

/// The loss model.
pub struct Redrawn {
    range: [f64; 2],
    attempts: u32,
    /// What each attempt is lost with.
    probability: Redraw<f64>,
    stream: Stream,
}

impl Redrawn {
    /// With its own random stream.
    pub fn new(config: &Config, stream: Stream) -> Self {
        Self {
            range: [config.low.get(), config.high.get()],
            attempts: config.attempts.unwrap_or(1),
            probability: Redraw::new(config.period, config.from, config.until),
            stream,
        }
    }

    /// The probability that holds at an instant; 0 before the first draw and after the last.
    fn probability(&mut self, now: Instant) -> f64 {
        let ([low, high], attempts) = (self.range, self.attempts);
        let draw = |stream: &mut Stream| per_attempt(stream.uniform(low, high), attempts);
        self.probability.at(now, &self.stream, draw).unwrap_or(0.0)
    }
}

impl LossModel for Redrawn {
    fn loses(&mut self, now: Instant) -> bool {
        let p = self.probability(now);
        p > 0.0 && self.stream.chance(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::engine::choice::parsed;

    fn config(text: &str) -> Config {
        parsed(text).unwrap()
    }

    fn model(config: &Config) -> Redrawn {
        Redrawn::new(config, Streams::new(1).stream("link", "loss"))
    }

    fn millis(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    #[test]
    fn draws_lie_evenly_in_the_range_and_their_root_is_taken() {
        let config = config("low = 0.01\nhigh = 0.05\nperiod = '5 s'\nattempts = 2");
        let n = 20_000;
        let mut of = model(&config);
        let draws: Vec<f64> = (0..n).map(|n| of.probability(millis(5000 * n))).map(|p| p * p).collect();
        assert!(draws.iter().all(|p| (0.01..0.05).contains(p)));
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / n as f64;
        // Of a uniform variable: the middle, and the square of its width over 12; five standard errors.
        let deviation = 0.04 / 12f64.sqrt();
        assert!((mean - 0.03).abs() < 5.0 * deviation / (n as f64).sqrt(), "{mean}");
        assert!((variance / (deviation * deviation) - 1.0).abs() < 5.0 * (0.8 / n as f64).sqrt(), "{variance}");
    }

    #[test]
    fn the_nth_draw_does_not_depend_on_what_was_sent() {
        let config = config("high = 1.0\nperiod = '1 s'");
        let (mut much, mut little) = (model(&config), model(&config));
        for n in 0..10_000 {
            much.loses(millis(n));
        }
        assert_eq!(much.probability(millis(20_500)), little.probability(millis(20_000)));
        assert_ne!(much.probability(millis(21_000)), little.probability(millis(20_000)));
    }

    #[test]
    fn nothing_is_lost_outside() {
        let config = config("low = 1.0\nhigh = 1.0\nperiod = '1 s'\nfrom = '2 s'\nuntil = '4 s'");
        let mut of = model(&config);
        let lost: Vec<u64> = (0..60).filter(|n| of.loses(millis(100 * n))).collect();
        assert_eq!(lost, (20..40).collect::<Vec<_>>());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, field) in [
            ("low = 0.2\nhigh = 0.1\nperiod = '1 s'", "low"),
            ("high = 0.1\nperiod = '0 s'", "period"),
            ("high = 0.1\nperiod = '1 s'\nfrom = '1 s'\nuntil = '1 s'", "until"),
            ("high = 0.1\nperiod = '1 s'\nattempts = 0", "attempts"),
        ] {
            assert_eq!(config(text).check().unwrap_err().field, field, "{text}");
        }
        assert_eq!(config("high = 0.1\nperiod = '1 s'\nattempts = 4").check(), Ok(()));
    }
}
