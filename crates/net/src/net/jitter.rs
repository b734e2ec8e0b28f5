//! Jitter of a link: a delay of each packet on top of the propagation delay, by a truncated normal distribution (RFC 8868 §4.5.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::normal;
use crate::engine::{Duration, Fault, Instant, Stream};

use super::schedule::Path;

/// Each packet takes longer than the propagation delay by |max(min(N(0, std²), bound·std), −bound·std)| (RFC 8868 §4.5.3). Packets keep their
/// order: one that would arrive before the last one arrives its transmission time behind it (§4.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Jitter")]
pub struct Config {
    /// The standard deviation before the absolute value is taken. Default: 5 ms (RFC 8868 §4.5.3).
    pub std: Duration,
    /// The most, in standard deviations, N_STD. Default: 3 (RFC 8868 §4.5.3).
    pub bound: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { std: Duration::from_millis(5), bound: 3.0 }
    }
}

/// The longest standard deviation, and the most of them.
const MOST: (Duration, f64) = (Duration::from_secs(10), 10.0);

impl Config {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Fault> {
        if self.std > MOST.0 {
            return Err(Fault::new("std", format!("a deviation of {}", self.std), "expected at most 10 s"));
        }
        if !(0.0..=MOST.1).contains(&self.bound) {
            return Err(Fault::new("bound", format!("a bound of {}", self.bound), "expected a number from 0 to 10"));
        }
        Ok(())
    }

    /// The way of a link with this jitter.
    pub fn build(&self, stream: Stream) -> Box<dyn Path> {
        Box::new(Jitter { config: *self, stream })
    }
}

/// A way whose length varies by packet. What a packet meets depends on the seed and on when it starts alone, so neither other packets nor
/// recordings change it.
#[derive(Debug)]
struct Jitter {
    config: Config,
    stream: Stream,
}

impl Path for Jitter {
    fn delay(&self, start: Instant, propagation: Duration) -> Duration {
        let deviation = normal::quantile(self.stream.numbered(start.as_nanos()).inner_unit()).abs();
        propagation + Duration::from_secs_f64(self.config.std.as_secs_f64() * deviation.min(self.config.bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Streams;
    use crate::engine::choice::parsed;

    fn delays(config: &Config, n: u64) -> Vec<f64> {
        let way = config.build(Streams::new(5).stream("link", "jitter"));
        (0..n).map(|k| way.delay(Instant::from_nanos(9_600_000 * k), Duration::from_millis(50)).as_secs_f64()).collect()
    }

    /// |N(0, σ²)| has the mean σ√(2/π) and the second moment σ²; what is cut off above three deviations takes less than 0.1 % of either.
    #[test]
    fn jitter_is_a_folded_truncated_normal() {
        let n = 100_000;
        let extra: Vec<f64> = delays(&Config::default(), n).iter().map(|d| (d - 0.050) * 1e3).collect();
        let mean = extra.iter().sum::<f64>() / n as f64;
        let square = extra.iter().map(|x| x * x).sum::<f64>() / n as f64;
        // Five standard errors: the folded normal has the deviation σ√(1 − 2/π) = 3.01 ms, its square 25·√2 ms².
        assert!(
            (mean - 5.0 * (2.0 / std::f64::consts::PI).sqrt()).abs() < 5.0 * 3.01 / (n as f64).sqrt() + 4e-3,
            "{mean}"
        );
        assert!((square - 25.0).abs() < 5.0 * 25.0 * 2f64.sqrt() / (n as f64).sqrt() + 25e-3, "{square}");
        assert!(extra.iter().all(|x| (0.0..=15.000_001).contains(x)));
        // Beyond 3σ lie 0.27 %, all at the bound.
        let bounded = extra.iter().filter(|x| **x > 14.999_99).count() as f64 / n as f64;
        assert!((bounded - 0.0027).abs() < 5.0 * (0.0027 / n as f64).sqrt(), "{bounded}");
    }

    #[test]
    fn a_packet_meets_the_same_jitter_whatever_was_asked_before() {
        let config: Config = parsed("std = '2 ms'\nbound = 1").unwrap();
        let way = config.build(Streams::new(5).stream("link", "jitter"));
        let at = |ms: u64| way.delay(Instant::from_nanos(ms * 1_000_000), Duration::ZERO);
        let first = at(7);
        assert!(first <= Duration::from_millis(2) && at(8) != first);
        assert_eq!(at(7), first);
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, field) in [("std = '11 s'", "std"), ("bound = -1", "bound")] {
            let config: Config = parsed(text).unwrap();
            assert_eq!(config.check().unwrap_err().field, field, "{text}");
        }
    }
}
